//! Builds OpenSSL as distributions do, for openssl-sys' feature `vendored`.
//!
//! The published openssl-src leaves out `enable-ec_nistp_64_gcc_128`, without which P-224, P-384 and P-521 are computed
//! by generic code, and appends `-O2` and what follows from the Rust profile to the compiler's flags. Nothing is taken from it
//! but the source, which Cargo fetches by the checksum in `pin/`. The library is installed in the user's cache folder,
//! by version, options and compiler, so that every profile and every package links the same one.

use std::{
    env, fs,
    fs::{File, FileTimes},
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    process::{Command, exit},
    time::SystemTime,
};

/// What is asked of OpenSSL's `Configure`. Its own flags for the compiler (`-O3`) are left alone.
const OPTIONS: &[&str] = &[
    // One static library, with the legacy provider in it. The published source has neither tests nor manuals.
    "no-shared",
    "no-module",
    "no-tests",
    "no-docs",
    "--libdir=lib",
    // Debian's, as in its `debian/rules`.
    "no-idea",
    "no-mdc2",
    "no-rc5",
    "no-zlib",
    "no-ssl3",
    "no-ssl3-method",
    "enable-rfc3779",
    "enable-cms",
    "no-capieng",
    "no-rdrand",
    "enable-ec_nistp_64_gcc_128",
];

/// What of the environment would change `Configure`'s own flags unseen.
const CLEARED: &[&str] = &[
    "CFLAGS",
    "CPPFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "CROSS_COMPILE",
    "MAKEFLAGS",
    "MFLAGS",
];

/// The folder of the package that depends on nothing but the pinned one, and its lock file.
const PIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/pin");
const LOCK: &str = include_str!("../pin/Cargo.lock");

/// A build of OpenSSL, as openssl-sys asks for it.
#[derive(Debug)]
pub struct Build {
    configuration: PathBuf,
}

/// OpenSSL, installed.
#[derive(Debug)]
pub struct Artifacts {
    folder: PathBuf,
}

#[derive(Debug)]
enum BuildError {
    Cross { target: String, host: String },
    Io { path: PathBuf, source: io::Error },
    Start { program: String, source: io::Error },
    Failed { command: String, output: String },
    NoSource,
}

impl Default for Build {
    fn default() -> Self {
        Self::new()
    }
}

impl Build {
    /// OpenSSL that looks for its configuration where an installation from source would.
    pub fn new() -> Self {
        Self {
            configuration: PathBuf::from("/usr/local/ssl"),
        }
    }

    /// The folder in which the library looks for its configuration when it runs.
    pub fn openssl_dir<P: AsRef<Path>>(&mut self, path: P) -> &mut Self {
        self.configuration = path.as_ref().to_path_buf();
        self
    }

    /// Builds OpenSSL, unless the cache has this very build. Ends the process if it cannot.
    pub fn build(&mut self) -> Artifacts {
        match self.installed() {
            Ok(folder) => Artifacts { folder },
            Err(error) => {
                println!("cargo:warning=OpenSSL was not built");
                eprintln!("{error}");
                exit(1);
            }
        }
    }

    fn installed(&self) -> Result<PathBuf, BuildError> {
        let variable = |name| env::var(name).unwrap_or_default();
        let (target, host) = (variable("TARGET"), variable("HOST"));
        if target != host {
            return Err(BuildError::Cross { target, host });
        }
        println!("cargo:rerun-if-env-changed=CC");
        let options: Vec<String> = OPTIONS
            .iter()
            .map(|option| (*option).to_owned())
            .chain([format!("--openssldir={}", self.configuration.display())])
            .collect();
        let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let cache = cache_folder()?;
        let folder = cache.join(key(&options, &compiler)?);
        // Two builds at a time would write into one folder.
        let lock_path = folder.with_extension("lock");
        let lock = File::create(&lock_path).map_err(at(&lock_path))?;
        lock.lock().map_err(at(&lock_path))?;
        let complete = folder.join("complete");
        if !complete.exists() {
            compile(&source()?, &folder, &options, &compiler)?;
            let file = File::create(&complete).map_err(at(&complete))?;
            // Cargo runs this again when the file is gone, and not because it is newer than its own record.
            file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH))
                .map_err(at(&complete))?;
        }
        println!("cargo:rerun-if-changed={}", complete.display());
        Ok(folder)
    }
}

