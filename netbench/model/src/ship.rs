//! What is recorded of `netbench ship`: what a client costs that is built with a stack.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Kind, Manifest, Plan, Record, Recorded, StackName, Tally};

/// What a run of `ship` was to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShipPlan {
    /// The stacks.
    pub stacks: Vec<StackName>,
    /// The Cargo.lock that pins the versions: `built-in`, or the file as given.
    pub lock: String,
    /// The digest of its bytes.
    pub lock_sha256: String,
    /// The providers of cryptography that rustls depends on in the file as given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lock_providers: Vec<String>,
    /// `cargo --version`.
    pub cargo: String,
    /// `rustc -vV`.
    pub rustc: String,
}

impl Plan for ShipPlan {
    const KIND: Kind = Kind::new("ship");
}

/// The manifest of a run of `ship`.
pub type ShipManifest = Manifest<ShipPlan>;

/// A client built with one stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShipSample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The stack.
    pub stack: StackName,
    /// What came of it.
    pub outcome: ShipOutcome,
}

impl Record for ShipSample {
    const FILE: &'static str = "samples.jsonl";

    fn schema(&self) -> u32 {
        self.schema
    }

    fn fault(&self) -> Option<&'static str> {
        let ShipOutcome::Built(shipped) = &self.outcome else {
            return None;
        };
        (shipped.program_bytes == 0).then_some("program_bytes is 0 of a program that starts")
    }
}

/// What came of a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum ShipOutcome {
    /// A program that starts.
    Built(Box<Shipped>),
    /// None, and why.
    Failed {
        /// Why, as cargo or the program says it.
        why: String,
    },
}

/// What a client is that was built with a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shipped {
    /// Bytes of the program, without symbols.
    pub program_bytes: u64,
    /// CPU time of cargo and of everything that it started, in milliseconds.
    pub build_cpu_ms: u64,
    /// How long the build took here, in milliseconds.
    pub build_ms: u64,
    /// The crates that were compiled, by name.
    pub crates: Vec<ShippedCrate>,
    /// The providers of cryptography that rustls has features for. With more than one, a program has to choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<String>,
    /// The tools that the build started beside rustc, by name.
    pub tools: Vec<String>,
    /// Advisories in the table of netbench that apply to one of the crates.
    pub advisories: Vec<ShippedAdvisory>,
    /// The date of that table.
    pub advisories_of: String,
    /// Whether there is a validated (FIPS 140) form of the stack, in words.
    pub fips: String,
    /// Whether it was built now, or an earlier build of the same was found.
    pub found: Found,
}

/// Where a result comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// Built in this run.
    Built,
    /// Built in an earlier one, from the same sources by the same compiler.
    Cached,
}

/// A crate that is in a client, or helps to build it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShippedCrate {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licence, as an SPDX expression; none where it names a file instead.
    pub licence: Option<String>,
    /// Lines of Rust with `unsafe`.
    pub unsafe_lines: u32,
    /// Lines of C, C++ and assembly, for all platforms; blank ones not counted.
    pub c_lines: u32,
}

/// An advisory that applies to a crate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShippedAdvisory {
    /// Its number: `RUSTSEC-2025-0022`.
    pub id: String,
    /// The crate.
    pub name: String,
    /// What it is about.
    pub title: String,
}

impl Shipped {
    /// Lines of Rust with `unsafe`, in all crates.
    pub fn unsafe_lines(&self) -> u64 {
        self.crates
            .iter()
            .map(|of| u64::from(of.unsafe_lines))
            .sum()
    }

    /// Lines of C, C++ and assembly, in all crates.
    pub fn c_lines(&self) -> u64 {
        self.crates.iter().map(|of| u64::from(of.c_lines)).sum()
    }
}

impl Recorded for ShipPlan {
    type Record = ShipSample;
    type Counted = ShipSample;

    fn tally(&self, records: &[ShipSample]) -> Tally {
        let own = |sample: &&ShipSample| self.stacks.contains(&sample.stack);
        let built: HashSet<_> = records
            .iter()
            .filter(own)
            .filter(|sample| matches!(sample.outcome, ShipOutcome::Built(_)))
            .map(|sample| &sample.stack)
            .collect();
        Tally {
            planned: self.stacks.len() as u64,
            taken: built.len() as u64,
            foreign: records.iter().filter(|sample| !own(sample)).count() as u64,
        }
    }
}
