//! The used part of NSS' headers for the cryptography beneath sessions, from NSS 3.87.

use std::ffi::{c_int, c_uchar, c_uint, c_ulong, c_void};

use crate::ffi::{Certificate, Item, PrivateKey, SlotStr, freed, opaque};

opaque!(SymKeyStr, ContextStr);

freed!(
    PublicKeyStr: SECKEY_DestroyPublicKey;
    SymKeyStr: PK11_FreeSymKey;
    ContextStr: |context| PK11_DestroyContext(context, 1);
);

/// `CK_RSA_PKCS_PSS_PARAMS`.
#[repr(C)]
pub(crate) struct PssParameters {
    pub(crate) hash: c_ulong,
    pub(crate) mask: c_ulong,
    pub(crate) salt_bytes: c_ulong,
}

/// `SECKEYPublicKey`, with the members of its union for an elliptic curve.
#[repr(C)]
#[derive(Default)]
pub(crate) struct PublicKeyStr {
    pub(crate) arena: *mut c_void,
    pub(crate) kind: c_uint,
    pub(crate) slot: *mut SlotStr,
    pub(crate) object: c_ulong,
    pub(crate) parameters: Item,
    pub(crate) size: c_int,
    pub(crate) value: Item,
    pub(crate) encoding: c_uint,
    /// The rest of the union: members for other kinds are longer.
    pub(crate) rest: [u64; 29],
}

pub(crate) type PublicKey = *mut PublicKeyStr;

/// `rsaKey`, `ecKey`.
pub(crate) const RSA_KEY: c_uint = 1;
pub(crate) const EC_KEY: c_uint = 6;
pub(crate) const CKM_RSA_PKCS_PSS: c_ulong = 0xd;
pub(crate) const CKM_SHA256: c_ulong = 0x250;
pub(crate) const CKM_ECDH1_DERIVE: c_ulong = 0x1050;
pub(crate) const CKM_AES_GCM: c_ulong = 0x1087;
pub(crate) const CKM_CHACHA20_POLY1305: c_ulong = 0x4021;
pub(crate) const CKM_HKDF_DERIVE: c_ulong = 0x402a;
pub(crate) const CKG_MGF1_SHA256: c_ulong = 2;
pub(crate) const CKG_NO_GENERATE: c_ulong = 0;
pub(crate) const CKA_ENCRYPT: c_ulong = 0x104;
pub(crate) const CKA_DERIVE: c_ulong = 0x10c;
/// `CKA_NSS_MESSAGE` with `CKA_ENCRYPT`, and with `CKA_DECRYPT`.
pub(crate) const MESSAGE_ENCRYPT: c_ulong = 0x8200_0104;
pub(crate) const MESSAGE_DECRYPT: c_ulong = 0x8200_0105;
pub(crate) const CKD_NULL: c_ulong = 1;
pub(crate) const PK11_ORIGIN_UNWRAP: c_uint = 4;
pub(crate) const SEC_OID_SHA256: c_uint = 191;
pub(crate) const SEC_OID_SHA384: c_uint = 192;
pub(crate) const SEC_OID_EC_PUBLIC_KEY: c_uint = 200;

unsafe extern "C" {
    pub(crate) fn CERT_ExtractPublicKey(certificate: Certificate) -> PublicKey;
    pub(crate) fn SECKEY_PublicKeyStrengthInBits(key: *const PublicKeyStr) -> c_uint;
    fn SECKEY_DestroyPublicKey(key: PublicKey);

    pub(crate) fn PK11_HashBuf(
        hash: c_uint,
        out: *mut c_uchar,
        data: *const c_uchar,
        bytes: i32,
    ) -> c_int;
    pub(crate) fn PK11_SignatureLen(key: PrivateKey) -> c_int;
    pub(crate) fn PK11_SignWithMechanism(
        key: PrivateKey,
        mechanism: c_ulong,
        parameters: *const Item,
        signature: *mut Item,
        hash: *const Item,
    ) -> c_int;
    pub(crate) fn PK11_VerifyWithMechanism(
        key: PublicKey,
        mechanism: c_ulong,
        parameters: *const Item,
        signature: *const Item,
        hash: *const Item,
        pin: *mut c_void,
    ) -> c_int;
    pub(crate) fn SGN_Digest(
        key: PrivateKey,
        algorithm: c_uint,
        signature: *mut Item,
        hash: *mut Item,
    ) -> c_int;
    pub(crate) fn DSAU_EncodeDerSigWithLen(
        encoded: *mut Item,
        signature: *mut Item,
        bytes: c_uint,
    ) -> c_int;
    pub(crate) fn VFY_VerifyDigestDirect(
        hash: *const Item,
        key: *const PublicKeyStr,
        signature: *const Item,
        algorithm: c_uint,
        hash_algorithm: c_uint,
        pin: *mut c_void,
    ) -> c_int;

    pub(crate) fn SECKEY_CreateECPrivateKey(
        parameters: *mut Item,
        public: *mut PublicKey,
        pin: *mut c_void,
    ) -> PrivateKey;
    pub(crate) fn PK11_PubDeriveWithKDF(
        key: PrivateKey,
        other: PublicKey,
        is_sender: c_int,
        random_a: *mut Item,
        random_b: *mut Item,
        derive: c_ulong,
        target: c_ulong,
        operation: c_ulong,
        key_bytes: c_int,
        kdf: c_ulong,
        shared: *mut Item,
        pin: *mut c_void,
    ) -> *mut SymKeyStr;
    pub(crate) fn PK11_ExtractKeyValue(key: *mut SymKeyStr) -> c_int;
    pub(crate) fn PK11_GetKeyData(key: *mut SymKeyStr) -> *mut Item;
    pub(crate) fn PK11_FreeSymKey(key: *mut SymKeyStr);

    pub(crate) fn PK11_ImportSymKey(
        slot: *mut SlotStr,
        mechanism: c_ulong,
        origin: c_uint,
        operation: c_ulong,
        key: *mut Item,
        pin: *mut c_void,
    ) -> *mut SymKeyStr;
    pub(crate) fn PK11_CreateContextBySymKey(
        mechanism: c_ulong,
        operation: c_ulong,
        key: *mut SymKeyStr,
        parameters: *const Item,
    ) -> *mut ContextStr;
    pub(crate) fn PK11_DestroyContext(context: *mut ContextStr, free: c_int);
    pub(crate) fn PK11_AEADOp(
        context: *mut ContextStr,
        generator: c_ulong,
        fixed_bits: c_int,
        iv: *mut c_uchar,
        iv_bytes: c_int,
        header: *const c_uchar,
        header_bytes: c_int,
        out: *mut c_uchar,
        out_bytes: *mut c_int,
        most: c_int,
        tag: *mut c_uchar,
        tag_bytes: c_int,
        data: *const c_uchar,
        bytes: c_int,
    ) -> c_int;
}
