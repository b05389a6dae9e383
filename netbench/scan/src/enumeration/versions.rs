//! Every version, from the newest that the server chooses down to one that it refuses.

use netbench_model::{
    scan::{Learned, Order},
    tls::TlsVersion,
};

use super::{
    found::{Enumeration, VersionFound},
    legacy::{self, Groups},
    rank::{offered_groups, offered_suites},
    responder::{Choice, ProbeAnswer, ProbeHello, Refusal, Responder, Shares, Stop},
    tls13,
};

/// Enumerates versions, suites and groups.
pub async fn enumerate<R: Responder>(server: &R) -> Enumeration {
    let everything = everything();
    let mut versions = Vec::new();
    let first = match first_contact(server, everything).await {
        Ok(first) => first,
        Err((refusal, asked)) => {
            for version in TlsVersion::ALL.into_iter().rev() {
                versions.push(unspoken(version, refusal.clone(), asked));
            }
            return Enumeration { versions };
        }
    };
    let (hello, choice) = first;
    if choice.version == TlsVersion::Tls13.code() {
        let newest = tls13::enumerate(server, &hello, choice);
        let older = downwards(server, TlsVersion::Tls12, None);
        let (newest, older) = tokio::join!(newest, older);
        versions.push(only_offered(newest));
        versions.extend(older);
    } else {
        let offered = *hello.versions.first().unwrap_or(&TlsVersion::Tls12);
        versions.extend(downwards(server, offered, Some((hello, choice))).await);
        let above: Vec<_> = TlsVersion::ALL
            .into_iter()
            .rev()
            .filter(|version| *version > offered)
            .map(|version| unspoken(version, "refused".to_owned(), Asked::Yes))
            .collect();
        versions.splice(0..0, above);
    }
    Enumeration { versions }
}

/// Everything; where that is refused, older and shorter hellos.
async fn first_contact<R: Responder>(
    server: &R,
    everything: ProbeHello,
) -> Result<(ProbeHello, Choice), (String, Asked)> {
    let stopped = || ("the site could not be probed".to_owned(), Asked::No);
    let mut tries = vec![everything];
    for newest in [TlsVersion::Tls12, TlsVersion::Tls10, TlsVersion::Ssl3] {
        tries.push(up_to(newest));
    }
    let mut common = up_to(TlsVersion::Tls12);
    common.suites.retain(|code| COMMON.contains(code));
    common.groups.retain(|group| (0x17..=0x1e).contains(group));
    tries.push(common);
    let mut first_refusal = None;
    let mut unheard = Vec::new();
    let count = tries.len();
    for (number, hello) in tries.into_iter().enumerate() {
        match server.answer(hello.clone()).await {
            Err(Stop) => return Err(stopped()),
            Ok(ProbeAnswer::Chose(choice)) => {
                // Without an answer to compare with, a connection that ended may have met a limit of connections.
                for hello in unheard {
                    match server.answer(ProbeHello::clone(&hello)).await {
                        Err(Stop) => return Err(stopped()),
                        Ok(ProbeAnswer::Chose(choice)) => return Ok((hello, choice)),
                        Ok(ProbeAnswer::Refused(_)) => {}
                    }
                }
                if number > 0 {
                    server.note(format!(
                        "refused the first hello ({}); answered {}",
                        first_refusal.unwrap_or_default(),
                        if number + 1 == count {
                            "a shorter one"
                        } else {
                            "an older one"
                        }
                    ));
                }
                return Ok((hello, choice));
            }
            Ok(ProbeAnswer::Refused(refusal)) => {
                first_refusal.get_or_insert_with(|| refusal.to_string());
                if matches!(refusal, Refusal::Closed | Refusal::Reset | Refusal::Silent) {
                    unheard.push(hello);
                }
            }
        }
    }
    Err((first_refusal.unwrap_or_default(), Asked::Yes))
}

