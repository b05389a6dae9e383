//! The offers of stacks, captured from their workers: each connects to a listener that reads the hello and hangs
//! up.

use std::{
    io::Read,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use netbench_link::Namespace;
use netbench_model::{
    Alpn, CipherSuite, ClientSettings, Condition, Group, Profile, Role, SignatureScheme, Site,
    StackName, TlsVersion, scan::Offer,
};
use netbench_protocol::{Configure, Operation, RequestBody, ResponseBody};
use netbench_scan::codec::ClientHello;

use crate::{Launch, WorkerError, Workers, requests::connect_request};

/// The time limit of a worker for sending its hello.
const HELLO_LIMIT: Duration = Duration::from_secs(10);

/// The longest hello that is read.
const LONGEST_HELLO: usize = 256 * 1024;

/// The name in captured hellos, unless another is given.
pub const EXAMPLE_HOST: &str = "host.example";

/// An error that prevents the capture of a stack's ClientHello.
#[derive(Debug, thiserror::Error)]
pub enum OfferError {
    /// Its worker makes no connections.
    #[error(
        "stack {0}: its worker makes no connections, and so has no ClientHello to show; leave it out"
    )]
    NoConnections(StackName),
    /// The stack's worker did not start or did not take its settings.
    #[error("stack {0}: cannot get its ClientHello: {1}")]
    Worker(StackName, #[source] WorkerError),
    /// The worker sent no readable ClientHello.
    #[error("stack {stack}: cannot get its ClientHello: {why}{}", said(.worker))]
    NoHello {
        /// The stack.
        stack: StackName,
        /// The data that came instead.
        why: String,
        /// The worker's report of the connection, if it gave one.
        worker: Option<String>,
    },
}

fn said(worker: &Option<String>) -> String {
    let said = worker.as_ref().map(|text| format!("; its worker: {text}"));
    said.unwrap_or_default()
}

/// Returns the client's settings of a scan: the library's defaults, or the settings that every stack supports.
pub fn client_settings(
    profile: Profile,
    stacks: &[StackName],
    workers: &Workers,
) -> ClientSettings {
    let chosen: Vec<_> = stacks
        .iter()
        .filter_map(|stack| workers.description(stack.stack()))
        .collect();
    ClientSettings {
        profile,
        // The profiles with the same settings for every stack have suites of TLS 1.2 and 1.3 alone.
        versions: match profile {
            Profile::Library => TlsVersion::SERVED.to_vec(),
            Profile::Default | Profile::Servo => TlsVersion::OFFERED.to_vec(),
        },
        suites: CipherSuite::OFFERED
            .iter()
            .copied()
            .filter(|suite| chosen.iter().all(|stack| stack.suites.contains(suite)))
            .collect(),
        groups: Group::OFFERED
            .iter()
            .copied()
            .filter(|group| chosen.iter().all(|stack| stack.groups.contains(group)))
            .collect(),
        signatures: SignatureScheme::OFFERED.to_vec(),
        alpn: Alpn::ALL.to_vec(),
    }
}

/// Makes each stack send its hello for `site`, and parses it. The hello is sent only to a listener in `place`, or,
/// if there is no place, on this machine's loopback, which need not be up.
///
/// # Errors
/// Returns the error of the first stack that sent none.
pub fn offers(
    stacks: &[StackName],
    workers: &Workers,
    place: Option<&Namespace>,
    client: &ClientSettings,
    roots_pem: &str,
    site: &Site,
) -> Result<Vec<Offer>, OfferError> {
    let offers = stacks.iter().map(|stack| {
        if !workers.does(stack.stack(), Operation::Connect) {
            return Err(OfferError::NoConnections(stack.clone()));
        }
        let settings = Configure::new(stack.stack(), client.clone(), roots_pem);
        let launch = workers.launch(place);
        let hello = capture(stack, workers, &launch, settings, site)?;
        Ok(netbench_scan::offer(stack.as_str(), &hello))
    });
    offers.collect()
}

fn capture(
    stack: &StackName,
    workers: &Workers,
    launch: &Launch<'_>,
    settings: Configure,
    site: &Site,
) -> Result<ClientHello, OfferError> {
    let (listener, address) =
        listen(launch.place).map_err(|error| no_hello(stack, error.to_string(), None))?;
    let over = Arc::new(AtomicBool::new(false));
    let answered = Arc::clone(&over);
    let reading = thread::Builder::new().spawn(move || read_hello(&listener, &answered));
    let reading = reading.map_err(|error| no_hello(stack, error.to_string(), None))?;
    let purpose = (Condition::Clean, Role::Measured);
    let connect = connect_request(site, address, purpose, HELLO_LIMIT);
    let connect = RequestBody::Connect(Box::new(connect));
    let said = send_hello(workers, launch, settings, connect);
    // A worker that is gone sends no more data.
    over.store(true, Ordering::Relaxed);
    let said = said.map_err(|source| OfferError::Worker(stack.clone(), source))?;
    match reading.join() {
        Ok(Ok(hello)) => Ok(hello),
        Ok(Err(why)) => Err(no_hello(stack, why, said)),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn no_hello(stack: &StackName, why: String, worker: Option<String>) -> OfferError {
    OfferError::NoHello {
        stack: stack.clone(),
        why,
        worker,
    }
}

/// Makes a worker connect, and returns its report of the connection.
fn send_hello(
    workers: &Workers,
    launch: &Launch<'_>,
    settings: Configure,
    connect: RequestBody,
) -> Result<Option<String>, WorkerError> {
    let mut worker = workers.start_configured(launch, settings)?;
    // The connection must fail: no server answers its hello.
    Ok(match worker.ask(connect, 2 * HELLO_LIMIT) {
        Ok(ResponseBody::Failed(failure)) => Some(failure.detail),
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    })
}

fn listen(place: Option<&Namespace>) -> std::io::Result<(TcpListener, SocketAddr)> {
    let any = (Ipv4Addr::LOCALHOST, 0);
    let listener = (place.cloned().unwrap_or_default()).run(|| TcpListener::bind(any));
    let listener = listener.map_err(std::io::Error::other)??;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Returns the first hello of the first connection, or the reason why there is none.
fn read_hello(listener: &TcpListener, over: &AtomicBool) -> Result<ClientHello, String> {
    let mut stream = accept(listener, over)?;
    let mut bytes = Vec::new();
    let mut room = [0; 4096];
    while bytes.len() < LONGEST_HELLO {
        let count = stream.read(&mut room).map_err(|error| error.to_string())?;
        if count == 0 {
            break;
        }
        bytes.extend_from_slice(&room[..count]);
        let hello = ClientHello::of_records(&bytes).map_err(|error| error.to_string())?;
        if let Some(hello) = hello {
            return Ok(hello);
        }
    }
    Err(format!(
        "it sent {} bytes and no whole ClientHello",
        bytes.len()
    ))
}

/// Returns the next connection, or an error if there is none and the worker's answer is `over`.
fn accept(listener: &TcpListener, over: &AtomicBool) -> Result<TcpStream, String> {
    loop {
        // The flag is read before the queue: a connection that arrived until then is in the queue.
        let last = over.load(Ordering::Relaxed);
        match listener.accept() {
            Ok((stream, _)) => {
                let set = stream
                    .set_nonblocking(false)
                    .and_then(|()| stream.set_read_timeout(Some(HELLO_LIMIT)));
                return set.map(|()| stream).map_err(|error| error.to_string());
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                if last {
                    return Err("it did not connect".to_owned());
                }
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}
