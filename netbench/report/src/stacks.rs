use itertools::Itertools;
use netbench_model::{
    SCHEMA_VERSION, TlsVersion, Variant, WorkerRecord,
    scan::{NamedCode, Offer},
};
use netbench_protocol::StackDescription;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    document::{Document, Extent, Item, Report, Section, Table},
    run::about_worker,
    text::{count, time},
};

/// The available stacks: the output of `netbench stacks --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StacksReport {
    /// [`netbench_model::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// One for each stack.
    pub stacks: Vec<StackRow>,
    /// The variants of every stack that can be built or run that way.
    pub variants: Vec<VariantRow>,
    /// The path of the library that counts allocations, which the suite's part `memory` needs; absent if it is
    /// missing.
    pub heap_library: Option<String>,
}

/// A stack, with its worker if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StackRow {
    /// The stack.
    #[schemars(extend("x-key" = "first"))]
    pub stack: String,
    /// A description of one line.
    pub about: String,
    /// The state of its worker.
    pub state: WorkerState,
    /// The path of its worker.
    pub worker: Option<String>,
    /// The kind of that place: `beside the command`, `in the cache`, `in the source tree`.
    pub place: Option<String>,
    /// The licences of the TLS library and of its cryptography.
    pub licences: Vec<LicenceRow>,
    /// The time of the last build of its worker, if netbench built it. Libraries that had been built before are not
    /// included.
    pub build: Option<BuildTime>,
    /// The worker's description of the stack.
    pub description: Option<StackDescription>,
    /// Its ClientHello with the library's own defaults, if it connects.
    pub hello: Option<Offer>,
    /// The reason why there is no description or no hello.
    pub problem: Option<String>,
}

/// A variant, whose name follows a stack's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VariantRow {
    /// Its name, with the `+` before it.
    #[schemars(extend("x-key" = "item"))]
    pub variant: String,
    /// A description of one line.
    pub about: String,
}

/// The state of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerState {
    /// The worker exists and describes its stack.
    Built,
    /// The worker does not exist.
    NotBuilt,
    /// The worker exists and does not work.
    Broken,
}

/// A library's licence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LicenceRow {
    /// The library.
    #[schemars(extend("x-key" = "item"))]
    pub library: String,
    /// Its licence, as an SPDX expression.
    pub spdx: String,
}

/// The time of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuildTime {
    /// Wall-clock time, in milliseconds.
    pub wall_ms: u64,
    /// CPU time of all processors together, in milliseconds.
    pub cpu_ms: u64,
}

impl StacksReport {
    /// Returns a report of these stacks.
    pub fn new(stacks: Vec<StackRow>, heap_library: Option<String>) -> Self {
        let variants = Variant::ALL.iter().map(|variant| VariantRow {
            variant: format!("+{variant}"),
            about: variant.about().to_owned(),
        });
        Self {
            schema: SCHEMA_VERSION,
            stacks,
            variants: variants.collect(),
            heap_library,
        }
    }
}

impl Report for StacksReport {
    fn document(&self, _: Extent) -> Document<'_> {
        let table = Table::of(&self.stacks)
            .text("stack", 0, |row| &row.stack)
            .text("worker", 0, |row| row.state.words())
            .optional("TLS", 1, |row| versions(row))
            .optional("library", 1, |row| Some(&row.record()?.library))
            .optional("cryptography", 2, |row| row.record()?.provider.as_ref())
            .time("built in", 2, |row| {
                row.build.map(|build| build.wall_ms as f64 * 1e6)
            })
            .time("CPU time", 3, |row| {
                row.build.map(|build| build.cpu_ms as f64 * 1e6)
            });
        let mut items = vec![table.item()];
        for row in &self.stacks {
            items.push(Item::heading(&row.stack));
            items.extend(row.lines().into_iter().map(Item::Text));
        }
        items.extend(
            Table::of(&self.variants)
                .text("variant", 0, |row| &row.variant)
                .text("what it is", 0, |row| &row.about)
                .under("Variants of any stack"),
        );
        items.push(Item::heading("The library that counts allocations"));
        let missing = "missing; `netbench stacks build --all` builds it";
        let library = self.heap_library.as_deref().unwrap_or(missing);
        items.push(Item::Text(format!("for suite memory: {library}")));
        let built = self.stacks.iter();
        let built = built.filter(|row| row.state == WorkerState::Built).count();
        let stacks = count(self.stacks.len(), "stack", "stacks");
        Document {
            lead: format!("{stacks}, {built} of them built."),
            ..Document::of_section("stacks", "netbench stacks", Section::only(items), self)
        }
    }
}

impl WorkerState {
    fn words(self) -> &'static str {
        match self {
            Self::Built => "built",
            Self::NotBuilt => "not built",
            Self::Broken => "does not work",
        }
    }
}

impl StackRow {
    fn record(&self) -> Option<&WorkerRecord> {
        Some(&self.description.as_ref()?.record)
    }

    /// Returns the lines that a text shows below the name.
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.about.clone()];
        if let Some(says) = &self.description {
            let record = &says.record;
            let versions = about_worker(record, Some(&record.connector));
            lines.push(format!("versions: {versions}"));
            lines.push(format!(
                "can: {}; groups {}",
                count(says.suites.len(), "cipher suite", "cipher suites"),
                says.groups.iter().format(", ")
            ));
            lines.push(format!("does: {}", says.operations.iter().format(", ")));
        }
        if let Some(hello) = &self.hello {
            let compression = hello.certificate_compression.iter();
            let compression = compression.filter(|codes| !codes.is_empty());
            lines.push(format!(
                "offers by default: TLS {}; {}; groups {}; key shares {}{}",
                hello.versions.iter().format(" and "),
                count(hello.suites.len(), "cipher suite", "cipher suites"),
                names(&hello.groups),
                hello.shares.iter().map(|share| &share.group).format(", "),
                compression.format_with("", |codes, f| {
                    f(&format_args!(
                        "; certificates compressed with {}",
                        names(codes)
                    ))
                })
            ));
        }
        if !self.licences.is_empty() {
            let licences = self.licences.iter();
            let licences = licences.map(|of| format!("{} ({})", of.spdx, of.library));
            lines.push(format!("licences: {}", licences.format("; ")));
        }
        if let Some(build) = self.build {
            lines.push(format!(
                "last built in {}, with {} of CPU time",
                time(build.wall_ms as f64 * 1e6),
                time(build.cpu_ms as f64 * 1e6)
            ));
        }
        lines.extend(self.problem.clone());
        let (place, worker) = (self.place.as_ref(), self.worker.as_ref());
        lines.extend(
            place
                .zip(worker)
                .map(|(place, worker)| format!("{place}: {worker}")),
        );
        lines
    }
}

/// Returns the versions that a stack offers, or those of its suites if it sends no hello.
fn versions(row: &StackRow) -> Option<String> {
    let mut versions: Vec<TlsVersion> = match (&row.hello, &row.description) {
        (Some(hello), _) => hello.versions.clone(),
        (None, Some(says)) => says.suites.iter().map(|suite| suite.version()).collect(),
        (None, None) => return None,
    };
    versions.sort();
    versions.dedup();
    Some(versions.iter().format(", ").to_string())
}

fn names(codes: &[NamedCode]) -> String {
    codes.iter().map(|code| &code.name).join(", ")
}
