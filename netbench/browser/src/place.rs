//! The environment of a browser: its namespaces, name resolution, and user.

use std::{
    ffi::{CStr, CString},
    fs, io,
    net::Ipv4Addr,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, chown, lchown},
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

/// The user as whom a browser runs if root starts it, as no sandbox supports root.
const OTHER_USER: &str = "nobody";

/// The network that a program is in.
#[derive(Debug, Clone, Copy)]
pub struct Network<'a> {
    /// The program's namespace.
    pub namespace: &'a Namespace,
    /// The names that resolve, with their addresses.
    pub hosts: &'a [(String, Ipv4Addr)],
    /// The name server for all other names.
    pub name_server: Ipv4Addr,
}

/// Whether a browser asks for HTTPS records (RFC 9460) and uses the configurations of Encrypted ClientHello in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpsRecords {
    /// It does not ask.
    Off,
    /// It asks the network's name server for the records of names that are not among the network's hosts.
    On,
}

/// The surroundings of a browser.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The browser's network.
    pub network: Network<'a>,
    /// The roots that it trusts beside its own.
    pub trust: &'a Trust,
    /// The startup cache from an earlier start.
    pub startup_cache: Option<&'a StartupCache>,
    /// Whether its sandbox is on.
    pub sandbox: Sandbox,
    /// Whether it uses HTTPS records; browsers without [`Product::uses_https_records`](crate::Product::uses_https_records)
    /// do not.
    pub https_records: HttpsRecords,
}

/// Returns the user as whom a browser with this sandbox runs, or `None` for the user of this process.
///
/// # Errors
/// Returns an error if there is no such user.
pub fn other_user(sandbox: Sandbox) -> Result<Option<User>, BrowserError> {
    if sandbox == Sandbox::Off || !Uid::effective().is_root() {
        return Ok(None);
    }
    match User::from_name(OTHER_USER) {
        Ok(Some(user)) => Ok(Some(user)),
        Ok(None) | Err(_) => Err(BrowserError::missing(
            format!("the user {OTHER_USER}"),
            "no sandbox of a browser takes root: measure as an ordinary user, or with --no-sandbox",
        )),
    }
}

/// A prepared environment: files for name resolution, and their owner.
pub(crate) struct Place<'a> {
    namespace: &'a Namespace,
    mounts: Vec<(CString, &'static CStr)>,
    user: Option<(Uid, Gid)>,
}

impl<'a> Place<'a> {
    /// Writes the required files into `folder`.
    pub(crate) fn prepare(
        network: Network<'a>,
        user: Option<User>,
        folder: &Path,
    ) -> Result<Self, BrowserError> {
        let mut hosts = "127.0.0.1 localhost\n".to_owned();
        // Programs also resolve the machine's own name.
        if let Ok(name) = nix::unistd::gethostname() {
            hosts.push_str(&format!("127.0.1.1 {}\n", name.to_string_lossy()));
        }
        for (name, address) in network.hosts {
            hosts.push_str(&format!("{address} {name}\n"));
        }
        // Answers for unknown names may be delayed, as kernels limit the rate of such messages.
        let resolver = format!(
            "nameserver {}\noptions timeout:1 attempts:1\n",
            network.name_server
        );
        let mut mounts = Vec::new();
        let files = [
            ("hosts", hosts, c"/etc/hosts"),
            ("resolv.conf", resolver, c"/etc/resolv.conf"),
            // Without this file, names may be resolved by other services than these files.
            (
                "nsswitch.conf",
                "hosts: files dns\npasswd: files\ngroup: files\n".to_owned(),
                c"/etc/nsswitch.conf",
            ),
        ];
        for (name, text, target) in files {
            let path = folder.join(name);
            let failed = BrowserError::profile(name);
            fs::write(&path, text).map_err(&failed)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).map_err(&failed)?;
            mounts.push((c_string(&path)?, target));
        }
        Ok(Self {
            namespace: network.namespace,
            mounts,
            user: user.map(|user| (user.uid, user.gid)),
        })
    }

    /// Mounts `source` at `target` too, after earlier mounts.
    pub(crate) fn mount(
        &mut self,
        source: &Path,
        target: &'static CStr,
    ) -> Result<(), BrowserError> {
        self.mounts.push((c_string(source)?, target));
        Ok(())
    }

    /// Makes the browser's user the owner of a folder and its contents.
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
                // A browser leaves links behind, whose targets may not exist.
                lchown(entry.path(), Some(user.as_raw()), Some(group.as_raw()))?;
            }
        }
        Ok(())
    }

    /// Makes the command start in this environment, with `home` as its only information about its user.
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
        // SAFETY: between fork and exec this makes system calls on existing values, and allocates no memory.
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
    CString::new(path.as_os_str().as_bytes()).map_err(|_| {
        BrowserError::profile(path.display().to_string())(io::ErrorKind::InvalidFilename.into())
    })
}
