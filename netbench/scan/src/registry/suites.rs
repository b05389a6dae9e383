//! What a suite's registered name says of it. The registry's names are systematic (RFC 5246
//! appendix C), so that everything is read from them.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Version, table::TABLE};

/// A cipher suite of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suite {
    /// The code point.
    pub code: u16,
    /// The registered name.
    pub name: &'static str,
}

/// How a suite's keys are agreed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum KeyExchange {
    /// Encrypted to the certificate's RSA key: no forward secrecy.
    Rsa,
    /// Fixed Diffie-Hellman.
    Dh,
    /// Ephemeral Diffie-Hellman over a finite field.
    Dhe,
    /// Fixed elliptic curve Diffie-Hellman.
    Ecdh,
    /// Ephemeral elliptic curve Diffie-Hellman.
    Ecdhe,
    /// A key shared beforehand, with or without another exchange.
    Psk,
    /// Kerberos, SRP, GOST, PWD.
    Other,
    /// TLS 1.3: the group says it, not the suite.
    Any,
}

/// How a suite's server proves who it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Authentication {
    /// An RSA certificate.
    Rsa,
    /// An ECDSA or EdDSA certificate (RFC 8422).
    Ecdsa,
    /// A DSA certificate.
    Dss,
    /// Not at all.
    Anonymous,
    /// A key shared beforehand, Kerberos, a password.
    Other,
    /// TLS 1.3: the signature scheme says it.
    Any,
}

/// How a suite protects records.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Bulk {
    /// Authenticated encryption.
    Aead,
    /// A block cipher in CBC mode.
    Cbc,
    /// RC4 and other stream ciphers.
    Stream,
    /// No encryption.
    Null,
}

/// What a name says, read once for every suite: a peel asks thousands of times.
#[derive(Debug, Clone, Copy)]
struct Facts {
    key_exchange: KeyExchange,
    authentication: Authentication,
    bulk: Bulk,
    is_broken: bool,
    needs_tls12: bool,
}

/// In the order of the table.
static FACTS: LazyLock<Vec<Facts>> = LazyLock::new(|| suites().map(Suite::read).collect());

/// Every suite, by code point.
pub fn suites() -> impl Iterator<Item = Suite> + Clone {
    TABLE.iter().map(|(code, name)| Suite { code: *code, name })
}

/// The suite of a code point.
pub fn suite(code: u16) -> Option<Suite> {
    let at = TABLE.binary_search_by_key(&code, |(code, _)| *code).ok()?;
    let (code, name) = TABLE[at];
    Some(Suite { code, name })
}

/// The registered name, or the code point in hexadecimal.
pub fn suite_name(code: u16) -> String {
    suite(code).map_or_else(|| format!("0x{code:04X}"), |s| s.name.to_owned())
}

/// The suites that may be negotiated in a version.
pub fn suites_of(version: Version) -> Vec<u16> {
    suites()
        .filter(|suite| suite.fits(version))
        .map(|suite| suite.code)
        .collect()
}

impl Suite {
    /// Whether the suite belongs to TLS 1.3, which has its own.
    pub fn is_tls13(self) -> bool {
        matches!(self.code, 0x1301..=0x1307 | 0x00c6 | 0x00c7 | 0xc0b4 | 0xc0b5 | 0xc103..=0xc106)
    }

    /// Whether the suite may be negotiated in `version`. AEAD and the SHA-2 MACs came with TLS 1.2.
    pub fn fits(self, version: Version) -> bool {
        match version {
            Version::Tls13 => self.is_tls13(),
            Version::Tls12 => !self.is_tls13(),
            _ => !self.is_tls13() && !self.facts().needs_tls12,
        }
    }

    /// How keys are agreed.
    pub fn key_exchange(self) -> KeyExchange {
        self.facts().key_exchange
    }

    /// How the server proves who it is.
    pub fn authentication(self) -> Authentication {
        self.facts().authentication
    }

    /// How records are protected.
    pub fn bulk(self) -> Bulk {
        self.facts().bulk
    }

    /// Whether the server signs its key exchange, so that a signature scheme is chosen.
    pub fn is_signed(self) -> bool {
        let ephemeral = matches!(
            self.key_exchange(),
            KeyExchange::Dhe | KeyExchange::Ecdhe | KeyExchange::Any
        );
        ephemeral
            && !matches!(
                self.authentication(),
                Authentication::Anonymous | Authentication::Other
            )
    }

    /// Whether a ServerKeyExchange message comes with it (RFC 5246 section 7.4.3, RFC 8422).
    pub fn has_server_key_exchange(self) -> bool {
        matches!(self.key_exchange(), KeyExchange::Dhe | KeyExchange::Ecdhe)
    }

    /// Whether security is that of the 1990s: no or broken encryption, 40, 56 or 64 bits.
    pub fn is_broken(self) -> bool {
        self.facts().is_broken
    }

    fn facts(self) -> Facts {
        let at = TABLE.binary_search_by_key(&self.code, |(code, _)| *code);
        at.ok()
            .and_then(|at| FACTS.get(at).copied())
            .unwrap_or_else(|| self.read())
    }

