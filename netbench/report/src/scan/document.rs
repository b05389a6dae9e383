use std::cmp::Reverse;

use itertools::Itertools;
use netbench_interop::{
    Population, PopulationKind, ProfileRow, Profiles, ShareRange, SharesOfAll, SitePolicy, features,
};
use netbench_model::{
    StackName, Target,
    scan::{ScanOutcome, SiteScan, SuiteScan, Tolerance},
};

use super::{
    ScanSummary, Support, certificates, loss,
    many::{self, names, order, spoken},
    policy, sample,
};
use crate::{
    Asked,
    cell::{Cell, Digits},
    document::{Document, Excerpt, Extent, Item, Place, Report, Section, Table},
    evaluation::{Evidence, Found, Subject, losses, none_is_no, supports, web_loss},
    run::origin,
    text::{count, in_place_of, named_site, places, shorten, whole},
};

/// The id of the section with the findings.
const SECTION: &str = "scan";

/// Number of sites for which text formats have a row: longer tables are not read; all sites are in the JSON and on
/// the page.
const ROWS: usize = 200;

/// The number of sites up to which each is shown in full.
const IN_FULL: usize = 3;

impl Report for ScanSummary {
    fn passes(&self) -> bool {
        let mut sites = self.policy.iter().flat_map(|policy| &policy.sites);
        sites.all(SitePolicy::keeps)
            && (self.head.thresholds.are_usual() || none_is_no(&questions(self, &self.stacks())))
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let run = &self.run;
        let stacks = self.stacks();
        Document {
            place: Place::Scans,
            about: in_place_of(&stacks),
            lead: match run.sites() {
                1 => "What one site supports.".to_owned(),
                sites => format!("What {} sites support.", whole(sites)),
            },
            questions: questions(self, &stacks),
            sections: vec![section(self)],
            checks: self
                .policy
                .iter()
                .map(|policy| policy::checks(policy, run.place))
                .collect(),
            sites: Some(run.place),
            ..Document::of_run("scan", &run.head, self)
        }
    }
}

impl ScanSummary {
    /// Returns the stacks whose offers the sites are compared with.
    fn stacks(&self) -> Vec<&str> {
        let offers = self.loss.iter().flat_map(|loss| &loss.offers);
        offers.map(|offer| offer.stack.as_str()).collect()
    }
}

/// Returns, for each stack in place of the first, whether it supports the features that the sites need.
fn questions(summary: &ScanSummary, stacks: &[&str]) -> Vec<Asked> {
    let (Some(loss), Some((from, others))) = (&summary.loss, stacks.split_first()) else {
        return Vec::new();
    };
    let asked = others.iter().filter_map(|to| {
        let switch = [*from, *to].map(StackName::new);
        let losses = losses(loss, summary.run.client_profile, &switch[0], &switch[1])?;
        let found = Found {
            losses: Some(losses),
            web: web_loss(loss, &switch[0], &switch[1]),
            ..Found::default()
        };
        let evidence = Evidence {
            found: &found,
            ..Evidence::of(
                [&switch[0], &switch[1]],
                summary.run.place,
                &summary.head.thresholds,
            )
        };
        Some(Asked {
            subject: Subject::Supports,
            question: supports::answer(&evidence),
            about: in_place_of(&[*from, *to]),
            section: Some(SECTION.to_owned()),
            ..Asked::default()
        })
    });
    asked.collect()
}

fn section(summary: &ScanSummary) -> Section {
    let mut items = Vec::new();
    let place = summary.run.place;
    if let Some(loss) = &summary.loss {
        loss::contradictions(&mut items, loss, place);
        loss::headlines(&mut items, loss, &summary.run);
    }
    items.extend(summary.policy.iter().map(policy::headline));
    items.extend(summary.missing_root().map(Item::Warning));
    items.extend(Item::warnings(&summary.warnings));
    if let Some(result) = &summary.policy {
        policy::tables(&mut items, result, place);
    }
    if let Some(loss) = &summary.loss {
        loss::tables(&mut items, loss, place);
    }
    match &summary.many {
        Some(many) => many::tables(&mut items, many, place),
        None if summary.sites.len() <= IN_FULL => {
            for site in &summary.sites {
                in_full(&mut items, site, place);
            }
        }
        None => sites(&mut items, &summary.sites, place),
    }
    if let Some(population) = &summary.population {
        population_tables(&mut items, population);
    }
    if let Some(profiles) = &summary.profiles {
        items.extend(profile_table(profiles));
    }
    Section::new(SECTION, "What sites support", items).explained(about(summary))
}

