//! The link by the kernel's netem: each end of the veth pair has one HTB class per site, selected
//! by the site's address, with a separate netem queue.
//!
//! netem's model differs from the forwarder's in two ways. `limit` counts packets in transit as
//! well as waiting ones, so it is increased by the number of packets that the rate keeps in
//! transit. Losses come from one stream of random numbers per queue, so `seed` repeats them only
//! for the same packets in the same order. A rate is always given, because netem keeps the order of
//! packets only then.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read, Write as _},
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use netbench_model::LinkProfile;

use crate::{
    LinkError, LinkPlan, Namespace, capability,
    forward::{CHECK_PORT, Direction, OneWay},
    sites,
    topology::{Ends, INTERFACE},
};

/// The rate that stands for an unlimited one.
const FASTEST_BITS_PER_SECOND: u64 = 100_000_000_000;
/// The maximum number of packets in transit where no rate limits them.
const FREE_LIMIT: u64 = 100_000;
/// The class of all packets that belong to no site.
const OTHER_CLASS: usize = 0xffff;
/// The last class of the link's own check, which has one class per distinct round-trip time.
const LAST_CHECK_CLASS: usize = 0xfffe;
const TC_LIMIT: Duration = Duration::from_secs(60);

/// Sets up netem between the ends. Returns the settings to record.
pub(crate) fn set_up(ends: &Ends, plan: &LinkPlan) -> Result<BTreeMap<String, String>, LinkError> {
    let help = ["qdisc", "add", "dev", "lo", "root", "netem", "help"];
    let (_, help) = run_tc(&ends.client, &help, "")?;
    let seed = Some(plan.seed).filter(|_| help.contains("seed"));
    let probe =
        format!("qdisc add dev {INTERFACE} root netem delay 1ms\nqdisc del dev {INTERFACE} root\n");
    run_batch(&ends.client, &probe).map_err(|error| missing("netem", "sch_netem", error))?;
    for (namespace, direction) in [
        (&ends.client, Direction::Up),
        (&ends.server, Direction::Down),
    ] {
        let text = batch(plan, direction, seed);
        run_batch(namespace, &text)
            .map_err(|error| missing("HTB or u32", "sch_htb and cls_u32", error))?;
    }
    let seeded = match seed {
        Some(_) => "yes: tc knows it; kernels before 6.6 ignore it",
        None => "no: this iproute2 is older than 6.6",
    };
    Ok([("netem_seed".to_owned(), seeded.to_owned())].into())
}

/// Converts the error of an unknown kind to a missing requirement; any other error is a fault.
fn missing(what: &str, modules: &str, error: LinkError) -> LinkError {
    match error {
        LinkError::Tc(message)
            if message.contains("unknown") || message.contains("No such file") =>
        {
            LinkError::NetemMissing(format!(
                "this kernel has no {what} ({modules}): tc reports {message:?}"
            ))
        }
        error => error,
    }
}

/// Returns the input of `tc -batch` for one direction. The queues are seeded from `seed`.
fn batch(plan: &LinkPlan, direction: Direction, seed: Option<u64>) -> String {
    let mut text =
        format!("qdisc add dev {INTERFACE} root handle 1: htb default {OTHER_CLASS:x}\n");
    add_class(&mut text, OTHER_CLASS, None);
    let field = match direction {
        Direction::Up => ("dst", "dport"),
        Direction::Down => ("src", "sport"),
    };
    let rtts: BTreeSet<u64> = plan.sites.iter().map(|site| site.profile.rtt_ns).collect();
    for rtt_ns in &rtts {
        let profile = LinkProfile {
            rtt_ns: *rtt_ns,
            ..LinkProfile::default()
        };
        if let Some(class) = check_class(&rtts, *rtt_ns) {
            add_class(&mut text, class, Some(&netem(&profile, direction, None)));
        }
    }
    // Only the first site with a round-trip time is checked.
    let mut checked = BTreeSet::new();
    for (index, site) in plan.sites.iter().enumerate() {
        let address = sites::address(10, index);
        let seed = seed.map(|seed| seed ^ sites::name_word(&site.name) ^ direction as u64);
        let class = index + 1;
        add_class(
            &mut text,
            class,
            Some(&netem(&site.profile, direction, seed)),
        );
        if let (true, Some(class)) = (
            checked.insert(site.profile.rtt_ns),
            check_class(&rtts, site.profile.rtt_ns),
        ) {
            text += &format!(
                "filter add dev {INTERFACE} parent 1: protocol ip prio 1 u32 match ip {} {address}/32 \
                 match ip {} {CHECK_PORT} 0xffff flowid 1:{class:x}\n",
                field.0, field.1,
            );
        }
        text += &format!(
            "filter add dev {INTERFACE} parent 1: protocol ip prio 2 u32 match ip {} {address}/32 \
             flowid 1:{class:x}\n",
            field.0,
        );
    }
    text
}

/// Returns the class of the check of a round-trip time, or `None` if no class is left.
fn check_class(rtts: &BTreeSet<u64>, rtt_ns: u64) -> Option<usize> {
    let nth = rtts.range(..rtt_ns).count();
    (nth < 4096).then(|| LAST_CHECK_CLASS - nth)
}

