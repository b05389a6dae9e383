use std::{
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::process::CommandExt,
    },
    panic,
    process::Command,
    sync::Arc,
    thread,
};

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use crate::{LinkError, capability, interface, netlink::Netlink, settings, sites};

/// A network namespace to start a process or a thread in; by default, the host's own.
#[derive(Debug, Clone, Default)]
pub struct Namespace {
    /// The namespace's descriptor, or `None` for the host's own.
    namespace: Option<Arc<OwnedFd>>,
}

impl Namespace {
    /// Ensures that this process may make namespaces. Only a process with one thread can acquire that
    /// permission.
    ///
    /// # Errors
    /// Returns an error if the system does not allow namespaces.
    pub fn allow() -> Result<(), LinkError> {
        capability::acquire().map(drop)
    }

    /// Makes a network that has only a loopback interface: processes in it reach no other network. The
    /// interface has an additional address, because programs that resolve names only where there is a network
    /// (`AI_ADDRCONFIG`) do not read the hosts file without one. Any user can listen on any port.
    ///
    /// # Errors
    /// Returns an error if namespaces are not allowed (see [`Self::allow`]), or the interface cannot be set
    /// up.
    pub fn isolated() -> Result<Self, LinkError> {
        let namespace = Self::create()?;
        namespace
            .run(|| {
                settings::allow_every_port();
                let mut netlink = Netlink::open()?;
                netlink.set_loopback_up()?;
                netlink.add_address(interface::index("lo")?, sites::CLIENT, 32)
            })?
            .map_err(LinkError::device("set the loopback interface up"))?;
        Ok(namespace)
    }

    /// Makes a network namespace without a name: it ends with its last process, socket and `Namespace`.
    pub(crate) fn create() -> Result<Self, LinkError> {
        let made: io::Result<OwnedFd> = in_thread(|| {
            // SAFETY: the call changes the network namespace of this thread, which ends directly afterwards,
            // and does not unshare descriptors.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            Ok(File::open("/proc/thread-self/ns/net")?.into())
        })
        .and_then(|made| made);
        let descriptor = made.map_err(LinkError::namespace("a network namespace"))?;
        Ok(Self {
            namespace: Some(Arc::new(descriptor)),
        })
    }

    /// Makes `command` start in this namespace. The program has no more privileges than it would have
    /// outside.
    pub fn enter(&self, command: &mut Command) {
        let Some(namespace) = self.namespace.clone() else {
            return;
        };
        // SAFETY: between fork and exec, the closure only calls setns; the descriptor lives as long as the
        // closure.
        unsafe {
            command.pre_exec(move || set_namespace(namespace.as_fd()));
        }
    }

    /// Runs `f` in a thread of this namespace, and waits for it.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be started or cannot enter the namespace.
    pub fn run<T: Send>(&self, f: impl FnOnce() -> T + Send) -> Result<T, LinkError> {
        in_thread(|| {
            if let Some(namespace) = &self.namespace {
                set_namespace(namespace.as_fd())?;
            }
            Ok(f())
        })
        .and_then(|result| result)
        .map_err(|source| LinkError::Namespace {
            what: "a thread in a network namespace",
            hint: "the namespace was made by this process, so this should not happen".to_owned(),
            source,
        })
    }

    /// Returns the namespace's descriptor, or `None` for the host's own.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.namespace.as_deref().map(AsFd::as_fd)
    }
}

/// Runs `f` in a new thread; a panic is resumed in the calling one.
fn in_thread<T: Send>(f: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("netbench-netns".to_owned())
            .spawn_scoped(scope, f)?;
        Ok(thread
            .join()
            .unwrap_or_else(|panic| panic::resume_unwind(panic)))
    })
}

fn set_namespace(namespace: BorrowedFd<'_>) -> io::Result<()> {
    move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))?;
    Ok(())
}
