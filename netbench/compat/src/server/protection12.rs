//! Record protection of TLS 1.2: an AEAD, or CBC with a MAC before the encryption (RFC 5246 section 6.2.3.2).

use aws_lc_rs::{
    cipher::{
        AES_128, AES_256, DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext,
        UnboundCipherKey,
    },
    hmac,
    iv::FixedLength,
    rand,
};
use netbench_model::{CipherSuite, tls::Protection as Kind};
use netbench_scan::crypto::{Hash, Protection12};

/// One direction's protection.
pub(super) enum Protection {
    Aead(Box<Protection12>),
    Cbc(Box<Cbc>),
}

/// AES in CBC mode with HMAC.
pub(super) struct Cbc {
    encrypting: EncryptingKey,
    decrypting: DecryptingKey,
    mac: hmac::Key,
    mac_length: usize,
    sequence: u64,
}

/// The keys of both directions.
pub(super) struct Pair {
    pub(super) client: Protection,
    pub(super) server: Protection,
}

impl Pair {
    /// From the main secret and both randoms. None for a suite whose records cannot be protected here.
    pub(super) fn new(
        suite: CipherSuite,
        hash: Hash,
        main: &[u8],
        client_random: &[u8],
        server_random: &[u8],
    ) -> Option<Self> {
        let seed = [server_random, client_random].concat();
        let block = |length| hash.prf(main, "key expansion", &seed, length);
        if suite.facts()?.protection == Kind::Aead {
            let (key, iv) = Protection12::lengths(suite.0)?;
            let block = block(2 * (key + iv));
            let (client_key, rest) = block.split_at(key);
            let (server_key, rest) = rest.split_at(key);
            let (client_iv, server_iv) = rest.split_at(iv);
            let one = |key, iv| {
                let protection = Protection12::new(suite.0, key, iv)?;
                Some(Protection::Aead(Box::new(protection)))
            };
            return Some(Self {
                client: one(client_key, client_iv)?,
                server: one(server_key, server_iv)?,
            });
        }
        let (key, mac) = Cbc::lengths(suite)?;
        let block = block(2 * (key + mac));
        let (client_mac, rest) = block.split_at(mac);
        let (server_mac, rest) = rest.split_at(mac);
        let (client_key, server_key) = rest.split_at(key);
        let one = |key, mac| Some(Protection::Cbc(Box::new(Cbc::new(key, mac)?)));
        Some(Self {
            client: one(client_key, client_mac)?,
            server: one(server_key, server_mac)?,
        })
    }
}

impl Protection {
    /// What a record carries.
    pub(super) fn open(&mut self, content: u8, payload: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Aead(aead) => aead.open(content, payload),
            Self::Cbc(cbc) => cbc.open(content, payload),
        }
    }

    /// A whole record.
    pub(super) fn seal(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Aead(aead) => aead.seal(content, plain),
            Self::Cbc(cbc) => cbc.seal(content, plain),
        }
    }
}

const BLOCK: usize = 16;

impl Cbc {
    /// Bytes of a key and of a MAC key.
    fn lengths(suite: CipherSuite) -> Option<(usize, usize)> {
        let name = suite.facts()?.name;
        let key = match name {
            name if name.contains("AES_128_CBC") => 16,
            name if name.contains("AES_256_CBC") => 32,
            _ => return None,
        };
        let mac = match name {
            name if name.ends_with("_SHA") => 20,
            name if name.ends_with("_SHA256") => 32,
            name if name.ends_with("_SHA384") => 48,
            _ => return None,
        };
        Some((key, mac))
    }

    fn new(key: &[u8], mac: &[u8]) -> Option<Self> {
        let cipher = if key.len() == 16 { &AES_128 } else { &AES_256 };
        let unbound = || UnboundCipherKey::new(cipher, key).ok();
        let algorithm = match mac.len() {
            20 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            32 => hmac::HMAC_SHA256,
            _ => hmac::HMAC_SHA384,
        };
        Some(Self {
            encrypting: EncryptingKey::cbc(unbound()?).ok()?,
            decrypting: DecryptingKey::cbc(unbound()?).ok()?,
            mac: hmac::Key::new(algorithm, mac),
            mac_length: mac.len(),
            sequence: 0,
        })
    }

    fn tag(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        let length = u16::try_from(plain.len()).ok()?.to_be_bytes();
        let sequence = self.sequence.to_be_bytes();
        self.sequence += 1;
        let head = [sequence.as_slice(), &[content, 3, 3], &length];
        let tag = hmac::sign(&self.mac, &[head.concat().as_slice(), plain].concat());
        Some(tag.as_ref().to_vec())
    }

    fn open(&mut self, content: u8, payload: &[u8]) -> Option<Vec<u8>> {
        let (iv, bytes) = payload.split_at_checked(BLOCK)?;
        let mut bytes = bytes.to_vec();
        let iv: [u8; BLOCK] = iv.try_into().ok()?;
        let context = DecryptionContext::Iv128(FixedLength::from(iv));
        let plain = self.decrypting.decrypt(&mut bytes, context).ok()?;
        let padding = usize::from(*plain.last()?) + 1;
        let end = plain.len().checked_sub(padding + self.mac_length)?;
        let (data, rest) = plain.split_at(end);
        let tag = self.tag(content, data)?;
        (rest.get(..self.mac_length)? == tag).then(|| data.to_vec())
    }

    fn seal(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        let tag = self.tag(content, plain)?;
        let mut bytes = [plain, &tag].concat();
        let padding = BLOCK - bytes.len() % BLOCK;
        let last = u8::try_from(padding - 1).ok()?;
        bytes.extend(vec![last; padding]);
        let mut iv = [0; BLOCK];
        rand::fill(&mut iv).ok()?;
        let context = EncryptionContext::Iv128(FixedLength::from(iv));
        self.encrypting
            .less_safe_encrypt(&mut bytes, context)
            .ok()?;
        let length = u16::try_from(BLOCK + bytes.len()).ok()?.to_be_bytes();
        Some(
            [
                &[content, 3, 3, length[0], length[1]],
                iv.as_slice(),
                &bytes,
            ]
            .concat(),
        )
    }
}
