//! The behaviour of rustls that needs no flag.

use crate::{Lacking, Options};

/// The protocols that rustls does not have.
pub(super) const LACKING: &[Lacking] = &[
    Lacking {
        named: "tls TLS1",
        name: "TLS 1.0",
    },
    Lacking {
        named: "tls TLS11",
        name: "TLS 1.1",
    },
];

/// Flags whose behaviour rustls has in any case, with the reason.
const ALWAYS: &[(&str, &str)] = &[
    ("-no-tls1", "rustls has no TLS 1.0"),
    ("-no-tls11", "rustls has no TLS 1.1"),
    (
        "-use-custom-verify-callback",
        "a verifier is always an object of the application's",
    ),
];

const ALWAYS_AS_CLIENT: &[(&str, &str)] = &[
    (
        "-enable-ocsp-stapling",
        "a client always asks for a response",
    ),
    (
        "-use-old-client-cert-callback",
        "the certificate comes from a call of the resolver's, once the server asks for it",
    ),
    (
        "-renegotiate-ignore",
        "requests to renegotiate are declined, and the connection goes on",
    ),
];

const ALWAYS_AS_SERVER: &[(&str, &str)] = &[
    (
        "-use-early-callback",
        "the certificate comes from a call of the resolver's, which is given the ClientHello",
    ),
    (
        "-set-ocsp-in-callback",
        "the response to staple comes from that call too",
    ),
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
