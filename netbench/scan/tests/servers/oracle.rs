//! A brute force for comparison with the scan: one ClientHello for every version and suite, and for every group and
//! scheme. It is slow, and too simple for the errors of an enumeration.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Mutex,
    thread,
    time::Duration,
};

use netbench_model::{
    scan::{ScanOutcome, SiteScan},
    tls::{CipherSuite, Group, KeyExchange, SignatureScheme, TlsVersion},
};
use netbench_scan::codec::{Flight, FlightReader, HelloSpec, Step, extension};

use crate::support::{HOST, shown, suites};

/// Number of simultaneous hellos.
const AT_A_TIME: usize = 4;

/// x25519, the curves of NIST and of Brainpool, x448, and two finite fields: with one of them a server can use any of its suites.
const GROUPS: [u16; 10] = [
    0x1d, 0x17, 0x18, 0x19, 0x1e, 0x1a, 0x1b, 0x1c, 0x0100, 0x0101,
];

/// The schemes of browsers, and those with SHA-1.
const SCHEMES: [u16; 12] = [
    0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601, 0x0603, 0x0807, 0x0201, 0x0203,
];

/// The support of a server.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    /// The suites of each version that has any.
    pub(crate) suites: BTreeMap<TlsVersion, BTreeSet<u16>>,
    /// The groups of TLS 1.3, and of the newest version before it.
    pub(crate) groups: BTreeMap<TlsVersion, BTreeSet<u16>>,
    /// The schemes by which the server signs in TLS 1.2.
    pub(crate) schemes: BTreeSet<u16>,
}

impl Truth {
    /// Tests everything, each value alone.
    pub(crate) fn of(address: SocketAddr) -> Self {
        const VERSIONS: [TlsVersion; 4] = [
            TlsVersion::Tls10,
            TlsVersion::Tls11,
            TlsVersion::Tls12,
            TlsVersion::Tls13,
        ];
        let mut truth = Self::default();
        let pairs: Vec<(TlsVersion, u16)> = VERSIONS
            .into_iter()
            .flat_map(|version| {
                CipherSuite::of_version(version).map(move |suite| (version, u16::from(suite)))
            })
            .collect();
        for (version, suite) in in_parallel(&pairs, |(version, suite)| {
            let flight = ask(address, &hello(*version, &[*suite], &GROUPS, &SCHEMES))?;
            let chosen = flight.hello.version == version.code() && flight.hello.suite == *suite;
            chosen.then_some((*version, *suite))
        }) {
            truth.suites.entry(version).or_default().insert(suite);
        }
        let newest = truth.suites.keys().rev();
        let older = newest.copied().find(|v| *v < TlsVersion::Tls13);
        for version in [Some(TlsVersion::Tls13), older].into_iter().flatten() {
            truth.ask_for_groups(address, version);
        }
        truth.ask_for_schemes(address);
        truth
    }

    fn ask_for_groups(&mut self, address: SocketAddr, version: TlsVersion) {
        let Some(found) = self.suites.get(&version) else {
            return;
        };
        let elliptic: Vec<u16> = found
            .iter()
            .copied()
            .filter(|code| is_elliptic(*code))
            .take(24)
            .collect();
        let all: Vec<u16> = Group::registered().map(u16::from).collect();
        let taken = in_parallel(&all, |group| {
            let flight = ask(address, &hello(version, &elliptic, &[*group], &SCHEMES))?;
            let exchange = flight.key_exchange.as_ref().and_then(|e| e.group);
            (flight.hello.group().or(exchange) == Some(*group)).then_some(*group)
        });
        self.groups.insert(version, taken.into_iter().collect());
    }

    fn ask_for_schemes(&mut self, address: SocketAddr) {
        let Some(found) = self.suites.get(&TlsVersion::Tls12) else {
            return;
        };
        let signed = found.iter().copied().filter(|code| {
            let suite = CipherSuite(*code).facts();
            suite.is_some_and(|suite| suite.is_signed())
        });
        let signed: Vec<u16> = signed.take(24).collect();
        if signed.is_empty() {
            return;
        }
        let all: Vec<u16> = SignatureScheme::registered().map(u16::from).collect();
        // Some servers require that the client can verify the signatures of their chains as well.
        const OF_CHAINS: u16 = 0x0403;
        let taken = in_parallel(&all, |scheme| {
            let lists = [vec![*scheme], vec![*scheme, OF_CHAINS]];
            let uses = lists.iter().any(|schemes| {
                let hello = hello(TlsVersion::Tls12, &signed, &GROUPS, schemes);
                let exchange = ask(address, &hello).and_then(|flight| flight.key_exchange);
                exchange.is_some_and(|exchange| exchange.signature == Some(*scheme))
            });
            uses.then_some(*scheme)
        });
        self.schemes = taken.into_iter().collect();
    }

    /// Returns the number of pairs of version and suite.
    pub(crate) fn pairs(&self) -> usize {
        self.suites.values().map(BTreeSet::len).sum()
    }

