//! The selection of cases by patterns of their names, and lists of cases.

use globset::Glob;

use crate::{
    exit::{Ended, bail_input},
    output::{self, meant_or, shown},
};

/// Prints a line for each case: its name, and what is expected of it.
pub(super) fn list<'a>(
    cases: impl Iterator<Item = (&'a str, String)> + Clone,
) -> anyhow::Result<Ended> {
    let width = cases.clone().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    let lines = cases.map(|(name, expected)| format!("{name:width$}  {expected}\n"));
    output::write(lines.collect::<String>().as_bytes())?;
    Ok(Ended::Well)
}

/// Keeps the cases whose names match one of the patterns, which are the values of an option of `command`; without a
/// pattern, all. Each pattern must match a case: the command's `--list` prints them.
pub(super) fn keep<T>(
    cases: &mut Vec<T>,
    name: impl Fn(&T) -> &str,
    (command, option, patterns): (&str, &str, &[String]),
) -> anyhow::Result<()> {
    let names: Vec<&str> = cases.iter().map(&name).collect();
    let mut globs = Vec::new();
    for pattern in patterns {
        let shown = shown(pattern);
        let Ok(glob) = Glob::new(pattern) else {
            bail_input!("{option} \"{shown}\" is no pattern: * and ? stand for any letters");
        };
        let glob = glob.compile_matcher();
        if !names.iter().any(|name| glob.is_match(name)) {
            let hint = meant_or(pattern, &names, &format!("`{command} --list` lists them"));
            let what = option.trim_start_matches('-');
            bail_input!("no {what} matches \"{shown}\"; {hint}");
        }
        globs.push(glob);
    }
    cases.retain(|case| globs.is_empty() || globs.iter().any(|glob| glob.is_match(name(case))));
    Ok(())
}
