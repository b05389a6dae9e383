use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Alpn, CipherSuite, Group, LinkProfile, TlsVersion, named::named};

/// The lab's emulation of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabProfile {
    /// The stack that serves the site, or a server that is installed on this machine, such as `nginx`.
    pub server: String,
    /// The versions that the server supports.
    pub tls: Vec<TlsVersion>,
    /// The suites that the server accepts, in its order of preference; empty for [`CipherSuite::OFFERED`].
    pub suites: Vec<CipherSuite>,
    /// The groups that the server accepts, in its order of preference; empty for the stack's default.
    pub groups: Vec<Group>,
    /// The type of the leaf's key.
    pub key: KeyType,
    /// The certificates that the server sends.
    pub chain: ChainProfile,
    /// The application protocols that the server agrees to, in its order of preference.
    pub alpn: Vec<Alpn>,
    /// Number of session tickets that the server sends after a full TLS 1.3 handshake; 0 turns resumption off in every
    /// version.
    pub tickets: u8,
    /// Whether the server staples an OCSP response (RFC 6066).
    pub ocsp: Switch,
    /// The path to the site.
    pub link: LinkProfile,
    /// Size of the response's body, in bytes.
    pub body_bytes: u64,
    /// The fault of the server, if any.
    pub fault: Option<Fault>,
}

impl Default for LabProfile {
    fn default() -> Self {
        Self {
            server: "openssl".to_owned(),
            tls: vec![TlsVersion::Tls12, TlsVersion::Tls13],
            suites: Vec::new(),
            groups: Vec::new(),
            key: KeyType::Rsa2048,
            chain: ChainProfile::default(),
            alpn: vec![Alpn::H2, Alpn::Http11],
            tickets: 2,
            ocsp: Switch::Off,
            link: LinkProfile::default(),
            body_bytes: 4096,
            fault: None,
        }
    }
}

impl LabProfile {
    /// Returns the default profile, which many sites share. Stored runs leave it out, so it must not change.
    pub fn usual() -> Arc<Self> {
        static USUAL: LazyLock<Arc<LabProfile>> = LazyLock::new(Arc::default);
        Arc::clone(&USUAL)
    }
}

/// On or off, as in a sites file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// The certificates that a site's server sends: `length` certificates, including the leaf and excluding the root,
/// padded to `bytes` of DER if they are smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainProfile {
    /// Number of certificates, 1 to 6.
    pub length: u8,
    /// Minimum size of the DER of all certificates together, in bytes; 0 for no padding.
    pub bytes: u32,
}

impl Default for ChainProfile {
    fn default() -> Self {
        Self {
            length: 2,
            bytes: 0,
        }
    }
}

named!(
    /// The type of a certificate's key.
    KeyType, "key type", {
        /// RSA, 2048 bits.
        Rsa2048 = "rsa-2048",
        /// RSA, 3072 bits.
        Rsa3072 = "rsa-3072",
        /// RSA, 4096 bits.
        Rsa4096 = "rsa-4096",
        /// ECDSA on P-256.
        EcdsaP256 = "ecdsa-p256",
        /// ECDSA on P-384.
        EcdsaP384 = "ecdsa-p384",
        /// EdDSA on edwards25519.
        Ed25519 = "ed25519",
    }
);

named!(
    /// A fault of a site's server.
    Fault, "fault", {
        /// No server listens: connections are refused.
        Refuse = "refuse",
        /// Accepts, reads, and never answers.
        Silent = "silent",
        /// Accepts and resets.
        Reset = "reset",
        /// Answers with bytes that are not TLS.
        Garbage = "garbage",
        /// Sends a ServerHello, followed by a Certificate message that does not end.
        EndlessCertificate = "endless-certificate",
        /// Closes after the ClientHello.
        CloseMidHandshake = "close-mid-handshake",
        /// Finishes the handshake and sends its response one byte at a time, too slowly for the time limit.
        SlowResponse = "slow-response",
        /// Finishes the handshake and answers with bytes that are not HTTP.
        BadHttp = "bad-http",
        /// Sends a certificate for another name.
        WrongName = "wrong-name",
        /// Sends a certificate whose root the client does not have.
        UnknownRoot = "unknown-root",
        /// Sends a certificate that has expired.
        Expired = "expired",
    }
);
