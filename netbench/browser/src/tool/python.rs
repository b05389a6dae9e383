//! Python, by `http.client` over `ssl`.

use std::process::Command;

use netbench_model::{FailureClass as F, FailureWord as W};

use super::{About, Asked, Fetched, Ran, Read, openssl, script_output::ScriptOutput};

pub(super) const ABOUT: &str = "import ssl, sys, platform; print(sys.executable); print(platform.python_version()); print(ssl.OPENSSL_VERSION)";

const FETCH: &str = r#"
import http.client, json, ssl, sys
from urllib.parse import urlsplit
url, roots, seconds = urlsplit(sys.argv[1]), sys.argv[2], float(sys.argv[3])
result = {}
try:
    context = ssl.create_default_context(cafile=roots)
    connection = http.client.HTTPSConnection(url.hostname, url.port, timeout=seconds, context=context)
    connection.request("GET", url.path or "/")
    response = connection.getresponse()
    result["status"] = response.status
    result["bytes"] = len(response.read())
except Exception as error:
    result["error"] = type(error).__name__
    result["said"] = str(error)
    result["reason"] = getattr(error, "reason", None)
    result["verify"] = getattr(error, "verify_code", None)
print(json.dumps(result, default=str))
"#;

pub(super) fn about(said: &str) -> Option<About> {
    let mut lines = said.lines();
    Some(About {
        executable: Some(lines.next()?.into()),
        version: format!("Python {}", lines.next()?),
        library: lines.next()?.to_owned(),
    })
}

pub(super) fn ask(command: &mut Command, asked: Asked<'_>) -> Read {
    command
        .args(["-I", "-c", FETCH])
        .arg(asked.url)
        .arg(asked.roots)
        .arg(format!("{:.3}", asked.seconds));
    read
}

fn read(ran: &Ran, _library: &str) -> Option<Fetched> {
    let output = ScriptOutput::of(ran)?;
    let Some(error) = output.error.as_deref() else {
        return output.answered();
    };
    let said = output.said.as_deref().unwrap_or_default();
    let other = |class, word: W| openssl::of(class, word.into(), said);
    let failure = match (error, output.verify, output.reason.as_deref()) {
        (_, Some(number), _) => openssl::of(
            F::Certificate,
            openssl::certificate_fault(number).into(),
            said,
        ),
        ("gaierror", ..) => other(F::Resolve, W::NotFound),
        ("ConnectionRefusedError", ..) => other(F::Connect, W::Refused),
        ("ConnectionResetError" | "BrokenPipeError", ..) => other(F::Closed, W::Reset),
        ("SSLEOFError" | "SSLZeroReturnError" | "RemoteDisconnected", ..) => {
            other(F::Closed, W::EndOfStream)
        }
        ("IncompleteRead", ..) => other(F::Http, W::Incomplete),
        ("BadStatusLine" | "LineTooLong" | "HTTPException", ..) => other(F::Http, W::NotHttp),
        ("TimeoutError", ..) => return None,
        (_, None, Some(reason)) => openssl::failure(reason, said),
        _ => other(F::Protocol, W::Unexplained),
    };
    Some(Fetched::Failed {
        failure,
        code: output.reason.as_deref().unwrap_or(error).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::script_output::tests::holds, *};

    #[test]
    fn exceptions_have_the_words_that_all_clients_share() {
        for (output, class, reason) in [
            (
                r#"{"error":"SSLCertVerificationError","said":"…","reason":"CERTIFICATE_VERIFY_FAILED","verify":62}"#,
                F::Certificate,
                "wrong-name",
            ),
            (
                r#"{"error":"SSLError","said":"…","reason":"TLSV1_ALERT_INTERNAL_ERROR","verify":null}"#,
                F::Alert,
                "internal_error",
            ),
            (
                r#"{"error":"SSLEOFError","said":"…","reason":"UNEXPECTED_EOF_WHILE_READING","verify":null}"#,
                F::Closed,
                "end of stream",
            ),
            (
                r#"{"error":"ConnectionResetError","said":"…","reason":null,"verify":null}"#,
                F::Closed,
                "reset",
            ),
        ] {
            holds(read, output, (class, reason));
        }
        let ran = Ran {
            code: 1,
            stdout: "Traceback".to_owned(),
            stderr: String::new(),
        };
        assert_eq!(read(&ran, "OpenSSL"), None);
    }
}
