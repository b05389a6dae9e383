//! Whole handshakes, for what is encrypted: certificates and extensions of
//! TLS 1.3, tickets, resumption, renegotiation, the response's head.
//!
//! A client's side only, and only as far as a scan needs it. Certificates are not verified here:
//! a scan reports what a server sends. No secret here protects anything.

pub mod crypto;
mod http;
mod shares;
mod tls12;
mod tls13;

pub(crate) use http::{Method, ResponseHead, request};
pub(crate) use shares::{PrivateShares, computable, computable_suites};
pub(crate) use tls12::Keys12;
pub(crate) use tls13::{Encrypted13, Resumption13, Session13, binder, parse_message13};
