//! Intolerance: hellos that differ in one property from one that the server accepts.

use std::collections::BTreeMap;

use super::{
    ech,
    features::groups_or_common,
    prober::Prober,
    wire::{ConnectionError, Reply},
};
use netbench_model::{
    scan::{Tolerance, VersionScan},
    tls::TlsVersion,
};

use crate::{
    codec::{HelloSpec, KeyShare},
    enumeration::{Enumeration, ProbeHello, Refusal, Shares, Stop},
    session::PrivateShares,
};

/// X25519MLKEM768.
const HYBRID: u16 = 0x11ec;

/// secp256r1, secp384r1, secp521r1, brainpoolP256r1, brainpoolP384r1, brainpoolP512r1.
const CERTIFICATE_CURVES: [u16; 6] = [0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c];

/// The name of the test with an extension that looks like an encrypted hello, which browsers send.
pub(super) const ECH_GREASE: &str = "ECH GREASE";

/// The length of a short hello: some load balancers take lengths of 256 to 511 bytes for SSL 2.0.
const SHORT: usize = 300;

/// The length of a long hello: some servers read no more than one segment.
const LONG: usize = 4096;

/// Tests each intolerance with a hello like a browser's. A refused hello without a plain one that the server
/// accepts is left out.
pub(super) async fn intolerance(
    prober: &Prober<'_>,
    found: &Enumeration,
) -> Result<BTreeMap<String, Tolerance>, Stop> {
    let mut trials = Trials {
        prober,
        results: BTreeMap::new(),
    };
    let Some(newest) = found.spoken().next() else {
        return Ok(trials.results);
    };
    let plain = plain(prober, found, newest.version);

    // A version that does not exist: the server must respond with one that it supports (RFC 5246 E.1).
    if let Some(older) = found.spoken().find(|v| v.version < TlsVersion::Tls13) {
        let mut old = plain.clone();
        old.versions = None;
        old.shares = None;
        old.legacy_version = older.version.code();
        let mut unknown = old.clone();
        unknown.legacy_version = 0x0399;
        trials.against("unknown version", &old, &unknown).await?;
    }

    let mut spec = plain.clone();
    spec.more.push((0xfde8, vec![0; 17]));
    trials.against("unknown extension", &plain, &spec).await?;

    let mut spec = plain.clone();
    grease(&mut spec);
    trials.against("grease", &plain, &spec).await?;

    let mut spec = plain.clone();
    spec.more.push(ech::grease());
    trials.against(ECH_GREASE, &plain, &spec).await?;

    let chosen: Vec<u16> = {
        let findings = prober.findings.borrow();
        findings.signatures.iter().map(|(_, code)| *code).collect()
    };
    let short = short(&plain, &chosen);
    let mut spec = short.clone();
    spec.pad_to = SHORT;
    if short.message().len() < SHORT {
        trials.against("hello of 300 bytes", &short, &spec).await?;
    }
    let mut spec = plain.clone();
    spec.pad_to = LONG;
    trials.against("hello of 4 KiB", &plain, &spec).await?;

    let records = plain.records(64);
    let name = "hello in many records";
    trials.pieces(name, &plain, &[&records]).await?;

    let bytes = hybrid(&plain, newest.version).records(usize::MAX);
    let (first, second) = bytes.split_at(bytes.len().min(1300));
    let name = "hybrid share over two segments";
    trials.pieces(name, &plain, &[first, second]).await?;
    Ok(trials.results)
}

struct Trials<'a> {
    prober: &'a Prober<'a>,
    results: BTreeMap<String, Tolerance>,
}

impl Trials<'_> {
    /// Tests a hello that differs in one property from the plain one.
    async fn against(
        &mut self,
        name: &str,
        plain: &HelloSpec,
        hello: &HelloSpec,
    ) -> Result<(), Stop> {
        self.pieces(name, plain, &[&hello.records(usize::MAX)])
            .await
    }

    /// Tests a hello in pieces. A server is intolerant if it refuses the hello twice, and accepts the plain hello
    /// in between.
    async fn pieces(
        &mut self,
        name: &str,
        plain: &HelloSpec,
        pieces: &[&[u8]],
    ) -> Result<(), Stop> {
        let mut judged = judge(self.prober.send(pieces).await?);
        if matches!(judged, Tolerance::Intolerant { .. }) {
            if !self.is_answered(plain).await? {
                self.prober.note(format!(
                    "{name}: the plain hello that it is compared with is not answered either"
                ));
                return Ok(());
            }
            judged = judge(self.prober.send(pieces).await?);
        }
        self.results.insert(name.to_owned(), judged);
        Ok(())
    }

    async fn is_answered(&self, plain: &HelloSpec) -> Result<bool, Stop> {
        Ok(matches!(self.prober.hello(plain).await?, Reply::Flight(..)))
    }
}

