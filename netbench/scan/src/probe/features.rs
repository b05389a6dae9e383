//! Signature schemes, and features that need a separate hello.

use std::rc::Rc;

use super::{
    compression::compression,
    ech::ech,
    https_record::https_records,
    prober::Prober,
    wire::{ConnectionError, Reply},
};
use netbench_model::{
    scan::{Observed, Order, VersionScan},
    tls::{CipherSuite, Group, TlsVersion},
};

use crate::{
    codec::{HelloSpec, extension},
    enumeration::{Enumeration, ProbeHello, Stop, rest},
    session::{PrivateShares, cheap_first, computable},
};

/// Omits each chosen scheme, until the server refuses.
pub(super) async fn signatures(prober: &Prober<'_>, found: &Enumeration) -> Result<(), Stop> {
    for version in found.spoken() {
        match version.version {
            TlsVersion::Tls13 => signatures13(prober, version).await?,
            TlsVersion::Tls12 => signatures12(prober, version).await?,
            _ => {}
        }
    }
    Ok(())
}

/// Omits each chosen scheme, with the hellos that `ask` sends, until it returns false or the server chooses no other.
async fn omit_chosen(
    prober: &Prober<'_>,
    version: TlsVersion,
    ask: impl AsyncFn(Vec<u16>) -> Result<bool, Stop>,
) -> Result<(), Stop> {
    for (part, known) in both_ways(prober) {
        loop {
            let before = taken(prober, version);
            let Some(left) = left_of(&part, &before, known) else {
                break;
            };
            if !ask(left).await? || taken(prober, version).len() == before.len() {
                break;
            }
        }
    }
    Ok(())
}

async fn signatures13(prober: &Prober<'_>, found: &VersionScan) -> Result<(), Stop> {
    omit_chosen(prober, TlsVersion::Tls13, async |left| {
        let session = prober.read_with_share(found, |spec| spec.signatures = Some(left));
        Ok(session.await?.is_some())
    })
    .await
}

async fn signatures12(prober: &Prober<'_>, found: &VersionScan) -> Result<(), Stop> {
    let mut suites = found.suite_codes();
    suites.retain(|code| CipherSuite(*code).facts().is_some_and(|s| s.is_signed()));
    if suites.is_empty() {
        return Ok(());
    }
    let mut groups = groups_or_common(&found.group_codes());
    // The curve of an ECDSA certificate has to be offered too (RFC 8422 section 5.1), whether the server uses it or not.
    groups.extend(rest(&[0x17, 0x18, 0x19], &groups));
    omit_chosen(prober, TlsVersion::Tls12, async |left| {
        let mut spec = prober.spec(&ProbeHello::new(TlsVersion::Tls12, &suites, &groups));
        spec.signatures = Some(left);
        Ok(matches!(prober.hello(&spec).await?, Reply::Flight(..)))
    })
    .await
}

/// Whether schemes that the server has chosen are offered again, after all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    LeftOut,
    /// A server may refuse a client that does not offer the scheme by which its chain is signed (RFC 5246 section 7.4.2).
    Last,
}

/// The parts of all schemes, each without the known schemes first.
fn both_ways(prober: &Prober<'_>) -> impl Iterator<Item = (Vec<u16>, Known)> + use<> {
    let parts = prober.scheme_parts().into_iter();
    parts.flat_map(|part| [(part.clone(), Known::LeftOut), (part, Known::Last)])
}

/// The schemes of a part to offer; none where the server has chosen each of them.
fn left_of(part: &[u16], taken: &[u16], known: Known) -> Option<Vec<u16>> {
    let mut left = part.to_vec();
    left.retain(|code| !taken.contains(code));
    let is_new = !left.is_empty() && (known == Known::LeftOut || !taken.is_empty());
    if known == Known::Last {
        left.extend(taken);
    }
    is_new.then_some(left)
}

