//! Tests that every case of the catalogue is accepted by a reference client, or states why no client accepts it.
//!
//! A case that a client should accept is accepted with its certificates verified. With any other case, a client
//! that verifies nothing and offers everything shows that the server follows the protocol.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    io::{Read, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use netbench_compat::{
    BODY, BUILT_IN, Case, Visits, catalogue,
    chains::{Chain, own},
};
use netbench_model::compat::Expected;
use netbench_scratch::Folder;
use netbench_testing::Tool;

netbench_testing::tests! {
    every_case_is_accepted_by_a_reference_client: OpensslCommand, Curl, Go, Chromium, Firefox, Certutil;
    old_versions_are_spoken_with_every_kind_of_key: OpensslCommand;
    openssl_verifies_the_signatures_of_foreign_keys: OpensslCommand;
}

/// The time limit of a client for a visit.
const LIMIT: Duration = Duration::from_secs(5);

/// The client that is written in Go.
const GO: &str = include_str!("reference/main.go");

/// The preferences of Firefox, which requests nothing by itself.
const FIREFOX: &str = include_str!("../../browser/src/firefox/user.js");

/// A program, and the part of its abilities that it offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Client {
    /// `openssl s_client` at security level 0, from TLS 1.0 to 1.3.
    Openssl,
    /// The same with only TLS 1.2.
    Openssl12,
    /// curl, which supports HTTP/2.
    Curl,
    /// Go's library, which supports X25519MLKEM768, 3DES and RC4.
    Go,
    /// Chromium, which sends GREASE and reads an empty serial number.
    Chromium,
    /// Firefox, which decompresses certificates.
    Firefox,
}

const CLIENTS: [Client; 6] = [
    Client::Openssl,
    Client::Openssl12,
    Client::Curl,
    Client::Go,
    Client::Chromium,
    Client::Firefox,
];

/// Whether a client verifies certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verification {
    On,
    Off,
}

/// A folder with the programs that are built for the test, and the files of the current case.
struct Place {
    folder: Folder,
}

