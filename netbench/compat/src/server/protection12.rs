//! Record protection of TLS 1.0 to 1.2: an AEAD, or a MAC before the encryption by a block cipher in CBC mode or by RC4
//! (RFC 2246, 4346 and 5246, each section 6.2.3).

use aws_lc_rs::{
    cipher::{
        AES_128, AES_256, DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext,
        UnboundCipherKey,
    },
    hmac,
    iv::FixedLength,
    rand,
};
use des::{
    TdesEde3,
    cipher::{BlockDecrypt, BlockEncrypt, KeyInit, generic_array::GenericArray},
};
use netbench_model::{CipherSuite, TlsVersion, tls::Protection as Kind};
use netbench_scan::crypto::Protection12;

use super::hashing::Hashing;

/// Protection of one direction.
pub(super) enum Protection {
    Aead(Box<Protection12>),
    Mac(Box<WithMac>),
}

/// HMAC, and the encryption of data and MAC.
pub(super) struct WithMac {
    version: TlsVersion,
    mac: hmac::Key,
    mac_length: usize,
    sequence: u64,
    encryption: Encryption,
}

enum Encryption {
    Cbc {
        key: BlockKey,
        /// The last block of the previous record, in TLS 1.0: the initialization vector of the next one. Later
        /// versions send a vector with each record.
        chained: Option<Vec<u8>>,
    },
    Rc4(Box<Rc4>),
}

/// The keys of both directions.
pub(super) struct Pair {
    pub(super) client: Protection,
    pub(super) server: Protection,
}

impl Pair {
    /// Derives the keys from the main secret and the randoms of client and server. Returns `None` for a suite whose
    /// records cannot be protected here.
    pub(super) fn new(
        version: TlsVersion,
        suite: CipherSuite,
        hash: Hashing,
        main: &[u8],
        [client_random, server_random]: [&[u8; 32]; 2],
    ) -> Option<Self> {
        let seed = [*server_random, *client_random].concat();
        let [mac, key, iv] = lengths(version, suite)?;
        let block = hash.prf(main, "key expansion", &seed, 2 * (mac + key + iv));
        let (macs, rest) = block.split_at_checked(2 * mac)?;
        let (keys, ivs) = rest.split_at_checked(2 * key)?;
        let (macs, keys, ivs) = (macs.split_at(mac), keys.split_at(key), ivs.split_at(iv));
        Some(Self {
            client: protection(version, suite, [macs.0, keys.0, ivs.0])?,
            server: protection(version, suite, [macs.1, keys.1, ivs.1])?,
        })
    }
}

/// Returns one side's protection, by its part of the key block.
fn protection(
    version: TlsVersion,
    suite: CipherSuite,
    [mac, key, iv]: [&[u8]; 3],
) -> Option<Protection> {
    if suite.facts()?.protection == Kind::Aead {
        let aead = Protection12::new(suite.0, key, iv)?;
        return Some(Protection::Aead(Box::new(aead)));
    }
    let encryption = match BlockKey::new(suite, key) {
        Some(key) => Encryption::Cbc {
            key,
            chained: (version < TlsVersion::Tls11).then(|| iv.to_vec()),
        },
        None => Encryption::Rc4(Box::new(Rc4::new(key))),
    };
    let algorithm = match mac.len() {
        20 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        32 => hmac::HMAC_SHA256,
        _ => hmac::HMAC_SHA384,
    };
    Some(Protection::Mac(Box::new(WithMac {
        version,
        mac: hmac::Key::new(algorithm, mac),
        mac_length: mac.len(),
        sequence: 0,
        encryption,
    })))
}

