//! Tests of the network stacks of browser engines with the cases, in the way their embedders use them: they load
//! pages. The information given to the embedder is compared with the traffic that the case's server saw and sent.

use std::{net::IpAddr, ops::Range, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use netbench_browser::failures;
use netbench_compat::{Case, Running, Served};
use netbench_model::{
    Negotiated,
    compat::{CompatOutcome, EmbedderView, NextLoad, ToldCertificate},
};
use netbench_protocol::{Configure, Load, Loaded, RequestBody, ResponseBody};
use sha2::{Digest, Sha256};

use super::{
    Attempt, Client, CompatError, SERVER_GRACE, answered, hang, needs::is_plain, outside::refused,
    running, server, unanswered, unsupported,
};
use crate::{Worker, WorkerError, clock::millis, requests::GRACE};

/// The reason why a case that is not plain is not tested.
const NOT_PLAIN: &str = "it loads plain pages, and the case needs a client certificate, extra headers or a connection after the first";

/// The loads of a case, in sequence in one process.
struct Loads {
    first: Step,
    /// A repetition, if the first load shows a page.
    again: Option<Next>,
    /// The loads after a user's decision, if there is a certificate error.
    decided: Option<Decided<Next>>,
}

/// The loads around the decision of a user to proceed.
pub(super) struct Decided<T> {
    /// The load of the same server under its address, before the decision.
    pub(super) before: Option<T>,
    /// The load of the page.
    pub(super) proceeded: T,
    /// The load of the same server under its address, after the decision.
    pub(super) after: Option<T>,
}

impl<T> Decided<T> {
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        let around = self.before.iter().chain(&self.after);
        around.chain([&self.proceeded])
    }

    pub(super) fn map<U>(self, to: impl Fn(T) -> U) -> Decided<U> {
        Decided {
            before: self.before.map(&to),
            proceeded: to(self.proceeded),
            after: self.after.map(&to),
        }
    }
}

/// A load with an answer, and the range of the server's connections that were accepted meanwhile.
pub(super) struct Step {
    pub(super) loaded: Loaded,
    pub(super) connections: Range<usize>,
}

/// A further load, or the reason why there was no answer.
pub(super) type Next = Result<Step, WorkerError>;

impl Client<'_> {
    /// Tests a case by loads of its page.
    pub(super) fn load(
        &mut self,
        case: &Case,
        limit: Duration,
    ) -> Result<Option<Attempt>, CompatError> {
        if !is_plain(case) {
            return Ok(Some(unsupported(NOT_PLAIN).into()));
        }
        let server = server(case, Timestamp::now())?;
        let (stack, client) = (self.stack.stack(), self.clients.client.clone());
        let settings = Configure::new(stack, client, server.roots_pem());
        let running = running(case, server.cacheable().start(limit + SERVER_GRACE))?;
        let loads = self.loads(case, settings, &running, limit);
        let seen = Seen(running.end_each());
        if !matches!(&loads, Ok(loads) if loads.errors().next().is_none()) {
            self.worker.lose();
        }
        Ok(match loads {
            Ok(loads) if loads.errors().any(|it| matches!(it, WorkerError::Stopped)) => None,
            Ok(loads) => Some(seen.report(case, &loads, limit)),
            Err(error) => unanswered(&error, limit).map(Attempt::from),
        })
    }

    fn loads(
        &mut self,
        case: &Case,
        settings: Configure,
        running: &Running,
        limit: Duration,
    ) -> Result<Loads, WorkerError> {
        let worker = self.worker.configured(settings, GRACE)?;
        let load = Load {
            host: case.record.host.clone(),
            port: running.address().port(),
            address: running.address(),
            proceed_base64: None,
            timeout_ms: millis(limit),
        };
        let first = load_page(worker, running, load.clone(), limit)?;
        let (mut again, mut decided) = (None, None);
        match &first.loaded {
            Loaded::Page { .. } => again = Some(load_page(worker, running, load, limit)),
            Loaded::Refused {
                certificate_base64: Some(certificate),
                ..
            } => {
                let is_name = load.host.parse::<IpAddr>().is_err();
                let by_address = Load {
                    host: running.address().ip().to_string(),
                    ..load.clone()
                };
                let by_address = is_name.then_some(by_address);
                let proceeding = Load {
                    proceed_base64: Some(certificate.clone()),
                    ..load
                };
                let before = by_address.clone();
                decided = Some(Decided {
                    before: before.map(|load| load_page(worker, running, load, limit)),
                    proceeded: load_page(worker, running, proceeding, limit),
                    after: by_address.map(|load| load_page(worker, running, load, limit)),
                });
            }
            _ => {}
        }
        Ok(Loads {
            first,
            again,
            decided,
        })
    }
}

fn load_page(worker: &mut Worker, running: &Running, load: Load, limit: Duration) -> Next {
    let from = running.accepted();
    match worker.ask(RequestBody::Load(load), limit + GRACE)? {
        ResponseBody::Loaded(loaded) => Ok(Step {
            loaded,
            connections: from..running.accepted(),
        }),
        ResponseBody::Unsupported { reason } => Err(WorkerError::Refused(reason)),
        other => Err(WorkerError::another_kind(&other)),
    }
}

