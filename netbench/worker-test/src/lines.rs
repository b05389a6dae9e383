use std::{
    collections::BTreeSet,
    io::Read,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::mpsc,
    thread,
};

use netbench_model::{ClientSettings, Condition, KeyType, Profile, Role, SignatureScheme};
use netbench_protocol::{
    Configure, Connect, Load, Operation, PROTOCOL_VERSION, RequestBody, ResponseBody,
    StackDescription,
};
use netbench_runner::WorkerProgram;

use crate::{
    bench::{closed_port, connection, profile, start},
    cases::{client, offer_only},
    findings::error_of,
    site::{HOST, OnlySite, serve_request},
    talk::{ANSWER_LIMIT, Talk, line},
};

/// The time limit of a connection that the end of stdin interrupts.
const CONNECTION_MS: u64 = 60_000;

/// The operations of a stack without connections.
const ONLY_SUITE: [Operation; 3] = [Operation::Suite, Operation::HeldAfter, Operation::HeldIdle];

/// Checks the worker's description of itself.
pub(crate) fn description(
    program: &WorkerProgram,
    stack: &str,
) -> Result<StackDescription, String> {
    let mut worker = Talk::start(program)?;
    let answer = worker.ask(u64::MAX, RequestBody::Describe)?;
    let ResponseBody::Description(description) = answer else {
        return Err(format!("not a description: {answer:?}"));
    };
    if description.protocol != PROTOCOL_VERSION {
        return Err(format!("protocol version {}", description.protocol));
    }
    let names = description.stacks.iter().map(|s| &s.record.stack);
    if names.collect::<BTreeSet<_>>().len() != description.stacks.len() {
        return Err("two stacks have one name".to_owned());
    }
    let mut stacks = description.stacks.iter();
    let own = stacks.find(|s| s.record.stack == stack);
    let own = own.ok_or("not named")?;
    let record = &own.record;
    let file = program.path.file_stem().unwrap_or_default();
    let file = file.to_string_lossy();
    let connects = own.does(Operation::Connect);
    let good = record.executable == file
        && has_version(&record.library)
        && (has_version(&record.connector) || !connects)
        && record.provider.as_deref().is_none_or(has_version)
        && !record.build.is_empty()
        && (connects || own.operations == ONLY_SUITE.into())
        && !own.groups.is_empty()
        && !own.suites.is_empty();
    if good {
        Ok(own.clone())
    } else {
        Err(format!("{own:?}"))
    }
}

fn has_version(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) && text.contains('.')
}

/// Checks that a request that cannot be parsed or executed is answered with an error, and that the worker continues.
pub(crate) fn errors(
    program: &WorkerProgram,
    own: &StackDescription,
) -> Result<Vec<String>, String> {
    let mut worker = Talk::start(program)?;
    let client = Client::of(program, own)?;
    let mut wrong = Vec::new();
    for (what, line, id) in bad_lines(&client)? {
        let answer = worker.put(&line)?;
        match &answer.body {
            ResponseBody::Error { message }
                if answer.id == id
                    && !message.is_empty()
                    && !message.contains(char::is_control) => {}
            _ => wrong.push(format!(
                "{what}: an error with id {id} was due, not {answer:?}"
            )),
        }
    }
    match worker.ask(1, RequestBody::Counts)? {
        ResponseBody::Counted { sites } if sites.is_empty() => {}
        ResponseBody::Error { .. } if !own.does(Operation::Serve) => {}
        other => wrong.push(format!("counts without sites: {other:?}")),
    }
    if own.does(Operation::Connect) && own.does(Operation::Serve) {
        wrong.extend(resumed_without_prime(&mut worker, &client)?);
    }
    let status = worker.end()?;
    if !status.success() {
        wrong.push(format!("it ended with {status}"));
    }
    Ok(wrong)
}

