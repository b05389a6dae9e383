use std::{
    ffi::{CStr, CString, c_int},
    io,
    os::unix::{ffi::OsStrExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use rustix::{
    fs::{Mode, OFlags, open},
    mount::{MountPropagationFlags, mount_bind_recursive, mount_change},
    process::{getegid, geteuid},
    thread::{CapabilitySet, UnshareFlags, capabilities, unshare_unsafe},
};

use crate::LinkError;

/// The highest capability that a kernel may have. Dropping a capability that the kernel does not have fails,
/// which does no harm.
const LAST_CAPABILITY: c_int = 63;

/// Folders that replace the system's for one process: only that process sees them.
#[derive(Debug, Clone)]
pub struct FileView {
    /// The mounts: source and target of each.
    mounts: Arc<[(CString, CString)]>,
    identity: Option<Identity>,
}

/// The user namespace that an ordinary user needs for mounting, as lines for the kernel's files.
#[derive(Debug, Clone)]
struct Identity {
    users: Arc<[u8]>,
    groups: Arc<[u8]>,
}

impl FileView {
    /// Makes a view in which each first folder replaces the second, which must exist.
    ///
    /// # Errors
    /// Returns an error if a folder does not exist, or the kernel does not allow private mount namespaces.
    pub fn new(folders: &[(PathBuf, PathBuf)]) -> Result<Self, LinkError> {
        let mounts = folders
            .iter()
            .map(|(from, over)| Ok((folder(from)?, folder(over)?)))
            .collect::<Result<Vec<_>, LinkError>>()?;
        let may_mount =
            capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
        let (user, group) = (geteuid(), getegid());
        let identity = (!may_mount).then(|| Identity {
            users: format!("{user} {user} 1").into_bytes().into(),
            groups: format!("{group} {group} 1").into_bytes().into(),
        });
        let view = Self {
            mounts: mounts.into(),
            identity,
        };
        view.probe()?;
        Ok(view)
    }

    /// Makes `command` see these folders. The command starts without any capability: a file that its owner
    /// may not read is then unreadable to root too.
    pub fn enter(&self, command: &mut Command) {
        let view = self.clone();
        // SAFETY: between fork and exec, the closure makes system calls and allocates no memory.
        unsafe {
            command.pre_exec(move || view.mount());
        }
    }

    /// Checks that a process may enter the view, with a process that ends at once.
    fn probe(&self) -> Result<(), LinkError> {
        let mut command = Command::new("true");
        self.enter(&mut command);
        let done = command.output().and_then(|done| match done.status {
            status if status.success() => Ok(()),
            status => Err(io::Error::other(status.to_string())),
        });
        done.map_err(LinkError::namespace("a mount namespace"))
    }

    /// Mounts the folders. The function is safe to call after `fork`, as it only makes system calls.
    fn mount(&self) -> io::Result<()> {
        let mut flags = UnshareFlags::NEWNS;
        if self.identity.is_some() {
            flags |= UnshareFlags::NEWUSER;
        }
        // SAFETY: the call changes only this process, which has one thread, and does not unshare descriptors.
        unsafe { unshare_unsafe(flags) }?;
        if let Some(identity) = &self.identity {
            write(c"/proc/self/setgroups", b"deny")?;
            write(c"/proc/self/uid_map", &identity.users)?;
            write(c"/proc/self/gid_map", &identity.groups)?;
        }
        // Mounts made here must not be seen elsewhere.
        mount_change(
            c"/",
            MountPropagationFlags::REC | MountPropagationFlags::PRIVATE,
        )?;
        for (from, over) in self.mounts.iter() {
            mount_bind_recursive(from, over)?;
        }
        for capability in 0..=LAST_CAPABILITY {
            // SAFETY: the call drops a capability of this process; one that does not exist is refused.
            unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        }
        Ok(())
    }
}

/// Returns the path of a folder that exists.
fn folder(path: &Path) -> Result<CString, LinkError> {
    let name = CString::new(path.as_os_str().as_bytes()).ok();
    name.filter(|_| path.is_dir())
        .ok_or_else(|| LinkError::View(path.to_owned()))
}

fn write(path: &CStr, content: &[u8]) -> io::Result<()> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, content)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let missing = PathBuf::from("/nowhere/at/all");
        let made = FileView::new(&[(missing.clone(), PathBuf::from("/etc"))]);
        assert!(made.unwrap_err().to_string().contains("/nowhere/at/all"));
    }

    #[test]
    fn a_process_sees_the_view_and_nobody_else_does() {
        let folder = std::env::temp_dir().join(format!("netbench-view-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("mark"), "here").unwrap();
        let view = match FileView::new(&[(folder.clone(), PathBuf::from("/etc"))]) {
            Ok(view) => view,
            Err(LinkError::Namespace { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        let mut command = Command::new("cat");
        command.arg("/etc/mark");
        view.enter(&mut command);
        let output = command.output().unwrap();
        assert_eq!(output.stdout, b"here");
        assert!(!Path::new("/etc/mark").exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