/// Returns the lengths of one side's MAC key, key and vector in the key block.
fn lengths(version: TlsVersion, suite: CipherSuite) -> Option<[usize; 3]> {
    if suite.facts()?.protection == Kind::Aead {
        let (key, iv) = Protection12::lengths(suite.0)?;
        return Some([0, key, iv]);
    }
    let name = suite.facts()?.name;
    let (key, block) = match name {
        name if name.contains("AES_128_CBC") => (16, 16),
        name if name.contains("AES_256_CBC") => (32, 16),
        name if name.contains("3DES_EDE_CBC") => (24, 8),
        name if name.contains("RC4_128") => (16, 0),
        _ => return None,
    };
    let mac = match name {
        name if name.ends_with("_SHA") => 20,
        name if name.ends_with("_SHA256") => 32,
        name if name.ends_with("_SHA384") => 48,
        _ => return None,
    };
    let iv = if version < TlsVersion::Tls11 {
        block
    } else {
        0
    };
    Some([mac, key, iv])
}

impl Protection {
    /// Decrypts a record.
    pub(super) fn open(&mut self, content: u8, payload: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Aead(aead) => aead.open(content, payload),
            Self::Mac(with_mac) => with_mac.open(content, payload),
        }
    }

    /// Encrypts a whole record.
    pub(super) fn seal(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Aead(aead) => aead.seal(content, plain),
            Self::Mac(with_mac) => with_mac.seal(content, plain),
        }
    }
}

impl WithMac {
    fn tag(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        let sequence = self.sequence.to_be_bytes();
        self.sequence += 1;
        let head = [sequence.as_slice(), &self.head(content, plain)?];
        let tag = hmac::sign(&self.mac, &[head.concat().as_slice(), plain].concat());
        Some(tag.as_ref().to_vec())
    }

    /// Returns type, version and length.
    fn head(&self, content: u8, bytes: &[u8]) -> Option<[u8; 5]> {
        let [major, minor] = self.version.code().to_be_bytes();
        let [high, low] = u16::try_from(bytes.len()).ok()?.to_be_bytes();
        Some([content, major, minor, high, low])
    }

    fn open(&mut self, content: u8, payload: &[u8]) -> Option<Vec<u8>> {
        let plain = self.encryption.decrypt(payload)?;
        let end = plain.len().checked_sub(self.mac_length)?;
        let (data, sent) = plain.split_at(end);
        let tag = self.tag(content, data)?;
        (sent == tag).then(|| data.to_vec())
    }

    fn seal(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        let tag = self.tag(content, plain)?;
        let payload = self.encryption.encrypt([plain, &tag].concat())?;
        Some([self.head(content, &payload)?.as_slice(), &payload].concat())
    }
}

impl Encryption {
    /// Encrypts data and MAC to a record's payload.
    fn encrypt(&mut self, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        let (key, chained) = match self {
            Self::Rc4(rc4) => {
                rc4.apply(&mut bytes);
                return Some(bytes);
            }
            Self::Cbc { key, chained } => (key, chained),
        };
        let padding = key.block() - bytes.len() % key.block();
        let last = u8::try_from(padding - 1).ok()?;
        bytes.extend(vec![last; padding]);
        let Some(vector) = chained else {
            let mut vector = vec![0; key.block()];
            rand::fill(&mut vector).ok()?;
            key.encrypt(&mut bytes, &vector)?;
            return Some([vector, bytes].concat());
        };
        key.encrypt(&mut bytes, vector)?;
        *vector = bytes[bytes.len() - key.block()..].to_vec();
        Some(bytes)
    }

    /// Decrypts a record's payload to data and MAC.
    fn decrypt(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        let (key, chained) = match self {
            Self::Rc4(rc4) => {
                let mut bytes = payload.to_vec();
                rc4.apply(&mut bytes);
                return Some(bytes);
            }
            Self::Cbc { key, chained } => (key, chained),
        };
        let (vector, bytes) = match chained {
            Some(vector) => (vector.clone(), payload),
            None => {
                let (vector, bytes) = payload.split_at_checked(key.block())?;
                (vector.to_vec(), bytes)
            }
        };
        let mut plain = bytes.to_vec();
        key.decrypt(&mut plain, &vector)?;
        if let Some(vector) = chained {
            *vector = bytes[bytes.len() - key.block()..].to_vec();
        }
        let padding = usize::from(*plain.last()?) + 1;
        plain.truncate(plain.len().checked_sub(padding)?);
        Some(plain)
    }
}

