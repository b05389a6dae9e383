//! Counts the system calls of a process from outside, as strace does: an ordinary user may trace the processes that it
//! starts, and the process needs no change.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    libc,
    sys::{
        ptrace::{self, Options},
        signal::Signal,
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};
use parking_lot::Mutex;

/// The time limit for the beginning and for the end of a trace.
const LIMIT: Duration = Duration::from_secs(10);

/// Number of looks for an event in direct succession; a process that works makes its next call within them.
const LOOKS: u32 = 500;

/// The pause between looks at a process that waits.
const PAUSE: Duration = Duration::from_micros(200);

/// The number of a system call, and the number of times that it was called.
pub(super) type Calls = BTreeMap<u64, u64>;

/// The trace of a group of processes and of all their threads.
pub(super) struct Trace {
    calls: Arc<Mutex<Calls>>,
    stop: Arc<AtomicBool>,
    ended: Receiver<Result<(), TraceError>>,
}

/// The reason why system calls cannot be counted.
#[derive(Debug, thiserror::Error)]
pub(super) enum TraceError {
    /// The kernel does not permit it.
    #[error(
        "this system does not let a process trace those that it starts ({0}; see kernel.yama.ptrace_scope, and the \
         seccomp profile of a container)"
    )]
    Refused(Errno),
    /// The threads of the process cannot be listed, or the tracing thread cannot be started.
    #[error("system calls cannot be counted: {0}")]
    Io(#[from] io::Error),
    /// The process did not stop in time.
    #[error("system calls cannot be counted: the worker did not stop within {LIMIT:?}")]
    Hung,
}

impl Trace {
    /// Begins to count the calls of all threads of a group of processes: a worker may be a script that starts another
    /// program.
    pub(super) fn start(group: u32) -> Result<Self, TraceError> {
        let (calls, stop) = (
            Arc::new(Mutex::new(Calls::new())),
            Arc::new(AtomicBool::new(false)),
        );
        let (begun, has_begun) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let of_thread = (Arc::clone(&calls), Arc::clone(&stop));
        // The kernel accepts requests for a traced process only from the thread that traces it.
        thread::Builder::new().spawn(move || {
            let (calls, stop) = of_thread;
            let mut tracer = Tracer::default();
            let attached = tracer.attach_all(group);
            let is_attached = attached.is_ok();
            let _heard = begun.send(attached);
            let result = tracer.follow(&calls, &stop, is_attached);
            let _heard = end.send(result);
        })?;
        match has_begun.recv_timeout(LIMIT) {
            Ok(attached) => attached?,
            Err(_) => {
                stop.store(true, Ordering::Relaxed);
                return Err(TraceError::Hung);
            }
        }
        Ok(Self { calls, stop, ended })
    }

    /// Returns the calls since the beginning.
    pub(super) fn calls(&self) -> Calls {
        self.calls.lock().clone()
    }

