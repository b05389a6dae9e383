use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The description of a worker, as the worker reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerRecord {
    /// The name of the executable.
    pub executable: String,
    /// The stack.
    #[schemars(extend("x-key" = "first"))]
    pub stack: String,
    /// The TLS library and its version, as the library itself reports it.
    pub library: String,
    /// The cryptographic library, if different.
    pub provider: Option<String>,
    /// The HTTP connector and its version.
    pub connector: String,
    /// The build: profile, target, compiler.
    pub build: BTreeMap<String, String>,
}

impl WorkerRecord {
    /// The entry of [`Self::build`] that names the verifier of chains, if that is not the library itself.
    pub const VERIFIER: &'static str = "verifier";

    /// The verifier of a library whose handshakes verify no certificates.
    pub const NO_VERIFIER: &'static str = "none";

    /// Returns whether a handshake of the stack verifies the server's chain.
    pub fn verifies_chains(&self) -> bool {
        self.build
            .get(Self::VERIFIER)
            .is_none_or(|verifier| verifier != Self::NO_VERIFIER)
    }

    /// The entry of [`Self::build`] with the execution mode of the virtual machine, in that machine's terms.
    pub const VM_INFO: &'static str = "vm_info";

    /// The reason why a worker that compiles while it runs is not timed in memory: each round has a fresh process, whose
    /// times are those of a program that has just started.
    pub const NEEDS_WARM_UP: &'static str = "needs a warmed-up virtual machine";

    /// Returns whether the worker interprets code first, and compiles frequent code at run time: `mixed mode` in Java's
    /// terms.
    pub fn compiles_while_it_runs(&self) -> bool {
        let said = self.build.get(Self::VM_INFO);
        said.is_some_and(|said| said.contains("mixed mode"))
    }
}

/// The counts of a lab server for one site over a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServerCount {
    /// The site's name.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// TCP connections accepted.
    pub accepted: u64,
    /// Handshakes finished.
    pub handshakes: u64,
    /// Resumed handshakes among those.
    pub resumed: u64,
    /// Requests answered.
    pub responses: u64,
}
