//! Outcomes of browsers in cases with Encrypted ClientHello. A browser finds the configurations in an HTTPS record, and does
//! itself what an application of a library does: after a rejection it connects once more. The report of the page is that of
//! its last connection; the server's view of each connection shows the others.

use netbench_browser::{Shown, failure};
use netbench_compat::{Case, NameServer, Served, Visits};
use netbench_model::{
    EchStatus, Failure, FailureClass, FailureWord,
    compat::{CompatOutcome, Expected, Refusal},
};
use netbench_protocol::Ech;

use super::{
    ech::{ECH_REQUIRED, SILENT, UNPROTECTED, violates},
    outside, rejected, unsupported, untested,
};

/// The source of a browser's Encrypted ClientHello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// None: at most, the browser sends GREASE.
    Nothing,
    /// An HTTPS record that the browser did not ask for.
    UnreadRecord,
    /// An HTTPS record that the browser got.
    Record,
}

impl Source {
    /// Returns the source for a visit of a case's server at `port`, in a network with this name server.
    pub(super) fn of(names: Option<&NameServer>, case: &Case, port: u16) -> Self {
        match names {
            None => Self::Nothing,
            Some(names) if names.has_served(&case.record.host, port) => Self::Record,
            Some(_) => Self::UnreadRecord,
        }
    }
}

/// Returns the outcome of a visit, by the page and by the server's view of each connection.
pub(super) fn outcome(
    shown: Shown,
    case: &Case,
    each: Vec<Served>,
    source: Source,
) -> CompatOutcome {
    let found = match source {
        Source::Nothing => without_record(case, &each),
        Source::UnreadRecord => Some(unsupported("it did not ask for the HTTPS record")),
        Source::Record => with_record(&shown, case, &each),
    };
    found.unwrap_or_else(|| outside::shown(shown, case, &Served::all(each)))
}

/// Returns the outcome of a case with GREASE, or `None` if it is that of any visit.
fn without_record(case: &Case, each: &[Served]) -> Option<CompatOutcome> {
    let greased = case.ech() == Some(Ech::Grease);
    let hello = each.iter().find(|served| served.has_hello)?;
    (greased && !hello.is_offered_ech)
        .then(|| unsupported("its hello has no GREASE in place of Encrypted ClientHello"))
}

/// Returns the outcome of a case with an HTTPS record, or `None` if it is that of any visit.
fn with_record(shown: &Shown, case: &Case, each: &[Served]) -> Option<CompatOutcome> {
    let host = &case.record.host;
    if let Some(untested) = untested(&Served::all(each.iter().cloned())) {
        return Some(untested);
    }
    let mut hellos = each.iter().filter(|served| served.has_hello);
    let first = hellos.next()?;
    if let Some(violation) = first.ech_violation {
        return Some(violates(&violation.to_string(), first));
    }
    if case.has_usable_ech() && first.outer_name.as_ref() == Some(host) {
        let detail = "its hello has the hidden name, though the HTTPS record has a configuration that it should use";
        return Some(violates(detail, first));
    }
    let later: Vec<&Served> = hellos.collect();
    if let Some(rejection) = rejection(shown, case, first, &later) {
        return Some(rejection);
    }
    let mut violations = later.iter().map(|served| (served.ech_violation, served));
    if let Some((Some(violation), served)) = violations.find(|(found, _)| found.is_some()) {
        return Some(violates(&violation.to_string(), served));
    }
    match shown {
        Shown::Loaded { client, .. } => loaded(client.ech, case, each),
        Shown::Error { .. } => None,
    }
}

/// Returns the outcome of a loaded page, or `None` if it is that of any visit.
fn loaded(client: Option<EchStatus>, case: &Case, each: &[Served]) -> Option<CompatOutcome> {
    let answered = each.iter().find(|served| served.http_status.is_some())?;
    let is_accepted = client == Some(EchStatus::Accepted);
    if is_accepted != answered.is_ech_accepted {
        return Some(unsupported(
            "browser and server do not agree on whether ECH was accepted",
        ));
    }
    let is_right = is_accepted || !case.has_usable_ech();
    (!is_right && case.record.expected == Expected::Accepted)
        .then(|| violates(UNPROTECTED, answered))
}

