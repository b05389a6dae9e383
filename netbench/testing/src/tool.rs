use std::{
    fmt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

/// The exit status of `vm-run` where a program or a permission that it needs is missing.
const CANNOT: i32 = 77;

/// Defines the tools with their names.
macro_rules! tools {
    ($($(#[$doc:meta])* $tool:ident = $name:literal,)+) => {
        /// A facility of the machine that a test may require.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Tool {
            $($(#[$doc])* $tool),+
        }

        impl Tool {
            /// Every tool.
            pub const ALL: &'static [Self] = &[$(Self::$tool),+];

            /// Returns the tool's name in `NETBENCH_REQUIRE` and beside ignored tests.
            pub fn name(self) -> &'static str {
                match self { $(Self::$tool => $name),+ }
            }
        }
    };
}

tools! {
    /// The Go toolchain.
    Go = "go",
    /// A JDK.
    Javac = "javac",
    /// Python 3 with its module `ssl`.
    Python = "python3",
    /// The web server nginx.
    Nginx = "nginx",
    /// The web server Apache.
    Apache = "apache2",
    /// Node.js.
    Node = "node",
    /// The command `openssl`.
    OpensslCommand = "openssl",
    /// The scanner nmap.
    Nmap = "nmap",
    /// The scanner sslscan.
    Sslscan = "sslscan",
    /// The proxy haproxy.
    Haproxy = "haproxy",
    /// The server among NSS' tools.
    Selfserv = "selfserv",
    /// The web server lighttpd, with its modules for wolfSSL and mbedTLS.
    Lighttpd = "lighttpd",
    /// The GnuTLS server.
    GnutlsServ = "gnutls-serv",
    /// The Erlang runtime, with its TLS library.
    Erl = "erl",
    /// The command of BoringSSL, as Android has it.
    Boringssl = "boringssl",
    /// The TLS library of Bouncy Castle, as Debian has it.
    BouncyCastle = "bouncy-castle",
    /// The TLS library BearSSL with its headers, and a C compiler.
    Bearssl = "bearssl",
    /// The web server Caddy.
    Caddy = "caddy",
    /// The workers of rustls, OpenSSL and s2n-tls, beside the tests.
    Workers = "workers",
    /// The proxy stunnel.
    Stunnel = "stunnel",
    /// The mail server Postfix.
    Postfix = "postfix",
    /// The server Dovecot, for IMAP and POP3.
    Dovecot = "dovecot",
    /// OpenLDAP's server.
    Slapd = "slapd",
    /// The database PostgreSQL.
    Postgres = "postgres",
    /// The XMPP server Prosody.
    Prosody = "prosody",
    /// valgrind, which counts instructions.
    Valgrind = "valgrind",
    /// Chromium or Chrome.
    Chromium = "chromium",
    /// Firefox.
    Firefox = "firefox",
    /// WebKitGTK's browser, its driver, and a display for it.
    WebKitGtk = "webkitgtk",
    /// The program curl.
    Curl = "curl",
    /// NSS's tool for databases of certificates.
    Certutil = "certutil",
    /// Slurm's daemons and commands, and root, which may start them.
    Slurm = "slurm",
    /// A virtual machine whose kernel has netem.
    EmulatedMachine = "emulated-machine",
    /// Permission to make user and network namespaces.
    UserNamespaces = "user-namespaces",
    /// Permission to mount in a user namespace.
    UserMounts = "user-mounts",
    /// Root privileges, with which a process can become another user.
    Root = "root",
    /// Filters of system calls.
    Seccomp = "seccomp",
    /// Permission to disable namespaces in a user namespace.
    NamespaceLimits = "namespace-limits",
}

impl Tool {
    /// Returns the reason why the tool cannot be used here, or `None` where it can.
    pub fn missing(self) -> Option<String> {
        match self {
            Self::BouncyCastle => absent_file("/usr/share/java/bctls.jar"),
            Self::Bearssl => absent_file("/usr/include/bearssl.h").or_else(|| absent("cc")),
            Self::Workers => ["rustls", "openssl", "s2n-tls"]
                .into_iter()
                .find_map(|name| {
                    let missing = format!("no worker of {name} beside the tests");
                    worker(name).is_none().then_some(missing)
                }),
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
            program => {
                let is_missing = program.path().is_none();
                is_missing.then(|| format!("{program} is not installed"))
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
    // Each version of a library has a folder, in which the file has the library's name.
    let (library, folder) = match name.split_once('@') {
        Some((library, _)) => (library, name),
        None => (name, ""),
    };
    let file = Path::new(folder).join(format!("netbench-worker-{library}"));
    let test = std::env::current_exe().ok()?;
    let beside = test.ancestors().nth(2)?.join(&file);
    if beside.is_file() {
        return Some(beside);
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")))?;
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
    let answer = ANSWER.get_or_init(|| {
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
    });
    answer.clone()
}

fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let line = text.lines().next().unwrap_or("no reason given");
    line.trim_start_matches("unsupported: ").to_owned()
}
