use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context;
use jiff::Timestamp;
use netbench_model::{SuiteSession, WorkerRecord};
use netbench_runner::{Workers, environment};
use netbench_store::RunFolder;
use serde::Serialize;

use crate::exit::WrongInput;

/// The name of a run's folder in `out`: when, where, what, and a number where that is taken.
pub(crate) fn name(out: &Path, what: &str) -> String {
    let host = host();
    let time = Timestamp::now().strftime("%Y-%m-%d-%H%M%S");
    let name = format!("{time}-{host}-{what}");
    let numbered = (2..1000).map(|number| format!("{name}-{number}"));
    let free = |name: &String| !out.join(name).exists();
    std::iter::once(name.clone())
        .chain(numbered)
        .find(free)
        .unwrap_or(name)
}

/// The folder and manifest of the run that is gone on with; or of a new one in `out`, `begin` of which makes
/// the manifest from its name.
pub(crate) fn folder<M: Serialize>(
    earlier: Option<(RunFolder, M)>,
    out: &Path,
    what: &str,
    begin: impl FnOnce(String) -> anyhow::Result<M>,
) -> anyhow::Result<(RunFolder, M)> {
    if let Some(earlier) = earlier {
        return Ok(earlier);
    }
    let name = name(out, what);
    let path = out.join(&name);
    let manifest = begin(name)?;
    let folder = RunFolder::create(&path, &manifest).context("cannot make the run's folder")?;
    Ok((folder, manifest))
}

/// A session that begins now.
pub(crate) fn session() -> SuiteSession {
    SuiteSession {
        started: now(),
        finished: None,
        command: std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        interrupted: false,
    }
}

/// What workers are, for a manifest.
pub(crate) fn worker_records(fleet: &Workers) -> Vec<WorkerRecord> {
    let records = fleet.descriptions().map(|stack| stack.record.clone());
    records.collect()
}

/// This machine's name, as a part of a file's name.
pub(crate) fn host() -> String {
    let host = environment()
        .facts
        .get("hostname")
        .cloned()
        .unwrap_or_default();
    let plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let host: String = host.chars().filter(plain).take(40).collect();
    if host.is_empty() {
        "host".to_owned()
    } else {
        host
    }
}

/// Refuses to go on with other workers than the run was begun with: its samples would be of two
/// different things under one name.
pub(crate) fn same_workers(
    run: &str,
    workers: &[WorkerRecord],
    fleet: &Workers,
) -> anyhow::Result<()> {
    for now in fleet.descriptions().map(|description| &description.record) {
        let then = workers.iter().find(|then| then.stack == now.stack);
        if then != Some(now) {
            return Err(WrongInput(format!(
                "run {run} was begun with another worker of {} (now {}), so that it cannot go on",
                now.stack, now.library
            ))
            .into());
        }
    }
    Ok(())
}

/// Becomes true with Ctrl-C, which is told that something is `stopping`. Starts a thread: a link must have
/// been opened before.
pub(crate) fn stop_on_signals(stopping: &'static str) -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            // Asked twice: at once. Workers end with their stdin, samples are kept as they come.
            std::process::exit(130);
        }
        eprintln!("netbench: {stopping}; once more to stop at once");
    })
    .context("cannot wait for Ctrl-C")?;
    Ok(stop)
}

/// What Ctrl-C means to commands that take trials.
pub(crate) const AFTER_TRIALS: &str = "stopping after the trials in flight";

/// The present time, RFC 3339, UTC.
pub(crate) fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
