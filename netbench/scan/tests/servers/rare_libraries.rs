//! Packaged servers of TLS libraries that few sites use, each compared with the brute force.

use std::process::Command;

use netbench_model::scan::Tolerance;
use netbench_scan::ScanPart;
use netbench_testing::Tool;

use crate::{
    libraries::{is_found, serve},
    nss::nss_database,
    start_tls::listening,
    support::{Files, Key, Server, scan, shown},
};

const KEYS: [Key; 2] = [Key::Rsa, Key::EcdsaP256];

/// Starts NSS's own server, with these arguments.
pub(crate) fn selfserv(files: &Files, arguments: &[&str]) -> Server {
    let database = nss_database(files, &files.path(""));
    serve(Tool::Selfserv, |address| {
        let port = address.port().to_string();
        let settings = ["-d", &database, "-n", "leaf", "-Q", "-G", "-p", &port];
        let all = settings.iter().chain(arguments);
        all.map(|word| (*word).to_owned()).collect()
    })
}

pub(crate) fn nss_is_enumerated() {
    for key in KEYS {
        for versions in ["tls1.2:tls1.3", "tls1.0:tls1.2", "tls1.0:tls1.3"] {
            let files = Files::new(key);
            let server = selfserv(&files, &["-V", versions]);
            is_found(&server, &format!("NSS, {key:?}, {versions}"));
        }
    }
}

pub(crate) fn boringssl_is_enumerated() {
    let cases: [&[&str]; 3] = [
        &[],
        &["-min-version", "tls1", "-cipher", "ALL"],
        &["-max-version", "tls1.2", "-curves", "P-521:X25519"],
    ];
    for key in KEYS {
        let files = Files::new(key);
        for arguments in cases {
            let server = boringssl(&files, arguments);
            is_found(&server, &format!("BoringSSL, {key:?}, {arguments:?}"));
        }
    }
}

/// BoringSSL sends its configurations of Encrypted ClientHello to a client that has none of them, and without any it sends
/// none.
pub(crate) fn boringssl_sends_its_ech_configurations() {
    let files = Files::new(Key::EcdsaP256);
    let (config, private) = (files.path("ech-config"), files.path("ech-key"));
    let mut generate = Command::new(Tool::Boringssl.path().unwrap());
    generate.args(["generate-ech", "-out-ech-config", &config]);
    generate.args(["-out-ech-config-list", &files.path("ech-list")]);
    generate.args(["-out-private-key", &private, "-config-id", "7"]);
    generate.args(["-public-name", "public.example", "-max-name-length", "64"]);
    let made = generate.output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let keys = ["-ech-config", &config, "-ech-key", &private];
    for (arguments, names) in [(&keys[..], &["public.example"][..]), (&[], &[])] {
        let server = boringssl(&files, arguments);
        let found = scan(server.address, &[ScanPart::Features, ScanPart::Intolerance]);
        let configs = found.features.ech_configs.as_ref();
        let configs = configs.unwrap_or_else(|| panic!("not known: {}", shown(&found)));
        let public: Vec<_> = configs.iter().map(|it| it.public_name.as_str()).collect();
        assert_eq!(public, names, "{}", shown(&found));
        assert!(configs.iter().all(|it| it.version == 0xfe0d));
        let kems = configs.iter().filter_map(|it| it.kem.as_ref());
        assert!(
            kems.clone().count() == names.len() && kems.into_iter().all(|kem| kem.name == "X25519")
        );
        assert_eq!(
            found.intolerance.get("ECH GREASE"),
            Some(&Tolerance::Tolerant)
        );
    }
}

/// Starts BoringSSL's own server, with these arguments.
fn boringssl(files: &Files, arguments: &[&str]) -> Server {
    serve(Tool::Boringssl, |address| {
        let (chain, key) = (files.path("whole.pem"), files.path("key.pem"));
        let port = address.port().to_string();
        let settings = [
            "server", "-loop", "-accept", &port, "-cert", &chain, "-key", &key,
        ];
        let all = settings.iter().chain(arguments);
        all.map(|word| (*word).to_owned()).collect()
    })
}

pub(crate) fn caddy_is_enumerated() {
    let files = Files::new(Key::Rsa);
    for lines in ["", "protocols tls1.2 tls1.2\n curves x25519 secp521r1"] {
        let server = serve(Tool::Caddy, |address| {
            let path = files.write(
                &format!("Caddyfile-{}", address.port()),
                &format!(
                    "{{\n admin off\n auto_https off\n skip_install_trust\n storage file_system {storage}\n}}\n\
                     https://:{port} {{\n bind 127.0.0.1\n tls {chain} {key} {{\n {lines}\n }}\n respond \"x\"\n}}\n",
                    storage = files.path("caddy"),
                    port = address.port(),
                    chain = files.path("whole.pem"),
                    key = files.path("key.pem"),
                ),
            );
            ["run", "--adapter", "caddyfile", "--config", &path]
                .map(str::to_owned)
                .to_vec()
        });
        is_found(&server, &format!("Caddy, {lines}"));
    }
}

const BEARSSL: &str = include_str!("bearssl.c");

pub(crate) fn bearssl_is_enumerated() {
    for key in KEYS {
        let files = Files::new(key);
        let (source, program) = (files.write("server.c", BEARSSL), files.path("server"));
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-o", &program, &source, "-lbearssl"]);
        let made = compiler.output().unwrap();
        assert!(made.status.success(), "{made:?}");
        for (oldest, newest) in [("0301", "0303"), ("0303", "0303"), ("0301", "0302")] {
            let server = listening(|address| {
                let mut command = Command::new(&program);
                command.arg(address.port().to_string());
                command.args(["leaf.der", "ca.der", "key.der"].map(|name| files.path(name)));
                command.args([oldest, newest]);
                command
            });
            is_found(&server, &format!("BearSSL, {key:?}, {oldest} to {newest}"));
        }
    }
}
