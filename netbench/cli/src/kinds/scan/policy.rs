//! `--policy`: a built-in policy, or a file.

use std::path::Path;

use netbench_interop::{POLICIES, built_in_policy};
use netbench_model::{scan::Policy, suggestion};

use crate::{exit::WrongInput, output::shown, user_file::read_text};

/// The largest size of a policy, in bytes.
const MAX_BYTES: u64 = 1 << 20;

pub(super) fn policy(given: &str) -> Result<Policy, WrongInput> {
    if let Some(policy) = built_in_policy(given) {
        return Ok(policy);
    }
    let path = Path::new(given);
    if !path.exists() && !given.contains(['/', '.']) {
        let meant = suggestion(given, &[&POLICIES[..], &["a TOML file"]].concat());
        return Err(WrongInput(format!(
            "--policy: there is no policy \"{}\"; {meant}",
            shown(given)
        )));
    }
    let wrong = |what: String| WrongInput(format!("--policy {}: {what}", shown(given)));
    let text = read_text(path, MAX_BYTES).map_err(wrong)?;
    toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.as_bytes()[..start].iter();
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        let what = error.message().lines().next().unwrap_or_default();
        wrong(format!("line {line}: {what}"))
    })
}
