use std::{io, time::Duration};

/// Why there is no link, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Namespaces cannot be made.
    #[error("cannot make {what}: {source} ({hint})")]
    Namespace {
        /// Which kind of namespace.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
        /// The likely cause, and what helps.
        hint: String,
    },
    /// A folder that is to be seen, or to be covered, is not there.
    #[error("there is no folder {}", .path.display())]
    View {
        /// The folder.
        path: std::path::PathBuf,
    },
    /// The process has several threads already, and a user namespace is entered by a whole process.
    #[error("the link must be opened while the process has a single thread, and it has {threads}")]
    Threads {
        /// How many threads there are.
        threads: usize,
    },
    /// The namespaces' devices cannot be set up.
    #[error("cannot {what}: {source}")]
    Device {
        /// What failed.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// Neither way to have devices works.
    #[error("no link in user space: over veth: {veth}; over TUN: {tun}")]
    NoDevices {
        /// Why not over veth.
        veth: Box<LinkError>,
        /// Why not over TUN.
        tun: Box<LinkError>,
    },
    /// The kernel or the machine lacks what `--link netem` needs.
    #[error(
        "--link netem cannot work here: {reason}; --link user does the same in user space, with \
         losses drawn from the seed"
    )]
    NetemMissing {
        /// What is missing.
        reason: String,
    },
    /// `tc` refused what it was told.
    #[error("tc failed: {message}")]
    Tc {
        /// Its own words.
        message: String,
    },
    /// More sites than there are addresses.
    #[error("{sites} sites, but a link has addresses for {limit} only")]
    TooManySites {
        /// How many were asked for.
        sites: usize,
        /// How many there can be.
        limit: usize,
    },
    /// Its check was stopped before its end.
    #[error("the link's own check was stopped")]
    Stopped,
    /// A connection through the link did not come about.
    #[error("the link's own check failed: {what} within {limit:?}: {source}")]
    Check {
        /// What was tried.
        what: String,
        /// For how long.
        limit: Duration,
        /// How it ended.
        source: io::Error,
    },
}

impl LinkError {
    /// For `map_err`: a device could not be set up.
    pub(crate) fn device(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Device { what, source }
    }
}
