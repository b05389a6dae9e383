//! A hello that a scanned site answers. Whether it is still answered distinguishes a site that refuses a client from one that
//! is gone, or out of reach.

use std::{
    io::{Read, Write},
    net::{IpAddr, SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use netbench_model::{scan::SiteScan, tls::TlsVersion};

use crate::{
    codec::{FlightReader, HelloSpec, Step},
    enumeration::is_everywhere,
};

/// The maximum number of suites, fewer than any known limit.
const MOST_SUITES: usize = 32;

/// Curves that a certificate's key may be on.
const CURVES: [u16; 4] = [0x1d, 0x17, 0x18, 0x19];

/// Schemes of browsers, and those with SHA-1.
const SCHEMES: [u16; 12] = [
    0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601, 0x0603, 0x0807, 0x0201, 0x0203,
];

/// Returns the schemes of the hello: the usual ones, and those of a site that signs by no usual one.
fn schemes(scan: &SiteScan) -> Vec<u16> {
    let own: Vec<u16> = scan.signatures.iter().map(|scheme| scheme.code).collect();
    if own.iter().any(|code| SCHEMES.contains(code)) {
        return SCHEMES.to_vec();
    }
    [own.as_slice(), &SCHEMES].concat()
}

/// A hello that a scanned site should answer with a ServerHello.
#[derive(Debug, Clone)]
pub struct Witness(Vec<u8>);

impl Witness {
    /// Returns a hello in the newest version that the site supports. Returns `None` if the site was not scanned.
    pub fn of(scan: &SiteScan) -> Option<Self> {
        let spoken = scan.versions.iter().filter(|found| found.supported);
        let newest = spoken.max_by_key(|found| found.version)?;
        let version = newest.version;
        let mut suites: Vec<u16> = newest.suites.iter().map(|suite| suite.code).collect();
        suites.sort_by_key(|code| !is_everywhere(*code));
        suites.truncate(MOST_SUITES);
        let mut groups: Vec<u16> = newest.groups.iter().map(|group| group.code).collect();
        if version < TlsVersion::Tls13 || groups.is_empty() {
            groups.retain(|code| !CURVES.contains(code));
            groups.splice(0..0, CURVES);
        }
        let most = scan.hello_limits.most_groups;
        groups.truncate(most.map_or(groups.len(), |most| most as usize));
        let mut spec = HelloSpec {
            legacy_version: version.code().min(0x0303),
            record_version: version.code().min(0x0301),
            random: [0x6e; 32],
            suites,
            compression: vec![0],
            extensions: version > TlsVersion::Ssl3,
            groups: Some(groups),
            signatures: (version >= TlsVersion::Tls12).then(|| schemes(scan)),
            ..HelloSpec::default()
        };
        if scan.host.parse::<IpAddr>().is_err() {
            spec.server_name = Some(scan.host.clone());
        }
        if version == TlsVersion::Tls13 {
            spec.session_id = vec![0x62; 32];
            spec.versions = Some(vec![version.code()]);
            spec.shares = Some(Vec::new());
        }
        spec.ask_for_features();
        let unread = scan.hello_limits.extensions.iter();
        spec.leave_out(&unread.map(|extension| extension.code).collect::<Vec<_>>());
        Some(Self(spec.records(usize::MAX)))
    }

    /// Sends the hello. Returns whether the site answers with a ServerHello within the limit.
    pub fn is_answered(&self, address: SocketAddr, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let Ok(mut stream) = TcpStream::connect_timeout(&address, limit) else {
            return false;
        };
        let is_sent =
            stream.set_write_timeout(Some(limit)).is_ok() && stream.write_all(&self.0).is_ok();
        is_sent && is_server_hello(stream, until)
    }
}

fn is_server_hello(mut stream: TcpStream, until: Instant) -> bool {
    let mut reader = FlightReader::default();
    let mut room = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            break;
        }
        let step = match stream.read(&mut room) {
            Ok(0) | Err(_) => break,
            Ok(count) => reader.push(&room[..count]),
        };
        if !matches!(step, Ok(Step::More)) {
            break;
        }
    }
    reader.into_parts().0.is_some()
}
