//! Builds OpenSSL as distributions do: for openssl-sys' feature `vendored`, and for `netbench stacks build`.
//!
//! The published openssl-src leaves out `enable-ec_nistp_64_gcc_128`, without which P-224, P-384 and P-521
//! are computed by generic code, and appends `-O2` and flags derived from the Rust profile to the compiler's
//! flags. Only its source is used, which Cargo fetches by the checksums in `release.rs`. The library is
//! installed in the user's cache folder, by version, options and compiler, so that every profile and every
//! package links the same one.

mod error;
mod release;

use std::{
    env, fs,
    fs::{File, FileTimes},
    hash::{DefaultHasher, Hash, Hasher},
    io,
    num::NonZero,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, exit},
    thread,
    time::SystemTime,
};

pub use error::BuildError;
pub use release::{RELEASES, Release};

/// The options of OpenSSL's `Configure`. Its own flags for the compiler (`-O3`) are unchanged.
const OPTIONS: &[&str] = &[
    // The library is static, with the legacy provider in it. The published source has neither tests nor
    // manuals.
    "no-shared",
    "no-module",
    "no-tests",
    "no-docs",
    "--libdir=lib",
    // These are Debian's options, from its `debian/rules`.
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

/// The environment variables that would silently change `Configure`'s own flags.
const CLEARED: &[&str] = &[
    "CFLAGS",
    "CPPFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "CROSS_COMPILE",
    "MAKEFLAGS",
    "MFLAGS",
];

/// A build of OpenSSL, with the interface that openssl-sys requires.
#[derive(Debug)]
pub struct Build {
    release: Option<Release>,
    configuration: PathBuf,
    compiler: Option<String>,
}

/// An installed OpenSSL.
#[derive(Debug)]
pub struct Artifacts {
    folder: PathBuf,
}

/// A supervisor of the programs of a build, which may take minutes.
pub trait Watch {
    /// Runs a program to its end. Its output goes to a log.
    ///
    /// # Errors
    /// Returns an error if the program did not start, or was stopped.
    fn wait(&mut self, step: &Step<'_>, command: &mut Command) -> io::Result<ExitStatus>;
}

/// A step of a build.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// Writes the Makefile.
    Configure,
    /// Compiles.
    Compile {
        /// Number of files.
        files: usize,
        /// The log of make, which has a line for each file with [`Step::COMPILES`].
        log: &'a Path,
    },
    /// Installs the compiled library.
    Install,
}

impl Step<'_> {
    /// A part of every compiler call.
    pub const COMPILES: &'static str = " -c ";

    fn name(&self) -> &'static str {
        match self {
            Self::Configure => "OpenSSL's config",
            Self::Compile { .. } => "make build_libs",
            Self::Install => "make install_dev",
        }
    }
}

/// A supervisor that only waits.
#[derive(Debug)]
struct Unwatched;

impl Watch for Unwatched {
    fn wait(&mut self, _: &Step<'_>, command: &mut Command) -> io::Result<ExitStatus> {
        command.status()
    }
}

impl Default for Build {
    fn default() -> Self {
        Self::new()
    }
}

impl Build {
    /// Makes a build of the release that the environment selects, which looks for its configuration where an
    /// installation from source would.
    pub fn new() -> Self {
        Self {
            release: None,
            configuration: PathBuf::from("/usr/local/ssl"),
            compiler: None,
        }
    }

    /// Makes a build of the given release.
    pub fn of(release: Release) -> Self {
        Self {
            release: Some(release),
            ..Self::new()
        }
    }

    /// Sets the C compiler, instead of the environment's.
    pub fn compiler(&mut self, program: &str) -> &mut Self {
        self.compiler = Some(program.to_owned());
        self
    }

    /// Sets the folder in which the library looks for its configuration when it runs.
    pub fn openssl_dir<P: AsRef<Path>>(&mut self, path: P) -> &mut Self {
        self.configuration = path.as_ref().to_path_buf();
        self
    }

