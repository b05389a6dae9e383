use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::named;

use super::{Part, Scenario, Work};

named!(
    /// A measure of a scenario.
    Measure, "measure", {
        /// The client's side of a handshake.
        Client = "client",
        /// The server's side of a handshake.
        Server = "server",
        /// Encryption of plaintext to records.
        Send = "sent",
        /// Decryption of records to plaintext.
        Receive = "received",
        /// The whole operation.
        Whole = "whole",
        /// All threads together, with both sides if the work has two.
        Both = "both",
        /// Peak resident size of the process.
        Peak = "peak",
        /// Resident size that one session adds: half of a client's and a server's together.
        PerSession = "per-session",
        /// Heap that one session holds: half of a client's and a server's together.
        Heap = "heap",
        /// Heap that a client's session holds.
        HeapOfClient = "heap-client",
        /// Heap that a server's session holds.
        HeapOfServer = "heap-server",
        /// Number of allocations of one session.
        Allocations = "allocations",
    }
);

/// The unit of a figure. In all units, less is better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds; in the suite, per operation.
    #[default]
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Allocations.
    Allocations,
    /// Instructions per operation.
    Instructions,
}

impl Scenario {
    /// Returns the measures of the scenario.
    pub fn measures(&self) -> &'static [Measure] {
        match self.work {
            Work::Handshake { .. } => &[Measure::Client, Measure::Server],
            Work::Bulk { .. } => &[Measure::Send, Measure::Receive],
            Work::Verify { .. } | Work::Connector { .. } | Work::Crypto { .. } => &[Measure::Whole],
            Work::Threads { .. } | Work::ParallelVerify { .. } => &[Measure::Both],
            Work::Memory { .. } => &[
                Measure::Peak,
                Measure::PerSession,
                Measure::Heap,
                Measure::HeapOfClient,
                Measure::HeapOfServer,
                Measure::Allocations,
            ],
        }
    }

    /// Returns the cases of the scenario.
    pub fn cases(&self) -> impl Iterator<Item = Case> + use<> {
        let scenario = *self;
        self.measures().iter().map(move |measure| Case {
            scenario,
            measure: *measure,
        })
    }
}

/// One measured quantity, with a stable name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// The scenario.
    pub scenario: Scenario,
    /// The measure of the scenario.
    pub measure: Measure,
}

impl Case {
    /// Returns the unit of the case's figures.
    pub fn unit(&self) -> Unit {
        match (self.scenario.part(), self.measure) {
            (Part::Instructions, _) => Unit::Instructions,
            (
                _,
                Measure::Peak
                | Measure::PerSession
                | Measure::Heap
                | Measure::HeapOfClient
                | Measure::HeapOfServer,
            ) => Unit::Bytes,
            (_, Measure::Allocations) => Unit::Allocations,
            _ => Unit::Nanoseconds,
        }
    }

    /// Returns whether the measure is the heap of only the clients' or only the servers' sessions, which runs of
    /// earlier versions lack.
    pub fn is_of_one_side(&self) -> bool {
        matches!(self.measure, Measure::HeapOfClient | Measure::HeapOfServer)
    }

    /// Returns the plaintext bytes that one operation moves, if it moves data.
    pub fn bytes_per_operation(&self) -> Option<u64> {
        match self.scenario.work {
            Work::Bulk { write_bytes, .. } => Some(burst_bytes(write_bytes)),
            Work::Threads {
                work: super::ParallelWork::Bulk,
                ..
            } => Some(burst_bytes(16 << 10)),
            _ => None,
        }
    }
}

/// Returns the number of bytes that are timed together in bulk. Writes of less than 64 KiB are timed in bursts of that
/// size, so that reading the clock remains below half a percent of the measured time.
pub fn burst_bytes(write_bytes: u32) -> u64 {
    const BURST: u64 = 64 << 10;
    let write = u64::from(write_bytes.max(1));
    write * BURST.div_ceil(write)
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.measure {
            Measure::Whole => self.scenario.to_string(),
            measure => format!("{}_{measure}", self.scenario),
        };
        f.pad(&name)
    }
}
