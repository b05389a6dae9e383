//! Outcomes of cases with Encrypted ClientHello: nothing is credited on which the two sides do not agree.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use netbench_compat::{Case, Served};
use netbench_model::{
    Alert, EchStatus, FailureClass,
    compat::{CompatOutcome, Expected, Refusal},
};
use netbench_protocol::{EchRejected, ResponseBody};

use super::{rejected, unsupported};
use crate::WorkerError;

/// The alert with which a client ends a connection whose server rejected Encrypted ClientHello.
pub(super) const ECH_REQUIRED: Alert = Alert(121);

/// The violation of a client that uses a connection whose server rejected Encrypted ClientHello.
pub(super) const UNPROTECTED: &str = "it sends its request to a server that rejected ECH";

/// The violation of a client that ends such a connection without [`ECH_REQUIRED`].
pub(super) const SILENT: &str = "it ends the connection without the alert ech_required";

/// Returns the configurations of a server that rejected the client, if the client's library hands them out.
pub(super) fn retry(answered: &Result<ResponseBody, WorkerError>) -> Option<String> {
    match answered {
        Ok(ResponseBody::EchRejected(rejected)) => rejected.retry_configs.clone(),
        _ => None,
    }
}

/// Returns the outcome of a connection with Encrypted ClientHello, or `None` if it is the same as without.
pub(super) fn outcome(
    case: &Case,
    response: &ResponseBody,
    served: &Served,
) -> Option<CompatOutcome> {
    if let Some(violation) = served.ech_violation {
        return Some(violates(&violation.to_string(), served));
    }
    match response {
        ResponseBody::Connected(measured) => {
            let is_accepted = measured.client.ech == Some(EchStatus::Accepted);
            if is_accepted != served.is_ech_accepted {
                let (client, server) = (said(is_accepted), said(served.is_ech_accepted));
                return Some(unsupported(&format!(
                    "the client reports that ECH was {client}, and the server {server} it"
                )));
            }
            let is_right = is_accepted || !case.has_usable_ech();
            if is_right || case.record.expected != Expected::Accepted {
                return None;
            }
            Some(violates(UNPROTECTED, served))
        }
        ResponseBody::EchRejected(answer) => Some(rejection(answer, served)),
        _ => None,
    }
}

fn said(is_accepted: bool) -> &'static str {
    match is_accepted {
        true => "accepted",
        false => "rejected",
    }
}

pub(super) fn violates(detail: &str, served: &Served) -> CompatOutcome {
    CompatOutcome::Rejected {
        reason: Refusal::Class(FailureClass::WrongWork),
        library: "violation".to_owned(),
        detail: detail.to_owned(),
        alert: served.alert,
        http_status: None,
    }
}

fn rejection(answer: &EchRejected, served: &Served) -> CompatOutcome {
    if served.is_ech_accepted || !served.is_offered_ech {
        return unsupported("the client reports a rejection of ECH that the server did not see");
    }
    if served.alert != Some(ECH_REQUIRED) {
        return violates(SILENT, served);
    }
    let decoded = answer.retry_configs.as_ref();
    let decoded = decoded.map(|list| BASE64_STANDARD.decode(list).unwrap_or_default());
    let detail = match (&decoded, &served.retry_configs) {
        (None, None) => "the server sent no configurations",
        (None, Some(_)) => "the library does not hand out the configurations that the server sent",
        (Some(list), Some(sent)) if list == sent => {
            "the library hands out the configurations that the server sent"
        }
        (Some(_), _) => {
            return unsupported("the client reports configurations that the server did not send");
        }
    };
    let mut failure = answer.failure.clone();
    failure.detail = format!("{detail}: {}", failure.detail);
    rejected(&failure, served)
}
