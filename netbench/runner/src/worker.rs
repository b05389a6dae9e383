use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, ChildStdin, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use netbench_model::{Failure, FailureClass, FailureWord, sanitize_prefix};
use netbench_protocol::{
    Configure, PROTOCOL_VERSION, Request, RequestBody, Response, ResponseBody,
};
use nix::{
    sys::{
        personality::Persona,
        signal::{Signal, killpg},
    },
    unistd::Pid,
};
use parking_lot::Mutex;

use crate::{Launch, WorkerProgram, groups, nonsense, throttle::Throttle};

/// The longest response that is read, in bytes: one with the certificates of ten thousand sites is shorter.
const LONGEST_LINE: u64 = 64 << 20;

/// The time limit of a worker for accepting its settings.
const CONFIGURE_LIMIT: Duration = Duration::from_secs(20);

/// The time that a worker has for its response after the run is to stop: most trials end within it.
const STOP_LIMIT: Duration = Duration::from_millis(700);

/// The interval at which a wait checks whether the run is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Number of the last lines on stderr that an error quotes.
const LAST_LINES: usize = 5;

/// A worker's process, which processes one request at a time.
pub struct Worker {
    child: Child,
    throttle: Option<Throttle>,
    stdin: Option<ChildStdin>,
    answers: Receiver<Result<Response, String>>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    next_id: u64,
    /// A flag that soon ends the wait for a response when it becomes true.
    stop: Arc<AtomicBool>,
}

/// An error of a worker.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The program with this path could not be started.
    #[error("cannot start {0}: {1}")]
    Start(String, #[source] io::Error),
    /// The worker ended.
    #[error("the worker {}{}", ended(.status), said(.stderr))]
    Died {
        /// The exit status, if it is known.
        status: Option<ExitStatus>,
        /// Its last lines on stderr.
        stderr: Vec<String>,
    },
    /// The worker did not answer in time.
    #[error("the worker did not answer within {limit:?}{}", said(.stderr))]
    Hung {
        /// The time limit.
        limit: Duration,
        /// Its last lines on stderr.
        stderr: Vec<String>,
    },
    /// The run was stopped before the worker answered, which is no fault of the worker.
    #[error("stopped before the worker answered")]
    Stopped,
    /// The worker wrote a line that is not a response to the request.
    #[error("the worker wrote a line that is not an answer: {line}{}", said(.stderr))]
    Nonsense {
        /// The line, shortened and without control characters.
        line: String,
        /// Its last lines on stderr.
        stderr: Vec<String>,
    },
    /// The worker answered that it does not support the request.
    #[error("the worker refused: {0}")]
    Refused(String),
    /// The worker speaks another version of the protocol.
    #[error(
        "the worker speaks protocol version {0}, and this netbench {PROTOCOL_VERSION}: build both from one source"
    )]
    Version(u32),
}

impl WorkerError {
    /// Returns the error for a response of another kind than the requested one.
    pub(crate) fn another_kind(answer: &ResponseBody) -> Self {
        Self::Refused(format!("an answer of another kind: {answer:?}"))
    }

    /// Returns the error as it is recorded in a sample.
    pub(crate) fn failure(&self) -> Failure {
        let reason = match self {
            Self::Start(..) => FailureWord::Start,
            Self::Died { .. } => FailureWord::Died,
            // A stopped run records no such sample.
            Self::Hung { .. } | Self::Stopped => FailureWord::Hung,
            Self::Nonsense { .. } | Self::Version(_) => FailureWord::Nonsense,
            Self::Refused(_) => FailureWord::Refused,
        };
        Failure::new(FailureClass::Worker, reason, self.to_string())
    }
}

fn ended(status: &Option<ExitStatus>) -> String {
    match status {
        None => "closed its output".to_owned(),
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("exited with {code}"),
            (None, Some(signal)) => format!("was killed by signal {signal}"),
            (None, None) => "ended".to_owned(),
        },
    }
}

fn said(stderr: &[String]) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!("; it said: {}", stderr.join(" | "))
    }
}

impl Worker {
    /// Starts `program` with the settings of `launch`.
    ///
    /// # Errors
    /// Returns [`WorkerError::Start`].
    pub fn start(program: &WorkerProgram, launch: &Launch<'_>) -> Result<Self, WorkerError> {
        Self::try_start(program, launch)
            .map_err(|source| WorkerError::Start(program.path.display().to_string(), source))
    }

