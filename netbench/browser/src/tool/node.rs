//! Node.js, by its module `https`.

use std::process::Command;

use netbench_model::{CertificateFault as C, FailureClass as F, FailureWord as W};

use super::{About, Asked, Fetched, Ran, Read, openssl, script_output::ScriptOutput};
use crate::codes::meaning;

pub(super) const ABOUT: &str = "process.version + '\\n' + process.versions.openssl";

const FETCH: &str = include_str!("fetch.js");

pub(super) fn about(said: &str) -> Option<About> {
    let mut lines = said.lines();
    Some(About {
        executable: None,
        version: format!("Node.js {}", lines.next()?),
        library: format!("OpenSSL {}", lines.next()?),
    })
}

pub(super) fn ask(command: &mut Command, asked: Asked<'_>) -> Read {
    command
        .args(["-e", FETCH, "--"])
        .arg(asked.url)
        .arg(asked.roots)
        .arg(format!("{:.3}", asked.seconds));
    read
}

fn read(ran: &Ran, _library: &str) -> Option<Fetched> {
    let output = ScriptOutput::of(ran)?;
    let Some(code) = output.error.as_deref() else {
        return output.answered();
    };
    let said = output.said.as_deref().unwrap_or_default();
    let failure = match (code, meaning("node", code)) {
        // A result of OpenSSL's verification that Node.js has no name for.
        ("UNSPECIFIED", _) => {
            let fault = match said {
                said if said.contains("critical extension") => C::UnknownCriticalExtension,
                said if said.contains("too weak") => C::WeakOrUnknownSignature,
                _ => C::Other,
            };
            openssl::of(F::Certificate, fault, said)
        }
        // The code is the same where the server closes: the message distinguishes the cases.
        ("ECONNRESET", _) if said.contains("disconnected") || said.contains("hang up") => {
            openssl::of(F::Closed, W::EndOfStream, said)
        }
        ("ECONNRESET", _) => openssl::of(F::Closed, W::Reset, said),
        (_, Some((class, reason))) => openssl::of(class, reason, said),
        (code, None) => {
            let words = code.strip_prefix("ERR_SSL_").unwrap_or(code);
            let words = output
                .reason
                .as_deref()
                .or(in_sentence(said))
                .unwrap_or(words);
            openssl::failure(words, said)
        }
    };
    Some(Fetched::Failed {
        failure,
        code: code.to_owned(),
    })
}

/// Returns the reason in `write EPROTO 80AC:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake
/// failure:../deps/…`
fn in_sentence(said: &str) -> Option<&str> {
    let (_, error) = said.split_once(":error:")?;
    error.split(':').nth(3)
}

#[cfg(test)]
mod tests {
    use super::{super::script_output::tests::holds, *};

    #[test]
    fn its_codes_have_the_words_that_all_clients_share() {
        for (output, class, reason) in [
            (
                r#"{"error":"CERT_HAS_EXPIRED","said":"certificate has expired"}"#,
                F::Certificate,
                "expired",
            ),
            (
                r#"{"error":"ERR_TLS_CERT_ALTNAME_INVALID","said":"…"}"#,
                F::Certificate,
                "wrong-name",
            ),
            (
                r#"{"error":"UNSPECIFIED","said":"unhandled critical extension"}"#,
                F::Certificate,
                "unknown-critical-extension",
            ),
            (
                r#"{"error":"ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE","said":"…","reason":"sslv3 alert handshake failure"}"#,
                F::Alert,
                "handshake_failure",
            ),
            (
                r#"{"error":"EPROTO","said":"write EPROTO 8:error:0A:SSL routines:f:sslv3 alert handshake failure:../x:1:"}"#,
                F::Alert,
                "handshake_failure",
            ),
            (
                r#"{"error":"ECONNRESET","said":"socket hang up"}"#,
                F::Closed,
                "end of stream",
            ),
            (
                r#"{"error":"ERR_SSL_UNSUPPORTED_PROTOCOL","said":"…"}"#,
                F::Protocol,
                "unsupported-protocol",
            ),
        ] {
            holds(read, output, (class, reason));
        }
    }
}
