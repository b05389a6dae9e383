//! The algorithms with which a server compresses its certificates (RFC 8879).

use netbench_model::scan::{CompressionScan, VersionScan};

use super::prober::Prober;
use crate::{
    codec::{
        Extension,
        compression::{ALGORITHMS, algorithm_name},
        extension, vec8,
    },
    enumeration::Stop,
    session::Compression,
    text::as_u32,
};

/// Offers all algorithms, and leaves out those that the server has chosen, until it sends its certificates uncompressed. The
/// finding stays unknown if a response cannot be read.
pub(super) async fn compression(prober: &Prober<'_>, newest: &VersionScan) -> Result<(), Stop> {
    let mut left = ALGORITHMS.to_vec();
    let mut found = Vec::new();
    while !left.is_empty() {
        let offered = offer(&left);
        let session = prober.read_with_share(newest, |spec| spec.more.push(offered));
        let Some(session) = session.await? else {
            return Ok(());
        };
        let Some(compression) = session.encrypted.compression else {
            break;
        };
        let scan = scan(&compression);
        let name = &scan.name;
        if let Some(fault) = &scan.fault {
            prober.note(format!("a certificate compressed with {name}: {fault}"));
        }
        let offered = left.len();
        left.retain(|code| *code != compression.algorithm);
        if left.len() == offered {
            prober.note(format!(
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
    (extension::COMPRESS_CERTIFICATE, vec8(&codes))
}

fn scan(compression: &Compression) -> CompressionScan {
    CompressionScan {
        name: algorithm_name(compression.algorithm),
        code: compression.algorithm,
        compressed_bytes: as_u32(compression.compressed),
        bytes: compression.length,
        fault: compression.fault.as_ref().map(ToString::to_string),
    }
}
