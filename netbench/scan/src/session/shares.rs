//! Key shares of the groups that can be computed here.

use aws_lc_rs::{
    agreement::{self, PrivateKey, UnparsedPublicKey, agree},
    kem::{self, Ciphertext, DecapsulationKey},
};

use super::crypto;
use crate::codec::KeyShare;

/// The groups that can be computed, the most common first.
const COMPUTABLE: [u16; 7] = [0x001d, 0x0017, 0x0018, 0x11ec, 0x0019, 0x11eb, 0x11ed];

/// Returns those of these groups that can be computed here, cheap ones first.
pub(crate) fn computable(groups: &[u16]) -> Vec<u16> {
    COMPUTABLE
        .into_iter()
        .filter(|group| groups.contains(group))
        .collect()
}

/// Returns these groups, cheap ones first.
pub(crate) fn cheap_first(groups: &[u16]) -> Vec<u16> {
    let mut sorted = groups.to_vec();
    sorted.sort_by_key(|group| {
        let place = COMPUTABLE.iter().position(|known| known == group);
        place.unwrap_or(COMPUTABLE.len())
    });
    sorted
}

/// Returns those of these suites whose records can be read here.
pub(crate) fn computable_suites(suites: &[u16]) -> Vec<u16> {
    let suites = suites.iter().copied();
    suites.filter(|it| crypto::cipher(*it).is_some()).collect()
}

/// The private halves of a hello's key shares.
pub(crate) struct PrivateShares(Vec<PrivateShare>);

/// The private half of one key share.
pub struct PrivateShare {
    group: u16,
    curve: PrivateKey,
    kem: Option<DecapsulationKey>,
}

impl PrivateShares {
    /// Generates keys for these groups; a group that cannot be computed is left out.
    pub(crate) fn new(groups: &[u16]) -> Self {
        Self(
            groups
                .iter()
                .filter_map(|group| PrivateShare::new(*group))
                .collect(),
        )
    }

    /// Returns whether there are no keys.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the public halves, for a hello.
    pub(crate) fn public(&self) -> Vec<KeyShare> {
        self.0.iter().filter_map(PrivateShare::public).collect()
    }

    /// Returns the secret shared with a server that sent this public value.
    pub(crate) fn agree(&self, group: u16, theirs: &[u8]) -> Option<Vec<u8>> {
        self.0
            .iter()
            .find(|share| share.group == group)?
            .agree(theirs)
    }
}

impl PrivateShare {
    /// Generates a key. Returns `None` for a group that cannot be computed.
    pub fn new(group: u16) -> Option<Self> {
        let (curve, kem) = parts_of(group)?;
        Some(Self {
            group,
            curve: PrivateKey::generate(curve).ok()?,
            kem: kem.map(DecapsulationKey::generate).transpose().ok()?,
        })
    }

    /// Returns whether the group combines a curve with a KEM.
    pub fn is_hybrid(&self) -> bool {
        self.kem.is_some()
    }

    /// Returns the public half.
    pub fn public(&self) -> Option<KeyShare> {
        let curve = self.curve.compute_public_key().ok()?;
        let curve = curve.as_ref();
        let public = match &self.kem {
            None => curve.to_vec(),
            Some(kem) => {
                let key = kem.encapsulation_key().ok()?.key_bytes().ok()?;
                self.joined(curve, key.as_ref())
            }
        };
        Some(KeyShare {
            group: self.group,
            public,
        })
    }

    /// Returns the secret shared with a server that sent this public value, or on a curve with any peer.
    pub fn agree(&self, theirs: &[u8]) -> Option<Vec<u8>> {
        let Some(kem) = &self.kem else {
            return self.agree_on_curve(theirs);
        };
        let curve_bytes = self.curve.compute_public_key().ok()?.as_ref().len();
        let kem_bytes = theirs.len().checked_sub(curve_bytes)?;
        let (ciphertext, point) = match self.is_kem_first() {
            true => theirs.split_at(kem_bytes),
            false => {
                let (point, ciphertext) = theirs.split_at(curve_bytes);
                (ciphertext, point)
            }
        };
        let secret = kem.decapsulate(Ciphertext::from(ciphertext)).ok()?;
        Some(self.joined(&self.agree_on_curve(point)?, secret.as_ref()))
    }

    fn agree_on_curve(&self, theirs: &[u8]) -> Option<Vec<u8>> {
        let theirs = UnparsedPublicKey::new(self.curve.algorithm(), theirs);
        agree(&self.curve, theirs, (), |secret| Ok(secret.to_vec())).ok()
    }

    fn joined(&self, curve: &[u8], kem: &[u8]) -> Vec<u8> {
        match self.is_kem_first() {
            true => [kem, curve].concat(),
            false => [curve, kem].concat(),
        }
    }

    /// Returns whether the part of the KEM comes first: X25519MLKEM768 has it first, the NIST hybrids the curve
    /// (draft-ietf-tls-ecdhe-mlkem).
    fn is_kem_first(&self) -> bool {
        self.group == 0x11ec
    }
}

type Kem = kem::Algorithm<kem::AlgorithmId>;

/// Returns the curve of a group, and the KEM of a hybrid group.
fn parts_of(group: u16) -> Option<(&'static agreement::Algorithm, Option<&'static Kem>)> {
    Some(match group {
        0x001d => (&agreement::X25519, None),
        0x0017 => (&agreement::ECDH_P256, None),
        0x0018 => (&agreement::ECDH_P384, None),
        0x0019 => (&agreement::ECDH_P521, None),
        0x11ec => (&agreement::X25519, Some(&kem::ML_KEM_768)),
        0x11eb => (&agreement::ECDH_P256, Some(&kem::ML_KEM_768)),
        0x11ed => (&agreement::ECDH_P384, Some(&kem::ML_KEM_1024)),
        _ => return None,
    })
}
