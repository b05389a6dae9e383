//! The privileges of this process, which enters a new user namespace to get them where it is not root.

use std::{fs, io};

use rustix::{
    io::retry_on_intr,
    process::{Pid, WaitOptions, getegid, geteuid, waitpid},
    thread::{
        CapabilitySet, UnshareFlags, capabilities, configure_capability_in_ambient_set,
        set_capabilities, unshare_unsafe,
    },
};

use crate::LinkError;

/// Ensures that this process may make network namespaces, by entering a user namespace if necessary. A
/// failure leaves the process unchanged. Returns the words for these namespaces.
pub(crate) fn acquire() -> Result<&'static str, LinkError> {
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW;
    if capabilities(None).is_ok_and(|sets| sets.effective.contains(needed)) {
        // The process was root, or in a user namespace already.
        return Ok("network namespaces");
    }
    let threads = fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads > 1 {
        return Err(LinkError::Threads(threads));
    }
    probe()
        .and_then(|()| enter_user_namespace())
        .map_err(LinkError::namespace("a user namespace"))?;
    Ok("network namespaces of a user namespace")
}

/// Returns the usual reasons for refused namespaces, as far as the kernel reports them.
pub(crate) fn hint() -> String {
    let cause = if setting("kernel/apparmor_restrict_unprivileged_userns").as_deref() == Some("1") {
        "AppArmor restricts user namespaces here: as root, `sysctl \
         kernel.apparmor_restrict_unprivileged_userns=0` lifts that"
    } else if setting("kernel/unprivileged_userns_clone").as_deref() == Some("0") {
        "this kernel keeps user namespaces for root: `sysctl kernel.unprivileged_userns_clone=1`, as \
         root, lifts that"
    } else if setting("user/max_user_namespaces").as_deref() == Some("0") {
        "user namespaces are turned off: `sysctl user.max_user_namespaces=10000`, as root, allows them"
    } else if setting("user/max_net_namespaces").as_deref() == Some("0") {
        "network namespaces are turned off: `sysctl user.max_net_namespaces=10000`, as root, allows \
         them"
    } else {
        "a container's seccomp profile may forbid it: run as root with CAP_SYS_ADMIN and CAP_NET_ADMIN, \
         or allow `unshare`"
    };
    cause.to_owned()
}

fn setting(name: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/sys/{name}")).ok()?;
    Some(text.trim().to_owned())
}

/// Lets a program that is executed next in this thread keep CAP_NET_ADMIN, which it would lose in a user
/// namespace whose user is not 0. The function is safe to call after `fork`, as it only makes system calls.
pub(crate) fn keep_net_admin_over_exec() -> io::Result<()> {
    let mut sets = capabilities(None)?;
    sets.inheritable |= CapabilitySet::NET_ADMIN;
    set_capabilities(None, sets)?;
    configure_capability_in_ambient_set(CapabilitySet::NET_ADMIN, true)?;
    Ok(())
}

/// Attempts the change in a child first, so that a refusal leaves this process unchanged.
fn probe() -> io::Result<()> {
    // SAFETY: the process has one thread, and the child only makes system calls.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: these calls only change or end the child.
            unsafe {
                let refused = libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) != 0;
                let errno = if refused {
                    *libc::__errno_location()
                } else {
                    0
                };
                libc::_exit(errno)
            }
        }
        child => {
            // The child ends at once.
            let ended = retry_on_intr(|| waitpid(Pid::from_raw(child), WaitOptions::empty()))?;
            match ended.and_then(|(_, status)| status.exit_status()) {
                Some(0) => Ok(()),
                errno => Err(io::Error::from_raw_os_error(errno.unwrap_or_default())),
            }
        }
    }
}

/// Enters a user namespace in which this user and group keep their numbers, so that they still own their
/// files.
fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    // SAFETY: the call changes only this process, which has one thread, and does not unshare descriptors.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }?;
    // An unprivileged user may map groups only after giving up the right to change them.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Converts a return value of −1 into the error in errno.
pub(crate) fn check(value: i32) -> io::Result<()> {
    if value == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
