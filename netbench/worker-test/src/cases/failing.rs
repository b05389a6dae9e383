//! Connections that must fail, each with its class and, if all stacks know one, its reason.

use netbench_model::{
    Alert, Alpn, CertificateFault, CipherSuite, FailureClass, FailureReason, FailureWord, Fault,
    Group, Phase, SignatureScheme, TlsVersion,
};

use super::{Case, Outcome, Roots, good};

/// Time limit for a server that never answers, in milliseconds.
const IMPATIENCE_MS: u64 = 700;

pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for version in TlsVersion::OFFERED {
        cases.extend(certificate_faults(*version));
    }
    cases.extend(settings_apart());
    cases.extend(server_faults());
    cases.extend(roots());
    cases
}

fn bad(name: impl Into<String>, class: FailureClass, reason: Option<FailureReason>) -> Case {
    Case {
        outcome: Outcome::Failure(class, reason),
        ..good(name)
    }
}

/// Returns the case of a server that refuses with this alert.
fn refused(name: impl Into<String>, alert: Alert) -> Case {
    bad(name, FailureClass::Alert, Some(alert.into()))
}

fn certificate_faults(version: TlsVersion) -> Vec<Case> {
    [
        (Fault::WrongName, CertificateFault::WrongName),
        (Fault::UnknownRoot, CertificateFault::UnknownIssuer),
        (Fault::Expired, CertificateFault::Expired),
    ]
    .into_iter()
    .map(|(fault, reason)| {
        let name = format!("{version}-{fault}");
        let mut case = bad(name, FailureClass::Certificate, Some(reason.into()));
        case.site.tls = vec![version];
        case.site.fault = Some(fault);
        case
    })
    .collect()
}

/// Returns the cases in which the client's and the server's settings have no common values.
fn settings_apart() -> Vec<Case> {
    let mut cases = Vec::new();

    let mut case = refused("no-version", Alert::PROTOCOL_VERSION);
    case.client.versions = vec![TlsVersion::Tls12];
    case.site.tls = vec![TlsVersion::Tls13];
    cases.push(case);

    let mut case = refused("no-suite", Alert::HANDSHAKE_FAILURE);
    case.client.suites = vec![CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256];
    case.site.suites = vec![CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256];
    cases.push(case);

    let mut case = refused("no-suite-for-the-key", Alert::HANDSHAKE_FAILURE);
    case.client.suites = vec![
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ];
    cases.push(case);

    for version in TlsVersion::OFFERED {
        let name = format!("{version}-no-scheme-for-the-key");
        let mut case = refused(name, Alert::HANDSHAKE_FAILURE);
        case.site.tls = vec![*version];
        case.client.signatures = vec![
            SignatureScheme::RSA_PSS_RSAE_SHA256,
            SignatureScheme::RSA_PKCS1_SHA256,
        ];
        cases.push(case);
    }

    // JSSE's server sends unexpected_message, while RFC 8446 section 4.1.1 permits two other alerts.
    let mut case = bad("no-group", FailureClass::Alert, None);
    case.client.groups = vec![Group::SECP384R1];
    case.site.groups = vec![Group::X25519];
    cases.push(case);

    let mut case = refused("no-protocol", Alert::NO_APPLICATION_PROTOCOL);
    case.client.alpn = vec![Alpn::H2];
    case.site.alpn = vec![Alpn::Http11];
    cases.push(case);

    cases
}

fn server_faults() -> Vec<Case> {
    use FailureClass::{Closed, Connect, Http, Protocol, Timeout};
    let mut cases: Vec<_> = [
        (Fault::Refuse, Connect, Some(FailureWord::Refused.into())),
        (Fault::Silent, Timeout, Some(FailureReason::In(Phase::Tls))),
        (Fault::Reset, Closed, Some(FailureWord::Reset.into())),
        (Fault::Garbage, Protocol, None),
        (Fault::EndlessCertificate, Protocol, None),
        (
            Fault::CloseMidHandshake,
            Closed,
            Some(FailureWord::EndOfStream.into()),
        ),
        (Fault::BadHttp, Http, None),
        (
            Fault::SlowResponse,
            Timeout,
            Some(FailureReason::In(Phase::Total)),
        ),
    ]
    .into_iter()
    .map(|(fault, class, reason)| {
        let mut case = bad(format!("fault-{fault}"), class, reason);
        case.site.fault = Some(fault);
        if class == Timeout {
            case.timeout_ms = IMPATIENCE_MS;
        }
        case
    })
    .collect();
    let mut case = bad("fault-bad-http-1", Http, None);
    case.site.fault = Some(Fault::BadHttp);
    case.site.alpn = vec![Alpn::Http11];
    cases.push(case);
    cases
}

/// Returns the cases of roots from which no connector can be made.
fn roots() -> Vec<Case> {
    [
        ("no-roots", ""),
        ("roots-of-text", "not a certificate"),
        (
            "roots-of-zeros",
            "-----BEGIN CERTIFICATE-----\nAAAAAAAA\n-----END CERTIFICATE-----\n",
        ),
        (
            "roots-not-base64",
            "-----BEGIN CERTIFICATE-----\n\u{1b}[31m\n-----END CERTIFICATE-----\n",
        ),
        ("roots-without-end", "-----BEGIN CERTIFICATE-----\nAAAA\n"),
    ]
    .into_iter()
    .map(|(name, text)| {
        let mut case = bad(
            name,
            FailureClass::Setup,
            Some(FailureWord::Connector.into()),
        );
        case.roots = Roots::Text(text);
        case
    })
    .collect()
}
