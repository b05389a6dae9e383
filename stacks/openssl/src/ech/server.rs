//! The keys of a server, and the outcome that it sees.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
    sync::OnceLock,
};

use foreign_types_shared::{ForeignType, ForeignTypeRef};
use netbench_libssl::good;
use netbench_tls::{EchStatus, wire::extension::ENCRYPTED_CLIENT_HELLO};
use netbench_worker::{ServerEchKey, SetupError, made_once, refused};
use openssl::{
    base64::encode_block,
    error::ErrorStack,
    ex_data::Index,
    pkey::{Id, PKey},
    ssl::{ClientHelloResponse, Ssl, SslContextBuilder, SslRef},
};
use openssl_sys::{BIO, EVP_PKEY, SSL_CTX};

/// `OSSL_ECHSTORE` of openssl/ech.h.
#[repr(C)]
struct EchStore([u8; 0]);

unsafe extern "C" {
    fn OSSL_ECHSTORE_new(context: *mut c_void, properties: *const c_char) -> *mut EchStore;
    fn OSSL_ECHSTORE_free(store: *mut EchStore);
    fn OSSL_ECHSTORE_set1_key_and_read_pem(
        store: *mut EchStore,
        key: *mut EVP_PKEY,
        pem: *mut BIO,
        for_retry: c_int,
    ) -> c_int;
    fn SSL_CTX_set1_echstore(ctx: *mut SSL_CTX, store: *mut EchStore) -> c_int;
}

/// Gives a server's context its keys, with whose configurations it answers a hello that it cannot decrypt. A context without
/// keys marks the connections with the extension.
pub(crate) fn set_keys(
    ssl: &mut SslContextBuilder,
    keys: &[ServerEchKey],
) -> Result<(), SetupError> {
    if keys.is_empty() {
        return mark_offers(ssl).map_err(refused("context"));
    }
    set_store(ssl, keys).map_err(refused("ECH keys"))
}

/// Returns the outcome in a server's finished handshake.
pub(crate) fn served(ssl: &SslRef) -> Option<EchStatus> {
    super::status(ssl).or_else(|| {
        let index = offered().ok()?;
        ssl.ex_data(index).map(|Offered| EchStatus::Grease)
    })
}

fn set_store(ssl: &mut SslContextBuilder, keys: &[ServerEchKey]) -> Result<(), ErrorStack> {
    let store = Store::new()?;
    for key in keys {
        store.add(key)?;
    }
    // SAFETY: both are live, and the context takes a copy.
    good(unsafe { SSL_CTX_set1_echstore(ssl.as_ptr(), store.0) })
}

/// Has a context mark the connections with the extension, of which a library without keys reports none.
fn mark_offers(ssl: &mut SslContextBuilder) -> Result<(), ErrorStack> {
    let index = offered()?;
    ssl.set_client_hello_callback(move |ssl, _| {
        if has_extension(ssl) {
            ssl.set_ex_data(index, Offered);
        }
        Ok(ClientHelloResponse::SUCCESS)
    });
    Ok(())
}

fn has_extension(ssl: &mut SslRef) -> bool {
    let (mut value, mut length) = (ptr::null(), 0);
    // SAFETY: the connection is live, and in the callback of its hello; the function sets both values.
    let result = unsafe {
        openssl_sys::SSL_client_hello_get0_ext(
            ssl.as_ptr(),
            c_uint::from(ENCRYPTED_CLIENT_HELLO),
            &raw mut value,
            &raw mut length,
        )
    };
    result == 1
}

/// The mark of a connection whose client sends the extension to a server without keys.
struct Offered;

/// Returns the index under which a connection has its mark.
fn offered() -> Result<Index<Ssl, Offered>, ErrorStack> {
    static INDEX: OnceLock<Index<Ssl, Offered>> = OnceLock::new();
    made_once(&INDEX, Ssl::new_ex_index)
}

/// A server's keys.
struct Store(*mut EchStore);

impl Store {
    fn new() -> Result<Self, ErrorStack> {
        // SAFETY: null is the default of both.
        let store = unsafe { OSSL_ECHSTORE_new(ptr::null_mut(), ptr::null()) };
        if store.is_null() {
            return Err(ErrorStack::get());
        }
        Ok(Self(store))
    }

    /// Adds a key. Its configuration is sent to clients that are rejected.
    fn add(&self, key: &ServerEchKey) -> Result<(), ErrorStack> {
        const FOR_RETRY: c_int = 1;
        let private = PKey::private_key_from_raw_bytes(&key.private_key, Id::X25519)?;
        let pem = pem(&key.config);
        let length = c_int::try_from(pem.len()).unwrap_or(c_int::MAX);
        // SAFETY: the text outlives the BIO, which reads it alone; the store copies both.
        let result = unsafe {
            let bio = openssl_sys::BIO_new_mem_buf(pem.as_ptr().cast(), length);
            let result =
                OSSL_ECHSTORE_set1_key_and_read_pem(self.0, private.as_ptr(), bio, FOR_RETRY);
            openssl_sys::BIO_free_all(bio);
            result
        };
        good(result)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // SAFETY: the store is live, and not used any more.
        unsafe { OSSL_ECHSTORE_free(self.0) };
    }
}

/// Returns the PEM of a list with one configuration, the only format that the library reads together with a key.
fn pem(config: &[u8]) -> String {
    let length = u16::try_from(config.len()).unwrap_or(u16::MAX);
    let list = encode_block(&[&length.to_be_bytes(), config].concat());
    format!("-----BEGIN ECHCONFIG-----\n{list}\n-----END ECHCONFIG-----\n")
}