/// From `newest` down, as far as the server goes.
async fn downwards<R: Responder>(
    server: &R,
    newest: TlsVersion,
    first: Option<(ProbeHello, Choice)>,
) -> Vec<VersionFound> {
    let mut found: Vec<VersionFound> = Vec::new();
    let mut groups = Groups::Wanted;
    let mut given = first;
    let mut next = Some(newest);
    while let Some(offered) = next {
        let answer = match given.take() {
            Some(given) => Ok(given),
            None => {
                let hello = up_to(offered);
                match server.answer(hello.clone()).await {
                    Ok(ProbeAnswer::Chose(choice)) => Ok((hello, choice)),
                    Ok(ProbeAnswer::Refused(refusal)) => Err(Some(refusal)),
                    Err(Stop) => Err(None),
                }
            }
        };
        match answer {
            Ok((hello, choice)) => {
                let Some(chosen) = TlsVersion::of(choice.version).filter(|v| *v <= offered) else {
                    let why = "chose a version that was not offered";
                    server.note(why.to_owned());
                    for version in down_from(offered) {
                        found.push(VersionFound {
                            complete: false,
                            ..unspoken(version, why.to_owned(), Asked::Yes)
                        });
                    }
                    break;
                };
                for passed in between(chosen, offered) {
                    found.push(unspoken(
                        passed,
                        format!("chose {chosen} instead"),
                        Asked::Yes,
                    ));
                }
                let enumerated = legacy::enumerate(server, chosen, &hello, choice, groups).await;
                groups = Groups::Known;
                found.push(only_offered(enumerated));
                next = below(chosen);
            }
            Err(refusal) => {
                let (why, asked) = match &refusal {
                    Some(refusal) => (refusal.to_string(), Asked::Yes),
                    None => ("not probed".to_owned(), Asked::No),
                };
                // The server takes the newest that it has of those up to `offered`, so that a
                // protocol_version alert is about all of them.
                const PROTOCOL_VERSION: u8 = 70;
                let all = refusal.is_none() || refusal == Some(Refusal::Alert(PROTOCOL_VERSION));
                let last = if all { TlsVersion::Ssl3 } else { offered };
                for version in down_from(offered).take_while(|version| *version >= last) {
                    found.push(unspoken(version, why.clone(), asked));
                }
                next = if all { None } else { below(offered) };
            }
        }
    }
    found
}

/// A version in which no suite was chosen that had been offered is not spoken.
fn only_offered(found: VersionFound) -> VersionFound {
    if found.refusal.is_some() || !found.suites.is_empty() {
        return found;
    }
    VersionFound {
        complete: false,
        ..unspoken(
            found.version,
            "chose what was not offered".to_owned(),
            Asked::Yes,
        )
    }
}

/// This version and all that are older, the newest first.
fn down_from(newest: TlsVersion) -> impl Iterator<Item = TlsVersion> {
    let all = TlsVersion::ALL.into_iter().rev();
    all.filter(move |version| *version <= newest)
}

fn everything() -> ProbeHello {
    let mut suites = offered_suites(TlsVersion::Tls13);
    suites.extend(offered_suites(TlsVersion::Tls12));
    ProbeHello {
        versions: vec![
            TlsVersion::Tls13,
            TlsVersion::Tls12,
            TlsVersion::Tls11,
            TlsVersion::Tls10,
        ],
        suites,
        groups: offered_groups(TlsVersion::Tls13),
        shares: Shares::Empty,
    }
}

fn up_to(newest: TlsVersion) -> ProbeHello {
    ProbeHello::new(newest, &offered_suites(newest), &offered_groups(newest))
}

/// What old clients offered: for servers that fail on a long list.
const COMMON: [u16; 24] = [
    0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca8, 0xcca9, 0xc009, 0xc00a, 0xc013, 0xc014, 0xc027, 0xc028,
    0x009e, 0x009f, 0x0033, 0x0039, 0x009c, 0x009d, 0x002f, 0x0035, 0x003c, 0x000a, 0x0005, 0x0004,
];

/// Whether the server was asked for a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Yes,
    /// The site's time was up, or it took no more connections.
    No,
}

fn unspoken(version: TlsVersion, why: String, asked: Asked) -> VersionFound {
    VersionFound {
        version,
        refusal: Some(why),
        suites: Vec::new(),
        suite_order: Order::Single,
        groups: Vec::new(),
        group_order: Order::Single,
        groups_learned: Learned::Chosen,
        complete: asked == Asked::Yes,
    }
}

fn between(chosen: TlsVersion, offered: TlsVersion) -> Vec<TlsVersion> {
    let passed = |version: &TlsVersion| *version > chosen && *version <= offered;
    TlsVersion::ALL.into_iter().rev().filter(passed).collect()
}

fn below(version: TlsVersion) -> Option<TlsVersion> {
    TlsVersion::ALL.into_iter().rev().find(|v| *v < version)
}
