//! A worker that does no work, reports success, and lies on request.

use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
    time::Duration,
};

use netbench_model::{
    CipherSuite, ClientAuth, Condition, EarlyDataStatus, Group, HandshakeKind, Held, HeldAfter,
    Measured, Negotiated, ParallelWork, Phases, Role, Scenario, ServerView, TlsVersion, Transfer,
    Work, WorkerRecord,
};
use netbench_protocol::{
    Connect, Description, Operation, PROTOCOL_VERSION, Prepared, Request, RequestBody, Response,
    ResponseBody, Slice, SliceLimit, Sliced, StackDescription,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The argument that makes the test's executable a worker; its script follows.
pub(crate) const WORD: &str = "fake-worker";

/// Operations of every slice.
const OPERATIONS: u32 = 3;

/// The behaviour of a fake worker.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Script {
    pub(crate) stack: String,
    pub(crate) operations: BTreeSet<Operation>,
    pub(crate) body_bytes: u64,
    /// The execution mode of the worker's virtual machine, if it has one.
    pub(crate) vm_info: Option<String>,
    pub(crate) lies: Vec<Lie>,
}

/// A lie, and the request that it answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Lie {
    pub(crate) at: At,
    pub(crate) what: What,
}

/// The request that a lie answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum At {
    /// Before the first request.
    Start,
    /// The request that sends settings.
    Configure,
    /// The connections of one role to one host.
    Connect(Role, String),
    /// The preparation of the scenario of this name.
    Prepare(String),
    /// The turns of the scenario of this name.
    Slice(String),
    /// The holding of the scenario of this name.
    Hold(String),
}

/// A lie.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum What {
    /// The true response with this value merged into it, as in RFC 7386, except that null is a value.
    Changed(Value),
    /// Another response.
    Instead(Value),
    /// The true response, with the id of another request.
    OtherId,
    /// This line, with a line end.
    Line(String),
    /// A line of this many MiB.
    LongLine(usize),
    /// No response.
    Silence,
    /// The process's end, with some words on stderr.
    Death,
}

/// A fake worker that can be started: its program, and its log.
pub(crate) struct Fake {
    pub(crate) program: PathBuf,
    log: PathBuf,
}

impl Fake {
    /// Writes the program into `folder`.
    pub(crate) fn new(folder: &Path, script: &Script) -> Self {
        let [program, orders, log] =
            ["", ".json", ".log"].map(|suffix| folder.join(format!("{}{suffix}", script.stack)));
        fs::write(&orders, serde_json::to_vec(script).unwrap()).unwrap();
        let own = std::env::current_exe().unwrap();
        let text = format!(
            "exec '{}' {WORD} '{}' '{}'",
            own.display(),
            orders.display(),
            log.display()
        );
        netbench_testing::script(&program, &text);
        Self { program, log }
    }

    /// Returns the processes that received each of these operations, in the order of their requests.
    pub(crate) fn processes(&self, operation: &str) -> Vec<u32> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines
            .filter(|(_, asked)| *asked == operation)
            .map(|(process, _)| process.parse().unwrap())
            .collect()
    }
}

/// Runs the executable as a worker.
pub(crate) fn work(words: &[String]) -> ExitCode {
    let [orders, log] = words else {
        return ExitCode::FAILURE;
    };
    let script: Script = serde_json::from_slice(&fs::read(orders).unwrap()).unwrap();
    let mut log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .unwrap();
    let mut prepared = None;
    if script.lies.iter().any(|lie| lie.at == At::Start) {
        return die();
    }
    for line in io::stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line.unwrap()).unwrap();
        if let RequestBody::Prepare(prepare) = &request.body {
            prepared = Some(prepare.scenario);
        }
        let (at, operation) = at(&request.body, prepared.as_ref());
        let line = format!("{} {operation}\n", std::process::id());
        log.write_all(line.as_bytes()).unwrap();
        let honest = Response {
            id: request.id,
            body: answer(&script, &request.body, prepared.as_ref()),
        };
        let mut answer = serde_json::to_value(&honest).unwrap();
        let lie = script.lies.iter().find(|lie| Some(&lie.at) == at.as_ref());
        match lie.map(|lie| &lie.what) {
            None => {}
            Some(What::Changed(patch)) => merge(&mut answer, patch),
            Some(What::Instead(body)) => {
                answer = body.clone();
                answer["id"] = request.id.into();
            }
            Some(What::OtherId) => answer["id"] = (request.id + 1000).into(),
            Some(What::Line(line)) => {
                say(line);
                continue;
            }
            Some(What::LongLine(mebibytes)) => {
                say(&"x".repeat(mebibytes << 20));
                continue;
            }
            Some(What::Silence) => thread::sleep(Duration::from_secs(600)),
            Some(What::Death) => return die(),
        }
        say(&answer.to_string());
    }
    ExitCode::SUCCESS
}

