//! The server's half of a key exchange.

use aws_lc_rs::{
    kem::{EncapsulationKey, ML_KEM_768},
    rand,
};
use netbench_model::Group;
use netbench_scan::PrivateShare;
use num_bigint::BigUint;

use crate::certificates::padded;

/// The length of an encapsulation key of ML-KEM-768.
const ML_KEM_768_KEY: usize = 1184;

/// Returns the server's public value, and the secret shared with a client that sent `theirs`. Returns `None` for a
/// group that cannot be computed here, and for a value that does not belong to the group.
pub(super) fn answer(group: Group, theirs: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    if group != Group::X25519MLKEM768 {
        let share = PrivateShare::new(group.0)?;
        return Some((share.public()?.public, share.agree(theirs)?));
    }
    let (key, point) = theirs.split_at_checked(ML_KEM_768_KEY)?;
    let key = EncapsulationKey::new(&ML_KEM_768, key).ok()?;
    let (ciphertext, secret) = key.encapsulate().ok()?;
    let (public, shared) = answer(Group::X25519, point)?;
    Some((
        [ciphertext.as_ref(), &public].concat(),
        [secret.as_ref(), &shared].concat(),
    ))
}

/// Diffie-Hellman over a prime of RFC 2409 or RFC 3526, with generator 2.
pub(super) struct FiniteField {
    prime: BigUint,
    secret: BigUint,
}

impl FiniteField {
    /// Creates a key with a prime of 1024 or 2048 bits.
    pub(super) fn new(bits: u16) -> Option<Self> {
        let prime = BigUint::parse_bytes(prime(bits)?.as_bytes(), 16)?;
        let mut secret = [0; 32];
        rand::fill(&mut secret).ok()?;
        Some(Self {
            prime,
            secret: BigUint::from_bytes_be(&secret),
        })
    }

    pub(super) fn prime(&self) -> Vec<u8> {
        self.prime.to_bytes_be()
    }

    pub(super) fn public(&self) -> Vec<u8> {
        let power = BigUint::from(2_u8).modpow(&self.secret, &self.prime);
        padded(&power, self.prime().len())
    }

    /// Returns the secret, without its leading zeros (RFC 5246 section 8.1.2).
    pub(super) fn agree(&self, theirs: &[u8]) -> Vec<u8> {
        BigUint::from_bytes_be(theirs)
            .modpow(&self.secret, &self.prime)
            .to_bytes_be()
    }
}

fn prime(bits: u16) -> Option<&'static str> {
    match bits {
        // The second Oakley group, RFC 2409 section 6.2.
        1024 => Some(concat!(
            "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD",
            "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED",
            "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF"
        )),
        // The 2048-bit MODP group, RFC 3526 section 3.
        2048 => Some(concat!(
            "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD",
            "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED",
            "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F",
            "83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B",
            "E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510",
            "15728E5A8AACAA68FFFFFFFFFFFFFFFF"
        )),
        _ => None,
    }
}
