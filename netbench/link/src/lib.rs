//! The emulated path between the client and every site: round-trip time, jitter, loss, rate and
//! queue, in both directions.
//!
//! There are three implementations ([`LinkChoice`]): a forwarder in user space between two network
//! namespaces, the kernel's netem, or none (loopback). The first needs no privilege and no kernel
//! module, and draws its losses from a seed, so that two stacks have the same losses.
//!
//! This crate must never change the host's own network (interfaces, routes, settings), name a
//! namespace, or leave any state behind when its process is killed. It never prints.
//!
//! Start reading at [`Link`]; the forwarder's loop is in `forward/forwarder.rs`, the fate of a
//! packet is in `forward/paths.rs`, and the draw in `forward/draw.rs`.

pub mod bench;
mod capability;
mod check;
mod clock;
mod device;
mod error;
mod file_view;
mod forward;
mod interface;
mod link;
mod namespace;
mod netem;
mod netlink;
mod plan;
mod settings;
mod sites;
mod topology;
mod trace;

pub use error::LinkError;
pub use file_view::FileView;
pub use forward::{Elsewhere, Exchange, Observed, ObservedConnection, Request, Response};
pub use link::Link;
pub use namespace::Namespace;
pub use netbench_model::LinkChoice;
pub use plan::{LinkPlan, LinkSite, TrialKey};
pub use trace::Trace;
