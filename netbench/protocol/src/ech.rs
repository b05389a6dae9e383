use netbench_tls::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Operation;

/// The Encrypted ClientHello (RFC 9849) of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ech {
    /// An ECHConfigList in base64, as the client's application gets it from the DNS. Sent only to stacks that list `ech` among
    /// their operations.
    Configs(String),
    /// No configuration: the client sends GREASE (RFC 9849 section 6.2). Sent only to stacks that list `ech-grease` among their
    /// operations.
    Grease,
}

impl Ech {
    /// Returns the operation of stacks to which it is sent.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Configs(_) => Operation::Ech,
            Self::Grease => Operation::EchGrease,
        }
    }

    /// Returns its name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Configs(_) => "Encrypted ClientHello",
            Self::Grease => "GREASE in place of Encrypted ClientHello",
        }
    }
}

/// A key of a server with Encrypted ClientHello. Only emulated sites have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EchKey {
    /// The ECHConfig (RFC 9849 section 4), in base64: one configuration, without the length of a list.
    pub config_base64: String,
    /// The private key of X25519, in base64.
    pub private_key_base64: String,
}

/// A connection whose server rejected Encrypted ClientHello and proved the public name (RFC 9849 section 6.1.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EchRejected {
    /// The failure, of the class `ech-rejected`.
    pub failure: Failure,
    /// The ECHConfigList that the library hands its application for another attempt, in base64; `None` if it has none.
    pub retry_configs: Option<String>,
}
