use std::{
    fmt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

/// The exit status of `vm-run` where a program or a permission that it needs is missing.
const CANNOT: i32 = 77;

/// A facility of the machine that a test may require.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// The Go toolchain.
    Go,
    /// A JDK.
    Javac,
    /// Python 3 with its module `ssl`.
    Python,
    /// The web server nginx.
    Nginx,
    /// The web server Apache.
    Apache,
    /// Node.js.
    Node,
    /// The command `openssl`.
    OpensslCommand,
    /// The scanner nmap.
    Nmap,
    /// The scanner sslscan.
    Sslscan,
    /// The proxy haproxy.
    Haproxy,
    /// The server among NSS' tools.
    Selfserv,
    /// The web server lighttpd, with its modules for wolfSSL and mbedTLS.
    Lighttpd,
    /// The GnuTLS server.
    GnutlsServ,
    /// The Erlang runtime, with its TLS library.
    Erl,
    /// The command of BoringSSL, as Android has it.
    Boringssl,
    /// The TLS library of Bouncy Castle, as Debian has it.
    BouncyCastle,
    /// The TLS library BearSSL with its headers, and a C compiler.
    Bearssl,
    /// The web server Caddy.
    Caddy,
    /// The workers of rustls, OpenSSL and s2n-tls, beside the tests.
    Workers,
    /// The proxy stunnel.
    Stunnel,
    /// The mail server Postfix.
    Postfix,
    /// The server Dovecot, for IMAP and POP3.
    Dovecot,
    /// OpenLDAP's server.
    Slapd,
    /// The database PostgreSQL.
    Postgres,
    /// The XMPP server Prosody.
    Prosody,
    /// valgrind, which counts instructions.
    Valgrind,
    /// Chromium or Chrome.
    Chromium,
    /// Firefox.
    Firefox,
    /// WebKitGTK's browser, its driver, and a display for it.
    WebKitGtk,
    /// The program curl.
    Curl,
    /// NSS's tool for databases of certificates.
    Certutil,
    /// Slurm's daemons and commands, and root, which may start them.
    Slurm,
    /// A virtual machine whose kernel has netem.
    EmulatedMachine,
    /// Permission to make user and network namespaces.
    UserNamespaces,
    /// Permission to mount in a user namespace.
    UserMounts,
    /// Root privileges, with which a process can become another user.
    Root,
    /// Filters of system calls.
    Seccomp,
    /// Permission to disable namespaces in a user namespace.
    NamespaceLimits,
}

impl Tool {
    /// Every tool.
    pub const ALL: [Self; 38] = [
        Self::Go,
        Self::Javac,
        Self::Python,
        Self::Nginx,
        Self::Apache,
        Self::Node,
        Self::OpensslCommand,
        Self::Nmap,
        Self::Sslscan,
        Self::Haproxy,
        Self::Selfserv,
        Self::Lighttpd,
        Self::GnutlsServ,
        Self::Erl,
        Self::Boringssl,
        Self::BouncyCastle,
        Self::Bearssl,
        Self::Caddy,
        Self::Workers,
        Self::Stunnel,
        Self::Postfix,
        Self::Dovecot,
        Self::Slapd,
        Self::Postgres,
        Self::Prosody,
        Self::Valgrind,
        Self::Chromium,
        Self::Firefox,
        Self::WebKitGtk,
        Self::Curl,
        Self::Certutil,
        Self::Slurm,
        Self::EmulatedMachine,
        Self::UserNamespaces,
        Self::UserMounts,
        Self::Root,
        Self::Seccomp,
        Self::NamespaceLimits,
    ];

