use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CipherSuite, Group, TlsVersion, named::words};

/// A policy with which scans are compared: the permitted and the required properties of a site. An absent field permits
/// any value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The name of the policy in reports.
    pub name: String,
    /// The place of publication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The version of the publication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The only TLS versions that the site may support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<Vec<TlsVersion>>,
    /// TLS versions that the site must support.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs_versions: Vec<TlsVersion>,
    /// The only suites that the site may accept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suites: Option<Vec<CipherSuite>>,
    /// The only groups that the site may accept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Group>>,
    /// The only keys that the site's certificates may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<KeyRule>>,
    /// Whether the site's own order of suites must decide.
    #[serde(default)]
    pub server_order: bool,
    /// Whether the site's chain must be in order, match the site's name, be valid, and end at a trust root.
    #[serde(default)]
    pub valid_chain: bool,
    /// Whether the site's certificate must be valid at the time of the scan, match the site's name, and not be
    /// self-signed.
    #[serde(default)]
    pub valid_certificate: bool,
    /// The only signature algorithms of the site's certificate, such as `sha256WithRSAEncryption` and
    /// `ecdsa-with-SHA256`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_signatures: Option<Vec<String>>,
    /// Maximum validity period of the site's certificate, in days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_most_days: Option<u32>,
    /// Minimum size of the prime of a finite-field key exchange, in bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dh_least_bits: Option<u32>,
    /// Features that the site must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<PolicyFeature>,
    /// Features that the site must not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbids: Vec<PolicyFeature>,
    /// Minimum `max-age` of `Strict-Transport-Security` (RFC 6797), in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hsts_least_seconds: Option<u64>,
}

/// A key that a certificate may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRule {
    /// `rsa`, `ec`, `ed25519` …
    pub kind: String,
    /// Minimum size, in bits.
    #[serde(default)]
    pub least_bits: u32,
    /// The only curves, by registered name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curves: Option<Vec<String>>,
}

words!(
    /// A feature that a policy can require or forbid.
    PolicyFeature, {
        /// Compression of TLS (RFC 3749).
        Compression = "compression",
        /// Extended master secret (RFC 7627).
        ExtendedMasterSecret = "extended-master-secret",
        /// Protection from unnecessary fallbacks (RFC 7507).
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
    /// The rule of a policy that a site violates.
    PolicyRule, {
        /// The site supports a version that is not permitted.
        Version = "version",
        /// The site does not support a required version.
        MissingVersion = "missing-version",
        /// The site accepts a suite that is not permitted.
        Suite = "suite",
        /// The site accepts a group that is not permitted.
        Group = "group",
        /// The site's own order of suites does not decide, or not alone.
        Order = "order",
        /// The key of the site's certificate is of another kind or too short.
        Key = "key",
        /// The site's certificate is expired, for other names, or self-signed.
        Certificate = "certificate",
        /// The site's certificate is signed with an algorithm that is not permitted.
        CertificateSignature = "certificate-signature",
        /// The validity period of the site's certificate is too long.
        Lifetime = "lifetime",
        /// The prime of a key exchange is too short.
        Dh = "dh-size",
        /// The site lacks a required feature, or has a forbidden one.
        Feature = "feature",
        /// The site's chain is not valid.
        Chain = "chain",
        /// The site has no HSTS, or its `max-age` is too short.
        Hsts = "hsts",
    }
);
