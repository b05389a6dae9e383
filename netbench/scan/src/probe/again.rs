//! Whether what was refused is refused again. Servers behind one address need not agree, and a list is the whole list only if
//! they do.

use netbench_model::tls::TlsVersion;

use super::{features::codes, prober::Prober};
use crate::enumeration::{
    Enumeration, ProbeAnswer, ProbeHello, Responder as _, Stop, VersionFound, offered_groups,
    offered_suites,
};

/// Asks for all that was not found, twice in a row and nothing else meanwhile: a balancer that takes turns leads to two of its
/// servers then.
pub(super) async fn is_refused_again(
    prober: &Prober<'_>,
    found: &Enumeration,
) -> Result<bool, Stop> {
    for version in found.versions.iter().filter(|found| found.complete) {
        let Some(hello) = the_rest(version) else {
            continue;
        };
        for _ in 0..2 {
            let ProbeAnswer::Chose(choice) = prober.answer(hello.clone()).await? else {
                continue;
            };
            let offered = hello.suites.contains(&choice.suite);
            if choice.version == version.version.code() && offered {
                prober.note_missing(&format!(
                    "TLS {}: took what it had refused before, as servers do that do not agree behind one address",
                    version.version
                ));
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The suites that were not found. None of SSL 3.0, and of versions that a newer one stands for.
fn the_rest(found: &VersionFound) -> Option<ProbeHello> {
    let wanted = match found.version {
        TlsVersion::Tls12 | TlsVersion::Tls13 => true,
        _ => found.refusal.is_none(),
    };
    let known = codes(found);
    let mut suites = offered_suites(found.version);
    suites.retain(|code| !known.contains(code));
    let groups = if found.groups.is_empty() || found.version < TlsVersion::Tls13 {
        offered_groups(found.version)
    } else {
        // A server may refuse groups that it does not know, whatever the suites.
        found.groups.clone()
    };
    (wanted && !suites.is_empty()).then(|| ProbeHello::new(found.version, &suites, &groups))
}
