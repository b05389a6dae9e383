use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, LazyLock, atomic::AtomicBool},
    time::Duration,
};

use netbench_link::Namespace;
use netbench_model::Variants;
use netbench_protocol::{PROTOCOL_VERSION, RequestBody, ResponseBody, StackDescription};
use openssl_src::Release;

use crate::{
    Launch, Worker, WorkerError,
    versions::{Pin, order, versions},
};

/// The time limit of a worker for starting and describing itself.
const DESCRIBE_LIMIT: Duration = Duration::from_secs(20);

/// The source of a stack's worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerSource {
    /// The stack.
    pub stack: &'static str,
    /// A description of one line.
    pub about: &'static str,
    /// The worker's executable.
    pub executable: &'static str,
    /// The build of the worker.
    pub build: Build,
    /// The release of the library, if there are workers of several.
    pub release: Option<Release>,
}

/// The build of a worker from netbench's own source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// Cargo.
    Cargo {
        /// The package.
        package: &'static str,
        /// The folder of the worker's own Cargo workspace, relative to the top of the source; `None` if it belongs
        /// to netbench's.
        workspace: Option<&'static str>,
        /// The differences from the usual build, if there are any.
        variant: Option<BuildVariant>,
    },
    /// Go.
    Go {
        /// The folder of the module, relative to the top of the source.
        folder: &'static str,
    },
    /// A JDK.
    Java {
        /// The folder of the program and of the script that compiles it, relative to the top of the source.
        folder: &'static str,
    },
}

/// A build with different settings, which must not replace the usual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildVariant {
    /// Its separate folder: under the target folder, or beside the command.
    pub folder: &'static str,
    /// Environment variables of the build.
    pub environment: &'static [(&'static str, &'static str)],
    /// Additional arguments of Cargo.
    pub arguments: &'static [&'static str],
    /// Packages in versions that differ from the lock file's, in the order in which Cargo must receive them.
    pub pins: &'static [Pin],
}

impl Build {
    const fn cargo(package: &'static str) -> Self {
        Self::Cargo {
            package,
            workspace: None,
            variant: None,
        }
    }

    /// Returns whether the build compiles the C of the stack's library.
    pub fn compiles_c(&self) -> bool {
        matches!(self, Self::Cargo { package, .. } if !WITHOUT_C.contains(package))
    }

    /// Returns the separate folder of this build, under the target folder and beside the command; empty for a usual
    /// build.
    pub fn folder(&self) -> &'static str {
        match self {
            Self::Cargo {
                variant: Some(variant),
                ..
            } => variant.folder,
            Self::Cargo { variant: None, .. } | Self::Go { .. } | Self::Java { .. } => "",
        }
    }
}

/// Packages whose library is Rust and assembly, or belongs to the system.
const WITHOUT_C: [&str; 5] = [
    "netbench-stack-gnutls",
    "netbench-stack-nss",
    "netbench-stack-openssl-system",
    "netbench-stack-rustls-graviola",
    "netbench-stack-rustls-rustcrypto",
];

/// The linker option that lets a worker set properties for which crypto/tls has no setting (`fips.go`).
pub const GO_LINKER: &str = "-ldflags=-checklinkname=0";

/// Returns the command that builds the Go program in `folder`, as it is measured.
///
/// The program is static: it runs wherever netbench does. If the installed Go is older than the module requires, it
/// downloads that version, unless GOTOOLCHAIN forbids it.
pub fn go_build(folder: &Path, program: &Path) -> Command {
    let mut command = Command::new("go");
    command
        .args(["build", "-trimpath", "-buildvcs=false", GO_LINKER, "-o"])
        .arg(program)
        .arg(".")
        .env("CGO_ENABLED", "0")
        .current_dir(folder);
    if env::var_os("GOTOOLCHAIN").is_none() {
        command.env("GOTOOLCHAIN", "auto");
    }
    command
}

/// Returns the command that compiles the Java program in `folder` to one file, which needs only a Java runtime.
pub fn java_build(folder: &Path, program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg("build").arg(program).current_dir(folder);
    command
}

