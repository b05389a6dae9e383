//! The emulated sites of one run: certificates, OCSP responses, and the specification of each server; and the
//! trust roots and certificates of clients.
//!
//! The fixed certificates of the in-memory suite are also here ([`suite_pki`]).
//!
//! This crate must never serve or connect (workers do), never link a TLS library, and never write a lab's key
//! to a file: a lab lives in memory and ends with its run. Start reading at [`Lab`], then [`Roots`].

mod compressed;
mod cores;
mod der;
mod extensions;
mod files;
mod hierarchy;
mod identity;
mod keys;
mod lab;
mod leaf;
mod ocsp;
mod pem;
mod roots;
mod suite_pki;

pub use compressed::CompressedMessage;
pub use identity::{Identity, IdentityError};
pub use lab::{Lab, LabError};
pub use pem::PemError;
pub use roots::{MAX_ROOTS, Roots, RootsError};
pub use suite_pki::{SUITE_HOST, make_suite_pki, suite_pki};
