//! The peel: offer everything, take away what was chosen, offer again. Every ServerHello answers
//! suite, group, extensions and version at once, so that one connection serves many questions.
//!
//! Nothing here knows sockets: [`Ask`] is anything that answers a [`Question`], a simulated
//! server too.

mod legacy;
mod order;
mod rank;
mod tls13;
mod versions;

#[cfg(test)]
mod simulated;

pub use order::Order;
pub(crate) use versions::words;
pub use versions::{Enumeration, Learned, SuiteFound, VersionFound, enumerate};

use crate::registry::{FfdheSize, Version};

/// What a hello offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Versions, newest first.
    pub versions: Vec<Version>,
    /// Suites, most wanted first.
    pub suites: Vec<u16>,
    /// Groups, most wanted first.
    pub groups: Vec<u16>,
    /// Key shares of TLS 1.3.
    pub shares: Shares,
}

/// Which key shares a hello has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shares {
    /// None, so that the server says which group it wants; costs neither side any computing.
    Empty,
    /// For each of these groups that can be computed here.
    Of(Vec<u16>),
}

/// What a server chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The version's code point.
    pub version: u16,
    /// The suite.
    pub suite: u16,
    /// The group.
    pub group: Option<u16>,
    /// The prime of a finite-field exchange.
    pub prime: Option<FfdheSize>,
    /// The groups that the server says it has, in its order, where it says so
    /// (`supported_groups` in EncryptedExtensions, RFC 8446 section 4.2.7).
    pub stated_groups: Option<Vec<u16>>,
}

/// How a server said no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// With an alert.
    Alert(u8),
    /// By closing.
    Closed,
    /// By a reset.
    Reset,
    /// By not answering within the time limit.
    Silent,
    /// With what is no answer.
    Malformed,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A ServerHello.
    Chose(Choice),
    /// None.
    No(Refusal),
}

/// The site cannot be asked any more: it is gone, or its time is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop;

/// Somebody who answers hellos.
pub trait Ask {
    /// Puts one question.
    fn ask(&self, question: Question) -> impl Future<Output = Result<Said, Stop>>;

    /// Takes note of something strange.
    fn note(&self, what: String);
}
