//! Enumeration: finding everything that a server accepts by offering less and less. Each step offers everything
//! that remains, and removes the chosen values. Every ServerHello shows suite, group, extensions and version at
//! once, so that one connection gives several results.
//!
//! This module does not know sockets: a [`Responder`] is anything that answers a [`ProbeHello`], such as a site, or
//! a simulated server. Start reading at [`enumerate`].

mod found;
mod legacy;
mod order;
mod rank;
mod reads;
mod responder;
mod tls13;
mod versions;

#[cfg(test)]
mod simulated;

pub use found::Enumeration;
pub(crate) use legacy::{find_hidden, is_ecdhe_rsa};
pub(crate) use rank::{is_everywhere, offered_groups, offered_suites};
pub(crate) use reads::rest;
pub use responder::{
    Choice, Dress, Limit, ProbeAnswer, ProbeHello, Refusal, Responder, Schemes, Shares, Stop,
};
pub use versions::enumerate;
