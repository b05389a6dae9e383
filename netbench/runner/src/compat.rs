//! Tests of each stack with the cases of the catalogue: for each test, a server of the case and one connection.
//! Browsers and other programs are tested in `outside`, and the network stacks of browser engines in `engines`.

mod engines;
mod outside;

use std::{
    ops::ControlFlow,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use jiff::Timestamp;
use netbench_compat::{BODY, Case, Served, ServerError, Visits};
use netbench_model::{
    ClientSettings, Condition, Failure, FailureClass, FailureWord, Role, SCHEMA_VERSION, StackName,
    compat::{CompatOutcome, CompatSample, EmbedderView, Refusal},
};
use netbench_protocol::{Configure, Connect, RequestBody, Resolve, ResponseBody};

use self::engines::Engine;
pub use self::outside::{OutsideClients, try_outside};
use crate::{Worker, WorkerError, WorkerProgram, Workers};

/// The time beyond the limit of a connection after which a worker counts as hung.
const GRACE: Duration = Duration::from_secs(5);

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
    /// The time limit of a stack with a server.
    pub limit: Duration,
    /// A flag that stops further cases when it becomes true.
    pub stop: &'a AtomicBool,
}

/// An error that prevents cases from being tested.
#[derive(Debug, thiserror::Error)]
pub enum CompatError {
    /// A server's certificates cannot be made.
    #[error("case {case}: {source}")]
    Server {
        /// The case.
        case: String,
        /// The error.
        source: ServerError,
    },
    /// This machine has no port or no thread for a server.
    #[error("case {case}: no server: {source}")]
    Listen {
        /// The case.
        case: String,
        /// The error.
        source: std::io::Error,
    },
    /// There is no network for a client.
    #[error(transparent)]
    Network(#[from] netbench_link::LinkError),
    /// A stack has no worker.
    #[error("stack {0}: no worker")]
    NoWorker(StackName),
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
    let all = stacks.iter().map(|stack| Client::new(clients, stack));
    try_all(clients, all.collect(), cases, wanted, found)
}

/// Does the same as [`try_cases`], with stacks whose workers load pages, as the network stacks of browser engines
/// do.
///
/// # Errors
/// Returns the first error that prevents cases from being tested.
pub fn try_engines(
    clients: &CompatClients<'_>,
    engines: &[StackName],
    cases: &[Case],
    wanted: impl Fn(&StackName, &Case) -> bool + Sync,
    found: impl FnMut(CompatSample) -> ControlFlow<()>,
) -> Result<(), CompatError> {
    let all = engines.iter().map(|engine| Engine::new(clients, engine));
    try_all(clients, all.collect(), cases, wanted, found)
}

/// A client that is tested with cases.
trait Attempts {
    fn name(&self) -> &StackName;