    fn try_start(program: &WorkerProgram, launch: &Launch<'_>) -> io::Result<Self> {
        let mut command = launch.command(&program.path);
        command
            .envs(program.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A terminal's Ctrl-C is for netbench to handle, not for its workers.
            .process_group(0);
        let mut child = command.spawn()?;
        if let Ok(group) = i32::try_from(child.id()) {
            groups::enter(group);
        }
        let stdin = child.stdin.take();
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let (sender, answers) = mpsc::channel();
        let words = Arc::new(Mutex::new(VecDeque::new()));
        let last = Arc::clone(&words);
        spawn(move || collect_last_lines(stderr, &last))?;
        spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Some(answer) = read_answer(&mut reader) {
                let nonsense = answer.is_err();
                if sender.send(answer).is_err() || nonsense {
                    break;
                }
            }
        })?;
        let throttle = match (launch.cpu, i32::try_from(child.id())) {
            (Some(share), Ok(group)) => Some(Throttle::start(group, share)?),
            _ => None,
        };
        Ok(Self {
            child,
            throttle,
            stdin,
            answers,
            stderr: words,
            next_id: 1,
            stop: Arc::clone(&launch.stop),
        })
    }

    /// Starts `program` and sends it its settings.
    ///
    /// # Errors
    /// Returns any error; [`WorkerError::Refused`] if the worker does not accept the settings.
    pub fn start_configured(
        program: &WorkerProgram,
        launch: &Launch<'_>,
        settings: Configure,
    ) -> Result<Self, WorkerError> {
        let mut worker = Self::start(program, launch)?;
        worker.configure(settings)?;
        Ok(worker)
    }

    /// Configures the worker for later connections.
    pub(crate) fn configure(&mut self, settings: Configure) -> Result<(), WorkerError> {
        match self.ask(RequestBody::Configure(Box::new(settings)), CONFIGURE_LIMIT)? {
            ResponseBody::Configured => Ok(()),
            other => Err(WorkerError::another_kind(&other)),
        }
    }

    /// Sends one request and waits for its response.
    ///
    /// # Errors
    /// Returns any error except [`WorkerError::Start`]; after any except [`WorkerError::Refused`], the worker
    /// cannot be used any more.
    pub fn ask(&mut self, body: RequestBody, limit: Duration) -> Result<ResponseBody, WorkerError> {
        let id = self.next_id;
        self.next_id += 1;
        let deadline = Instant::now() + limit;
        let mut line = serde_json::to_vec(&Request { id, body })
            .map_err(|e| WorkerError::Refused(e.to_string()))?;
        line.push(b'\n');
        self.write(line, deadline, limit)?;
        match receive(&self.answers, deadline, &self.stop) {
            Ok(Ok(Response { id: answered, body })) if answered == id => match body {
                ResponseBody::Error { message } => Err(WorkerError::Refused(line_of(&message))),
                body => Ok(body),
            },
            Ok(Ok(other)) => {
                let line = format!("an answer to request {}, not {id}", other.id);
                Err(self.nonsense(line_of(&line)))
            }
            Ok(Err(line)) => Err(self.nonsense(line)),
            Err(Unheard::Late) => Err(self.hung(limit)),
            Err(Unheard::Stopped) => Err(WorkerError::Stopped),
            Err(Unheard::Never) => Err(self.died()),
        }
    }

    /// Returns the end of the process, if it has ended or is about to.
    pub(crate) fn has_ended(&mut self) -> Option<WorkerError> {
        self.is_ending().then(|| WorkerError::Died {
            status: self.child.wait().ok(),
            stderr: self.last_lines(),
        })
    }

    /// Returns whether the process has ended or is ending. Its sockets close only then, so that a client that finds
    /// one closed knows the cause.
    fn is_ending(&self) -> bool {
        /// PF_EXITING of the kernel's `include/linux/sched.h`.
        const EXITING: u32 = 0x4;
        let Some(text) = self.proc("stat") else {
            return true;
        };
        // After the name, which may contain any character: the state, and six fields later the flags (proc(5)).
        let mut fields = text
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace();
        let state = fields.next();
        let flags = fields.nth(5).and_then(|flags| flags.parse().ok());
        matches!(state, Some("Z" | "X")) || flags.is_some_and(|flags: u32| flags & EXITING != 0)
    }

    /// Returns the number of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns the peak resident size of the process, in bytes, if the kernel reports it.
    pub fn resident_bytes(&self) -> Option<u64> {
        let status = self.proc("status")?;
        let line = (status.lines()).find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }

    /// Returns whether its memory layout is the same at every start.
    pub fn has_fixed_layout(&self) -> bool {
        self.proc("personality")
            .and_then(|text| i32::from_str_radix(text.trim(), 16).ok())
            .is_some_and(|bits| {
                Persona::from_bits_retain(bits).contains(Persona::ADDR_NO_RANDOMIZE)
            })
    }

    /// Returns the content of one of the kernel's files about the process.
    fn proc(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).ok()
    }

    /// Ends the process normally, by closing its stdin.
    ///
    /// # Errors
    /// Returns an error if the process does not end in time, or fails.
    pub fn finish(mut self, limit: Duration) -> Result<(), WorkerError> {
        drop(self.stdin.take());
        drop(self.throttle.take());
        let deadline = Instant::now() + limit;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(_)) | Err(_) => return Err(self.died()),
                Ok(None) if Instant::now() >= deadline => {
                    return Err(self.hung(limit));
                }
                Ok(None) if self.stop.load(Ordering::Relaxed) => return Err(WorkerError::Stopped),
                Ok(None) => thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Writes on a separate thread: a worker that does not read must not block netbench.
    fn write(
        &mut self,
        line: Vec<u8>,
        deadline: Instant,
        limit: Duration,
    ) -> Result<(), WorkerError> {
        const PIPE: usize = 4096;
        let Some(mut stdin) = self.stdin.take() else {
            return Err(self.died());
        };
        if line.len() <= PIPE {
            // A request this short fits into the pipe at once: only one is in progress at a time.
            let written = stdin.write_all(&line);
            self.stdin = Some(stdin);
            return written.map_err(|_| self.died());
        }
        let (sender, done) = mpsc::channel();
        let writing = spawn(move || {
            let written = stdin.write_all(&line);
            let _ = sender.send((stdin, written));
        });
        if let Err(error) = writing {
            return Err(WorkerError::Refused(error.to_string()));
        }
        match receive(&done, deadline, &self.stop) {
            Ok((stdin, written)) => {
                self.stdin = Some(stdin);
                written.map_err(|_| self.died())
            }
            Err(Unheard::Stopped) => Err(WorkerError::Stopped),
            Err(Unheard::Late | Unheard::Never) => Err(self.hung(limit)),
        }
    }

    fn died(&mut self) -> WorkerError {
        // The worker closed its output and is ending; its last lines may still be in transit.
        let mut status = None;
        for _ in 0..50 {
            status = self.child.try_wait().ok().flatten();
            if status.is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        thread::sleep(Duration::from_millis(20));
        WorkerError::Died {
            status,
            stderr: self.last_lines(),
        }
    }

    fn hung(&self, limit: Duration) -> WorkerError {
        let stderr = self.last_lines();
        WorkerError::Hung { limit, stderr }
    }

    fn nonsense(&self, line: String) -> WorkerError {
        let stderr = self.last_lines();
        WorkerError::Nonsense { line, stderr }
    }

    fn last_lines(&self) -> Vec<String> {
        self.stderr.lock().iter().cloned().collect()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.stdin.take());
        drop(self.throttle.take());
        // The whole group is ended: a worker may have started other processes.
        if let Ok(group) = i32::try_from(self.child.id()) {
            // The child has not been waited for yet: its process id is still valid.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
            groups::leave(group);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The reason why another thread sent no value.
enum Unheard {
    Late,
    Stopped,
    /// The thread is gone.
    Never,
}

/// Waits for a value from another thread, until `deadline`, or for a moment after `stop`.
fn receive<T>(from: &Receiver<T>, deadline: Instant, stop: &AtomicBool) -> Result<T, Unheard> {
    let mut stopped: Option<Instant> = None;
    loop {
        let now = Instant::now();
        if stop.load(Ordering::Relaxed) && *stopped.get_or_insert(now) + STOP_LIMIT <= now {
            return Err(Unheard::Stopped);
        }
        let left = deadline.saturating_duration_since(now);
        match from.recv_timeout(left.min(LOOK)) {
            Ok(sent) => return Ok(sent),
            Err(RecvTimeoutError::Disconnected) => return Err(Unheard::Never),
            Err(RecvTimeoutError::Timeout) if left <= LOOK => return Err(Unheard::Late),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    // The threads only copy: the default stack of 2 MiB per thread is only address space, but a large amount.
    thread::Builder::new()
        .stack_size(128 * 1024)
        .spawn(work)
        .map(drop)
}

fn read_answer(reader: &mut impl BufRead) -> Option<Result<Response, String>> {
    let mut line = Vec::new();
    match reader
        .by_ref()
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut line)
    {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(serde_json::from_slice(&line).map_err(|_| {
            nonsense::describe(&line).unwrap_or_else(|| line_of(&String::from_utf8_lossy(&line)))
        })),
    }
}

fn collect_last_lines(stderr: impl Read, last: &Mutex<VecDeque<String>>) {
    let mut reader = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match reader.by_ref().take(4096).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let mut last = last.lock();
                if last.len() == LAST_LINES {
                    last.pop_front();
                }
                last.push_back(line_of(&String::from_utf8_lossy(&line)));
            }
        }
    }
}

/// Returns one line of at most 200 characters.
fn line_of(text: &str) -> String {
    sanitize_prefix(text.trim(), 200)
}
