//! The BoGo shim of rustls: rustls' public interface, and nothing of TLS beside it.
//!
//! `config.rs` turns options into configurations, `tls.rs` and `quic.rs` are the connections.

mod certs;
mod compress;
mod config;
mod expect;
mod quic;
mod seen;
mod sessions;
mod tls;

use std::process::ExitCode;

use crate::{Failure, OptionSets, exchange::exchange, socket::Socket};

use self::{config::Configs, expect::Expect, quic::Quic, tls::Tls};

/// What rustls' interface can express.
const SUPPORTED: &[&str] = &[
    "-port",
    "-shim-id",
    "-ipv6",
    "-server",
    "-quic",
    "-trust-cert",
    "-cert-file",
    "-key-file",
    "-resume-count",
    "-async",
    "-implicit-handshake",
    "-resumption-delay",
    // Versions, suites, groups, signatures.
    "-min-version",
    "-max-version",
    "-expect-version",
    "-no-tls1",
    "-no-tls11",
    "-no-tls12",
    "-no-tls13",
    "-tls13-ciphers",
    "-expect-cipher",
    "-curves",
    "-expect-curve-id",
    "-expect-hrr",
    "-expect-no-hrr",
    "-signing-prefs",
    "-verify-prefs",
    "-expect-peer-signature-algorithm",
    "-server-preference",
    "-expect-extended-master-secret",
    // Certificates.
    "-verify-peer",
    "-verify-fail",
    "-expect-verify-result",
    "-use-custom-verify-callback",
    "-require-any-client-certificate",
    "-expect-no-peer-cert",
    "-expect-peer-cert-file",
    "-use-early-callback",
    "-use-old-client-cert-callback",
    "-use-client-ca-list",
    "-expect-client-ca-list",
    "-install-cert-compression-algs",
    "-install-one-cert-compression-alg",
    "-new-x509-credential",
    "-expect-selected-credential",
    "-enable-ocsp-stapling",
    "-ocsp-response",
    "-expect-ocsp-response",
    "-use-ocsp-callback",
    "-set-ocsp-in-callback",
    "-decline-ocsp-callback",
    "-fail-ocsp-callback",
    "-new-rpk-credential",
    "-accepted-peer-cert-types",
    "-available-client-cert-types",
    "-expect-peer-certificate-type",
    "-expect-peer-rpk-sha256",
    // Names and protocols.
    "-host-name",
    "-expect-server-name",
    "-expect-no-server-name",
    "-advertise-alpn",
    "-select-alpn",
    "-expect-alpn",
    "-decline-alpn",
    "-reject-alpn",
    "-expect-advertised-alpn",
    "-allow-unknown-alpn-protos",
    // Sessions and early data.
    "-expect-session-miss",
    "-expect-no-session",
    "-expect-session-id",
    "-expect-no-session-id",
    "-no-ticket",
    "-use-ticket-callback",
    "-skip-ticket",
    "-expect-ticket-renewal",
    "-expect-ticket-supports-early-data",
    "-enable-early-data",
    "-expect-accept-early-data",
    "-expect-reject-early-data",
    "-expect-no-offer-early-data",
    // Encrypted ClientHello, as a client.
    "-ech-config-list",
    "-enable-ech-grease",
    "-expect-ech-accept",
    "-expect-ech-retry-configs",
    "-expect-no-ech-retry-configs",
    "-expect-ech-name-override",
    "-expect-no-ech-name-override",
    // Data and its end.
    "-shim-writes-first",
    "-shim-initial-write",
    "-repeat-shim-initial-write",
    "-read-size",
    "-write-different-record-sizes",
    "-read-with-unfinished-write",
    "-peek-then-read",
    "-max-send-fragment",
    "-shim-shuts-down",
    "-check-close-notify",
    "-key-update",
    "-key-update-before-read",
    "-export-keying-material",
    "-export-label",
    "-export-context",
    "-use-export-context",
    "-export-traffic-secrets",
    "-handshake-never-done",
    // QUIC.
    "-quic-transport-params",
    "-expect-quic-transport-params",
    "-quic-use-legacy-codepoint",
    "-quic-early-data-context",
];

/// Runs the shim.
pub fn main() -> ExitCode {
    crate::run(SUPPORTED, connections)
}

fn connections(sets: &OptionSets) -> Result<(), Failure> {
    let mut configs = Configs::new(sets)?;
    for connection in 0..=sets.initial.number("-resume-count").unwrap_or(0) {
        let resume = connection > 0;
        let options = if resume { &sets.resume } else { &sets.initial };
        if resume && !options.on("-server") && !configs.has_session() {
            return Err(Failure::failed("No session to offer."));
        }
        let expect = Expect {
            options,
            resume,
            seen: configs.begin(),
        };
        let made = configs.connection(options)?;
        let socket = Socket::connect(options)?;
        if options.on("-quic") {
            let mut endpoint = Quic::new(made, socket, expect)?;
            match exchange(&mut endpoint, options) {
                Err(Failure::EarlyDataRejected) => {
                    endpoint.retry(&sets.retry);
                    exchange(&mut endpoint, &sets.retry)?;
                }
                other => other?,
            }
        } else {
            let mut endpoint = Tls::new(made, socket, expect)?;
            match exchange(&mut endpoint, options) {
                Err(Failure::EarlyDataRejected) => {
                    endpoint.retry(&sets.retry);
                    exchange(&mut endpoint, &sets.retry)?;
                }
                other => other?,
            }
        }
        let delay_s = options.number("-resumption-delay").unwrap_or(0);
        configs.pass_time(u64::try_from(delay_s).unwrap_or(0));
    }
    Ok(())
}
