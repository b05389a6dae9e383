//! A browser's loads around its user's decision to accept a certificate that the browser has refused.

use std::{net::IpAddr, ops::Range, time::Duration};

use netbench_browser::{Browser, BrowserError, Limit, Shown};
use netbench_compat::{Case, Running};
use netbench_protocol::Loaded;

use super::engines::{Decided, Next, Seen, Step};
use crate::WorkerError;

/// A page that a browser shows, and the range of the server's connections that were accepted meanwhile.
pub(super) struct Show {
    shown: Result<Shown, BrowserError>,
    connections: Range<usize>,
}

/// Makes the loads after one that the browser has refused. `limit` returns the limit of each.
pub(super) fn decide<'l>(
    browser: &mut Browser,
    case: &Case,
    running: &Running,
    limit: impl Fn() -> Limit<'l>,
) -> Decided<Show> {
    let port = running.address().port();
    let is_name = case.record.host.parse::<IpAddr>().is_err();
    let by_address = format!("https://{}:{port}/", running.address().ip());
    let before = is_name.then(|| Show::of(running, || browser.look(&by_address, limit())));
    // The button belongs to the error page of the case's own name.
    let by_name = format!("https://{}:{port}/", case.record.host);
    let proceeded = Show::of(running, || {
        browser
            .look(&by_name, limit())
            .and_then(|_| browser.proceed(limit()))
    });
    let after = is_name.then(|| Show::of(running, || browser.look(&by_address, limit())));
    Decided {
        before,
        proceeded,
        after,
    }
}

impl Show {
    fn of(running: &Running, load: impl FnOnce() -> Result<Shown, BrowserError>) -> Self {
        let from = running.accepted();
        let shown = load();
        Self {
            shown,
            connections: from..running.accepted(),
        }
    }

    /// Returns whether the run was stopped during the load. The decision then has no result.
    pub(super) fn is_stopped(&self) -> bool {
        matches!(self.shown, Err(BrowserError::Stopped))
    }

    /// Returns the load with the server's view of it.
    pub(super) fn next(self, seen: &Seen, limit: Duration) -> Next {
        let loaded = match self.shown {
            Err(BrowserError::Hung { .. }) => {
                return Err(WorkerError::Hung {
                    limit,
                    stderr: Vec::new(),
                });
            }
            Err(error) => return Err(WorkerError::Refused(error.to_string())),
            Ok(Shown::Error {
                code,
                certificate_base64,
            }) => Loaded::Refused {
                detail: code.clone(),
                error: code,
                certificate_base64,
            },
            Ok(Shown::Loaded {
                client,
                http_status,
                body_bytes,
            }) => Loaded::Page {
                // If the browser does not report the status, the server's report is used.
                http_status: http_status
                    .or(seen.of(&self.connections).http_status)
                    .unwrap_or_default(),
                body_bytes,
                from_cache: self.connections.is_empty(),
                version: client.version,
                suite: client.suite,
                group: client.group,
                alpn: client.alpn,
                certificate_base64: None,
            },
        };
        Ok(Step {
            loaded,
            connections: self.connections,
        })
    }
}
