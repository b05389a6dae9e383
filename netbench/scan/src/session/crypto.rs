//! HKDF (RFC 5869) and the key schedule's functions (RFC 8446 section 7.1), the PRF of TLS 1.2
//! (RFC 5246 section 5), and record protection.

use aws_lc_rs::{aead, digest, hmac};
use netbench_model::tls::CipherSuite;

use crate::codec::{Reader, put_vec8};

/// The hash of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
}

impl Hash {
    /// Returns the hash of a suite, by the end of its name: SHA-256 if that is SHA-1, as in TLS 1.2.
    pub fn of(suite: u16) -> Self {
        match CipherSuite(suite).facts() {
            Some(suite) if suite.name.ends_with("SHA384") => Self::Sha384,
            _ => Self::Sha256,
        }
    }

    /// Returns the length of a digest.
    pub fn length(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
        }
    }

    /// Returns the digest of these bytes.
    pub fn of_bytes(self, bytes: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
        };
        digest::digest(algorithm, bytes).as_ref().to_vec()
    }

    /// Computes HMAC with this hash.
    pub fn hmac(self, key: &[u8], data: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Self::Sha256 => hmac::HMAC_SHA256,
            Self::Sha384 => hmac::HMAC_SHA384,
        };
        hmac::sign(&hmac::Key::new(algorithm, key), data)
            .as_ref()
            .to_vec()
    }

    /// Computes HKDF-Extract; an empty input stands for zeros.
    pub fn extract(self, salt: &[u8], input: &[u8]) -> Vec<u8> {
        let zeros = vec![0; self.length()];
        let salt = if salt.is_empty() { &zeros } else { salt };
        let input = if input.is_empty() { &zeros } else { input };
        self.hmac(salt, input)
    }

    /// Computes HKDF-Expand-Label.
    pub fn expand(self, secret: &[u8], label: &str, context: &[u8], length: usize) -> Vec<u8> {
        let mut info = u16::try_from(length).unwrap_or(0).to_be_bytes().to_vec();
        let label = [b"tls13 ", label.as_bytes()].concat();
        put_vec8(&mut info, &label);
        put_vec8(&mut info, context);
        let mut output = Vec::with_capacity(length);
        let mut block = Vec::new();
        let mut counter = 1;
        while output.len() < length {
            block = self.hmac(secret, &[&block, info.as_slice(), &[counter]].concat());
            output.extend_from_slice(&block);
            counter += 1;
        }
        output.truncate(length);
        output
    }

    /// Computes Derive-Secret from a transcript's hash.
    pub fn derive(self, secret: &[u8], label: &str, transcript_hash: &[u8]) -> Vec<u8> {
        self.expand(secret, label, transcript_hash, self.length())
    }

    /// Returns the handshake secret of TLS 1.3 from the secret of the key exchange.
    pub fn handshake_secret(self, shared: &[u8]) -> Vec<u8> {
        self.next_secret(&self.extract(&[], &[]), shared)
    }

    /// Returns the main secret of TLS 1.3.
    pub fn main_secret(self, handshake_secret: &[u8]) -> Vec<u8> {
        self.next_secret(handshake_secret, &[])
    }

    fn next_secret(self, secret: &[u8], input: &[u8]) -> Vec<u8> {
        let derived = self.derive(secret, "derived", &self.of_bytes(&[]));
        self.extract(&derived, input)
    }

    /// Returns the `verify_data` of a Finished message or of a binder in TLS 1.3.
    pub fn finished(self, secret: &[u8], transcript: &[u8]) -> Vec<u8> {
        let key = self.expand(secret, "finished", &[], self.length());
        self.hmac(&key, &self.of_bytes(transcript))
    }

    /// Computes the PRF of TLS 1.2.
    pub fn prf(self, secret: &[u8], label: &str, seed: &[u8], length: usize) -> Vec<u8> {
        let seed = [label.as_bytes(), seed].concat();
        p_hash(|key, data| self.hmac(key, data), secret, &seed, length)
    }
}

/// Computes P_hash (RFC 2246 section 5).
pub fn p_hash(
    hmac: impl Fn(&[u8], &[u8]) -> Vec<u8>,
    secret: &[u8],
    seed: &[u8],
    length: usize,
) -> Vec<u8> {
    let mut a = seed.to_vec();
    let mut output = Vec::with_capacity(length);
    while output.len() < length {
        a = hmac(secret, &a);
        output.extend(hmac(secret, &[a.as_slice(), seed].concat()));
    }
    output.truncate(length);
    output
}

/// Returns the data that a CertificateVerify message of TLS 1.3 signs (RFC 8446 section 4.4.3).
pub fn to_sign(side: &str, transcript_hash: &[u8]) -> Vec<u8> {
    let context = format!("TLS 1.3, {side} CertificateVerify\0");
    [[0x20; 64].as_slice(), context.as_bytes(), transcript_hash].concat()
}

/// Returns the AEAD of a suite.
pub fn cipher(suite: u16) -> Option<&'static aead::Algorithm> {
    let name = CipherSuite(suite).facts()?.name;
    if name.contains("AES_128_GCM") {
        Some(&aead::AES_128_GCM)
    } else if name.contains("AES_256_GCM") {
        Some(&aead::AES_256_GCM)
    } else if name.contains("CHACHA20_POLY1305") {
        Some(&aead::CHACHA20_POLY1305)
    } else {
        None
    }
}

/// One direction's protection in TLS 1.3 (RFC 8446 section 5.2).
pub struct Protection13 {
    key: aead::LessSafeKey,
    iv: [u8; 12],
    sequence: u64,
}

