//! Tests of each stack with the cases of the catalogue: for each test, a server of the case and one connection.
//! Browsers and other programs are tested in `outside`, and the network stacks of browser engines in `engines`.

mod decisions;
mod ech;
mod engines;
mod needs;
mod outside;
mod records;

use std::{io, ops::ControlFlow, sync::atomic::AtomicBool, time::Duration};

use jiff::Timestamp;
use netbench_compat::{BODY, Case, Running, Served, Server, ServerError, Visits};
use netbench_model::{
    ClientSettings, Condition, Failure, FailureClass, FailureWord, Negotiated, Role,
    SCHEMA_VERSION, StackName,
    compat::{CompatOutcome, CompatSample, EmbedderView, Refusal},
    sanitize,
};
use netbench_protocol::{Configure, Connect, Ech, Operation, RequestBody, Resolve, ResponseBody};

pub use self::outside::{OutsideClients, try_outside};
use crate::{
    WorkerError, Workers, clock::millis, requests::GRACE, restarted::Restarted,
    side_by_side::side_by_side,
};

/// The factor of the time limit for the second attempt of a stack that did not end in time: on a busy machine, the
/// first attempt may be late.
const PATIENCE: u32 = 3;

/// The time that a server waits for a connection beyond its client's limit.
const SERVER_GRACE: Duration = Duration::from_secs(2);

/// The clients that are tested with cases.
pub struct CompatClients<'a> {
    /// The stacks' workers.
    pub workers: &'a Workers,
    /// The settings of the clients.
    pub client: &'a ClientSettings,
    /// The way in which the clients meet servers.
    pub way: Way,
    /// The time limit of a stack with a server.
    pub limit: Duration,
    /// A flag that stops further cases when it becomes true.
    pub stop: &'a AtomicBool,
}

/// The way in which clients meet servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// They connect.
    Connect,
    /// Their workers load pages, as the network stacks of browser engines do.
    Load,
}

