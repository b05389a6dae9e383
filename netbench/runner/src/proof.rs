use netbench_model::{
    Condition, Failure, FailureClass, FailureWord, Measured, Negotiated, Phase, Role, Site, Target,
};

/// What a connection was asked to be.
pub(crate) struct Expected<'a> {
    pub(crate) condition: Condition,
    pub(crate) role: Role,
    pub(crate) target: Target,
    pub(crate) site: &'a Site,
}

/// Holds a worker's account of a connection against what was asked for and what the server saw.
///
/// # Errors
/// [`FailureClass::WrongWork`]: a figure of some other work is worse than none.
pub(crate) fn prove(expected: &Expected<'_>, measured: &Measured) -> Result<(), Failure> {
    let wrong = |reason: FailureWord, detail: String| {
        Err(Failure {
            class: FailureClass::WrongWork,
            reason: reason.into(),
            detail,
            phase: Some(Phase::Total),
            after_ns: Some(measured.phases.total_ns),
        })
    };
    let client = &measured.client;
    if client.version.is_none()
        || client.suite.is_none()
        || measured.phases.tls_ns == 0
        || measured.transfer.handshake_bytes_in == 0
        || measured.transfer.handshake_bytes_out == 0
    {
        return wrong(
            FailureWord::NoHandshake,
            "the stack tells of no finished TLS handshake".to_owned(),
        );
    }
    let resumes = expected.condition == Condition::Resumed && expected.role == Role::Measured;
    if client.resumed != resumes {
        let reason = if resumes {
            FailureWord::NotResumed
        } else {
            FailureWord::Resumed
        };
        return wrong(
            reason,
            format!("the client says that resumed is {}", client.resumed),
        );
    }
    if !resumes && measured.phases.verify_ns.is_none() {
        return wrong(
            FailureWord::NoVerification,
            "the certificate chain was not verified".to_owned(),
        );
    }
    if expected.target != Target::Lab {
        return Ok(());
    }
    let Some(server) = &measured.server else {
        return wrong(
            FailureWord::NoServersView,
            "the lab's server did not say what it saw".to_owned(),
        );
    };
    if let Some(what) = disagreement(client, &server.negotiated) {
        return wrong(FailureWord::SidesDisagree, what);
    }
    if measured.http_status != 200 || measured.body_bytes != expected.site.lab.body_bytes {
        return wrong(
            FailureWord::AnotherResponse,
            format!(
                "status {} and {} bytes, where 200 and {} were due",
                measured.http_status, measured.body_bytes, expected.site.lab.body_bytes
            ),
        );
    }
    Ok(())
}

/// Why the site cannot do what the condition asks, if it cannot.
pub(crate) fn unsupported(condition: Condition, target: Target, site: &Site) -> Option<String> {
    let resumable = site.lab.tickets > 0;
    (target == Target::Lab && condition == Condition::Resumed && !resumable)
        .then(|| "the site does not resume sessions".to_owned())
}

/// Whether a connection to the site can be expected to end well.
pub(crate) fn is_sound(site: &Site) -> bool {
    site.lab.fault.is_none()
}

/// What client and server say differently, if anything.
pub(crate) fn disagreement(client: &Negotiated, server: &Negotiated) -> Option<String> {
    fn text(value: Option<impl ToString>) -> String {
        value.map_or_else(|| "nothing".to_owned(), |value| value.to_string())
    }
    let pairs = [
        ("version", text(client.version), text(server.version)),
        ("suite", text(client.suite), text(server.suite)),
        (
            "protocol",
            text(client.alpn.as_ref()),
            text(server.alpn.as_ref()),
        ),
        (
            "resumed",
            client.resumed.to_string(),
            server.resumed.to_string(),
        ),
    ];
    let group = match (client.group, server.group) {
        (Some(client), Some(server)) => Some(("group", client.to_string(), server.to_string())),
        _ => None,
    };
    pairs
        .into_iter()
        .chain(group)
        .find(|(_, client, server)| client != server)
        .map(|(what, client, server)| {
            format!("{what}: the client says {client}, the server {server}")
        })
}
