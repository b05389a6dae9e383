use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use netbench_link::Namespace;
use netbench_model::{TlsVersion, Variants};
use netbench_protocol::{
    Configure, Operation, PROTOCOL_VERSION, RequestBody, ResponseBody, StackDescription,
};

use crate::{Launch, Worker, WorkerError};

/// The time limit of a worker for starting and describing itself.
const DESCRIBE_LIMIT: Duration = Duration::from_secs(20);

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

    /// Starts a worker of `stack`.
    ///
    /// # Errors
    /// Returns [`WorkerError::Start`], or [`WorkerError::Refused`] if the stack has no worker.
    pub fn start(&self, stack: &str, launch: &Launch<'_>) -> Result<Worker, WorkerError> {
        Worker::start(self.needed(stack)?, launch)
    }

    /// Starts a worker of the stack that the settings name, and sends it the settings, with the versions that the stack
    /// has.
    ///
    /// # Errors
    /// As [`Worker::start_configured`], or [`WorkerError::Refused`] if the stack has no worker.
    pub fn start_configured(
        &self,
        launch: &Launch<'_>,
        settings: Configure,
    ) -> Result<Worker, WorkerError> {
        let settings = self.fitted(settings);
        Worker::start_configured(self.needed(&settings.stack)?, launch, settings)
    }

    /// Returns the settings with the versions that their stack has.
    pub(crate) fn fitted(&self, mut settings: Configure) -> Configure {
        let (stack, versions) = (&settings.stack, &mut settings.client.versions);
        versions.retain(|version| self.has_version(stack, *version));
        settings
    }

    fn needed(&self, stack: &str) -> Result<&WorkerProgram, WorkerError> {
        self.program(stack)
            .ok_or_else(|| WorkerError::Refused(format!("stack {stack}: no worker")))
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
    pub fn does(&self, stack: &str, operation: Operation) -> bool {
        let description = self.description(stack);
        description.is_some_and(|description| description.does(operation))
    }

    /// Returns whether `stack` can be configured for a version, as a server and as a client.
    pub fn has_version(&self, stack: &str, version: TlsVersion) -> bool {
        !version.is_deprecated() || self.does(stack, Operation::DeprecatedVersions)
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