    /// Ends the trace; the process continues.
    pub(super) fn end(self) -> Result<(), TraceError> {
        self.stop.store(true, Ordering::Relaxed);
        self.ended
            .recv_timeout(LIMIT)
            .map_err(|_| TraceError::Hung)?
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The threads of a process that the calling thread traces.
#[derive(Default)]
struct Tracer {
    threads: BTreeSet<Pid>,
}

impl Tracer {
    /// Attaches to all threads of a group, including those that begin meanwhile.
    fn attach_all(&mut self, group: u32) -> Result<(), TraceError> {
        loop {
            let mut found_another = false;
            for thread in threads(group)? {
                if self.threads.contains(&thread) {
                    continue;
                }
                match attach(thread) {
                    Ok(()) => {
                        self.threads.insert(thread);
                        found_another = true;
                    }
                    // The thread has ended, or is traced already because a traced thread has just created it.
                    Err(Errno::ESRCH) => {}
                    Err(Errno::EPERM) if !self.threads.is_empty() => {}
                    Err(error) => return Err(TraceError::Refused(error)),
                }
            }
            if self.threads.is_empty() {
                return Err(TraceError::Io(io::ErrorKind::NotFound.into()));
            }
            if !found_another {
                return Ok(());
            }
        }
    }

    /// Counts calls until `stop` is set, and detaches from all threads.
    fn follow(
        &mut self,
        calls: &Mutex<Calls>,
        stop: &AtomicBool,
        mut goes_on: bool,
    ) -> Result<(), TraceError> {
        let mut deadline = (!goes_on).then(|| self.interrupt_all());
        let mut looks = 0;
        while !self.threads.is_empty() {
            if goes_on && stop.load(Ordering::Relaxed) {
                goes_on = false;
                deadline = Some(self.interrupt_all());
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(TraceError::Hung);
            }
            // Not the children of other threads, for which those threads wait.
            let any = WaitPidFlag::WNOHANG | WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
            match waitpid(None, Some(any)) {
                Ok(WaitStatus::StillAlive) if looks < LOOKS => {
                    looks += 1;
                    thread::yield_now();
                }
                Ok(WaitStatus::StillAlive) => thread::sleep(PAUSE),
                Ok(status) => {
                    looks = 0;
                    self.handle(status, calls, goes_on);
                }
                Err(Errno::EINTR) => {}
                // No thread is left.
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Handles one event: counts the beginning of a call, and lets the thread continue.
    fn handle(&mut self, status: WaitStatus, calls: &Mutex<Calls>, goes_on: bool) {
        let (thread, signal) = match status {
            WaitStatus::PtraceSyscall(thread) => {
                if let Some(number) = begun_call(thread).filter(|_| goes_on) {
                    *calls.lock().entry(number).or_default() += 1;
                }
                (thread, None)
            }
            // The parent, and not this thread, learns of the end of the process.
            WaitStatus::PtraceEvent(thread, _, libc::PTRACE_EVENT_EXIT) => {
                self.detach(thread, None);
                return;
            }
            WaitStatus::PtraceEvent(thread, ..) => (thread, None),
            WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
            WaitStatus::Exited(thread, _) | WaitStatus::Signaled(thread, ..) => {
                self.threads.remove(&thread);
                return;
            }
            WaitStatus::Continued(_) | WaitStatus::StillAlive => return,
        };
        if goes_on {
            // The first event of a thread that a traced thread made.
            self.threads.insert(thread);
            // An error says that the thread was killed in between, of which an event follows.
            let _killed = ptrace::syscall(thread, signal);
        } else {
            self.detach(thread, signal);
        }
    }

    fn detach(&mut self, thread: Pid, signal: Option<Signal>) {
        let _killed = ptrace::detach(thread, signal);
        self.threads.remove(&thread);
    }

    /// Makes all threads stop, and returns the time by which they must have done so.
    fn interrupt_all(&self) -> Instant {
        for thread in &self.threads {
            let _ended = ptrace::interrupt(*thread);
        }
        Instant::now() + LIMIT
    }
}

/// Returns the threads of all processes of a group.
fn threads(group: u32) -> Result<Vec<Pid>, io::Error> {
    let mut threads = Vec::new();
    for process in numbers("/proc")? {
        // Others may end meanwhile.
        if group_of(process) == Some(group)
            && let Ok(of_process) = numbers(&format!("/proc/{process}/task"))
        {
            threads.extend(of_process.into_iter().map(Pid::from_raw));
        }
    }
    Ok(threads)
}

/// Returns the entries of a folder that are numbers.
fn numbers(folder: &str) -> Result<Vec<i32>, io::Error> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        numbers.extend(
            entry?
                .file_name()
                .to_str()
                .and_then(|name| name.parse::<i32>().ok()),
        );
    }
    Ok(numbers)
}

/// Returns the group of a process, if it still exists.
fn group_of(process: i32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the name, which may contain any character: the state, the parent and the group (proc(5)).
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(2)?.parse().ok()
}

/// Attaches to a thread. Its first event is the stop that the interruption causes.
fn attach(thread: Pid) -> Result<(), Errno> {
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXIT;
    ptrace::seize(thread, options)?;
    ptrace::interrupt(thread)
}

/// Returns the number of the call that a stopped thread is about to make; `None` where a call has ended.
fn begun_call(thread: Pid) -> Option<u64> {
    let info = ptrace::syscall_info(thread).ok()?;
    if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return None;
    }
    // SAFETY: the kernel fills this field of the union at the beginning of a call.
    Some(unsafe { info.u.entry.nr })
}
