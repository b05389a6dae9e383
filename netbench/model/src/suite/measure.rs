use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::named;

use super::{Part, Scenario, Work};

named!(
    /// What is measured of a scenario.
    Measure, "measure", {
        /// The client's side of a handshake.
        Client = "client",
        /// The server's side of a handshake.
        Server = "server",
        /// Plaintext to records.
        Send = "sent",
        /// Records to plaintext.
        Receive = "received",
        /// The whole operation.
        Whole = "whole",
        /// Both sides of many threads together.
        Both = "both",
        /// Peak resident size of the process.
        Peak = "peak",
        /// Resident size that one session added: half of a client's and a server's together.
        PerSession = "per-session",
        /// Heap that one session holds: half of a client's and a server's together.
        Heap = "heap",
        /// Heap that a client's session holds.
        HeapOfClient = "heap-client",
        /// Heap that a server's session holds.
        HeapOfServer = "heap-server",
        /// Allocations that one session took.
        Allocations = "allocations",
    }
);

/// What a figure counts. In each, less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds for one operation.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Allocations.
    Allocations,
    /// Instructions for one operation.
    Instructions,
}

impl Scenario {
    /// What is measured of it.
    pub fn measures(&self) -> &'static [Measure] {
        match self.work {
            Work::Handshake { .. } => &[Measure::Client, Measure::Server],
            Work::Bulk { .. } => &[Measure::Send, Measure::Receive],
            Work::Verify { .. } | Work::Connector { .. } | Work::Crypto { .. } => &[Measure::Whole],
            Work::Threads { .. } => &[Measure::Both],
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

    /// Its cases.
    pub fn cases(&self) -> impl Iterator<Item = Case> + use<> {
        let scenario = *self;
        self.measures().iter().map(move |measure| Case {
            scenario,
            measure: *measure,
        })
    }
}

/// One thing that is measured, with a name that stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// What is done.
    pub scenario: Scenario,
    /// What is measured of it.
    pub measure: Measure,
}

impl Case {
    /// What its figures count.
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

    /// Whether it is the heap of clients' or servers' sessions alone, which runs of earlier versions do not have.
    pub fn is_of_one_side(&self) -> bool {
        matches!(self.measure, Measure::HeapOfClient | Measure::HeapOfServer)
    }

    /// Plaintext bytes that one operation moves, where it moves data.
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

/// Bytes that are timed together in bulk: writes of under 64 KiB are timed in bursts of that size, so
/// that reading the clock stays under half a percent of what is timed.
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
