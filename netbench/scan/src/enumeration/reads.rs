//! The parts of a long hello that a server reads. Some servers refuse hellos with many suites, with a certain
//! extension or suite, or with many bytes; their support is then found by shorter ones.

use std::cell::Cell;

use netbench_model::{scan::VersionScan, tls::TlsVersion};

use super::{
    rank::{Toxic, common_first, is_everywhere, offered_groups, offered_suites},
    responder::{Choice, Dress, Limit, ProbeHello, Refusal, Responder, Schemes, Stop},
};

/// The length of a message that has 512 bytes with its record.
const SMALL: usize = 507;

/// The approximate length of a hello with everything.
const LARGE: usize = 1200;

/// The number of suites and groups that fit into a small hello with everything else.
const FEW_SUITES: usize = 48;
const FEW_GROUPS: usize = 12;

/// Extensions without which every server responds: ALPN, `status_request`, `signed_certificate_timestamp`,
/// `encrypt_then_mac`, `session_ticket`, `extended_master_secret`, `renegotiation_info`.
const NOT_NEEDED: [u16; 7] = [16, 5, 18, 22, 35, 23, 0xff01];

/// The limits of a hello's offer.
#[derive(Debug, Clone)]
pub(super) struct Reads {
    suites: usize,
    groups: usize,
    /// Suites that are offered in separate hellos.
    apart: Vec<u16>,
    /// Whether the server was seen to choose a suite that it does not support.
    pub(super) hides: Cell<bool>,
}

impl Default for Reads {
    fn default() -> Self {
        Self {
            suites: usize::MAX,
            groups: usize::MAX,
            apart: Vec::new(),
            hides: Cell::new(false),
        }
    }
}

impl Reads {
    /// Returns the suites in lists that the server reads: one, in the given order, if possible; otherwise common
    /// ones first, and separately at the end those that it does not read together with others.
    pub(super) fn parts(&self, suites: &[u16]) -> Vec<Vec<u16>> {
        let (apart, others): (Vec<u16>, Vec<u16>) =
            suites.iter().partition(|code| self.apart.contains(code));
        let mut parts = Vec::new();
        if others.len() < self.suites {
            parts.extend((!others.is_empty()).then_some(others));
        } else {
            // Leaves room for one suite that the server is known to support.
            let most = (self.suites - 1).max(1);
            parts.extend(common_first(&others).chunks(most).map(<[u16]>::to_vec));
        }
        for class in Toxic::ALL {
            let of_class = of_class(&apart, Some(class));
            let most = self.suites.min(apart.len()).max(1);
            parts.extend(of_class.chunks(most).map(<[u16]>::to_vec));
        }
        // Each of these suites is refused on its own.
        parts.extend(of_class(&apart, None).into_iter().map(|code| vec![code]));
        parts
    }

    /// Does the same without suites that are offered separately.
    pub(super) fn parts_beside_others(&self, suites: &[u16]) -> Vec<Vec<u16>> {
        self.parts(&rest(suites, &self.apart))
    }

    /// Returns the number of suites that may follow `count` others.
    pub(super) fn room(&self, count: usize) -> usize {
        self.suites.saturating_sub(count)
    }

    /// Returns the maximum number of suites of a hello.
    pub(super) fn most_suites(&self) -> usize {
        self.suites
    }

    /// Returns the first groups, up to the number that the server reads.
    pub(super) fn few(&self, groups: &[u16]) -> Vec<u16> {
        groups.iter().copied().take(self.groups).collect()
    }

    /// Returns the same, followed by finite fields as far as there is room: before TLS 1.3 some servers accept
    /// suites with DHE only from clients that offer one (RFC 7919).
    pub(super) fn with_finite_fields(&self, groups: &[u16]) -> Vec<u16> {
        let mut all = self.few(groups);
        let room = self.groups.saturating_sub(all.len());
        let fields = rest(&[0x100, 0x101, 0x102, 0x103, 0x104], &all);
        all.extend(fields.into_iter().take(room));
        all
    }

    /// Returns the groups in lists that the server reads, with room for `beside` more in each.
    pub(super) fn group_parts(&self, groups: &[u16], beside: usize) -> Vec<Vec<u16>> {
        let most = self.groups.saturating_sub(beside).max(1);
        groups.chunks(most).map(<[u16]>::to_vec).collect()
    }

    pub(super) fn is_limited(&self) -> bool {
        self.suites < usize::MAX || self.groups < usize::MAX || !self.apart.is_empty()
    }
}

