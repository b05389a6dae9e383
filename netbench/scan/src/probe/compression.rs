//! The algorithms with which a server compresses its certificates (RFC 8879).

use netbench_model::{scan::CompressionScan, tls::TlsVersion};

use super::{features::codes, prober::Prober, wire::Reply};
use crate::{
    codec::{
        Extension,
        compression::{ALGORITHMS, algorithm_name},
        extension, put_vec8,
    },
    enumeration::{ProbeHello, Stop, VersionFound},
    session::{Compression, PrivateShares, computable, computable_suites},
};

/// Offers all algorithms, and leaves out those that the server has chosen, until it sends its certificates uncompressed. The
/// finding stays unknown if a response cannot be read.
pub(super) async fn compression(prober: &Prober<'_>, newest: &VersionFound) -> Result<(), Stop> {
    let groups: Vec<u16> = computable(&newest.groups).into_iter().take(1).collect();
    let suites = computable_suites(&codes(newest));
    if groups.is_empty() || suites.is_empty() {
        return Ok(());
    }
    let mut left = ALGORITHMS.to_vec();
    let mut found = Vec::new();
    while !left.is_empty() {
        let keys = PrivateShares::new(&groups);
        let mut spec = prober.spec(&ProbeHello::new(TlsVersion::Tls13, &suites, &groups));
        spec.shares = Some(keys.public());
        spec.more.push(offer(&left));
        let Reply::Flight(flight, mut records, mut wire) = prober.hello(&spec).await? else {
            return Ok(());
        };
        if flight.hello.is_retry || flight.hello.version != TlsVersion::Tls13.code() {
            return Ok(());
        }
        let read = prober.encrypted(&spec, &keys, &[], &flight, &mut records, &mut wire);
        let Some(session) = read.await else {
            return Ok(());
        };
        let Some(compression) = session.encrypted.compression else {
            break;
        };
        let scan = scan(&compression);
        let name = &scan.name;
        if let Some(fault) = &scan.fault {
            prober.note_missing(&format!("a certificate compressed with {name}: {fault}"));
        }
        let offered = left.len();
        left.retain(|code| *code != compression.algorithm);
        if left.len() == offered {
            prober.note_missing(&format!(
                "a certificate compressed with {name}, which was not offered"
            ));
            left.clear();
        }
        found.push(scan);
    }
    prober
        .findings
        .borrow_mut()
        .features
        .certificate_compression = Some(found);
    Ok(())
}

/// Returns the extension `compress_certificate`.
fn offer(algorithms: &[u16]) -> Extension {
    let codes: Vec<u8> = algorithms.iter().flat_map(|a| a.to_be_bytes()).collect();
    let mut body = Vec::new();
    put_vec8(&mut body, &codes);
    Extension {
        code: extension::COMPRESS_CERTIFICATE,
        body,
    }
}

fn scan(compression: &Compression) -> CompressionScan {
    CompressionScan {
        name: algorithm_name(compression.algorithm),
        code: compression.algorithm,
        compressed_bytes: u32::try_from(compression.compressed).unwrap_or(u32::MAX),
        bytes: compression.length,
        fault: compression.fault.as_ref().map(ToString::to_string),
    }
}
