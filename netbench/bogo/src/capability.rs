//! Descriptions for users of the flags that a shim does not support.

/// The prefix of a shim's message that it does not implement a test.
const UNSUPPORTED: &str = "unsupported: ";

/// A shim's response to a flag of the runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    /// The library's interface cannot express the flag.
    Refused(&'a str),
    /// The flag can be expressed, and had no effect in this test.
    Unread(&'a str),
}

impl<'a> Said<'a> {
    /// Parses a shim's message. Returns `None` if it names no flag.
    pub(crate) fn of(said: &'a str) -> Option<Self> {
        let flag = said.strip_prefix(UNSUPPORTED)?.strip_prefix("flag ")?;
        let (flag, rest) = flag.split_at(flag.find([',', ' ']).unwrap_or(flag.len()));
        Some(if rest == ", which nothing read" {
            Self::Unread(flag)
        } else {
            Self::Refused(flag)
        })
    }

    /// Returns the sentence for users.
    pub(crate) fn in_words(self) -> String {
        match self {
            Self::Refused(flag) => format!("{UNSUPPORTED}{}", capability(flag)),
            Self::Unread(flag) => format!("{UNSUPPORTED}{}, without effect here", capability(flag)),
        }
    }
}

/// Converts the message of a shim that does not implement a test: the missing capability replaces a flag.
pub(crate) fn in_words(said: String) -> String {
    Said::of(&said).map_or(said.clone(), Said::in_words)
}

/// Returns whether a shim's message is that the library does not report a property of a connection.
pub(crate) fn is_unreported(said: &str) -> bool {
    let said = said.strip_prefix(UNSUPPORTED);
    said.is_some_and(|said| said.starts_with("the library does not tell "))
}

/// Returns the capability that a flag requires.
pub(crate) fn capability(flag: &str) -> &'static str {
    let found = CAPABILITIES.iter().find(|(_, flags)| flags.contains(&flag));
    found.map_or("a setting of BoringSSL's interface", |(name, _)| name)
}