/// Returns the outcome of a case whose server rejects Encrypted ClientHello, as the case expects. The browser reports the
/// rejection by its error page, or shows that it has recognized it: it connects again, with the configurations that the
/// server sent, or without any.
fn rejection(
    shown: &Shown,
    case: &Case,
    first: &Served,
    later: &[&Served],
) -> Option<CompatOutcome> {
    let class = Refusal::Class(FailureClass::EchRejected);
    let is_due = match &case.record.expected {
        Expected::Rejected(due) => due.contains(&class),
        Expected::Accepted => false,
    };
    if !is_due || !first.is_offered_ech || first.is_ech_accepted {
        return None;
    }
    let (code, is_reported) = match shown {
        Shown::Error { code, .. } => {
            let is_reported = failure(code).class == FailureClass::EchRejected;
            (code.as_str(), is_reported)
        }
        Shown::Loaded { .. } => ("", false),
    };
    // In a case of two rejections, the second must be reported.
    let is_once = case.visits() == Visits::Once;
    let retried = later.iter().find_map(|served| {
        let is_without = served.outer_name.as_ref() == Some(&case.record.host);
        if served.is_ech_accepted {
            Some("it connected again with the configurations that the server sent")
        } else if is_without {
            Some("it connected again without ECH")
        } else {
            None
        }
    });
    let detail = match (is_reported, retried) {
        (true, _) => "it reports the rejection",
        (false, Some(retried)) if is_once => retried,
        _ => return None,
    };
    // The connections of a single rejection after the first are not part of the case.
    let others = if is_once { &[] } else { later };
    let mut rejecting = std::iter::once(first).chain(others.iter().copied());
    let silent = rejecting.find(|served| served.alert != Some(ECH_REQUIRED));
    if let Some(silent) = silent {
        return Some(violates(SILENT, silent));
    }
    let (class, word) = (FailureClass::EchRejected, FailureWord::EchRejected);
    let failure = Failure::new(class, word, [detail, code].join(": "));
    Some(rejected(&failure, first))
}

#[cfg(test)]
mod tests {
    use netbench_compat::EchViolation;
    use netbench_model::{Alert, Negotiated};

    use super::*;

    const HOST: &str = "case.netbench.test";
    const PUBLIC: &str = "public.netbench.test";

    fn cases() -> Vec<Case> {
        netbench_compat::catalogue(netbench_compat::BUILT_IN).unwrap()
    }

