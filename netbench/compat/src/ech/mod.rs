//! Configurations of Encrypted ClientHello (RFC 9849), right and wrong, of the servers of cases.

mod emulated;
mod hpke;

use std::fmt;

use netbench_model::{EchPolicy, tls::one_of};
pub(crate) use netbench_scan::codec::extension::ENCRYPTED_CLIENT_HELLO;
use netbench_scan::codec::{list16, put_extension, put_u16, put_vec8, put_vec16, vec16};
use serde::Deserialize;

pub use self::emulated::EmulatedEch;
pub(crate) use self::hpke::receiver;
use crate::certificates::kebab_words;

/// The extension `ech_outer_extensions`.
pub(crate) const OUTER_EXTENSIONS: u16 = 0xfd00;

/// The name of the client-facing server.
pub(crate) const PUBLIC_NAME: &str = EchPolicy::PUBLIC_NAME;

/// The longest name that clients are told to hide.
pub(crate) const LONGEST_NAME: u8 = 64;

/// The Encrypted ClientHello of a client.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct EchClientSpec {
    /// The configurations that the client is given.
    pub(crate) configs: Vec<ConfigKind>,
    pub(crate) flaw: Option<ListFlaw>,
    /// Whether the client sends GREASE (RFC 9849 section 6.2), in place of configurations.
    pub(crate) grease: bool,
}

/// The Encrypted ClientHello of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct EchServerSpec {
    /// The configurations that a client gets whose hello could not be decrypted; without any, no extension.
    pub(crate) retry: Vec<ConfigKind>,
    pub(crate) retry_flaw: Option<ListFlaw>,
    pub(crate) flaw: Option<EchFlaw>,
    /// Whether the server refuses inner hellos that offer older versions than TLS 1.3, as it must (RFC 9849 section 7.1).
    pub(crate) checks_versions: bool,
    /// Whether clients are to hide the length of the name.
    pub(crate) asks_for_padding: bool,
}

// `Right` and `Replaced` have keys of the server, `Lost` has not. `OtherName` is `Replaced` with another public name.
kebab_words!(ConfigKind, "ECH configuration", {
    Right = "right",
    Replaced = "replaced",
    OtherName = "other-name",
    Lost = "lost",
    OptionalExtension = "optional-extension",
    MandatoryExtension = "mandatory-extension",
    UnknownVersion = "unknown-version",
    LongUnknownVersion = "long-unknown-version",
    UnknownKem = "unknown-kem",
    UnknownSuite = "unknown-suite",
    UnknownSuiteFirst = "unknown-suite-first",
    ChaCha20 = "chacha20",
    AddressName = "address-name",
});

// `Cut` lacks the last byte. `CutInside` has the right length, and a configuration without its end.
kebab_words!(ListFlaw, "flaw", {
    Cut = "cut",
    CutInside = "cut-inside",
    Empty = "empty",
});

// `Dropped`: a device on the way removes the extension. `Retry…` are signals in a HelloRetryRequest: eight random bytes, seven
// bytes, and one without a hello that had the extension. `ConfirmedOnce` confirms in the HelloRetryRequest alone.
// `RetryConfigsAfterAcceptance` and `RetryConfigsUnasked` send configurations that a client must not get.
kebab_words!(EchFlaw, "flaw", {
    Dropped = "dropped",
    RetrySignalRandom = "retry-signal-random",
    RetrySignalShort = "retry-signal-short",
    RetrySignalUnasked = "retry-signal-unasked",
    ConfirmedOnce = "confirmed-once",
    RetryConfigsAfterAcceptance = "retry-configs-after-acceptance",
    RetryConfigsUnasked = "retry-configs-unasked",
});

impl EchFlaw {
    /// Returns whether the flaw is an answer to a client that sends no extension.
    pub(crate) fn is_unasked(self) -> bool {
        matches!(self, Self::RetrySignalUnasked | Self::RetryConfigsUnasked)
    }
}

impl EchClientSpec {
    /// Returns the list that the client is given.
    pub(crate) fn list(&self) -> Vec<u8> {
        list(&self.configs, self.flaw)
    }

    /// Returns whether the client's hello must have the extension.
    pub(crate) fn must_offer(&self) -> bool {
        self.grease || self.is_usable()
    }

