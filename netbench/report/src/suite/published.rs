//! Published tables of others, which are shown with a preset's own table. They are quoted word for word; they were
//! measured on other machines with other versions, and are no part of any verdict.

use std::cmp::Ordering;

use netbench_model::{Preset, StackName, Timing, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CaseRow;

/// The largest distance of a measured factor from the published one at which the two are called the same.
const SAME: f64 = 1.1;

/// The largest distance of a factor from 1 at which its sign is not that of a difference.
const EQUAL: f64 = 1.05;

/// A published table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedTable {
    /// The author, date and place of the publication.
    pub source: String,
    /// The machine and the method of measurement.
    pub about: String,
    /// The known faults of the table.
    pub faults: Vec<String>,
    /// The headings of its columns of figures.
    pub columns: Vec<String>,
    /// The stacks of netbench that correspond to them, of which each is compared with the first. Empty in summaries of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<StackName>,
    /// Lists of the same stacks with conditions of the publication, such as versions, builds and interfaces. A run that has the
    /// first stack of a list and another one of it is compared by that list in place of today's.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub conditions: Vec<Vec<StackName>>,
    /// The unit of the figures.
    pub unit: String,
    /// Its rows.
    pub rows: Vec<PublishedRow>,
}

/// A row of a published table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedRow {
    /// The corresponding case of netbench.
    #[schemars(extend("x-key" = "item"))]
    pub case: String,
    /// Its figures, one for each column.
    #[schemars(extend("x-names" = "/columns"))]
    #[schemars(extend("x-unit-in" = "unit"))]
    pub figures: Vec<f64>,
    /// Its last column, a factor or a change, if the publication has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<String>,
    /// Whether a fault affects the row.
    pub doubtful: bool,
    /// The cause of a difference from today's figures, with the measurement that shows it; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The factors of this run, for each stack but the first as far as the run has both; empty in summaries of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub today: Vec<Today>,
}

/// A published factor beside the measured one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Today {
    /// The stack that is compared with the first.
    #[schemars(extend("x-key" = "other"))]
    pub stack: StackName,
    /// The published factor, as time or size.
    #[schemars(extend("x-unit" = "other/first"))]
    pub published: f64,
    /// The measured factor.
    #[schemars(extend("x-unit" = "other/first"))]
    pub measured: f64,
    /// Whether the two agree.
    pub agreement: Agreement,
}

/// The agreement of a measured factor with a published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The two are within 10 % of each other.
    Same,
    /// Both are above 1, both are below 1, or both are within 5 % of 1.
    SameSign,
    /// The signs differ.
    OtherSign,
}

impl Agreement {
    fn of(published: f64, measured: f64) -> Self {
        if (measured / published).ln().abs() <= SAME.ln() {
            Self::Same
        } else if sign(measured) == sign(published) {
            Self::SameSign
        } else {
            Self::OtherSign
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::SameSign => "same sign",
            Self::OtherSign => "OTHER SIGN",
        }
    }
}

/// Returns on which side of 1 a factor is, or that it is on none.
fn sign(factor: f64) -> Ordering {
    if factor.ln().abs() <= EQUAL.ln() {
        Ordering::Equal
    } else {
        factor.total_cmp(&1.0)
    }
}

impl PublishedTable {
    /// Compares the rows with the figures of a run.
    pub(super) fn with_cases(mut self, cases: &[CaseRow]) -> Self {
        let mut conditions = std::mem::take(&mut self.conditions).into_iter();
        if let Some(stacks) = conditions.find(|stacks| are_compared(cases, stacks)) {
            self.stacks = stacks;
        }
        for row in &mut self.rows {
            if let Some(case) = cases.iter().find(|case| row.is_of(&case.name)) {
                row.case.clone_from(&case.name);
                row.today = row.today_of(case, &self.stacks);
            }
        }
        self
    }
}

/// Returns whether a run has the first of `stacks` and another one.
fn are_compared(cases: &[CaseRow], stacks: &[StackName]) -> bool {
    let mut are_run = stacks
        .iter()
        .map(|stack| cases.iter().any(|case| case.of(stack).is_some()));
    are_run.next() == Some(true) && are_run.any(|is_run| is_run)
}

