//! HKDF (RFC 5869) and the key schedule's functions (RFC 8446 section 7.1), the PRF of TLS 1.2
//! (RFC 5246 section 5), and record protection.

use aws_lc_rs::{aead, digest, hmac};
use netbench_model::tls::CipherSuite;

use crate::codec::put_vec8;

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

    fn algorithm(self) -> hmac::Algorithm {
        match self {
            Self::Sha256 => hmac::HMAC_SHA256,
            Self::Sha384 => hmac::HMAC_SHA384,
        }
    }

    /// Returns the length of a digest.
    pub fn length(self) -> usize {
        self.algorithm().digest_algorithm().output_len
    }

    /// Returns the digest of these bytes.
    pub fn of_bytes(self, bytes: &[u8]) -> Vec<u8> {
        let digest = digest::digest(self.algorithm().digest_algorithm(), bytes);
        digest.as_ref().to_vec()
    }

    /// Computes HMAC with this hash.
    pub fn hmac(self, key: &[u8], data: &[u8]) -> Vec<u8> {
        let key = hmac::Key::new(self.algorithm(), key);
        hmac::sign(&key, data).as_ref().to_vec()
    }

    /// Computes HKDF-Extract; an empty input stands for zeros.
    pub fn extract(self, salt: &[u8], input: &[u8]) -> Vec<u8> {
        let zeros = vec![0; self.length()];
        let salt = if salt.is_empty() { &zeros } else { salt };
        let input = if input.is_empty() { &zeros } else { input };
        self.hmac(salt, input)
    }

    /// Computes HKDF-Expand, for at most as many bytes as the hash has.
    pub fn expand(self, secret: &[u8], info: &[u8], length: usize) -> Vec<u8> {
        let mut block = self.hmac(secret, &[info, &[1]].concat());
        block.truncate(length);
        block
    }

    /// Computes HKDF-Expand-Label, for at most as many bytes as the hash has.
    pub fn expand_label(
        self,
        secret: &[u8],
        label: &str,
        context: &[u8],
        length: usize,
    ) -> Vec<u8> {
        let mut info = u16::try_from(length).unwrap_or(0).to_be_bytes().to_vec();
        let label = [b"tls13 ", label.as_bytes()].concat();
        put_vec8(&mut info, &label);
        put_vec8(&mut info, context);
        self.expand(secret, &info, length)
    }

    /// Computes Derive-Secret from a transcript's hash.
    pub fn derive(self, secret: &[u8], label: &str, transcript_hash: &[u8]) -> Vec<u8> {
        self.expand_label(secret, label, transcript_hash, self.length())
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
        let key = self.expand_label(secret, "finished", &[], self.length());
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

/// An AEAD for a series of messages, each of which has the next number.
pub struct Series {
    key: aead::LessSafeKey,
    iv: [u8; 12],
    number: u64,
}

impl Series {
    /// Begins a series. Returns `None` for a key of another length than the algorithm's.
    pub fn new(algorithm: &'static aead::Algorithm, key: &[u8], iv: [u8; 12]) -> Option<Self> {
        let key = aead::UnboundKey::new(algorithm, key).ok()?;
        Some(Self {
            key: aead::LessSafeKey::new(key),
            iv,
            number: 0,
        })
    }

    /// Decrypts the next message. A message that cannot be decrypted does not count.
    pub fn open(&mut self, associated: &[u8], encrypted: &[u8]) -> Option<Vec<u8>> {
        self.open_as(self.number, associated, encrypted)
    }

    fn open_as(&mut self, number: u64, associated: &[u8], encrypted: &[u8]) -> Option<Vec<u8>> {
        let (nonce, associated) = (self.nonce(number), aead::Aad::from(associated));
        let mut bytes = encrypted.to_vec();
        let opened = self.key.open_in_place(nonce, associated, &mut bytes);
        let plain = opened.ok()?.to_vec();
        self.number += 1;
        Some(plain)
    }

    fn seal(&mut self, associated: &[u8], mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        let (nonce, associated) = (self.nonce(self.number), aead::Aad::from(associated));
        let sealed = self
            .key
            .seal_in_place_append_tag(nonce, associated, &mut bytes);
        sealed.ok()?;
        self.number += 1;
        Some(bytes)
    }

    /// Returns the initialization vector, whose last bytes are combined with a number (RFC 8446 section 5.3).
    fn nonce(&self, number: u64) -> aead::Nonce {
        let mut nonce = self.iv;
        for (byte, count) in nonce[4..].iter_mut().zip(number.to_be_bytes()) {
            *byte ^= count;
        }
        aead::Nonce::assume_unique_for_key(nonce)
    }
}

/// One direction's protection in TLS 1.3 (RFC 8446 section 5.2).
pub struct Protection13 {
    suite: u16,
    secret: Vec<u8>,
    series: Series,
}

impl Protection13 {
    /// Derives the keys from a traffic secret. Returns `None` for a suite without an AEAD.
    fn new(suite: u16, secret: Vec<u8>) -> Option<Self> {
        let (cipher, hash) = (cipher(suite)?, Hash::of(suite));
        let key = hash.expand_label(&secret, "key", &[], cipher.key_len());
        let iv = hash.expand_label(&secret, "iv", &[], 12);
        Some(Self {
            suite,
            secret,
            series: Series::new(cipher, &key, iv.try_into().ok()?)?,
        })
    }

    /// Derives the protection of a stage, `hs` or `ap`, from its secret and the transcript's hash: of the client's direction,
    /// and of the server's. Returns `None` for a suite without an AEAD.
    pub fn pair(
        suite: u16,
        secret: &[u8],
        stage: &str,
        transcript_hash: &[u8],
    ) -> Option<[Self; 2]> {
        let sides = ["c", "s"].map(|side| {
            let label = format!("{side} {stage} traffic");
            let secret = Hash::of(suite).derive(secret, &label, transcript_hash);
            Self::new(suite, secret)
        });
        let [client, server] = sides;
        Some([client?, server?])
    }

    /// Returns the protection after a KeyUpdate (RFC 8446 section 7.2).
    pub fn updated(&self) -> Option<Self> {
        let hash = Hash::of(self.suite);
        let secret = hash.expand_label(&self.secret, "traffic upd", &[], hash.length());
        Self::new(self.suite, secret)
    }

    /// Returns the `verify_data` of the direction's Finished message.
    pub fn finished(&self, transcript: &[u8]) -> Vec<u8> {
        Hash::of(self.suite).finished(&self.secret, transcript)
    }

    /// Decrypts a record. Returns the inner content type, and the contents. A record that cannot be decrypted does not count.
    pub fn open(&mut self, payload: &[u8]) -> Option<(u8, Vec<u8>)> {
        let plain = self.series.open(&header(23, payload.len())?, payload)?;
        let end = plain.iter().rposition(|byte| *byte != 0)?;
        Some((plain[end], plain[..end].to_vec()))
    }

    /// Encrypts a whole record.
    pub fn seal(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        let plain = [plain, &[content]].concat();
        let header = header(23, plain.len() + 16)?;
        Some([header.as_slice(), &self.series.seal(&header, plain)?].concat())
    }
}

/// One direction's protection in TLS 1.2 with an AEAD (RFC 5246 section 6.2.3.3, 5288, 7905).
pub struct Protection12 {
    series: Series,
    /// The number of bytes of a nonce that a record has before its contents. The others are implicit.
    explicit_bytes: usize,
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
    pub fn new(suite: u16, key: &[u8], implicit: &[u8]) -> Option<Self> {
        let mut iv = [0; 12];
        iv.get_mut(..implicit.len())?.copy_from_slice(implicit);
        Some(Self {
            series: Series::new(cipher(suite)?, key, iv)?,
            explicit_bytes: iv.len() - implicit.len(),
        })
    }

    /// Decrypts a record. Returns `None` if it does not verify.
    pub fn open(&mut self, content: u8, payload: &[u8]) -> Option<Vec<u8>> {
        let (explicit, encrypted) = payload.split_at_checked(self.explicit_bytes)?;
        let number = explicit.try_into().map(u64::from_be_bytes);
        let number = number.unwrap_or(self.series.number);
        let associated = self.associated(content, encrypted.len().checked_sub(16)?)?;
        self.series.open_as(number, &associated, encrypted)
    }

    /// Encrypts a whole record.
    pub fn seal(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        let explicit = self.series.number.to_be_bytes();
        let explicit = &explicit[..self.explicit_bytes];
        let associated = self.associated(content, plain.len())?;
        let bytes = self.series.seal(&associated, plain.to_vec())?;
        let header = header(content, explicit.len() + bytes.len())?;
        Some([header.as_slice(), explicit, &bytes].concat())
    }

    fn associated(&self, content: u8, length: usize) -> Option<[u8; 13]> {
        let mut bytes = [0; 13];
        bytes[..8].copy_from_slice(&self.series.number.to_be_bytes());
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
