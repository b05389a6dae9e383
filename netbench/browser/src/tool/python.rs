//! Python, by `http.client` over `ssl`.

use std::process::Command;

use netbench_model::{CertificateFault, FailureClass as F, FailureWord as W};

use super::{About, Asked, Fetched, Ran, Read, openssl, script_output::ScriptOutput};
use crate::codes::meaning;

pub(super) const ABOUT: &str = "import ssl, sys, platform; print(sys.executable); print(platform.python_version()); print(ssl.OPENSSL_VERSION)";

const FETCH: &str = include_str!("fetch.py");

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
    let failure = match (error, output.verify, output.reason.as_deref()) {
        (_, Some(number), _) => {
            let fault = CertificateFault::of_openssl_result(number);
            openssl::of(F::Certificate, fault, said)
        }
        ("TimeoutError", ..) => return None,
        (_, None, reason) => match (meaning("python", error), reason) {
            (Some((class, why)), _) => openssl::of(class, why, said),
            (None, Some(reason)) => openssl::failure(reason, said),
            (None, None) => openssl::of(F::Protocol, W::Unexplained, said),
        },
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
