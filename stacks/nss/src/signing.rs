//! The signature of a handshake, made and verified by libssl's calls for TLS 1.3
//! (`ssl3_SignHashesWithPrivKey` and its counterpart in its `ssl3con.c`).

use std::{ffi::c_uint, ptr, slice};

use netbench_protocol::Material;
use netbench_tls::KeyType;
use netbench_worker::{Owned, SIGNED, SetupError, SigningKey, refused};

use crate::{
    certificates::Identity,
    ffi::{self, Item},
    library::{Error, checked},
    pk11::{self, PssParameters, PublicKeyStr},
};

/// The size of the longest hash.
const LONGEST: usize = 48;

/// A key, and the public key of its certificate, which is parsed in advance.
pub(crate) struct Keys {
    identity: Identity,
    public: Owned<PublicKeyStr>,
    kind: Kind,
    /// The hash, and its size.
    hash: c_uint,
    hash_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// RSA with PSS and SHA-256.
    Pss,
    Ecdsa,
}

impl Keys {
    pub(crate) fn new(key: KeyType, material: &Material) -> Result<Self, SetupError> {
        let (kind, hash, hash_bytes) = match key {
            KeyType::Rsa2048 | KeyType::Rsa3072 | KeyType::Rsa4096 => {
                (Kind::Pss, pk11::SEC_OID_SHA256, 32)
            }
            KeyType::EcdsaP256 => (Kind::Ecdsa, pk11::SEC_OID_SHA256, 32),
            KeyType::EcdsaP384 => (Kind::Ecdsa, pk11::SEC_OID_SHA384, 48),
            KeyType::Ed25519 => {
                return Err(SetupError::unsupported("no Ed25519 in this NSS' TLS"));
            }
            KeyType::MlDsa44 | KeyType::MlDsa65 | KeyType::MlDsa87 => {
                return Err(SetupError::unsupported("no ML-DSA in this NSS' TLS"));
            }
        };
        let identity = Identity::of_pem(&material.chain_pem, &material.key_pem)?;
        Ok(Self {
            public: identity.leaf().public_key().map_err(refused("leaf"))?,
            identity,
            kind,
            hash,
            hash_bytes,
        })
    }

    /// Returns the hash of the data, which is as long as `hash_bytes`.
    fn hashed(&self) -> Result<[u8; LONGEST], Error> {
        let mut out = [0; LONGEST];
        let length = i32::try_from(SIGNED.len()).unwrap_or(i32::MAX);
        // SAFETY: there is room for the longest hash.
        checked(unsafe {
            pk11::PK11_HashBuf(self.hash, out.as_mut_ptr(), SIGNED.as_ptr(), length)
        })?;
        Ok(out)
    }

    fn sign_pss(&self, hash: &Item, signature: &mut Vec<u8>) -> Result<(), Error> {
        let (parameters, key) = (pss(), self.identity.key.pointer());
        // SAFETY: the key is alive, and the signature has as many bytes as the library reports.
        unsafe {
            let bytes = usize::try_from(pk11::PK11_SignatureLen(key)).unwrap_or(0);
            signature.resize(bytes, 0);
            let mut signature = Item::of_mut(signature);
            checked(pk11::PK11_SignWithMechanism(
                key,
                pk11::CKM_RSA_PKCS_PSS,
                &raw const parameters,
                &raw mut signature,
                hash,
            ))
        }
    }

    fn sign_ecdsa(&self, mut hash: Item, signature: &mut Vec<u8>) -> Result<(), Error> {
        let (mut plain, mut encoded) = (Item::of(&[]), Item::of(&[]));
        // SAFETY: the key is alive, and the library's allocation is freed.
        unsafe {
            checked(pk11::SGN_Digest(
                self.identity.key.pointer(),
                self.hash,
                &raw mut plain,
                &raw mut hash,
            ))?;
            let bytes = c_uint::try_from(plain.bytes().len()).unwrap_or(0);
            let status = pk11::DSAU_EncodeDerSigWithLen(&raw mut encoded, &raw mut plain, bytes);
            let status = checked(status);
            ffi::SECITEM_FreeItem(&raw mut plain, 0);
            status?;
            signature.clear();
            encoded.move_to(signature);
        }
        Ok(())
    }
}

/// Returns the parameters of PSS, for the library to read.
fn pss() -> Item {
    static PSS: PssParameters = PssParameters {
        hash: pk11::CKM_SHA256,
        mask: pk11::CKG_MGF1_SHA256,
        salt_bytes: 32,
    };
    // SAFETY: the structure consists of integers without padding.
    Item::of(unsafe { slice::from_raw_parts((&raw const PSS).cast(), size_of::<PssParameters>()) })
}

impl SigningKey for Keys {
    type Error = Error;

    fn sign(&self, signature: &mut Vec<u8>) -> Result<(), Error> {
        let hash = self.hashed()?;
        let hash = Item::of(&hash[..self.hash_bytes]);
        match self.kind {
            Kind::Pss => self.sign_pss(&hash, signature),
            Kind::Ecdsa => self.sign_ecdsa(hash, signature),
        }
    }

    fn verify(&self, signature: &[u8]) -> Result<bool, Error> {
        let hash = self.hashed()?;
        let (hash, signature) = (Item::of(&hash[..self.hash_bytes]), Item::of(signature));
        let parameters = pss();
        // SAFETY: all arguments live longer than the call.
        let status = unsafe {
            match self.kind {
                Kind::Pss => pk11::PK11_VerifyWithMechanism(
                    self.public.pointer(),
                    pk11::CKM_RSA_PKCS_PSS,
                    &raw const parameters,
                    &raw const signature,
                    &raw const hash,
                    ptr::null_mut(),
                ),
                Kind::Ecdsa => pk11::VFY_VerifyDigestDirect(
                    &raw const hash,
                    self.public.pointer(),
                    &raw const signature,
                    pk11::SEC_OID_EC_PUBLIC_KEY,
                    self.hash,
                    ptr::null_mut(),
                ),
            }
        };
        checked(status).map(|()| true)
    }
}