fn say(line: &str) {
    // A reader that has closed the pipe has given this worker up.
    let _ = writeln!(io::stdout(), "{line}");
}

fn die() -> ExitCode {
    eprintln!("the fake worker dies");
    ExitCode::from(9)
}

fn at(request: &RequestBody, prepared: Option<&Scenario>) -> (Option<At>, &'static str) {
    let name = prepared.map(ToString::to_string).unwrap_or_default();
    match request {
        RequestBody::Describe => (None, "describe"),
        RequestBody::Configure(_) => (Some(At::Configure), "configure"),
        RequestBody::Connect(connect) => (
            Some(At::Connect(connect.role, connect.host.clone())),
            match connect.role {
                Role::Measured => "connect",
                Role::Warmup => "connect as warm-up",
                Role::Prime => "connect as prime",
                Role::Again => "connect again",
                Role::Stepped => "connect after steps",
            },
        ),
        RequestBody::Prepare(_) => (Some(At::Prepare(name)), "prepare"),
        RequestBody::Slice(_) => (Some(At::Slice(name)), "slice"),
        RequestBody::Hold(_) => (Some(At::Hold(name)), "hold"),
        RequestBody::Serve(_) => (None, "serve"),
        RequestBody::Counts => (None, "counts"),
        RequestBody::Verify(_) => (None, "verify"),
        RequestBody::Load(_) => (None, "load"),
        RequestBody::Replay(_) => (None, "replay"),
    }
}

fn answer(script: &Script, request: &RequestBody, prepared: Option<&Scenario>) -> ResponseBody {
    match (request, prepared) {
        (RequestBody::Describe, _) => ResponseBody::Description(Description {
            protocol: PROTOCOL_VERSION,
            stacks: vec![StackDescription {
                record: WorkerRecord {
                    executable: "fake".to_owned(),
                    stack: script.stack.clone(),
                    library: "none".to_owned(),
                    provider: None,
                    connector: "none".to_owned(),
                    build: script
                        .vm_info
                        .iter()
                        .map(|info| (WorkerRecord::VM_INFO.to_owned(), info.clone()))
                        .collect(),
                },
                operations: script.operations.clone(),
                trust_sources: Vec::new(),
                groups: Vec::new(),
                suites: Vec::new(),
                signatures: Vec::new(),
            }],
        }),
        (RequestBody::Configure(_), _) => ResponseBody::Configured,
        (RequestBody::Connect(connect), _) => {
            ResponseBody::Connected(Box::new(connected(connect, script.body_bytes)))
        }
        (RequestBody::Prepare(_), Some(scenario)) => {
            ResponseBody::Prepared(Box::new(agreed(scenario)))
        }
        (RequestBody::Slice(slice), Some(scenario)) => {
            ResponseBody::Sliced(Box::new(sliced(scenario, slice)))
        }
        (RequestBody::Hold(hold), scenario) => {
            let (ticket_bytes, data_bytes) = match scenario.map(|scenario| scenario.work) {
                Some(Work::Memory {
                    settings, after, ..
                }) => (
                    u64::from(after.has_tickets(settings.version)) * 500,
                    u64::from(matches!(after, HeldAfter::Data | HeldAfter::Idle))
                        * HeldAfter::DATA_BYTES as u64,
                ),
                _ => (0, 0),
            };
            let data_bytes = data_bytes * u64::from(hold.sessions / 2);
            ResponseBody::Held(Box::new(Held {
                sessions: hold.sessions,
                peak_bytes: 3 << 20,
                before_bytes: 1 << 20,
                after_bytes: 2 << 20,
                ticket_bytes,
                client_data_bytes: data_bytes,
                server_data_bytes: data_bytes,
                released_by: None,
                heap: None,
            }))
        }
        _ => ResponseBody::Error {
            message: "this is a fake worker".to_owned(),
        },
    }
}