fn about(summary: &ScanSummary) -> String {
    let run = &summary.run;
    let mut sites = places(run.place, run.planned);
    if let Some(of) = run.sampled_of {
        sites.push_str(&format!(", drawn at random of {}", whole(of)));
    }
    let failed = run.failed.iter();
    let failed = match failed
        .map(|(class, count)| format!("{count} {class}"))
        .join(", ")
    {
        none if none.is_empty() => none,
        failed => format!(", not scanned: {failed}"),
    };
    let each = run.enumeration_connections as f64 / f64::from((run.scanned + run.partial).max(1));
    format!(
        "{sites}: {} scanned, {} in part{failed}. {}, {each:.1} a site for versions, suites with their order, \
         and groups; {} tried again; {} kB.{}",
        whole(run.scanned),
        whole(run.partial),
        count(run.connections, "connection", "connections"),
        run.retries,
        whole(run.bytes / 1000),
        origin(&run.origin).map_or_else(String::new, |words| format!(" {words}"))
    )
}

fn outcome(site: &SiteScan) -> String {
    match &site.outcome {
        ScanOutcome::Scanned => "scanned".to_owned(),
        ScanOutcome::Partial { why } => format!("in part: {why}"),
        ScanOutcome::Failed { class, detail } => format!("{}: {detail}", class.name()),
    }
}

fn sites(items: &mut Vec<Item>, sites: &[SiteScan], place: Target) {
    items.extend(
        Table::of(sites.iter().map(|site| (site, Support::of(site))))
            .site(place, |(site, _)| &site.site)
            .col("versions", 0, |(site, support)| match &site.outcome {
                ScanOutcome::Scanned => Cell::text(support.spoken()),
                ScanOutcome::Partial { .. } => {
                    Cell::text(format!("{} (in part)", support.spoken()))
                }
                ScanOutcome::Failed { .. } => Cell::text(shorten(&outcome(site))),
            })
            .support(|(_, support)| support)
            .col("connections", 3, |(site, _)| {
                let effort = &site.effort;
                Cell::Of(
                    effort.enumeration_connections.into(),
                    effort.connections.into(),
                )
            })
            .col("time", 5, |(site, _)| {
                Cell::number(site.effort.elapsed_ms as f64, Digits::All, "ms")
            })
            .col("first choice", 6, |(_, support)| support.first_choice())
            .excerpt(Excerpt::First(ROWS))
            .explained(
                "What each site supports",
                "Order: who chooses the suite. Connections: for versions, suites with their order and groups, and in all.",
            ),
    );
    items.extend(many::in_part(sites, place));
}

fn in_full(items: &mut Vec<Item>, site: &SiteScan, place: Target) {
    let name = named_site(place, &site.site);
    items.push(Item::heading(&name));
    let address = site.address.map(|a| format!(" at {a}")).unwrap_or_default();
    items.push(Item::Text(format!(
        "{}{address}: {}, {} of them for versions, suites and groups; {} ms.",
        shorten(&outcome(site)),
        count(site.effort.connections, "connection", "connections"),
        site.effort.enumeration_connections,
        site.effort.elapsed_ms
    )));
    for note in &site.notes {
        items.push(Item::Text(format!("Note: {note}")));
    }
    if !site.is_scanned() {
        return;
    }
    items.extend(versions_and_suites(site, &name));
    certificates::tables(items, site, &name);
    items.push(
        Table::of(features(site))
            .caption(format!("{name}: features"))
            .text("feature", 0, |feature| feature.name)
            .text("", 0, |feature| feature.to_string())
            .item(),
    );
    let mut intolerant = site
        .intolerance
        .iter()
        .filter_map(|(what, tolerance)| match tolerance {
            Tolerance::Tolerant => None,
            Tolerance::Intolerant { how } => Some(format!("{what} ({how})")),
        });
    let intolerant = intolerant.join(", ");
    if !intolerant.is_empty() {
        let text = format!("it is intolerant of: {intolerant}");
        items.push(Item::Warning(text));
    }
}

