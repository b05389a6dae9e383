//! curl, by `--write-out '%{json}'`.

use std::process::Command;

use netbench_model::{CertificateFault, FailureClass as F, FailureWord as W};
use serde::Deserialize;

use super::{About, Asked, Fetched, Ran, Read, openssl};

/// The fields of curl's report on a transfer that are used.
#[derive(Debug, Deserialize)]
struct Transfer {
    http_code: u16,
    size_download: u64,
    http_version: String,
    ssl_verify_result: i64,
    errormsg: Option<String>,
}

/// Parses `curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1 OpenSSL/3.0.22 zlib/1.2.13 …`
pub(super) fn about(said: &str) -> Option<About> {
    const LIBRARIES: [&str; 9] = [
        "OpenSSL/",
        "GnuTLS/",
        "LibreSSL/",
        "BoringSSL",
        "AWS-LC/",
        "rustls-ffi/",
        "wolfSSL/",
        "mbedTLS/",
        "quictls/",
    ];
    let line = said.lines().next()?;
    let mut words = line.split_whitespace();
    let version = format!("{} {}", words.next()?, words.next()?);
    // Libraries that it could use but does not are in brackets.
    let library = words.find(|word| LIBRARIES.iter().any(|library| word.starts_with(library)))?;
    Some(About {
        executable: None,
        version,
        library: library.replacen('/', " ", 1),
    })
}

pub(super) fn ask(command: &mut Command, asked: Asked<'_>) -> Read {
    command
        // This option ignores its user's settings; it must come first.
        .arg("--disable")
        .args([
            "--silent",
            "--show-error",
            "--noproxy",
            "*",
            "--output",
            "/dev/null",
        ])
        .args(["--write-out", "%{json}", "--max-time"])
        .arg(format!("{:.3}", asked.seconds))
        .arg("--cacert")
        .arg(asked.roots)
        .arg(asked.url);
    read
}

fn read(ran: &Ran, library: &str) -> Option<Fetched> {
    let transfer: Transfer = serde_json::from_str(&ran.stdout).ok()?;
    if ran.code == 0 {
        return Some(Fetched::Answered {
            http_status: transfer.http_code,
            body_bytes: transfer.size_download,
            alpn: (transfer.http_version == "2").then(|| "h2".to_owned()),
        });
    }
    let said = transfer.errormsg.unwrap_or_default();
    let has_numbers = !library.starts_with("GnuTLS") && !library.starts_with("rustls");
    let failure = match ran.code {
        6 => openssl::of(F::Resolve, W::NotFound, &said),
        7 => openssl::of(F::Connect, W::Refused, &said),
        18 => openssl::of(F::Http, W::Incomplete, &said),
        1 | 8 | 16 | 43 | 61 | 92 => openssl::of(F::Http, W::NotHttp, &said),
        28 => return None,
        52 => openssl::of(F::Closed, W::EndOfStream, &said),
        // curl checks the name itself, after OpenSSL's verification.
        51 | 60 if said.contains("subject name") || said.contains("common name") => {
            openssl::of(F::Certificate, CertificateFault::WrongName, &said)
        }
        // The field is 1 before the verification.
        51 | 60 if has_numbers && transfer.ssl_verify_result > 1 => {
            let fault = CertificateFault::of_openssl_result(transfer.ssl_verify_result);
            openssl::of(F::Certificate, fault, &said)
        }
        51 | 60 | 83 | 90 | 91 => openssl::of(F::Certificate, CertificateFault::Other, &said),
        // OpenSSL cannot parse an extension.
        35 if said.contains("X509 V3 routines") => {
            openssl::of(F::Certificate, CertificateFault::BadEncoding, &said)
        }
        35 | 55 | 56 => openssl::failure(library_words(&said), &said),
        _ => return None,
    };
    Some(Fetched::Failed {
        failure,
        code: format!("exit code {}", ran.code),
    })
}

/// Returns OpenSSL's own message at the end of curl's.
fn library_words(said: &str) -> &str {
    let parts = said.rsplit_once("::").or_else(|| said.rsplit_once(": "));
    let words = parts.map_or(said, |(_, words)| words);
    words.split(", errno").next().unwrap_or(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: i32, verify: u64, said: &str) -> String {
        let stdout = format!(
            r#"{{"http_code":0,"size_download":0,"http_version":"0","ssl_verify_result":{verify},"errormsg":"{said}"}}"#
        );
        let ran = Ran {
            code,
            stdout,
            stderr: String::new(),
        };
        match read(&ran, "OpenSSL 3.0.22") {
            Some(Fetched::Failed { failure, .. }) => {
                format!("{:?} {}", failure.class, failure.reason)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn exit_codes_have_the_words_that_all_clients_share() {
        let expired = "SSL certificate problem: certificate has expired";
        assert_eq!(failed(60, 10, expired), "Certificate expired");
        let name = "SSL: no alternative certificate subject name matches target host name 'a'";
        assert_eq!(failed(60, 1, name), "Certificate wrong-name");
        let alert = "OpenSSL/3.0.22: error:0A000410:SSL routines::sslv3 alert handshake failure";
        assert_eq!(failed(35, 0, alert), "Alert handshake_failure");
        let reset = "OpenSSL SSL_connect: Connection reset by peer in connection to a:1";
        assert_eq!(failed(35, 0, reset), "Closed reset");
        let empty = "Empty reply from server";
        assert_eq!(failed(52, 0, empty), "Closed end of stream");
    }

    #[test]
    fn its_library_is_the_one_that_it_uses() {
        let said = "curl 8.5.0 (x86_64-pc-linux-gnu) libcurl/8.5.0 (OpenSSL/3.0.13) GnuTLS/3.8.3 zlib/1.3\n";
        let about = about(said).expect("a version");
        assert_eq!(
            (about.version.as_str(), about.library.as_str()),
            ("curl 8.5.0", "GnuTLS 3.8.3")
        );
    }
}
