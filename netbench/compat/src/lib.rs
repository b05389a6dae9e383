//! Servers of every kind: a catalogue of them as data, and a scripted TLS server that plays each.
//!
//! The server is no TLS library. It writes certificates, hellos and records by itself, since what a library refuses to
//! send is what clients must be tried with. It must never be offered to anyone but a client under test on this
//! machine. Start reading at [`catalogue()`], then [`Case`] and [`Server`].
//!
//! | module | what it is |
//! | --- | --- |
//! | `breakages` | what broke for others, and the case that predicts it |
//! | `case` | what a case may say |
//! | `certificates` | chains and OCSP responses from their description |
//! | `client` | what a case gives to its client |
//! | `chains` | chains for verifiers, without a server |
//! | `stores` | trust stores as systems keep them |
//! | `server` | handshakes of TLS 1.2 and 1.3 from the server's side, and one response |

mod breakages;
mod case;
mod catalogue;
mod certificates;
pub mod chains;
mod client;
mod server;
pub mod stores;

pub use breakages::breakages;
pub use case::Case;
pub use catalogue::{BUILT_IN, CatalogueError, catalogue};
pub use client::Visits;
pub use server::{BODY, Running, Served, Server, ServerError};
