//! A browser's loads around its user's decision to accept a certificate that the browser has refused.

use std::{net::IpAddr, ops::Range, time::Duration};

use netbench_browser::{Browser, BrowserError, Limit, Shown};
use netbench_compat::{Case, Running};
use netbench_protocol::Loaded;

use super::engines::{Decided, Next, Seen, Step};
use crate::WorkerError;

/// A page that a browser shows, and the range of the server's connections that were accepted meanwhile.
struct Show {
    shown: Result<Shown, BrowserError>,
    connections: Range<usize>,
}

/// The loads around a decision.
pub(super) struct Decision {
    /// The load of the same server under its address, before the decision.
    before: Option<Show>,
    /// The load after the button of the error page was pressed.
    proceeded: Show,
    /// The load of the same server under its address, after the decision.
    after: Option<Show>,
}

impl Decision {
    /// Makes the loads after one that the browser has refused. `limit` returns the limit of each.
    pub(super) fn make<'l>(
        browser: &mut Browser,
        case: &Case,
        running: &Running,
        limit: impl Fn() -> Limit<'l>,
    ) -> Self {
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
        Self {
            before,
            proceeded,
            after,
        }
    }

    /// Returns whether the run was stopped during a load. The decision then has no result.
    pub(super) fn is_stopped(&self) -> bool {
        let shows = [&self.proceeded]
            .into_iter()
            .chain(&self.before)
            .chain(&self.after);
        shows
            .map(|show| &show.shown)
            .any(|shown| matches!(shown, Err(BrowserError::Stopped)))
    }

    /// Returns the loads with the server's view of each.
    pub(super) fn decided(self, seen: &Seen, limit: Duration) -> Decided {
        Decided {
            before: self.before.map(|show| show.next(seen, limit)),
            proceeded: self.proceeded.next(seen, limit),
            after: self.after.map(|show| show.next(seen, limit)),
        }
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

    fn next(self, seen: &Seen, limit: Duration) -> Next {
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
