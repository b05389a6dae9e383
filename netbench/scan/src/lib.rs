//! What a server speaks, learned from ClientHellos of our own.
//!
//! No TLS library is used: hellos are written byte by byte, and what comes back is read by a parser
//! that allocates nothing for what has not arrived. This crate must never print, never trust a length,
//! and never let a server's bytes reach a result as anything but a name, a number or cleaned text.
//!
//! Start reading at [`peel`], which is how few connections settle what a server has, then at
//! [`scan_all`], which does it to many. `docs/METHOD.md` says what is asked, in which order, and what
//! `complete` means.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`codec`] | hellos to bytes; records, flights and hellos from bytes |
//! | [`peel`] | which hello comes next, and what the answers mean; no sockets |
//! | `session` | handshakes to their end, for what is encrypted |
//! | `probe` | connections, limits, retries; one site, and many at one time |
//! | [`offer()`], [`fingerprint`] | what a client offers, of its own hello; JA3 and JA4 |
//! | [`parsers`] | everything that reads foreign bytes, for fuzzing |
//!
//! ```no_run
//! use std::sync::{Arc, atomic::AtomicBool};
//!
//! use netbench_scan::{ScanEvent, Limits, TrustAnchors, ScanTarget, scan_all};
//!
//! let target = ScanTarget {
//!     site: "example.test".to_owned(),
//!     host: "example.test".to_owned(),
//!     port: 443,
//!     address: Ok(([127, 0, 0, 1], 443).into()),
//! };
//! let stop = Arc::new(AtomicBool::new(false));
//! scan_all(vec![target], Limits::default(), TrustAnchors::default(), &stop, |event| {
//!     let ScanEvent::Done(scan) = event;
//!     assert!(scan.effort.connections > 0);
//!     Ok::<_, std::io::Error>(())
//! })?;
//! # Ok::<_, std::io::Error>(())
//! ```

pub mod codec;
pub mod enumeration;
pub mod fingerprint;
mod offer;
pub mod parsers;
mod probe;
mod session;
mod text;
mod x509;

pub use offer::offer;
pub use probe::{Limits, ScanEvent, ScanPart, ScanTarget, raise_descriptor_limit, scan_all};
pub use x509::TrustAnchors;