impl Artifacts {
    /// The folder of the headers.
    pub fn include_dir(&self) -> PathBuf {
        self.folder.join("include")
    }

    /// The folder of the libraries.
    pub fn lib_dir(&self) -> PathBuf {
        self.folder.join("lib")
    }
}

/// `netbench/openssl` in the user's cache folder, or in Cargo's where there is none.
fn cache_folder() -> Result<PathBuf, BuildError> {
    let given = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let users = given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache")));
    let made = users
        .map(|cache| cache.join("netbench/openssl"))
        .filter(|folder| fs::create_dir_all(folder).is_ok());
    match (made, given("OUT_DIR")) {
        (Some(folder), _) => Ok(folder),
        (None, Some(out)) => {
            let folder = out.join("openssl");
            fs::create_dir_all(&folder).map_err(at(&folder))?;
            Ok(folder)
        }
        (None, None) => Err(BuildError::Io {
            path: PathBuf::from("OUT_DIR"),
            source: io::Error::from(io::ErrorKind::NotFound),
        }),
    }
}

/// Names a build: another version, option or compiler is another build.
fn key(options: &[String], compiler: &str) -> Result<String, BuildError> {
    let said = run(Command::new("sh").args(["-c", &format!("{compiler} --version")]))?;
    let mut hasher = DefaultHasher::new();
    (LOCK, options, compiler, said).hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// Has Cargo fetch the pinned package, where it has not already, and gives the folder of OpenSSL in it.
fn source() -> Result<PathBuf, BuildError> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let metadata = run(Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(PIN))?;
    // One word of the JSON is wanted, and a parser would be built for every profile.
    metadata
        .split("\"manifest_path\":\"")
        .filter_map(|rest| rest.split('"').next())
        .find(|path| path.contains("/openssl-src-"))
        .map(|manifest| Path::new(manifest).with_file_name("openssl"))
        .filter(|source| source.join("Configure").is_file())
        .ok_or(BuildError::NoSource)
}

fn compile(
    source: &Path,
    folder: &Path,
    options: &[String],
    compiler: &str,
) -> Result<(), BuildError> {
    let work = folder.with_extension("build");
    for stale in [folder, &work] {
        match fs::remove_dir_all(stale) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(at(stale)(e)),
            _ => {}
        }
    }
    fs::create_dir_all(&work).map_err(at(&work))?;
    let command = |program: &str| {
        let mut command = Command::new(program);
        command.current_dir(&work);
        for name in CLEARED {
            command.env_remove(name);
        }
        command
    };
    // Outside of its source, which is not ours to write to.
    run(command("perl")
        .arg(source.join("Configure"))
        .arg(format!("--prefix={}", folder.display()))
        .args(options)
        .env("CC", compiler))?;
    let mut make = command("make");
    match env::var_os("CARGO_MAKEFLAGS") {
        Some(jobserver) => make.env("MAKEFLAGS", jobserver),
        None => make.arg(format!("-j{}", env::var("NUM_JOBS").unwrap_or_default())),
    };
    run(make.arg("build_libs"))?;
    run(command("make").arg("install_dev"))?;
    fs::remove_dir_all(&work).map_err(at(&work))
}

fn run(command: &mut Command) -> Result<String, BuildError> {
    let output = command.output().map_err(|source| BuildError::Start {
        program: command.get_program().to_string_lossy().into_owned(),
        source,
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(BuildError::Failed {
            command: format!("{command:?}"),
            output: text(&output.stdout) + &text(&output.stderr),
        })
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BuildError {
    let path = path.to_path_buf();
    |source| BuildError::Io { path, source }
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cross { target, host } => {
                write!(
                    f,
                    "OpenSSL is built for the machine that builds: not for {target} on {host}"
                )
            }
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Start { program, source } => {
                write!(
                    f,
                    "{program} does not start: {source}; OpenSSL needs a C compiler, make and perl"
                )
            }
            Self::NoSource => write!(f, "{PIN}: Cargo fetched no source of OpenSSL"),
            Self::Failed { command, output } => write!(f, "{command} failed:\n{output}"),
        }
    }
}
