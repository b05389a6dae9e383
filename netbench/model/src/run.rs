use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Target, named::named};

/// The path between client and sites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkRecord {
    /// The kind of link.
    pub kind: LinkKind,
    /// The reason for the choice of the kind.
    pub why: String,
    /// One check for every distinct round-trip time before the first trial; if there are more than fifty, for a sample
    /// that the seed selects.
    pub checks: Vec<LinkCheck>,
    /// The forwarder's delay in releasing packets: nanoseconds at quantiles named `p50`, `p90`, `p99`, `max`. Only a
    /// link in user space measures the delay.
    pub lateness_ns: BTreeMap<String, u64>,
    /// Numbers of packets forwarded, and of packets dropped by loss and by full queues.
    pub packets: BTreeMap<String, u64>,
    /// SHA-256 over the packets with SYN or data that the seed dropped, in the order (site, trial, connection,
    /// direction, packet). Two runs that lost the same packets have the same digest. Bare acknowledgements are
    /// excluded, because their number depends on timing. Only a link in user space computes the digest.
    pub losses_sha256: Option<String>,
    /// Kernel settings made in the namespaces.
    pub settings: BTreeMap<String, String>,
}

impl LinkRecord {
    /// Returns the record for sites that are not emulated.
    pub fn without(target: Target) -> Self {
        let (kind, why) = match target {
            Target::Lab | Target::Loopback => (LinkKind::None, "servers of this machine"),
            Target::Live => (LinkKind::Live, "--live"),
        };
        Self {
            kind,
            why: why.to_owned(),
            checks: Vec::new(),
            lateness_ns: BTreeMap::new(),
            packets: BTreeMap::new(),
            losses_sha256: None,
            settings: BTreeMap::new(),
        }
    }
}

/// A kind of link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// A link in user space, over veth and AF_PACKET or TUN.
    User,
    /// The kernel's netem.
    Netem,
    /// No emulation: loopback.
    None,
    /// The real network.
    Live,
}

named!(
    /// The requested kind of link: the values of `--link`.
    #[derive(Default)]
    LinkChoice, "link", {
        /// The best kind that works: the link in user space. Never loopback, whose times do not represent a network.
        #[default]
        Auto = "auto",
        /// The link in user space: over veth pairs, or over TUN where those cannot be made.
        User = "user",
        /// The link in user space, over TUN devices.
        Tun = "tun",
        /// The kernel's netem.
        Netem = "netem",
        /// No link: sites are addresses of the loopback interface.
        None = "none",
    }
);

/// A comparison of an idle TCP connect with the configured round-trip time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkCheck {
    /// The round-trip time configured, in nanoseconds.
    pub rtt_ns: u64,
    /// The median TCP connect, in nanoseconds. The time that the client waited for a core is in it.
    pub connect_ns: u64,
    /// The median round-trip time of the same handshakes by the kernel's `TCP_INFO`, in nanoseconds. Runs of netbench before
    /// 2026-11-24 lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_rtt_ns: Option<u64>,
}

impl LinkCheck {
    /// Returns the round-trip time that packets had, as far as it is known.
    pub fn packets_ns(&self) -> u64 {
        self.kernel_rtt_ns.unwrap_or(self.connect_ns)
    }
}

/// The properties of the machine that can affect measurements.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Named facts: `cpu_model`, `cpu_flags`, `cores`, `memory_bytes`, `governor`, `hyper_threading`, `turbo`, `kernel`,
    /// `aslr`, `os`, and more.
    pub facts: BTreeMap<String, String>,
    /// Environment variables that affect a TLS library or an allocator.
    pub variables: BTreeMap<String, String>,
}

impl Environment {
    /// Returns warnings for the reader of a run that was made partly in this environment and partly in `later`.
    pub fn changes(&self, later: &Self) -> Vec<String> {
        ["cpu_model", "cores", "kernel", "hostname"]
            .iter()
            .filter(|fact| self.facts.get(**fact) != later.facts.get(**fact))
            .map(|fact| {
                let [was, then] = [self, later]
                    .map(|environment| environment.facts.get(*fact).map_or("", String::as_str));
                format!(
                    "parts of the run were made on different machines: {fact} was {was} and then {then}"
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_read_as_they_are_written() {
        for choice in LinkChoice::ALL {
            assert_eq!(choice.to_string().parse(), Ok(*choice));
        }
        let error = "\u{1b}[31mveth"
            .parse::<LinkChoice>()
            .expect_err("not a choice");
        assert_eq!(
            error,
            r#"unknown link "\u{1b}[31mveth"; expected one of auto, user, tun, netem, none"#
        );
    }
}
