use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::code_point::code_point;

code_point!(
    /// A key-exchange group (RFC 8446 section 4.2.7), with its name in IANA's registry "TLS Supported Groups".
    Group(u16), "group", "groups.tsv", "0x{:04X}", {
        X25519MLKEM768 = 0x11EC,
        X25519 = 0x001D,
        SECP256R1 = 0x0017,
        SECP384R1 = 0x0018,
    }
);

impl Group {
    /// The groups that clients offer, as far as all chosen stacks support them, in the order of preference of browsers.
    pub const OFFERED: &'static [Self] = &[
        Self::X25519MLKEM768,
        Self::X25519,
        Self::SECP256R1,
        Self::SECP384R1,
    ];

    /// Returns the arithmetic of the group, if it is registered.
    pub fn kind(self) -> Option<GroupKind> {
        match Self::registry().row(self.0)?.column {
            "ec" => Some(GroupKind::Ec),
            "ffdhe" => Some(GroupKind::Ffdhe),
            "ml-kem" => Some(GroupKind::MlKem),
            "hybrid" => Some(GroupKind::Hybrid),
            _ => None,
        }
    }
}

/// The arithmetic of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Size of the prime, in bits.
    pub bits: u32,
    /// `ffdhe` (RFC 7919), `modp` (RFC 2409, RFC 3526), or `own`.
    pub origin: String,
}

impl FfdheSize {
    /// Creates the size of a prime in a ServerKeyExchange. The first words of the primes distinguish RFC 7919 from the
    /// MODP groups: they are digits of e and of pi.
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
