use std::sync::LazyLock;

use netbench_model::coverage::{HANDSHAKE, Protocol};
use regex::RegexSet;

/// A row of the matrix: a feature that a user of a stack may need.
#[derive(Debug, Clone, Copy)]
pub struct Topic {
    /// The feature's name for users.
    pub name: &'static str,
    /// A regular expression over the names of the feature's tests.
    pub about: &'static str,
    /// A regular expression over the names of its core tests: none of them passes where the feature is
    /// absent.
    pub core: &'static str,
    /// Flags of the shim that require the feature, or show it. Where a shim does not support such a flag, the
    /// feature is absent; where it does not support another flag, the test proves nothing about the feature.
    pub flags: &'static [&'static str],
    /// The versions that define the feature. Over another version, a test checks that the feature is not
    /// used.
    pub versions: Versions,
}

/// The versions of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    /// All versions that have tests.
    All,
    /// TLS 1.3, DTLS 1.3 and QUIC.
    From13,
}

impl Versions {
    /// Returns whether these versions include that of a protocol.
    pub fn has(self, protocol: Protocol) -> bool {
        match self {
            Self::All => true,
            Self::From13 => {
                matches!(
                    protocol,
                    Protocol::Tls13 | Protocol::Dtls13 | Protocol::Quic
                )
            }
        }
    }
}

impl Topic {
    const fn since_tls13(self) -> Self {
        Self {
            versions: Versions::From13,
            ..self
        }
    }
}

const fn topic(
    name: &'static str,
    about: &'static str,
    core: &'static str,
    flags: &'static [&'static str],
) -> Topic {
    Topic {
        name,
        about,
        core,
        flags,
        versions: Versions::All,
    }
}