    /// Tests a case. Returns `None` if the run was stopped.
    fn attempt(&mut self, case: &Case, limit: Duration) -> Result<Option<Attempt>, CompatError>;
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

fn try_all(
    clients: &CompatClients<'_>,
    all: Vec<impl Attempts + Send>,
    cases: &[Case],
    wanted: impl Fn(&StackName, &Case) -> bool + Sync,
    found: impl FnMut(CompatSample) -> ControlFlow<()>,
) -> Result<(), CompatError> {
    let (sender, samples) = mpsc::channel();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        for mut client in all {
            let (sender, wanted, ended) = (sender.clone(), &wanted, &ended);
            scope.spawn(move || {
                let name = client.name().clone();
                for case in cases.iter().filter(|case| wanted(&name, case)) {
                    if clients.stop.load(Ordering::Relaxed) || ended.load(Ordering::Relaxed) {
                        return;
                    }
                    // A stopped client has no sample.
                    let Some(sample) = sample(&mut client, case, clients.limit).transpose() else {
                        return;
                    };
                    if sender.send(sample).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        hand_on(samples, &ended, found)
    })
}

/// Returns the sample of a case, or `None` if the run was stopped.
fn sample(
    client: &mut impl Attempts,
    case: &Case,
    limit: Duration,
) -> Result<Option<CompatSample>, CompatError> {
    let mut attempt = client.attempt(case, limit)?;
    if let Some(Attempt {
        outcome: CompatOutcome::Hang { .. },
        ..
    }) = &attempt
    {
        attempt = client.attempt(case, limit * PATIENCE)?;
    }
    Ok(attempt.map(|attempt| CompatSample {
        schema: SCHEMA_VERSION,
        case: case.record.name.clone(),
        stack: client.name().clone(),
        outcome: attempt.outcome,
        embedder: attempt.embedder,
    }))
}

/// Passes each sample to `found`, until `found` or an error ends the run. The senders of samples then see `ended`.
fn hand_on(
    samples: Receiver<Result<CompatSample, CompatError>>,
    ended: &AtomicBool,
    mut found: impl FnMut(CompatSample) -> ControlFlow<()>,
) -> Result<(), CompatError> {
    for sample in samples {
        let goes_on = sample.map(|sample| found(sample).is_continue());
        if !matches!(goes_on, Ok(true)) {
            ended.store(true, Ordering::Relaxed);
            return goes_on.map(drop);
        }
    }
    Ok(())
}

/// A stack's worker, which is restarted when it is gone.
struct Client<'a> {
    clients: &'a CompatClients<'a>,
    stack: &'a StackName,
    worker: Option<Worker>,
}

impl<'a> Client<'a> {
    fn new(clients: &'a CompatClients<'a>, stack: &'a StackName) -> Self {
        Self {
            clients,
            stack,
            worker: None,
        }
    }

    fn connection(
        &mut self,
        case: &Case,
        limit: Duration,
    ) -> Result<Option<CompatOutcome>, CompatError> {
        let name = || case.record.name.clone();
        if let Some(reason) = self.lacks(case) {
            return Ok(Some(CompatOutcome::Unsupported { reason }));
        }
        let server = case.server(Timestamp::now());
        let server = server.map_err(|source| CompatError::Server {
            case: name(),
            source,
        })?;
        let settings = Configure {
            stack: self.stack.stack().to_owned(),
            client: self.clients.client.clone(),
            roots_pem: server.roots_pem().to_owned(),
            identity: case.identity(),
            early_data: case.visits() == Visits::TwiceWithEarlyData,
        };
        let running = server.start(limit + SERVER_GRACE);
        let running = running.map_err(|source| CompatError::Listen {
            case: name(),
            source,
        })?;
        let connect = |condition, role| {
            RequestBody::Connect(Box::new(Connect {
                host: case.record.host.clone(),
                port: running.address().port(),
                address: running.address(),
                resolve: Resolve::Given,
                condition,
                role,
                timeout_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
                request: case.request(),
            }))
        };
        let program = self.clients.workers.program(self.stack.stack());
        let program = program.ok_or_else(|| CompatError::NoWorker(self.stack.clone()))?;
        let visits = match case.visits() {
            Visits::Once => vec![connect(Condition::Clean, Role::Measured)],
            Visits::Twice | Visits::TwiceWithEarlyData => vec![
                connect(Condition::Resumed, Role::Prime),
                connect(Condition::Resumed, Role::Measured),
            ],
        };
        let answered = self.ask(program, settings, visits, limit + GRACE);
        if answered.is_err() {
            self.worker = None;
        }
        Ok(outcome(case, answered, &running.end(), limit))
    }

    /// Returns the requirement of the case that the worker does not support, if there is one.
    fn lacks(&self, case: &Case) -> Option<String> {
        let description = self.clients.workers.description(self.stack.stack())?;
        let identity = case.identity();
        let needs = [
            ("request", !case.request().is_usual(), "sends no headers"),
            (
                "client-certificate",
                identity.is_some(),
                "shows no certificate",
            ),
            (
                "client-file",
                identity.is_some_and(|identity| identity.is_file()),
                "takes no encrypted key and no PKCS#12",
            ),
            (
                "early-data",
                case.visits() == Visits::TwiceWithEarlyData,
                "offers no early data",
            ),
        ];
        let can = |operation: &str| description.operations.iter().any(|can| can == operation);
        let mut lacking = needs.iter().filter(|(need, is, _)| *is && !can(need));
        let (.., lacks) = lacking.next()?;
        Some(format!("its worker {lacks}"))
    }

    /// Returns the response to the last of `visits`, or to the first that fails.
    fn ask(
        &mut self,
        program: &WorkerProgram,
        settings: Configure,
        visits: Vec<RequestBody>,
        limit: Duration,
    ) -> Result<ResponseBody, WorkerError> {
        let worker = match &mut self.worker {
            Some(worker) => {
                worker.ask(RequestBody::Configure(Box::new(settings)), limit)?;
                worker
            }
            None => {
                let launch = self.clients.workers.launch(None);
                let started = Worker::start_configured(program, &launch, settings)?;
                self.worker.insert(started)
            }
        };
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

impl Attempts for Client<'_> {
    fn name(&self) -> &StackName {
        self.stack
    }

    fn attempt(&mut self, case: &Case, limit: Duration) -> Result<Option<Attempt>, CompatError> {
        Ok(self.connection(case, limit)?.map(Attempt::from))
    }
}

/// Returns the outcome of a connection by the reports of both sides, or `None` if the run was stopped.
fn outcome(
    case: &Case,
    said: Result<ResponseBody, WorkerError>,
    served: &Served,
    limit: Duration,
) -> Option<CompatOutcome> {
    let unsupported = |reason: String| CompatOutcome::Unsupported { reason };
    let hang = hang(limit);
    if let (Ok(_), Some(why)) = (&said, &served.cannot) {
        return Some(unsupported(format!(
            "the case's server cannot go on: {why}"
        )));
    }
    Some(match said {
        Ok(ResponseBody::Connected(_))
            if case.visits() != Visits::Once && !served.is_shown_ticket =>
        {
            unsupported("it did not show the ticket of its first connection".to_owned())
        }
        Ok(ResponseBody::Connected(_))
            if case.visits() == Visits::TwiceWithEarlyData && !served.is_offered_early_data =>
        {
            unsupported("it offered no early data".to_owned())
        }
        Ok(ResponseBody::Connected(measured)) => {
            let agreed = measured.client;
            answered(served, measured.http_status, measured.body_bytes, || {
                CompatOutcome::Accepted {
                    version: agreed.version,
                    suite: agreed.suite,
                    group: agreed.group,
                    alpn: agreed.alpn,
                }
            })
        }
        Ok(ResponseBody::Failed(failure)) if failure.class == FailureClass::Timeout => hang,
        // The worker cannot put the host into a URL: the stack was not tested.
        Ok(ResponseBody::Failed(failure)) if failure.reason == FailureWord::Host.into() => {
            unsupported(failure.detail)
        }
        Ok(ResponseBody::Failed(failure)) => rejected(&failure, served),
        Ok(ResponseBody::Unsupported { reason }) => unsupported(reason),
        Ok(other) => unsupported(format!("the worker answered {other:?}")),
        Err(WorkerError::Stopped) => return None,
        Err(WorkerError::Hung { .. }) => hang,
        Err(WorkerError::Refused(why)) => unsupported(why),
        Err(error) => CompatOutcome::Crash {
            detail: error.to_string(),
        },
    })
}

fn hang(limit: Duration) -> CompatOutcome {
    CompatOutcome::Hang {
        after_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
    }
}

/// Returns the outcome of a response: it counts if both sides report all of it.
fn answered(
    served: &Served,
    http_status: u16,
    body_bytes: u64,
    accepted: impl FnOnce() -> CompatOutcome,
) -> CompatOutcome {
    let unsupported = |reason: String| CompatOutcome::Unsupported { reason };
    // Bytes after the switch to another protocol are no body.
    let is_switched = served.is_switched && http_status == 101;
    let is_whole = is_switched || body_bytes == BODY.len() as u64;
    if let Some(why) = &served.cannot {
        unsupported(format!("the case's server cannot go on: {why}"))
    } else if http_status != 200 && !is_switched {
        CompatOutcome::Rejected {
            reason: Refusal::Class(FailureClass::Http),
            library: "status".to_owned(),
            detail: format!("the server answered {http_status}"),
            alert: None,
            http_status: Some(http_status),
        }
    } else if served.is_finished && served.http_status.is_some() && is_whole {
        accepted()
    } else {
        unsupported("the client reports a connection that the server did not see".to_owned())
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
