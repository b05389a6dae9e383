use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Offer;
use crate::{named::words, tls::TlsVersion};

/// A scan's record of the stacks of `--against`: its `against.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgainstRecord {
    /// The offer of each stack.
    pub offers: Vec<Offer>,
    /// The handshakes that were made.
    pub confirmed: Vec<Confirmation>,
}

/// A real handshake compared with its prediction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The stack.
    #[schemars(extend("x-key" = "first"))]
    pub stack: String,
    /// The prediction.
    pub predicted: Agreement,
    /// The actual result.
    pub seen: HandshakeResult,
    /// The verdict of the comparison.
    pub verdict: Confirmed,
}

/// The result of a real handshake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum HandshakeResult {
    /// The handshake was finished.
    Handshake {
        /// `1.2` or `1.3`.
        version: String,
        /// The suite.
        suite: String,
        /// The group, if the stack reports it.
        group: Option<String>,
        /// The scheme, if the stack reports it.
        signature: Option<String>,
        /// The facts that the handshake's packets show; `None` if no emulated link observed them, or if a packet was
        /// lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        packets: Option<PacketsSeen>,
    },
    /// The handshake failed.
    Failed {
        /// The class of failure.
        class: String,
        /// The alert, or the like.
        reason: String,
        /// Whether the failure is one of TLS, as opposed to the network or HTTP.
        in_tls: bool,
    },
}

/// The verdict on a handshake and its prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confirmed {
    /// The result is as predicted.
    AsPredicted,
    /// The result differs from the prediction.
    Mismatch,
    /// The network failed, or no prediction existed.
    #[serde(alias = "untold")]
    Unreported,
}

/// The parameters that a stack and a site agree on, or the reason why they do not agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Agreement {
    /// The stack and the site agree.
    Agrees(Agreed),
    /// The stack and the site do not agree.
    Loses {
        /// The reason.
        reason: LossReason,
        /// Details of the reason.
        detail: String,
    },
    /// The scan is not complete enough for a prediction.
    Unknown {
        /// The reason.
        why: String,
    },
}

/// The parameters of a handshake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agreed {
    /// The version.
    pub version: TlsVersion,
    /// The selected suite.
    pub suite: String,
    /// The group, if any.
    pub group: Option<String>,
    /// The scheme of the server's signature, if any.
    pub signature: Option<String>,
    /// The alternatives, if the scan does not know the server's order of preference.
    pub or: Vec<String>,
    /// The round trips before the response arrives; `None` if the scan does not determine them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trips: Option<RoundTrips>,
}

/// The round trips of a separate connection to a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTrips {
    /// Number of round trips until the first byte of the response: one for TCP, those of the handshake, one for the
    /// request.
    pub first_byte: u32,
    /// Number of those round trips for a HelloRetryRequest, by which the server requests another key share: 0 or 1.
    pub retry: u32,
    /// Number of those round trips for the part of the server's flight that exceeds TCP's initial window.
    pub window: u32,
    /// Number of segments of the first ClientHello.
    pub hello_segments: u32,
}

/// The facts that the packets of a handshake show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketsSeen {
    /// Number of round trips until the first byte of the response.
    pub first_byte: u32,
    /// Number of segments of the first ClientHello.
    pub hello_segments: u32,
}

words!(
    /// The reason why a stack cannot reach a site.
    LossReason, {
        /// No common version.
        Version = "version",
        /// The site supports no elliptic curves: ephemeral Diffie-Hellman over finite fields is its best key exchange.
        DheOnly = "dhe-only",
        /// The site's suites with a key exchange that the stack supports are all in CBC mode.
        CbcOnly = "cbc-only",
        /// The site's only key exchange is encryption to its RSA key.
        RsaKeyExchangeOnly = "rsa-key-exchange-only",
        /// No common suite, and none of the classes above.
        Suite = "suite",
        /// No common group.
        Group = "group",
        /// The site signs with SHA-1 only, in the handshake or in its chain.
        #[serde(alias = "sha1")]
        Sha1 = "sha-1",
        /// No common signature scheme.
        Signature = "signature",
        /// The site requires a client certificate, and the client has none.
        ClientCertificate = "client-certificate",
        /// The chain is not valid: expired, for another name, without a known root, or refused by the stack.
        Certificate = "certificate",
        /// The site fails at the contents of the stack's hello, although they include parameters that it supports.
        Intolerance = "intolerance",
        /// The certificate has the host in its subject's common name, and no alternative name.
        CommonNameOnly = "common-name-only",
        /// The chain does not end at a root that clients have: an intermediate was not sent, or the root is unknown.
        IncompleteChain = "incomplete-chain",
        /// A real handshake failed that was predicted to succeed, for a reason other than the certificate.
        Handshake = "handshake",
    }
);

impl Agreement {
    /// Returns whether a successful handshake is predicted.
    pub fn agrees(&self) -> bool {
        matches!(self, Self::Agrees(_))
    }

    /// Returns the predicted round trips, if a successful handshake is predicted and they are known.
    pub fn round_trips(&self) -> Option<RoundTrips> {
        match self {
            Self::Agrees(agreed) => agreed.round_trips,
            Self::Loses { .. } | Self::Unknown { .. } => None,
        }
    }

    /// Creates a loss.
    pub fn loses(reason: LossReason, detail: impl Into<String>) -> Self {
        Self::Loses {
            reason,
            detail: detail.into(),
        }
    }

    /// Creates the lack of a prediction.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self::Unknown { why: why.into() }
    }
}