    /// Returns whether a client that reads the list finds a configuration that it can use.
    pub(crate) fn is_usable(&self) -> bool {
        self.flaw.is_none() && self.configs.iter().any(|kind| kind.is_usable())
    }
}

/// A configuration, and its private key if the server has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EchConfig {
    pub(crate) encoded: Vec<u8>,
    pub(crate) id: u8,
    pub(crate) private: Option<[u8; 32]>,
    /// Whether a client should use it.
    pub(crate) is_usable: bool,
}

impl ConfigKind {
    /// Returns whether a client should use the configuration.
    fn is_usable(self) -> bool {
        match self {
            Self::Right
            | Self::Replaced
            | Self::OtherName
            | Self::Lost
            | Self::OptionalExtension
            | Self::UnknownSuiteFirst
            | Self::ChaCha20 => true,
            Self::MandatoryExtension
            | Self::UnknownVersion
            | Self::LongUnknownVersion
            | Self::UnknownKem
            | Self::UnknownSuite
            | Self::AddressName => false,
        }
    }

    /// Makes the configuration.
    pub(crate) fn config(self) -> EchConfig {
        /// Numbers that no algorithm, extension or version has.
        const UNASSIGNED: u16 = 0x7a7a;
        const MANDATORY: u16 = 0x8000;
        /// Makes the longest list together with an other configuration.
        const LONG: usize = 65_000;
        let own = hpke::AEADS.map(|aead| (hpke::KDF_SHA256, aead));
        let (mut id, mut version, mut name) = (1, ENCRYPTED_CLIENT_HELLO, PUBLIC_NAME);
        let (mut kem, mut suites, mut extension) = (hpke::KEM_X25519, own.to_vec(), None);
        match self {
            Self::Right => {}
            Self::Replaced => id = 2,
            Self::OtherName => (id, name) = (2, "other.netbench.test"),
            Self::Lost => id = 3,
            Self::OptionalExtension => extension = Some(UNASSIGNED),
            Self::MandatoryExtension => extension = Some(MANDATORY | UNASSIGNED),
            Self::UnknownVersion | Self::LongUnknownVersion => version = UNASSIGNED,
            Self::UnknownKem => kem = UNASSIGNED,
            Self::UnknownSuite => suites = vec![(UNASSIGNED, UNASSIGNED)],
            Self::UnknownSuiteFirst => {
                suites.splice(0..0, [(UNASSIGNED, 1), (1, UNASSIGNED)]);
            }
            Self::ChaCha20 => suites = vec![own[2]],
            Self::AddressName => name = "192.0.2.1",
        }
        let private = [0x11 * id; 32];
        let mut extensions = Vec::new();
        if let Some(code) = extension {
            put_extension(&mut extensions, code, b"netbench");
        }
        let mut contents = vec![id];
        put_u16(&mut contents, kem);
        let public = hpke::public_key(&private).unwrap_or_default();
        put_vec16(&mut contents, &public);
        let suites = suites.iter().flat_map(|(kdf, aead)| [*kdf, *aead]);
        contents.extend(list16(suites));
        contents.push(LONGEST_NAME);
        put_vec8(&mut contents, name.as_bytes());
        put_vec16(&mut contents, &extensions);
        if self == Self::LongUnknownVersion {
            contents = vec![0xff; LONG];
        }
        let mut encoded = Vec::new();
        put_extension(&mut encoded, version, &contents);
        EchConfig {
            encoded,
            id,
            private: Some(private).filter(|_| self != Self::Lost),
            is_usable: self.is_usable(),
        }
    }
}

/// Returns an ECHConfigList (RFC 9849 section 4).
pub(crate) fn list(configs: &[ConfigKind], flaw: Option<ListFlaw>) -> Vec<u8> {
    let mut configs: Vec<u8> = configs
        .iter()
        .flat_map(|kind| kind.config().encoded)
        .collect();
    match flaw {
        Some(ListFlaw::Empty) => configs.clear(),
        Some(ListFlaw::CutInside) => configs.truncate(configs.len() / 2),
        Some(ListFlaw::Cut) | None => {}
    }
    let mut list = vec16(&configs);
    if flaw == Some(ListFlaw::Cut) {
        list.truncate(list.len() - 1);
    }
    list
}
