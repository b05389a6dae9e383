//! The support of many sites, with similar sites grouped.

use std::{cmp::Reverse, collections::HashMap, hash::Hash};

use itertools::Itertools;
use netbench_interop::LISTED;
use netbench_model::{
    Target,
    scan::{CertificateScan, NamedCode, Order, ScanOutcome, SiteScan, VersionScan},
    tls::TlsVersion,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cell::Cell,
    document::{Excerpt, Filling, Item, Table},
    text::{shorten, some_of, whole},
};

/// Number of sites that are named among similar ones.
const NAMED: usize = 3;

/// Number of sites that are named for one reason.
const REASONS: usize = 6;

/// Number of rows that text formats show.
const ROWS: usize = 60;

/// The support of the sites of a large scan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManySites {
    /// Groups of similar sites, the largest first.
    pub alike: Vec<AlikeSites>,
    /// The reasons why sites were scanned in part; the most frequent first.
    pub partial: Vec<PartialSites>,
}

/// Sites with the same support.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlikeSites {
    /// Number of sites.
    pub sites: u32,
    /// The common support.
    #[serde(flatten)]
    pub support: Support,
    /// Some of them.
    pub named: Vec<String>,
}

/// A short form of a site's support.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Support {
    /// `scanned`, `in part`, or the reason why the site could not be scanned.
    pub outcome: String,
    /// Versions, the oldest first.
    pub versions: Vec<TlsVersion>,
    /// Number of cipher suites of all versions together.
    pub suites: u32,
    /// The side that chooses the suite in the newest version.
    pub suite_order: Option<Order>,
    /// The newest version's groups.
    pub groups: Vec<String>,
    /// The kinds and sizes of the certificates' keys.
    pub keys: String,
    /// The first suite of the newest version's list.
    pub first_suite: Option<String>,
}

/// Sites that were scanned in part for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartialSites {
    /// The reason.
    #[schemars(extend("x-key" = "item"))]
    pub why: String,
    /// Number of sites.
    pub sites: u32,
    /// Some of them.
    pub named: Vec<String>,
}

impl Support {
    pub(super) fn of(site: &SiteScan) -> Self {
        let newest = spoken(site).max_by_key(|v| v.version);
        let mut versions: Vec<TlsVersion> = spoken(site).map(|v| v.version).collect();
        versions.sort_unstable();
        let suites: usize = spoken(site).map(|v| v.suites.len()).sum();
        let groups = newest.into_iter().flat_map(|v| &v.groups);
        Self {
            outcome: match &site.outcome {
                ScanOutcome::Scanned => "scanned".to_owned(),
                ScanOutcome::Partial { .. } => "in part".to_owned(),
                ScanOutcome::Failed { class, .. } => class.name().to_owned(),
            },
            versions,
            suites: u32::try_from(suites).unwrap_or(u32::MAX),
            suite_order: newest.map(|v| v.suite_order),
            groups: groups.map(|group| group.name.clone()).collect(),
            keys: key(site),
            first_suite: newest.and_then(|v| Some(v.suites.first()?.name.clone())),
        }
    }
}

const IN_PART: &str = "Scanned in part: they may have more than is shown";

/// Sites being counted: the number of sites with the same key, and some of their names.
type Tallies<K> = HashMap<K, Tally>;

struct Tally {
    /// The number of other keys that came before.
    place: usize,
    sites: u32,
    named: Vec<String>,
}

fn add<K: Eq + Hash>(tallies: &mut Tallies<K>, what: K, site: &str) {
    let place = tallies.len();
    let tally = tallies.entry(what).or_insert(Tally {
        place,
        sites: 0,
        named: Vec::new(),
    });
    tally.sites += 1;
    if tally.named.len() < NAMED {
        tally.named.push(site.to_owned());
    }
}

/// Returns the tallies, the largest first, and equal ones in the order in which they came.
fn sorted<K>(tallies: Tallies<K>) -> impl Iterator<Item = (K, Tally)> {
    let tallies = tallies.into_iter();
    tallies.sorted_by_key(|(_, tally)| (Reverse(tally.sites), tally.place))
}

#[derive(Default)]
pub(super) struct Counting {
    alike: Tallies<Support>,
    partial: Tallies<String>,
}

impl Counting {
    pub(super) fn add(&mut self, site: &SiteScan) {
        add(&mut self.alike, Support::of(site), &site.site);
        if let ScanOutcome::Partial { why } = &site.outcome {
            add(&mut self.partial, why.clone(), &site.site);
        }
    }