/// The key of a block cipher.
enum BlockKey {
    Aes(Box<EncryptingKey>, Box<DecryptingKey>),
    TripleDes(Box<TdesEde3>),
}

const AES_BLOCK: usize = 16;
const DES_BLOCK: usize = 8;

impl BlockKey {
    /// Creates the key. Returns `None` for a suite without a block cipher.
    fn new(suite: CipherSuite, key: &[u8]) -> Option<Self> {
        let name = suite.facts()?.name;
        if name.contains("3DES") {
            let key = TdesEde3::new_from_slice(key).ok()?;
            return Some(Self::TripleDes(Box::new(key)));
        }
        if !name.contains("AES") {
            return None;
        }
        let cipher = if key.len() == 16 { &AES_128 } else { &AES_256 };
        let [encrypting, decrypting] = [(); 2].map(|()| UnboundCipherKey::new(cipher, key));
        Some(Self::Aes(
            Box::new(EncryptingKey::cbc(encrypting.ok()?).ok()?),
            Box::new(DecryptingKey::cbc(decrypting.ok()?).ok()?),
        ))
    }

    fn block(&self) -> usize {
        match self {
            Self::Aes(..) => AES_BLOCK,
            Self::TripleDes(_) => DES_BLOCK,
        }
    }

    fn encrypt(&self, bytes: &mut [u8], vector: &[u8]) -> Option<()> {
        match self {
            Self::Aes(key, _) => {
                let vector: [u8; AES_BLOCK] = vector.try_into().ok()?;
                let context = EncryptionContext::Iv128(FixedLength::from(vector));
                key.less_safe_encrypt(bytes, context).ok()?;
            }
            Self::TripleDes(key) => {
                let mut before = vector.to_vec();
                for block in bytes.chunks_exact_mut(DES_BLOCK) {
                    mix(block, &before);
                    key.encrypt_block(GenericArray::from_mut_slice(block));
                    before = block.to_vec();
                }
            }
        }
        Some(())
    }

    /// Decrypts whole blocks. Returns `None` for a partial block.
    fn decrypt(&self, bytes: &mut [u8], vector: &[u8]) -> Option<()> {
        if bytes.is_empty() || !bytes.len().is_multiple_of(self.block()) {
            return None;
        }
        match self {
            Self::Aes(_, key) => {
                let vector: [u8; AES_BLOCK] = vector.try_into().ok()?;
                let context = DecryptionContext::Iv128(FixedLength::from(vector));
                key.decrypt(bytes, context).ok()?;
            }
            Self::TripleDes(key) => {
                let mut before = vector.to_vec();
                for block in bytes.chunks_exact_mut(DES_BLOCK) {
                    let encrypted = block.to_vec();
                    key.decrypt_block(GenericArray::from_mut_slice(block));
                    mix(block, &before);
                    before = encrypted;
                }
            }
        }
        Some(())
    }
}

fn mix(block: &mut [u8], with: &[u8]) {
    for (byte, other) in block.iter_mut().zip(with) {
        *byte ^= other;
    }
}

/// RC4, for clients that must not accept it (RFC 7465).
struct Rc4 {
    state: [u8; 256],
    i: u8,
    j: u8,
}

impl Rc4 {
    fn new(key: &[u8]) -> Self {
        let mut state = [0; 256];
        for (byte, number) in state.iter_mut().zip(0..=u8::MAX) {
            *byte = number;
        }
        let mut j = 0_u8;
        for (i, of_key) in (0..state.len()).zip(key.iter().cycle()) {
            j = j.wrapping_add(state[i]).wrapping_add(*of_key);
            state.swap(i, usize::from(j));
        }
        Self { state, i: 0, j: 0 }
    }

    fn apply(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.i = self.i.wrapping_add(1);
            let first = self.state[usize::from(self.i)];
            self.j = self.j.wrapping_add(first);
            let second = self.state[usize::from(self.j)];
            self.state.swap(usize::from(self.i), usize::from(self.j));
            *byte ^= self.state[usize::from(first.wrapping_add(second))];
        }
    }
}