impl Protection13 {
    /// Derives the keys from a traffic secret. Returns `None` for a suite without an AEAD.
    pub fn new(suite: u16, hash: Hash, secret: &[u8]) -> Option<Self> {
        let cipher = cipher(suite)?;
        let key = hash.expand(secret, "key", &[], cipher.key_len());
        let iv = hash.expand(secret, "iv", &[], 12);
        Some(Self {
            key: aead::LessSafeKey::new(aead::UnboundKey::new(cipher, &key).ok()?),
            iv: iv.try_into().ok()?,
            sequence: 0,
        })
    }

    /// Decrypts a record. Returns the inner content type, and the contents.
    pub fn open(&mut self, payload: &[u8]) -> Option<(u8, Vec<u8>)> {
        let header = header(23, payload.len())?;
        let mut bytes = payload.to_vec();
        let nonce = self.nonce();
        let plain = self
            .key
            .open_in_place(nonce, aead::Aad::from(header), &mut bytes)
            .ok()?;
        let end = plain.iter().rposition(|byte| *byte != 0)?;
        Some((plain[end], plain[..end].to_vec()))
    }

    /// Encrypts a whole record.
    pub fn seal(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = [plain, &[content]].concat();
        let header = header(23, bytes.len() + 16)?;
        let nonce = self.nonce();
        self.key
            .seal_in_place_append_tag(nonce, aead::Aad::from(header), &mut bytes)
            .ok()?;
        Some([header.as_slice(), &bytes].concat())
    }

    fn nonce(&mut self) -> aead::Nonce {
        let mut nonce = self.iv;
        for (byte, count) in nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *byte ^= count;
        }
        self.sequence += 1;
        aead::Nonce::assume_unique_for_key(nonce)
    }
}

/// One direction's protection in TLS 1.2 with an AEAD (RFC 5246 section 6.2.3.3, 5288, 7905).
pub struct Protection12 {
    key: aead::LessSafeKey,
    iv: Vec<u8>,
    sequence: u64,
}

impl Protection12 {
    /// Returns the lengths of a direction's key and of its implicit nonce.
    pub fn lengths(suite: u16) -> Option<(usize, usize)> {
        let cipher = cipher(suite)?;
        let implicit = if cipher == &aead::CHACHA20_POLY1305 {
            12
        } else {
            4
        };
        Some((cipher.key_len(), implicit))
    }

    /// Creates the protection from a direction's key and its implicit nonce. Returns `None` for a suite without an
    /// AEAD.
    pub fn new(suite: u16, key: &[u8], iv: &[u8]) -> Option<Self> {
        Some(Self {
            key: aead::LessSafeKey::new(aead::UnboundKey::new(cipher(suite)?, key).ok()?),
            iv: iv.to_vec(),
            sequence: 0,
        })
    }

    /// Decrypts a record. Returns `None` if it does not verify.
    pub fn open(&mut self, content: u8, payload: &[u8]) -> Option<Vec<u8>> {
        let mut reader = Reader::new(payload);
        let explicit = if self.iv.len() == 4 {
            reader.take(8)?
        } else {
            &[]
        };
        let nonce = self.nonce(explicit)?;
        let mut bytes = reader.rest().to_vec();
        let additional = self.additional(content, bytes.len().checked_sub(16)?)?;
        let plain = self
            .key
            .open_in_place(nonce, aead::Aad::from(additional), &mut bytes)
            .ok()?;
        let plain = plain.to_vec();
        self.sequence += 1;
        Some(plain)
    }

    /// Encrypts a whole record.
    pub fn seal(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        let explicit = self.sequence.to_be_bytes();
        let explicit: &[u8] = if self.iv.len() == 4 { &explicit } else { &[] };
        let nonce = self.nonce(explicit)?;
        let additional = self.additional(content, plain.len())?;
        let mut bytes = plain.to_vec();
        self.key
            .seal_in_place_append_tag(nonce, aead::Aad::from(additional), &mut bytes)
            .ok()?;
        self.sequence += 1;
        let header = header(content, explicit.len() + bytes.len())?;
        Some([header.as_slice(), explicit, &bytes].concat())
    }

    fn nonce(&self, explicit: &[u8]) -> Option<aead::Nonce> {
        let mut nonce: [u8; 12] = if explicit.is_empty() {
            self.iv.as_slice().try_into().ok()?
        } else {
            [&self.iv, explicit].concat().try_into().ok()?
        };
        if explicit.is_empty() {
            for (byte, count) in nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
                *byte ^= count;
            }
        }
        Some(aead::Nonce::assume_unique_for_key(nonce))
    }

    fn additional(&self, content: u8, length: usize) -> Option<[u8; 13]> {
        let mut bytes = [0; 13];
        bytes[..8].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[8..].copy_from_slice(&header(content, length)?);
        Some(bytes)
    }
}

/// Returns a record's header.
fn header(content: u8, length: usize) -> Option<[u8; 5]> {
    let length = u16::try_from(length).ok()?.to_be_bytes();
    Some([content, 3, 3, length[0], length[1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hex;

    /// RFC 8448 section 3: the secrets of a simple handshake.
    #[test]
    fn the_key_schedule_is_that_of_rfc_8448() {
        let hash = Hash::Sha256;
        let early = hash.extract(&[], &[]);
        assert_eq!(
            hex(&early),
            "33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a"
        );
        let derived = hash.derive(&early, "derived", &hash.of_bytes(&[]));
        assert_eq!(
            hex(&derived),
            "6f2615a108c702c5678f54fc9dbab69716c076189c48250cebeac3576c3611ba"
        );
    }
}
