//! Scan of many sites in one thread.

use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Semaphore, mpsc},
    task::LocalSet,
};

use netbench_model::scan::SiteScan;

use super::{
    limits::{Gate, Limits, Place, ScanClient, ScanTarget},
    names::{LOOKUPS, Resolver},
    site,
};

/// The interval at which `stop` is checked.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Scans `targets`, and passes each result to `listener` when it is complete, in no order. Once `stop` is set,
/// scans in progress are dropped and the function returns: sites without a result were not scanned.
///
/// Opens sockets in the calling thread, and therefore in that thread's network namespace.
///
/// # Errors
/// Returns an error if the runtime cannot be made, and the error that `listener` returns.
pub fn scan_all<E: From<std::io::Error>>(
    targets: impl IntoIterator<Item = ScanTarget>,
    limits: Limits,
    client: impl Into<ScanClient>,
    stop: &Arc<AtomicBool>,
    listener: impl FnMut(&SiteScan) -> Result<(), E>,
) -> Result<(), E> {
    let resolver = Resolver::of_the_system();
    scan_all_with(resolver, targets, limits, client, stop, listener)
}

/// Does the same with another resolver. Names are looked up somewhat ahead of the scan, so that an unanswered
/// lookup delays no other site.
///
/// # Errors
/// Returns the errors of [`scan_all`].
pub fn scan_all_with<E: From<std::io::Error>>(
    resolver: Resolver,
    targets: impl IntoIterator<Item = ScanTarget>,
    limits: Limits,
    client: impl Into<ScanClient>,
    stop: &Arc<AtomicBool>,
    mut listener: impl FnMut(&SiteScan) -> Result<(), E>,
) -> Result<(), E> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(LOOKUPS)
        .build()?;
    let resolver = Rc::new(resolver);
    let slots = Rc::new(Semaphore::new(limits.sites.max(1)));
    let gate = Rc::new(Gate::new(&limits));
    let limits = Rc::new(limits);
    let client = Rc::new(client.into());
    let local = LocalSet::new();
    let work = async {
        let (done, mut results) = mpsc::unbounded_channel();
        let mut waiting = targets.into_iter();
        let mut running = 0;
        loop {
            while running < limits.sites.max(1) + LOOKUPS {
                let Some(target) = waiting.next() else { break };
                running += 1;
                let (limits, client, gate) =
                    (Rc::clone(&limits), Rc::clone(&client), Rc::clone(&gate));
                let (resolver, slots) = (Rc::clone(&resolver), Rc::clone(&slots));
                let done = done.clone();
                tokio::task::spawn_local(async move {
                    let addresses = match &target.place {
                        Place::At(address) => Ok(vec![*address]),
                        Place::Named(host, port) => resolver.addresses(host, *port).await,
                        Place::Nowhere(why) => Err(why.clone()),
                    };
                    let _slot = slots.acquire().await;
                    // Boxed: sites that wait for a slot need no memory for a scan.
                    let scan = Box::pin(site::scan(&target, addresses, &limits, &client, &gate));
                    let result = scan.await;
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
                    listener(&result)?;
                }
                Ok(None) => return Ok(()),
                Err(_) => {}
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    };
    let result = local.block_on(&runtime, work);
    drop(local);
    // An unanswered lookup is not waited for.
    runtime.shutdown_background();
    result
}
