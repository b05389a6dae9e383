//! The facts in a suite's registered name. The registry's names are systematic (RFC 5246 appendix C), so all facts are
//! parsed from them.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TlsVersion, code_point::code_point};

code_point!(
    /// A cipher suite, with its name in IANA's registry "TLS Cipher Suites".
    CipherSuite(u16), "cipher suite", "cipher-suites.tsv", "0x{:04X}", {
        TLS_AES_128_GCM_SHA256 = 0x1301,
        TLS_AES_256_GCM_SHA384 = 0x1302,
        TLS_CHACHA20_POLY1305_SHA256 = 0x1303,
        TLS_RSA_WITH_AES_128_CBC_SHA = 0x002F,
        TLS_RSA_WITH_AES_256_CBC_SHA = 0x0035,
        TLS_RSA_WITH_AES_128_GCM_SHA256 = 0x009C,
        TLS_DHE_RSA_WITH_AES_128_GCM_SHA256 = 0x009E,
        TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA = 0xC009,
        TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA = 0xC00A,
        TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA = 0xC013,
        TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA = 0xC014,
        TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256 = 0xC027,
        TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 = 0xC02B,
        TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 = 0xC02C,
        TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 = 0xC02F,
        TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 = 0xC030,
        TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = 0xCCA8,
        TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 = 0xCCA9,
    }
);

impl CipherSuite {
    /// The suites that a site of the lab can be configured to accept: those of [`Self::OFFERED`], and three that only
    /// some stacks support.
    pub const SERVED: &'static [Self] = &[
        Self::TLS_AES_128_GCM_SHA256,
        Self::TLS_CHACHA20_POLY1305_SHA256,
        Self::TLS_AES_256_GCM_SHA384,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        Self::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        Self::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        Self::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        Self::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        Self::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
        Self::TLS_DHE_RSA_WITH_AES_128_GCM_SHA256,
        Self::TLS_RSA_WITH_AES_128_GCM_SHA256,
    ];

    /// The suites of a site with a version before TLS 1.2 that names none: those of [`Self::OFFERED`] for TLS 1.2 and
    /// 1.3, then [`Self::DEPRECATED`].
    pub const WITH_DEPRECATED: &'static [Self] = &[
        Self::TLS_AES_128_GCM_SHA256,
        Self::TLS_CHACHA20_POLY1305_SHA256,
        Self::TLS_AES_256_GCM_SHA384,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        Self::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        Self::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        Self::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        Self::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        Self::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
        Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
        Self::TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
        Self::TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
        Self::TLS_RSA_WITH_AES_128_CBC_SHA,
        Self::TLS_RSA_WITH_AES_256_CBC_SHA,
    ];

    /// The suites with which a site serves TLS 1.0 and 1.1, which have no AEAD.
    pub const DEPRECATED: &'static [Self] = Self::WITH_DEPRECATED.split_at(9).1;

    /// The suites that every stack supports and that clients offer by default: AEAD with forward secrecy, in the order
    /// of preference of browsers.
    pub const OFFERED: &'static [Self] = Self::SERVED.split_at(9).0;

    /// Returns the facts about the suite, if it is registered.
    pub fn facts(self) -> Option<&'static CipherSuiteFacts> {
        static FACTS: LazyLock<Vec<CipherSuiteFacts>> = LazyLock::new(|| {
            let rows = CipherSuite::registry().rows().iter();
            rows.map(|row| CipherSuiteFacts::read(CipherSuite(row.code), row.name))
                .collect()
        });
        let at = FACTS
            .binary_search_by_key(&self, |facts| facts.suite)
            .ok()?;
        FACTS.get(at)
    }

    /// Returns whether the suite belongs to TLS 1.3, which has separate suites.
    pub fn is_tls13(self) -> bool {
        matches!(self.0, 0x1301..=0x1307 | 0x00c6 | 0x00c7 | 0xc0b4 | 0xc0b5 | 0xc103..=0xc106)
    }

    /// Returns the newest version in which the suite can be negotiated.
    pub fn version(self) -> TlsVersion {
        if self.is_tls13() {
            TlsVersion::Tls13
        } else {
            TlsVersion::Tls12
        }
    }

    /// Returns whether the suite can be negotiated in a version; that of an unregistered suite is not known.
    pub fn fits(self, version: TlsVersion) -> bool {
        self.facts().is_some_and(|facts| facts.fits(version))
    }

    /// Returns the registered suites that can be negotiated in a version, by code point.
    pub fn of_version(version: TlsVersion) -> impl Iterator<Item = Self> + Clone {
        Self::registered().filter(move |suite| suite.fits(version))
    }
}

