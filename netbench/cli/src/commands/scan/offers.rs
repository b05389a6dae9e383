//! What a stack offers, captured from its worker: it is told to connect to a listener that reads
//! the hello and hangs up.

use std::{
    io::Read,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use netbench_link::Place;
use netbench_model::{
    Alpn, CipherSuite, ClientSettings, Condition, Group, Profile, Role, SignatureScheme, StackName,
    TlsVersion, scan::Offer,
};
use netbench_protocol::{Configure, Connect, RequestBody, Resolve, ResponseBody};
use netbench_runner::{Launch, Worker, Workers};
use netbench_scan::codec::ClientHello;

/// How long a worker may take to send its hello.
const HELLO_LIMIT: Duration = Duration::from_secs(10);

/// How long a worker may take to take its settings in.
const CONFIGURE_LIMIT: Duration = Duration::from_secs(20);

/// The longest hello that is read.
const LONGEST_HELLO: usize = 256 * 1024;

/// The name that captured hellos are for.
const HOST: &str = "host.example";

/// What clients are set to: as a library is by itself, or as far as every stack can do.
pub(crate) fn client_settings(
    profile: Profile,
    stacks: &[StackName],
    fleet: &Workers,
) -> ClientSettings {
    let chosen = || {
        stacks
            .iter()
            .filter_map(|stack| fleet.description(stack.stack()))
    };
    let group = |group: &Group| chosen().all(|stack| stack.groups.contains(group));
    let suite = |suite: &CipherSuite| chosen().all(|stack| stack.suites.contains(suite));
    ClientSettings {
        profile,
        versions: TlsVersion::OFFERED.to_vec(),
        suites: CipherSuite::OFFERED.iter().copied().filter(suite).collect(),
        groups: Group::OFFERED.iter().copied().filter(group).collect(),
        signatures: SignatureScheme::OFFERED.to_vec(),
        alpn: Alpn::ALL.to_vec(),
    }
}

/// A worker of `stack` that has these settings.
pub(super) fn configured(
    program: &Path,
    launch: &Launch<'_>,
    stack: &str,
    client: &ClientSettings,
    roots_pem: &str,
) -> anyhow::Result<Worker> {
    let mut worker = Worker::start(program, launch)?;
    let configure = RequestBody::Configure(Box::new(Configure {
        stack: stack.to_owned(),
        client: client.clone(),
        roots_pem: roots_pem.to_owned(),
    }));
    match worker.ask(configure, CONFIGURE_LIMIT)? {
        ResponseBody::Configured => Ok(worker),
        other => bail!("stack {stack}: it does not take its settings: {other:?}"),
    }
}

/// Has each stack send its hello, and takes it apart. In `place`, where there is one: its loopback is
/// up, which this machine's need not be.
pub(crate) fn offers(
    stacks: &[StackName],
    fleet: &Workers,
    place: Option<&Place>,
    client: &ClientSettings,
    roots_pem: &str,
) -> anyhow::Result<Vec<Offer>> {
    let offer = |stack: &StackName| {
        let program = fleet
            .program(stack.stack())
            .with_context(|| format!("stack {stack}: no worker"))?;
        let hello = capture(program, place, stack.stack(), client, roots_pem)
            .with_context(|| format!("stack {stack}: cannot get its ClientHello"))?;
        Ok(netbench_scan::offer(stack.as_str(), &hello))
    };
    stacks.iter().map(offer).collect()
}

fn capture(
    program: &Path,
    place: Option<&Place>,
    stack: &str,
    client: &ClientSettings,
    roots_pem: &str,
) -> anyhow::Result<ClientHello> {
    let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listener = match place {
        Some(place) => place.run(bind)??,
        None => bind()?,
    };
    let address = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let reading = thread::Builder::new().spawn(move || read_hello(&listener))?;
    let mut worker = configured(program, &Launch::in_place(place), stack, client, roots_pem)?;
    let connect = connect_request(HOST, 443, address, HELLO_LIMIT);
    // It fails, as it must: nobody answers its hello.
    let asked = worker.ask(connect, 2 * HELLO_LIMIT);
    match reading.join() {
        Ok(Ok(hello)) => Ok(hello),
        Ok(Err(error)) => Err(match asked {
            Ok(ResponseBody::Failed(failure)) => error.context(failure.detail),
            Ok(_) => error,
            Err(worker) => error.context(worker),
        }),
        Err(_) => bail!("the listener failed"),
    }
}

pub(super) fn connect_request(
    host: &str,
    port: u16,
    address: SocketAddr,
    limit: Duration,
) -> RequestBody {
    RequestBody::Connect(Box::new(Connect {
        host: host.to_owned(),
        port,
        address,
        resolve: Resolve::Given,
        condition: Condition::Clean,
        role: Role::Measured,
        timeout_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
    }))
}

fn read_hello(listener: &TcpListener) -> anyhow::Result<ClientHello> {
    let deadline = Instant::now() + CONFIGURE_LIMIT + HELLO_LIMIT;
    let mut stream = accept(listener, deadline)?;
    let mut bytes = Vec::new();
    let mut room = [0; 4096];
    while bytes.len() < LONGEST_HELLO {
        let count = stream.read(&mut room)?;
        if count == 0 {
            break;
        }
        bytes.extend_from_slice(&room[..count]);
        if let Some(hello) = ClientHello::of_records(&bytes)? {
            return Ok(hello);
        }
    }
    bail!("it sent {} bytes and no whole ClientHello", bytes.len())
}

fn accept(listener: &TcpListener, deadline: Instant) -> anyhow::Result<TcpStream> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(HELLO_LIMIT))?;
                return Ok(stream);
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                if Instant::now() > deadline {
                    bail!("it did not connect");
                }
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.into()),
        }
    }
}
