//! `--policy`: a built-in policy, or a file.

use std::path::Path;

use netbench_interop::{POLICIES, built_in_policy};
use netbench_model::{scan::Policy, suggestion};

use crate::{
    exit::WrongInput,
    output::shown,
    user_file::{parse_toml, read_text},
};

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
    read_text(path, MAX_BYTES)
        .and_then(|text| parse_toml(&text))
        .map_err(|what| WrongInput(format!("--policy {}: {what}", shown(given))))
}
