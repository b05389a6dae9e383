use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_interop::{ScanChange, changes};
use netbench_model::{SCHEMA_VERSION, ScanManifest, Target, scan::SiteScan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cell::Cell,
    document::{Document, Excerpt, Extent, Item, Report, Section, Table},
    text::{count, shorten, sites_of, some_of},
};

/// Number of sites that are named among those with the same change.
const NAMED: usize = 4;

/// Number of rows that text formats show at most.
const ROWS: usize = 60;

/// The changes from one scan of some sites to a later one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScanDiff {
    /// [`netbench_model::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The earlier scan.
    pub before: ScanOfDiff,
    /// The later scan.
    pub after: ScanOfDiff,
    /// Number of sites that are in both scans.
    pub sites: u32,
    /// The sites in both scans that changed, with the changes; in the order of the later scan.
    pub changed: Vec<ChangedScan>,
    /// Sites that only the earlier scan has.
    pub only_before: Vec<String>,
    /// Sites that only the later scan has.
    pub only_after: Vec<String>,
}

/// One of the two scans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScanOfDiff {
    /// The run's name.
    pub name: String,
    /// The version of netbench.
    pub netbench: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// The target of the sites.
    #[serde(default)]
    pub place: Target,
}

/// A site that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedScan {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The changes.
    pub changes: Vec<ScanChange>,
}

/// Compares a scan with an earlier one, site by site. `sites` has the findings of the earlier and the later scan
/// for each site that is in either, in the order of the later scan.
///
/// # Errors
/// Returns the first error of `sites`.
pub fn diff_scans<E>(
    before: ScanOfDiff,
    after: ScanOfDiff,
    sites: impl IntoIterator<Item = Result<(Option<SiteScan>, Option<SiteScan>), E>>,
) -> Result<ScanDiff, E> {
    let mut diff = ScanDiff {
        schema: SCHEMA_VERSION,
        before,
        after,
        sites: 0,
        changed: Vec::new(),
        only_before: Vec::new(),
        only_after: Vec::new(),
    };
    for site in sites {
        match site? {
            (None, None) => {}
            (Some(was), None) => diff.only_before.push(was.site),
            (None, Some(now)) => diff.only_after.push(now.site),
            (Some(was), Some(now)) => {
                diff.sites += 1;
                let changes = changes(&was, &now);
                if !changes.is_empty() {
                    let site = now.site;
                    diff.changed.push(ChangedScan { site, changes });
                }
            }
        }
    }
    Ok(diff)
}

impl From<&ScanManifest> for ScanOfDiff {
    fn from(run: &ScanManifest) -> Self {
        Self {
            name: run.name.clone(),
            netbench: run.netbench.clone(),
            started: run.started.clone(),
            place: run.plan.place,
        }
    }
}

impl ScanOfDiff {
    fn made(&self) -> String {
        let (name, netbench, started) = (&self.name, &self.netbench, &self.started);
        format!("{name} (netbench {netbench}, started {started})")
    }
}

impl ScanDiff {
    /// Returns the target of the sites; emulated if those of either scan are.
    fn place(&self) -> Target {
        self.before.place.with(self.after.place)
    }
}

impl Report for ScanDiff {
    fn document(&self, _: Extent) -> Document<'_> {
        let (before, after) = (&self.before, &self.after);
        let mut items = vec![Item::Headline(format!(
            "Of {} in both scans, {} changed.",
            count(self.sites, "site", "sites"),
            match self.changed.len() {
                0 => "none".to_owned(),
                changed => changed.to_string(),
            }
        ))];
        for (sites, scan) in [
            (&self.only_before, &before.name),
            (&self.only_after, &after.name),
        ] {
            if !sites.is_empty() {
                let names = shorten(&some_of(NAMED, sites));
                items.push(Item::Text(format!(
                    "Only in {scan}: {}, {names}",
                    sites_of(self.place(), sites.len())
                )));
            }
        }
        items.extend(by_change(self));
        items.extend(by_site(self));
        let title = format!("netbench scan diff: {} after {}", after.name, before.name);
        Document {
            name: after.name.clone(),
            made: format!("{} after {}", after.made(), before.made()),
            sites: Some(self.place()),
            ..Document::of_section("scan diff", title, Section::only(items), self)
        }
    }
}

/// Tabulates each change once, with its number of sites: the most frequent first.
fn by_change(diff: &ScanDiff) -> Vec<Item> {
    let mut all: BTreeMap<&ScanChange, Vec<&str>> = BTreeMap::new();
    for site in &diff.changed {
        for change in &site.changes {
            all.entry(change).or_default().push(&site.site);
        }
    }
    let rows = all.into_iter();
    let rows = rows.sorted_by_key(|(change, sites)| (change.kind, usize::MAX - sites.len()));
    Table::of(rows)
        .text("kind", 1, |(change, _)| change.kind.name())
        .short("what", 0, |(change, _)| &change.what)
        .short("was", 0, |(change, _)| &change.was)
        .short("is", 0, |(change, _)| &change.now)
        .count("sites", 0, |(_, sites)| sites.len())
        .which_sites(diff.place(), 2, |(_, sites)| {
            shorten(&some_of(NAMED, sites))
        })
        .excerpt(Excerpt::First(ROWS))
        .under("What changed")
}

fn by_site(diff: &ScanDiff) -> Vec<Item> {
    Table::of(&diff.changed)
        .site(diff.place(), |site| &site.site)
        .count("changes", 0, |site| site.changes.len())
        .col("of", 1, |site| {
            let kinds = site.changes.iter().map(|change| change.kind.name());
            Cell::text(kinds.dedup().join(", "))
        })
        .excerpt(Excerpt::First(ROWS))
        .under("Which sites changed")
}
