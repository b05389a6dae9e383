use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, atomic::AtomicBool},
};

use netbench_link::{FileView, Namespace};
use netbench_model::CpuShare;
use nix::{
    sched::{CpuSet, sched_setaffinity},
    sys::personality::{self, Persona},
    unistd::Pid,
};

/// The settings for starting a worker's process.
#[derive(Debug, Clone, Default)]
pub struct Launch<'a> {
    /// The namespaces of the process.
    pub place: Option<&'a Namespace>,
    /// The core to which it is pinned.
    pub core: Option<u32>,
    /// Its CPU quota, if it is limited.
    pub cpu: Option<CpuShare>,
    /// Whether its memory layout is random.
    pub layout: Layout,
    /// A library that is loaded before its own.
    pub preload: Option<PathBuf>,
    /// The files and environment that replace this system's trust store, and the roots that it should find there.
    pub system: Option<&'a System>,
    /// The program that runs it, with the arguments before the worker's path.
    pub under: Option<(PathBuf, Vec<OsString>)>,
    /// A flag that ends the wait for its answers when it becomes true.
    pub stop: Arc<AtomicBool>,
}

/// A system as seen by one process.
#[derive(Debug, Clone)]
pub struct System {
    /// Its folders.
    pub view: FileView,
    /// Its environment variables.
    pub environment: BTreeMap<String, String>,
}

/// The layout of a process' memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// The layout chosen by the system.
    #[default]
    System,
    /// The same layout always, if the system permits it.
    Fixed,
    /// The layout chosen by the system, with stack and heap shifted by amounts derived from this number: a worker
    /// reads it from `NETBENCH_LAYOUT`.
    Varied(u64),
}

impl Launch<'_> {
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = match &self.under {
            Some((under, arguments)) => {
                let mut command = Command::new(under);
                command.args(arguments).arg(program);
                command
            }
            None => Command::new(program),
        };
        if let Some(library) = &self.preload {
            command.env("LD_PRELOAD", library);
        }
        if let Layout::Varied(seed) = self.layout {
            command.env("NETBENCH_LAYOUT", seed.to_string());
        }
        let (core, layout) = (self.core, self.layout);
        if core.is_some() || layout == Layout::Fixed {
            // SAFETY: between fork and exec, this closure makes two system calls and allocates no memory.
            unsafe {
                command.pre_exec(move || {
                    if layout == Layout::Fixed {
                        fix_layout();
                    }
                    core.map_or(Ok(()), pin_to)
                });
            }
        }
        if let Some(place) = self.place {
            place.enter(&mut command);
        }
        match self.system {
            // Trust comes from the roots in a request. Without this setting, a libssl with a built-in folder of
            // its system would read that folder as well, within the measured time.
            None => {
                command.env("SSL_CERT_FILE", "/dev/null");
                command.env("SSL_CERT_DIR", "/dev/null");
            }
            Some(system) => {
                command
                    .env_remove("SSL_CERT_FILE")
                    .env_remove("SSL_CERT_DIR");
                command.envs(&system.environment);
                system.view.enter(&mut command);
            }
        }
        command
    }
}

/// Fixes the memory layout. If the system does not permit it, the worker runs nevertheless: the manifest records
/// the layout.
fn fix_layout() {
    if let Ok(now) = personality::get() {
        let _ = personality::set(now | Persona::ADDR_NO_RANDOMIZE);
    }
}

fn pin_to(core: u32) -> io::Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core as usize)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &cores)?)
}
