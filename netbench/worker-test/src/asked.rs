//! Custom requests and client certificates, tested against `openssl s_server`.

use std::{fs, net::SocketAddr, process::Command};

use netbench_model::{Condition, KeyType, Role};
use netbench_protocol::{
    ClientIdentity, Configure, Connect, HttpRequest, Operation, RequestBody, ResponseBody,
};
use netbench_runner::WorkerProgram;

use crate::{
    bench::{connection, describe, start},
    cases::{client, offer_only},
    foreign::{Files, LIMIT, OpenSslCommand},
    site::{HOST, OnlySite},
};

/// The content of the server's only page.
const PAGE: &str = "A page that only its own path leads to.\n";

/// Returns the errors in the requests that `stack` sends and in the certificate that it presents.
pub(crate) fn run(program: &WorkerProgram, stack: &str) -> Result<Vec<String>, String> {
    let described = describe(&mut start(program)?, stack)?;
    let mut needed = [Operation::Request, Operation::ClientCertificate].into_iter();
    if !needed.all(|operation| described.does(operation)) {
        return Ok(Vec::new());
    }
    let mut offers = client();
    offer_only(&described, &mut offers);
    let site = OnlySite::with_key(stack, KeyType::EcdsaP256)?;
    let files = Files::new(&site)?;
    fs::write(files.path("page.txt"), PAGE).map_err(|e| e.to_string())?;
    let identity = client_identity(&files)?;
    let (leaf, chain, key) = (files.path("leaf"), files.path("chain"), files.path("key"));
    let own = files.path("client");
    let asks = ["-Verify", "1", "-verify_return_error", "-CAfile", &own];
    let serves = ["s_server", "-accept", "127.0.0.1:0", "-WWW"];
    let certified = ["-cert", &leaf, "-cert_chain", &chain, "-key", &key];
    let arguments = [&serves[..], &certified[..], &asks[..]].concat();
    let mut server = OpenSslCommand::start_in(&arguments, &files.path(""))?;
    let address = server.address()?;
    let mut wrong = Vec::new();
    for (what, path, shown, fits) in [
        ("its page", "/page.txt", Some(&identity), Fits::Page),
        ("no certificate", "/page.txt", None, Fits::Failure),
        (
            "a path that no URI can have",
            "/\u{7f}",
            Some(&identity),
            Fits::Failure,
        ),
    ] {
        let settings = Configure {
            identity: shown.cloned(),
            ..Configure::new(stack, offers.clone(), &site.roots_pem)
        };
        let answer = visit(program, settings, address, path)?;
        let right = match (&answer, fits) {
            (ResponseBody::Connected(measured), Fits::Page) => {
                (measured.http_status, measured.body_bytes) == (200, PAGE.len() as u64)
            }
            (ResponseBody::Failed(failure), Fits::Failure) => {
                !failure.detail.contains("PRIVATE") && !failure.detail.is_empty()
            }
            _ => false,
        };
        if !right {
            wrong.push(format!(
                "s_server that asks for a certificate, {what}: {answer:?}"
            ));
        }
    }
    Ok(wrong)
}

#[derive(Debug, Clone, Copy)]
enum Fits {
    Page,
    Failure,
}

/// Creates a self-signed certificate in `client`.
fn client_identity(files: &Files) -> Result<ClientIdentity, String> {
    let (certificate, key) = (files.path("client"), files.path("client-key"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
        ])
        .args(["-nodes", "-subj", "/CN=client", "-days", "2"])
        .args(["-addext", "extendedKeyUsage=clientAuth"])
        .args(["-keyout", &key, "-out", &certificate])
        .output()
        .map_err(|e| e.to_string())?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into_owned());
    }
    let [certificate, key] =
        [certificate, key].map(|path| fs::read_to_string(path).map_err(|e| e.to_string()));
    Ok(ClientIdentity::of_pem(certificate?, key?))
}

fn visit(
    program: &WorkerProgram,
    settings: Configure,
    address: SocketAddr,
    path: &str,
) -> Result<ResponseBody, String> {
    let mut worker = start(program)?;
    let connect = Connect {
        request: HttpRequest {
            path: path.to_owned(),
            ..HttpRequest::default()
        },
        ..connection(HOST, address, Condition::Clean, Role::Measured)
    };
    worker
        .ask(RequestBody::Configure(Box::new(settings)), 2 * LIMIT)
        .and_then(|_| worker.ask(RequestBody::Connect(Box::new(connect)), 2 * LIMIT))
        .map_err(|e| e.to_string())
}
