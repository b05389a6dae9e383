//! rustls as a client with a list of configurations: it refuses the list, or sends a hello that the parsers of this project
//! read, with the public name of a configuration that it knows.
#![no_main]

use std::sync::{Arc, LazyLock};

use netbench_compat::parsers::{HIDDEN_NAME, ech_sent};
use netbench_scan::codec::Reader;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore,
    client::{self, EchMode},
    crypto::{CryptoProvider, aws_lc_rs},
};

static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| {
    Arc::new(CryptoProvider {
        kx_groups: vec![aws_lc_rs::kx_group::X25519],
        ..aws_lc_rs::default_provider()
    })
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some(records) = hello_of_rustls(bytes) {
        // rustls ignores bytes after the list, and after the extensions of a configuration; a list with the latter is refused
        // by the scan.
        let length = 2 + Reader::new(bytes).vec16().expect("a list").len();
        ech_sent(&bytes[..length], &records);
    }
});

/// Returns the records of a hello to the hidden name, or `None` if rustls refuses the list.
fn hello_of_rustls(list: &[u8]) -> Option<Vec<u8>> {
    let suites = aws_lc_rs::hpke::ALL_SUPPORTED_SUITES;
    let config = client::EchConfig::new(list.to_vec().into(), suites).ok()?;
    let config = ClientConfig::builder_with_provider(PROVIDER.clone())
        .with_ech(EchMode::Enable(config))
        .ok()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = HIDDEN_NAME.try_into().expect("a name");
    let mut connection = ClientConnection::new(Arc::new(config), name).ok()?;
    let mut records = Vec::new();
    connection.write_tls(&mut records).ok()?;
    Some(records)
}
