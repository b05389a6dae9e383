//! The behaviour of rustls that needs no flag.

use crate::{Lacking, Options};

/// The protocols that rustls does not have.
pub(super) const LACKING: &[Lacking] = &[("tls TLS1", "TLS 1.0"), ("tls TLS11", "TLS 1.1")];

/// Flags whose behaviour rustls has in any case.
const ALWAYS: &[&str] = &[
    // rustls has neither version.
    "-no-tls1",
    "-no-tls11",
    // A verifier is always an object of the application's.
    "-use-custom-verify-callback",
];

const ALWAYS_AS_CLIENT: &[&str] = &[
    // A client always asks for a response.
    "-enable-ocsp-stapling",
    // The certificate comes from a call of the resolver's, once the server asks for it.
    "-use-old-client-cert-callback",
    // Requests to renegotiate are declined, and the connection goes on.
    "-renegotiate-ignore",
];

const ALWAYS_AS_SERVER: &[&str] = &[
    // The certificate comes from a call of the resolver's, which is given the ClientHello.
    "-use-early-callback",
    // The response to staple comes from that call too.
    "-set-ocsp-in-callback",
];

/// Marks the flags whose behaviour rustls has in any case as read.
pub(super) fn take_for_granted(options: &Options) {
    options.take_for_granted(ALWAYS);
    options.take_for_granted(if options.on("-server") {
        ALWAYS_AS_SERVER
    } else {
        ALWAYS_AS_CLIENT
    });
}