const CAPABILITIES: &[(&str, &[&str])] = &[
    (
        "a choice of certificate types (raw public keys)",
        &[
            "-accepted-peer-cert-types",
            "-available-client-cert-types",
            "-expect-peer-certificate-type",
        ],
    ),
    (
        "raw public keys",
        &["-new-rpk-credential", "-expect-peer-rpk-sha256"],
    ),
    (
        "ALPN",
        &[
            "-advertise-alpn",
            "-select-alpn",
            "-expect-alpn",
            "-expect-advertised-alpn",
        ],
    ),
    (
        "an empty protocol in an answer to ALPN",
        &["-select-empty-alpn"],
    ),
    (
        "a selected protocol that was not offered",
        &["-allow-unknown-alpn-protos"],
    ),
    (
        "NPN",
        &[
            "-advertise-npn",
            "-advertise-empty-npn",
            "-select-next-proto",
            "-select-empty-next-proto",
            "-expect-next-proto",
            "-expect-no-next-proto",
        ],
    ),
    (
        "hints for split handshakes",
        &["-allow-hint-mismatch", "-handshake-hints"],
    ),
    (
        "ALPS",
        &[
            "-application-settings",
            "-alps-use-new-codepoint",
            "-defer-alps",
        ],
    ),
    (
        "asynchronous callbacks",
        &["-async", "-private-key-delay-ms"],
    ),
    (
        "trust anchor identifiers",
        &[
            "-available-trust-anchors",
            "-requested-trust-anchors",
            "-cert-properties",
        ],
    ),
    ("1/n-1 record splitting", &["-cbc-record-splitting"]),
    (
        "a view of the peer's close_notify",
        &["-check-close-notify"],
    ),
    ("a list of cipher suites", &["-cipher", "-on-shim-cipher"]),
    (
        "a choice of TLS 1.3's cipher suites",
        &["-tls13-ciphers", "-tls13-ciphers-flags"],
    ),
    (
        "compliance policies",
        &[
            "-cnsa-202407",
            "-cnsa1-202603",
            "-cnsa2-202603",
            "-fips-202205",
            "-fips-202609",
            "-wpa-202304",
        ],
    ),
    (
        "a choice of groups",
        &["-curves-flags", "-on-shim-curves", "-curves"],
    ),
    ("a choice of key shares", &["-key-shares", "-no-key-shares"]),
    (
        "a hint of a server's groups",
        &["-server-supported-groups-hint"],
    ),
    ("DTLS", &["-dtls", "-mtu", "-initial-timeout-duration-ms"]),
    (
        "early data written between handshake messages",
        &["-early-write-after-message"],
    ),
    (
        "ECH as a client",
        &["-ech-config-list", "-reject-unusable-ech-config"],
    ),
    (
        "ECH as a server",
        &["-ech-server-config", "-fail-early-callback-ech-rewind"],
    ),
    ("ECH GREASE", &["-enable-ech-grease"]),
    (
        "the state and the retry configurations of ECH",
        &[
            "-expect-ech-accept",
            "-expect-ech-retry-configs",
            "-expect-no-ech-retry-configs",
        ],
    ),
    (
        "Channel ID",
        &[
            "-enable-channel-id",
            "-send-channel-id",
            "-expect-channel-id",
        ],
    ),
    (
        "0-RTT (early data)",
        &[
            "-enable-early-data",
            "-expect-accept-early-data",
            "-expect-reject-early-data",
            "-expect-no-offer-early-data",
            "-expect-ticket-supports-early-data",
        ],
    ),
    (
        "BoringSSL's reasons for refused early data",
        &["-expect-early-data-reason"],
    ),
    ("GREASE", &["-enable-grease"]),
    (
        "OCSP stapling",
        &[
            "-enable-ocsp-stapling",
            "-ocsp-response",
            "-expect-ocsp-response",
        ],
    ),
    (
        "a callback for stapled responses",
        &[
            "-use-ocsp-callback",
            "-fail-ocsp-callback",
            "-decline-ocsp-callback",
            "-set-ocsp-in-callback",
        ],
    ),
    (
        "lists of signed certificate timestamps",
        &[
            "-enable-signed-cert-timestamps",
            "-signed-cert-timestamps",
            "-expect-signed-cert-timestamps",
        ],
    ),
    (
        "a view of the certificate types that a server asks for",
        &["-expect-certificate-types"],
    ),
    (
        "a view of the cipher suite",
        &[
            "-expect-cipher",
            "-expect-cipher-aes",
            "-expect-cipher-no-aes",
        ],
    ),
    (
        "names of certification authorities",
        &["-expect-client-ca-list", "-use-client-ca-list"],
    ),
    ("a view of the group", &["-expect-curve-id"]),
    (
        "a view of the extended master secret",
        &["-expect-extended-master-secret"],
    ),
    ("a view of handshake messages", &["-expect-msg-callback"]),
    (
        "a view of the peer's certificate",
        &["-expect-no-peer-cert", "-expect-peer-cert-file"],
    ),
    (
        "a view of stored sessions",
        &[
            "-expect-no-session",
            "-expect-no-session-id",
            "-expect-session-id",
        ],
    ),
    ("a view of renewed tickets", &["-expect-ticket-renewal"]),
    (
        "resumption across names",
        &[
            "-expect-not-resumable-across-names",
            "-expect-resumable-across-names",
            "-resumption-across-names-enabled",
        ],
    ),
    (
        "a view of the preferred signature schemes",
        &["-expect-peer-verify-pref"],
    ),
    (
        "secure renegotiation (RFC 5746)",
        &[
            "-expect-secure-renegotiation",
            "-expect-no-secure-renegotiation",
        ],
    ),
    (
        "a choice among several certificates",
        &[
            "-expect-selected-credential",
            "-new-x509-credential",
            "-must-match-issuer",
        ],
    ),
    (
        "a view of the result of a verification",
        &["-expect-verify-result"],
    ),
    (
        "a verification that fails without an end of the handshake",
        &["-verify-fail"],
    ),
    (
        "exported keying material",
        &["-export-keying-material", "-use-exporter-between-reads"],
    ),
    ("exported traffic secrets", &["-export-traffic-secrets"]),
    (
        "a certificate callback that fails",
        &["-fail-cert-callback", "-fail-cert-callback-alert"],
    ),
    (
        "a callback with the ClientHello",
        &["-fail-early-callback", "-use-early-callback"],
    ),
    ("a downgrade signal (SCSV)", &["-fallback-scsv"]),
    ("False Start", &["-false-start"]),
    (
        "renegotiation",
        &[
            "-renegotiate-freely",
            "-renegotiate-once",
            "-renegotiate-explicit",
            "-renegotiate-ignore",
            "-forbid-renegotiation-after-handshake",
        ],
    ),
    (
        "a second handshake on a connection",
        &["-handshake-twice", "-no-op-extra-handshake"],
    ),
    (
        "a handshake that the first write begins",
        &["-implicit-handshake"],
    ),
    (
        "certificate compression",
        &[
            "-install-cert-compression-algs",
            "-install-one-cert-compression-alg",
        ],
    ),
    (
        "a callback before a server answers",
        &["-install-ddos-callback"],
    ),
    ("a workaround for Java 11", &["-jdk11-workaround"]),
    (
        "key updates that the application starts",
        &["-key-update", "-key-update-before-read"],
    ),
    ("a limit of the size of a chain", &["-max-cert-list"]),
    ("a limit of the size of records", &["-max-send-fragment"]),
    ("delegated credentials", &["-new-delegated-credential"]),
    (
        "imported pre-shared keys (RFC 9258)",
        &["-new-psk-credential"],
    ),
    ("pre-shared keys in TLS 1.2", &["-psk", "-psk-identity"]),
    (
        "passwords (SPAKE2+)",
        &["-new-spake2plusv1-credential", "-wrong-pake-role"],
    ),
    (
        "a refusal of peers without RFC 5746",
        &["-no-legacy-server-connect"],
    ),
    (
        "a server that does not acknowledge a name",
        &["-no-server-name-ack"],
    ),
    (
        "session tickets that can be turned off",
        &["-no-ticket", "-skip-ticket"],
    ),
    ("TLS 1.0 and 1.1", &["-no-tls1", "-no-tls11"]),
    ("reads that leave data in place", &["-peek-then-read"]),
    ("a random order of extensions", &["-permute-extensions"]),
    (
        "QUIC",
        &[
            "-quic",
            "-quic-transport-params",
            "-expect-quic-transport-params",
        ],
    ),
    (
        "transport parameters of QUIC's drafts",
        &["-quic-use-legacy-codepoint"],
    ),
    (
        "reads while a write is unfinished",
        &["-read-with-unfinished-write"],
    ),
    ("tickets that a server renews", &["-renew-ticket"]),
    (
        "padding of a server's messages",
        &["-request-server-padding", "-server-supports-padding"],
    ),
    ("a clock of the application's", &["-resumption-delay"]),
    (
        "hashes of certificates in place of chains",
        &["-retain-only-sha256-client-cert"],
    ),
    (
        "a second verification on resumption",
        &["-reverify-on-resume"],
    ),
    ("alerts that the application sends", &["-send-alert"]),
    (
        "the order of the server's preferences",
        &["-server-preference"],
    ),
    ("contexts of session IDs", &["-session-id-context"]),
    (
        "a choice of data",
        &["-shim-initial-write", "-shim-shuts-down"],
    ),
    ("SRTP", &["-srtp-profiles"]),
    ("ticket keys of the application's", &["-ticket-key"]),
    (
        "callbacks for tickets",
        &["-use-ticket-aead-callback", "-use-ticket-callback"],
    ),
    ("channel bindings (tls-unique)", &["-tls-unique"]),
    ("trust without roots", &["-trust-cert"]),
    (
        "a verifier of the application's",
        &["-use-custom-verify-callback"],
    ),
    (
        "a callback for client certificates",
        &["-use-old-client-cert-callback"],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_becomes_the_capability_that_it_asks_for() {
        let cases = [
            (
                "unsupported: flag -psk",
                "unsupported: pre-shared keys in TLS 1.2",
            ),
            (
                "unsupported: flag -async, which nothing read",
                "unsupported: asynchronous callbacks, without effect here",
            ),
            (
                "unsupported: flag -cipher, with a list",
                "unsupported: a list of cipher suites",
            ),
            (
                "unsupported: flag -of-tomorrow",
                "unsupported: a setting of BoringSSL's interface",
            ),
            ("unsupported: DTLS 1.3", "unsupported: DTLS 1.3"),
            ("bad signature", "bad signature"),
        ];
        for (said, words) in cases {
            assert_eq!(in_words(said.to_owned()), words);
        }
        assert_eq!(
            Said::of("unsupported: flag -psk"),
            Some(Said::Refused("-psk"))
        );
        let unread = "unsupported: flag -psk, which nothing read";
        assert_eq!(Said::of(unread), Some(Said::Unread("-psk")));
    }

    #[test]
    fn no_flag_has_two_names() {
        let flags = CAPABILITIES.iter().flat_map(|(_, flags)| *flags);
        let mut seen = std::collections::BTreeSet::new();
        for flag in flags {
            assert!(seen.insert(flag), "{flag}");
        }
    }
}
