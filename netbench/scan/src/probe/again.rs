//! Tests whether refusals are repeated. Servers behind one address need not agree, and a list is complete only if
//! they do.

use netbench_model::{
    scan::{Learned, Order, VersionScan},
    tls::{Alert, TlsVersion},
};

use super::prober::Prober;
use crate::enumeration::{
    Enumeration, ProbeHello, Responder as _, Stop, find_hidden, is_ecdhe_rsa, offered_groups,
    offered_suites, rest,
};

/// The number of repetitions of a refused offer. Two in direct succession reach two servers of a balancer that alternates. A
/// server that sends alerts at random is unlikely to refuse all three.
const REPETITIONS: u32 = 3;

/// Offers all values that were not found, several times in direct succession.
pub(super) async fn is_refused_again(
    prober: &Prober<'_>,
    found: &mut Enumeration,
) -> Result<bool, Stop> {
    for version in found.versions.iter_mut().filter(|found| found.complete) {
        let Some(hello) = the_rest(version) else {
            continue;
        };
        for _ in 0..REPETITIONS {
            if takes(prober, &hello).await? {
                prober.note(format!(
                    "TLS {}: took what it had refused before, as servers do that do not agree behind one address",
                    version.version
                ));
                return Ok(false);
            }
        }
        if let Some(hello) = the_other_groups(version) {
            for _ in 0..REPETITIONS {
                if takes(prober, &hello).await? {
                    prober.note(format!(
                        "TLS {}: took a group that it had refused before",
                        version.version
                    ));
                    return Ok(false);
                }
            }
        }
        let may_hide = version.version < TlsVersion::Tls13 && version.suite_order != Order::Client;
        if may_hide && !find_hidden(prober, version).await? {
            prober.note(format!(
                "TLS {}: took suites that it had refused beside others; there may be more",
                version.version
            ));
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether the server accepts any of the offered values.
async fn takes(prober: &Prober<'_>, hello: &ProbeHello) -> Result<bool, Stop> {
    let answer = prober.answer(hello.clone()).await?;
    Ok(answer.is_ok_and(|choice| hello.offers(&choice)))
}

/// Returns the groups that were not found, with suites that need one. Returns `None` if the server itself lists
/// them, or if a certificate's curve would have to be offered as well.
fn the_other_groups(found: &VersionScan) -> Option<ProbeHello> {
    if found.groups.is_empty() || found.groups_learned == Learned::Stated {
        return None;
    }
    let newest = found.version == TlsVersion::Tls13;
    let mut suites = found.suite_codes();
    suites.retain(|code| newest || is_ecdhe_rsa(*code));
    let groups = rest(&offered_groups(found.version), &found.group_codes());
    let mut hello = ProbeHello::new(found.version, &suites, &groups);
    if newest {
        // Only a client that also supports an older version may offer groups of those (RFC 8446 section 4.2.7).
        hello.versions.push(TlsVersion::Tls12);
    }
    (!suites.is_empty() && !groups.is_empty()).then_some(hello)
}

/// Returns the suites that were not found. Returns `None` for old versions that the server refused as such.
fn the_rest(found: &VersionScan) -> Option<ProbeHello> {
    const PROTOCOL_VERSION: Alert = Alert(70);
    let wanted = match (found.version, &found.refusal) {
        (TlsVersion::Tls12 | TlsVersion::Tls13, _) | (_, None) => true,
        (_, Some(why)) => *why != PROTOCOL_VERSION.to_string(),
    };
    let suites = rest(&offered_suites(found.version), &found.suite_codes());
    let groups = if found.groups.is_empty() || found.version < TlsVersion::Tls13 {
        offered_groups(found.version)
    } else {
        // A server may refuse groups that it does not know, regardless of the suites.
        found.group_codes()
    };
    (wanted && !suites.is_empty()).then(|| ProbeHello::new(found.version, &suites, &groups))
}
