//! A running server: its process and its folder.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::unix::{
        fs::{OpenOptionsExt, PermissionsExt},
        process::CommandExt,
    },
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use netbench_protocol::ServeSite;
use netbench_scratch::Folder;
use netbench_tls::sanitize_prefix;
use nix::{
    sys::{
        prctl::set_pdeathsig,
        signal::{Signal, kill},
    },
    unistd::Pid,
};

use crate::{
    program::{Answers, Content, Installed, LOG, Placed, Plan},
    relay::{Relay, Stopped},
};

/// The time limit for a server to listen for all of its sites.
const START_LIMIT: Duration = Duration::from_secs(10);

/// The time limit for a server to end after a signal.
const END_LIMIT: Duration = Duration::from_secs(1);

/// The polling interval while a server starts and ends.
const LOOK: Duration = Duration::from_millis(5);

/// Number of attempts with other ports: between finding a free port and listening on it, another program may
/// bind it.
const TRIES: u32 = 3;

/// The maximum length of a log line that an error quotes.
const LONGEST_LINE: usize = 250;

/// A running server. It ends when this value is dropped.
pub(crate) struct Server {
    name: &'static str,
    child: Child,
    /// The last field, so that the folder is removed after the server has ended.
    folder: Folder,
    /// A last line of the log that carries no information.
    closing: &'static str,
}

/// A failure to start a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StartError {
    /// The server ended at once. Its configuration may have a setting that it does not accept.
    Refused(String),
    /// Any other failure.
    Other(String),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Refused(why) | Self::Other(why)) = self;
        f.write_str(why)
    }
}

impl Server {
    /// Starts the server with all of `sites`, and returns the address of each.
    pub(crate) fn start(
        installed: &Installed,
        sites: &[ServeSite],
    ) -> Result<(Self, Vec<SocketAddr>), StartError> {
        let mut started = Self::start_once(installed, sites);
        for _ in 1..TRIES {
            let taken = matches!(&started, Err(StartError::Refused(why)) if is_about_ports(why));
            if !taken {
                break;
            }
            started = Self::start_once(installed, sites);
        }
        started
    }

    fn start_once(
        installed: &Installed,
        sites: &[ServeSite],
    ) -> Result<(Self, Vec<SocketAddr>), StartError> {
        let name = installed.program.name;
        let Some(path) = &installed.path else {
            return Err(StartError::Other(installed.missing()));
        };
        let addresses = addresses(sites).map_err(failed(name, "no free port"))?;
        let folder =
            Folder::new("netbench-server-").map_err(failed(name, "cannot make its folder"))?;
        let placed: Vec<Placed<'_>> = addresses
            .iter()
            .zip(sites)
            .enumerate()
            .map(|(number, (address, site))| Placed {
                number,
                address: *address,
                site,
            })
            .collect();
        let plan = Plan {
            folder: folder.path(),
            is_root: nix::unistd::geteuid().is_root(),
            sites: &placed,
        };
        fill(&folder, installed, &plan).map_err(failed(name, "cannot write to its folder"))?;
        let log = File::create(folder.path().join(LOG)).map_err(failed(name, "its log"))?;
        let errors = log.try_clone().map_err(failed(name, "its log"))?;
        let (relay, input, output) = match installed.program.answers {
            Answers::ByItself => (None, Stdio::null(), log.into()),
            Answers::ThroughWorker => {
                let body_bytes = sites.iter().map(|site| site.body_bytes).sum();
                let relay = Relay::new(body_bytes);
                let (relay, input) = relay.map_err(failed(name, "its input"))?;
                (Some(relay), input.into(), Stdio::piped())
            }
        };
        let mut command = Command::new(path);
        command
            .args((installed.program.arguments)(&plan))
            .current_dir(folder.path())
            // The settings of the system's library must not affect the site.
            .env("OPENSSL_CONF", "/dev/null")
            .stdin(input)
            .stdout(output)
            .stderr(errors);
        // SAFETY: between fork and exec the closure makes one system call.
        unsafe {
            // Where this process is killed, the signal makes the server end its own processes too.
            command.pre_exec(|| Ok(set_pdeathsig(Signal::SIGTERM)?));
        }
        let mut child = command.spawn().map_err(failed(name, "it is no program"))?;
        // Only the server may hold its input open.
        drop(command);
        let output = child.stdout.take();
        let mut server = Self {
            name,
            child,
            folder,
            closing: installed.program.closing,
        };
        if let Some((relay, output)) = relay.zip(output) {
            server.relay(relay, output);
        }
        server.wait_until_it_listens(&addresses)?;
        Ok((server, addresses))
    }

