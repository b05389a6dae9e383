//! The cases, and the record of each.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use netbench_model::features::{
    PageReport, SeenConnection, SeenRequest, WebCase, WebResource, WebSeen,
};
use parking_lot::{Mutex, RwLock};
use tokio::{sync::Notify, time::timeout};

use crate::{certificates::Certificates, names::Host};

/// The cases of this process, by their hosts.
#[derive(Default)]
pub(crate) struct Cases {
    by_host: RwLock<HashMap<String, Arc<Served>>>,
    certificates: RwLock<Option<Arc<Certificates>>>,
    connections: AtomicU32,
}

/// A case that is served.
pub(crate) struct Served {
    pub(crate) case: WebCase,
    seen: Mutex<WebSeen>,
    reported: Notify,
}

impl Cases {
    /// Replaces the cases.
    pub(crate) fn set(&self, cases: Vec<WebCase>, certificates: Certificates) {
        let cases = cases.into_iter().map(|case| {
            let served = Served {
                case,
                seen: Mutex::default(),
                reported: Notify::new(),
            };
            (served.case.host.clone(), Arc::new(served))
        });
        *self.by_host.write() = cases.collect();
        *self.certificates.write() = Some(Arc::new(certificates));
    }

    /// Returns the case that a name belongs to.
    pub(crate) fn of_host(&self, name: &str) -> Option<(Host, Arc<Served>)> {
        let (host, own) = Host::of(name);
        let served = self.by_host.read().get(own).cloned()?;
        Some((host, served))
    }

    pub(crate) fn of_name(&self, name: &str) -> Option<Arc<Served>> {
        let by_host = self.by_host.read();
        by_host
            .values()
            .find(|served| served.case.name == name)
            .cloned()
    }

    pub(crate) fn certificates(&self) -> Option<Arc<Certificates>> {
        self.certificates.read().clone()
    }

    pub(crate) fn next_connection(&self) -> u32 {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }
}

impl Served {
    pub(crate) fn resource(&self, path: &str) -> Option<&WebResource> {
        let mut resources = self.case.resources.iter();
        resources.find(|resource| resource.path == path)
    }

    /// Records a connection, or replaces its record.
    pub(crate) fn connected(&self, connection: &SeenConnection) {
        let connections = &mut self.seen.lock().connections;
        match connections
            .iter_mut()
            .find(|it| it.number == connection.number)
        {
            Some(earlier) => earlier.clone_from(connection),
            None => connections.push(connection.clone()),
        }
    }

    pub(crate) fn requested(&self, request: SeenRequest) {
        self.seen.lock().requests.push(request);
    }

    /// Records the page's report. A second report does not replace the first.
    pub(crate) fn reported(&self, report: PageReport) {
        self.seen.lock().report.get_or_insert(report);
        self.reported.notify_one();
    }

    /// Begins a new record, for another try of the case.
    pub(crate) fn forget(&self) {
        *self.seen.lock() = WebSeen::default();
    }

    pub(crate) fn seen(&self) -> WebSeen {
        self.seen.lock().clone()
    }

    /// Waits for the report, up to a limit, and returns the record.
    pub(crate) async fn wait(&self, limit: Duration) -> WebSeen {
        if self.seen.lock().report.is_none() {
            let _ = timeout(limit, self.reported.notified()).await;
        }
        self.seen()
    }
}