/// The error, the bytes to write, and the id of the answer: 0 if the line has no id.
type BadLine = (&'static str, Vec<u8>, u64);

fn bad_lines(of: &Client<'_>) -> Result<Vec<BadLine>, String> {
    let nowhere = closed_port()?;
    let clean = connect(HOST, nowhere, Condition::Clean, Role::Measured);
    let page = Load {
        host: HOST.to_owned(),
        port: nowhere.port(),
        address: nowhere,
        proceed_base64: None,
        timeout_ms: CONNECTION_MS,
    };
    Ok(vec![
        ("not JSON", "describe".into(), 0),
        ("half of it", "{\"id\":2,\"op\":\"desc".into(), 0),
        ("not UTF-8", b"{\"id\":2,\"op\":\"\xff\xfe\"}".to_vec(), 2),
        ("not text at all", b"\x00\xff\x1b[2J".to_vec(), 0),
        ("deep", "[".repeat(100_000).into_bytes(), 0),
        ("not an object", "[1, 2]".into(), 0),
        ("without id", "{\"op\":\"describe\"}".into(), 0),
        ("negative id", "{\"id\":-1,\"op\":\"describe\"}".into(), 0),
        ("without op", "{\"id\":3}".into(), 3),
        ("unknown op", "{\"id\":4,\"op\":\"no-such-op\"}".into(), 4),
        (
            "escape codes",
            "{\"id\":5,\"op\":\"\\u001b[31m\\u009b2J\"}".into(),
            5,
        ),
        (
            "without settings",
            "{\"id\":6,\"op\":\"connect\"}".into(),
            6,
        ),
        (
            "connect before configure",
            line(7, RequestBody::Connect(Box::new(clean)))?,
            7,
        ),
        (
            "load before configure",
            line(11, RequestBody::Load(page))?,
            11,
        ),
        (
            "configure of an unknown stack",
            line(8, of.configure("no-such-stack\u{1b}[31m"))?,
            8,
        ),
        (
            "serve of an unknown stack",
            line(9, serve_request("no-such-stack", Vec::new()))?,
            9,
        ),
        (
            "an unknown version",
            String::from_utf8_lossy(&line(10, of.configure(of.stack))?)
                .replace("\"1.2\"", "\"0.9\"")
                .into(),
            10,
        ),
    ])
}

/// A client of the stack, with settings that the stack supports, and a site for it.
struct Client<'a> {
    stack: &'a str,
    site: OnlySite,
    settings: ClientSettings,
}

impl<'a> Client<'a> {
    fn of(program: &WorkerProgram, own: &'a StackDescription) -> Result<Self, String> {
        let stack = &own.record.stack;
        let mut settings = ClientSettings {
            profile: match own.does(Operation::Connect) {
                true => profile(&mut start(program)?, own)?,
                false => Profile::Default,
            },
            ..client()
        };
        offer_only(own, &mut settings);
        // The scheme of the site's key, which every stack supports.
        settings.signatures = vec![SignatureScheme::ECDSA_SECP256R1_SHA256];
        Ok(Self {
            stack,
            site: OnlySite::with_key(stack, KeyType::EcdsaP256)?,
            settings,
        })
    }

    fn configure(&self, stack: &str) -> RequestBody {
        let settings = Configure::new(stack, self.settings.clone(), &self.site.roots_pem);
        RequestBody::Configure(Box::new(settings))
    }

    /// Makes `worker` serve the site, and returns its address.
    fn served_by(&self, worker: &mut Talk) -> Result<SocketAddr, String> {
        let answer = worker.ask(50, self.site.request(self.stack))?;
        self.site.address(&answer)
    }
}

fn connect(host: &str, address: SocketAddr, condition: Condition, role: Role) -> Connect {
    Connect {
        timeout_ms: CONNECTION_MS,
        ..connection(host, address, condition, role)
    }
}

/// A step before a measured connection that resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Configure,
    Prime,
    PrimeNowhere,
    PrimeOtherPort,
    Resumed,
    Clean,
}

/// Steps after which a resumption is impossible: it needs a successful prime connection directly before, to the same
/// site and with the same settings.
const NOTHING_KEPT: &[&[Step]] = &[
    &[Step::Configure],
    &[Step::Configure, Step::Clean],
    &[Step::Configure, Step::PrimeNowhere],
    &[Step::Configure, Step::Prime, Step::PrimeNowhere],
    &[Step::Configure, Step::PrimeOtherPort],
    &[Step::Configure, Step::Prime, Step::Configure],
    &[Step::Configure, Step::Prime, Step::Clean],
    &[Step::Configure, Step::Prime, Step::Resumed],
];