fn versions_and_suites(site: &SiteScan, name: &str) -> [Item; 2] {
    let versions = Table::of(&site.versions)
        .caption(format!("{name}: versions"))
        .text("version", 0, |v| v.version.name())
        .text("supported", 0, |v| if v.supported { "yes" } else { "no" })
        .count("suites", 0, |v| v.suites.len())
        .text("order", 1, |v| order(v.suite_order))
        .text("groups", 0, |v| names(&v.groups))
        .text("refused with", 2, |v| {
            v.refusal.as_deref().unwrap_or_default()
        })
        .item();
    let suites = spoken(site).flat_map(|v| v.suites.iter().map(move |s| (v, s)));
    let suites = Table::of(suites)
        .caption(format!("{name}: suites"))
        .text("version", 0, |(v, _)| v.version.name())
        .text("suite", 0, |(_, s)| &s.name)
        .text("key exchange", 1, |(_, s)| exchange(s))
        .item();
    [versions, suites]
}

type Inferred = fn(&SharesOfAll) -> ShareRange;

/// The inferred shares of all sites: the names and ranks of their columns.
const OF_ALL: [(&str, u8, Inferred); 3] = [
    ("of all support", 0, |all| all.supports),
    ("of all prefer", 1, |all| all.prefers),
    ("of all only", 2, |all| all.only),
];

fn exchange(suite: &SuiteScan) -> String {
    match &suite.dh {
        Some(dh) => format!("{} bits, {}", dh.bits, dh.origin),
        None => suite.group.clone().unwrap_or_default(),
    }
}

fn population_tables(items: &mut Vec<Item>, population: &Population) {
    items.push(Item::Heading(match population.sites {
        1 => "What one site supports, prefers, and has only".to_owned(),
        sites => format!("What {} sites support, prefer, and have only", whole(sites)),
    }));
    items.push(Item::text(&population.definitions));
    let kinds = PopulationKind::ALL.iter().copied();
    let rows = kinds.flat_map(|kind| population.rows.iter().filter(move |row| row.kind == kind));
    let mut table = Table::of(rows)
        .text("kind", 0, |row| row.kind.name())
        .text("name", 0, |row| &row.name)
        .col("support", 0, |row| share(row.supports, population))
        .col("prefer", 0, |row| share(row.prefers, population))
        .col("only", 0, |row| share(row.only, population));
    if population.rows.iter().any(|row| row.of_all.is_some()) {
        items.push(Item::text(
            "Of all: the share of the sites that these were drawn of, at a confidence of 95 %.",
        ));
        for (name, rank, of) in OF_ALL {
            table = table.optional(name, rank, |row| {
                row.of_all.as_ref().map(|all| sample::range(of(all)))
            });
        }
    }
    items.push(table.item());
}

fn share(count: u32, population: &Population) -> Cell {
    Cell::CountAndShare(count.into(), population.sites.into())
}

fn profile_table(profiles: &Profiles) -> Vec<Item> {
    let guideline = &profiles.guideline;
    Table::of(&profiles.rows)
        .text("profile", 0, |row| &row.profile)
        .count("comply", 0, |row| row.comply())
        .count("do not", 0, |row| row.reasons().values().sum::<usize>())
        .text("most often", 1, |row| reasons(row))
        .explained(
            format!("Mozilla's recommended configurations, guideline {guideline}"),
            &profiles.compared,
        )
}

/// Returns the three reasons for which most sites do not comply.
fn reasons(row: &ProfileRow) -> String {
    let why = row.reasons().into_iter();
    let why = why
        .sorted_by_key(|(what, count)| (Reverse(*count), *what))
        .take(3);
    why.map(|(what, count)| format!("{count} by {what}"))
        .join("; ")
}
