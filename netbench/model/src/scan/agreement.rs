use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Offer;
use crate::tls::TlsVersion;

/// What a scan records of the stacks of `--against`: its `against.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgainstRecord {
    /// What each stack offers.
    pub offers: Vec<Offer>,
    /// The handshakes that were made.
    pub confirmed: Vec<Confirmation>,
}

/// A real handshake beside its prediction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// The site.
    pub site: String,
    /// The stack.
    pub stack: String,
    /// What was predicted.
    pub predicted: Agreement,
    /// What happened.
    pub seen: HandshakeResult,
    /// How the two go together.
    pub verdict: Confirmed,
}

/// What a real handshake came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum HandshakeResult {
    /// It was finished.
    Handshake {
        /// `1.2` or `1.3`.
        version: String,
        /// The suite.
        suite: String,
        /// The group, where the stack tells.
        group: Option<String>,
        /// The scheme, where the stack tells.
        signature: Option<String>,
        /// What its packets show; none where no emulated link saw them, or one was lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        packets: Option<PacketsSeen>,
    },
    /// It failed.
    Failed {
        /// The class of failure.
        class: String,
        /// The alert, or the like.
        reason: String,
        /// Whether TLS was what failed: not the network, not HTTP.
        in_tls: bool,
    },
}

/// How a handshake goes together with its prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confirmed {
    /// It came as predicted.
    AsPredicted,
    /// It did not.
    Mismatch,
    /// The network failed, or nothing had been predicted.
    Untold,
}

/// What a stack and a site agree on, or why they do not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Agreement {
    /// A handshake.
    Agrees(Agreed),
    /// None.
    Loses {
        /// Why.
        reason: LossReason,
        /// More, in words.
        detail: String,
    },
    /// The scan did not get far enough to tell.
    Unknown {
        /// Why.
        why: String,
    },
}

/// What a handshake comes out as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agreed {
    /// The version.
    pub version: TlsVersion,
    /// The suite that is chosen.
    pub suite: String,
    /// The group, where there is one.
    pub group: Option<String>,
    /// The scheme of the server's signature, where there is one.
    pub signature: Option<String>,
    /// What it may be instead, where the scan does not know the server's order.
    pub or: Vec<String>,
    /// How often packets go to the site and back before the response comes; none where the scan does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trips: Option<RoundTrips>,
}

/// How often packets go to a site and back in a connection of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTrips {
    /// Until the first byte of the response: one for TCP, those of the handshake, one for the request.
    pub first_byte: u32,
    /// Of these, one that the server needs because it asks for another key share (HelloRetryRequest).
    pub retry: u32,
    /// Of these, those for what of the server's flight does not fit into TCP's initial window.
    pub window: u32,
    /// Segments of the first ClientHello.
    pub hello_segments: u32,
}

/// What the packets of a handshake show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketsSeen {
    /// Round trips until the first byte of the response.
    pub first_byte: u32,
    /// Segments of the first ClientHello.
    pub hello_segments: u32,
}

/// Why a stack cannot reach a site.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LossReason {
    /// No common version.
    Version,
    /// The site has no elliptic curves: ephemeral Diffie-Hellman over finite fields is its best.
    DheOnly,
    /// The site's suites with a key exchange that the stack has are all in CBC mode.
    CbcOnly,
    /// The site's only key exchange is encryption to its RSA key.
    RsaKeyExchangeOnly,
    /// No common suite, and none of the classes above.
    Suite,
    /// No common group.
    Group,
    /// The site signs with SHA-1 only, in the handshake or in its chain.
    Sha1,
    /// No common signature scheme.
    Signature,
    /// The site requires a certificate of the client, which has none to show.
    ClientCertificate,
    /// The chain is wrong: expired, for another name, from no known root, or refused by the stack.
    Certificate,
    /// The site fails at what the stack's hello has, although it would find something in it to agree to.
    Intolerance,
    /// The certificate has the host in its subject's common name, and no alternative name.
    CommonNameOnly,
    /// The chain ends before a root that clients have: an intermediate was not sent, or its root is unknown.
    IncompleteChain,
    /// A real handshake failed that was predicted to succeed, and not because of the certificate.
    Handshake,
}

impl LossReason {
    /// The name that JSON and tables have.
    pub fn name(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::DheOnly => "dhe-only",
            Self::CbcOnly => "cbc-only",
            Self::RsaKeyExchangeOnly => "rsa-key-exchange-only",
            Self::Suite => "suite",
            Self::Group => "group",
            Self::Sha1 => "sha-1",
            Self::Signature => "signature",
            Self::ClientCertificate => "client-certificate",
            Self::Certificate => "certificate",
            Self::Intolerance => "intolerance",
            Self::CommonNameOnly => "common-name-only",
            Self::IncompleteChain => "incomplete-chain",
            Self::Handshake => "handshake",
        }
    }
}

impl Agreement {
    /// Whether a handshake is predicted.
    pub fn agrees(&self) -> bool {
        matches!(self, Self::Agrees(_))
    }

    /// The round trips that are predicted, where a handshake is and they are known.
    pub fn round_trips(&self) -> Option<RoundTrips> {
        match self {
            Self::Agrees(agreed) => agreed.round_trips,
            Self::Loses { .. } | Self::Unknown { .. } => None,
        }
    }

    /// A loss.
    pub fn loses(reason: LossReason, detail: impl Into<String>) -> Self {
        Self::Loses {
            reason,
            detail: detail.into(),
        }
    }
}
