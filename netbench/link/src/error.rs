use std::{io, time::Duration};

use crate::capability;

/// The reason for the absence of a link, with a remedy.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Namespaces cannot be made.
    #[error("cannot make {what}: {source} ({hint})")]
    Namespace {
        /// The kind of namespace.
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
        /// The likely cause, and a remedy.
        hint: String,
    },
    /// A missing folder that was to be mounted, or over which another was to be mounted.
    #[error("there is no folder {}", .0.display())]
    View(std::path::PathBuf),
    /// The process has this number of threads already, and a user namespace can only be entered by a whole
    /// process.
    #[error("the link must be opened while the process has a single thread, and it has {0}")]
    Threads(usize),
    /// This step of setting up the namespaces' devices failed.
    #[error("cannot {0}: {1}")]
    Device(String, #[source] io::Error),
    /// Neither veth pairs nor TUN devices can be made.
    #[error("no link in user space: over veth: {veth}; over TUN: {tun}")]
    NoDevices {
        /// The error of veth pairs.
        veth: Box<LinkError>,
        /// The error of TUN devices.
        tun: Box<LinkError>,
    },
    /// The kernel or the machine lacks a requirement of `--link netem`.
    #[error(
        "--link netem cannot work here: {0}; --link user does the same in user space, with \
         losses drawn from the seed"
    )]
    NetemMissing(String),
    /// `tc` refused a command, with this message.
    #[error("tc failed: {0}")]
    Tc(String),
    /// There are more sites than addresses.
    #[error("{sites} sites, but a link has addresses for {limit} only")]
    TooManySites {
        /// The requested number of sites.
        sites: usize,
        /// The maximum number of sites.
        limit: usize,
    },
    /// The link's check was stopped before its end.
    #[error("the link's own check was stopped")]
    Stopped,
    /// A connection through the link failed.
    #[error("the link's own check failed: {what} within {limit:?}: {source}")]
    Check {
        /// The attempted operation.
        what: String,
        /// The time limit.
        limit: Duration,
        /// The error of the operation.
        source: io::Error,
    },
}

impl LinkError {
    /// Returns a function for `map_err`, which makes the error that a device could not be set up.
    pub(crate) fn device(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Device(what, source)
    }

    /// Returns a function for `map_err`, which makes the error that a namespace could not be made.
    pub(crate) fn namespace(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Namespace {
            what,
            source,
            hint: capability::hint(),
        }
    }
}
