//! Servers of every kind: a catalogue of them as data, and a scripted TLS server that emulates each.
//!
//! The server is not a TLS library. It encodes certificates, hellos and records itself, because clients must be
//! tested with data that a library refuses to send. It must never be offered to anyone but a client under test on
//! this machine. Start reading at [`catalogue()`], then [`Case`] and [`Server`].
//!
//! | module | contents |
//! | --- | --- |
//! | `breakages` | breakages of other projects, and the case that predicts each |
//! | `case` | the fields of a case |
//! | `certificates` | chains and OCSP responses from their description |
//! | `ech` | configurations of Encrypted ClientHello, and HPKE |
//! | `client` | the settings that a case gives its client |
//! | `features` | pages that test a browser's features |
//! | `chains` | chains for verifiers, without a server |
//! | `stores` | trust stores as systems keep them |
//! | `name_server` | a DNS server for browsers, with HTTPS records |
//! | [`parsers`] | every parser of a client's Encrypted ClientHello, for fuzzing |
//! | `server` | handshakes of TLS 1.2 and 1.3 from the server's side, and one response |

mod breakages;
mod case;
mod catalogue;
mod certificates;
pub mod chains;
mod client;
mod ech;
mod features;
mod name_server;
pub mod parsers;
mod server;
pub mod stores;

pub use breakages::breakages;
pub use case::Case;
pub use catalogue::{BUILT_IN, LineError, catalogue};
pub use client::Visits;
pub use ech::EmulatedEch;
pub use features::{Feature, GROUPS, built_in_features, features};
pub use name_server::{NameServer, Zone};
pub use server::{BODY, EchViolation, Running, Served, Server, ServerError, Unsuited};