    /// Returns the tool's name in `NETBENCH_REQUIRE` and beside ignored tests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::Javac => "javac",
            Self::Python => "python3",
            Self::Nginx => "nginx",
            Self::Apache => "apache2",
            Self::Node => "node",
            Self::OpensslCommand => "openssl",
            Self::Nmap => "nmap",
            Self::Sslscan => "sslscan",
            Self::Haproxy => "haproxy",
            Self::Selfserv => "selfserv",
            Self::Lighttpd => "lighttpd",
            Self::GnutlsServ => "gnutls-serv",
            Self::Erl => "erl",
            Self::Boringssl => "boringssl",
            Self::BouncyCastle => "bouncy-castle",
            Self::Bearssl => "bearssl",
            Self::Caddy => "caddy",
            Self::Workers => "workers",
            Self::Stunnel => "stunnel",
            Self::Postfix => "postfix",
            Self::Dovecot => "dovecot",
            Self::Slapd => "slapd",
            Self::Postgres => "postgres",
            Self::Prosody => "prosody",
            Self::Valgrind => "valgrind",
            Self::Chromium => "chromium",
            Self::Firefox => "firefox",
            Self::WebKitGtk => "webkitgtk",
            Self::Curl => "curl",
            Self::Certutil => "certutil",
            Self::Slurm => "slurm",
            Self::EmulatedMachine => "emulated-machine",
            Self::UserNamespaces => "user-namespaces",
            Self::UserMounts => "user-mounts",
            Self::Root => "root",
            Self::Seccomp => "seccomp",
            Self::NamespaceLimits => "namespace-limits",
        }
    }

    /// Returns the reason why the tool cannot be used here, or `None` where it can.
    pub fn missing(self) -> Option<String> {
        match self {
            Self::Go
            | Self::Javac
            | Self::Python
            | Self::Nginx
            | Self::Apache
            | Self::Node
            | Self::OpensslCommand
            | Self::Nmap
            | Self::Sslscan
            | Self::Haproxy
            | Self::Selfserv
            | Self::Lighttpd
            | Self::GnutlsServ
            | Self::Erl
            | Self::Caddy
            | Self::Stunnel
            | Self::Postfix
            | Self::Dovecot
            | Self::Slapd
            | Self::Prosody
            | Self::Curl
            | Self::Certutil
            | Self::Valgrind => absent(self.name()),
            Self::Postgres | Self::Boringssl => self
                .path()
                .is_none()
                .then(|| format!("{self} is not installed")),
            Self::BouncyCastle => absent_file("/usr/share/java/bctls.jar"),
            Self::Bearssl => absent_file("/usr/include/bearssl.h").or_else(|| absent("cc")),
            Self::Workers => ["rustls", "openssl", "s2n-tls"]
                .into_iter()
                .find_map(|name| {
                    let missing = format!("no worker of {name} beside the tests");
                    worker(name).is_none().then_some(missing)
                }),
            Self::Chromium => self
                .path()
                .is_none()
                .then(|| "chromium is not installed".to_owned()),
            Self::Firefox => self
                .path()
                .is_none()
                .then(|| "firefox is not installed".to_owned()),
            // The driver's package also installs the browser.
            Self::WebKitGtk => ["WebKitWebDriver", "Xvfb"].into_iter().find_map(absent),
            Self::Slurm => ["munged", "slurmctld", "slurmd", "sbatch", "squeue"]
                .into_iter()
                .find_map(absent)
                .or_else(|| Self::Root.missing()),
            Self::EmulatedMachine => no_machine(),
            Self::UserNamespaces => refused(&["unshare", "--user", "--net", "true"]),
            Self::UserMounts => {
                let mount = "mount -t tmpfs none /mnt";
                refused(&[
                    "unshare",
                    "--user",
                    "--map-root-user",
                    "--mount",
                    "sh",
                    "-c",
                    mount,
                ])
            }
            Self::Root => {
                let id = Command::new("id").arg("-u").output();
                let root = id.is_ok_and(|output| output.stdout.trim_ascii() == b"0");
                (!root).then(|| "not running as root".to_owned())
            }
            Self::Seccomp => {
                let actions = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail");
                let able = actions.is_ok_and(|actions| actions.contains("errno"));
                (!able).then(|| "the kernel has no filters of system calls".to_owned())
            }
            Self::NamespaceLimits => {
                let limit = "echo 0 > /proc/sys/user/max_user_namespaces && \
                             setpriv --inh-caps=-all --bounding-set=-all true";
                refused(&["unshare", "--user", "--map-root-user", "sh", "-c", limit])
            }
        }
    }

    /// Returns the path of the program, for a tool that is a program.
    pub fn path(self) -> Option<PathBuf> {
        match self {
            Self::Chromium => ["chromium", "chromium-browser", "google-chrome"]
                .into_iter()
                .find_map(program),
            Self::Firefox => ["firefox-esr", "firefox"].into_iter().find_map(program),
            Self::Postgres => program(self.name()).or_else(postgres_of_debian),
            Self::Boringssl => ["bssl-tool", "bssl"].into_iter().find_map(program),
            other => program(other.name()),
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Searches for the program of this name: in `PATH`, or in the folders of servers and of Go, which the `PATH`
/// of an ordinary user often lacks.
pub fn program(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths)
        .chain(["/usr/sbin", "/usr/local/sbin", "/usr/local/go/bin"].map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Returns the worker of this name beside the test that runs, or in the cache of workers that the command has built.
pub fn worker(name: &str) -> Option<PathBuf> {
    let file = format!("netbench-worker-{name}");
    let test = std::env::current_exe().ok()?;
    let beside = test.ancestors().nth(2)?.join(&file);
    if beside.is_file() {
        return Some(beside);
    }
    let home = |variable| std::env::var_os(variable).map(PathBuf::from);
    let cache = home("XDG_CACHE_HOME").or_else(|| Some(home("HOME")?.join(".cache")))?;
    let versions = std::fs::read_dir(cache.join("netbench/workers")).ok()?;
    let mut built = versions.map_while(Result::ok).map(|v| v.path().join(&file));
    built.find(|path| path.is_file())
}

/// PostgreSQL where Debian has it, beside its other versions.
fn postgres_of_debian() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut programs = versions
        .map_while(Result::ok)
        .map(|v| v.path().join("bin/postgres"));
    programs.find(|program| program.is_file())
}

fn absent_file(path: &str) -> Option<String> {
    (!Path::new(path).is_file()).then(|| format!("{path} is missing"))
}

fn absent(name: &str) -> Option<String> {
    program(name)
        .is_none()
        .then(|| format!("{name} is not installed"))
}

/// Returns the reason why a command does not succeed.
fn refused(words: &[&str]) -> Option<String> {
    let output = Command::new(words[0]).args(&words[1..]).output();
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(first_line(&output.stderr)),
        Err(error) => Some(format!("{}: {error}", words[0])),
    }
}

/// Asks `vm-run` once: the first answer may require a download.
fn no_machine() -> Option<String> {
    static ANSWER: OnceLock<Option<String>> = OnceLock::new();
    let ask = || {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../link/tests/vm/vm-run");
        let asked = Command::new(&script)
            .arg("-n")
            .stdin(Stdio::null())
            .output();
        match asked {
            Err(error) => Some(format!("{}: {error}", script.display())),
            Ok(output) if output.status.code() == Some(CANNOT) => Some(first_line(&output.stderr)),
            // With any other error of `vm-run`, the tests that use it must fail.
            Ok(_) => None,
        }
    };
    ANSWER.get_or_init(ask).clone()
}

fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let line = text.lines().next().unwrap_or("no reason given");
    line.trim_start_matches("unsupported: ").to_owned()
}