    fn case<'a>(cases: &'a [Case], name: &str) -> &'a Case {
        let mut cases = cases.iter();
        cases.find(|case| case.record.name == name).unwrap()
    }

    fn page(ech: Option<EchStatus>) -> Shown {
        Shown::Loaded {
            client: Negotiated {
                ech,
                ..Negotiated::default()
            },
            http_status: Some(200),
            body_bytes: netbench_compat::BODY.len() as u64,
        }
    }

    fn error(code: &str) -> Shown {
        Shown::Error {
            code: code.to_owned(),
            certificate_base64: None,
        }
    }

    /// Returns the server's view of a connection whose hello names `name`.
    fn hello(name: &str) -> Served {
        Served {
            has_hello: true,
            outer_name: Some(name.to_owned()),
            is_offered_ech: true,
            ..Served::default()
        }
    }

    fn accepted() -> Served {
        Served {
            is_ech_accepted: true,
            ..answered(PUBLIC)
        }
    }

    fn answered(name: &str) -> Served {
        Served {
            is_finished: true,
            http_status: Some(200),
            ..hello(name)
        }
    }

    fn rejected() -> Served {
        Served {
            alert: Some(ECH_REQUIRED),
            ..hello(PUBLIC)
        }
    }

    /// Returns the word for an outcome: the reason of a refusal, or the kind of another.
    fn word(outcome: &CompatOutcome) -> String {
        match outcome {
            CompatOutcome::Accepted { .. } => "accepted".to_owned(),
            CompatOutcome::Rejected { reason, .. } => reason.to_string(),
            CompatOutcome::Unsupported { .. } => "unsupported".to_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn outcomes_count_where_page_and_connections_agree() {
        let cases = cases();
        let wrong_name = "net::ERR_CERT_COMMON_NAME_INVALID";
        let again = "net::ERR_ECH_NOT_NEGOTIATED";
        let used = Some(EchStatus::Accepted);
        let padding = Served {
            ech_violation: Some(EchViolation::Unpadded),
            ..hello(PUBLIC)
        };
        let other_alert = Served {
            alert: Some(Alert(47)),
            ..hello(PUBLIC)
        };
        for (name, shown, each, due) in [
            ("ech/accepted", page(used), vec![accepted()], "accepted"),
            // One side alone reports the acceptance.
            ("ech/accepted", page(None), vec![accepted()], "unsupported"),
            (
                "ech/accepted",
                page(used),
                vec![answered(PUBLIC)],
                "unsupported",
            ),
            // The record is not used.
            (
                "ech/accepted",
                page(None),
                vec![answered(HOST)],
                "wrong-work",
            ),
            (
                "ech/accepted",
                page(None),
                vec![answered(PUBLIC)],
                "wrong-work",
            ),
            (
                "ech/accepted-padding",
                error(wrong_name),
                vec![padding],
                "wrong-work",
            ),
            // No configuration can be used.
            (
                "ech/config-unknown-version-alone",
                page(None),
                vec![answered(HOST)],
                "accepted",
            ),
            // The browser connects again, with the new configurations or without any.
            (
                "ech/rejected",
                error(wrong_name),
                vec![rejected(), accepted()],
                "ech-rejected",
            ),
            (
                "ech/rejected",
                error(wrong_name),
                vec![rejected(), hello(HOST)],
                "ech-rejected",
            ),
            (
                "ech/rejected",
                error(wrong_name),
                vec![rejected()],
                "wrong-name",
            ),
            (
                "ech/rejected",
                error(wrong_name),
                vec![other_alert.clone(), accepted()],
                "wrong-work",
            ),
            (
                "ech/rejected-and-retried",
                page(used),
                vec![rejected(), accepted()],
                "accepted",
            ),
            (
                "ech/rejected-again",
                error(again),
                vec![rejected(), rejected()],
                "ech-rejected",
            ),
            (
                "ech/rejected-again",
                error(again),
                vec![rejected(), other_alert],
                "wrong-work",
            ),
            (
                "ech/rejected-again",
                error(wrong_name),
                vec![rejected(), hello(HOST)],
                "wrong-name",
            ),
            (
                "ech/rejected-with-hidden-name",
                error(wrong_name),
                vec![hello(PUBLIC)],
                "wrong-name",
            ),
        ] {
            let case = case(&cases, name);
            let unread = outcome(shown.clone(), case, each.clone(), Source::UnreadRecord);
            assert_eq!(word(&unread), "unsupported", "{name}");
            let found = outcome(shown, case, each.clone(), Source::Record);
            assert_eq!(word(&found), due, "{name}: {each:?}");
        }
    }

    #[test]
    fn a_case_with_grease_needs_it() {
        let cases = cases();
        let case = case(&cases, "ech/grease-ignored");
        let silent = Served {
            is_offered_ech: false,
            ..answered(HOST)
        };
        for (served, due) in [(answered(HOST), "accepted"), (silent, "unsupported")] {
            let found = outcome(page(None), case, vec![served], Source::Nothing);
            assert_eq!(word(&found), due);
        }
    }
}