impl Loads {
    /// Returns the errors of loads without an answer.
    fn errors(&self) -> impl Iterator<Item = &WorkerError> {
        let decided = self.decided.iter().flat_map(Decided::all);
        let all = self.again.iter().chain(decided);
        all.filter_map(|next| next.as_ref().err())
    }
}

/// The server's view of each connection.
pub(super) struct Seen(pub(super) Vec<Served>);

impl Seen {
    /// Returns the server's view of the connections of a load.
    pub(super) fn of(&self, connections: &Range<usize>) -> Served {
        let seen = self.0.get(connections.clone());
        Served::all(seen.unwrap_or_default().iter().cloned())
    }

    fn report(&self, case: &Case, loads: &Loads, limit: Duration) -> Attempt {
        let served = self.of(&loads.first.connections);
        let (outcome, certificate) = match &loads.first.loaded {
            Loaded::Page {
                from_cache: true, ..
            } => (
                unsupported("its first page is from a cache that should be empty"),
                &None,
            ),
            Loaded::Page {
                http_status,
                body_bytes,
                version,
                suite,
                group,
                alpn,
                certificate_base64,
                ..
            } => {
                let agreed = Negotiated {
                    version: *version,
                    suite: *suite,
                    group: *group,
                    alpn: alpn.clone(),
                    ..Negotiated::default()
                };
                let outcome = answered(&served, *http_status, *body_bytes, agreed);
                (outcome, certificate_base64)
            }
            Loaded::Refused {
                error,
                detail,
                certificate_base64,
            } => {
                let (mut failure, others) = failures(error);
                failure.detail.clone_from(detail);
                let outcome = refused(&failure, others, error.clone(), case, &served);
                (outcome, certificate_base64)
            }
            Loaded::TimedOut => (hang(limit), &None),
        };
        let embedder = match outcome {
            CompatOutcome::Accepted { .. }
            | CompatOutcome::Rejected {
                http_status: None, ..
            } => {
                let view = self.view(certificate.as_deref(), &served, loads.decided.as_ref());
                let again = loads.again.as_ref().map(|again| self.next(again));
                Some(EmbedderView { again, ..view })
            }
            _ => None,
        };
        Attempt { outcome, embedder }
    }

    /// Returns the embedder's view of a load and of the decision after it, by the reports of both sides.
    pub(super) fn view(
        &self,
        certificate: Option<&str>,
        served: &Served,
        decided: Option<&Decided<Next>>,
    ) -> EmbedderView {
        let certificate = certificate.map(|text| BASE64_STANDARD.decode(text).unwrap_or_default());
        let proceeded = decided.map(|loads| self.next_first(&loads.proceeded));
        // Only a decision that takes effect, and a server that is refused without it, show its scope.
        let elsewhere = decided.and_then(|loads| {
            let before = self.next_first(loads.before.as_ref()?);
            let counts = proceeded == Some(NextLoad::Connected);
            let is_control = matches!(before, NextLoad::Refused { .. });
            (counts && is_control).then_some(self.next_first(loads.after.as_ref()?))
        });
        EmbedderView {
            certificate: match (&certificate, &served.certificate) {
                (Some(reported), Some(sent)) if reported == sent => ToldCertificate::Sent,
                (Some(_), _) => ToldCertificate::Another,
                (None, Some(_)) => ToldCertificate::Missing,
                (None, None) => ToldCertificate::NotSent,
            },
            certificate_sha256: certificate.map(|der| format!("{:x}", Sha256::digest(der))),
            again: None,
            proceeded,
            elsewhere,
        }
    }

    /// Does the same as [`Self::next`], for a page that did not load before and is therefore in no cache.
    fn next_first(&self, next: &Next) -> NextLoad {
        match self.next(next) {
            NextLoad::Cached => unclear("it is from the cache, and was never loaded"),
            next => next,
        }
    }

    /// Returns the result of a further load by the reports of both sides.
    fn next(&self, next: &Next) -> NextLoad {
        let step = match next {
            Ok(step) => step,
            Err(WorkerError::Hung { .. }) => return NextLoad::Hang,
            Err(error) => return unclear(error.to_string()),
        };
        match &step.loaded {
            Loaded::Page {
                from_cache: true, ..
            } if step.connections.is_empty() => NextLoad::Cached,
            Loaded::Page {
                from_cache: true, ..
            } => unclear("it is from the cache, and the server saw a connection"),
            Loaded::Page {
                http_status,
                body_bytes,
                ..
            } => {
                let served = self.of(&step.connections);
                match answered(&served, *http_status, *body_bytes, Negotiated::default()) {
                    CompatOutcome::Accepted { .. } => NextLoad::Connected,
                    CompatOutcome::Rejected { detail, .. } => unclear(detail),
                    CompatOutcome::Unsupported { reason } => unclear(reason),
                    _ => unclear("it is not known"),
                }
            }
            Loaded::Refused { error, detail, .. } => NextLoad::Refused {
                library: error.clone(),
                detail: detail.clone(),
            },
            Loaded::TimedOut => NextLoad::Hang,
        }
    }
}

