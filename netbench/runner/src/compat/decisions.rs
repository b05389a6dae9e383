//! A browser's loads around its user's decision to accept a certificate that the browser has refused.

use std::{net::IpAddr, ops::Range, time::Duration};

use netbench_browser::{Browser, BrowserError, Limit, Shown};
use netbench_compat::{Case, Running, Served};
use netbench_model::compat::EmbedderView;
use netbench_protocol::Loaded;

use super::engines::{Decided, Loads, Next, Seen, Step};
use crate::WorkerError;

/// A page that a browser shows, and the range of the server's connections that were accepted meanwhile.
struct Show {
    shown: Result<Shown, BrowserError>,
    connections: Range<usize>,
}

/// The loads of a case.
pub(super) struct Decision {
    /// The load that the browser refused.
    first: Show,
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
        refused: Shown,
        browser: &mut Browser,
        case: &Case,
        running: &Running,
        limit: impl Fn() -> Limit<'l>,
    ) -> Self {
        let first = Show {
            shown: Ok(refused),
            connections: 0..running.accepted(),
        };
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
            first,
            before,
            proceeded,
            after,
        }
    }

    /// Returns the server's connections of the load that was refused.
    pub(super) fn first_served(&self, served: &[Served]) -> Served {
        of(served, &self.first.connections)
    }

    /// Returns the effects of the decision by the reports of both sides.
    pub(super) fn view(self, served: Vec<Served>, limit: Duration) -> EmbedderView {
        let next = |show: Show| show.next(&served, limit);
        let certificate = match &self.first.shown {
            Ok(Shown::Error {
                certificate_base64, ..
            }) => certificate_base64.clone(),
            _ => None,
        };
        let first = Step {
            loaded: Loaded::TimedOut,
            connections: self.first.connections.clone(),
        };
        let loads = Loads {
            first,
            again: None,
            decided: Some(Decided {
                before: self.before.map(next),
                proceeded: next(self.proceeded),
                after: self.after.map(next),
            }),
        };
        let first_served = of(&served, &self.first.connections);
        Seen(served.clone()).view(&loads, certificate.as_deref(), &first_served)
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

    fn next(self, served: &[Served], limit: Duration) -> Next {
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
                    .or(of(served, &self.connections).http_status)
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

/// Returns the server's view of some of its connections together.
fn of(served: &[Served], connections: &Range<usize>) -> Served {
    let seen = served.get(connections.clone()).unwrap_or_default();
    Served::all(seen.iter().cloned())
}
