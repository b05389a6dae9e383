//! The output of the Python and JavaScript scripts for a fetch.

use serde::Deserialize;

use super::{Fetched, Ran};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ScriptOutput {
    status: Option<u16>,
    bytes: Option<u64>,
    /// The name of an exception, or an error's code; `None` where there was an answer.
    pub(super) error: Option<String>,
    pub(super) said: Option<String>,
    /// OpenSSL's own reason.
    pub(super) reason: Option<String>,
    /// The number of OpenSSL's result of the chain verification.
    pub(super) verify: Option<i64>,
}

impl ScriptOutput {
    /// Parses the output. Returns `None` where the script printed another format.
    pub(super) fn of(ran: &Ran) -> Option<Self> {
        serde_json::from_str(&ran.stdout).ok()
    }

    pub(super) fn answered(&self) -> Option<Fetched> {
        Some(Fetched::Answered {
            http_status: self.status?,
            body_bytes: self.bytes?,
            alpn: None,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use netbench_model::FailureClass;

    use super::{Fetched, Ran};

    /// Checks that `read` returns the expected class and reason for a script's output.
    pub(in super::super) fn holds(
        read: fn(&Ran, &str) -> Option<Fetched>,
        output: &str,
        due: (FailureClass, &str),
    ) {
        let ran = Ran {
            code: 0,
            stdout: output.to_owned(),
            stderr: String::new(),
        };
        let Some(Fetched::Failed { failure, .. }) = read(&ran, "OpenSSL") else {
            panic!("{output}");
        };
        let reason = failure.reason.to_string();
        assert_eq!((failure.class, reason.as_str()), due, "{output}");
    }
}