fn unclear(reason: impl Into<String>) -> NextLoad {
    let reason = reason.into();
    NextLoad::Unclear { reason }
}

#[cfg(test)]
mod tests {
    use netbench_compat::{BODY, BUILT_IN, catalogue};

    use super::*;

    const CERTIFICATE: &[u8] = b"certificate";

    fn page(from_cache: bool) -> Loaded {
        Loaded::Page {
            http_status: 200,
            body_bytes: BODY.len() as u64,
            from_cache,
            version: None,
            suite: None,
            group: None,
            alpn: None,
            certificate_base64: Some(BASE64_STANDARD.encode(CERTIFICATE)),
        }
    }

    fn refused_with(certificate: Option<&[u8]>) -> Loaded {
        Loaded::Refused {
            error: "SslValidation".to_owned(),
            detail: "why".to_owned(),
            certificate_base64: certificate.map(|der| BASE64_STANDARD.encode(der)),
        }
    }

    fn step(loaded: Loaded, connections: Range<usize>) -> Step {
        Step {
            loaded,
            connections,
        }
    }

    fn answered_connection() -> Served {
        Served {
            has_hello: true,
            is_finished: true,
            http_status: Some(200),
            certificate: Some(CERTIFICATE.to_vec()),
            ..Served::default()
        }
    }

    fn refused_connection() -> Served {
        Served {
            has_hello: true,
            certificate: Some(CERTIFICATE.to_vec()),
            ..Served::default()
        }
    }

    /// A worker's report counts if the server saw the same.
    #[test]
    fn further_loads_are_compared_with_the_servers_connections() {
        let seen = Seen(vec![refused_connection(), answered_connection()]);
        let refused = NextLoad::Refused {
            library: "SslValidation".to_owned(),
            detail: "why".to_owned(),
        };
        for (loaded, connections, due) in [
            (page(false), 1..2, Some(NextLoad::Connected)),
            (page(true), 2..2, Some(NextLoad::Cached)),
            (refused_with(None), 0..1, Some(refused)),
            (Loaded::TimedOut, 0..1, Some(NextLoad::Hang)),
            // A page from a connection that never finished, from no connection, and from a cache that asks the
            // server.
            (page(false), 0..1, None),
            (page(false), 2..2, None),
            (page(true), 1..2, None),
        ] {
            let next = seen.next(&Ok(step(loaded, connections)));
            match due {
                Some(due) => assert_eq!(next, due),
                None => assert!(matches!(next, NextLoad::Unclear { .. }), "{next:?}"),
            }
        }
        let died = WorkerError::Died {
            status: None,
            stderr: Vec::new(),
        };
        assert!(matches!(seen.next(&Err(died)), NextLoad::Unclear { .. }));
    }

    #[test]
    fn certificates_are_those_that_the_server_sent() {
        let cases = catalogue(BUILT_IN).unwrap();
        let case = cases
            .iter()
            .find(|case| case.record.name == "certificate/expired")
            .unwrap();
        let sent = refused_connection();
        let unsent = Served {
            certificate: None,
            ..refused_connection()
        };
        for (reported, served, due) in [
            (Some(CERTIFICATE), &sent, ToldCertificate::Sent),
            (Some(b"another".as_slice()), &sent, ToldCertificate::Another),
            (Some(CERTIFICATE), &unsent, ToldCertificate::Another),
            (None, &sent, ToldCertificate::Missing),
            (None, &unsent, ToldCertificate::NotSent),
        ] {
            let loads = Loads {
                first: step(refused_with(reported), 0..1),
                again: None,
                decided: None,
            };
            let reported = Seen(vec![served.clone()]).report(case, &loads, Duration::ZERO);
            assert_eq!(reported.embedder.unwrap().certificate, due);
            assert!(matches!(reported.outcome, CompatOutcome::Rejected { .. }));
        }
    }

    #[test]
    fn the_scope_of_a_decision_is_reported_where_it_counts() {
        let (refused, answered) = (refused_connection(), answered_connection());
        let seen = Seen(vec![refused.clone(), refused, answered.clone(), answered]);
        let case = &catalogue(BUILT_IN).unwrap()[0];
        let refused = refused_with(Some(CERTIFICATE));
        for (before, proceeded, after, due) in [
            (refused.clone(), page(false), page(false), true),
            // The page loads without the decision as well, or the decision has no effect, or the page cannot
            // have come from its stated source.
            (page(false), page(false), page(false), false),
            (refused.clone(), page(true), page(false), false),
            (refused.clone(), refused.clone(), page(false), false),
        ] {
            let loads = Loads {
                first: step(refused.clone(), 0..1),
                again: None,
                decided: Some(Decided {
                    before: Some(Ok(step(before, 1..2))),
                    proceeded: Ok(step(proceeded, 2..3)),
                    after: Some(Ok(step(after, 3..4))),
                }),
            };
            let report = seen.report(case, &loads, Duration::ZERO);
            let view = report.embedder.unwrap();
            assert_eq!(view.elsewhere.is_some(), due, "{view:?}");
        }
    }
}