/// Returns the stacks for which netbench's own source has workers, by name.
pub fn known_stacks() -> &'static [WorkerSource] {
    static ALL: LazyLock<Vec<WorkerSource>> = LazyLock::new(|| {
        let mut all: Vec<_> = KNOWN.iter().copied().chain(versions()).collect();
        all.sort_by_key(|source| order(source.stack));
        all
    });
    &ALL
}

/// Returns the servers that a sites file can name in addition to stacks, by name: one worker starts the installed
/// servers.
pub fn installed_servers() -> &'static [WorkerSource] {
    INSTALLED_SERVERS
}

/// Returns whether the sites of `server` are served by an installed program, and not by a stack.
pub fn is_installed_server(server: &str) -> bool {
    INSTALLED_SERVERS
        .iter()
        .any(|source| source.stack == server)
}

const fn installed_server(stack: &'static str, about: &'static str) -> WorkerSource {
    WorkerSource {
        stack,
        about,
        executable: "netbench-worker-servers",
        build: Build::cargo("netbench-servers"),
        release: None,
    }
}

const INSTALLED_SERVERS: &[WorkerSource] = &[
    installed_server("apache", "Apache's httpd"),
    installed_server("haproxy", "HAProxy, which answers by itself"),
    installed_server("nginx", "nginx"),
    installed_server("node", "Node.js, with its modules https and http2"),
    installed_server(
        "openssl-s_server",
        "openssl s_server, OpenSSL's test server",
    ),
];