    /// Builds OpenSSL for the calling build script, unless the cache has the same build. Ends the process if
    /// the build fails.
    pub fn build(&mut self) -> Artifacts {
        let [target, host] = ["TARGET", "HOST"].map(|name| env::var(name).unwrap_or_default());
        println!("cargo:rerun-if-env-changed=CC");
        println!("cargo:rerun-if-env-changed={}", Release::VARIABLE);
        let built = if target == host {
            self.installed(Path::new(env!("CARGO_MANIFEST_DIR")), &mut Unwatched)
        } else {
            Err(BuildError::Cross { target, host })
        };
        match built {
            Ok(artifacts) => {
                println!("cargo:rerun-if-changed={}", artifacts.complete().display());
                artifacts
            }
            Err(error) => {
                println!("cargo:warning=OpenSSL was not built");
                eprintln!("{error}");
                exit(1);
            }
        }
    }

    /// Builds OpenSSL, unless the cache has the same build. Cargo, which fetches the source, reads its
    /// settings in `folder` and above.
    ///
    /// # Errors
    /// Returns an error if the build fails.
    pub fn installed(&self, folder: &Path, watch: &mut dyn Watch) -> Result<Artifacts, BuildError> {
        let release = match self.release {
            Some(release) => release,
            None => Release::asked()?,
        };
        let options: Vec<String> = OPTIONS
            .iter()
            .filter(|option| release.knows(option))
            .map(|option| (*option).to_owned())
            .chain([format!("--openssldir={}", self.configuration.display())])
            .collect();
        let compiler = match &self.compiler {
            Some(chosen) => chosen.clone(),
            None => env::var("CC").unwrap_or_else(|_| "cc".to_owned()),
        };
        let artifacts = Artifacts {
            folder: cache_folder()?.join(key(&release, &options, &compiler)?),
        };
        let [locked, pin, work, log] =
            ["lock", "pin", "build", "log"].map(|name| artifacts.folder.with_extension(name));
        // Two concurrent builds would write into one folder.
        let lock = File::create(&locked).map_err(BuildError::at(&locked))?;
        lock.lock().map_err(BuildError::at(&locked))?;
        let complete = artifacts.complete();
        if !complete.exists() {
            release.write_pin(&pin).map_err(BuildError::at(&pin))?;
            let source = source(&pin, folder)?;
            removed(&pin)?;
            let compilation = Compilation {
                source,
                folder: &artifacts.folder,
                work,
                log,
                options: &options,
                compiler: &compiler,
            };
            let compiled = compilation.run(watch);
            removed(&compilation.work)?;
            if compiled.is_err() {
                removed(&artifacts.folder)?;
            }
            compiled?;
            let file = File::create(&complete).map_err(BuildError::at(&complete))?;
            // Cargo must run the build script again if the file is missing, but not because the file is newer
            // than its own record.
            file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH))
                .map_err(BuildError::at(&complete))?;
        }
        Ok(artifacts)
    }
}

impl Artifacts {
    /// Returns the folder of the headers.
    pub fn include_dir(&self) -> PathBuf {
        self.folder.join("include")
    }

    /// Returns the folder of the libraries.
    pub fn lib_dir(&self) -> PathBuf {
        self.folder.join("lib")
    }

    /// Returns the path of the file that is created after all others.
    fn complete(&self) -> PathBuf {
        self.folder.join("complete")
    }
}

/// Returns `netbench/openssl` in the user's cache folder, or in Cargo's where there is none.
fn cache_folder() -> Result<PathBuf, BuildError> {
    let users = user_cache();
    let made = users
        .map(|cache| cache.join("netbench/openssl"))
        .filter(|folder| fs::create_dir_all(folder).is_ok());
    match (made, absolute("OUT_DIR")) {
        (Some(folder), _) => Ok(folder),
        (None, Some(out)) => {
            let folder = out.join("openssl");
            fs::create_dir_all(&folder).map_err(BuildError::at(&folder))?;
            Ok(folder)
        }
        (None, None) => Err(BuildError::Io {
            path: PathBuf::from("OUT_DIR"),
            source: io::Error::from(io::ErrorKind::NotFound),
        }),
    }
}

/// Returns the user's cache folder, if there is one (XDG Base Directory Specification).
pub fn user_cache() -> Option<PathBuf> {
    absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
}

/// Returns the path in an environment variable, if it is absolute.
fn absolute(variable: &str) -> Option<PathBuf> {
    let path = env::var_os(variable).map(PathBuf::from);
    path.filter(|path| path.is_absolute())
}

