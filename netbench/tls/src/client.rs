use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Alpn, CipherSuite, Group, SignatureScheme, TlsVersion, named::words};

/// The settings of a client stack, which are the same for every stack of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientSettings {
    /// The profile of the connector.
    pub profile: Profile,
    /// Versions offered.
    pub versions: Vec<TlsVersion>,
    /// Suites offered, most preferred first.
    pub suites: Vec<CipherSuite>,
    /// Groups offered, most preferred first. The client sends a key share for the first group, and for x25519 too if
    /// the first group is a hybrid that contains it.
    pub groups: Vec<Group>,
    /// Signature schemes offered, most preferred first.
    pub signatures: Vec<SignatureScheme>,
    /// Application protocols offered, most preferred first.
    pub alpn: Vec<Alpn>,
}

impl ClientSettings {
    /// Returns settings of which only the profile is decided: the rest depends on the workers.
    pub fn undecided(profile: Profile) -> Self {
        Self {
            profile,
            versions: Vec::new(),
            suites: Vec::new(),
            groups: Vec::new(),
            signatures: Vec::new(),
            alpn: Vec::new(),
        }
    }

    /// Returns the groups for which the client sends key shares.
    pub fn shares(&self) -> Vec<Group> {
        match self.groups.first().copied() {
            Some(Group::X25519MLKEM768) if self.groups.contains(&Group::X25519) => {
                vec![Group::X25519MLKEM768, Group::X25519]
            }
            Some(first) => vec![first],
            None => Vec::new(),
        }
    }
}

words!(
    /// A profile of connectors.
    Profile, {
        /// The same versions, suites, groups and signature schemes for every stack.
        Default = "default",
        /// The settings of `default`, with hyper as Servo sets it up: its headers, title case, Nagle's algorithm on.
        Servo = "servo",
        /// The default settings of each library. Stacks may then do different work, and pairs that do are left out of the
        /// comparison.
        Library = "library",
    }
);

/// The origin of a client's roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrustOrigin {
    /// The store of the system.
    System,
    /// The client itself, which reads no store of the system.
    Bundled,
}
