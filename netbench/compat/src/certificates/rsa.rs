//! RSA operations that a library refuses: keys of 1024 bits, SHA-1. The keys are in the source, and protect no
//! data.

use num_bigint::BigUint;

use super::{
    der,
    digest::{Digest, md5_sha1},
    padded, pem_body,
};

/// An RSA key (RFC 8017).
#[derive(Debug)]
pub(crate) struct RsaKey {
    modulus: BigUint,
    /// The primes, the exponents modulo each prime less one, and the second prime's inverse modulo the first.
    primes: [BigUint; 2],
    exponents: [BigUint; 2],
    coefficient: BigUint,
    bytes: usize,
    /// RSAPublicKey.
    pub(crate) public: Vec<u8>,
}

impl RsaKey {
    /// Reads an RSAPrivateKey in PEM.
    pub(crate) fn of_pem(pem: &str) -> Option<Self> {
        let der = pem_body(pem)?;
        let numbers = der::read_sequence(&der)?;
        let [_, modulus, public, _, p, q, dp, dq, coefficient] = numbers.as_slice() else {
            return None;
        };
        let number = BigUint::from_bytes_be;
        let modulus_number = number(modulus);
        Some(Self {
            bytes: usize::try_from(modulus_number.bits().div_ceil(8)).ok()?,
            modulus: modulus_number,
            primes: [number(p), number(q)],
            exponents: [number(dp), number(dq)],
            coefficient: number(coefficient),
            public: der::sequence(&[&der::unsigned(modulus), &der::unsigned(public)]),
        })
    }

    /// Signs with RSASSA-PKCS1-v1_5.
    pub(crate) fn sign_pkcs1(&self, digest: Digest, message: &[u8]) -> Vec<u8> {
        let info = der::sequence(&[
            &der::sequence(&[&digest.oid(), &[5, 0]]),
            &der::value(der::tag::OCTET_STRING, &digest.of(message)),
        ]);
        self.sign_padded(&info)
    }

    /// Returns the signature of TLS 1.0 and 1.1: both digests, without a DigestInfo (RFC 2246 section 4.7).
    pub(crate) fn sign_md5_sha1(&self, message: &[u8]) -> Vec<u8> {
        self.sign_padded(&md5_sha1(message))
    }

    /// Signs a block of type 1 (RFC 2313 section 8.1).
    fn sign_padded(&self, data: &[u8]) -> Vec<u8> {
        let padding = vec![0xff; self.bytes.saturating_sub(data.len() + 3)];
        self.power(&[&[0, 1], padding.as_slice(), &[0], data].concat())
    }

    /// Signs with RSASSA-PSS, with MGF1 and a salt as long as the digest. The salt is always the same, so that a
    /// run can be repeated.
    pub(crate) fn sign_pss(&self, digest: Digest, message: &[u8]) -> Vec<u8> {
        let bits = usize::try_from(self.modulus.bits()).unwrap_or_default() - 1;
        let length = bits.div_ceil(8);
        let hash = digest.of(message);
        let salt = vec![0x5a; hash.len()];
        let digested = digest.of(&[&[0; 8], hash.as_slice(), &salt].concat());
        let zeros = length.saturating_sub(salt.len() + hash.len() + 2);
        let mut masked = [&vec![0; zeros], [1].as_slice(), &salt].concat();
        let mask = mask(digest, &digested, masked.len());
        for (byte, mask) in masked.iter_mut().zip(mask) {
            *byte ^= mask;
        }
        masked[0] &= 0xff >> (8 * length - bits);
        self.power(&[masked.as_slice(), &digested, &[0xbc]].concat())
    }

    /// Decrypts a ciphertext of RSAES-PKCS1-v1_5.
    pub(crate) fn decrypt(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        let plain = self.power(ciphertext);
        let rest = plain.strip_prefix(&[0, 2])?;
        let zero = rest.iter().position(|byte| *byte == 0)?;
        Some(rest[zero + 1..].to_vec())
    }

    /// Computes the private operation with the primes (RFC 8017 section 5.1.2, step 2 b).
    fn power(&self, bytes: &[u8]) -> Vec<u8> {
        let (message, [p, q]) = (BigUint::from_bytes_be(bytes), &self.primes);
        let [first, second] =
            [(p, 0), (q, 1)].map(|(prime, number)| message.modpow(&self.exponents[number], prime));
        let difference = (&first + p - &second % p) % p;
        let number = second + (difference * &self.coefficient % p) * q;
        padded(&number, self.bytes)
    }
}

/// Computes MGF1 (RFC 8017 appendix B.2.1).
fn mask(digest: Digest, seed: &[u8], length: usize) -> Vec<u8> {
    let blocks = (0_u32..).map(|counter| digest.of(&[seed, &counter.to_be_bytes()].concat()));
    let mut mask = Vec::new();
    for block in blocks {
        if mask.len() >= length {
            break;
        }
        mask.extend(block);
    }
    mask.truncate(length);
    mask
}