/// The facts in a suite's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CipherSuiteFacts {
    /// The suite.
    pub suite: CipherSuite,
    /// The registered name.
    pub name: &'static str,
    /// The key exchange.
    pub key_exchange: KeyExchange,
    /// The authentication of the server.
    pub authentication: Authentication,
    /// The protection of records.
    pub protection: Protection,
    /// Whether the security is that of the 1990s: no or broken encryption, 40, 56 or 64 bits.
    pub is_broken: bool,
    oldest: TlsVersion,
}

impl CipherSuiteFacts {
    /// Returns whether the suite can be negotiated in `version`. AEAD and the SHA-2 MACs require TLS 1.2, except that
    /// suites with a pre-shared key and SHA-2 MACs are allowed in TLS 1.0 too (RFC 5487 section 3.1, RFC 5489 section
    /// 3.1).
    pub fn fits(&self, version: TlsVersion) -> bool {
        match version {
            TlsVersion::Tls13 => self.suite.is_tls13(),
            _ => !self.suite.is_tls13() && version >= self.oldest,
        }
    }

    /// Returns whether the server signs its key exchange, so that a signature scheme is selected.
    pub fn is_signed(&self) -> bool {
        use Authentication::{Anonymous, Other};
        use KeyExchange::{Any, Dhe, Ecdhe};
        matches!(self.key_exchange, Dhe | Ecdhe | Any)
            && !matches!(self.authentication, Anonymous | Other)
    }

    fn read(suite: CipherSuite, name: &'static str) -> Self {
        let protection = protection(suite, name);
        Self {
            suite,
            name,
            key_exchange: key_exchange(suite, rest(name)),
            authentication: authentication(suite, rest(name)),
            protection,
            is_broken: is_broken(protection, name),
            oldest: oldest(suite, protection, name),
        }
    }
}

/// Returns the oldest version in which a suite below TLS 1.3 can be negotiated.
fn oldest(suite: CipherSuite, protection: Protection, name: &str) -> TlsVersion {
    let sha2 = name.ends_with("_SHA256") || name.ends_with("_SHA384");
    if protection == Protection::Aead || matches!(suite.0, 0xc100..=0xc102) {
        TlsVersion::Tls12
    } else if !sha2 {
        TlsVersion::Ssl3
    } else if name.contains("PSK_WITH") {
        TlsVersion::Tls10
    } else {
        TlsVersion::Tls12
    }
}

/// Returns a name without the prefix that all names have.
fn rest(name: &str) -> &str {
    name.strip_prefix("TLS_").unwrap_or(name)
}

fn key_exchange(suite: CipherSuite, name: &str) -> KeyExchange {
    const BEGINNINGS: [(&str, KeyExchange); 7] = [
        ("ECDHE_", KeyExchange::Ecdhe),
        ("ECDH_anon", KeyExchange::Ecdhe),
        ("ECDH_", KeyExchange::Ecdh),
        ("DHE_", KeyExchange::Dhe),
        ("DH_anon", KeyExchange::Dhe),
        ("DH_", KeyExchange::Dh),
        ("RSA_", KeyExchange::Rsa),
    ];
    if suite.is_tls13() {
        KeyExchange::Any
    } else if name.contains("PSK") {
        KeyExchange::Psk
    } else {
        let found = BEGINNINGS.iter().find(|(word, _)| name.starts_with(word));
        found.map_or(KeyExchange::Other, |(_, exchange)| *exchange)
    }
}

fn authentication(suite: CipherSuite, name: &str) -> Authentication {
    const WORDS: [(&str, Authentication); 6] = [
        ("anon", Authentication::Anonymous),
        ("RSA_PSK", Authentication::Rsa),
        ("PSK", Authentication::Other),
        ("ECDSA", Authentication::Ecdsa),
        ("DSS", Authentication::Dss),
        ("RSA", Authentication::Rsa),
    ];
    if suite.is_tls13() {
        return Authentication::Any;
    }
    let found = WORDS.iter().find(|(word, _)| name.contains(word));
    found.map_or(Authentication::Other, |(_, authentication)| *authentication)
}

