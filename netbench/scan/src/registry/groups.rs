//! The IANA registry "TLS Supported Groups".

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a group computes with.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum GroupKind {
    /// An elliptic curve.
    Ec,
    /// A finite field (RFC 7919).
    Ffdhe,
    /// ML-KEM alone, for TLS 1.3.
    MlKem,
    /// ML-KEM with a curve, for TLS 1.3.
    Hybrid,
}

/// The prime of a finite-field group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FfdheSize {
    /// Bits of the prime.
    pub bits: u32,
    /// `ffdhe` (RFC 7919), `modp` (RFC 2409, RFC 3526), or `own`.
    pub origin: String,
}

const TABLE: &[(u16, &str, GroupKind)] = &[
    (0x0001, "sect163k1", GroupKind::Ec),
    (0x0002, "sect163r1", GroupKind::Ec),
    (0x0003, "sect163r2", GroupKind::Ec),
    (0x0004, "sect193r1", GroupKind::Ec),
    (0x0005, "sect193r2", GroupKind::Ec),
    (0x0006, "sect233k1", GroupKind::Ec),
    (0x0007, "sect233r1", GroupKind::Ec),
    (0x0008, "sect239k1", GroupKind::Ec),
    (0x0009, "sect283k1", GroupKind::Ec),
    (0x000a, "sect283r1", GroupKind::Ec),
    (0x000b, "sect409k1", GroupKind::Ec),
    (0x000c, "sect409r1", GroupKind::Ec),
    (0x000d, "sect571k1", GroupKind::Ec),
    (0x000e, "sect571r1", GroupKind::Ec),
    (0x000f, "secp160k1", GroupKind::Ec),
    (0x0010, "secp160r1", GroupKind::Ec),
    (0x0011, "secp160r2", GroupKind::Ec),
    (0x0012, "secp192k1", GroupKind::Ec),
    (0x0013, "secp192r1", GroupKind::Ec),
    (0x0014, "secp224k1", GroupKind::Ec),
    (0x0015, "secp224r1", GroupKind::Ec),
    (0x0016, "secp256k1", GroupKind::Ec),
    (0x0017, "secp256r1", GroupKind::Ec),
    (0x0018, "secp384r1", GroupKind::Ec),
    (0x0019, "secp521r1", GroupKind::Ec),
    (0x001a, "brainpoolP256r1", GroupKind::Ec),
    (0x001b, "brainpoolP384r1", GroupKind::Ec),
    (0x001c, "brainpoolP512r1", GroupKind::Ec),
    (0x001d, "x25519", GroupKind::Ec),
    (0x001e, "x448", GroupKind::Ec),
    (0x001f, "brainpoolP256r1tls13", GroupKind::Ec),
    (0x0020, "brainpoolP384r1tls13", GroupKind::Ec),
    (0x0021, "brainpoolP512r1tls13", GroupKind::Ec),
    (0x0022, "GC256A", GroupKind::Ec),
    (0x0023, "GC256B", GroupKind::Ec),
    (0x0024, "GC256C", GroupKind::Ec),
    (0x0025, "GC256D", GroupKind::Ec),
    (0x0026, "GC512A", GroupKind::Ec),
    (0x0027, "GC512B", GroupKind::Ec),
    (0x0028, "GC512C", GroupKind::Ec),
    (0x0029, "curveSM2", GroupKind::Ec),
    (0x0100, "ffdhe2048", GroupKind::Ffdhe),
    (0x0101, "ffdhe3072", GroupKind::Ffdhe),
    (0x0102, "ffdhe4096", GroupKind::Ffdhe),
    (0x0103, "ffdhe6144", GroupKind::Ffdhe),
    (0x0104, "ffdhe8192", GroupKind::Ffdhe),
    (0x0200, "MLKEM512", GroupKind::MlKem),
    (0x0201, "MLKEM768", GroupKind::MlKem),
    (0x0202, "MLKEM1024", GroupKind::MlKem),
    (0x11eb, "SecP256r1MLKEM768", GroupKind::Hybrid),
    (0x11ec, "X25519MLKEM768", GroupKind::Hybrid),
    (0x11ed, "SecP384r1MLKEM1024", GroupKind::Hybrid),
    (0x11ee, "curveSM2MLKEM768", GroupKind::Hybrid),
    // Not registered any more, but still deployed.
    (0x6399, "X25519Kyber768Draft00", GroupKind::Hybrid),
];

/// Every group: code point and kind, by code point.
pub fn groups() -> impl Iterator<Item = (u16, GroupKind)> + Clone {
    TABLE.iter().map(|(code, _, kind)| (*code, *kind))
}

/// The registered name, or the code point in hexadecimal.
pub fn group_name(code: u16) -> String {
    TABLE.iter().find(|(known, ..)| *known == code).map_or_else(
        || format!("0x{code:04X}"),
        |(_, name, _)| (*name).to_owned(),
    )
}

/// What the group computes with, where it is registered.
pub fn group_kind(code: u16) -> Option<GroupKind> {
    TABLE
        .iter()
        .find(|(known, ..)| *known == code)
        .map(|(.., kind)| *kind)
}

impl FfdheSize {
    /// Of a prime as a ServerKeyExchange has it. The first words of the primes of RFC 7919 and of
    /// the MODP groups tell them apart: those are digits of e and of pi.
    pub fn of_prime(prime: &[u8]) -> Self {
        const E: [u8; 12] = [
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xad, 0xf8, 0x54, 0x58,
        ];
        const PI: [u8; 12] = [
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc9, 0x0f, 0xda, 0xa2,
        ];
        let zeros = prime.iter().take_while(|byte| **byte == 0).count();
        let digits = &prime[zeros..];
        let leading = digits.first().map_or(8, |byte| byte.leading_zeros());
        let bits = u32::try_from(digits.len() * 8)
            .unwrap_or(u32::MAX)
            .saturating_sub(if digits.is_empty() { 0 } else { leading });
        let origin = if digits.starts_with(&E) {
            "ffdhe"
        } else if digits.starts_with(&PI) {
            "modp"
        } else {
            "own"
        };
        Self {
            bits,
            origin: origin.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_have_sizes_and_origins() {
        let mut ffdhe = vec![0xff; 256];
        ffdhe[8..12].copy_from_slice(&[0xad, 0xf8, 0x54, 0x58]);
        let cases = [
            (ffdhe, 2048, "ffdhe"),
            (vec![0x01, 0, 0], 17, "own"),
            (vec![0, 0x80], 8, "own"),
            (vec![], 0, "own"),
        ];
        for (prime, bits, origin) in cases {
            let size = FfdheSize::of_prime(&prime);
            assert_eq!((size.bits, size.origin.as_str()), (bits, origin));
        }
    }
}
