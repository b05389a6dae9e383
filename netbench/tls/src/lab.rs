use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Alpn, CipherSuite, Group, LinkProfile, SignatureScheme, TlsVersion, named::named};

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
    /// The type of the keys of root and intermediates; `None` for [`KeyType::usual_ca`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_key: Option<KeyType>,
    /// The certificates that the server sends.
    pub chain: ChainProfile,
    /// The certificates that the server requires of its clients; `None` for a server that requests none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_chain: Option<ClientChain>,
    /// The application protocols that the server agrees to, in its order of preference.
    pub alpn: Vec<Alpn>,
    /// Number of session tickets that the server sends after a full TLS 1.3 handshake; 0 turns resumption off in every
    /// version.
    pub tickets: u8,
    /// The treatment of early data; `None` for a server whose tickets do not allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_data: Option<EarlyDataPolicy>,
    /// Encrypted ClientHello between clients and server; `None` for neither side with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ech: Option<EchPolicy>,
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
            ca_key: None,
            chain: ChainProfile::default(),
            client_chain: None,
            alpn: vec![Alpn::H2, Alpn::Http11],
            tickets: 2,
            early_data: None,
            ech: None,
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

    /// Returns the type of the keys of root and intermediates.
    pub fn ca_key(&self) -> KeyType {
        self.ca_key.unwrap_or(self.key.usual_ca())
    }

    /// Returns the schemes that a client needs for the site beyond those that every client offers: those of ML-DSA in the
    /// handshake, in the chain, and in its own certificate.
    pub fn additional_schemes(&self) -> Vec<SignatureScheme> {
        let own = self.client_chain.map(|chain| chain.key);
        let keys = [self.key, self.ca_key()].into_iter().chain(own);
        let needed: Vec<&SignatureScheme> = keys.flat_map(KeyType::schemes).collect();
        let all = SignatureScheme::ML_DSA.iter().copied();
        all.filter(|scheme| needed.contains(&scheme)).collect()
    }
}

named!(
    /// The treatment of early data by a server whose tickets allow it.
    EarlyDataPolicy, "treatment of early data", {
        /// The server answers a request in early data before the client's Finished.
        Accept = "accept",
        /// The same, by a server that keeps its sessions after their use: it accepts a copy of early data on another connection
        /// (RFC 8446 section 8).
        AcceptAgain = "accept-again",
        /// The server discards early data; the client sends the request again after the handshake.
        Reject = "reject",
        /// The server answers a ClientHello with early data with a HelloRetryRequest, which rejects them (RFC 8446 section
        /// 4.2.10), for a group of which the client sent no share.
        Retry = "retry",
    }
);

named!(
    /// Encrypted ClientHello (RFC 9849) between the clients and the server of a site. All clients of such a site offer TLS 1.3
    /// alone, and its certificate is valid for [`EchPolicy::PUBLIC_NAME`] too.
    EchPolicy, "outcome of Encrypted ClientHello", {
        /// The client has the server's configuration, and the server decrypts the hello.
        Accepted = "accepted",
        /// The server has lost the key of the client's configuration and sends another, with which the client connects again.
        RejectedRetry = "rejected-retry",
        /// The server has no keys any more; the client connects again without Encrypted ClientHello.
        RejectedNoKeys = "rejected-no-keys",
        /// The client has no configuration and sends GREASE to a server that has keys.
        Grease = "grease",
        /// The client sends an ordinary hello to a server that has keys.
        OuterOnly = "outer-only",
    }
);

impl EchPolicy {
    /// The name of the client-facing server of all sites.
    pub const PUBLIC_NAME: &str = "public.netbench.test";

    /// Returns whether a first connection is rejected, after which the client connects again.
    pub fn is_rejected(self) -> bool {
        match self {
            Self::RejectedRetry | Self::RejectedNoKeys => true,
            Self::Accepted | Self::Grease | Self::OuterOnly => false,
        }
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

/// The certificates that clients send to a site that requires one: the leaf and its issuer, padded to `bytes` of DER if they
/// are smaller.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct ClientChain {
    /// The type of the leaf's key; the CA has the usual type for it.
    pub key: KeyType,
    /// Minimum size of the DER of both certificates together, in bytes; 0 for no padding.
    pub bytes: u32,
}

impl fmt::Display for ClientChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            0 => write!(f, "{}", self.key),
            bytes => write!(f, "{}/{bytes}", self.key),
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
        /// ML-DSA-44 (FIPS 204).
        MlDsa44 = "mldsa-44",
        /// ML-DSA-65 (FIPS 204).
        MlDsa65 = "mldsa-65",
        /// ML-DSA-87 (FIPS 204).
        MlDsa87 = "mldsa-87",
    }
);

impl KeyType {
    /// Returns the oldest version in which such a key signs a handshake.
    pub fn oldest_version(self) -> TlsVersion {
        match self {
            Self::MlDsa44 | Self::MlDsa65 | Self::MlDsa87 => TlsVersion::Tls13,
            Self::Ed25519 => TlsVersion::Tls12,
            _ => TlsVersion::Tls10,
        }
    }

    /// Returns the type of the CAs' keys for a leaf with such a key: RSA-2048 for RSA, the leaf's curve for ECDSA, and the
    /// leaf's own type for ML-DSA. An Ed25519 leaf, which the web's CAs do not sign, gets P-256.
    pub fn usual_ca(self) -> Self {
        match self {
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => Self::Rsa2048,
            Self::EcdsaP256 | Self::Ed25519 => Self::EcdsaP256,
            Self::EcdsaP384 | Self::MlDsa44 | Self::MlDsa65 | Self::MlDsa87 => self,
        }
    }
}

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
        /// Refuses a ClientHello with the extension encrypted_client_hello with the alert illegal_parameter, as a device on the
        /// path that does not know the extension; other clients are served.
        EchAlert = "ech-alert",
        /// Closes after such a ClientHello; other clients are served.
        EchClose = "ech-close",
        /// Never answers such a ClientHello; other clients are served.
        EchSilent = "ech-silent",
    }
);

impl Fault {
    /// Returns whether the fault affects only clients that send the extension encrypted_client_hello. Only stacks that serve
    /// sites with Encrypted ClientHello have such faults.
    pub fn is_of_ech(self) -> bool {
        matches!(self, Self::EchAlert | Self::EchClose | Self::EchSilent)
    }
}
