//! The kernel settings of a namespace, each with the reason found by a measurement.

use std::{collections::BTreeMap, fs};

/// The names under `net.`, and the values. The comments state the effects of other values.
const WANTED: [(&str, &str); 16] = [
    // Router solicitations and neighbour discovery would be packets that no user configured.
    ("ipv6.conf.all.disable_ipv6", "1"),
    ("ipv6.conf.default.disable_ipv6", "1"),
    // With the small default, which is the middle value, the window limits a transfer, not the link: 327 ms
    // instead of 166 for 1 MB at 20 ms.
    ("ipv4.tcp_rmem", "4096 4194304 16777216"),
    ("ipv4.tcp_wmem", "4096 4194304 16777216"),
    // A connection must not start from the path metrics of its predecessor.
    ("ipv4.tcp_no_metrics_save", "1"),
    // A full backlog drops SYNs, which cost a second each.
    ("core.somaxconn", "4096"),
    ("ipv4.tcp_max_syn_backlog", "4096"),
    // Servers listen on 443 without privilege.
    EVERY_PORT,
    // There are thousands of connections to one address; the link's own check uses a port above this range.
    ("ipv4.ip_local_port_range", "10000 60999"),
    ("ipv4.tcp_tw_reuse", "1"),
    // Sites' addresses belong to no interface.
    ("ipv4.conf.all.rp_filter", "0"),
    ("ipv4.conf.default.rp_filter", "0"),
    ("ipv4.tcp_timestamps", "1"),
    ("ipv4.tcp_sack", "1"),
    // Connections that a process leaves to the kernel when it ends keep the namespace alive for as long as
    // the kernel attempts to deliver their data over a link that is gone: two minutes by default, ten seconds
    // with this setting.
    ("ipv4.tcp_orphan_retries", "3"),
    // By default, after the first six, a host reports only once a second that a port is unreachable. A
    // browser that resolves a name or attempts HTTP/3 would then wait, and it is chance which of two does.
    ("ipv4.icmp_ratelimit", "0"),
];

/// The setting of the first port on which an unprivileged user can listen.
const EVERY_PORT: (&str, &str) = ("ipv4.ip_unprivileged_port_start", "0");

/// The congestion controls, of which the first is set that the kernel allows in a namespace: the one that
/// most servers use, or the one that every kernel has. A host's own choice, such as a control that paces,
/// would make the figures of two machines differ.
const CONGESTION_CONTROLS: [&str; 2] = ["cubic", "reno"];

/// The settings that are recorded without a change.
const READ: [&str; 5] = [
    "ipv4.tcp_congestion_control",
    "ipv4.tcp_slow_start_after_idle",
    "ipv4.tcp_ecn",
    "ipv4.tcp_fastopen",
    "ipv4.tcp_early_retrans",
];

/// Applies the settings in this thread's namespace. Returns the resulting values, each under
/// `<place>.net.<name>`; a setting that could not be made is recorded with the kernel's reason.
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
    // A namespace may only have a control that the kernel allows to all users, so cubic may be refused.
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

/// Lets an unprivileged user listen on every port in this thread's namespace. Without the setting, only root can listen
/// on the usual ports of the web.
pub(crate) fn allow_every_port() {
    let _ = fs::write(path(EVERY_PORT.0), EVERY_PORT.1);
}

/// Returns the first port that this thread's namespace lets an unprivileged user listen on.
pub(crate) fn first_unprivileged_port() -> u16 {
    read(EVERY_PORT.0)
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
