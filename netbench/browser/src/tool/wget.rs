//! GNU Wget, by its exit code and its messages, which are English without a configured language.

use std::{fs, process::Command};

use netbench_model::{Alert, FailureClass as F, FailureWord as W};

use super::{About, Asked, Fetched, Ran, Read, openssl};
use crate::codes::meaning;

/// Parses `GNU Wget 1.21.3 built on linux-gnu.`, and the features after it: `+ssl/gnutls`.
pub(super) fn about(said: &str) -> Option<About> {
    let line = said.lines().next()?;
    let version = line.split(" built").next()?.to_owned();
    let library = said
        .split_whitespace()
        .find_map(|word| word.strip_prefix("+ssl/"))?;
    let library = match library {
        "gnutls" => "GnuTLS",
        "openssl" => "OpenSSL",
        other => other,
    };
    Some(About {
        executable: None,
        version,
        library: library.to_owned(),
    })
}

pub(super) fn ask(command: &mut Command, asked: Asked<'_>) -> Read {
    let nothing = asked.folder.join("no-roots");
    // Wget reads the folder of the system's roots unless it is given another.
    let _ = fs::create_dir_all(&nothing);
    command
        .args([
            "--no-config",
            "--no-hsts",
            "--no-proxy",
            "--tries=1",
            "--max-redirect=0",
        ])
        .args(["--server-response", "--output-document=-"])
        .arg(format!("--timeout={:.3}", asked.seconds))
        .arg(format!("--ca-directory={}", nothing.display()))
        .arg(format!("--ca-certificate={}", asked.roots.display()))
        .arg(asked.url);
    read
}

fn read(ran: &Ran, _library: &str) -> Option<Fetched> {
    let status = ran.stderr.lines().rev().find_map(|line| {
        let code = line
            .trim()
            .strip_prefix("HTTP/1.")?
            .split_whitespace()
            .nth(1)?;
        code.parse().ok()
    });
    if let (0 | 8, Some(http_status)) = (ran.code, status) {
        return Some(Fetched::Answered {
            http_status,
            body_bytes: ran.stdout.len() as u64,
            alpn: None,
        });
    }
    let said = ran.stderr.as_str();
    let detail = words(said);
    let failure = match ran.code {
        5 => {
            let (class, fault) = meaning("wget", said)?;
            openssl::of(class, fault, &detail)
        }
        4 if said.contains("unable to resolve") => openssl::of(F::Resolve, W::NotFound, &detail),
        4 if said.contains("Connection refused") => openssl::of(F::Connect, W::Refused, &detail),
        4 if said.contains("timed out") => return None,
        4 | 7 => match alert(said) {
            Some(alert) => openssl::of(F::Alert, alert, &detail),
            None if said.contains("reset by peer") => openssl::of(F::Closed, W::Reset, &detail),
            None if said.contains("was non-properly terminated")
                || said.contains("No data received")
                || said.contains("unexpected eof") =>
            {
                openssl::of(F::Closed, W::EndOfStream, &detail)
            }
            None if said.contains("GnuTLS") || said.contains("SSL") => {
                openssl::failure(&library_words(said), &detail)
            }
            None => openssl::of(F::Http, W::NotHttp, &detail),
        },
        _ => return None,
    };
    Some(Fetched::Failed {
        failure,
        code: format!("exit code {}", ran.code),
    })
}

/// Parses `GnuTLS: received alert [40]: Handshake failed`
fn alert(said: &str) -> Option<Alert> {
    let (_, after) = said.split_once("alert [")?;
    let number: u8 = after.split(']').next()?.parse().ok()?;
    Some(Alert(number))
}

/// Returns the lines that report an error.
fn words(said: &str) -> String {
    const BEGINNINGS: [&str; 6] = [
        "GnuTLS:",
        "ERROR",
        "OpenSSL:",
        "Unable",
        "Read error",
        "No data",
    ];
    let lines = said.lines().filter(|line| {
        BEGINNINGS.iter().any(|word| line.trim().starts_with(word))
            || line.contains("certificate") && !line.starts_with("Loaded CA")
    });
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

fn library_words(said: &str) -> String {
    let line = said
        .lines()
        .find_map(|line| line.trim().strip_prefix("GnuTLS: "));
    line.or_else(|| {
        said.lines()
            .find_map(|line| line.rsplit_once("::").map(|(_, words)| words))
    })
    .unwrap_or_default()
    .trim_end_matches('.')
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: i32, said: &str) -> String {
        let ran = Ran {
            code,
            stdout: String::new(),
            stderr: said.to_owned(),
        };
        match read(&ran, "GnuTLS") {
            Some(Fetched::Failed { failure, .. }) => {
                format!("{:?} {}", failure.class, failure.reason)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn its_sentences_have_the_words_that_all_clients_share() {
        let expired = "ERROR: The certificate of 'a' is not trusted.\nERROR: The certificate of 'a' has expired.\n";
        assert_eq!(failed(5, expired), "Certificate expired");
        let alert = "GnuTLS: A TLS fatal alert has been received.\nGnuTLS: received alert [40]: Handshake failed\n\
                     Unable to establish SSL connection.\n";
        assert_eq!(failed(4, alert), "Alert handshake_failure");
        let group = "GnuTLS: An algorithm that is not enabled was negotiated.\nUnable to establish SSL connection.\n";
        let reason = "Protocol an-algorithm-that-is-not-enabled-was-negotiated";
        assert_eq!(failed(4, group), reason);
    }

    #[test]
    fn a_status_is_read_from_what_the_server_said() {
        let ran = Ran {
            code: 8,
            stdout: String::new(),
            stderr: "HTTP request sent, awaiting response... \n  HTTP/1.1 403 Forbidden\n"
                .to_owned(),
        };
        let answered = Fetched::Answered {
            http_status: 403,
            body_bytes: 0,
            alpn: None,
        };
        assert_eq!(read(&ran, "GnuTLS"), Some(answered));
    }
}
