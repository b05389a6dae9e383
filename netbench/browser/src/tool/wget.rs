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
    let says = |what: &str| said.contains(what);
    let detail = words(said);
    let other = |class, word: W| openssl::of(class, word.into(), &detail);
    let failure = match ran.code {
        5 => {
            let (class, fault) = meaning("wget", said)?;
            openssl::of(class, fault, &detail)
        }
        4 if says("unable to resolve") => other(F::Resolve, W::NotFound),
        4 if says("Connection refused") => other(F::Connect, W::Refused),
        4 if says("timed out") => return None,
        4 | 7 => match alert(said) {
            Some(alert) => openssl::of(F::Alert, alert.into(), &detail),
            None if says("reset by peer") => other(F::Closed, W::Reset),
            None if says("was non-properly terminated")
                || says("No data received")
                || says("unexpected eof") =>
            {
                other(F::Closed, W::EndOfStream)
            }
            None if says("GnuTLS") || says("SSL") => {
                openssl::failure(&library_words(said), &detail)
            }
            None => other(F::Http, W::NotHttp),
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
    let tells = |line: &&str| {
        [
            "GnuTLS:",
            "ERROR",
            "OpenSSL:",
            "Unable",
            "Read error",
            "No data",
        ]
        .iter()
        .any(|word| line.trim().starts_with(word))
            || line.contains("certificate") && !line.starts_with("Loaded CA")
    };
    let lines: Vec<_> = said.lines().filter(tells).map(str::trim).collect();
    lines.join(" ")
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

    fn failed(code: i32, said: &str) -> (F, String) {
        let ran = Ran {
            code,
            stdout: String::new(),
            stderr: said.to_owned(),
        };
        match read(&ran, "GnuTLS") {
            Some(Fetched::Failed { failure, .. }) => (failure.class, failure.reason.to_string()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn its_sentences_have_the_words_that_all_clients_share() {
        let of = |class, reason: &str| (class, reason.to_owned());
        let expired = "ERROR: The certificate of 'a' is not trusted.\nERROR: The certificate of 'a' has expired.\n";
        assert_eq!(failed(5, expired), of(F::Certificate, "expired"));
        let alert = "GnuTLS: A TLS fatal alert has been received.\nGnuTLS: received alert [40]: Handshake failed\n\
                     Unable to establish SSL connection.\n";
        assert_eq!(failed(4, alert), of(F::Alert, "handshake_failure"));
        let group = "GnuTLS: An algorithm that is not enabled was negotiated.\nUnable to establish SSL connection.\n";
        assert_eq!(
            failed(4, group),
            of(
                F::Protocol,
                "an-algorithm-that-is-not-enabled-was-negotiated"
            )
        );
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