fn add_class(text: &mut String, class: usize, netem: Option<&str>) {
    *text += &format!(
        "class add dev {INTERFACE} parent 1: classid 1:{class:x} htb rate {FASTEST_BITS_PER_SECOND}bit \
         quantum 60000 burst 1m\n"
    );
    if let Some(netem) = netem {
        *text += &format!("qdisc add dev {INTERFACE} parent 1:{class:x} {netem}\n");
    }
}

fn netem(profile: &LinkProfile, direction: Direction, seed: Option<u64>) -> String {
    // netem's jitter goes both ways from the middle; the model's jitter only lengthens the delay.
    let half_jitter_ns = profile.jitter_ns / 2;
    let delay_ns = profile.one_way_ns(direction).saturating_add(half_jitter_ns);
    let bottleneck = profile.rate_of(direction);
    let rate = bottleneck.map_or(FASTEST_BITS_PER_SECOND, |rate| rate.bits_per_second);
    let limit = match bottleneck {
        None => FREE_LIMIT,
        Some(rate) => {
            let longest_ns = delay_ns.saturating_add(half_jitter_ns);
            let bits = u128::from(rate.bits_per_second) * u128::from(longest_ns) / 1_000_000_000;
            let on_the_way = u64::try_from(bits / (8 * 1514)).unwrap_or(FREE_LIMIT);
            (u64::from(profile.queue.packets) + on_the_way + 1).min(FREE_LIMIT)
        }
    };
    let mut text = format!("netem limit {limit} delay {}", microseconds(delay_ns));
    if half_jitter_ns > 0 {
        text += &format!(" {}", microseconds(half_jitter_ns));
    }
    if profile.loss.parts_per_million > 0 {
        text += &format!(" loss random {}", profile.loss);
    }
    text += &format!(" rate {rate}bit");
    if let Some(seed) = seed {
        text += &format!(" seed {seed}");
    }
    text
}

/// Formats a time for `tc`, which has no smaller unit.
fn microseconds(ns: u64) -> String {
    format!("{}.{:03}us", ns / 1000, ns % 1000)
}

fn run_batch(namespace: &Namespace, text: &str) -> Result<(), LinkError> {
    match run_tc(namespace, &["-batch", "-"], text)? {
        (true, _) => Ok(()),
        (false, message) => Err(LinkError::Tc(message)),
    }
}

/// Runs `tc` in a namespace; returns whether it succeeded, and its error messages.
fn run_tc(
    namespace: &Namespace,
    arguments: &[&str],
    input: &str,
) -> Result<(bool, String), LinkError> {
    // The command may be in a folder that an ordinary user's PATH lacks.
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let mut command = Command::new("tc");
    command.args(arguments).env("PATH", path).env("LC_ALL", "C");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    namespace.enter(&mut command);
    // SAFETY: between fork and exec, this function only makes system calls.
    unsafe { command.pre_exec(capability::keep_net_admin_over_exec) };
    let mut child = command.spawn().map_err(tc_error)?;
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
    thread::scope(|scope| {
        let complaint = scope.spawn(move || {
            let mut bytes = Vec::new();
            if let Some(stderr) = stderr {
                // The rest of a longer message is not used, and closing the pipe early ends tc as
                // well.
                let _ = stderr.take(64 * 1024).read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).trim().to_owned()
        });
        scope.spawn(move || {
            if let Some(mut stdin) = stdin {
                // The status of tc states the reason for an early end.
                let _ = stdin.write_all(input.as_bytes());
            }
        });
        let end = Instant::now() + TC_LIMIT;
        let status = loop {
            match child.try_wait().map_err(tc_error)? {
                Some(status) => break status,
                None if Instant::now() >= end => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(LinkError::Tc(format!("no end after {TC_LIMIT:?}")));
                }
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        let message = complaint.join().unwrap_or_default();
        Ok((status.success(), message))
    })
}

fn tc_error(source: io::Error) -> LinkError {
    match source.kind() {
        io::ErrorKind::NotFound => LinkError::NetemMissing(
            "the command tc is missing: install the package iproute2".to_owned(),
        ),
        _ => LinkError::device("run tc")(source),
    }
}

#[cfg(test)]
mod tests {
    use netbench_model::{BitRate, LossRate, Queue};

    use super::*;
    use crate::{LinkChoice, LinkSite};

    #[test]
    fn both_directions_are_told_apart() {
        let slow = LinkProfile {
            rtt_ns: 300_000_001,
            jitter_ns: 4_000_000,
            loss: LossRate {
                parts_per_million: 5_000,
            },
            rate: Some(BitRate {
                bits_per_second: 1_600_000,
            }),
            rate_up: Some(BitRate {
                bits_per_second: 768_000,
            }),
            queue: Queue { packets: 50 },
            window: None,
            window_up: None,
        };
        let near = LinkProfile {
            rtt_ns: 20_000_000,
            ..LinkProfile::default()
        };
        let plan = LinkPlan {
            choice: LinkChoice::Netem,
            sites: [
                ("slow.test", slow),
                ("near.test", near),
                ("near2.test", near),
            ]
            .map(|(name, profile)| LinkSite {
                name: name.to_owned(),
                profile,
            })
            .into(),
            seed: 1,
        };
        insta::assert_snapshot!(
            "netem_up_with_seed",
            batch(&plan, Direction::Up, Some(plan.seed))
        );
        insta::assert_snapshot!("netem_down", batch(&plan, Direction::Down, None));
    }
}
