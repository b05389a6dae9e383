use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CipherSuite, Group, TlsVersion, named::words};

/// What a site may have, and must: a policy that scans are held against. What a field leaves out is free.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// What reports call it.
    pub name: String,
    /// Where it is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The version of what is published there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The only versions of TLS that it may speak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<Vec<TlsVersion>>,
    /// Versions that it must speak.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs_versions: Vec<TlsVersion>,
    /// The only suites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suites: Option<Vec<CipherSuite>>,
    /// The only groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Group>>,
    /// The only keys of its certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<KeyRule>>,
    /// Whether its own order of suites must decide.
    #[serde(default)]
    pub server_order: bool,
    /// Whether its chain must be in order, be for its name, be valid, and end at a trust root.
    #[serde(default)]
    pub valid_chain: bool,
    /// Whether its certificate must be valid now, be for its name, and not be signed by itself.
    #[serde(default)]
    pub valid_certificate: bool,
    /// The only algorithms that its certificate may be signed with, such as `sha256WithRSAEncryption` and `ecdsa-with-SHA256`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_signatures: Option<Vec<String>>,
    /// The most days from the beginning of its certificate's validity to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_most_days: Option<u32>,
    /// The fewest bits of the prime of a key exchange over a finite field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dh_least_bits: Option<u32>,
    /// What it must do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<PolicyFeature>,
    /// What it may not do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbids: Vec<PolicyFeature>,
    /// The least `max-age` of `Strict-Transport-Security` (RFC 6797), in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hsts_least_seconds: Option<u64>,
}

/// A key that a certificate may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRule {
    /// `rsa`, `ec`, `ed25519` …
    pub kind: String,
    /// The fewest bits.
    #[serde(default)]
    pub least_bits: u32,
    /// The only curves, by their registered names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curves: Option<Vec<String>>,
}

words!(
    /// What a policy can need or forbid.
    PolicyFeature, {
        /// Compression of TLS (RFC 3749).
        Compression = "compression",
        /// Extended master secret (RFC 7627).
        ExtendedMasterSecret = "extended-master-secret",
        /// Protection from fallbacks that were not needed (RFC 7507).
        FallbackScsv = "fallback-scsv",
        /// Session tickets, in any version.
        SessionTickets = "session-tickets",
        /// Secure renegotiation (RFC 5746).
        SecureRenegotiation = "secure-renegotiation",
        /// Renegotiation by the client.
        ClientRenegotiation = "client-renegotiation",
        /// Heartbeat (RFC 6520).
        Heartbeat = "heartbeat",
        /// A stapled OCSP response (RFC 6066).
        OcspStapling = "ocsp-stapling",
        /// Early data (0-RTT).
        EarlyData = "early-data",
    }
);

words!(
    /// What of a policy a site breaks.
    PolicyRule, {
        /// It speaks a version that it may not.
        Version = "version",
        /// It does not speak a version that it must.
        MissingVersion = "missing-version",
        /// It accepts a suite that it may not.
        Suite = "suite",
        /// It accepts a group that it may not.
        Group = "group",
        /// Its own order of suites does not decide alone.
        Order = "order",
        /// The key of its certificate is of another kind or too short.
        Key = "key",
        /// Its certificate is expired, for other names, or signed by itself.
        Certificate = "certificate",
        /// Its certificate is signed with another algorithm.
        CertificateSignature = "certificate-signature",
        /// Its certificate is valid for too long.
        Lifetime = "lifetime",
        /// The prime of a key exchange is too short.
        Dh = "dh-size",
        /// It lacks what it must do, or does what it may not.
        Feature = "feature",
        /// Its chain is not valid.
        Chain = "chain",
        /// It has no HSTS, or for too short a time.
        Hsts = "hsts",
    }
);
