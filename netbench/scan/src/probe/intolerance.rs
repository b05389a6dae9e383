//! Intolerance: hellos that differ in one thing from one that the server answers.

use std::collections::BTreeMap;

use super::{
    features::{codes, spoken},
    prober::Prober,
    wire::{ConnectionError, Reply},
};
use netbench_model::{scan::Tolerance, tls::TlsVersion};

use crate::{
    codec::{Extension, HelloSpec, KeyShare},
    enumeration::{Enumeration, ProbeHello, Refusal, Shares, Stop},
    session::PrivateShares,
};

/// X25519MLKEM768.
const HYBRID: u16 = 0x11ec;

/// Tries each, on a hello such as a browser's.
pub(super) async fn intolerance(
    prober: &Prober<'_>,
    found: &Enumeration,
) -> Result<BTreeMap<String, Tolerance>, Stop> {
    let mut results = BTreeMap::new();
    let Some(newest) = spoken(found).next() else {
        return Ok(results);
    };
    let plain = plain(prober, found, newest.version);
    let mut whole = |name: &str, reply: Reply| {
        results.insert(name.to_owned(), judge(reply));
    };

    // A version that does not exist: the server must answer with one of its own (RFC 5246 E.1).
    let mut spec = plain.clone();
    spec.versions = None;
    spec.shares = None;
    spec.legacy_version = 0x0399;
    if spoken(found).any(|v| v.version < TlsVersion::Tls13) {
        whole("unknown version", prober.hello(&spec).await?);
    }

    let mut spec = plain.clone();
    spec.more.push(Extension {
        code: 0xfde8,
        body: vec![0; 17],
    });
    whole("unknown extension", prober.hello(&spec).await?);

    let mut spec = plain.clone();
    grease(&mut spec);
    whole("grease", prober.hello(&spec).await?);

    // Some load balancers take lengths of 256 to 511 bytes for SSL 2.0, and some servers read no
    // more than one segment.
    for (name, length) in [("hello of 300 bytes", 300), ("hello of 4 KiB", 4096)] {
        let mut spec = if length < 512 {
            short(&plain)
        } else {
            plain.clone()
        };
        spec.pad_to = length;
        whole(name, prober.hello(&spec).await?);
    }

    let records = plain.records(64);
    whole("hello in many records", prober.send(&[&records]).await);

    let mut spec = plain.clone();
    if newest.version == TlsVersion::Tls13 {
        let keys = PrivateShares::new(&[HYBRID, 0x1d]);
        spec.shares = Some(keys.public());
    } else {
        // Of the length of the share that it stands for.
        spec.shares = Some(vec![KeyShare {
            group: HYBRID,
            public: vec![0; 1216],
        }]);
    }
    if let Some(groups) = &mut spec.groups
        && !groups.contains(&HYBRID)
    {
        groups.insert(0, HYBRID);
    }
    let bytes = spec.records(usize::MAX);
    let (first, second) = bytes.split_at(bytes.len().min(1300));
    whole(
        "hybrid share over two segments",
        prober.send(&[first, second]).await,
    );
    Ok(results)
}

fn plain(prober: &Prober<'_>, found: &Enumeration, newest: TlsVersion) -> HelloSpec {
    let mut versions: Vec<TlsVersion> = spoken(found).map(|v| v.version).collect();
    versions.retain(|version| *version > TlsVersion::Ssl3 || newest == TlsVersion::Ssl3);
    let suites: Vec<u16> = spoken(found).flat_map(codes).take(40).collect();
    let mut groups: Vec<u16> = Vec::new();
    for group in spoken(found).flat_map(|v| v.groups.clone()) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    if groups.is_empty() {
        groups = vec![0x1d, 0x17, 0x18];
    }
    prober.spec(&ProbeHello {
        versions,
        suites,
        groups,
        shares: Shares::Empty,
    })
}

/// As little as fits below 300 bytes.
fn short(plain: &HelloSpec) -> HelloSpec {
    let mut spec = plain.clone();
    spec.suites.truncate(12);
    if let Some(schemes) = &mut spec.signatures {
        schemes.truncate(14);
    }
    if let Some(groups) = &mut spec.groups {
        groups.truncate(6);
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
        spec.more.push(Extension {
            code,
            body: Vec::new(),
        });
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
        Reply::Failed(ConnectionError::NotTls(_)) => "not TLS".to_owned(),
    };
    Tolerance::Intolerant { how }
}
