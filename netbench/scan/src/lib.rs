//! What a server speaks, learned from ClientHellos of our own.
//!
//! No TLS library is used: hellos are written byte by byte, and what comes back is read by a parser
//! that never allocates more than has arrived. This crate must never print, never trust a length,
//! and never let a server's bytes reach a result as anything but a name, a number or cleaned text.
//!
//! Start reading at [`peel`], which is how few connections settle what a server has, then at
//! [`scan_all`], which does it to many.

pub mod against;
pub mod codec;
pub mod fingerprint;
pub mod loss;
mod offer;
pub mod parsers;
pub mod peel;
pub mod population;
mod probe;
pub mod profiles;
pub mod registry;
pub mod result;
mod session;
mod x509;

pub use against::{AgainstRecord, LossReport};
pub use offer::{ExtensionOffer, Offer, ShareOffer};
pub use probe::{Event, Limits, Part, Target, raise_descriptor_limit, scan_all};
pub use result::SiteScan;
pub use x509::Roots;