/// Returns the name of a build: another version, option or compiler is another build.
fn key(release: &Release, options: &[String], compiler: &str) -> Result<String, BuildError> {
    let said = output(Command::new("sh").args(["-c", &format!("{compiler} --version")]))?;
    let mut hasher = DefaultHasher::new();
    (release.lock().as_str(), options, compiler, said).hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// Makes Cargo fetch the pinned package, unless it has already, and returns the folder of OpenSSL in it.
fn source(pin: &Path, folder: &Path) -> Result<PathBuf, BuildError> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let metadata = output(
        Command::new(cargo)
            .args(["metadata", "--format-version", "1", "--locked"])
            .arg("--manifest-path")
            .arg(pin.join("Cargo.toml"))
            .current_dir(folder),
    )?;
    // Only one value of the JSON is needed, and a parser would be built for every profile.
    metadata
        .split("\"manifest_path\":\"")
        .filter_map(|rest| rest.split('"').next())
        .find(|path| path.contains("/openssl-src"))
        .map(|manifest| Path::new(manifest).with_file_name("openssl"))
        .filter(|source| source.join("config").is_file())
        .ok_or(BuildError::NoSource)
}

struct Compilation<'a> {
    source: PathBuf,
    /// The folder of the installation.
    folder: &'a Path,
    /// The folder of the build, outside of the source, which must not be written to.
    work: PathBuf,
    log: PathBuf,
    options: &'a [String],
    compiler: &'a str,
}

impl Compilation<'_> {
    fn run(&self, watch: &mut dyn Watch) -> Result<(), BuildError> {
        removed(self.folder)?;
        removed(&self.work)?;
        fs::create_dir_all(&self.work).map_err(BuildError::at(&self.work))?;
        // OpenSSL 1.1.1's Configure does not detect the machine; this script does, and in later releases it
        // only calls Configure.
        let mut configure = self.command("sh");
        configure
            .arg(self.source.join("config"))
            .arg(format!("--prefix={}", self.folder.display()))
            .args(self.options)
            .env("CC", self.compiler);
        self.step(watch, &Step::Configure, &mut configure)?;

        let planned = output(self.command("make").args(["-n", "build_libs"]))?;
        let calls = planned.lines().filter(|line| line.contains(Step::COMPILES));
        let mut make = self.command("make");
        match env::var_os("CARGO_MAKEFLAGS") {
            Some(jobserver) => make.env("MAKEFLAGS", jobserver),
            None => make.arg(format!("-j{}", jobs())),
        };
        let compile = Step::Compile {
            files: calls.count(),
            log: &self.log,
        };
        self.step(watch, &compile, make.arg("build_libs"))?;
        let mut install = self.command("make");
        self.step(watch, &Step::Install, install.arg("install_dev"))?;
        fs::remove_file(&self.log).map_err(BuildError::at(&self.log))
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.work);
        for name in CLEARED {
            command.env_remove(name);
        }
        command
    }

    /// Runs a program with a separate log, which is kept if it fails.
    fn step(
        &self,
        watch: &mut dyn Watch,
        step: &Step<'_>,
        command: &mut Command,
    ) -> Result<(), BuildError> {
        let log = File::create(&self.log).map_err(BuildError::at(&self.log))?;
        let both = log.try_clone().map_err(BuildError::at(&self.log))?;
        command.stdout(log).stderr(both);
        let status = watch
            .wait(step, command)
            .map_err(|source| not_run(command, source))?;
        if status.success() {
            return Ok(());
        }
        let said = fs::read(&self.log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        Err(BuildError::logged(step.name(), &self.log, &said))
    }
}

/// Returns Cargo's number of jobs, or the number of cores.
fn jobs() -> String {
    env::var("NUM_JOBS").unwrap_or_else(|_| {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        cores.to_string()
    })
}

/// Runs a program and returns its output.
fn output(command: &mut Command) -> Result<String, BuildError> {
    let output = command
        .output()
        .map_err(|source| not_run(command, source))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(said)
    } else {
        Err(BuildError::Failed {
            command: format!("{command:?}"),
            said: format!(":\n{said}{}", String::from_utf8_lossy(&output.stderr)),
        })
    }
}

fn not_run(command: &Command, source: io::Error) -> BuildError {
    BuildError::Start {
        program: command.get_program().to_string_lossy().into_owned(),
        source,
    }
}

/// Deletes a folder, if it exists.
fn removed(folder: &Path) -> Result<(), BuildError> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(BuildError::at(folder)(e)),
        _ => Ok(()),
    }
}
