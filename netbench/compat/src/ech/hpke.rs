//! The receiver's side of HPKE in base mode (RFC 9180), with X25519 and SHA-256.

use aws_lc_rs::{
    aead,
    agreement::{self, PrivateKey, UnparsedPublicKey, X25519},
};
use netbench_scan::crypto::{Hash, Series};

/// DHKEM(X25519, HKDF-SHA256).
pub(super) const KEM_X25519: u16 = 0x0020;

/// HKDF-SHA256.
pub(super) const KDF_SHA256: u16 = 0x0001;

/// AES-128-GCM, AES-256-GCM and ChaCha20-Poly1305.
pub(super) const AEADS: [u16; 3] = [1, 2, 3];

/// The length of a key of X25519.
const KEY_BYTES: usize = 32;

/// The length of a nonce of each AEAD.
const NONCE_BYTES: usize = 12;

const HASH: Hash = Hash::Sha256;

/// Returns the public key of a private key.
pub(super) fn public_key(private: &[u8; KEY_BYTES]) -> Option<Vec<u8>> {
    let key = PrivateKey::from_private_key(&X25519, private).ok()?;
    Some(key.compute_public_key().ok()?.as_ref().to_vec())
}

/// Computes the context of `SetupBaseR` for an encapsulated key, which opens a series of messages. Returns `None` if that is no
/// key of X25519, or if the AEAD is unknown.
pub(crate) fn receiver(
    aead: u16,
    private: &[u8; KEY_BYTES],
    encapsulated: &[u8],
    info: &[u8],
) -> Option<Series> {
    let algorithm = match aead {
        1 => &aead::AES_128_GCM,
        2 => &aead::AES_256_GCM,
        3 => &aead::CHACHA20_POLY1305,
        _ => return None,
    };
    let shared = decapsulated(private, encapsulated)?;
    let ids = [*b"HP", *b"KE"].into_iter();
    let numbers = [KEM_X25519, KDF_SHA256, aead].map(u16::to_be_bytes);
    let suite = Labels(ids.chain(numbers).flatten().collect());
    let mut context = vec![0];
    context.extend(suite.extract(&[], "psk_id_hash", &[]));
    context.extend(suite.extract(&[], "info_hash", info));
    let secret = suite.extract(&shared, "secret", &[]);
    let key = suite.expand(&secret, "key", &context, algorithm.key_len());
    let nonce = suite.expand(&secret, "base_nonce", &context, NONCE_BYTES);
    Series::new(algorithm, &key, nonce.try_into().ok()?)
}

/// Returns the secret of `Decap` (RFC 9180 section 4.1).
fn decapsulated(private: &[u8; KEY_BYTES], encapsulated: &[u8]) -> Option<Vec<u8>> {
    let key = PrivateKey::from_private_key(&X25519, private).ok()?;
    let theirs = UnparsedPublicKey::new(&X25519, encapsulated);
    let shared = agreement::agree(&key, theirs, (), |shared| Ok(shared.to_vec())).ok()?;
    let context = [encapsulated, &public_key(private)?].concat();
    let [high, low] = KEM_X25519.to_be_bytes();
    let kem = Labels(vec![b'K', b'E', b'M', high, low]);
    let secret = kem.extract(&[], "eae_prk", &shared);
    Some(kem.expand(&secret, "shared_secret", &context, HASH.length()))
}

/// The key derivation of a suite, by its `suite_id`.
struct Labels(Vec<u8>);

impl Labels {
    const VERSION: &[u8] = b"HPKE-v1";

    fn extract(&self, salt: &[u8], label: &str, input: &[u8]) -> Vec<u8> {
        let labeled = [Self::VERSION, &self.0, label.as_bytes(), input].concat();
        HASH.extract(salt, &labeled)
    }

    /// Computes `LabeledExpand`, for at most as many bytes as the hash has.
    fn expand(&self, secret: &[u8], label: &str, info: &[u8], length: usize) -> Vec<u8> {
        let bytes = u16::try_from(length).unwrap_or_default().to_be_bytes();
        let parts = [&bytes, Self::VERSION, &self.0, label.as_bytes(), info];
        HASH.expand(secret, &parts.concat(), length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        digits
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    const PRIVATE: &str = "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8";
    const INFO: &[u8] = b"Ode on a Grecian Urn";

    fn opened(aead: u16, encapsulated: &str, messages: [(&[u8], &str); 2]) -> Vec<Option<Vec<u8>>> {
        let private = bytes(PRIVATE).try_into().unwrap();
        let mut receiver = receiver(aead, &private, &bytes(encapsulated), INFO).unwrap();
        messages
            .iter()
            .map(|(associated, encrypted)| receiver.open(associated, &bytes(encrypted)))
            .collect()
    }

    /// The first two messages of RFC 9180 appendix A.1.1.
    #[test]
    fn messages_of_the_rfc_are_opened() {
        let private = bytes(PRIVATE).try_into().unwrap();
        let public = bytes("3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d");
        assert_eq!(public_key(&private), Some(public));
        let plain = Some(b"Beauty is truth, truth beauty".to_vec());
        let messages: [(&[u8], &str); 2] = [
            (
                b"Count-0",
                "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
            ),
            (
                b"Count-1",
                "af2d7e9ac9ae7e270f46ba1f975be53c09f8d875bdc8535458c2494e8a6eab251c03d0c22a56b8ca42c2063b84",
            ),
        ];
        let encapsulated = "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431";
        assert_eq!(
            opened(1, encapsulated, messages),
            [plain.clone(), plain.clone()]
        );
        // The wrong order, the wrong associated data and the wrong AEAD.
        let swapped = [messages[1], messages[0]];
        assert_eq!(opened(1, encapsulated, swapped), [None, plain]);
        let other = [(b"Count-1".as_slice(), messages[0].1); 2];
        assert_eq!(opened(1, encapsulated, other), [None, None]);
        assert_eq!(opened(2, encapsulated, messages), [None, None]);
        assert!(receiver(4, &private, &bytes(encapsulated), INFO).is_none());
        assert!(receiver(1, &private, &bytes(encapsulated)[1..], INFO).is_none());
        assert!(receiver(1, &private, &[0; 32], INFO).is_none());
    }

    /// Messages that Go's crypto/hpke sealed.
    #[test]
    fn messages_of_another_implementation_are_opened() {
        for (aead, encapsulated, first, second) in [
            (
                2,
                "af965071a37c79a4575680d404e57dbd0cb58d2453c97135e37bc0ba1173984d",
                "8f91e81acc8ffbe09b30710c557071c0078fb68631",
                "fd2df4a4d24ca42c90aead2fa7d946f3a79c24ebea69",
            ),
            (
                3,
                "295b2cd5790c1ed0e6fcb99f36266c36c402d8d4a1dcd145329801589b204d39",
                "84f7033d5f147ccb035c8687b3dae81d6166b15eb9",
                "de85c86b054be2c88f7e63ea8ab6e7c1cae927baba9a",
            ),
        ] {
            let messages: [(&[u8], &str); 2] = [(b"Count-0", first), (b"Count-1", second)];
            let due = [Some(b"first".to_vec()), Some(b"second".to_vec())];
            assert_eq!(opened(aead, encapsulated, messages), due, "{aead}");
        }
    }
}
