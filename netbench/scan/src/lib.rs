//! Support of a server, learned from ClientHellos that netbench sends.
//!
//! No TLS library is used: hellos are written byte by byte, and responses are read by a parser that allocates
//! memory only for arrived bytes. This crate must never print, never trust a length, and never let a server's bytes
//! reach a result other than as a name, a number or sanitized text.
//!
//! Start reading at [`enumeration`], which finds everything that a server accepts in few connections, then at
//! [`scan_all`], which scans many sites. `docs/SCANS.md` describes the hellos, their order, and the meaning of
//! `complete`. The results are records of `netbench_model::scan`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`codec`] | hellos to bytes; records, flights and hellos from bytes |
//! | [`enumeration`] | the choice of the next hello, and the meaning of the responses; no sockets |
//! | `session` | whole handshakes, for encrypted data; its [`crypto`] is also used by the servers of `compat` |
//! | `probe` | connections, limits, retries; one site, and many at the same time |
//! | [`offer()`], [`fingerprint`] | a client's offer, from its own hello; JA3 and JA4 |
//! | [`parsers`] | every parser of a peer's bytes, for fuzzing |
//!
//! ```no_run
//! use std::sync::{Arc, atomic::AtomicBool};
//!
//! use netbench_scan::{Limits, Place, TrustAnchors, ScanTarget, scan_all};
//!
//! let target = ScanTarget {
//!     site: "example.test".to_owned(),
//!     host: "example.test".to_owned(),
//!     port: 443,
//!     path: "/".to_owned(),
//!     place: Place::At(([127, 0, 0, 1], 443).into()),
//!     start_tls: None,
//! };
//! let stop = Arc::new(AtomicBool::new(false));
//! scan_all(vec![target], Limits::default(), TrustAnchors::default(), &stop, |scan| {
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
mod witness;
mod x509;

pub use offer::offer;
pub use probe::{
    Limits, Lookup, Place, Resolver, ScanClient, ScanPart, ScanTarget, dns, raise_descriptor_limit,
    scan_all, scan_all_with,
};
pub use session::{ClientIdentity, ClientIdentityError, PrivateShare, crypto};
pub use witness::Witness;
pub use x509::TrustAnchors;
