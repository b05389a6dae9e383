//! Enumeration of every version, from the newest that the server chooses down to one that it refuses.

use netbench_model::{
    scan::{Learned, Order, VersionScan},
    tls::TlsVersion,
};

use super::{
    found::Enumeration,
    legacy::{self, Groups},
    rank::{offered_groups, offered_suites},
    reads::{Reads, bare, contact, fit, modest, rest},
    responder::{Choice, Dress, Limit, ProbeAnswer, ProbeHello, Refusal, Responder, Shares, Stop},
    tls13,
};

/// Enumerates versions, suites and groups.
pub async fn enumerate<R: Responder>(server: &R) -> Enumeration {
    let mut versions = Vec::new();
    let first = match first_contact(server).await {
        Ok(first) => first,
        Err((refusal, asked)) => {
            let all = down_from(TlsVersion::Tls13);
            let versions = all.map(|version| unspoken(version, refusal.clone(), asked));
            return Enumeration {
                versions: versions.collect(),
            };
        }
    };
    let FirstContact {
        hello,
        choice,
        reads,
    } = first;
    if choice.version == TlsVersion::Tls13.code() {
        let newest = tls13::enumerate(server, &reads, &hello, choice);
        let older = downwards(server, &reads, TlsVersion::Tls12, None);
        let (newest, older) = tokio::join!(newest, older);
        versions.push(only_offered(newest));
        versions.extend(older);
    } else {
        let offered = *hello.versions.first().unwrap_or(&TlsVersion::Tls12);
        versions.extend(downwards(server, &reads, offered, Some((hello, choice))).await);
        let above = down_from(TlsVersion::Tls13).take_while(|version| *version > offered);
        let above = above.map(|version| unspoken(version, "refused".to_owned(), Asked::Yes));
        versions.splice(0..0, above);
    }
    Enumeration { versions }
}

/// The first hello that the server accepts.
struct FirstContact {
    hello: ProbeHello,
    choice: Choice,
    reads: Reads,
}

/// Sends a hello with everything; if that is refused, shorter and older hellos.
async fn first_contact<R: Responder>(server: &R) -> Result<FirstContact, (String, Asked)> {
    use TlsVersion::{Ssl3, Tls10, Tls11, Tls12, Tls13};
    let old = [Tls12, Tls11, Tls10];
    let everything = everything();
    let tries = [
        (everything.clone(), Dress::default()),
        (modest(&everything.versions), bare()),
        (modest(&old), bare()),
        (up_to(Tls12), Dress::default()),
        (up_to(Tls10), Dress::default()),
        (modest(&[Tls10]), bare()),
        (up_to(Ssl3), Dress::default()),
        (modest(&[Ssl3]), bare()),
    ];
    let mut first_refusal = None;
    let mut unheard = Vec::new();
    for attempt in &tries {
        match ask(server, attempt).await.map_err(stopped)? {
            Ok(choice) => {
                // Without a response to compare with, a connection that ended may have met a limit of
                // connections.
                for attempt in unheard {
                    if let Ok(choice) = ask(server, attempt).await.map_err(stopped)? {
                        return settle(server, attempt, choice).await.map_err(stopped);
                    }
                }
                if let Some(why) = first_refusal {
                    let versions = &attempt.0.versions;
                    let is_older = !versions.contains(&Tls13);
                    let what = if is_older {
                        "an older one"
                    } else {
                        "a shorter one"
                    };
                    server.note(format!("refused the first hello ({why}); answered {what}"));
                    if is_older
                        && versions.contains(&Tls12)
                        && let Err(how) = ask(server, &tries[1]).await.map_err(stopped)?
                    {
                        server.cannot_read(Limit::Version(Tls13), how);
                    }
                }
                return settle(server, attempt, choice).await.map_err(stopped);
            }
            Err(refusal) => {
                first_refusal.get_or_insert(refusal);
                if matches!(refusal, Refusal::Closed | Refusal::Reset | Refusal::Silent) {
                    unheard.push(attempt);
                }
            }
        }
    }
    let why = first_refusal.map_or_else(String::new, |refusal| refusal.to_string());
    Err((why, Asked::Yes))
}

fn stopped(_: Stop) -> (String, Asked) {
    ("the site could not be probed".to_owned(), Asked::No)
}

/// A hello and its dress.
type Attempt = (ProbeHello, Dress);

async fn ask<R: Responder>(server: &R, (hello, dress): &Attempt) -> Result<ProbeAnswer, Stop> {
    server.wear(dress.clone());
    server.answer(hello.clone()).await
}

