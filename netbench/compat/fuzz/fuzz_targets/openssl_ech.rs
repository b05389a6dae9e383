//! OpenSSL as a client with a list of configurations: it refuses the list, or sends a hello that the parsers of this project
//! read, with the public name of a configuration that it knows. The same list is read into the store of a server.
#![no_main]

use std::{
    ffi::{c_char, c_int, c_uchar, c_void},
    io::{self, ErrorKind, Read, Write},
    ptr,
    sync::LazyLock,
};

use foreign_types_shared::ForeignTypeRef;
use netbench_compat::parsers::{HIDDEN_NAME, ech_sent};
use openssl::{
    error::ErrorStack,
    ssl::{HandshakeError, Ssl, SslContext, SslMethod},
};
use openssl_sys::{BIO, SSL};

static CONTEXT: LazyLock<SslContext> = LazyLock::new(|| {
    let mut context = SslContext::builder(SslMethod::tls_client()).expect("a context");
    context.set_groups_list("X25519").expect("a group");
    context.build()
});

/// `OSSL_ECHSTORE` of openssl/ech.h.
enum EchStore {}

unsafe extern "C" {
    fn SSL_set1_ech_config_list(ssl: *mut SSL, list: *const c_uchar, length: usize) -> c_int;
    fn OSSL_ECHSTORE_new(context: *mut c_void, properties: *const c_char) -> *mut EchStore;
    fn OSSL_ECHSTORE_free(store: *mut EchStore);
    fn OSSL_ECHSTORE_read_echconfiglist(store: *mut EchStore, list: *mut BIO) -> c_int;
    fn OSSL_ECHSTORE_num_entries(store: *const EchStore, count: *mut c_int) -> c_int;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    read_into_store(bytes);
    if let Some(records) = hello_of_openssl(bytes) {
        ech_sent(bytes, &records);
    }
});

/// Reads a list as a server does.
fn read_into_store(list: &[u8]) {
    let length = c_int::try_from(list.len()).expect("a length");
    let mut count = 0;
    // SAFETY: the list outlives the BIO, which reads it alone; the store is freed once.
    unsafe {
        let store = OSSL_ECHSTORE_new(ptr::null_mut(), ptr::null());
        assert!(!store.is_null());
        let bio = openssl_sys::BIO_new_mem_buf(list.as_ptr().cast(), length);
        let result = OSSL_ECHSTORE_read_echconfiglist(store, bio);
        assert_eq!(OSSL_ECHSTORE_num_entries(store, &raw mut count), 1);
        assert!(result != 1 || count > 0);
        openssl_sys::BIO_free_all(bio);
        OSSL_ECHSTORE_free(store);
    }
    drop(ErrorStack::get());
}

/// Returns the records of a hello to the hidden name, or `None` if OpenSSL refuses the list.
fn hello_of_openssl(list: &[u8]) -> Option<Vec<u8>> {
    let mut ssl = Ssl::new(&CONTEXT).expect("a connection");
    ssl.set_hostname(HIDDEN_NAME).expect("a name");
    // SAFETY: the connection is live, and copies as many bytes as are given.
    let result = unsafe { SSL_set1_ech_config_list(ssl.as_ptr(), list.as_ptr(), list.len()) };
    drop(ErrorStack::get());
    if result != 1 {
        return None;
    }
    match ssl.connect(Silence::default()) {
        Err(HandshakeError::WouldBlock(handshake)) => Some(handshake.get_ref().written.clone()),
        Err(_) => None,
        Ok(_) => panic!("a handshake without a server"),
    }
}

/// A server that never answers.
#[derive(Debug, Default)]
struct Silence {
    written: Vec<u8>,
}

impl Read for Silence {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(ErrorKind::WouldBlock.into())
    }
}

impl Write for Silence {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
