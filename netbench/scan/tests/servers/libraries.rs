//! Packaged servers of other TLS libraries, each compared with the brute force.

use std::{
    net::SocketAddr,
    process::{Command, Stdio},
};

use netbench_scan::ScanPart;
use netbench_testing::Tool;

use crate::{
    oracle::Truth,
    programs::wait_until_it_listens,
    support::{Files, Key, Server, free_address, scan, shown},
};

/// Runs a server that listens where it is asked to.
pub(crate) fn serve(program: Tool, arguments: impl Fn(SocketAddr) -> Vec<String>) -> Server {
    let program = program.path().expect("the program is there");
    for _ in 0..5 {
        let address = free_address();
        let child = Command::new(&program)
            .args(arguments(address))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server begins");
        let mut server = Server::at(child, address);
        if wait_until_it_listens(&mut server, address) {
            return server;
        }
    }
    panic!("{} does not listen", program.display());
}

/// Starts lighttpd with one of its modules for TLS.
pub(crate) fn lighttpd(files: &Files, module: &str, lines: &str) -> Server {
    files.write(
        "both.pem",
        &["key.pem", "whole.pem"]
            .map(|name| files.read(name))
            .concat(),
    );
    serve(Tool::Lighttpd, |address| {
        let path = files.write(
            &format!("{module}-{}.conf", address.port()),
            &format!(
                "server.document-root = \"{root}\"\nserver.bind = \"127.0.0.1\"\nserver.port = {port}\n\
                 server.modules = ( \"{module}\" )\nssl.engine = \"enable\"\nssl.pemfile = \"{pem}\"\n{lines}\n",
                root = files.path(""),
                port = address.port(),
                pem = files.path("both.pem"),
            ),
        );
        ["-D", "-f", &path].map(str::to_owned).to_vec()
    })
}

pub(crate) fn gnutls(files: &Files, more: &[&str]) -> Server {
    serve(Tool::GnutlsServ, |address| {
        let mut arguments: Vec<String> = vec![
            "--quiet".into(),
            "--port".into(),
            address.port().to_string(),
            "--x509certfile".into(),
            files.path("whole.pem"),
            "--x509keyfile".into(),
            files.path("key.pem"),
        ];
        arguments.extend(more.iter().map(|word| (*word).to_owned()));
        arguments
    })
}

/// Starts Erlang's ssl, with these options in addition to the certificate.
pub(crate) fn erlang(files: &Files, options: &str) -> Server {
    serve(Tool::Erl, |address| {
        let program = format!(
            "ssl:start(), \
             {{ok, L}} = ssl:listen({port}, [{{ip, {{127,0,0,1}}}}, {{certfile, \"{chain}\"}}, {{keyfile, \"{key}\"}}, \
             {{reuseaddr, true}}, {{log_level, none}}, {{backlog, 128}}, {options}]), \
             Serve = fun(F) -> case ssl:transport_accept(L) of {{ok, S}} -> \
             P = spawn(fun() -> receive go -> ok end, _ = ssl:handshake(S, 10000) end), \
             _ = ssl:controlling_process(S, P), P ! go, F(F); _ -> F(F) end end, Serve(Serve).",
            port = address.port(),
            chain = files.path("whole.pem"),
            key = files.path("key.pem"),
        );
        ["-noshell", "-noinput", "-eval", &program]
            .map(str::to_owned)
            .to_vec()
    })
}

/// Scans the server, and compares it with the brute force.
pub(crate) fn is_found(server: &Server, name: &str) {
    let truth = Truth::of(server.address);
    let found = scan(server.address, ScanPart::ALL);
    println!(
        "{name}: {} pairs, {} connections for the enumeration",
        truth.pairs(),
        found.effort.enumeration_connections
    );
    truth.is_found_by(&found, name);
    assert!(!found.chains.is_empty(), "{name}: {}", shown(&found));
}

pub(crate) fn wolfssl_is_enumerated() {
    for key in [Key::Rsa, Key::EcdsaP256] {
        let files = Files::new(key);
        for lines in ["", ALL] {
            let server = lighttpd(&files, "mod_wolfssl", lines);
            is_found(&server, &format!("wolfSSL, {key:?}, {lines}"));
        }
    }
}

/// The suites for which its module has names, and old versions.
const HIGH: &str =
    "ssl.openssl.ssl-conf-cmd = ( \"MinProtocol\" => \"TLSv1.1\", \"CipherString\" => \"HIGH\" )";

/// Every suite of the library and every version.
const ALL: &str =
    "ssl.openssl.ssl-conf-cmd = ( \"MinProtocol\" => \"TLSv1\", \"CipherString\" => \"ALL\" )";

pub(crate) fn mbedtls_is_enumerated() {
    for key in [Key::Rsa, Key::EcdsaP256] {
        let files = Files::new(key);
        // With the second setting mbedTLS also chooses suites that it cannot use, which hide others.
        for lines in ["", HIGH] {
            let server = lighttpd(&files, "mod_mbedtls", lines);
            is_found(&server, &format!("mbedTLS, {key:?}, {lines}"));
        }
    }
}

pub(crate) fn gnutls_is_enumerated() {
    let priority = "NORMAL:+VERS-TLS1.0:+VERS-TLS1.1:+ANON-ECDH:+ANON-DH:+3DES-CBC";
    let old_signatures =
        "NORMAL:-VERS-ALL:+VERS-TLS1.2:+SIGN-RSA-MD5:+SIGN-RSA-SHA1:%VERIFY_ALLOW_BROKEN";
    let cases: [&[&str]; 4] = [
        &["--priority", old_signatures],
        &[],
        &["--priority", "NORMAL:-VERS-TLS1.3"],
        &["--priority", priority],
    ];
    for key in [Key::Rsa, Key::EcdsaP256] {
        let files = Files::new(key);
        for arguments in cases {
            let server = gnutls(&files, arguments);
            is_found(&server, &format!("GnuTLS, {key:?}, {arguments:?}"));
        }
        // GnuTLS has no DHE parameters here, and uses those that the client offers by name.
        let server = lighttpd(&files, "mod_gnutls", "");
        is_found(&server, &format!("GnuTLS in lighttpd, {key:?}"));
    }
}

/// Every suite of Erlang, some of which it cannot use.
pub(crate) const ERLANG_ALL: &str = "{versions, ['tlsv1.2', 'tlsv1.1', 'tlsv1']}, \
    {ciphers, lists:usort(lists:append([ssl:cipher_suites(all, V) || V <- ['tlsv1.2', 'tlsv1.1', 'tlsv1']]))}";

pub(crate) fn erlang_is_enumerated() {
    let newest = "{versions, ['tlsv1.3', 'tlsv1.2']}, \
        {ciphers, lists:append([ssl:cipher_suites(all, V) || V <- ['tlsv1.3', 'tlsv1.2']])}";
    for (name, options) in [("all", ERLANG_ALL), ("all of TLS 1.2 and 1.3", newest)] {
        let files = Files::new(Key::Rsa);
        let server = erlang(&files, options);
        is_found(&server, &format!("Erlang, {name}"));
    }
}
