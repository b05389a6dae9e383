//! Node.js, by its module `https`.

use std::process::Command;

use netbench_model::{CertificateFault, FailureClass as F, FailureWord as W};

use super::{About, Asked, Fetched, Ran, Read, openssl, script_output::ScriptOutput};

pub(super) const ABOUT: &str = "process.version + '\\n' + process.versions.openssl";

const FETCH: &str = r"
const [url, roots, seconds] = process.argv.slice(1);
const print = result => { console.log(JSON.stringify(result)); process.exit(0); };
const failed = error => print({ error: error.code ?? error.name, said: error.message, reason: error.reason });
try {
  const options = { ca: require('fs').readFileSync(roots), agent: false, timeout: seconds * 1000 };
  require('https').get(url, options, response => {
    let bytes = 0;
    response.on('data', data => { bytes += data.length; });
    response.on('error', failed);
    response.on('end', () => print({ status: response.statusCode, bytes }));
  }).on('error', failed);
} catch (error) { failed(error); }
";

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
    let other = |class, word: W| openssl::of(class, word.into(), said);
    let failure = match (certificate_fault(code, said), code) {
        (Some(fault), _) => openssl::of(F::Certificate, fault.into(), said),
        (_, "ENOTFOUND" | "EAI_AGAIN") => other(F::Resolve, W::NotFound),
        (_, "ECONNREFUSED") => other(F::Connect, W::Refused),
        // The code is the same where the server closes: the message distinguishes the cases.
        (_, "ECONNRESET") if said.contains("disconnected") || said.contains("hang up") => {
            other(F::Closed, W::EndOfStream)
        }
        (_, "ECONNRESET" | "EPIPE") => other(F::Closed, W::Reset),
        (_, "ERR_STREAM_PREMATURE_CLOSE") => other(F::Http, W::Incomplete),
        (_, code) if code.starts_with("HPE_") => other(F::Http, W::NotHttp),
        (_, code) => {
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

/// Maps its names of OpenSSL's verification results; `UNSPECIFIED` is a result that Node.js has no name for.
fn certificate_fault(code: &str, said: &str) -> Option<CertificateFault> {
    let number = match code {
        "UNABLE_TO_GET_ISSUER_CERT" => 2,
        "UNABLE_TO_DECRYPT_CERT_SIGNATURE" => 4,
        "UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY" => 6,
        "CERT_SIGNATURE_FAILURE" => 7,
        "CERT_NOT_YET_VALID" => 9,
        "CERT_HAS_EXPIRED" => 10,
        "ERROR_IN_CERT_NOT_BEFORE_FIELD" => 13,
        "ERROR_IN_CERT_NOT_AFTER_FIELD" => 14,
        "DEPTH_ZERO_SELF_SIGNED_CERT" => 18,
        "SELF_SIGNED_CERT_IN_CHAIN" => 19,
        "UNABLE_TO_GET_ISSUER_CERT_LOCALLY" => 20,
        "UNABLE_TO_VERIFY_LEAF_SIGNATURE" => 21,
        "CERT_CHAIN_TOO_LONG" => 22,
        "CERT_REVOKED" => 23,
        "INVALID_CA" => 24,
        "PATH_LENGTH_EXCEEDED" => 25,
        "INVALID_PURPOSE" => 26,
        "CERT_UNTRUSTED" => 27,
        "CERT_REJECTED" => 28,
        "HOSTNAME_MISMATCH" | "ERR_TLS_CERT_ALTNAME_INVALID" => 62,
        "UNSPECIFIED" if said.contains("critical extension") => 34,
        "UNSPECIFIED" if said.contains("too weak") => 66,
        "UNSPECIFIED" => 1,
        _ => return None,
    };
    Some(openssl::certificate_fault(number))
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
