//! The records of `netbench ship`: the costs of a client that is built with a stack.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Kind, Manifest, Plan, Record, Recorded, StackName};

/// The plan of a run of `ship`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShipPlan {
    /// The stacks.
    pub stacks: Vec<StackName>,
    /// The Cargo.lock that pins the versions: `built-in`, or the given file.
    pub lock: String,
    /// SHA-256 of that Cargo.lock.
    pub lock_sha256: String,
    /// The cryptographic providers on which rustls depends in the given file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lock_providers: Vec<String>,
    /// `cargo --version`.
    pub cargo: String,
    /// `rustc -vV`.
    pub rustc: String,
    /// Whether every client is built, also if an earlier run has built it from the same sources.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
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
    /// The outcome of the build.
    pub outcome: ShipOutcome,
}

impl Record for ShipSample {
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

/// The outcome of a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum ShipOutcome {
    /// The build produced a program that starts.
    Built(Box<Shipped>),
    /// The build failed.
    Failed {
        /// The reason, as reported by cargo or the program.
        why: String,
    },
}

/// The properties of a client that was built with a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shipped {
    /// Size of the program without symbols, in bytes.
    pub program_bytes: u64,
    /// CPU time of cargo and all its child processes, in milliseconds.
    pub build_cpu_ms: u64,
    /// Duration of the build on this machine, in milliseconds.
    pub build_ms: u64,
    /// The crates that were compiled, by name.
    pub crates: Vec<ShippedCrate>,
    /// The cryptographic providers that rustls has features for. With more than one, a program has to choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<String>,
    /// The tools that the build started in addition to rustc, by name.
    pub tools: Vec<String>,
    /// Advisories in netbench's table that apply to one of the crates.
    pub advisories: Vec<ShippedAdvisory>,
    /// The date of that table.
    pub advisories_of: String,
    /// The availability of a FIPS 140 validated version of the stack, as a sentence.
    pub fips: String,
    /// Whether the client was built in this run, or an identical earlier build was found.
    pub found: Found,
}

/// The origin of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// Built in this run.
    Built,
    /// Built in an earlier run, from the same sources by the same compiler.
    Cached,
}

/// A crate that is in a client, or helps to build it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShippedCrate {
    /// The name of the crate.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The version of the crate.
    #[schemars(extend("x-key" = "item"))]
    pub version: String,
    /// The licence, as an SPDX expression; `None` if the crate names a file instead.
    pub licence: Option<String>,
    /// Number of lines of Rust with `unsafe`.
    pub unsafe_lines: u32,
    /// Number of lines of C, C++ and assembly for all platforms, without blank lines.
    pub c_lines: u32,
}

/// An advisory that applies to a crate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShippedAdvisory {
    /// The identifier of the advisory: `RUSTSEC-2025-0022`.
    #[schemars(extend("x-key" = "item"))]
    pub id: String,
    /// The crate.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The title of the advisory.
    pub title: String,
    /// The date of publication. Runs of earlier versions of netbench have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The publisher's word for the severity, if the publisher has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// The programs that run the affected code. Runs of earlier versions of netbench have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<AdvisoryReach>,
}

/// The programs that run the affected code of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AdvisoryReach {
    /// Clients of TLS with default settings.
    Client,
    /// Clients of TLS with other settings: revocation, client certificates, stapling, DANE, DTLS.
    Option,
    /// Servers, QUIC and other formats.
    Other,
}

impl AdvisoryReach {
    /// Returns the programs in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Client => "clients",
            Self::Option => "clients with other settings",
            Self::Other => "servers, QUIC, other formats",
        }
    }
}

impl Shipped {
    /// Returns the number of lines of Rust with `unsafe` in all crates.
    pub fn unsafe_lines(&self) -> u64 {
        self.crates
            .iter()
            .map(|of| u64::from(of.unsafe_lines))
            .sum()
    }

    /// Returns the number of lines of C, C++ and assembly in all crates.
    pub fn c_lines(&self) -> u64 {
        self.crates.iter().map(|of| u64::from(of.c_lines)).sum()
    }
}

impl Recorded for ShipPlan {
    type Record = ShipSample;
    type Counted = ShipSample;

    type Key<'a> = &'a StackName;

    fn key(sample: &ShipSample) -> &StackName {
        &sample.stack
    }

    fn planned(&self) -> u64 {
        self.stacks.len() as u64
    }

    fn requires(&self) -> impl Fn(&ShipSample) -> bool {
        |sample| self.stacks.contains(&sample.stack)
    }

    fn counts(sample: &ShipSample) -> bool {
        matches!(sample.outcome, ShipOutcome::Built(_))
    }
}
