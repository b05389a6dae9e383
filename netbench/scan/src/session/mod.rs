//! Whole handshakes, for encrypted data: certificates and extensions of TLS 1.3, tickets, resumption,
//! renegotiation, the response's head.
//!
//! The module has only a client's side, and only as far as a scan needs it. Certificates are not verified here: a
//! scan reports the server's data. No secret here protects any data.

pub mod crypto;
mod http;
mod identity;
mod shares;
mod tls12;
mod tls13;

pub(crate) use http::{Method, ResponseHead, request};
pub use identity::{ClientIdentity, ClientIdentityError};
pub use shares::PrivateShare;
pub(crate) use shares::{PrivateShares, cheap_first, computable, computable_suites};
pub(crate) use tls12::Keys12;
pub(crate) use tls13::{
    Compression, Encrypted13, Resumption13, Session13, binder, parse_message13,
};
