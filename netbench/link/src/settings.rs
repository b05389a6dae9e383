//! The kernel settings of a namespace, each for a reason that a measurement once gave.

use std::{collections::BTreeMap, fs};

/// Name under `net.`, value, and what goes wrong otherwise.
const WANTED: [(&str, &str); 16] = [
    // Router solicitations and neighbour discovery would be packets that nobody configured.
    ("ipv6.conf.all.disable_ipv6", "1"),
    ("ipv6.conf.default.disable_ipv6", "1"),
    // With the small default in the middle, the window and not the link limits a transfer:
    // 327 ms instead of 166 for 1 MB at 20 ms.
    ("ipv4.tcp_rmem", "4096 4194304 16777216"),
    ("ipv4.tcp_wmem", "4096 4194304 16777216"),
    // A connection must not start from what the one before it learnt about the path.
    ("ipv4.tcp_no_metrics_save", "1"),
    // A full backlog drops SYNs, which cost a second each.
    ("core.somaxconn", "4096"),
    ("ipv4.tcp_max_syn_backlog", "4096"),
    // Servers listen on 443 without privilege.
    ("ipv4.ip_unprivileged_port_start", "0"),
    // Thousands of connections to one address; the link's own check uses a port above these.
    ("ipv4.ip_local_port_range", "10000 60999"),
    ("ipv4.tcp_tw_reuse", "1"),
    // Sites' addresses belong to no interface.
    ("ipv4.conf.all.rp_filter", "0"),
    ("ipv4.conf.default.rp_filter", "0"),
    ("ipv4.tcp_timestamps", "1"),
    ("ipv4.tcp_sack", "1"),
    // What a process leaves to the kernel when it ends keeps the namespace for as long as the kernel
    // tries to deliver it over a link that is gone: two minutes by default, ten seconds like this.
    ("ipv4.tcp_orphan_retries", "3"),
    // By default a host says only once a second, after the first six, that nobody listens. A browser
    // that asks for a name or tries HTTP/3 would then wait, and which of two does is chance.
    ("ipv4.icmp_ratelimit", "0"),
];

/// The first that the kernel lets a namespace have: what most servers use, else what every kernel
/// has. A host's own choice, such as one that paces, would make figures of two machines differ.
const CONGESTION_CONTROLS: [&str; 2] = ["cubic", "reno"];

/// Recorded as they are.
const READ: [&str; 5] = [
    "ipv4.tcp_congestion_control",
    "ipv4.tcp_slow_start_after_idle",
    "ipv4.tcp_ecn",
    "ipv4.tcp_fastopen",
    "ipv4.tcp_early_retrans",
];

/// Makes the settings in this thread's namespace. Returns what they are afterwards, each under
/// `<place>.net.<name>`; one that could not be made is recorded with the kernel's reason.
pub(crate) fn apply(place: &str) -> BTreeMap<String, String> {
    let mut record = BTreeMap::new();
    for (name, wanted) in WANTED {
        let written = fs::write(path(name), wanted);
        let value = match (written, read(name)) {
            (Ok(()), Some(value)) => value,
            (Err(error), Some(value)) if value != wanted => {
                format!("{value} (not {wanted}: {error})")
            }
            (_, Some(value)) => value,
            (_, None) => continue,
        };
        record.insert(format!("{place}.net.{name}"), value);
    }
    // A namespace may have only what the kernel allows to everybody, so cubic may be refused.
    for name in CONGESTION_CONTROLS {
        if fs::write(path("ipv4.tcp_congestion_control"), name).is_ok() {
            break;
        }
    }
    for name in READ {
        if let Some(value) = read(name) {
            record.insert(format!("{place}.net.{name}"), value);
        }
    }
    record
}

/// The first port that this thread's namespace lets anybody listen on.
pub(crate) fn first_unprivileged_port() -> u16 {
    read("ipv4.ip_unprivileged_port_start")
        .and_then(|text| text.parse().ok())
        .unwrap_or(1024)
}

fn read(name: &str) -> Option<String> {
    let text = fs::read_to_string(path(name)).ok()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn path(name: &str) -> String {
    format!("/proc/sys/net/{}", name.replace('.', "/"))
}
