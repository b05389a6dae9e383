//! Key exchange by the calls that libssl makes (`ssl_generate_pkey_group` and its like in its `s3_lib.c`).

use std::{
    ffi::{CStr, CString, c_char, c_int, c_uchar},
    ptr,
};

use foreign_types_shared::{ForeignType, ForeignTypeRef};
use netbench_model::Group;
use openssl::{
    error::ErrorStack,
    pkey::{HasPrivate, HasPublic, PKey, PKeyRef, Private, Public},
    pkey_ctx::PkeyCtx,
};
use openssl_sys::{EVP_PKEY, EVP_PKEY_CTX};

unsafe extern "C" {
    fn EVP_PKEY_CTX_set_group_name(ctx: *mut EVP_PKEY_CTX, name: *const c_char) -> c_int;
    fn EVP_PKEY_get1_encoded_public_key(key: *mut EVP_PKEY, encoded: *mut *mut c_uchar) -> usize;
    fn EVP_PKEY_set1_encoded_public_key(
        key: *mut EVP_PKEY,
        encoded: *const c_uchar,
        length: usize,
    ) -> c_int;
    fn EVP_PKEY_copy_parameters(to: *mut EVP_PKEY, from: *const EVP_PKEY) -> c_int;
}

/// A key pair of the kind that a share of `group` is.
///
/// # Errors
/// The library does not have the group.
pub(crate) fn key_pair(group: Group) -> Result<PKey<Private>, ErrorStack> {
    let curve = match group {
        Group::SECP256R1 => Some(c"P-256"),
        Group::SECP384R1 => Some(c"P-384"),
        _ => None,
    };
    let mut maker = match curve {
        Some(_) => maker(c"EC")?,
        None => maker(&CString::new(group.to_string()).unwrap_or_default())?,
    };
    maker.keygen_init()?;
    if let Some(curve) = curve {
        // SAFETY: the context is live, and the name lives for ever.
        good(unsafe { EVP_PKEY_CTX_set_group_name(maker.as_ptr(), curve.as_ptr()) })?;
    }
    maker.keygen()
}

fn maker(kind: &CStr) -> Result<PkeyCtx<()>, ErrorStack> {
    // SAFETY: the name lives for ever; the default library and properties are asked for.
    let context = unsafe {
        openssl_sys::EVP_PKEY_CTX_new_from_name(ptr::null_mut(), kind.as_ptr(), ptr::null())
    };
    if context.is_null() {
        return Err(ErrorStack::get());
    }
    // SAFETY: not null, and ours.
    Ok(unsafe { PkeyCtx::from_ptr(context) })
}

/// The public key as a key share has it.
pub(crate) fn encoded<T: HasPublic>(key: &PKeyRef<T>) -> Result<Vec<u8>, ErrorStack> {
    let mut start = ptr::null_mut();
    // SAFETY: the key is live, and `start` is written where the result is not 0.
    let length = unsafe { EVP_PKEY_get1_encoded_public_key(key.as_ptr(), &raw mut start) };
    if length == 0 || start.is_null() {
        return Err(ErrorStack::get());
    }
    // SAFETY: so many bytes were written there.
    let copy = unsafe { std::slice::from_raw_parts(start, length) }.to_vec();
    // SAFETY: OpenSSL allocated them for us, and nothing refers to them any more.
    unsafe { openssl_sys::OPENSSL_free(start.cast()) };
    Ok(copy)
}

/// The other side's public key, of the kind of `own`.
pub(crate) fn peer<T: HasPublic>(
    own: &PKeyRef<T>,
    encoded: &[u8],
) -> Result<PKey<Public>, ErrorStack> {
    // SAFETY: it allocates a key, or gives null.
    let key = unsafe { openssl_sys::EVP_PKEY_new() };
    if key.is_null() {
        return Err(ErrorStack::get());
    }
    // SAFETY: not null, and ours.
    let key = unsafe { PKey::<Public>::from_ptr(key) };
    // SAFETY: both keys are live.
    good(unsafe { EVP_PKEY_copy_parameters(key.as_ptr(), own.as_ptr()) })?;
    // SAFETY: the key is live, and so are the bytes, which are copied.
    good(unsafe {
        EVP_PKEY_set1_encoded_public_key(key.as_ptr(), encoded.as_ptr(), encoded.len())
    })?;
    Ok(key)
}

/// The secret of a Diffie-Hellman exchange.
pub(crate) fn derive<T: HasPrivate, U: HasPublic>(
    own: &PKeyRef<T>,
    peer: &PKeyRef<U>,
) -> Result<Vec<u8>, ErrorStack> {
    let mut context = PkeyCtx::new(own)?;
    context.derive_init()?;
    context.derive_set_peer(peer)?;
    let mut secret = Vec::new();
    context.derive_to_vec(&mut secret)?;
    Ok(secret)
}

/// What a server sends, and the secret.
pub(crate) fn encapsulate<T: HasPublic>(
    peer: &PKeyRef<T>,
) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
    let context = PkeyCtx::new(peer)?;
    let (mut wrapped_length, mut secret_length) = (0, 0);
    // SAFETY: the context is live; without buffers, only the lengths are written.
    unsafe {
        good(openssl_sys::EVP_PKEY_encapsulate_init(
            context.as_ptr(),
            ptr::null(),
        ))?;
        good(openssl_sys::EVP_PKEY_encapsulate(
            context.as_ptr(),
            ptr::null_mut(),
            &raw mut wrapped_length,
            ptr::null_mut(),
            &raw mut secret_length,
        ))?;
    }
    let (mut wrapped, mut secret) = (vec![0; wrapped_length], vec![0; secret_length]);
    // SAFETY: both buffers have the lengths that were asked for.
    good(unsafe {
        openssl_sys::EVP_PKEY_encapsulate(
            context.as_ptr(),
            wrapped.as_mut_ptr(),
            &raw mut wrapped_length,
            secret.as_mut_ptr(),
            &raw mut secret_length,
        )
    })?;
    wrapped.truncate(wrapped_length);
    secret.truncate(secret_length);
    Ok((wrapped, secret))
}

/// The secret that a server has sent.
pub(crate) fn decapsulate<T: HasPrivate>(
    own: &PKeyRef<T>,
    wrapped: &[u8],
) -> Result<Vec<u8>, ErrorStack> {
    let context = PkeyCtx::new(own)?;
    let mut length = 0;
    // SAFETY: the context is live; without a buffer, only the length is written.
    unsafe {
        good(openssl_sys::EVP_PKEY_decapsulate_init(
            context.as_ptr(),
            ptr::null(),
        ))?;
        good(openssl_sys::EVP_PKEY_decapsulate(
            context.as_ptr(),
            ptr::null_mut(),
            &raw mut length,
            wrapped.as_ptr(),
            wrapped.len(),
        ))?;
    }
    let mut secret = vec![0; length];
    // SAFETY: the buffer has the length that was asked for.
    good(unsafe {
        openssl_sys::EVP_PKEY_decapsulate(
            context.as_ptr(),
            secret.as_mut_ptr(),
            &raw mut length,
            wrapped.as_ptr(),
            wrapped.len(),
        )
    })?;
    secret.truncate(length);
    Ok(secret)
}

fn good(result: c_int) -> Result<(), ErrorStack> {
    if result > 0 {
        Ok(())
    } else {
        Err(ErrorStack::get())
    }
}
