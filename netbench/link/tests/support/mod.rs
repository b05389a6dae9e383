//! Common code of the link's tests.

pub(crate) mod child;
pub(crate) mod exchange;
pub(crate) mod scenario;
pub(crate) mod vm;

use std::{
    fs, io, thread,
    time::{Duration, Instant},
};

/// Returns the network interfaces of this process's namespace.
pub(crate) fn interfaces() -> io::Result<Vec<String>> {
    let text = fs::read_to_string("/proc/net/dev")?;
    let mut names: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim().to_owned())
        .collect();
    names.sort();
    Ok(names)
}

/// Returns the processes in a network namespace, which is named by the target of
/// `/proc/PID/ns/net`.
pub(crate) fn users_of(namespace: &str) -> Vec<u64> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|process: &u64| {
            fs::read_link(format!("/proc/{process}/ns/net"))
                .is_ok_and(|link| link.to_str() == Some(namespace))
        })
        .collect()
}

/// Waits for a condition.
pub(crate) fn within(
    limit: Duration,
    what: &str,
    mut holds: impl FnMut() -> bool,
) -> Result<(), String> {
    let end = Instant::now() + limit;
    while !holds() {
        if Instant::now() >= end {
            return Err(format!("waited {limit:?} in vain for {what}"));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
