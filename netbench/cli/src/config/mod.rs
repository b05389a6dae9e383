//! The arguments of this process: those of the command line, and those that `netbench.toml` adds. Afterwards, an option
//! of the file is an option of the command line, so that a run records it like any other.

mod file;
mod key;

use std::{env, ffi::OsString, sync::OnceLock};

use clap::{ArgMatches, Command, parser::ValueSource};

use self::file::{ConfigFile, Setting};
use crate::{exit::WrongInput, usage};

pub(crate) use self::{file::NAME, key::template};

/// The option with which the file is ignored.
pub(crate) const IGNORE: &str = "no-config";

static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Returns the arguments of this process, beginning with the command's name.
pub(crate) fn arguments() -> Vec<OsString> {
    ARGUMENTS.get().cloned().unwrap_or_else(given)
}

/// Returns whether a child process must ignore the file: the arguments contain its settings already, or the user
/// ignores it.
pub(crate) fn is_settled() -> bool {
    let ignore = format!("--{IGNORE}");
    arguments().iter().any(|word| *word == *ignore)
}

fn given() -> Vec<OsString> {
    env::args_os().collect()
}

/// Adds the settings of the `netbench.toml` in this folder or an ancestor, unless the command line overrides them.
///
/// # Errors
/// The defect of the file, with its name and line.
pub(crate) fn complete(mut command: Command) -> Result<Vec<OsString>, WrongInput> {
    let given = usage::joined(&command, given());
    let arguments = match command.clone().try_get_matches_from(&given) {
        Ok(matches) => with_file(&mut command, &matches, &given)?,
        // Errors of the command line are reported when it is parsed.
        Err(_) => None,
    };
    let arguments = arguments.unwrap_or(given);
    Ok(ARGUMENTS.get_or_init(|| arguments).clone())
}

/// Returns the arguments with those of the file, or `None` if there is no file or the command reads none of its
/// settings.
fn with_file(
    command: &mut Command,
    matches: &ArgMatches,
    given: &[OsString],
) -> Result<Option<Vec<OsString>>, WrongInput> {
    let (names, asked) = chosen(matches);
    // `scan diff` accepts none of the options of `scan`.
    let name = names.join(" ");
    if matches.get_flag(&IGNORE.replace('-', "_")) || !key::is_read_by(&name) {
        return Ok(None);
    }
    let Some(file) = ConfigFile::find()? else {
        return Ok(None);
    };
    command.build();
    let mut place = 0;
    for name in &names {
        let after = given.iter().skip(place + 1);
        place += 1 + after.take_while(|word| *word != name).count();
    }
    let (before, after) = given.split_at(place + 1);
    let options = names
        .iter()
        .try_fold(&*command, |above, name| above.find_subcommand(name));
    let Some(options) = options else {
        return Ok(None);
    };
    let mut added: Vec<OsString> = Vec::new();
    for setting in &file.settings {
        for (option, value) in setting.options(&name, &file, asked)? {
            if !can_be_added(options, asked, option) {
                continue;
            }
            let words = [format!("--{option}").into(), value];
            let tried = usage::joined(command, [before, &words, after].concat());
            command
                .clone()
                .try_get_matches_from(tried)
                .map_err(|error| file.wrong(setting.line, &first_line(setting, &error)))?;
            added.extend(words);
        }
    }
    let words: Vec<_> = added.iter().map(|word| word.to_string_lossy()).collect();
    let says = match words.as_slice() {
        [] => "nothing that this command line leaves open".to_owned(),
        words => words.join(" "),
    };
    note!("netbench: {} says {says}", file.path.display());
    added.push(format!("--{IGNORE}").into());
    Ok(Some([before, &added, after].concat()))
}

/// Returns the names of the chosen command and of its subcommand, and the arguments of the latter.
fn chosen(matches: &ArgMatches) -> (Vec<&str>, &ArgMatches) {
    let (mut names, mut asked) = (Vec::new(), matches);
    while let Some((name, below)) = asked.subcommand() {
        names.push(name);
        asked = below;
    }
    (names, asked)
}

/// Returns whether the command has the option, and the command line has neither the option nor one that conflicts with
/// it.
fn can_be_added(options: &Command, asked: &ArgMatches, option: &str) -> bool {
    let mut arguments = options.get_arguments();
    let Some(added) = arguments.find(|argument| argument.get_long() == Some(option)) else {
        return false;
    };
    options
        .get_arguments()
        .filter(|argument| is_asked(asked, argument.get_id().as_str()))
        .all(|argument| {
            argument.get_id() != added.get_id()
                && !options.get_arg_conflicts_with(argument).contains(&added)
                && !options.get_arg_conflicts_with(added).contains(&argument)
        })
}

/// Returns whether the user has given an argument.
fn is_asked(asked: &ArgMatches, id: &str) -> bool {
    matches!(asked.try_contains_id(id), Ok(true))
        && matches!(
            asked.value_source(id),
            Some(ValueSource::CommandLine | ValueSource::EnvVariable)
        )
}

fn first_line(setting: &Setting, error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    format!("{}: {line}", setting.key.name)
}