/// An error that prevents cases from being tested.
#[derive(Debug, thiserror::Error)]
pub enum CompatError {
    /// The certificates of the server of the case with this name cannot be made.
    #[error("case {0}: {1}")]
    Server(String, #[source] ServerError),
    /// This machine has no port or no thread for the server of the case with this name.
    #[error("case {0}: no server: {1}")]
    Listen(String, #[source] io::Error),
    /// There is no network for a client.
    #[error(transparent)]
    Network(#[from] netbench_link::LinkError),
}

/// Tests each stack with its `wanted` cases, all stacks at the same time, and passes each sample to `found`, which
/// can end the run.
///
/// # Errors
/// Returns the first error that prevents cases from being tested.
pub fn try_cases(
    clients: &CompatClients<'_>,
    stacks: &[StackName],
    cases: &[Case],
    wanted: impl Fn(&StackName, &Case) -> bool + Sync,
    found: impl FnMut(CompatSample) -> ControlFlow<()>,
) -> Result<(), CompatError> {
    side_by_side(
        stacks,
        clients.stop,
        |stack, outlet| {
            let mut client = Client {
                clients,
                stack,
                worker: Restarted::new(clients.workers, stack),
            };
            for case in cases.iter().filter(|case| wanted(stack, case)) {
                // A stopped client has no sample.
                let sample = match outlet.is_over() {
                    false => client.sample(case)?,
                    true => None,
                };
                if sample.is_none_or(|sample| outlet.pass(sample).is_break()) {
                    break;
                }
            }
            Ok(())
        },
        found,
    )
}

/// A client that is tested with cases.
struct Client<'a> {
    clients: &'a CompatClients<'a>,
    stack: &'a StackName,
    worker: Restarted<'a>,
}

/// The result of a test.
struct Attempt {
    outcome: CompatOutcome,
    embedder: Option<EmbedderView>,
}

impl From<CompatOutcome> for Attempt {
    fn from(outcome: CompatOutcome) -> Self {
        Self {
            outcome,
            embedder: None,
        }
    }
}

impl Attempt {
    fn sample(self, case: &Case, stack: &StackName) -> CompatSample {
        CompatSample {
            schema: SCHEMA_VERSION,
            case: case.record.name.clone(),
            stack: stack.clone(),
            outcome: self.outcome,
            embedder: self.embedder,
        }
    }
}

fn server(case: &Case, now: Timestamp) -> Result<Server, CompatError> {
    case.server(now)
        .map_err(|source| CompatError::Server(case.record.name.clone(), source))
}

/// Returns the server of a case that was `started`.
fn running(case: &Case, started: io::Result<Running>) -> Result<Running, CompatError> {
    started.map_err(|source| CompatError::Listen(case.record.name.clone(), source))
}

impl Client<'_> {
    /// Returns the sample of a case, or `None` if the run was stopped.
    fn sample(&mut self, case: &Case) -> Result<Option<CompatSample>, CompatError> {
        let limit = self.clients.limit;
        let mut attempt = self.attempt(case, limit)?;
        if let Some(CompatOutcome::Hang { .. }) = attempt.as_ref().map(|attempt| &attempt.outcome) {
            attempt = self.attempt(case, limit * PATIENCE)?;
        }
        Ok(attempt.map(|attempt| attempt.sample(case, self.stack)))
    }

    /// Tests a case. Returns `None` if the run was stopped.
    fn attempt(&mut self, case: &Case, limit: Duration) -> Result<Option<Attempt>, CompatError> {
        match self.clients.way {
            Way::Connect => self.connect(case, limit),
            Way::Load => self.load(case, limit),
        }
    }

    fn connect(&mut self, case: &Case, limit: Duration) -> Result<Option<Attempt>, CompatError> {
        if let Some(reason) = self.lacks(case) {
            return Ok(Some(unsupported(&reason).into()));
        }
        let server = server(case, Timestamp::now())?;
        let (stack, client) = (self.stack.stack(), self.clients.client.clone());
        let settings = Configure {
            identity: case.identity(),
            early_data: case.visits() == Visits::TwiceWithEarlyData,
            ech: case.ech(),
            ..Configure::new(stack, client, server.roots_pem())
        };
        let running = running(case, server.start(limit + SERVER_GRACE))?;
        let (condition, roles) = match case.visits() {
            Visits::Once | Visits::WithRetryConfigs => (Condition::Clean, &[Role::Measured][..]),
            Visits::Twice | Visits::TwiceWithEarlyData => {
                (Condition::Resumed, &[Role::Prime, Role::Measured][..])
            }
        };
        let visits = roles.iter().map(|role| {
            RequestBody::Connect(Box::new(Connect {
                host: case.record.host.clone(),
                port: running.address().port(),
                address: running.address(),
                resolve: Resolve::Given,
                condition,
                role: *role,
                timeout_ms: millis(limit),
                request: case.request(),
            }))
        });
        let visits: Vec<RequestBody> = visits.collect();
        let again = visits.first().cloned();
        let mut answered = self.ask(settings.clone(), visits, limit + GRACE);
        if case.visits() == Visits::WithRetryConfigs
            && let Some((list, visit)) = ech::retry(&answered).zip(again)
        {
            let ech = Some(Ech::Configs(list));
            answered = self.ask(Configure { ech, ..settings }, vec![visit], limit + GRACE);
        }
        if answered.is_err() {
            self.worker.lose();
        }
        Ok(outcome(case, answered, &running.end(), limit).map(Attempt::from))
    }

    /// Returns the requirement of the case that the worker does not support, if there is one.
    fn lacks(&self, case: &Case) -> Option<String> {
        let (workers, stack) = (self.clients.workers, self.stack.stack());
        let identity = case.identity();
        let needs = [
            (
                Operation::Request,
                !case.request().is_usual(),
                "sends no headers",
            ),
            (
                Operation::ClientCertificate,
                identity.is_some(),
                "shows no certificate",
            ),
            (
                Operation::ClientFile,
                identity.is_some_and(|identity| identity.is_file()),
                "takes no encrypted key and no PKCS#12",
            ),
            (
                Operation::EarlyData,
                case.visits() == Visits::TwiceWithEarlyData,
                "offers no early data",
            ),
        ];
        let lacks = needs
            .iter()
            .find(|(need, is, _)| *is && !workers.does(stack, *need));
        let ech = case
            .ech()
            .filter(|ech| !workers.does(stack, ech.operation()));
        match (lacks, ech) {
            (Some((.., lacks)), _) => Some(format!("its worker {lacks}")),
            (None, Some(ech)) => Some(format!("its worker offers no {}", ech.name())),
            (None, None) => None,
        }
    }

    /// Returns the response to the last of `visits`, or to the first that fails.
    fn ask(
        &mut self,
        settings: Configure,
        visits: Vec<RequestBody>,
        limit: Duration,
    ) -> Result<ResponseBody, WorkerError> {
        let worker = self.worker.configured(settings, limit)?;
        let mut answered = ResponseBody::Configured;
        for visit in visits {
            answered = worker.ask(visit, limit)?;
            if !matches!(answered, ResponseBody::Connected(_)) {
                break;
            }
        }
        Ok(answered)
    }
}

/// Returns the outcome of a connection by the reports of both sides, or `None` if the run was stopped.
fn outcome(
    case: &Case,
    said: Result<ResponseBody, WorkerError>,
    served: &Served,
    limit: Duration,
) -> Option<CompatOutcome> {
    let response = match said {
        Ok(response) => response,
        Err(error) => return unanswered(&error, limit),
    };
    if let Some(untested) = untested(served) {
        return Some(untested);
    }
    if let Some(outcome) = ech::outcome(case, &response, served) {
        return Some(outcome);
    }
    Some(match response {
        ResponseBody::Connected(_) if case.visits().resumes() && !served.is_shown_ticket => {
            unsupported("it did not show the ticket of its first connection")
        }
        ResponseBody::Connected(_)
            if case.visits() == Visits::TwiceWithEarlyData && !served.is_offered_early_data =>
        {
            unsupported("it offered no early data")
        }
        ResponseBody::Connected(measured) => answered(
            served,
            measured.http_status,
            measured.body_bytes,
            measured.client,
        ),
        ResponseBody::Failed(failure) if failure.class == FailureClass::Timeout => hang(limit),
        // The worker cannot put the host into a URL: the stack was not tested.
        ResponseBody::Failed(failure) if failure.reason == FailureWord::Host.into() => {
            unsupported(&failure.detail)
        }
        ResponseBody::Failed(failure) => rejected(&failure, served),
        ResponseBody::Unsupported { reason } => unsupported(&reason),
        other => unsupported(&format!("the worker answered {other:?}")),
    })
}

/// Returns the outcome of a worker that gave no answer, or `None` if the run was stopped.
fn unanswered(error: &WorkerError, limit: Duration) -> Option<CompatOutcome> {
    Some(match error {
        WorkerError::Stopped => return None,
        WorkerError::Hung { .. } => hang(limit),
        WorkerError::Refused(why) => unsupported(why),
        error => CompatOutcome::Crash {
            detail: error.to_string(),
        },
    })
}

fn unsupported(reason: &str) -> CompatOutcome {
    CompatOutcome::Unsupported {
        reason: sanitize(reason),
    }
}

/// Returns the outcome of a client that has not met the case, because its server could not continue, or because the case
/// does not apply to the client.
fn untested(served: &Served) -> Option<CompatOutcome> {
    let cannot = served.cannot.as_ref();
    let reason = cannot.map(|why| format!("the case's server cannot go on: {why}"));
    let reason = reason.or_else(|| Some(served.unsuited?.to_string()))?;
    Some(unsupported(&reason))
}

fn hang(limit: Duration) -> CompatOutcome {
    CompatOutcome::Hang {
        after_ms: millis(limit),
    }
}

/// Returns the outcome of a response: it counts if both sides report all of it.
fn answered(
    served: &Served,
    http_status: u16,
    body_bytes: u64,
    agreed: Negotiated,
) -> CompatOutcome {
    // Bytes after the switch to another protocol are no body.
    let is_switched = served.is_switched && http_status == 101;
    let is_whole = is_switched || body_bytes == BODY.len() as u64;
    if let Some(untested) = untested(served) {
        untested
    } else if http_status != 200 && !is_switched {
        CompatOutcome::Rejected {
            reason: Refusal::Class(FailureClass::Http),
            library: "status".to_owned(),
            detail: format!("the server answered {http_status}"),
            alert: None,
            http_status: Some(http_status),
        }
    } else if served.is_finished && served.http_status.is_some() && is_whole {
        CompatOutcome::Accepted {
            version: agreed.version,
            suite: agreed.suite,
            group: agreed.group,
            alpn: agreed.alpn,
        }
    } else {
        unsupported("the client reports a connection that the server did not see")
    }
}

fn rejected(failure: &Failure, served: &Served) -> CompatOutcome {
    CompatOutcome::Rejected {
        reason: Refusal::of(failure),
        library: failure.reason.to_string(),
        detail: failure.detail.clone(),
        alert: served.alert,
        http_status: None,
    }
}