    pub(super) fn counted(self) -> ManySites {
        let alike = sorted(self.alike).map(|(support, tally)| AlikeSites {
            sites: tally.sites,
            support,
            named: tally.named,
        });
        let partial = sorted(self.partial).map(|(why, tally)| PartialSites {
            why,
            sites: tally.sites,
            named: tally.named,
        });
        ManySites {
            alike: alike.collect(),
            partial: partial.collect(),
        }
    }
}

pub(super) fn tables(items: &mut Vec<Item>, many: &ManySites, place: Target) {
    items.push(Item::heading(
        "What sites support, those that are alike together",
    ));
    items.push(Item::Text(format!(
        "More than {} sites are not listed one by one: each is a line of scan.jsonl in the run's folder.",
        whole(LISTED)
    )));
    items.push(
        Table::of(&many.alike)
            .count("sites", 0, |alike| alike.sites)
            .col("versions", 0, |alike| {
                let versions = alike.support.spoken();
                Cell::text(match alike.support.outcome.as_str() {
                    "scanned" => versions,
                    outcome if versions.is_empty() => format!("not scanned: {outcome}"),
                    outcome => format!("{versions} ({outcome})"),
                })
            })
            .support(|alike| &alike.support)
            .col("first choice", 5, |alike| alike.support.first_choice())
            .which_sites(place, 3, |alike| shorten(&alike.named.join(", ")))
            .excerpt(Excerpt::First(ROWS))
            .item(),
    );
    items.extend(
        Table::of(&many.partial)
            .short("why", 0, |partial| &partial.why)
            .count("sites", 0, |partial| partial.sites)
            .which_sites(place, 0, |partial| shorten(&partial.named.join(", ")))
            .excerpt(Excerpt::First(ROWS))
            .under(IN_PART),
    );
}

/// Tabulates the sites that were scanned in part, by the reason.
pub(super) fn in_part(sites: &[SiteScan], place: Target) -> Vec<Item> {
    let partial = sites.iter().filter_map(|site| match &site.outcome {
        ScanOutcome::Partial { why } => Some((why, &site.site)),
        ScanOutcome::Scanned | ScanOutcome::Failed { .. } => None,
    });
    by_reason(partial, place, 0).under(IN_PART)
}

pub(super) fn by_reason<'a>(
    sites: impl Iterator<Item = (&'a String, &'a String)>,
    place: Target,
    rank: u8,
) -> Filling<(&'a String, Vec<&'a String>)> {
    Table::of(sites.into_group_map().into_iter().sorted())
        .short("why", 0, |(why, _)| *why)
        .count("sites", 0, |(_, sites)| sites.len())
        .which_sites(place, rank, |(_, sites)| {
            shorten(&some_of(REASONS, sites.iter()))
        })
}

impl<T> Filling<T> {
    /// Adds the columns of the support after the versions.
    pub(super) fn support(self, of: impl Fn(&T) -> &Support) -> Self {
        self.count("suites", 0, |row| of(row).suites)
            .text("order", 2, |row| of(row).suite_order.map_or("", order))
            .short("groups", 4, |row| of(row).groups.join(" "))
            .short("key", 1, |row| of(row).keys.clone())
    }
}

impl Support {
    pub(super) fn spoken(&self) -> String {
        self.versions.iter().map(|version| version.name()).join(" ")
    }

    pub(super) fn first_choice(&self) -> Cell {
        Cell::text(shorten(self.first_suite.as_deref().unwrap_or_default()))
    }
}

pub(super) fn order(order: Order) -> &'static str {
    match order {
        Order::Server => "server",
        Order::Client => "client",
        Order::Mixed => "mixed",
        Order::Single => "one",
        Order::Stated => "stated",
        Order::Unknown => "unknown",
    }
}

pub(super) fn names(codes: &[NamedCode]) -> String {
    codes.iter().map(|code| &code.name).join(" ")
}

pub(super) fn names_or_none(codes: &[NamedCode]) -> String {
    match codes.is_empty() {
        true => "none".to_owned(),
        false => names(codes),
    }
}

/// Returns the versions that a site supports.
pub(super) fn spoken(site: &SiteScan) -> impl Iterator<Item = &VersionScan> {
    site.versions.iter().filter(|v| v.supported)
}

fn key(site: &SiteScan) -> String {
    let leaves = site.chains.iter().filter_map(|c| c.certificates.first());
    let keys = leaves.map(CertificateScan::sized_key);
    keys.dedup().join(" ")
}