const KNOWN: &[WorkerSource] = &[
    WorkerSource {
        stack: "aws-lc",
        about: "AWS-LC's libssl behind the openssl crate, with hyper-openssl; needs CMake and libclang to build",
        executable: "netbench-worker-aws-lc",
        build: Build::Cargo {
            package: "netbench-stack-aws-lc",
            workspace: Some("stacks/aws-lc"),
            variant: None,
        },
        release: None,
    },
    WorkerSource {
        stack: "bertie",
        about: "Bertie with libcrux, for the suite: TLS 1.3 with one suite, and no certificates verified",
        executable: "netbench-worker-bertie",
        build: Build::cargo("netbench-stack-bertie"),
        release: None,
    },
    WorkerSource {
        stack: "boringssl",
        about: "BoringSSL, built from source, with hyper-boring; needs CMake, git and libclang to build",
        executable: "netbench-worker-boringssl",
        build: Build::cargo("netbench-stack-boringssl"),
        release: None,
    },
    WorkerSource {
        stack: "gnutls",
        about: "the system's GnuTLS, which WebKitGTK uses; needs its headers to build",
        executable: "netbench-worker-gnutls",
        build: Build::cargo("netbench-stack-gnutls"),
        release: None,
    },
    WorkerSource {
        stack: "go",
        about: "Go's crypto/tls, with net/http; needs Go to build",
        executable: "netbench-worker-go",
        build: Build::Go {
            folder: "stacks/go",
        },
        release: None,
    },
    WorkerSource {
        stack: "java",
        about: "Java's JSSE, with SSLSocket; needs a JDK to build, and its Java to run",
        executable: "netbench-worker-java",
        build: Build::Java {
            folder: "stacks/java",
        },
        release: None,
    },
    WorkerSource {
        stack: "native-tls",
        about: "native-tls with hyper-tls, on OpenSSL 3.5 LTS, with its own settings (--client-profile library)",
        executable: "netbench-worker-native-tls",
        build: Build::cargo("netbench-stack-native-tls"),
        release: None,
    },
    WorkerSource {
        stack: "nss",
        about: "the system's NSS, the library of Firefox, with its own verifier; needs its headers to build",
        executable: "netbench-worker-nss",
        build: Build::cargo("netbench-stack-nss"),
        release: None,
    },
    WorkerSource {
        stack: "openssl",
        about: "OpenSSL 3.5 LTS, built from source, with hyper-openssl",
        executable: "netbench-worker-openssl",
        build: Build::cargo("netbench-stack-openssl"),
        release: None,
    },
    WorkerSource {
        stack: "openssl+release-buffers",
        about: "the same with SSL_MODE_RELEASE_BUFFERS, for the suite: sessions free idle buffers",
        executable: "netbench-worker-openssl",
        build: Build::cargo("netbench-stack-openssl"),
        release: None,
    },
    WorkerSource {
        stack: "openssl-system",
        about: "the system's libssl, with hyper-openssl; needs its headers to build",
        executable: "netbench-worker-openssl-system",
        build: Build::cargo("netbench-stack-openssl-system"),
        release: None,
    },
    WorkerSource {
        stack: "reqwest",
        about: "reqwest as it is by default: rustls with aws-lc-rs, and the platform's verifier",
        executable: "netbench-worker-reqwest",
        build: Build::cargo("netbench-stack-reqwest"),
        release: None,
    },
    WorkerSource {
        stack: "reqwest-native-tls",
        about: "reqwest with native-tls, on OpenSSL 3.5 LTS, with its own settings (--client-profile library)",
        executable: "netbench-worker-reqwest-native-tls",
        build: Build::cargo("netbench-stack-reqwest-native-tls"),
        release: None,
    },
    WorkerSource {
        stack: "rustls-aws-lc",
        about: "rustls with aws-lc-rs, with hyper-rustls",
        executable: "netbench-worker-rustls",
        build: Build::cargo("netbench-stack-rustls"),
        release: None,
    },
    WorkerSource {
        stack: "rustls-aws-lc+nojitter",
        about: "the same without aws-lc's CPU jitter entropy, which takes most of a first connection's time",
        executable: "netbench-worker-rustls",
        build: Build::Cargo {
            package: "netbench-stack-rustls",
            workspace: None,
            variant: Some(BuildVariant {
                folder: "nojitter",
                environment: &[("AWS_LC_SYS_NO_JITTER_ENTROPY", "1")],
                arguments: &[],
                pins: &[],
            }),
        },
        release: None,
    },
    WorkerSource {
        stack: "rustls-aws-lc+unbuffered",
        about: "the same through rustls' interface without buffers, for the suite",
        executable: "netbench-worker-rustls",
        build: Build::cargo("netbench-stack-rustls"),
        release: None,
    },
    WorkerSource {
        stack: "rustls-graviola",
        about: "rustls with graviola, with hyper-rustls",
        executable: "netbench-worker-rustls-graviola",
        build: Build::cargo("netbench-stack-rustls-graviola"),
        release: None,
    },
    WorkerSource {
        stack: "rustls-openssl",
        about: "rustls with the cryptography of OpenSSL 3.5 LTS, with hyper-rustls",
        executable: "netbench-worker-rustls-openssl",
        build: Build::cargo("netbench-stack-rustls-openssl"),
        release: None,
    },
    WorkerSource {
        stack: "rustls-ring",
        about: "rustls with ring, with hyper-rustls",
        executable: "netbench-worker-rustls",
        build: Build::cargo("netbench-stack-rustls"),
        release: None,
    },
    WorkerSource {
        stack: "rustls-rustcrypto",
        about: "rustls with the RustCrypto project's crates (an alpha release), with hyper-rustls",
        executable: "netbench-worker-rustls-rustcrypto",
        build: Build::cargo("netbench-stack-rustls-rustcrypto"),
        release: None,
    },
    WorkerSource {
        stack: "s2n-tls",
        about: "s2n-tls with AWS-LC, with s2n-tls-hyper",
        executable: "netbench-worker-s2n-tls",
        build: Build::cargo("netbench-stack-s2n-tls"),
        release: None,
    },
    WorkerSource {
        stack: "servo",
        about: "Servo's own connector (servo-net): rustls with aws-lc-rs, its verifier; needs fontconfig and FreeType to build",
        executable: "netbench-worker-servo",
        build: SERVO,
        release: None,
    },
    WorkerSource {
        stack: "servo+webpki-roots",
        about: "the same with Servo's setting network_use_webpki_roots: Mozilla's roots, compiled in",
        executable: "netbench-worker-servo",
        build: SERVO,
        release: None,
    },
];

const SERVO: Build = Build::Cargo {
    package: "netbench-stack-servo",
    workspace: Some("stacks/servo"),
    variant: None,
};

impl WorkerSource {
    /// Returns whether its name has a version.
    pub fn is_version(&self) -> bool {
        self.stack.contains('@')
    }
}

/// A worker's program, and the variants with which it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The file.
    pub path: PathBuf,
    /// The variants that the worker must prove.
    pub variants: Variants,
}