/// Finds the parts that the server reads, if it accepted only a modest hello.
async fn settle<R: Responder>(
    server: &R,
    (hello, dress): &Attempt,
    choice: Choice,
) -> Result<FirstContact, Stop> {
    let everything = Dress::default();
    let mut reads = Reads::default();
    if *dress != everything {
        let mut whole = hello.clone();
        whole.suites = suites_of(&hello.versions);
        whole.groups = offered_groups(hello.versions[0]);
        // The cause may have been only the versions.
        if ask(server, &(whole, everything.clone())).await?.is_err() {
            reads = fit(server, hello).await?;
        }
    } else {
        server.wear(everything);
    }
    Ok(FirstContact {
        hello: hello.clone(),
        choice,
        reads,
    })
}

/// Enumerates versions from `newest` down, as far as the server supports them.
async fn downwards<R: Responder>(
    server: &R,
    reads: &Reads,
    newest: TlsVersion,
    first: Option<(ProbeHello, Choice)>,
) -> Vec<VersionScan> {
    let mut found: Vec<VersionScan> = Vec::new();
    let mut groups = Groups::Wanted;
    let mut given = first;
    let mut next = Some(newest);
    while let Some(offered) = next {
        let answer = match given.take() {
            Some(given) => Ok(given),
            None => match contact(server, reads, offered, &found).await {
                Ok(Ok(contact)) => Ok(contact),
                Ok(Err(refusal)) => Err(Some(refusal)),
                Err(Stop) => Err(None),
            },
        };
        match answer {
            Ok((hello, choice)) => {
                let Some(chosen) = TlsVersion::of(choice.version).filter(|v| *v <= offered) else {
                    let why = "chose a version that was not offered";
                    server.note(why.to_owned());
                    for version in down_from(offered) {
                        found.push(VersionScan {
                            complete: false,
                            ..unspoken(version, why.to_owned(), Asked::Yes)
                        });
                    }
                    break;
                };
                for passed in down_from(offered).take_while(|version| *version > chosen) {
                    found.push(unspoken(
                        passed,
                        format!("chose {chosen} instead"),
                        Asked::Yes,
                    ));
                }
                let enumerated =
                    legacy::enumerate(server, reads, chosen, &hello, choice, groups).await;
                groups = Groups::Known;
                found.push(only_offered(enumerated));
                next = down_from(chosen).nth(1);
            }
            Err(refusal) => {
                let (why, asked) = match &refusal {
                    Some(refusal) => (refusal.to_string(), Asked::Yes),
                    None => ("not probed".to_owned(), Asked::No),
                };
                // The server chooses the newest version that it supports up to `offered`, so that a
                // protocol_version alert concerns all of them.
                const PROTOCOL_VERSION: u8 = 70;
                let all = refusal.is_none() || refusal == Some(Refusal::Alert(PROTOCOL_VERSION));
                let last = if all { TlsVersion::Ssl3 } else { offered };
                for version in down_from(offered).take_while(|version| *version >= last) {
                    found.push(unspoken(version, why.clone(), asked));
                }
                next = down_from(offered).nth(1).filter(|_| !all);
            }
        }
    }
    found
}

/// Returns the version as unsupported, if no offered suite was chosen in it.
fn only_offered(found: VersionScan) -> VersionScan {
    if !found.supported || !found.suites.is_empty() {
        return found;
    }
    VersionScan {
        complete: false,
        ..unspoken(
            found.version,
            "chose what was not offered".to_owned(),
            Asked::Yes,
        )
    }
}

/// Returns this version and all older ones, the newest first.
fn down_from(newest: TlsVersion) -> impl Iterator<Item = TlsVersion> {
    let all = TlsVersion::ALL.into_iter().rev();
    all.filter(move |version| *version <= newest)
}

fn everything() -> ProbeHello {
    let versions = vec![
        TlsVersion::Tls13,
        TlsVersion::Tls12,
        TlsVersion::Tls11,
        TlsVersion::Tls10,
    ];
    ProbeHello {
        suites: suites_of(&versions),
        versions,
        groups: offered_groups(TlsVersion::Tls13),
        shares: Shares::Empty,
    }
}

/// Returns the suites of these versions, the newest first; those of TLS 1.2 include those of older versions.
fn suites_of(versions: &[TlsVersion]) -> Vec<u16> {
    let mut suites = Vec::new();
    for version in versions {
        suites.extend(rest(&offered_suites(*version), &suites));
    }
    suites
}

fn up_to(newest: TlsVersion) -> ProbeHello {
    let groups = Reads::default().with_finite_fields(&offered_groups(newest));
    ProbeHello::new(newest, &offered_suites(newest), &groups)
}

/// Whether a version was offered to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Yes,
    /// The site's time was up, or it accepted no more connections.
    No,
}

fn unspoken(version: TlsVersion, why: String, asked: Asked) -> VersionScan {
    VersionScan {
        version,
        supported: false,
        refusal: Some(why),
        suites: Vec::new(),
        suite_order: Order::Single,
        groups: Vec::new(),
        group_order: Order::Single,
        groups_learned: Learned::Chosen,
        complete: asked == Asked::Yes,
    }
}