impl PublishedRow {
    /// Returns whether the row is of this case, whatever part of its work is timed.
    fn is_of(&self, case: &str) -> bool {
        case.replace(Timing::BENCH_SUFFIX, "") == self.case
    }

    fn today_of(&self, case: &CaseRow, stacks: &[StackName]) -> Vec<Today> {
        let mut sides = stacks.iter().zip(&self.figures);
        let Some((first, of_first)) = sides.next() else {
            return Vec::new();
        };
        sides
            .filter_map(|(stack, figure)| {
                let published = match case.unit {
                    Unit::Bytes => figure / of_first,
                    _ => of_first / figure,
                };
                let measured = measured(case, first, stack)?;
                Some(Today {
                    stack: stack.clone(),
                    published,
                    measured,
                    agreement: Agreement::of(published, measured),
                })
            })
            .collect()
    }
}

/// Returns the factor between two stacks: the one that the tables of the run have, or that of the figures if these tables
/// compare both with another stack.
fn measured(case: &CaseRow, first: &StackName, other: &StackName) -> Option<f64> {
    match case.against_first(other) {
        Some(verdict) if verdict.first == *first => Some(verdict.change.ratio),
        _ => Some(case.of(other)?.low / case.of(first)?.low),
    }
}

/// Returns the table that `preset` reproduces, if there is one that can be quoted. s2n's harness has no published
/// figures of other libraries.
pub(super) fn published(preset: &str) -> Option<PublishedTable> {
    let text = match preset.parse().ok()? {
        Preset::RustlsVsOpenssl => {
            include_str!("../../../catalogue/published/rustls-vs-openssl.toml")
        }
        Preset::Rustls2026 => include_str!("../../../catalogue/published/rustls-2026.toml"),
        Preset::MemoryTable => include_str!("../../../catalogue/published/memory-table.toml"),
        Preset::Bertie => include_str!("../../../catalogue/published/bertie.toml"),
        Preset::Allocators => include_str!("../../../catalogue/published/allocators.toml"),
        Preset::RustlsProviders => {
            include_str!("../../../catalogue/published/rustls-providers.toml")
        }
        Preset::RingAllocators => include_str!("../../../catalogue/published/ring-allocators.toml"),
        Preset::RingCompilers => include_str!("../../../catalogue/published/ring-compilers.toml"),
        Preset::OpensslCompilers => {
            include_str!("../../../catalogue/published/openssl-compilers.toml")
        }
        Preset::Avx512 => include_str!("../../../catalogue/published/avx512.toml"),
        Preset::S2n | Preset::AllStacks | Preset::RustlsMatrix | Preset::History => return None,
    };
    toml::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_read() {
        for (preset, rows) in [
            (Preset::RustlsVsOpenssl, 20),
            (Preset::Rustls2026, 16),
            (Preset::MemoryTable, 8),
            (Preset::Bertie, 12),
            (Preset::Allocators, 8),
            (Preset::RustlsProviders, 20),
            (Preset::RingAllocators, 7),
            (Preset::RingCompilers, 12),
            (Preset::OpensslCompilers, 8),
            (Preset::Avx512, 1),
        ] {
            let table = published(&preset.to_string());
            assert_eq!(table.map(|table| table.rows.len()), Some(rows), "{preset}");
        }
        assert_eq!(published(&Preset::S2n.to_string()), None);
    }

    #[test]
    fn factors_agree_by_distance_and_sign() {
        for (published, measured, expected) in [
            (2.0, 2.1, Agreement::Same),
            (1.03, 0.97, Agreement::Same),
            (2.0, 2.3, Agreement::SameSign),
            (0.5, 0.4, Agreement::SameSign),
            (0.7, 1.19, Agreement::OtherSign),
            (1.03, 0.89, Agreement::OtherSign),
            (0.96, 1.16, Agreement::OtherSign),
        ] {
            let found = Agreement::of(published, measured);
            assert_eq!(found, expected, "{published} {measured}");
        }
    }
}
