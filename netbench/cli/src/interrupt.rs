//! Ctrl-C, SIGTERM and SIGHUP. The first signal stops the current work, the second ends the process at once.
//!
//! Uses signal handlers and no thread: a link must be opened while the process has one thread, and building a worker
//! before that takes minutes.

use std::{
    ffi::c_int,
    os::unix::process::CommandExt,
    process::{Command, ExitStatus},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use netbench_runner::end_workers;
use nix::{
    libc,
    sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, killpg, sigaction},
    unistd::Pid,
};

static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The process group of the running build, if there is one.
static BUILD: AtomicI32 = AtomicI32::new(0);

/// Whether there are results to keep: from then on the process ends on its own.
static KEEPS: AtomicBool = AtomicBool::new(false);

/// The exit code of a command that Ctrl-C stops.
pub(crate) const CODE: u8 = 130;

/// The number of seconds in which workers and builds must end, while there are no results to keep.
const SECONDS: libc::c_uint = 2;

/// The interval at which a wait checks for a stop.
const LOOK: Duration = Duration::from_millis(50);

const STOPPING: &[u8] = b"netbench: stopping; press Ctrl-C again to stop at once\n";

/// Installs the signal handlers, and returns a flag that becomes true with Ctrl-C. Until [`keep`] is called, the
/// process then ends within two seconds in any case.
pub(crate) fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = STOP.get_or_init(Arc::default);
    let end = SigHandler::Handler(end);
    for (signal, handler) in [
        (Signal::SIGALRM, end),
        (Signal::SIGINT, SigHandler::Handler(hear)),
        (Signal::SIGTERM, SigHandler::Handler(hear)),
        (Signal::SIGHUP, SigHandler::Handler(hear)),
    ] {
        let action = SigAction::new(handler, SaFlags::SA_RESTART, SigSet::empty());
        // SAFETY: the handlers use atomics and calls that are safe in a handler.
        let old = unsafe { sigaction(signal, &action) }.context("cannot wait for Ctrl-C")?;
        // nohup ignores SIGHUP, and this must remain so.
        if signal == Signal::SIGHUP && matches!(old.handler(), SigHandler::SigIgn) {
            // SAFETY: restores the previous action.
            unsafe { sigaction(signal, &old) }.context("cannot wait for Ctrl-C")?;
        }
    }
    Ok(Arc::clone(stop))
}

/// Records that there are results to keep from now on.
pub(crate) fn keep() {
    KEEPS.store(true, Ordering::SeqCst);
    // A stop that was requested meanwhile is handled by the code that checks the flag.
    // SAFETY: changes only this process' alarm.
    unsafe { libc::alarm(0) };
}

/// Returns whether the user stopped the command.
pub(crate) fn is_asked() -> bool {
    STOP.get().is_some_and(|stop| stop.load(Ordering::SeqCst))
}

/// Returns whether the user stopped the command before there were results to keep.
pub(crate) fn in_vain() -> bool {
    is_asked() && !KEEPS.load(Ordering::SeqCst)
}

/// Runs a program to its end, and calls `look` meanwhile, many times a second. Ctrl-C ends the program and its children.
pub(crate) fn status(command: &mut Command, look: impl FnMut()) -> anyhow::Result<ExitStatus> {
    let status = status_within(command, Duration::MAX, look)?;
    status.context("it did not end")
}

/// Runs a program like [`status`]. Returns `None` if the program did not end within `limit`, and was killed.
pub(crate) fn status_within(
    command: &mut Command,
    limit: Duration,
    mut look: impl FnMut(),
) -> anyhow::Result<Option<ExitStatus>> {
    let stop = stop_on_signals()?;
    let begun = Instant::now();
    // The program is in its own process group; this process passes a terminal's Ctrl-C on.
    let mut child = command.process_group(0).spawn()?;
    BUILD.store(i32::try_from(child.id()).unwrap_or(0), Ordering::SeqCst);
    loop {
        if let Some(status) = child.try_wait()? {
            BUILD.store(0, Ordering::SeqCst);
            return Ok(Some(status));
        }
        let is_asked = stop.load(Ordering::SeqCst);
        if is_asked || begun.elapsed() > limit {
            end_build();
            child.wait()?;
            BUILD.store(0, Ordering::SeqCst);
            if is_asked {
                bail!("stopped");
            }
            return Ok(None);
        }
        look();
        thread::sleep(LOOK);
    }
}

fn end_build() {
    let group = BUILD.load(Ordering::SeqCst);
    if group > 1 {
        // The build may have ended just now.
        let _ended = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

extern "C" fn hear(_: c_int) {
    let Some(stop) = STOP.get() else { return };
    if stop.swap(true, Ordering::SeqCst) {
        // The second signal ends the process at once. Samples are stored as they arrive.
        end(0);
    }
    // SAFETY: both calls are safe in a handler, and the length is that of the text.
    unsafe {
        // A closed stderr must not prevent the stop.
        let _ = libc::write(
            libc::STDERR_FILENO,
            STOPPING.as_ptr().cast(),
            STOPPING.len(),
        );
        if !KEEPS.load(Ordering::SeqCst) {
            libc::alarm(SECONDS);
        }
    }
}

extern "C" fn end(_: c_int) {
    end_workers();
    end_build();
    // SAFETY: the call is safe in a handler.
    unsafe { libc::_exit(c_int::from(CODE)) }
}