fn resumed_without_prime(worker: &mut Talk, client: &Client<'_>) -> Result<Vec<String>, String> {
    let address = client.served_by(worker)?;
    let nowhere = closed_port()?;
    let mut wrong = Vec::new();
    for steps in NOTHING_KEPT {
        for (number, step) in (100..).zip(*steps) {
            let answer = worker.ask(number, request(*step, client, address, nowhere))?;
            let is_prime = matches!(
                step,
                Step::Prime | Step::PrimeNowhere | Step::PrimeOtherPort
            );
            // A stack that never resumes keeps no session.
            if is_prime && matches!(answer, ResponseBody::Unsupported { .. }) {
                break;
            }
            let fits = match step {
                Step::Configure => answer == ResponseBody::Configured,
                Step::PrimeNowhere => matches!(answer, ResponseBody::Failed(_)),
                _ => matches!(answer, ResponseBody::Connected(_)),
            };
            if !fits {
                wrong.push(format!("{step:?} of {steps:?}: {answer:?}"));
            }
        }
        let answer = worker.ask(200, request(Step::Resumed, client, address, nowhere))?;
        if !matches!(answer, ResponseBody::Error { .. }) {
            wrong.push(format!("resumed after {steps:?}: {answer:?}"));
        }
    }
    Ok(wrong)
}

fn request(
    step: Step,
    client: &Client<'_>,
    address: SocketAddr,
    nowhere: SocketAddr,
) -> RequestBody {
    use Condition::{Clean, Resumed};
    let mut connect = match step {
        Step::Configure => return client.configure(client.stack),
        Step::Prime | Step::PrimeOtherPort => connect(HOST, address, Resumed, Role::Prime),
        Step::PrimeNowhere => connect(HOST, nowhere, Resumed, Role::Prime),
        Step::Resumed => connect(HOST, address, Resumed, Role::Measured),
        Step::Clean => connect(HOST, address, Clean, Role::Measured),
    };
    if step == Step::PrimeOtherPort {
        connect.port = 8443;
    }
    RequestBody::Connect(Box::new(connect))
}

/// Checks that the end of stdin ends the worker while it waits for a silent server, and while it serves.
pub(crate) fn end_of_stdin(
    program: &WorkerProgram,
    own: &StackDescription,
) -> Result<Vec<String>, String> {
    let client = Client::of(program, own)?;
    let mut wrong = Vec::new();

    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| e.to_string())?;
    let address = silent.local_addr().map_err(|e| e.to_string())?;
    let mut worker = Talk::start(program)?;
    worker.ask(1, client.configure(client.stack))?;
    let clean = connect(HOST, address, Condition::Clean, Role::Measured);
    worker.write(&line(2, RequestBody::Connect(Box::new(clean)))?)?;
    let held = client_hello(silent)?;
    wrong.extend(error_of("connecting", worker.end()));
    drop(held);

    if !own.does(Operation::Serve) {
        return Ok(wrong);
    }
    let mut worker = Talk::start(program)?;
    let address = client.served_by(&mut worker)?;
    let held = TcpStream::connect(address).map_err(|e| e.to_string())?;
    wrong.extend(error_of("serving", worker.end()));
    drop(held);
    if TcpStream::connect(address).is_ok() {
        wrong.push("something still listens after the end".to_owned());
    }
    Ok(wrong)
}

/// Accepts one connection, and waits until the handshake has begun.
fn client_hello(listener: TcpListener) -> Result<TcpStream, String> {
    let (sender, accepted) = mpsc::channel();
    thread::spawn(move || {
        let first = listener.accept().and_then(|(mut stream, _)| {
            stream.set_read_timeout(Some(ANSWER_LIMIT))?;
            stream.read_exact(&mut [0; 5])?;
            Ok(stream)
        });
        let _ = sender.send(first);
    });
    accepted
        .recv_timeout(ANSWER_LIMIT)
        .map_err(|e| format!("no connection: {e}"))?
        .map_err(|e| e.to_string())
}
