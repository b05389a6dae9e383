//! TLS as code points with their registered names: versions, cipher suites, groups, signature schemes, extensions,
//! alerts. One vocabulary for stored runs, workers, scans and shims.
//!
//! Each is a number (`CipherSuite(0x1301)`) with constants for the values that the code names. The names are IANA's,
//! read from the tables under `data/`. The JSON representation of a registered value is its name, and of any other
//! value its code point in hexadecimal. A reader accepts a name, hexadecimal digits after `0x`, or a number.

mod cipher_suite;
mod code_point;
mod group;
mod names;
mod version;

pub use cipher_suite::{Authentication, CipherSuite, CipherSuiteFacts, KeyExchange, Protection};
pub use code_point::UnknownName;
pub use group::{FfdheSize, Group, GroupKind};
pub use names::{Alert, ExtensionType, SignatureScheme};
pub use version::TlsVersion;

use crate::named::named;

named!(
    /// An application protocol (RFC 7301).
    Alpn, "application protocol", {
        /// HTTP/2.
        H2 = "h2",
        /// HTTP/1.1.
        Http11 = "http/1.1",
    }
);

/// Returns whether the value is one of those that RFC 8701 reserves, so that servers learn to ignore unknown values.
/// The value can be of a suite, a group, an extension or a signature scheme.
pub fn is_grease(code: u16) -> bool {
    code & 0x0f0f == 0x0a0a && code >> 8 == code & 0xff
}

#[cfg(test)]
mod tests;
