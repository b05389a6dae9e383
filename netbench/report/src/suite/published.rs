//! Published tables of others, which are shown with a preset's own table. They are quoted word for word; they were
//! measured on other machines with other versions, and are no part of any verdict.

use netbench_model::Preset;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A published table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedTable {
    /// The author, date and place of the publication.
    pub source: String,
    /// The machine and the method of measurement.
    pub about: String,
    /// The known faults of the table.
    pub faults: Vec<String>,
    /// The headings of its two columns.
    pub columns: [String; 2],
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
    /// Its two figures.
    #[schemars(extend("x-names" = "/columns"))]
    #[schemars(extend("x-unit-in" = "unit"))]
    pub figures: [f64; 2],
    /// Its last column: a factor, or a change.
    pub comparison: String,
    /// Whether a fault affects the row.
    pub doubtful: bool,
}

/// Returns the table that `preset` reproduces, if there is one that can be quoted. s2n's harness has no published
/// figures of other libraries.
pub(super) fn published(preset: &str) -> Option<PublishedTable> {
    let text = match preset.parse().ok()? {
        Preset::RustlsVsOpenssl => {
            include_str!("../../../catalogue/published/rustls-vs-openssl.toml")
        }
        Preset::MemoryTable => include_str!("../../../catalogue/published/memory-table.toml"),
        Preset::Bertie => include_str!("../../../catalogue/published/bertie.toml"),
        Preset::Allocators => include_str!("../../../catalogue/published/allocators.toml"),
        Preset::OpensslCompilers => {
            include_str!("../../../catalogue/published/openssl-compilers.toml")
        }
        Preset::S2n
        | Preset::AllStacks
        | Preset::RustlsMatrix
        | Preset::Avx512
        | Preset::History => return None,
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
            (Preset::MemoryTable, 8),
            (Preset::Bertie, 6),
            (Preset::Allocators, 8),
            (Preset::OpensslCompilers, 8),
        ] {
            let table = published(&preset.to_string());
            assert_eq!(table.map(|table| table.rows.len()), Some(rows), "{preset}");
        }
        assert_eq!(published(&Preset::S2n.to_string()), None);
    }
}
