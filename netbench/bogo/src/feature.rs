use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// A row of the coverage table: the tests of one feature.
#[derive(Debug, Clone, Copy)]
pub struct Feature {
    /// The feature's name for users.
    pub name: &'static str,
    /// A regular expression over the names of tests.
    pub has: &'static str,
    /// A regular expression over names that match `has` but belong to other features; empty for none.
    pub has_not: &'static str,
}

const fn feature(name: &'static str, has: &'static str) -> Feature {
    Feature {
        name,
        has,
        has_not: "",
    }
}

const fn but(name: &'static str, has: &'static str, has_not: &'static str) -> Feature {
    Feature { name, has, has_not }
}

/// All rows, in the table's order. A test may belong to several; the difference view assigns it to the first
/// that is not one of the wide ones (versions and transports).
pub const FEATURES: &[Feature] = &[
    // The wide rows are versions and transports.
    feature("TLS 1.3", "(^|-)TLS13(-|$)"),
    but("TLS 1.2", "(^|-)TLS12(-|$)", "^DTLS-"),
    feature("TLS 1.0 and 1.1", "(^|-)TLS11?(-|$)"),
    feature("DTLS", "DTLS"),
    feature("QUIC", "QUIC"),
    // The other rows are features.
    feature("Encrypted ClientHello", "ECH-|(^|-)ECH(-|$)"),
    feature(
        "Post-quantum groups (ML-KEM)",
        "MLKEM|PostQuantum|MultiplePQ",
    ),
    feature("ML-DSA signatures", "ML-DSA"),
    feature(
        "0-RTT (early data)",
        "EarlyData|0RTT|0-RTT|EarlyKeyingMaterial",
    ),
    feature(
        "Session resumption and tickets",
        "Resum|Ticket|SessionID|SessionId|PSKIdentity|PSKBinder",
    ),
    feature("Extended master secret", "ExtendedMasterSecret|EMS"),
    but("Renegotiation", "Renego|HelloRequest", "HelloRetry"),
    feature("Key update", "KeyUpdate"),
    feature(
        "HelloRetryRequest and key shares",
        "HelloRetryRequest|HRR|KeyShare",
    ),
    feature("ALPN", "ALPN"),
    feature("ALPS", "ALPS|ClientEncryptedExtension"),
    feature("Server name (SNI)", "ServerName|SNI|NoClientHelloName"),
    feature("OCSP stapling", "OCSP|StatusRequest"),
    feature("Certificate transparency", "SignedCertificateTimestamp|SCT"),
    feature("Certificate compression", "CertCompression"),
    feature(
        "Raw public keys",
        "RawPublicKey|RPK|(Client|Server)CertificateType-",
    ),
    feature("Delegated credentials", "DelegatedCredential"),
    feature("Trust anchor identifiers", "TrustAnchor"),
    but(
        "Client authentication",
        "ClientAuth|ClientCertificate|NoClientCert|SkipClientCert|RequireAnyClient|RetainOnlySHA256|CheckClientCertificateTypes|ServerSkipCertificateVerify",
        "ClientCertificateType-",
    ),
    feature(
        "Certificate authorities",
        "CA-List|CertificateAuthorities|ClientCAList",
    ),
    feature(
        "Certificate verification",
        "CertificateVerif|ReverifyFails|^Reverify|GarbageCertificate",
    ),
    feature(
        "Certificate selection",
        "^CertificateSelection|CredentialSessionIDContext|CertCallback",
    ),
    feature("Key usage", "KeyUsage"),
    feature("Downgrade protection", "^Downgrade|FallbackSCSV|JDK11"),
    feature(
        "Version negotiation",
        "^(VersionNegotiation|MinimumVersion|NoSupportedVersions|VersionTo|MajorVersion|MinorVersion|ConflictingVersion|VersionTooLow|ClientHelloVersionTooHigh|IgnoreClientVersionOrder|SupportedVersionSelection|NoSSL3|ServerBogusVersion|SendClientVersion|IgnoreLegacyVersion)|^Resume-.*-Mismatch-",
    ),
    feature(
        "RSA key exchange",
        "(^|-)RSA_WITH_|BadRSAClientKeyExchange|^RSAEphemeralKey|SendClientVersion-RSA|-Server-RSA-",
    ),
    feature(
        "PSK cipher suites (TLS 1.2)",
        "PSK_WITH|PSKHint|(^|-)PSK-(Client|Server)|^EmptyPSKHint|^OmitExtensions-.*PSK",
    ),
    feature("External PSK (TLS 1.3)", "^PSK-|NegotiatePSK"),
    feature(
        "AES-CBC and 3DES",
        "_CBC_|CBCPadding|CBCRecordSplitting|3DES",
    ),
    feature("AES-GCM", "_GCM_|(^|-)AES_"),
    feature("ChaCha20-Poly1305", "CHACHA20|ChaCha"),
    but(
        "Cipher suites, the rest",
        "Cipher|UnauthenticatedECDH",
        "CipherMismatch-(RSA|ECDSA|Ed)",
    ),
    but(
        "Groups",
        "^Curve|CurveTest|SupportedCurves|UnknownCurve|UnsupportedCurve|BadECDHECurve|PointFormat|NoCommonCurves|DisabledCurve|CheckLeafCurve|CheckECDSACurve|InvalidECDHPoint|SupportedGroups",
        "MLKEM",
    ),
    feature("SHA-1 signatures", "_SHA1(-|$)"),
    feature("Ed25519", "Ed25519"),
    feature("RSA-PSS", "PSS"),
    but(
        "Signatures, the rest",
        "^(Client|Server)-(Sign|Verify|InvalidSignature|TLS1\\d?-NoSign)|^(Verify-|ServerAuth-|VerifyPreferences|NoCommonAlgorithms|NoCommonSignature|Agree-Digest|RejectPSS|BadECDSA|FilterExtraAlg|ECDSACurveMismatch|SigningHash)|SignatureAlgorithms",
        "ML-DSA",
    ),
    feature(
        "Exporters and channel bindings",
        "ExportKeying|ExportTrafficSecrets|TLSUnique",
    ),
    feature("Shutdown and close_notify", "^Shutdown|Unclean-Shutdown"),
    feature(
        "Record layer and alerts",
        "Alert|EmptyRecords|LargeRecord|BadRecord|RecordVersion|Padding|LargePlaintext|LargeCiphertext|MaxSendFragment|SendInvalidRecord|Garbage|^Http|AppData|ChangeCipherSpec|WrongOuterRecord|RecordSize|LargeMessage",
    ),
    feature(
        "Handshake messages",
        "WrongMessageType|TrailingMessageData|TrailingData|ExtraHandshake|Partial|Fragment|Packed|^Skip|BadFinished|Duplicate|Unsolicited|Unoffered|Omit|EmptyExtensions|UnknownExtension|MessageInter|UnexpectedMessage|V2ClientHello|Compression(Methods?)?(-|$)|NullCompression|InvalidCompressionMethod",
    ),
    feature(
        "DTLS: loss, order, fragments",
        "DTLS-(Retransmit|Replay|Reorder)|^DTLS.*(Retransmit|Replay|Reorder|Fragment|MTU|ACK)|^MTU|Reorder|SplitFragments|MixComplete|FragmentMessage|HelloVerify|IgnoreBadPackets|^DTLS13|^DTLS12",
    ),
    feature("SRTP", "SRTP"),
    feature("NPN", "NPN"),
    feature("False start", "FalseStart"),
    feature("Channel ID", "ChannelID"),
    feature("Password-authenticated key exchange", "PAKE"),
    feature("GREASE and permuted extensions", "^GREASE|Permute"),
    feature("Compliance policies", "^Compliance"),
    feature(
        "Basic handshakes",
        "^Basic-|1RTT|EarlyCallback|^Sync|^Async|Peek|^ServerNegotiates",
    ),
    feature("Server padding", "ServerPadding|RequestServerPadding"),
];

