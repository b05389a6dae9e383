//! The process that serves the pages, and the requests to it: HTTP/1.1, each over a separate connection.

use std::{
    cell::RefCell,
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use netbench_link::Namespace;
use netbench_model::features::{WebSeen, WebServing, WebSetup};
use serde_json::Value;

use super::FeaturesError;
use crate::{Launch, Worker, WorkerProgram};

/// The address of the server, in a network that has no other server.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 80);

/// The time limit of the server for listening.
const START: Duration = Duration::from_secs(20);

/// The time limit of the server for an answer, in addition to the time for which it is to wait.
const GRACE: Duration = Duration::from_secs(20);

/// The interval of attempts to connect to a server that does not listen yet.
const TRY: Duration = Duration::from_millis(20);

/// The largest answer, in bytes.
const LARGEST: u64 = 64 << 20;

/// A running server, which ends when this value is dropped.
pub(super) struct Server<'a> {
    namespace: &'a Namespace,
    /// The process, which ends with its stdin.
    process: RefCell<Worker>,
}

impl<'a> Server<'a> {
    /// Starts a server in a network, and waits until it listens.
    pub(super) fn start(
        program: &Path,
        namespace: &'a Namespace,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, FeaturesError> {
        let launch = Launch {
            place: Some(namespace),
            stop: Arc::clone(stop),
            ..Launch::default()
        };
        let program = WorkerProgram::from(program);
        let process = Worker::start(&program, &launch);
        let process = process.map_err(|error| FeaturesError::Server(error.to_string()))?;
        let server = Self {
            namespace,
            process: process.into(),
        };
        let until = Instant::now() + START;
        while server.connect(TRY)?.is_err() {
            if let Some(end) = server.process.borrow_mut().has_ended() {
                return Err(FeaturesError::Server(end.to_string()));
            }
            if Instant::now() >= until || stop.load(Ordering::Relaxed) {
                return Err(FeaturesError::Server("it does not listen".to_owned()));
            }
            thread::sleep(TRY);
        }
        Ok(server)
    }

    /// Makes the server serve the cases. Returns the root that the browser is to trust, as PEM.
    pub(super) fn serve(&self, setup: &WebSetup) -> Result<String, FeaturesError> {
        let body = serde_json::to_string(setup).map_err(|error| wrong(&error))?;
        let head = format!("POST /serve HTTP/1.1\r\ncontent-length: {}", body.len());
        let answer = self.ask(&head, &body, GRACE)?;
        let serving: WebServing = serde_json::from_value(answer).map_err(|error| wrong(&error))?;
        Ok(serving.roots_pem)
    }

    /// Returns the record of a case, after the report of its page, or after `wait`.
    pub(super) fn seen(&self, case: &str, wait: Duration) -> Result<WebSeen, FeaturesError> {
        // The names of cases need no escapes.
        let head = format!(
            "GET /seen?case={case}&wait_ms={} HTTP/1.1",
            wait.as_millis()
        );
        let answer = self.ask(&head, "", wait + GRACE)?;
        serde_json::from_value(answer).map_err(|error| wrong(&error))
    }

    /// Begins a new record of a case.
    pub(super) fn forget(&self, case: &str) -> Result<(), FeaturesError> {
        let head = format!("POST /forget?case={case} HTTP/1.1\r\ncontent-length: 0");
        self.ask(&head, "", GRACE).map(drop)
    }

    fn ask(&self, head: &str, body: &str, limit: Duration) -> Result<Value, FeaturesError> {
        let answer = self.exchange(head, body, limit);
        let answer = answer.map_err(|error| match self.process.borrow_mut().has_ended() {
            Some(end) => FeaturesError::Server(end.to_string()),
            None => wrong(&error),
        })?;
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        if !head.starts_with("HTTP/1.1 200 ") {
            let status = head.lines().next().unwrap_or_default();
            return Err(FeaturesError::Server(format!(
                "it answers {status:?}: {body:.200}"
            )));
        }
        serde_json::from_str(body).map_err(|error| wrong(&error))
    }

    fn exchange(&self, head: &str, body: &str, limit: Duration) -> io::Result<Vec<u8>> {
        let mut stream = self.connect(GRACE).map_err(io::Error::other)??;
        stream.set_read_timeout(Some(limit))?;
        stream.set_write_timeout(Some(limit))?;
        let head = format!(
            "{head}\r\nhost: {}\r\nconnection: close\r\n\r\n",
            ADDRESS.ip()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(LARGEST).read_to_end(&mut answer)?;
        Ok(answer)
    }

    fn connect(&self, limit: Duration) -> Result<io::Result<TcpStream>, FeaturesError> {
        Ok(self
            .namespace
            .run(|| TcpStream::connect_timeout(&ADDRESS, limit))?)
    }
}

fn wrong(error: &dyn std::fmt::Display) -> FeaturesError {
    FeaturesError::Server(format!("its answer cannot be read: {error}"))
}