/// Returns a hello with which old and new clients agree: for the first contact with a server that refuses
/// everything.
pub(super) fn modest(versions: &[TlsVersion]) -> ProbeHello {
    let newest = versions.iter().max().copied().unwrap_or(TlsVersion::Tls12);
    let mut suites: Vec<u16> = versions
        .iter()
        .flat_map(|version| offered_suites(*version))
        .filter(|code| is_everywhere(*code))
        .collect();
    suites.sort_unstable();
    suites.dedup();
    let mut groups = offered_groups(newest);
    groups.retain(|code| matches!(code, 0x17..=0x19 | 0x1d));
    groups.push(0x100);
    ProbeHello {
        versions: versions.to_vec(),
        ..ProbeHello::new(newest, &common_first(&suites), &groups)
    }
}

/// Returns the dress of a modest hello.
pub(super) fn bare() -> Dress {
    Dress {
        without: NOT_NEEDED.to_vec(),
        schemes: Schemes::Common,
        pad_to: 0,
    }
}

/// Returns the way in which a server refuses a hello, or `None` if it responds with a ServerHello.
async fn refuses<R: Responder>(server: &R, hello: &ProbeHello) -> Result<Option<Refusal>, Stop> {
    Ok(server.answer(hello.clone()).await?.err())
}

/// Finds the reason why the server refuses a hello with everything, if it accepts `base` in the smallest dress. One
/// element is added at a time. The elements that the server reads remain in the dress.
pub(super) async fn fit<R: Responder>(server: &R, base: &ProbeHello) -> Result<Reads, Stop> {
    let mut reads = Reads::default();
    let mut dress = bare();
    dress.pad_to = LARGE;
    server.wear(dress.clone());
    let mut is_small = false;
    if let Some(how) = refuses(server, base).await? {
        dress.pad_to = SMALL;
        server.wear(dress.clone());
        if refuses(server, base).await?.is_none() {
            server.cannot_read(Limit::Bytes(SMALL), how);
            is_small = true;
            reads.suites = FEW_SUITES;
            reads.groups = FEW_GROUPS;
        }
        // Otherwise the padding is refused.
    }
    dress.pad_to = 0;
    dress.without = extensions(server, base, &dress).await?;
    server.wear(dress.clone());
    if !is_small {
        dress.schemes = Schemes::All;
        server.wear(dress.clone());
        if let Some(how) = refuses(server, base).await? {
            server.cannot_read(Limit::Schemes(0), how);
            dress.schemes = Schemes::Common;
            server.wear(dress.clone());
        }
        groups(server, base, &mut reads).await?;
    }
    suites(server, base, &mut reads).await?;
    Ok(reads)
}

/// Returns the extensions to leave out.
async fn extensions<R: Responder>(
    server: &R,
    base: &ProbeHello,
    bare: &Dress,
) -> Result<Vec<u16>, Stop> {
    server.wear(without(bare, Vec::new()));
    if refuses(server, base).await?.is_none() {
        return Ok(Vec::new());
    }
    let mut refused = Vec::new();
    for code in NOT_NEEDED {
        let mut others = NOT_NEEDED.to_vec();
        others.retain(|known| *known != code);
        server.wear(without(bare, others));
        if let Some(how) = refuses(server, base).await? {
            server.cannot_read(Limit::Extension(code), how);
            refused.push(code);
        }
    }
    server.wear(without(bare, refused.clone()));
    if refused.is_empty() || refuses(server, base).await?.is_some() {
        server.note("refuses hellos with many extensions".to_owned());
        return Ok(bare.without.clone());
    }
    Ok(refused)
}

fn without(bare: &Dress, extensions: Vec<u16>) -> Dress {
    Dress {
        without: extensions,
        ..bare.clone()
    }
}

async fn groups<R: Responder>(
    server: &R,
    base: &ProbeHello,
    reads: &mut Reads,
) -> Result<(), Stop> {
    let newest = base.versions.iter().max().copied();
    let others = rest(
        &offered_groups(newest.unwrap_or(TlsVersion::Tls12)),
        &base.groups,
    );
    let most = most_read(server, others.len(), |count| ProbeHello {
        groups: [base.groups.as_slice(), &others[..count]].concat(),
        ..base.clone()
    });
    if let Some((most, how)) = most.await? {
        reads.groups = base.groups.len() + most;
        server.cannot_read(Limit::Groups(reads.groups), how);
    }
    Ok(())
}

