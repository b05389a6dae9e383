use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use netbench_model::{
    ConnectManifest, EchPolicy, FailureClass, LinkCheck, LinkKind, Outcome, Role, Sample, Site,
    Tally,
};

use super::summary::combinations;
use crate::{
    run::incomplete,
    text::{count, sites_of, time},
};

/// The tolerance of the link: this, or [`LINK_SHARE`] of the round-trip time, if that is more.
const LINK_MARGIN_NS: u64 = 200_000;

/// See [`LINK_MARGIN_NS`].
const LINK_SHARE: f64 = 0.02;

/// The time between the packet that completes a TCP connection and the client's next step that is still unremarkable.
const CORE_WAIT_NS: u64 = 1_000_000;

/// The lateness of the forwarder at its 99th percentile that is still unremarkable.
const LATENESS_NS: u64 = 100_000;

/// The largest lateness of a single packet that needs no warning. From TCP's shortest time-out on, a sender
/// retransmits the packet.
const WORST_LATENESS_NS: u64 = 200_000_000;

/// Returns the warnings that a reader must know before quoting a figure.
pub(crate) fn warnings(
    manifest: &ConnectManifest,
    samples: &[Sample],
    tally: &Tally,
) -> Vec<String> {
    let mut warnings = manifest.warnings.clone();
    if manifest.finished.is_none() && manifest.origin.merged.is_empty() {
        warnings.push("the run was not finished: `netbench run` continues it".to_owned());
    }
    warnings.extend(incomplete(manifest, tally));
    warnings.extend(discarded(samples));
    warnings.extend(of_times(manifest));
    warnings.extend(manifest.environment.of_processor(None));
    warnings.extend(waited_for_core(manifest, samples));
    warnings.extend(unaccounted(manifest, samples));
    warnings.extend(refused_requests(samples));
    let lost = samples.iter().filter(
        |sample| matches!(&sample.outcome, Outcome::Failed(f) if f.class == FailureClass::Worker),
    );
    warnings.extend(match lost.count() {
        0 => None,
        1 => Some("1 sample was lost to a worker that failed".to_owned()),
        count => Some(format!("{count} samples were lost to workers that failed")),
    });
    warnings
}

/// Warns of real servers that answer with an error: the timed page is then not the intended one.
fn refused_requests(samples: &[Sample]) -> Option<String> {
    let sites = samples.iter().filter_map(|sample| {
        let status = sample.outcome.ok()?.http_status;
        (status >= 400).then_some((sample.site.as_str(), status))
    });
    let sites: BTreeMap<&str, u16> = sites.collect();
    let named = sites.iter().take(5);
    let named = named.map(|(site, status)| format!("{site} ({status})"));
    let named = named.collect::<Vec<_>>().join(", ");
    (!sites.is_empty()).then(|| {
        let sites = count(sites.len(), "site answers", "sites answer");
        format!("{sites} with an error, so that another page is timed than was meant: {named}")
    })
}

/// Returns the warnings that concern the run's times.
pub(super) fn of_times(manifest: &ConnectManifest) -> Vec<String> {
    let mut warnings = link(manifest);
    if let Some(share) = manifest.plan.cpu_percent {
        warnings.push(format!(
            "each client had {share} of a core's time (--cpu): it was stopped for the rest of every few milliseconds"
        ));
    }
    let debug = manifest.workers.iter().filter(|worker| {
        let profile = worker.build.get("profile");
        profile.is_some_and(|profile| profile != "release")
    });
    warnings.extend(debug.map(|worker| {
        let stack = &worker.stack;
        format!("{stack} was built without optimisation: its times mean nothing")
    }));
    warnings
}

/// Warns of trials during which a server of the lab had died.
fn discarded(samples: &[Sample]) -> Option<String> {
    let discarded = samples.iter();
    let discarded = discarded.filter(|sample| !sample.outcome.counts()).count();
    (discarded > 0).then(|| {
        format!(
            "{} met a server of the lab that had died: that counts against nobody, and the trials were made \
             again as far as the server could be started again",
            count(discarded, "trial", "trials")
        )
    })
}

fn link(manifest: &ConnectManifest) -> Vec<String> {
    let Some(link) = &manifest.link else {
        return Vec::new();
    };
    let mut sites = manifest.plan.sites.iter();
    let is_delayed = sites.any(|site| site.lab.link.rtt_ns > 0);
    let mut warnings = match link.kind {
        LinkKind::None if is_delayed => vec![
            "the sites' links were not emulated: times are those of loopback, where nothing waits"
                .to_owned(),
        ],
        LinkKind::User | LinkKind::Netem => link.checks.iter().filter_map(of_check).collect(),
        LinkKind::None | LinkKind::Live => Vec::new(),
    };
    let late = &link.lateness_ns;
    if let Some(p99) = late.get("p99").filter(|ns| **ns > LATENESS_NS) {
        warnings.push(format!(
            "the link released 99 % of its packets up to {} late, and the rest later: the machine is \
             busy, or it is a virtual machine on a busy host",
            time(*p99 as f64)
        ));
    }
    if let Some(max) = late.get("max").filter(|ns| **ns > WORST_LATENESS_NS) {
        warnings.push(format!(
            "the link stood still: it released a packet {} late. netbench was stopped, or the machine was; \
             connections of that moment took longer for it",
            time(*max as f64)
        ));
    }
    warnings
}