impl WorkerProgram {
    /// Returns the additional variables of its environment.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let mut environment = self.variants.environment();
        for (name, value) in &mut environment {
            // Other settings in GODEBUG are kept: they also apply to `go`.
            if *name == Variants::GO_SETTINGS
                && let Ok(others) = env::var(name)
                && !others.is_empty()
            {
                *value = format!("{others},{value}");
            }
        }
        environment
    }
}

impl From<PathBuf> for WorkerProgram {
    fn from(path: PathBuf) -> Self {
        Self {
            path,
            variants: Variants::default(),
        }
    }
}

impl From<&Path> for WorkerProgram {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}

/// The workers of a run: the program of each stack, and the stack's description.
#[derive(Debug, Clone, Default)]
pub struct Workers {
    members: BTreeMap<String, (WorkerProgram, StackDescription)>,
    stop: Arc<AtomicBool>,
}

/// A stack that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// Its worker does not work.
    #[error("stack {stack}: {program}: {source}")]
    Worker {
        /// The stack.
        stack: String,
        /// The worker's program.
        program: String,
        /// The error.
        source: WorkerError,
    },
    /// Its worker does not know it.
    #[error("stack {stack}: {program} has only {has}")]
    NotInWorker {
        /// The stack.
        stack: String,
        /// The worker's program.
        program: String,
        /// The stacks of the worker.
        has: String,
    },
}

impl Workers {
    /// Starts each program once and makes it describe itself. No worker of these is waited for any longer once
    /// `stop` is true.
    ///
    /// # Errors
    /// Returns an error if a worker does not start, does not answer, speaks another version of the protocol, or
    /// lacks its stack.
    pub fn probe(
        programs: BTreeMap<String, WorkerProgram>,
        place: Option<&Namespace>,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, StackError> {
        let mut workers = Self {
            members: BTreeMap::new(),
            stop,
        };
        for (stack, own) in programs {
            let program = own.path.display().to_string();
            let described =
                describe(&own, &workers.launch(place)).map_err(|source| StackError::Worker {
                    stack: stack.clone(),
                    program: program.clone(),
                    source,
                })?;
            let has: Vec<_> = described.iter().map(|d| d.record.stack.clone()).collect();
            let Some(description) = described.into_iter().find(|d| d.record.stack == stack) else {
                return Err(StackError::NotInWorker {
                    stack,
                    program,
                    has: has.join(", "),
                });
            };
            workers.members.insert(stack, (own, description));
        }
        Ok(workers)
    }

    /// Returns the settings for starting a worker in `place`, with the system's defaults for the rest.
    pub fn launch<'a>(&self, place: Option<&'a Namespace>) -> Launch<'a> {
        Launch {
            place,
            stop: Arc::clone(&self.stop),
            ..Launch::default()
        }
    }

    /// Returns the program of `stack`.
    pub fn program(&self, stack: &str) -> Option<&WorkerProgram> {
        self.members.get(stack).map(|(program, _)| program)
    }

    /// Returns the description of each stack.
    pub fn descriptions(&self) -> impl Iterator<Item = &StackDescription> {
        self.members.values().map(|(_, description)| description)
    }

    /// Returns whether the worker of `stack` lists `operation` among its operations.
    pub fn does(&self, stack: &str, operation: &str) -> bool {
        let description = self.description(stack);
        description.is_some_and(|it| it.operations.iter().any(|does| does == operation))
    }

    /// Returns the description of `stack`.
    pub fn description(&self, stack: &str) -> Option<&StackDescription> {
        self.members.get(stack).map(|(_, description)| description)
    }
}

fn describe(
    program: &WorkerProgram,
    launch: &Launch<'_>,
) -> Result<Vec<StackDescription>, WorkerError> {
    let mut worker = Worker::start(program, launch)?;
    match worker.ask(RequestBody::Describe, DESCRIBE_LIMIT)? {
        ResponseBody::Description(description) if description.protocol == PROTOCOL_VERSION => {
            Ok(description.stacks)
        }
        ResponseBody::Description(description) => Err(WorkerError::Version(description.protocol)),
        other => Err(WorkerError::another_kind(&other)),
    }
}
