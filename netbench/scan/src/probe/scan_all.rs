//! Scans many sites at once, in one thread.

use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{sync::mpsc, task::LocalSet};

use netbench_model::scan::SiteScan;

use super::{
    limits::{Gate, Limits, ScanTarget},
    site,
};

use crate::x509::TrustAnchors;

/// How often `stop` is checked.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Progress of a scan.
#[derive(Debug)]
pub enum ScanEvent<'a> {
    /// A site is done.
    Done(&'a SiteScan),
}

/// Scans `targets`, and passes each result to `listener` when it is complete, in no order. Once `stop` is
/// set, scans in progress are dropped and the function returns: sites without a result were not scanned.
///
/// Opens sockets in the thread that calls it, and so in that thread's network namespace.
///
/// # Errors
/// The runtime cannot be made, or what `listener` returns.
pub fn scan_all<E: From<std::io::Error>>(
    targets: Vec<ScanTarget>,
    limits: Limits,
    roots: TrustAnchors,
    stop: &Arc<AtomicBool>,
    mut listener: impl FnMut(ScanEvent<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let gate = Rc::new(Gate::new(&limits));
    let limits = Rc::new(limits);
    let roots = Rc::new(roots);
    let local = LocalSet::new();
    let work = async {
        let (done, mut results) = mpsc::unbounded_channel();
        let mut waiting = targets.into_iter();
        let mut running = 0;
        loop {
            while running < limits.sites.max(1) {
                let Some(target) = waiting.next() else { break };
                running += 1;
                let (limits, roots, gate) =
                    (Rc::clone(&limits), Rc::clone(&roots), Rc::clone(&gate));
                let done = done.clone();
                tokio::task::spawn_local(async move {
                    let result = site::scan(&target, &limits, &roots, &gate).await;
                    // The receiver is gone when the scan was stopped.
                    let _ = done.send(result);
                });
            }
            if running == 0 {
                return Ok(());
            }
            match tokio::time::timeout(LOOK_EVERY, results.recv()).await {
                Ok(Some(result)) => {
                    running -= 1;
                    listener(ScanEvent::Done(&result))?;
                }
                Ok(None) => return Ok(()),
                Err(_) => {}
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    };
    local.block_on(&runtime, work)
}