/// Returns how many clients went on long after the answer to their SYN was due, and later than the link released any packet: the
/// machine made them wait, and not the link.
fn waited_for_core(manifest: &ConnectManifest, samples: &[Sample]) -> Option<String> {
    let link_ns = *manifest.link.as_ref()?.lateness_ns.get("max")?;
    let limit_ns = CORE_WAIT_NS.max(link_ns);
    let measured = samples
        .iter()
        .filter(|sample| sample.role == Role::Measured);
    let seen = measured.filter_map(|sample| {
        let packets_ns = sample.packets.as_ref()?.connect_ns?;
        let tcp_ns = sample.outcome.ok()?.phases.tcp_ns;
        Some(tcp_ns.saturating_sub(packets_ns))
    });
    let waited_ns: Vec<u64> = seen.collect();
    let late = waited_ns.iter().filter(|ns| **ns > limit_ns);
    let longest_ns = late.clone().max()?;
    Some(format!(
        "in {} of {} the client waited for a core: it went on up to {} after the packet that completed its TCP connection was due. \
         The machine was busy; the link was at most {} late",
        late.count(),
        count(waited_ns.len(), "connection", "connections"),
        time(*longest_ns as f64),
        time(link_ns as f64)
    ))
}

/// Returns what was wrong with a check of the link. The link is blamed by its packets alone: a connect also has the wait for a core.
fn of_check(check: &LinkCheck) -> Option<String> {
    let share = (check.rtt_ns as f64 * LINK_SHARE).round() as u64;
    let margin_ns = LINK_MARGIN_NS.max(share);
    let (configured, connect) = (time(check.rtt_ns as f64), time(check.connect_ns as f64));
    let expected = check.rtt_ns.saturating_sub(margin_ns)..=check.rtt_ns.saturating_add(margin_ns);
    match check.kernel_rtt_ns {
        Some(ns) if !expected.contains(&ns) => Some(format!(
            "the link was off: SYN and SYN-ACK of an idle TCP connect took {} where {configured} was configured",
            time(ns as f64)
        )),
        Some(ns) if !expected.contains(&check.connect_ns) => Some(format!(
            "clients waited for a core: an idle TCP connect took {connect}, and its packets took {} where {configured} was configured",
            time(ns as f64)
        )),
        None if !expected.contains(&check.connect_ns) => Some(format!(
            "the link was off, or clients waited for a core: an idle TCP connect took {connect} where {configured} was configured"
        )),
        _ => None,
    }
}

/// Finished handshakes must be as many as samples that ended well, by the servers' own count.
fn unaccounted(manifest: &ConnectManifest, samples: &[Sample]) -> Option<String> {
    let mut served: BTreeMap<&str, u64> = BTreeMap::new();
    for count in manifest.sessions.iter().flat_map(|session| &session.served) {
        *served.entry(&count.site).or_default() += count.handshakes;
    }
    // A killed session lost its servers' counts.
    let mut sessions = manifest.sessions.iter();
    let all_told = sessions.all(|session| session.finished.is_some());
    // Connections that Ctrl-C interrupted have no sample.
    let server_died = samples.iter().any(|sample| !sample.outcome.counts());
    let broken_off = manifest.sessions.iter().any(|session| session.interrupted);
    if served.is_empty() || !all_told {
        return None;
    }
    let sites = manifest.plan.sites.iter();
    let rejecting: BTreeSet<String> = sites
        .filter(|site| site.lab.ech.is_some_and(EchPolicy::is_rejected))
        .map(Site::name)
        .collect();
    let mut taken: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for sample in samples {
        let (ok, failed) = taken.entry(&sample.site).or_default();
        // A client may finish the handshake of a rejected connection before it sends its alert.
        *failed += u64::from(rejecting.contains(&sample.site));
        match &sample.outcome {
            Outcome::Ok(_) => *ok += 1,
            // The measured half of a resumed trial whose prime failed made no connection, and a failure may come
            // before or after the handshake.
            Outcome::Failed(_) | Outcome::Discarded { .. } if sample.role != Role::Warmup => {
                *failed += 1
            }
            _ => {}
        }
    }
    let off: Vec<&str> = taken
        .iter()
        .filter(|(site, (ok, failed))| {
            let handshakes = match served.get(**site) {
                // A server that died lost its counts.
                None if server_died => return false,
                handshakes => handshakes.copied().unwrap_or(0),
            };
            handshakes < *ok || (handshakes > ok + failed && !broken_off)
        })
        .map(|(site, _)| *site)
        .collect();
    (!off.is_empty()).then(|| {
        let sites = match manifest.plan.sweep {
            Some(_) => combinations(manifest.plan.target, off.len()),
            None => sites_of(manifest.plan.target, off.len()),
        };
        format!(
            "on {sites} the servers did not finish as many handshakes as there are samples: {}",
            off.iter().take(5).join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_is_blamed_by_its_packets_alone() {
        const WAITED: Option<&str> = Some("clients waited for a core");
        const OFF: Option<&str> = Some("the link was off");
        const EITHER: Option<&str> = Some("the link was off, or clients waited for a core");
        for (connect_ns, kernel_rtt_ns, expected) in [
            (20_100_000, Some(20_030_000), None),
            (20_100_000, None, None),
            (94_000_000, Some(20_030_000), WAITED),
            (94_000_000, Some(94_000_000), OFF),
            (19_000_000, Some(19_000_000), OFF),
            (94_000_000, None, EITHER),
        ] {
            let warning = of_check(&LinkCheck {
                rtt_ns: 20_000_000,
                connect_ns,
                kernel_rtt_ns,
            });
            let found = warning
                .as_ref()
                .map(|text| text.split(": ").next().unwrap());
            assert_eq!(found, expected, "{connect_ns} {kernel_rtt_ns:?}");
        }
    }
}