/// Returns a successful connection.
fn connected(connect: &Connect, body_bytes: u64) -> Measured {
    let resumed = connect.condition.resumes() && connect.role == Role::Measured;
    let is_early = resumed && connect.condition == Condition::EarlyData;
    let negotiated = Negotiated {
        ech: None,
        early_data: is_early.then_some(EarlyDataStatus::Accepted),
        version: Some(TlsVersion::Tls13),
        suite: Some(CipherSuite::TLS_AES_128_GCM_SHA256),
        group: Some(Group::X25519),
        signature: None,
        alpn: Some("h2".to_owned()),
        resumed,
        chain_bytes: Vec::new(),
    };
    Measured {
        phases: Phases {
            connector_ns: (!resumed).then_some(1_000),
            tls_ns: 200_000,
            client_hello_ns: 20_000,
            verify_ns: (!resumed).then_some(50_000),
            total_ns: 500_000,
            ..Phases::default()
        },
        client: negotiated.clone(),
        server: Some(ServerView {
            negotiated,
            compute_ns: 700,
        }),
        transfer: Transfer {
            handshake_bytes_out: 500,
            handshake_bytes_in: 3_000,
            bytes_out: 700,
            bytes_in: 3_200 + body_bytes,
            ..Transfer::default()
        },
        http_status: 200,
        body_bytes,
        process: None,
    }
}

/// Returns the kind of a scenario's handshakes.
fn kind(scenario: &Scenario) -> HandshakeKind {
    match scenario.work {
        Work::Handshake { kind, .. } => kind,
        Work::Threads {
            work: ParallelWork::Handshake(kind),
            ..
        } => kind,
        _ => HandshakeKind::Full,
    }
}

/// Returns the parameters that the scenario requires.
fn agreed(scenario: &Scenario) -> Prepared {
    let Some(settings) = scenario.settings() else {
        return Prepared::default();
    };
    let full = kind(scenario) == HandshakeKind::Full;
    let clients = if settings.client_auth == ClientAuth::On {
        2
    } else {
        0
    };
    let [client, server] = [settings.chain_length, clients].map(|certificates| {
        let certificates = if full { certificates } else { 0 };
        Some(Negotiated {
            version: Some(settings.version),
            suite: Some(settings.suite()),
            group: Some(settings.group),
            resumed: !full,
            chain_bytes: vec![1_000; usize::from(certificates)],
            ..Negotiated::default()
        })
    });
    Prepared {
        client,
        server,
        timing: scenario.timing,
    }
}

fn sliced(scenario: &Scenario, asked: &Slice) -> Sliced {
    let operations = match asked.limit {
        SliceLimit::Operations(asked) => asked,
        SliceLimit::Microseconds(_) => OPERATIONS,
    };
    let timings = scenario.measures().iter();
    let timings = timings.map(|measure| (*measure, vec![1_000; operations as usize]));
    let resumed = if kind(scenario) == HandshakeKind::Full {
        0
    } else {
        operations
    };
    Sliced {
        operations,
        timings_ns: timings.collect(),
        handshakes: operations,
        client_resumed: resumed,
        server_resumed: resumed,
        ..Sliced::default()
    }
}

fn merge(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(target.entry(key).or_insert(Value::Null), value);
            }
        }
        (target, patch) => *target = patch.clone(),
    }
}