    /// Compares a scan. Its complete lists must contain everything that the server supports, and nothing else.
    pub(crate) fn compare(&self, found: &SiteScan, name: &str) {
        let none = BTreeSet::new();
        for version in TlsVersion::ALL {
            if version == TlsVersion::Ssl3 {
                continue;
            }
            let due = self.suites.get(&version).unwrap_or(&none);
            let got: BTreeSet<u16> = suites(found, version).into_iter().collect();
            let entry = found.versions.iter().find(|v| v.version == version);
            let complete = entry.is_some_and(|entry| entry.complete);
            let (missing, wrong) = (names(due.difference(&got)), names(got.difference(due)));
            assert!(
                wrong.is_empty(),
                "{name}, {version}: found, and not there: {wrong:?}"
            );
            assert!(
                missing.is_empty() || !complete,
                "{name}, {version}: complete without {missing:?}: {}",
                shown(found)
            );
        }
        for (version, due) in &self.groups {
            let Some(entry) = found.version(*version) else {
                continue;
            };
            let got: BTreeSet<u16> = entry.groups.iter().map(|group| group.code).collect();
            let wrong: Vec<_> = got.difference(due).collect();
            // The curve of an ECDSA certificate has to be offered with each group, which the brute force does
            // not do.
            let hides = found.chains.iter().any(|chain| {
                let leaf = chain.certificates.first();
                leaf.is_some_and(|leaf| leaf.key == "ec")
            });
            assert!(
                wrong.is_empty() || hides,
                "{name}, {version}: groups that are not there: {wrong:x?}"
            );
            let missing: Vec<_> = due.difference(&got).collect();
            assert!(
                missing.is_empty() || !entry.complete,
                "{name}, {version}: complete without the groups {missing:x?}: {}",
                shown(found)
            );
        }
        let signed: BTreeSet<u16> = found
            .signatures
            .iter()
            .filter(|s| s.version == TlsVersion::Tls12)
            .map(|s| s.code)
            .collect();
        let wrong: Vec<_> = signed.difference(&self.schemes).collect();
        assert!(
            wrong.is_empty(),
            "{name}: schemes that are not there: {wrong:x?}"
        );
    }

    /// Does the same, for a scan that must have found everything.
    pub(crate) fn is_found_by(&self, found: &SiteScan, name: &str) {
        self.compare(found, name);
        let signed = found.signatures.iter();
        let signed = signed.filter(|s| s.version == TlsVersion::Tls12);
        let signed: BTreeSet<u16> = signed.map(|s| s.code).collect();
        let missing: Vec<_> = self.schemes.difference(&signed).collect();
        assert!(
            missing.is_empty(),
            "{name}: without the schemes {missing:x?}"
        );
        assert_eq!(
            found.outcome,
            ScanOutcome::Scanned,
            "{name}: {}",
            shown(found)
        );
        assert!(self.pairs() > 0, "{name}: the server accepts nothing");
    }
}

fn names<'a>(codes: impl Iterator<Item = &'a u16>) -> Vec<String> {
    codes.map(|code| CipherSuite(*code).to_string()).collect()
}

fn is_elliptic(code: u16) -> bool {
    CipherSuite(code)
        .facts()
        .is_some_and(|s| matches!(s.key_exchange, KeyExchange::Ecdhe | KeyExchange::Any))
}

/// Returns a minimal hello.
fn hello(version: TlsVersion, suites: &[u16], groups: &[u16], schemes: &[u16]) -> HelloSpec {
    let newest = version == TlsVersion::Tls13;
    let mut spec = HelloSpec {
        legacy_version: version.code().min(0x0303),
        record_version: 0x0301,
        random: [5; 32],
        suites: suites.to_vec(),
        compression: vec![0],
        extensions: true,
        server_name: Some(HOST.to_owned()),
        groups: Some(groups.to_vec()),
        ..HelloSpec::default()
    };
    if version >= TlsVersion::Tls12 {
        spec.signatures = Some(schemes.to_vec());
    }
    if newest {
        spec.session_id = vec![6; 32];
        spec.versions = Some(vec![version.code()]);
        spec.shares = Some(Vec::new());
    }
    spec.more.push((extension::EC_POINT_FORMATS, vec![1, 0]));
    spec
}

/// Returns the server's flight, or `None` if it refuses. A connection that ends without an alert is repeated once.
fn ask(address: SocketAddr, hello: &HelloSpec) -> Option<Flight> {
    let bytes = hello.records(usize::MAX);
    (0..2)
        .find_map(|_| ask_once(address, &bytes).transpose())?
        .ok()
}

/// Sends a hello. Returns `None` if there was no response.
fn ask_once(address: SocketAddr, bytes: &[u8]) -> Result<Option<Flight>, ()> {
    let Ok(mut stream) = TcpStream::connect(address) else {
        return Ok(None);
    };
    let limit = Some(Duration::from_secs(3));
    stream.set_read_timeout(limit).unwrap();
    if stream.write_all(bytes).is_err() {
        return Ok(None);
    }
    let mut reader = FlightReader::default();
    let mut room = [0; 16 * 1024];
    loop {
        let count = match stream.read(&mut room) {
            Ok(0) | Err(_) => return Ok(reader.into_parts().0),
            Ok(count) => count,
        };
        match reader.push(&room[..count]) {
            Ok(Step::More) => {}
            Ok(Step::Done) => return Ok(reader.into_parts().0),
            Ok(Step::Alert(_)) | Err(_) => return reader.into_parts().0.ok_or(()).map(Some),
        }
    }
}

fn in_parallel<T: Sync, U: Send>(all: &[T], ask: impl Fn(&T) -> Option<U> + Sync) -> Vec<U> {
    let found = Mutex::new(Vec::new());
    let (found_by, ask) = (&found, &ask);
    thread::scope(|scope| {
        for part in all.chunks(all.len().div_ceil(AT_A_TIME).max(1)) {
            scope.spawn(move || {
                for one in part {
                    if let Some(taken) = ask(one) {
                        found_by.lock().unwrap().push(taken);
                    }
                }
            });
        }
    });
    found.into_inner().unwrap()
}
