use std::collections::BTreeMap;

/// How this worker was built, for [`netbench_model::WorkerRecord::build`].
pub fn build_facts() -> BTreeMap<String, String> {
    let assertions = if cfg!(debug_assertions) { "on" } else { "off" };
    [
        ("profile", env!("NETBENCH_PROFILE")),
        ("opt_level", env!("NETBENCH_OPT_LEVEL")),
        ("target", env!("NETBENCH_TARGET")),
        ("rustc", env!("NETBENCH_RUSTC")),
        ("debug_assertions", assertions),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}

/// The version of `package` in the text of a `Cargo.lock`: for libraries that do not say theirs.
pub fn locked_version(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.next()?;
    let version = lines.next()?.strip_prefix("version = \"")?;
    version.strip_suffix('"').map(str::to_owned)
}