/// Tests features that the hellos of enumeration do not show.
pub(super) async fn features(prober: &Prober<'_>, found: &Enumeration) -> Result<(), Stop> {
    let spoken: Vec<&VersionScan> = found.spoken().collect();
    if let Some(older) = spoken.iter().find(|v| v.version < TlsVersion::Tls13) {
        if has_http2_alone(prober) {
            alpn(prober, older).await?;
        }
        heartbeat(prober, older).await?;
    } else if let Some(newest) = spoken.first().filter(|_| has_http2_alone(prober)) {
        alpn13(prober, newest).await?;
    }
    let mut sent = None;
    if let Some(newest) = spoken.iter().find(|v| v.version == TlsVersion::Tls13) {
        shares(prober, newest).await?;
        compression(prober, newest).await?;
        sent = ech(prober, newest).await?;
    }
    https_records(prober, sent.as_deref()).await;
    fallback(prober, &spoken).await?;
    for version in &spoken {
        if version.version >= TlsVersion::Tls12 {
            chacha20(prober, version).await?;
        }
    }
    Ok(())
}

/// Tests whether HTTP/1.1 is accepted if HTTP/2 was chosen. Whole handshakes have offered it already.
async fn alpn(prober: &Prober<'_>, found: &VersionScan) -> Result<(), Stop> {
    let mut spec = of_version(prober, found);
    spec.alpn = Some(vec![b"http/1.1".to_vec()]);
    prober.hello(&spec).await.map(drop)
}

/// Asks for heartbeats in a separate hello: they are rare, and some networks block hellos that ask for them.
async fn heartbeat(prober: &Prober<'_>, found: &VersionScan) -> Result<(), Stop> {
    const PEER_ALLOWED_TO_SEND: u8 = 1;
    if found.version == TlsVersion::Ssl3 {
        return Ok(());
    }
    let mut spec = of_version(prober, found);
    spec.more
        .push((extension::HEARTBEAT, vec![PEER_ALLOWED_TO_SEND]));
    prober.hello(&spec).await.map(drop)
}

/// Returns a hello with what the server supports in a version.
fn of_version(prober: &Prober<'_>, found: &VersionScan) -> HelloSpec {
    with_groups(prober, found, &groups_or_common(&found.group_codes()))
}

/// Returns a hello with the suites that the server supports in a version, and with these groups.
fn with_groups(prober: &Prober<'_>, found: &VersionScan, groups: &[u16]) -> HelloSpec {
    prober.spec(&ProbeHello::new(
        found.version,
        &found.suite_codes(),
        groups,
    ))
}

/// Returns these groups, cheap ones first; common ones if there are none.
pub(super) fn groups_or_common(groups: &[u16]) -> Vec<u16> {
    if groups.is_empty() {
        vec![0x1d, 0x17, 0x18]
    } else {
        cheap_first(groups)
    }
}

fn has_http2_alone(prober: &Prober<'_>) -> bool {
    matches!(&prober.findings.borrow().features.alpn[..], [known] if known == "h2")
}

async fn alpn13(prober: &Prober<'_>, found: &VersionScan) -> Result<(), Stop> {
    let http1 = vec![b"http/1.1".to_vec()];
    let read = prober.read_with_share(found, |spec| spec.alpn = Some(http1));
    read.await.map(drop)
}

/// Tests for which groups the server accepts a present key share, and for which it requests one of a group that it
/// prefers. Those that it prefers least come first: a server that accepts such a share accepts those of groups that
/// it prefers more. For a server that follows the client's order, all are equal.
async fn shares(prober: &Prober<'_>, found: &VersionScan) -> Result<(), Stop> {
    let groups = found.group_codes();
    let able = computable(&groups);
    let mut asked = able.clone();
    let first = groups.first().copied();
    let by_server = groups.len() == 1 || found.group_order == Order::Server;
    if by_server {
        asked
            .sort_by_key(|group| std::cmp::Reverse(groups.iter().position(|known| known == group)));
    }
    let one_tells = by_server || found.group_order == Order::Client;
    let mut taken: Vec<u16> = Vec::new();
    for (number, group) in asked.iter().copied().enumerate() {
        let is_taken = if by_server && first == Some(group) {
            true
        } else {
            match takes_share(prober, found, group).await? {
                Some(taken) => taken,
                None => return Ok(()),
            }
        };
        if one_tells && is_taken {
            taken.extend(&asked[number..]);
        } else if is_taken {
            taken.push(group);
        }
        if one_tells && (is_taken || !by_server) {
            break;
        }
    }
    if found.group_order != Order::Client {
        share_order(prober, found, &taken).await?;
    }
    let taken = able.into_iter().filter(|group| taken.contains(group));
    let named = taken.map(|code| Group(code).into());
    prober.findings.borrow_mut().features.shares_taken = Some(named.collect());
    Ok(())
}

