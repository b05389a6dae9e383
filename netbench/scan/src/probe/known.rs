//! Facts about a site by which its answers and refusals are judged.

use std::rc::Rc;

use netbench_model::tls::TlsVersion;

use super::wire::{ConnectionError, Reply};
use crate::{
    codec::{Flight, HelloSpec, extension},
    session::PrivateShares,
};

/// A hello and how it was answered at first.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) spec: HelloSpec,
    pub(super) bytes: Vec<u8>,
    pub(super) answer: Answer,
    /// The private halves of its key shares, where the answer was decrypted.
    pub(super) keys: Option<Rc<PrivateShares>>,
}

/// The constant part of a server's response to the same hello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    version: u16,
    suite: u16,
    extensions: Vec<u16>,
    pub(super) leaf: Option<Vec<u8>>,
    pub(super) is_retry: bool,
}

impl Answer {
    pub(super) fn of(flight: &Flight) -> Self {
        // A response to staple may come later, and tickets may be turned off for a while.
        let changes = [extension::STATUS_REQUEST, extension::SESSION_TICKET];
        let extensions = flight.hello.extensions.iter().map(|(code, _)| *code);
        let mut extensions: Vec<u16> = extensions.filter(|code| !changes.contains(code)).collect();
        extensions.sort_unstable();
        let leaf = flight.certificates.as_ref();
        Self {
            version: flight.hello.version,
            suite: flight.hello.suite,
            extensions,
            leaf: leaf.and_then(|chain| chain.first().cloned()),
            is_retry: flight.hello.is_retry,
        }
    }

    /// Whether this is the other answer with a certificate that the other lacks.
    pub(super) fn adds_certificate_to(&self, other: &Self) -> bool {
        let without = Self {
            leaf: None,
            ..self.clone()
        };
        self.leaf.is_some() && without == *other
    }

    pub(super) fn differs_in(&self, other: &Self) -> String {
        let version = TlsVersion::of(other.version).map_or("unknown", TlsVersion::name);
        let parts = [
            (self.version != other.version).then(|| format!("TLS {version}")),
            (self.suite != other.suite).then(|| "another suite".to_owned()),
            (self.extensions != other.extensions).then(|| "other extensions".to_owned()),
            (self.leaf != other.leaf).then(|| "another certificate".to_owned()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// A reason why parts of an enumeration may be of another server, or of none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misjudged {
    /// Refusals were taken for the site's that may have been those of a limit.
    Refusals,
    /// The certificate was learnt late: whether the server of the connections before had it is unknown.
    Certificate,
}

impl Misjudged {
    /// Describes the reason.
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Refusals => "refusals may have been those of a limit of connections",
            Self::Certificate => {
                "the certificate was learnt late: another server may have answered before"
            }
        }
    }
}

/// The number of proven refusals after which refusals of the same kind are proven together.
const PROVEN: u32 = 3;

/// The number of refusals that are proven together, by one known hello after the last of them.
const TOGETHER: u32 = 4;

/// The way in which a site without alerts refuses hellos.
#[derive(Debug, Default)]
pub(super) struct Habit {
    how: Option<ConnectionError>,
    /// The number of refusals of this kind in sequence that were proven.
    proven: u32,
    /// The number of refusals that are still to be proven.
    pub(super) assumed: u32,
}

impl Habit {
    pub(super) fn is_known(&self, reply: &Reply) -> bool {
        let known = self.how.as_ref().filter(|_| self.proven >= PROVEN);
        known.is_some_and(|known| matches!(reply, Reply::Failed(how) if how == known))
    }

    /// Counts a refusal. Returns whether it is proven together with later ones.
    pub(super) fn assume(&mut self) -> bool {
        let is_assumed = self.assumed + 1 < TOGETHER;
        self.assumed += u32::from(is_assumed);
        is_assumed
    }

    pub(super) fn prove(&mut self, reply: &Reply) {
        use ConnectionError as E;
        let how = match reply {
            Reply::Failed(how @ (E::Closed | E::Reset)) => Some(how.clone()),
            _ => None,
        };
        if how != self.how {
            *self = Self {
                how,
                ..Self::default()
            };
        }
        self.proven += 1;
        self.assumed = 0;
    }
}
