//! rustls as a client with a list of configurations: it refuses the list, or sends a hello that the parsers of this project
//! read, with the public name of a configuration that it knows.
#![no_main]

use std::sync::{Arc, LazyLock};

use netbench_compat::parsers::{HIDDEN_NAME, ech_outer};
use netbench_scan::codec::{
    ClientHello, EchConfig, Reader, ech_configs, extension::ENCRYPTED_CLIENT_HELLO,
};
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
        let hello = ClientHello::of_records(&records);
        let hello = hello.expect("records").expect("a whole hello");
        assert!(hello.extension(ENCRYPTED_CLIENT_HELLO).is_some());
        let name = hello.server_name().expect("a name");
        let mut parts = records.windows(HIDDEN_NAME.len());
        let is_hidden = !parts.any(|part| part == HIDDEN_NAME.as_bytes());
        assert!(is_hidden || name == HIDDEN_NAME);
        // rustls ignores bytes after the list, and after the extensions of a configuration; a list with the latter is refused
        // here. Only the first 32 configurations are read here.
        let length = 2 + Reader::new(bytes).vec16().expect("a list").len();
        if let Some(configs) = ech_configs(&bytes[..length]) {
            assert!(configs.len() == 32 || configs.iter().any(|config| has_name(config, &name)));
        }
        // The only record, without its header and the message's: the whole hello is shorter than a record.
        let body = &records[5 + 4..];
        let length = u16::try_from(body.len()).expect("a length");
        ech_outer(&[&length.to_be_bytes(), body].concat());
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

fn has_name(config: &EchConfig, name: &str) -> bool {
    let Some(contents) = &config.contents else {
        return false;
    };
    let public_name = contents.public_name.strip_suffix(b".");
    let public_name = public_name.unwrap_or(&contents.public_name);
    public_name.eq_ignore_ascii_case(name.as_bytes())
}