/// All rows, in the matrix' order. The first is the protocol itself, without which no feature is supported.
pub const TOPICS: &[Topic] = &[
    topic(
        HANDSHAKE,
        "^VersionNegotiation(Extension)?-",
        "^VersionNegotiation-",
        &[],
    ),
    topic(
        "Resumption",
        "^Resume-(Client|Server)-TLS1|^TicketSessionIDLength|^CorruptTicket",
        "^Resume-(Client|Server)-TLS1",
        &["-resume-count"],
    ),
    topic(
        "0-RTT (early data)",
        "^EarlyData-(Client|Server|Reject|FirstTicket|OmitEarly|HRR|ALPN|ServerNoOffer)|^TLS13-EarlyData-|^SkipEarlyData-(OK|HRR|TLS|DTLS|QUIC)?",
        "^EarlyData-(Client|Server)-TLS13|^EarlyData-(Client|Server)-(QUIC|DTLS)|^EarlyData-.*(Client|Server)-TLS13$",
        &["-enable-early-data"],
    ),
    topic(
        "Session ticket callbacks",
        "^TicketCallback-.*TLS1[123]?$",
        "^TicketCallback-.*TLS1[123]?$",
        &["-use-ticket-callback", "-use-ticket-aead-callback"],
    ),
    topic(
        "Extended master secret",
        "^ExtendedMasterSecret-(TLS1[12]?-|YesToYes)",
        "^ExtendedMasterSecret-(TLS1[12]?-|YesToYes)",
        &["-expect-extended-master-secret"],
    ),
    topic(
        "Renegotiation",
        "^Renegotiate-Client-(TLS|DTLS|Switch|Upgrade|Unfinished|Packed)|^Renegotiate-Client$|^Renegotiation-(Certificate|Change)",
        "^Renegotiate-Client(-TLS|-DTLS|$)",
        &[
            "-renegotiate-freely",
            "-renegotiate-once",
            "-renegotiate-explicit",
        ],
    ),
    topic(
        "Key update",
        "^KeyUpdate-",
        "^KeyUpdate-(To|From|Requested)",
        &["-key-update"],
    ),
    topic(
        "HelloRetryRequest",
        "HelloRetryRequest-(Client|Server)-(TLS|DTLS|QUIC)|^SendHelloRetryRequest(-2)?-TLS13$",
        "^TLS13-HelloRetryRequest-(Client|Server)-|^SendHelloRetryRequest-TLS13$",
        &["-expect-hrr"],
    ),
    topic(
        "False Start",
        "^FalseStart-(TLS|DTLS|ALPN|SessionTickets)",
        "^FalseStart-(TLS|DTLS)",
        &["-false-start"],
    ),
    topic(
        "ALPN",
        "^ALPN(Client|Server)-(TLS|DTLS|QUIC|Decline|Reject)",
        "^ALPN(Client|Server)-(TLS|DTLS|QUIC)-",
        &["-advertise-alpn", "-select-alpn"],
    ),
    topic(
        "NPN",
        "^NPN-(Client|Server)",
        "^NPN-(Client|Server)-(TLS|DTLS)",
        &["-advertise-npn", "-select-next-proto", "-expect-next-proto"],
    ),
    topic(
        "ALPS",
        "^ALPS-(Basic|Empty|Decline)",
        "^ALPS-Basic",
        &["-application-settings"],
    )
    .since_tls13(),
    topic(
        "Server name (SNI)",
        "^ServerNameExtension(Client|Server)-(TLS|DTLS|QUIC|NoACK)|^TolerateServerNameAck",
        "^ServerNameExtension(Client|Server)-(TLS|DTLS|QUIC)",
        &["-host-name", "-expect-server-name"],
    ),
    topic(
        "OCSP stapling",
        "^OCSPStapling-",
        "^OCSPStapling-",
        &["-enable-ocsp-stapling", "-ocsp-response"],
    ),
    topic(
        "Certificate transparency (SCT)",
        "^SignedCertificateTimestampList-",
        "^SignedCertificateTimestampList-",
        &[
            "-signed-cert-timestamps",
            "-enable-signed-cert-timestamps",
            "-expect-signed-cert-timestamps",
        ],
    ),
    topic(
        "Client certificates",
        "^ClientAuth-|-(Client|Server)-ClientAuth-",
        "-(Client|Server)-ClientAuth-(RSA|ECDSA)|^ClientAuth-(Server|RSA-Client|ECDSA-Client)-TLS1",
        &["-require-any-client-certificate"],
    ),
    topic(
        "Names of authorities",
        "-CA-List",
        "-CA-List",
        &["-use-client-ca-list", "-expect-client-ca-list"],
    ),
    topic(
        "Choice of certificates",
        "^CertificateSelection-",
        "^CertificateSelection-.*-(Issuer|SignatureAlgorithm|CipherSuite)",
        &[],
    ),
    topic(
        "Certificate compression",
        "^CertCompression(Shrinks|Expands|Random|Priority)",
        "^CertCompression(Shrinks|Expands)",
        &[
            "-install-cert-compression-algs",
            "-install-one-cert-compression-alg",
        ],
    ),
    topic(
        "Raw public keys",
        "^(Client|Server)CertificateType-",
        "^(Client|Server)CertificateType-.*RPK",
        &[
            "-new-rpk-credential",
            "-accepted-peer-cert-types",
            "-available-client-cert-types",
        ],
    ),
    topic(
        "Delegated credentials",
        "^DelegatedCredentials-",
        "^DelegatedCredentials-Basic",
        &["-new-delegated-credential"],
    )
    .since_tls13(),
    topic(
        "Encrypted ClientHello",
        "^(TLS|DTLS|QUIC)-ECH-(Client|Server)",
        "^(TLS|DTLS|QUIC)-ECH-(Client|Server)$",
        &[
            "-ech-config-list",
            "-ech-server-config",
            "-enable-ech-grease",
        ],
    )
    .since_tls13(),
    topic(
        "Groups: P-256, P-384, X25519",
        "^CurveTest-(Client|Server)-(P-256|P-384|X25519)-",
        "^CurveTest-(Client|Server)-(P-256|X25519)-",
        &[],
    ),
    topic(
        "Groups: P-521",
        "^CurveTest-(Client|Server)-P-521-",
        "^CurveTest-(Client|Server)-P-521-",
        &[],
    ),
    topic(
        "Groups: ML-KEM",
        "^CurveTest-.*MLKEM",
        "^CurveTest-.*MLKEM",
        &[],
    ),
    topic(
        "AES-GCM",
        "-(ECDHE_(RSA|ECDSA)_WITH_)?AES_(128|256)_GCM_SHA\\d+-(client|server|LargeRecord)$",
        "_GCM_SHA\\d+-(client|server|LargeRecord)$",
        &[],
    ),
    topic(
        "ChaCha20-Poly1305",
        "-(ECDHE_(RSA|ECDSA)_WITH_)?CHACHA20_POLY1305_SHA256-(client|server|LargeRecord)$",
        "CHACHA20_POLY1305_SHA256-(client|server|LargeRecord)$",
        &[],
    ),
    topic(
        "AES-CBC",
        "-(ECDHE_)?(RSA|ECDSA)_WITH_AES_(128|256)_CBC_SHA(256|384)?-(client|server)$",
        "_CBC_SHA(256|384)?-(client|server)$",
        &[],
    ),
    topic(
        "3DES",
        "_3DES_EDE_CBC_SHA-(client|server)$",
        "_3DES_EDE_CBC_SHA-(client|server)$",
        &[],
    ),
    topic(
        "RSA key exchange",
        // 3DES has a separate row.
        "-TLS1\\d?-RSA_WITH_AES_.*-(client|server)$",
        "-TLS1\\d?-RSA_WITH_AES_.*-(client|server)$",
        &[],
    ),
    topic(
        "PSK suites",
        "PSK_WITH_.*-(client|server)$",
        "PSK_WITH_.*-(client|server)$",
        &["-psk"],
    ),
    topic(
        "External PSK",
        "^PSK-(Client|Server)-",
        "^PSK-(Client|Server)-SHA256-SHA256",
        &["-new-psk-credential"],
    )
    .since_tls13(),
    topic(
        "RSA-PSS signatures",
        "^(Client|Server)-(Sign|Verify)-RSA_PSS_",
        "^(Client|Server)-(Sign|Verify)-RSA_PSS_",
        &[],
    ),
    topic(
        "Ed25519 signatures",
        "^(Client|Server)-(Sign|Verify)-Ed25519",
        "^(Client|Server)-(Sign|Verify)-Ed25519",
        &[],
    ),
    topic(
        "ML-DSA signatures",
        "^(Client|Server)-(Sign|Verify)-ML-DSA",
        "^(Client|Server)-(Sign|Verify)-ML-DSA",
        &[],
    ),
    topic(
        "SHA-1 signatures",
        "^(Client|Server)-(Sign|Verify)-(RSA_PKCS1|ECDSA)_SHA1(-|$)",
        "^(Client|Server)-(Sign|Verify)-(RSA_PKCS1|ECDSA)_SHA1(-|$)",
        &[],
    ),
    topic(
        "Exported keys",
        "^ExportKeyingMaterial-(TLS|DTLS|QUIC|Small|NoContext|EmptyContext)",
        "^ExportKeyingMaterial-(TLS|DTLS|QUIC)",
        &["-export-keying-material"],
    ),
    topic(
        "Downgrade signal (SCSV)",
        "^SendFallbackSCSV",
        "^SendFallbackSCSV",
        &["-fallback-scsv"],
    ),
    topic(
        "close_notify",
        "^Shutdown-(Shim|Runner)-(TLS|DTLS)",
        "^Shutdown-(Shim|Runner)-(TLS|DTLS)",
        &["-check-close-notify"],
    ),
    topic(
        "Retransmission",
        "^DTLS-Retransmit-(Client|Server)-Basic|^DTLS-Retransmit-Timeout|^DTLS-Replay-TLS",
        "^DTLS-Retransmit-(Client|Server)-Basic",
        &["-initial-timeout-duration-ms"],
    ),
    topic(
        "SRTP",
        "^SRTP-(Client|Server).*DTLS",
        "^SRTP-(Client|Server)-DTLS",
        &["-srtp-profiles"],
    ),
    topic(
        "Channel ID",
        "^ChannelID-(Client|Server)",
        "^ChannelID-(Client|Server)",
        &[
            "-enable-channel-id",
            "-send-channel-id",
            "-expect-channel-id",
        ],
    ),
    topic("GREASE", "^GREASE-", "^GREASE-", &["-enable-grease"]),
];

/// The classification of tests by row and core.
pub(crate) struct Topics {
    about: RegexSet,
    core: RegexSet,
}

static COMPILED: LazyLock<Topics> = LazyLock::new(|| {
    // The table is fixed, and a test compiles all of it.
    let set = |of: fn(&Topic) -> &'static str| {
        RegexSet::new(TOPICS.iter().map(of)).unwrap_or_else(|_| RegexSet::empty())
    };
    Topics {
        about: set(|topic| topic.about),
        core: set(|topic| topic.core),
    }
});

impl Topics {
    pub(crate) fn all() -> &'static Self {
        &COMPILED
    }

    /// Returns the rows of a test, by their index in [`TOPICS`].
    pub(crate) fn of(&self, test: &str) -> Vec<usize> {
        self.about.matches(test).into_iter().collect()
    }

    /// Returns whether a test belongs to the core of a row.
    pub(crate) fn is_core(&self, test: &str, row: usize) -> bool {
        self.core.matches(test).matched(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_compiles() {
        assert_eq!(Topics::all().about.len(), TOPICS.len());
        assert_eq!(Topics::all().core.len(), TOPICS.len());
    }
}
