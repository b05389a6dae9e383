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

/// How a worker's process is started.
#[derive(Debug, Clone, Default)]
pub struct Launch<'a> {
    /// In which namespaces.
    pub place: Option<&'a Namespace>,
    /// Which core it is pinned to.
    pub core: Option<u32>,
    /// The share of a core's time that it gets, where that is limited.
    pub cpu: Option<CpuShare>,
    /// Whether the layout of its memory is random.
    pub layout: Layout,
    /// A library that is put before its own.
    pub preload: Option<PathBuf>,
    /// What it finds in the place of this system's trust store, and the roots that it is to look for there.
    pub system: Option<&'a System>,
    /// The program that runs it, with arguments before the worker's path.
    pub under: Option<(PathBuf, Vec<OsString>)>,
    /// Its answers are not waited for any longer once this is true.
    pub stop: Arc<AtomicBool>,
}

/// A system as one process sees it.
#[derive(Debug, Clone)]
pub struct System {
    /// Its folders.
    pub view: FileView,
    /// What is in its environment.
    pub environment: BTreeMap<String, String>,
}

/// The layout of a process' memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// As the system does it.
    #[default]
    System,
    /// Always the same, where the system permits.
    Fixed,
    /// As the system does it, and stack and heap further on by amounts that come from this number: a
    /// worker reads it from `NETBENCH_LAYOUT`.
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
            // SAFETY: between fork and exec this makes two system calls and allocates nothing.
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
            // Trust comes from the roots that a request carries. Without this, a libssl that has
            // its system's folder built in would read that too, within the time that is measured.
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

/// Where the system does not permit it, the worker runs all the same: the manifest says which.
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