/// Finds the side whose order decides between two key shares that the server accepts: the share of the group that it prefers
/// less comes first.
async fn share_order(prober: &Prober<'_>, found: &VersionScan, taken: &[u16]) -> Result<(), Stop> {
    let groups = found.group_codes();
    let mut both = groups.iter().copied().filter(|group| taken.contains(group));
    let (Some(more), Some(less)) = (both.next(), both.next_back()) else {
        return Ok(());
    };
    let groups = [&[less, more], rest(&groups, &[less, more]).as_slice()].concat();
    let mut spec = with_groups(prober, found, &groups);
    spec.shares = Some(PrivateShares::new(&[less, more]).public());
    if let Reply::Flight(flight, ..) = prober.hello(&spec).await?
        && !flight.hello.is_retry
    {
        let chosen = flight.hello.group();
        prober.findings.borrow_mut().features.share_order = if chosen == Some(less) {
            Some(Order::Client)
        } else {
            chosen.filter(|group| *group == more).map(|_| Order::Server)
        };
    }
    Ok(())
}

/// Offers the group last, with only its share. The signature in the response is read as well. Returns `None` if the
/// server responds differently from before.
async fn takes_share(
    prober: &Prober<'_>,
    found: &VersionScan,
    group: u16,
) -> Result<Option<bool>, Stop> {
    let mut groups = found.group_codes();
    groups.retain(|code| *code != group);
    groups.push(group);
    let mut spec = with_groups(prober, found, &groups);
    let keys = Rc::new(PrivateShares::new(&[group]));
    spec.shares = Some(keys.public());
    let Reply::Flight(flight, mut wire) = prober.hello(&spec).await? else {
        return Ok(None);
    };
    if flight.hello.is_retry {
        return Ok(Some(false));
    }
    if flight.hello.group() != Some(group) {
        return Ok(None);
    }
    prober.encrypted(&spec, &keys, &flight, &mut wire).await;
    Ok(Some(true))
}

/// Sends a hello for an older version than the server's newest, marked as a fallback (RFC 7507).
async fn fallback(prober: &Prober<'_>, spoken: &[&VersionScan]) -> Result<(), Stop> {
    let [_, second, ..] = spoken else {
        return Ok(());
    };
    const FALLBACK_SCSV: u16 = 0x5600;
    const INAPPROPRIATE_FALLBACK: u8 = 86;
    let mut spec = of_version(prober, second);
    spec.suites.push(FALLBACK_SCSV);
    let answer = match prober.hello(&spec).await? {
        Reply::Alert(INAPPROPRIATE_FALLBACK) => Observed::Yes,
        Reply::Flight(..) => Observed::No,
        Reply::Failed(ConnectionError::Closed | ConnectionError::Reset) => Observed::Yes,
        _ => Observed::Unknown,
    };
    prober.findings.borrow_mut().features.fallback_scsv = answer;
    Ok(())
}

/// Tests whether a client that puts ChaCha20 first gets it from a server that otherwise prefers AES.
async fn chacha20(prober: &Prober<'_>, found: &VersionScan) -> Result<(), Stop> {
    let suites = found.suite_codes();
    let own_order = found.suite_order == Order::Server;
    if !own_order || !suites.iter().any(is_chacha) || suites.first().is_none_or(is_chacha) {
        return Ok(());
    }
    let (mut first, others): (Vec<u16>, Vec<u16>) = suites.into_iter().partition(is_chacha);
    first.extend(others);
    let groups = groups_or_common(&found.group_codes());
    let spec = prober.spec(&ProbeHello::new(found.version, &first, &groups));
    if let Reply::Flight(flight, ..) = prober.hello(&spec).await? {
        let chosen = is_chacha(&flight.hello.suite);
        let features = &mut prober.findings.borrow_mut().features;
        features.chacha20_by_client.observe(chosen);
    }
    Ok(())
}

fn is_chacha(code: &u16) -> bool {
    let suite = CipherSuite(*code).facts();
    suite.is_some_and(|suite| suite.name.contains("CHACHA20"))
}

fn taken(prober: &Prober<'_>, version: TlsVersion) -> Vec<u16> {
    let findings = prober.findings.borrow();
    let of_version = findings.signatures.iter().filter(|(v, _)| *v == version);
    of_version.map(|(_, code)| *code).collect()
}