    fn read(self) -> Facts {
        let bulk = self.read_bulk();
        Facts {
            key_exchange: self.read_key_exchange(),
            authentication: self.read_authentication(),
            bulk,
            is_broken: self.read_broken(bulk),
            needs_tls12: self.read_needs_tls12(bulk),
        }
    }

    fn read_key_exchange(self) -> KeyExchange {
        if self.is_tls13() {
            return KeyExchange::Any;
        }
        let name = self.rest();
        if name.contains("PSK") {
            KeyExchange::Psk
        } else if name.starts_with("ECDHE_") || name.starts_with("ECDH_anon") {
            KeyExchange::Ecdhe
        } else if name.starts_with("ECDH_") {
            KeyExchange::Ecdh
        } else if name.starts_with("DHE_") || name.starts_with("DH_anon") {
            KeyExchange::Dhe
        } else if name.starts_with("DH_") {
            KeyExchange::Dh
        } else if name.starts_with("RSA_") {
            KeyExchange::Rsa
        } else {
            KeyExchange::Other
        }
    }

    fn read_authentication(self) -> Authentication {
        if self.is_tls13() {
            return Authentication::Any;
        }
        let name = self.rest();
        if name.contains("anon") {
            Authentication::Anonymous
        } else if name.contains("_PSK") && name.starts_with("RSA") {
            Authentication::Rsa
        } else if name.contains("PSK") {
            Authentication::Other
        } else if name.contains("ECDSA") {
            Authentication::Ecdsa
        } else if name.contains("DSS") {
            Authentication::Dss
        } else if name.contains("RSA") {
            Authentication::Rsa
        } else {
            Authentication::Other
        }
    }

    fn read_bulk(self) -> Bulk {
        let name = self.name;
        if name.contains("NULL") || matches!(self.code, 0xc0b4 | 0xc0b5) {
            Bulk::Null
        } else if ["GCM", "CCM", "POLY1305", "AEGIS", "MGM"]
            .iter()
            .any(|mode| name.contains(mode))
        {
            Bulk::Aead
        } else if name.contains("CBC") {
            Bulk::Cbc
        } else {
            Bulk::Stream
        }
    }

    fn read_broken(self, bulk: Bulk) -> bool {
        let weak = [
            "EXPORT", "RC4", "RC2", "DES_CBC", "DES40", "3DES", "IDEA", "anon",
        ];
        bulk == Bulk::Null || weak.iter().any(|word| self.name.contains(word))
    }

    fn read_needs_tls12(self, bulk: Bulk) -> bool {
        bulk == Bulk::Aead
            || self.name.ends_with("_SHA256")
            || self.name.ends_with("_SHA384")
            || matches!(self.code, 0xc100..=0xc102)
    }

    fn rest(self) -> &'static str {
        self.name.strip_prefix("TLS_").unwrap_or(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_every_suite_once() {
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(TABLE.len(), 349);
    }

    #[test]
    fn names_say_what_suites_are() {
        use Authentication as A;
        use Bulk as B;
        use KeyExchange as K;
        let cases = [
            (0x1301, K::Any, A::Any, B::Aead, Version::Tls13),
            (0x0001, K::Rsa, A::Rsa, B::Null, Version::Ssl3),
            (0x0005, K::Rsa, A::Rsa, B::Stream, Version::Ssl3),
            (0x0018, K::Dhe, A::Anonymous, B::Stream, Version::Ssl3),
            (0x0030, K::Dh, A::Dss, B::Cbc, Version::Ssl3),
            (0x0033, K::Dhe, A::Rsa, B::Cbc, Version::Ssl3),
            (0x003c, K::Rsa, A::Rsa, B::Cbc, Version::Tls12),
            (0x009e, K::Dhe, A::Rsa, B::Aead, Version::Tls12),
            (0xc013, K::Ecdhe, A::Rsa, B::Cbc, Version::Ssl3),
            (0xc018, K::Ecdhe, A::Anonymous, B::Cbc, Version::Ssl3),
            (0xc02b, K::Ecdhe, A::Ecdsa, B::Aead, Version::Tls12),
            (0xc025, K::Ecdh, A::Ecdsa, B::Cbc, Version::Tls12),
            (0x0094, K::Psk, A::Rsa, B::Cbc, Version::Ssl3),
            (0x00a8, K::Psk, A::Other, B::Aead, Version::Tls12),
            (0xc0a9, K::Psk, A::Other, B::Aead, Version::Tls12),
            (0xc01a, K::Other, A::Other, B::Cbc, Version::Ssl3),
        ];
        for (code, key_exchange, authentication, bulk, oldest) in cases {
            let suite = suite(code).unwrap();
            assert_eq!(suite.key_exchange(), key_exchange, "{}", suite.name);
            assert_eq!(suite.authentication(), authentication, "{}", suite.name);
            assert_eq!(suite.bulk(), bulk, "{}", suite.name);
            let first = Version::ALL.into_iter().find(|v| suite.fits(*v));
            assert_eq!(first, Some(oldest), "{}", suite.name);
        }
    }
}
