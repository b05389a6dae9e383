//! Where a browser runs: its namespaces, what its names lead to, and as which user.

use std::{
    ffi::{CStr, CString},
    fs, io,
    net::Ipv4Addr,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::Command,
};

use netbench_link::Namespace;
use netbench_model::browser::Sandbox;
use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
    unistd::{Gid, Uid, User, setgid, setgroups, setuid},
};

use crate::{BrowserError, StartupCache, Trust};

/// The user that a browser runs as where it is started by root, which no sandbox takes.
const OTHER_USER: &str = "nobody";

/// The network that a program is in.
#[derive(Debug, Clone, Copy)]
pub struct Network<'a> {
    /// Its namespace.
    pub namespace: &'a Namespace,
    /// The names that lead somewhere, with their addresses.
    pub hosts: &'a [(String, Ipv4Addr)],
    /// Who is asked for all other names.
    pub name_server: Ipv4Addr,
}

/// What is around a browser.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// Its network.
    pub network: Network<'a>,
    /// What it trusts beside its own roots.
    pub trust: &'a Trust,
    /// The startup cache from an earlier start.
    pub startup_cache: Option<&'a StartupCache>,
    /// Whether its sandbox is on.
    pub sandbox: Sandbox,
}

/// The user that a browser with this sandbox runs as; none for the one who runs this process.
///
/// # Errors
/// There is no user to become.
pub fn other_user(sandbox: Sandbox) -> Result<Option<User>, BrowserError> {
    if sandbox == Sandbox::Off || !Uid::effective().is_root() {
        return Ok(None);
    }
    match User::from_name(OTHER_USER) {
        Ok(Some(user)) => Ok(Some(user)),
        Ok(None) | Err(_) => Err(BrowserError::Missing {
            what: format!("the user {OTHER_USER}"),
            help: "no sandbox of a browser takes root: measure as an ordinary user, or with --no-sandbox"
                .to_owned(),
        }),
    }
}

/// A place that is ready: files for the names, and whose they are.
pub(crate) struct Place<'a> {
    namespace: &'a Namespace,
    mounts: Vec<(CString, &'static CStr)>,
    user: Option<(Uid, Gid)>,
}

impl<'a> Place<'a> {
    /// Puts what is needed into `folder`.
    pub(crate) fn prepare(
        network: Network<'a>,
        user: Option<User>,
        folder: &Path,
    ) -> Result<Self, BrowserError> {
        let mut hosts = "127.0.0.1 localhost\n".to_owned();
        // Programs ask for the machine's own name too.
        if let Ok(name) = nix::unistd::gethostname() {
            hosts.push_str(&format!("127.0.1.1 {}\n", name.to_string_lossy()));
        }
        for (name, address) in network.hosts {
            hosts.push_str(&format!("{address} {name}\n"));
        }
        // An answer that no name is there may be held back, as kernels do with many of them.
        let resolver = format!(
            "nameserver {}\noptions timeout:1 attempts:1\n",
            network.name_server
        );
        let mut mounts = Vec::new();
        let files = [
            ("hosts", hosts, c"/etc/hosts"),
            ("resolv.conf", resolver, c"/etc/resolv.conf"),
            // Without it, names may be asked for elsewhere than in these files.
            (
                "nsswitch.conf",
                "hosts: files dns\npasswd: files\ngroup: files\n".to_owned(),
                c"/etc/nsswitch.conf",
            ),
        ];
        for (name, text, target) in files {
            let path = folder.join(name);
            let failed = |source| BrowserError::Profile {
                what: name.to_owned(),
                source,
            };
            fs::write(&path, text).map_err(failed)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).map_err(failed)?;
            mounts.push((c_string(&path)?, target));
        }
        Ok(Self {
            namespace: network.namespace,
            mounts,
            user: user.map(|user| (user.uid, user.gid)),
        })
    }

    /// Has `source` be at `target` too, after what was mounted before.
    pub(crate) fn mount(
        &mut self,
        source: &Path,
        target: &'static CStr,
    ) -> Result<(), BrowserError> {
        self.mounts.push((c_string(source)?, target));
        Ok(())
    }

    /// Gives a folder and what is in it to the user that the browser runs as.
    pub(crate) fn give(&self, folder: &Path) -> io::Result<()> {
        let Some((user, group)) = self.user else {
            return Ok(());
        };
        chown(folder, Some(user.as_raw()), Some(group.as_raw()))?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                self.give(&entry.path())?;
            } else {
                chown(entry.path(), Some(user.as_raw()), Some(group.as_raw()))?;
            }
        }
        Ok(())
    }

    /// Has the command start here, with `home` as all that it knows of its user.
    pub(crate) fn enter(&self, command: &mut Command, home: &Path) {
        command
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", home)
            .env("TMPDIR", home)
            .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
            .env("DBUS_SYSTEM_BUS_ADDRESS", "disabled:");
        self.namespace.enter(command);
        let (mounts, user) = (self.mounts.clone(), self.user);
        // SAFETY: between fork and exec this makes system calls on what is there already, and allocates nothing.
        unsafe {
            command.pre_exec(move || {
                unshare(CloneFlags::CLONE_NEWNS)?;
                let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
                let none: Option<&CStr> = None;
                mount(none, c"/", none, private, none)?;
                for (source, target) in &mounts {
                    let source: &CStr = source;
                    mount(Some(source), *target, none, MsFlags::MS_BIND, none)?;
                }
                if let Some((user, group)) = user {
                    setgroups(&[])?;
                    setgid(group)?;
                    setuid(user)?;
                }
                Ok(())
            });
        }
    }
}

fn c_string(path: &Path) -> Result<CString, BrowserError> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| BrowserError::Profile {
        what: path.display().to_string(),
        source: io::ErrorKind::InvalidFilename.into(),
    })
}
