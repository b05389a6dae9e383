//! Enumeration: finding all that a server accepts by offering less and less. Offer everything, take
//! away what was chosen, offer the rest. Every ServerHello tells suite, group, extensions and version
//! at once, and so one connection tells several things.
//!
//! Nothing here knows sockets: a [`Responder`] is anything that answers a [`ProbeHello`], such as a
//! site, or a simulated server. Start reading at [`enumerate`].

mod found;
mod legacy;
mod order;
mod rank;
mod responder;
mod tls13;
mod versions;

#[cfg(test)]
mod simulated;

pub use found::{Enumeration, SuiteFound, VersionFound};
pub(crate) use rank::{offered_groups, offered_suites};
pub use responder::{Choice, ProbeAnswer, ProbeHello, Refusal, Responder, Shares, Stop};
pub use versions::enumerate;
