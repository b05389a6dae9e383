use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Target;

/// A worker's own account of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerRecord {
    /// The executable's name.
    pub executable: String,
    /// The stack.
    pub stack: String,
    /// The TLS library and its version, as the library itself reports it.
    pub library: String,
    /// Its cryptography, where that is another library.
    pub provider: Option<String>,
    /// The HTTP connector and its version.
    pub connector: String,
    /// The build: profile, target, compiler.
    pub build: BTreeMap<String, String>,
}

impl WorkerRecord {
    /// The entry of [`Self::build`] that says what verifies chains, where it is not the library itself.
    pub const VERIFIER: &'static str = "verifier";

    /// The verifier of a library whose handshakes verify no certificates.
    pub const NO_VERIFIER: &'static str = "none";

    /// Whether a handshake of the stack verifies the server's chain.
    pub fn verifies_chains(&self) -> bool {
        self.build
            .get(Self::VERIFIER)
            .is_none_or(|verifier| verifier != Self::NO_VERIFIER)
    }

    /// The fact of a build that says how its virtual machine runs code, in that machine's words.
    pub const VM_INFO: &'static str = "vm_info";

    /// Whether the worker interprets code first, and compiles what runs often while it runs: `mixed mode` in Java's words.
    pub fn compiles_while_it_runs(&self) -> bool {
        let said = self.build.get(Self::VM_INFO);
        said.is_some_and(|said| said.contains("mixed mode"))
    }
}

/// The path between client and sites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkRecord {
    /// Which kind was used.
    pub kind: LinkKind,
    /// Why this one.
    pub why: String,
    /// One check for every distinct round-trip time, or of more than fifty for so many that the seed has chosen,
    /// before the first trial.
    pub checks: Vec<LinkCheck>,
    /// How late the forwarder released packets: nanoseconds at quantiles named `p50`, `p90`, `p99`,
    /// `max`; only a link in user space knows.
    pub lateness_ns: BTreeMap<String, u64>,
    /// Packets forwarded, and packets dropped by loss and by full queues.
    pub packets: BTreeMap<String, u64>,
    /// SHA-256 over the packets with SYN or data that the seed dropped, in the order (site, trial,
    /// connection, direction, packet): two runs that lost the same packets have the same. Bare
    /// acknowledgements are not in it, because how many there are is a matter of timing. Only a
    /// link in user space knows.
    pub losses_sha256: Option<String>,
    /// Kernel settings made in the namespaces.
    pub settings: BTreeMap<String, String>,
}

impl LinkRecord {
    /// That of sites that are not emulated.
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

/// How a link is emulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// In user space, over veth and AF_PACKET or TUN.
    User,
    /// The kernel's netem.
    Netem,
    /// None: loopback.
    None,
    /// The real network.
    Live,
}

/// What an idle TCP connect took, against what was configured.
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

/// The machine, as far as it can matter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Named facts: `cpu_model`, `cpu_flags`, `cores`, `memory_bytes`, `governor`, `kernel`,
    /// `aslr`, `os`, and more.
    pub facts: BTreeMap<String, String>,
    /// Environment variables that change what a TLS library or an allocator does.
    pub variables: BTreeMap<String, String>,
}

impl Environment {
    /// What a reader must be told where parts of a run were made in this environment and others in
    /// `later`.
    pub fn changes(&self, later: &Self) -> Vec<String> {
        ["cpu_model", "cores", "kernel", "hostname"]
            .iter()
            .filter(|fact| self.facts.get(**fact) != later.facts.get(**fact))
            .map(|fact| {
                let of = |facts: &BTreeMap<String, String>| {
                    facts.get(*fact).cloned().unwrap_or_default()
                };
                format!(
                    "parts of the run were made on different machines: {fact} was {} and then {}",
                    of(&self.facts),
                    of(&later.facts)
                )
            })
            .collect()
    }
}
