use std::{
    io::{self, BufRead},
    process::ExitCode,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use netbench_protocol::{
    Configure, Connect, Description, EchRejected, Load, Operation, PROTOCOL_VERSION, Prepare,
    Request, RequestBody, Response, ResponseBody, Serve, StackDescription,
};
use netbench_tls::{Condition, Failure, FailureClass, FailureWord, ProcessCost, Role, sanitize};

use crate::{
    ClientSetup, Fetch, PageLoader, Probe, SetupError, Stack, afresh,
    answers::Answers,
    chain,
    explain::without_folders,
    fetch::measure,
    layout::with_layout,
    load, replay,
    server::Server,
    set_up::take_steps,
    spent::{fault_ns, minor_faults, spent},
    suite::{PrepareError, PreparedScenario, SessionError},
    variant::{Varied, varied},
};

/// Runs a worker's whole `main`: answers requests from stdin on stdout until stdin closes.
///
/// The requests are handled on a separate thread, so that the end of stdin, which indicates the end of netbench, ends
/// the process at once, whatever the thread is doing.
pub fn run(stacks: Vec<Arc<dyn Stack>>) -> ExitCode {
    let stacks = varied(stacks);
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        default_hook(info);
        std::process::exit(101);
    }));
    let answers = match Answers::take_stdout() {
        Ok(answers) => answers,
        Err(error) => {
            eprintln!("no stdout for answers: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (requests, queue) = mpsc::channel::<String>();
    let spawned = thread::Builder::new()
        .name("trials".to_owned())
        .spawn(move || {
            let mut worker = Worker {
                stacks,
                answers,
                configured: None,
                kept: None,
                first_flight: None,
                loader: None,
                server: None,
                scenario: None,
            };
            with_layout(|| {
                for line in &queue {
                    let response = worker.handle(&line);
                    if worker.answers.send(&response).is_err() {
                        break;
                    }
                }
            });
            // Stdout has no reader any more.
            std::process::exit(0);
        });
    if let Err(error) = spawned {
        eprintln!("no thread for trials: {error}");
        return ExitCode::FAILURE;
    }
    if let Some(line) = afresh::first_request()
        && requests.send(line).is_err()
    {
        return ExitCode::FAILURE;
    }
    let mut stdin = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match stdin.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) if line.trim_ascii().is_empty() => {}
            // Bytes that are not text make an invalid request, which gets an answer.
            Ok(_) => {
                let line = String::from_utf8_lossy(&line).into_owned();
                if requests.send(line).is_err() {
                    return ExitCode::FAILURE;
                }
            }
            Err(error) => {
                eprintln!("reading requests: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    // Returning instead would run the destructors of libraries in use.
    std::process::exit(0)
}

struct Worker {
    stacks: Vec<Arc<Varied>>,
    answers: Answers,
    configured: Option<(Arc<Varied>, Configure)>,
    /// The connector of the last `prime`, with its site.
    kept: Option<(String, u16, Box<dyn Fetch>)>,
    /// The bytes that the last measured connection with early data sent before the server's first ones.
    first_flight: Option<Vec<u8>>,
    /// The loader of pages, present after the first page since `configure`.
    loader: Option<Box<dyn PageLoader>>,
    server: Option<Server>,
    scenario: Option<PreparedScenario>,
}

impl Worker {
    fn handle(&mut self, line: &str) -> Response {
        let request: Request = match serde_json::from_str(line) {
            Ok(request) => request,
            Err(error) => {
                let id = serde_json::from_str::<OnlyId>(line).map_or(0, |only| only.id);
                let body = wrong(sanitize(&format!("not a request: {error}")));
                return Response { id, body };
            }
        };
        let body = match request.body {
            RequestBody::Describe => ResponseBody::Description(Description {
                protocol: PROTOCOL_VERSION,
                stacks: self.stacks.iter().map(described).collect(),
            }),
            RequestBody::Configure(settings) => self.configure(*settings, line),
            RequestBody::Connect(request) => self.connect(&request),
            RequestBody::Serve(request) => self.serve(*request),
            RequestBody::Counts => ResponseBody::Counted {
                sites: self.server.as_ref().map(Server::counts).unwrap_or_default(),
            },
            RequestBody::Prepare(request) => self.prepare(&request),
            RequestBody::Slice(slice) => self
                .in_scenario(|scenario| Ok(ResponseBody::Sliced(Box::new(scenario.slice(slice)?)))),
            RequestBody::Hold(hold) => {
                self.in_scenario(|scenario| Ok(ResponseBody::Held(Box::new(scenario.hold(hold)?))))
            }
            RequestBody::Verify(request) => match self.stack(&request.stack) {
                Ok(stack) => match stack.proven() {
                    Ok(stack) => chain::verify(stack.as_ref(), &request),
                    Err(error) => unmade(&error, Duration::ZERO),
                },
                Err(error) => error,
            },
            RequestBody::Load(page) => self.load(&page),
            RequestBody::Replay(request) => replay::replay(self.first_flight.as_deref(), &request),
        };
        Response {
            id: request.id,
            body,
        }
    }

    fn stack(&self, name: &str) -> Result<Arc<Varied>, ResponseBody> {
        let named = self.stacks.iter().find(|stack| stack.name() == name);
        let named = named.cloned();
        named.ok_or_else(|| wrong(format!("this worker has no stack {name:?}")))
    }

    fn configure(&mut self, settings: Configure, line: &str) -> ResponseBody {
        match self.stack(&settings.stack) {
            Ok(stack) if stack.needs_another_process(&settings.client) => {
                let reason = match self.server {
                    Some(_) => "this process serves sites".to_owned(),
                    None => afresh::begin(line, &self.answers).to_string(),
                };
                wrong(format!("other settings need another process: {reason}"))
            }
            Ok(stack) => {
                self.kept = None;
                self.loader = None;
                self.configured = Some((stack, settings));
                ResponseBody::Configured
            }
            Err(error) => error,
        }
    }

    fn connect(&mut self, request: &Connect) -> ResponseBody {
        let Some((stack, settings)) = &self.configured else {
            return wrong("connect before configure");
        };
        let kept = self.kept.take();
        let stack = match stack.proven() {
            Ok(stack) => stack,
            Err(error) => return unmade(&error, Duration::ZERO),
        };
        if request.role == Role::Prime
            && let Some(reason) = stack.never_resumes()
        {
            return unsupported(reason);
        }
        let mut steps = Vec::new();
        let (client, connector) = if request.condition.resumes() && request.role == Role::Measured {
            match kept {
                Some((host, port, client)) if host == request.host && port == request.port => {
                    (client, None)
                }
                _ => return wrong("a resumed connection needs a prime one before it"),
            }
        } else {
            drop(kept);
            if request.role == Role::Stepped {
                let begun = Instant::now();
                match take_steps(stack.as_ref(), &settings.client, &settings.roots_pem) {
                    Ok(taken) => steps = taken,
                    Err(error) => return unmade(&error, begun.elapsed()),
                }
            }
            let probe = Probe::new();
            if settings.early_data && !stack.describe().does(Operation::EarlyData) {
                let name = stack.name();
                return unsupported(format!(
                    "the hyper connector of {name} offers no early data"
                ));
            }
            if let Some(ech) = settings.ech.as_ref()
                && !stack.describe().does(ech.operation())
            {
                let (name, what) = (stack.name(), ech.name());
                return unsupported(format!("{name} offers no {what}"));
            }
            let mut setup = ClientSetup::of(settings, &probe);
            setup.early_data |= request.condition == Condition::EarlyData;
            let (made, took) = spent(|| stack.connector(&setup));
            match made {
                Ok(client) => (client, Some(took)),
                Err(error) => return unmade(&error, Duration::from_nanos(took.wall_ns)),
            }
        };
        let took = connector.map(|spent| Duration::from_nanos(spent.wall_ns));
        let faults = minor_faults();
        let mut measured = measure(stack.as_ref(), client.as_ref(), took, request);
        let rejection = client.probe().marks().ech_rejection.take();
        self.first_flight = client.probe().marks().first_flight.take();
        if let (Ok(measured), Some(connector)) = (&mut measured, connector) {
            measured.process = Some(ProcessCost {
                connector_cpu_ns: connector.cpu_ns,
                minor_faults: connector.minor_faults + minor_faults().saturating_sub(faults),
                fault_ns: (!steps.is_empty()).then(fault_ns).flatten(),
                steps,
            });
        }
        if request.role == Role::Prime && measured.is_ok() {
            self.kept = Some((request.host.clone(), request.port, client));
        }
        match measured {
            Ok(measured) => ResponseBody::Connected(Box::new(measured)),
            Err(failure) => match rejection {
                None => ResponseBody::Failed(failure),
                Some(rejection) => ResponseBody::EchRejected(Box::new(EchRejected {
                    failure,
                    retry_configs: rejection
                        .retry_configs
                        .map(|list| BASE64_STANDARD.encode(list)),
                })),
            },
        }
    }

    fn load(&mut self, page: &Load) -> ResponseBody {
        let Some((stack, settings)) = &self.configured else {
            return wrong("load before configure");
        };
        let loader = match &mut self.loader {
            Some(loader) => loader,
            none => {
                let begun = Instant::now();
                let made = stack
                    .proven()
                    .and_then(|stack| stack.page_loader(&settings.client, &settings.roots_pem));
                match made {
                    Ok(loader) => none.insert(loader),
                    Err(error) => return unmade(&error, begun.elapsed()),
                }
            }
        };
        load::load(loader.as_mut(), page)
    }

    fn prepare(&mut self, request: &Prepare) -> ResponseBody {
        self.scenario = None;
        let stack = match self.stack(&request.stack) {
            Ok(stack) => stack,
            Err(error) => return error,
        };
        let prepared = match stack.proven() {
            Ok(stack) => PreparedScenario::prepare(stack, request),
            Err(error) => Err(error.into()),
        };
        match prepared {
            Ok((scenario, prepared)) => {
                self.scenario = Some(scenario);
                ResponseBody::Prepared(Box::new(prepared))
            }
            Err(PrepareError::Setup(SetupError::Unsupported(reason))) => unsupported(reason),
            Err(PrepareError::Setup(error)) => failed(FailureWord::Setup, &error),
            Err(PrepareError::Session(error)) => failed(error.what, &error),
        }
    }

    fn in_scenario(
        &mut self,
        work: impl FnOnce(&mut PreparedScenario) -> Result<ResponseBody, SessionError>,
    ) -> ResponseBody {
        match &mut self.scenario {
            Some(scenario) => work(scenario).unwrap_or_else(|e| failed(e.what, &e)),
            None => wrong("no scenario is prepared"),
        }
    }

    fn serve(&mut self, request: Serve) -> ResponseBody {
        let stack = match self.stack(&request.stack) {
            Ok(stack) => stack,
            Err(error) => return error,
        };
        let server = match self.server.take().map_or_else(Server::new, Ok) {
            Ok(server) => self.server.insert(server),
            Err(error) => return wrong(format!("no server: {error}")),
        };
        let shared = request.shared.as_ref();
        ResponseBody::Serving(server.serve(&stack, request.sites, shared))
    }
}

/// Returns the stack's description of itself, with the additions of this crate's server for each stack that serves.
fn described(stack: &Arc<Varied>) -> StackDescription {
    let mut description = stack.describe();
    if description.does(Operation::Serve) {
        description.operations.insert(Operation::Objects);
    }
    if description.does(Operation::Suite) {
        let held = [Operation::HeldAfter, Operation::HeldIdle];
        description.operations.extend(held);
    }
    description
}

/// Returns the answer to a request that the worker cannot understand or that comes out of turn.
pub(crate) fn wrong(message: impl Into<String>) -> ResponseBody {
    let message = message.into();
    ResponseBody::Error { message }
}

/// Returns the answer to a request that the stack does not support.
pub(crate) fn unsupported(reason: impl Into<String>) -> ResponseBody {
    let reason = reason.into();
    ResponseBody::Unsupported { reason }
}

fn unmade(error: &SetupError, took: Duration) -> ResponseBody {
    match error {
        SetupError::Unsupported(reason) => unsupported(reason),
        SetupError::Refused(detail) => ResponseBody::Failed(Failure {
            class: FailureClass::Setup,
            reason: FailureWord::Connector.into(),
            detail: sanitize(&without_folders(detail)),
            phase: Some(netbench_tls::Phase::Connector),
            after_ns: Some(crate::clock::nanos(took)),
        }),
    }
}

fn failed(word: FailureWord, error: &dyn std::fmt::Display) -> ResponseBody {
    let detail = sanitize(&without_folders(&error.to_string()));
    ResponseBody::Failed(Failure::new(FailureClass::Setup, word, detail))
}

#[derive(serde::Deserialize)]
struct OnlyId {
    id: u64,
}