async fn suites<R: Responder>(
    server: &R,
    base: &ProbeHello,
    reads: &mut Reads,
) -> Result<(), Stop> {
    let mut all: Vec<u16> = base
        .versions
        .iter()
        .flat_map(|version| offered_suites(*version))
        .collect();
    all.sort_unstable();
    all.dedup();
    let (toxic, plain): (Vec<u16>, Vec<u16>) = rest(&common_first(&all), &base.suites)
        .into_iter()
        .partition(|code| Toxic::of(*code).is_some());
    let room = reads.suites.saturating_sub(base.suites.len());
    let mut others = plain;
    // A suite that is refused in any position is no limit of the number of suites. Few servers refuse more than
    // a handful.
    for _ in 0..8 {
        let offered = &others[..others.len().min(room)];
        let most = most_read(server, offered.len(), |count| ProbeHello {
            suites: [base.suites.as_slice(), &offered[..count]].concat(),
            ..base.clone()
        });
        let Some((most, how)) = most.await? else {
            break;
        };
        let next = ProbeHello {
            suites: [base.suites.as_slice(), &offered[most..=most]].concat(),
            ..base.clone()
        };
        if refuses(server, &next).await?.is_none() {
            reads.suites = base.suites.len() + most;
            server.cannot_read(Limit::Suites(reads.suites), how);
            break;
        }
        let code = offered[most];
        server.cannot_read(Limit::These(vec![code]), how);
        reads.apart.push(code);
        others.retain(|other| *other != code);
    }
    let room = reads.suites.saturating_sub(base.suites.len());
    let mut refused = Vec::new();
    let mut how = None;
    for class in Toxic::ALL {
        let of_class = of_class(&toxic, Some(class));
        let offered = &of_class[..of_class.len().min(room)];
        let hello = ProbeHello {
            suites: [base.suites.as_slice(), offered].concat(),
            ..base.clone()
        };
        if let Some(refusal) = refuses(server, &hello).await? {
            how = Some(refusal);
            refused.extend(of_class);
        }
    }
    if let Some(how) = how {
        server.cannot_read(Limit::These(refused.clone()), how);
        reads.apart.extend(refused);
    }
    Ok(())
}

/// Returns how many of `all` further elements the server reads, and how it refuses one more; `None` if it reads
/// all.
pub(super) async fn most_read<R: Responder>(
    server: &R,
    all: usize,
    hello: impl Fn(usize) -> ProbeHello,
) -> Result<Option<(usize, Refusal)>, Stop> {
    let Some(mut how) = refuses(server, &hello(all)).await? else {
        return Ok(None);
    };
    // Without further elements it is the base, which was accepted.
    let (mut read, mut unread) = (0, all);
    while unread - read > 1 {
        let middle = usize::midpoint(read, unread);
        match refuses(server, &hello(middle)).await? {
            None => read = middle,
            Some(refusal) => (unread, how) = (middle, refusal),
        }
    }
    Ok(Some((read, how)))
}

fn of_class(suites: &[u16], class: Option<Toxic>) -> Vec<u16> {
    let of_class = suites.iter().filter(|code| Toxic::of(**code) == class);
    of_class.copied().collect()
}

/// Returns those of `all` that are not in `known`.
pub(crate) fn rest(all: &[u16], known: &[u16]) -> Vec<u16> {
    let new = all.iter().filter(|code| !known.contains(code));
    new.copied().collect()
}

/// Returns the first suites of a version that the server accepts, offered in lists that it reads, or the reason why
/// it refuses them.
pub(super) async fn contact<R: Responder>(
    server: &R,
    reads: &Reads,
    newest: TlsVersion,
    newer: &[VersionScan],
) -> Result<Result<(ProbeHello, Choice), Refusal>, Stop> {
    const PROTOCOL_VERSION: Refusal = Refusal::Alert(70);
    let all = offered_suites(newest);
    let groups = reads.with_finite_fields(&offered_groups(newest));
    let mut parts = reads.parts(&all);
    // The server's choice may be one that it does not support, which hides all the following ones. A server that
    // read as many suites of a newer version before TLS 1.3 reads these.
    let reads_such = newer
        .iter()
        .any(|found| found.complete && !found.suites.is_empty());
    if parts.len() == 1 && (!reads_such || reads.hides.get()) {
        let mut common = all.clone();
        common.retain(|code| is_everywhere(*code));
        parts.push(common_first(&common));
    }
    let mut first = None;
    for part in parts {
        let hello = ProbeHello::new(newest, &part, &groups);
        match server.answer(hello.clone()).await? {
            Ok(choice) => return Ok(Ok((hello, choice))),
            Err(PROTOCOL_VERSION) => return Ok(Err(PROTOCOL_VERSION)),
            Err(refusal) => {
                first.get_or_insert(refusal);
            }
        }
    }
    Ok(Err(first.unwrap_or(Refusal::Malformed)))
}
