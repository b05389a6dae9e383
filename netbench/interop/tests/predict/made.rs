//! Offers and scans for tests.

use netbench_interop::{LossReport, Losses, predict};
use netbench_model::{
    scan::{
        Agreed, Agreement, Anchor, CertificateScan, ChainScan, Confirmation, Learned, NamedCode,
        Offer, Order, SignatureScan, SiteScan, SuiteScan, VersionScan,
    },
    tls::{CipherSuite, Group, SignatureScheme, TlsVersion},
};

pub(crate) const X25519: u16 = 0x1d;
pub(crate) const P256: u16 = 0x17;
pub(crate) const P521: u16 = 0x19;
pub(crate) const GCM13: u16 = 0x1301;
pub(crate) const ECDHE_GCM: u16 = 0xc02f;
pub(crate) const ECDHE_CBC: u16 = 0xc027;
pub(crate) const DHE_GCM: u16 = 0x009e;
pub(crate) const RSA_GCM: u16 = 0x009c;
pub(crate) const RC4: u16 = 0x0005;
pub(crate) const PSS: u16 = 0x0804;
pub(crate) const SHA1: u16 = 0x0201;

pub(crate) fn codes(codes: &[u16], name: fn(u16) -> String) -> Vec<NamedCode> {
    codes
        .iter()
        .map(|code| NamedCode {
            name: name(*code),
            code: *code,
        })
        .collect()
}

pub(crate) fn offer(
    stack: &str,
    versions: &[TlsVersion],
    suites: &[u16],
    groups: &[u16],
    schemes: &[u16],
) -> Offer {
    Offer {
        stack: stack.to_owned(),
        wire_bytes: 0,
        message_bytes: 0,
        versions: versions.to_vec(),
        suites: codes(suites, |code| CipherSuite(code).to_string()),
        groups: codes(groups, |code| Group(code).to_string()),
        shares: Vec::new(),
        signatures: codes(schemes, |code| SignatureScheme(code).to_string()),
        certificate_signatures: None,
        certificate_compression: None,
        alpn: Vec::new(),
        extensions: Vec::new(),
        has_certificate: false,
        has_nagle: false,
        ja3: String::new(),
        ja3_text: String::new(),
        ja4: String::new(),
    }
}

/// Returns the offer of a stack with only the features that browsers require.
pub(crate) fn strict() -> Offer {
    offer(
        "strict",
        &[TlsVersion::Tls13, TlsVersion::Tls12],
        &[GCM13, ECDHE_GCM],
        &[X25519, P256],
        &[0x0403, PSS, 0x0401],
    )
}

/// Returns the offer of a stack with more features, but without SHA-1.
pub(crate) fn broad() -> Offer {
    offer(
        "broad",
        &[TlsVersion::Tls13, TlsVersion::Tls12],
        &[GCM13, ECDHE_GCM, ECDHE_CBC, DHE_GCM, RSA_GCM],
        &[X25519, P256, P521],
        &[0x0403, PSS, 0x0401],
    )
}

pub(crate) fn spoken(version: TlsVersion, suites: &[u16], groups: &[u16]) -> VersionScan {
    VersionScan {
        version,
        supported: true,
        refusal: None,
        suites: suites
            .iter()
            .map(|code| SuiteScan::new(CipherSuite(*code)))
            .collect(),
        suite_order: Order::Server,
        groups: codes(groups, |code| Group(code).to_string()),
        group_order: Order::Server,
        groups_learned: Learned::Chosen,
        complete: true,
    }
}

pub(crate) fn site(
    name: &str,
    versions: Vec<VersionScan>,
    schemes: &[(TlsVersion, u16)],
) -> SiteScan {
    let signatures = schemes
        .iter()
        .map(|(version, code)| SignatureScan::new(*version, SignatureScheme(*code)));
    SiteScan {
        versions,
        signatures: signatures.collect(),
        ..SiteScan::new(name.to_owned(), name.to_owned(), 443)
    }
}

pub(crate) fn chain(
    anchor: Anchor,
    names_match: bool,
    valid_now: bool,
    signature: &str,
) -> ChainScan {
    ChainScan {
        versions: vec![TlsVersion::Tls12],
        certificates: vec![CertificateScan {
            sha256: String::new(),
            subject: String::new(),
            issuer: String::new(),
            names: Vec::new(),
            key: "rsa".to_owned(),
            key_bits: 2048,
            curve: None,
            signature: signature.to_owned(),
            not_before: String::new(),
            not_after: String::new(),
            valid_now,
            is_ca: false,
            not_for_servers: false,
            scts: 0,
            bytes: 0,
        }],
        in_order: true,
        unrelated: 0,
        duplicates: 0,
        has_root: false,
        anchor,
        missing: None,
        invalid_issuers: 0,
        names_match,
        bytes: 0,
        scts: 0,
    }
}

/// Returns a site with one version, and a chain of that version that every client accepts.
pub(crate) fn certified(version: TlsVersion, groups: &[u16]) -> SiteScan {
    let suite = match version {
        TlsVersion::Tls13 => GCM13,
        _ => ECDHE_GCM,
    };
    let found = spoken(version, &[suite], groups);
    let mut site = site("a.test", vec![found], &[(version, PSS)]);
    let mut sent = chain(Anchor::Known, true, true, "sha256WithRSAEncryption");
    sent.versions = vec![version];
    site.chains.push(sent);
    site
}

pub(crate) fn agreed(offer: &Offer, site: &SiteScan) -> Agreed {
    match predict(offer, site) {
        Agreement::Agrees(agreed) => agreed,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn is_unknown(offer: &Offer, site: &SiteScan) -> bool {
    matches!(predict(offer, site), Agreement::Unknown { .. })
}

pub(crate) fn tls12(suites: &[u16]) -> SiteScan {
    let found = spoken(TlsVersion::Tls12, suites, &[X25519]);
    site("a.test", vec![found], &[(TlsVersion::Tls12, PSS)])
}

/// Returns the report of the sites with these scans.
pub(crate) fn losses_of(
    offers: Vec<Offer>,
    scans: &[SiteScan],
    confirmed: Vec<Confirmation>,
) -> LossReport {
    let mut losses = Losses::new(offers, confirmed);
    for scan in scans {
        losses.add(scan);
    }
    losses.report()
}