/// Returns the plain hello with a share of the hybrid group, which is offered (RFC 8446 section 4.2.8). A server
/// without it requests another share, as it did when there was none.
fn hybrid(plain: &HelloSpec, newest: TlsVersion) -> HelloSpec {
    let mut spec = plain.clone();
    let groups = spec.groups.get_or_insert_default();
    groups.retain(|group| *group != HYBRID);
    groups.insert(0, HYBRID);
    spec.shares = Some(if newest == TlsVersion::Tls13 {
        PrivateShares::new(&[HYBRID]).public()
    } else {
        // This has the length of the share that it represents.
        vec![KeyShare {
            group: HYBRID,
            public: vec![0; 1216],
        }]
    });
    spec
}

fn plain(prober: &Prober<'_>, found: &Enumeration, newest: TlsVersion) -> HelloSpec {
    let mut versions: Vec<TlsVersion> = found.spoken().map(|v| v.version).collect();
    versions.retain(|version| *version > TlsVersion::Ssl3 || newest == TlsVersion::Ssl3);
    let mut suites = once_each(found.spoken().flat_map(VersionScan::suite_codes));
    suites.truncate(40);
    let mut groups = once_each(found.spoken().flat_map(VersionScan::group_codes));
    if prober.findings.borrow().leaf_is_ecdsa {
        // The curve of the certificate must be among the groups (RFC 8422 section 5.1).
        groups.extend(CERTIFICATE_CURVES);
        groups = once_each(groups.into_iter());
    }
    prober.spec(&ProbeHello {
        versions,
        suites,
        groups: groups_or_common(&groups),
        shares: Shares::Empty,
    })
}

fn once_each(codes: impl Iterator<Item = u16>) -> Vec<u16> {
    let mut seen = Vec::new();
    for code in codes {
        if !seen.contains(&code) {
            seen.push(code);
        }
    }
    seen
}

/// Returns a hello with few enough parts to be below [`SHORT`]: the schemes that the server was seen to choose come
/// first.
fn short(plain: &HelloSpec, chosen: &[u16]) -> HelloSpec {
    let mut spec = plain.clone();
    if spec.message().len() < SHORT {
        return spec;
    }
    spec.suites.truncate(12);
    if let Some(schemes) = &mut spec.signatures {
        schemes.sort_by_key(|code| !chosen.contains(code));
        schemes.truncate(14);
    }
    spec
}

fn grease(spec: &mut HelloSpec) {
    spec.suites.insert(0, 0x2a2a);
    if let Some(groups) = &mut spec.groups {
        groups.insert(0, 0x3a3a);
    }
    if let Some(versions) = &mut spec.versions {
        versions.insert(0, 0x4a4a);
    }
    if let Some(schemes) = &mut spec.signatures {
        schemes.insert(0, 0x5a5a);
    }
    if let Some(shares) = &mut spec.shares {
        shares.insert(
            0,
            KeyShare {
                group: 0x3a3a,
                public: vec![0],
            },
        );
    }
    if let Some(protocols) = &mut spec.alpn {
        protocols.insert(0, vec![0x6a, 0x6a]);
    }
    for code in [0x7a7a, 0x8a8a] {
        spec.more.push((code, Vec::new()));
    }
}

fn judge(reply: Reply) -> Tolerance {
    let how = match reply {
        Reply::Flight(..) => return Tolerance::Tolerant,
        Reply::Alert(alert) => Refusal::Alert(alert).to_string(),
        Reply::Failed(ConnectionError::Silent) => "silent".to_owned(),
        Reply::Failed(ConnectionError::Closed) => "closed".to_owned(),
        Reply::Failed(ConnectionError::Reset) => "reset".to_owned(),
        Reply::Failed(
            ConnectionError::Connect(what)
            | ConnectionError::Local(what)
            | ConnectionError::Malformed(what),
        ) => crate::text::clean(&what),
        Reply::Failed(ConnectionError::NotTls(_) | ConnectionError::StartTls(_)) => {
            "not TLS".to_owned()
        }
    };
    Tolerance::Intolerant { how }
}