fn every_case_is_accepted_by_a_reference_client() {
    let place = Place::new();
    place.build_go_client();
    let cases = catalogue(BUILT_IN).unwrap();
    let mut wrong = Vec::new();
    // No client here offers Encrypted ClientHello: the tests of the command have the workers that do.
    for case in cases.iter().filter(|case| case.ech().is_none()) {
        let name = &case.record.name;
        let accepts = CLIENTS
            .into_iter()
            .find(|client| client.accepts(case, &place));
        match (accepts, &case.record.nothing_accepts) {
            (None, None) => wrong.push(format!("{name}: no client accepts it")),
            (Some(client), Some(_)) => wrong.push(format!("{name}: {client:?} accepts it")),
            (Some(_), None) | (None, Some(_)) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The catalogue has the curves' keys with TLS 1.0 and 1.1; this test has the other kinds of signature, key
/// exchange and encryption of those versions, which no case needs.
fn old_versions_are_spoken_with_every_kind_of_key() {
    let place = Place::new();
    let suites = [
        ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "rsa-2048"),
        ("TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ecdsa-p256"),
        ("TLS_RSA_WITH_AES_128_CBC_SHA", "rsa-2048"),
    ];
    for version in ["1.0", "1.1"] {
        for (suite, key) in suites {
            let text = format!(
                "[[case]]\nname = \"old/server\"\nabout = \"is old\"\nexpect = \"accepted\"\nwhy = \"RFC 2246\"\nadvice = \"none\"\n\
                 certificates.leaf = {{ key = \"{key}\" }}\n\
                 server = {{ versions = [\"{version}\"], suites = [\"{suite}\"], ignores-offer = true, record-bytes = 100, client-certificate = \"asked\" }}"
            );
            let cases = catalogue(&text).unwrap();
            assert!(
                Client::Openssl.accepts(&cases[0], &place),
                "{version}, {suite}"
            );
        }
    }
}

/// The signatures are computed here because no library supports them; OpenSSL verifies them at security level 0.
fn openssl_verifies_the_signatures_of_foreign_keys() {
    let place = Place::new();
    let chains = own(Timestamp::now());
    let foreign = chains
        .iter()
        .filter(|chain| chain.case.kind() == "own/foreign-signer");
    let mut verified = 0;
    for Chain { case, question } in foreign {
        let files = ["leaf.pem", "intermediate.pem", "root.pem"];
        let certificates = question.chain_base64.iter().chain(&question.roots_base64);
        for (file, base64) in files.iter().zip(certificates) {
            let lines: Vec<&str> = (0..base64.len())
                .step_by(64)
                .map(|at| &base64[at..base64.len().min(at + 64)])
                .collect();
            let pem = format!(
                "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
                lines.join("\n")
            );
            place.write(file, pem.as_bytes());
        }
        let [leaf, intermediate, root] = files.map(|file| place.path(file));
        let mut command = Command::new("openssl");
        command
            .args(["verify", "-auth_level", "0", "-CAfile"])
            .arg(root);
        command.arg("-untrusted").arg(intermediate).arg(leaf);
        let said = printed(command, &[], LIMIT);
        assert!(
            said.ends_with(b": OK\n"),
            "{}: {}",
            case.name,
            String::from_utf8_lossy(&said)
        );
        verified += 1;
    }
    assert!(verified >= 6, "{verified}");
}

impl Place {
    fn new() -> Self {
        Self {
            folder: Folder::new("netbench-reference-").unwrap(),
        }
    }

    fn build_go_client(&self) {
        self.write("main.go", GO.as_bytes());
        let built = Command::new("go")
            .args(["build", "-o"])
            .args([self.path("go-client"), self.path("main.go")])
            .env("GO111MODULE", "off")
            .status();
        assert!(built.unwrap().success());
    }

    /// Makes NSS' database in a new folder, with trust in the roots. In the folder `.pki/nssdb` of a user's home, Chromium
    /// reads it.
    fn make_database(&self, folder: &str) {
        let database = format!("sql:{}", self.path(folder).display());
        let _ = fs::remove_dir_all(self.path(folder));
        fs::create_dir_all(self.path(folder)).unwrap();
        let roots = self.path("roots.pem");
        let roots = roots.to_str().unwrap();
        for arguments in [
            &["-N", "--empty-password"][..],
            &["-A", "-n", "root", "-t", "C,,", "-i", roots],
        ] {
            let done = Command::new("certutil")
                .args(["-d", &database])
                .args(arguments)
                .status();
            assert!(done.unwrap().success());
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }
}

impl Client {
    fn accepts(self, case: &Case, place: &Place) -> bool {
        let mut observed = case.record.observed.iter();
        let is_meant =
            observed.any(|(name, does)| name.starts_with("chromium") && does == "accepted");
        match self {
            Self::Chromium if !is_meant && !case.needs_grease() => return false,
            Self::Firefox if !case.compresses_certificates() => return false,
            _ => {}
        }
        let verification = match case.record.expected {
            Expected::Accepted => Verification::On,
            Expected::Rejected(_) => Verification::Off,
        };
        let server = case.server(Timestamp::now()).unwrap();
        place.write("roots.pem", server.roots_pem().as_bytes());
        let _ = fs::remove_file(place.path("session"));
        let running = server.start(LIMIT).unwrap();
        let port = running.address().port();
        let visits = match case.visits() {
            Visits::Once | Visits::WithRetryConfigs => 1,
            Visits::Twice | Visits::TwiceWithEarlyData => 2,
        };
        let said: Vec<Vec<u8>> = (0..visits)
            .map(|_| self.visit(case, place, port, verification))
            .collect();
        let mut each = running.end_each();
        if matches!(self, Self::Chromium | Self::Firefox) {
            // Browsers open further connections, and may leave them unused.
            each.retain(|served| served.http_status.is_some());
            each.truncate(visits);
        }
        let are_whole = each.iter().all(|served| {
            served.is_finished
                && served.unsuited.is_none()
                && matches!(served.http_status, Some(101 | 200))
        });
        let is_shown = said.iter().all(|said| match self {
            // The file of its picture.
            Self::Firefox => place.path("page.png").exists(),
            _ => has(said, BODY) || has(said, b" 101 "),
        });
        each.len() == visits && are_whole && is_shown
    }

    fn limit(self) -> Duration {
        match self {
            // Firefox makes a new profile, and draws the page.
            Self::Firefox => 6 * LIMIT,
            _ => LIMIT,
        }
    }

    /// Visits the server. Returns the bytes that the client has printed.
    fn visit(self, case: &Case, place: &Place, port: u16, verification: Verification) -> Vec<u8> {
        let host = &case.record.host;
        let verifies = verification == Verification::On;
        let mut request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n");
        for (name, value) in case.request().headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        let address = format!("127.0.0.1:{port}");
        let is_address = host.parse::<std::net::IpAddr>().is_ok();
        let mut command;
        match self {
            Self::Openssl | Self::Openssl12 => {
                command = Command::new("openssl");
                command.args(["s_client", "-quiet", "-ign_eof", "-connect", &address]);
                command.args(["-cipher", "ALL:COMPLEMENTOFALL:@SECLEVEL=0"]);
                command.args(["-groups", "P-256:X25519:P-384:P-521"]);
                command.args(["-legacy_server_connect", "-status"]);
                command.args(["-provider", "legacy", "-provider", "default"]);
                match self {
                    Self::Openssl => command.args(["-min_protocol", "TLSv1"]),
                    _ => command.arg("-tls1_2"),
                };
                match is_address {
                    true => command.arg("-noservername"),
                    false => command.args(["-servername", host]),
                };
                if verifies {
                    command.args(["-verify_return_error", "-partial_chain", "-CAfile"]);
                    command.arg(place.path("roots.pem"));
                    let check = if is_address {
                        "-verify_ip"
                    } else {
                        "-verify_hostname"
                    };
                    command.args([check, host]);
                }
                if case.visits() != Visits::Once {
                    let session = place.path("session");
                    if session.exists() {
                        command.arg("-sess_in").arg(&session);
                        if case.visits() == Visits::TwiceWithEarlyData {
                            place.write("early", b"GET / HTTP/1.1\r\n\r\n");
                            command.arg("-early_data").arg(place.path("early"));
                        }
                    } else {
                        command.arg("-sess_out").arg(&session);
                    }
                }
                if let Some(identity) = case.identity() {
                    let password = identity.password.as_deref().unwrap_or("none");
                    command.args(["-pass", &format!("pass:{password}")]);
                    let (certificate, key) = match &identity.pkcs12_base64 {
                        Some(text) => {
                            let file = BASE64_STANDARD.decode(text).unwrap();
                            place.write("client.p12", &file);
                            ("client.p12", "client.p12")
                        }
                        None => {
                            place.write("client.pem", identity.chain_pem.as_bytes());
                            place.write("key.pem", identity.key_pem.as_bytes());
                            ("client.pem", "key.pem")
                        }
                    };
                    command.arg("-cert").arg(place.path(certificate));
                    command.arg("-key").arg(place.path(key));
                }
            }
            Self::Curl => {
                command = Command::new("curl");
                command.args(["-q", "--silent", "--noproxy", "*", "--http2"]);
                command.args(["--resolve", &format!("{host}:{port}:127.0.0.1")]);
                command.args(["--ciphers", "DEFAULT@SECLEVEL=0", "--cacert"]);
                command.arg(place.path("roots.pem"));
                command.arg(format!("https://{host}:{port}/"));
                if !verifies {
                    command.arg("--insecure");
                }
            }
            Self::Go => {
                command = Command::new(place.path("go-client"));
                command.env("GODEBUG", "tlsmlkem=1");
                command.args([&address, host]);
                if verifies {
                    command.arg(place.path("roots.pem"));
                }
            }
            Self::Chromium => {
                place.make_database(".pki/nssdb");
                command = Command::new(Tool::Chromium.path().unwrap());
                command.env("HOME", place.path(""));
                command.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
                command.arg(format!(
                    "--user-data-dir={}",
                    place.path("chromium").display()
                ));
                command.arg(format!("--host-resolver-rules=MAP {host} 127.0.0.1"));
                command.arg(format!("https://{host}:{port}/"));
                if !verifies {
                    command.arg("--ignore-certificate-errors");
                }
            }
            Self::Firefox => {
                place.make_database("firefox");
                // All other hosts are behind a proxy that does not exist.
                let preferences = format!(
                    "{FIREFOX}\nuser_pref(\"network.dns.localDomains\", \"{host}\");\n\
                     user_pref(\"network.proxy.type\", 1);\n\
                     user_pref(\"network.proxy.ssl\", \"127.0.0.1\");\n\
                     user_pref(\"network.proxy.ssl_port\", 9);\n\
                     user_pref(\"network.proxy.http\", \"127.0.0.1\");\n\
                     user_pref(\"network.proxy.http_port\", 9);\n\
                     user_pref(\"network.proxy.no_proxies_on\", \"{host}\");\n"
                );
                place.write("firefox/user.js", preferences.as_bytes());
                let _ = fs::remove_file(place.path("page.png"));
                command = Command::new(Tool::Firefox.path().unwrap());
                command.env("HOME", place.path(""));
                command.args(["--headless", "--no-remote", "--profile"]);
                command.arg(place.path("firefox"));
                command.arg("--screenshot").arg(place.path("page.png"));
                command.arg(format!("https://{host}:{port}/"));
            }
        }
        printed(command, request.as_bytes(), self.limit())
    }
}

/// Runs a program for at most this time, and returns its output.
fn printed(mut command: Command, input: &[u8], limit: Duration) -> Vec<u8> {
    let mut child = command
        .env_remove("SSLKEYLOGFILE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The program may have ended before it reads any input.
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(input);
    let mut stdout = child.stdout.take().unwrap();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    let in_time = receiver.recv_timeout(limit);
    end(child);
    in_time.or_else(|_| receiver.recv()).unwrap()
}

fn end(mut child: Child) {
    let _ = child.kill();
    child.wait().unwrap();
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