    /// Answers for the server for as long as it can be used, and then ends the server.
    fn relay(&self, relay: Relay, output: ChildStdout) {
        let process = self.process();
        thread::spawn(move || {
            let stopped = relay.run(output);
            if let (Ok(Stopped::Spoilt) | Err(_), Some(process)) = (stopped, process) {
                let _ = kill(process, Signal::SIGTERM);
            }
        });
    }

    fn process(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().map(Pid::from_raw)
    }

    fn wait_until_it_listens(&mut self, addresses: &[SocketAddr]) -> Result<(), StartError> {
        let deadline = Instant::now() + START_LIMIT;
        for address in addresses {
            while TcpStream::connect_timeout(address, START_LIMIT).is_err() {
                let name = self.name;
                if !self.runs() {
                    let why = format!("{name} will not start: {}", self.last_line());
                    return Err(StartError::Refused(why));
                }
                if Instant::now() > deadline {
                    let why = format!(
                        "{name} will not start: it does not listen within {START_LIMIT:?}: {}",
                        self.last_line()
                    );
                    return Err(StartError::Other(why));
                }
                thread::sleep(LOOK);
            }
        }
        Ok(())
    }

    pub(crate) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Returns the last line of the log, if the server has ended.
    pub(crate) fn last_words(&mut self) -> Option<String> {
        (!self.runs()).then(|| format!("{} has ended: {}", self.name, self.last_line()))
    }

    fn last_line(&self) -> String {
        let log = fs::read(self.folder.path().join(LOG)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let line = log.lines().rev().find(|line| {
            let nothing = !self.closing.is_empty() && line.contains(self.closing);
            !line.trim().is_empty() && !nothing
        });
        // The folder's path is of no use to a reader.
        let folder = format!("{}/", self.folder.path().display());
        let line = line.unwrap_or("it printed nothing").replace(&folder, "");
        sanitize_prefix(line.trim(), LONGEST_LINE)
    }
}

impl Drop for Server {
    /// Ends the server by the signal on which it ends its own processes.
    fn drop(&mut self) {
        if let Some(process) = self.process() {
            let _ = kill(process, Signal::SIGTERM);
        }
        let deadline = Instant::now() + END_LIMIT;
        while self.runs() && Instant::now() < deadline {
            thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_about_ports(why: &str) -> bool {
    let why = why.to_ascii_lowercase();
    ["in use", "cannot bind", "could not bind", "eaddrinuse"]
        .iter()
        .any(|words| why.contains(words))
}

/// Returns the address on which each site is to listen, with a free port where the site's port is 0.
fn addresses(sites: &[ServeSite]) -> io::Result<Vec<SocketAddr>> {
    // Every port stays open until the last one is found, so that none is found twice.
    let mut held = Vec::new();
    let mut addresses = Vec::new();
    for site in sites {
        let mut address = site.listen;
        if address.port() == 0 {
            let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
            address.set_port(listener.local_addr()?.port());
            held.push(listener);
        }
        addresses.push(address);
    }
    Ok(addresses)
}

fn failed(name: &str, what: &str) -> impl FnOnce(io::Error) -> StartError {
    let text = format!("{name} will not start: {what}");
    move |source| StartError::Other(format!("{text}: {source}"))
}

/// Writes the files that the server reads: the sites' certificates, keys and bodies, and its configuration.
fn fill(folder: &Folder, installed: &Installed, plan: &Plan<'_>) -> io::Result<()> {
    // As root, some servers read pages as another user; keys stay readable by their owner only.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711))?;
    let contents = plan.contents()?;
    for content in contents.into_iter().chain((installed.program.files)(plan)) {
        let Content { name, bytes, mode } = content;
        write(&folder.path().join(name), &bytes, mode)?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(mode);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    // The mode must not depend on the umask.
    file.set_permissions(fs::Permissions::from_mode(mode))
}