/// Number of wide rows, which come first.
const WIDE: usize = 5;

/// The row of tests that belong to no other row.
pub(crate) const OTHER: &str = "Everything else";

/// The classification of tests by feature.
#[derive(Debug)]
pub struct Features {
    has: RegexSet,
    has_not: Vec<Option<Regex>>,
}

static COMPILED: LazyLock<Features> = LazyLock::new(|| Features {
    // The table is fixed, and a test compiles all of it.
    has: RegexSet::new(FEATURES.iter().map(|feature| feature.has))
        .unwrap_or_else(|_| RegexSet::empty()),
    has_not: FEATURES
        .iter()
        .map(|feature| {
            Regex::new(feature.has_not)
                .ok()
                .filter(|_| !feature.has_not.is_empty())
        })
        .collect(),
});

impl Features {
    /// Returns the classification by all rows.
    pub fn all() -> &'static Self {
        &COMPILED
    }

    /// Returns the rows that a test belongs to, by their index in [`FEATURES`].
    pub fn of(&self, test: &str) -> Vec<usize> {
        let excluded = |row: &usize| {
            self.has_not[*row]
                .as_ref()
                .is_some_and(|regex| regex.is_match(test))
        };
        self.has
            .matches(test)
            .into_iter()
            .filter(|row| !excluded(row))
            .collect()
    }

    /// Returns whether a test belongs to the row `feature`.
    pub fn is_about(&self, test: &str, feature: &str) -> bool {
        let rows = self.of(test);
        if rows.is_empty() {
            return feature == OTHER;
        }
        rows.iter().any(|row| FEATURES[*row].name == feature)
    }

    /// Returns the only feature of a test where it may have just one.
    pub fn first_of(&self, test: &str) -> &'static str {
        let rows = self.of(test);
        let narrow = rows.iter().find(|row| **row >= WIDE).or(rows.first());
        narrow.map_or(OTHER, |row| FEATURES[*row].name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_compiles() {
        for feature in FEATURES {
            Regex::new(feature.has).unwrap();
            Regex::new(feature.has_not).unwrap();
        }
        assert_eq!(Features::all().has.len(), FEATURES.len());
    }

    #[test]
    fn tests_find_their_rows() {
        let cases = [
            ("TLS-ECH-Client-Reject-TLS12", "Encrypted ClientHello"),
            ("ALPNServer-Decline-QUIC-TLS13", "ALPN"),
            (
                "TLS13-HelloRetryRequest-Client-TLS-Sync",
                "HelloRetryRequest and key shares",
            ),
            ("Renegotiate-Client-Forbidden-1", "Renegotiation"),
            (
                "DTLS-Retransmit-Client-TLS12",
                "DTLS: loss, order, fragments",
            ),
            ("ClientAuth-NoFallback-RSA", "Client authentication"),
            (
                "ClientCertificateType-Server-RPKVerifyFail-TLS12",
                "Raw public keys",
            ),
            (
                "TLS-TLS12-ECDHE_RSA_WITH_AES_128_CBC_SHA-client",
                "AES-CBC and 3DES",
            ),
            ("Server-Sign-RSA_PKCS1_SHA1-TLS12", "SHA-1 signatures"),
            (
                "VersionNegotiation-Client-TLS1-TLS1-TLS",
                "Version negotiation",
            ),
            ("no such thing", OTHER),
        ];
        for (test, feature) in cases {
            assert_eq!(Features::all().first_of(test), feature, "{test}");
        }
    }
}