fn protection(suite: CipherSuite, name: &str) -> Protection {
    if name.contains("NULL") || matches!(suite.0, 0xc0b4 | 0xc0b5) {
        Protection::Null
    } else if ["GCM", "CCM", "POLY1305", "AEGIS", "MGM"]
        .iter()
        .any(|mode| name.contains(mode))
    {
        Protection::Aead
    } else if name.contains("CBC") {
        Protection::Cbc
    } else {
        Protection::Stream
    }
}

fn is_broken(protection: Protection, name: &str) -> bool {
    let weak = [
        "EXPORT", "RC4", "RC2", "DES_CBC", "DES40", "3DES", "IDEA", "anon",
    ];
    protection == Protection::Null || weak.iter().any(|word| name.contains(word))
}

/// The key exchange of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeyExchange {
    /// Encryption to the certificate's RSA key, without forward secrecy.
    Rsa,
    /// Fixed Diffie-Hellman.
    Dh,
    /// Ephemeral Diffie-Hellman over a finite field.
    Dhe,
    /// Fixed elliptic curve Diffie-Hellman.
    Ecdh,
    /// Ephemeral elliptic curve Diffie-Hellman.
    Ecdhe,
    /// A pre-shared key, with or without another exchange.
    Psk,
    /// Kerberos, SRP, GOST, PWD.
    Other,
    /// TLS 1.3: the group determines the key exchange, not the suite.
    Any,
}

/// The authentication of a suite's server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Authentication {
    /// An RSA certificate.
    Rsa,
    /// An ECDSA or EdDSA certificate (RFC 8422).
    Ecdsa,
    /// A DSA certificate.
    Dss,
    /// No authentication.
    Anonymous,
    /// A pre-shared key, Kerberos, a password.
    Other,
    /// TLS 1.3: the signature scheme determines the authentication.
    Any,
}

/// The record protection of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// Authenticated encryption.
    Aead,
    /// A block cipher in CBC mode.
    Cbc,
    /// RC4 and other stream ciphers.
    Stream,
    /// No encryption.
    Null,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_suites_are() {
        use Authentication as A;
        use KeyExchange as K;
        use Protection as B;
        let cases = [
            (0x1301, K::Any, A::Any, B::Aead, TlsVersion::Tls13),
            (0x0001, K::Rsa, A::Rsa, B::Null, TlsVersion::Ssl3),
            (0x0005, K::Rsa, A::Rsa, B::Stream, TlsVersion::Ssl3),
            (0x0018, K::Dhe, A::Anonymous, B::Stream, TlsVersion::Ssl3),
            (0x0030, K::Dh, A::Dss, B::Cbc, TlsVersion::Ssl3),
            (0x0033, K::Dhe, A::Rsa, B::Cbc, TlsVersion::Ssl3),
            (0x003c, K::Rsa, A::Rsa, B::Cbc, TlsVersion::Tls12),
            (0x009e, K::Dhe, A::Rsa, B::Aead, TlsVersion::Tls12),
            (0xc013, K::Ecdhe, A::Rsa, B::Cbc, TlsVersion::Ssl3),
            (0xc018, K::Ecdhe, A::Anonymous, B::Cbc, TlsVersion::Ssl3),
            (0xc02b, K::Ecdhe, A::Ecdsa, B::Aead, TlsVersion::Tls12),
            (0xc025, K::Ecdh, A::Ecdsa, B::Cbc, TlsVersion::Tls12),
            (0x0094, K::Psk, A::Rsa, B::Cbc, TlsVersion::Ssl3),
            (0x00a8, K::Psk, A::Other, B::Aead, TlsVersion::Tls12),
            (0xc0a9, K::Psk, A::Other, B::Aead, TlsVersion::Tls12),
            (0x00ae, K::Psk, A::Other, B::Cbc, TlsVersion::Tls10),
            (0x00b3, K::Psk, A::Other, B::Cbc, TlsVersion::Tls10),
            (0xc038, K::Psk, A::Other, B::Cbc, TlsVersion::Tls10),
            (0xc01a, K::Other, A::Other, B::Cbc, TlsVersion::Ssl3),
        ];
        for (code, key_exchange, authentication, bulk, oldest) in cases {
            let suite = CipherSuite(code).facts().unwrap();
            assert_eq!(suite.key_exchange, key_exchange, "{}", suite.name);
            assert_eq!(suite.authentication, authentication, "{}", suite.name);
            assert_eq!(suite.protection, bulk, "{}", suite.name);
            let first = TlsVersion::ALL.into_iter().find(|v| suite.fits(*v));
            assert_eq!(first, Some(oldest), "{}", suite.name);
        }
    }
}
