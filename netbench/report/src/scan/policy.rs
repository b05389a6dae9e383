use itertools::Itertools;
use netbench_interop::{PolicyResult, SitePolicy};
use netbench_model::{Target, scan::PolicyRule};

use super::many::by_reason;
use crate::{
    document::{Check, CheckSuite, Checked, Excerpt, Item, Table},
    text::{count, named_site, shorten, some_of},
};

/// Number of sites that are named among those that break the same rules.
const NAMED: usize = 6;

/// Number of sites for which text formats have a row.
const ROWS: usize = 60;

/// Returns the policy's name, with the published version.
fn name(result: &PolicyResult) -> String {
    let policy = &result.policy;
    match &policy.version {
        Some(version) => format!("{} {version}", policy.name),
        None => policy.name.clone(),
    }
}

pub(super) fn headline(result: &PolicyResult) -> Item {
    let (broken, others): (Vec<&SitePolicy>, Vec<&SitePolicy>) = result
        .sites
        .iter()
        .partition(|site| !site.broken.is_empty());
    let unknown = others.iter().filter(|site| site.unknown.is_some());
    let keep = others.iter().filter(|site| site.keeps()).count();
    let unknown = match unknown.count() {
        0 => String::new(),
        unknown => format!("; of {unknown} it is not known"),
    };
    Item::Headline(format!(
        "Of {}, {} to the policy {} and {} it{unknown}.",
        count(result.sites.len(), "site", "sites"),
        verb(keep, "keeps", "keep"),
        name(result),
        verb(broken.len(), "breaks", "break"),
    ))
}

fn verb(sites: usize, one: &str, more: &str) -> String {
    match sites {
        0 => format!("none {one}"),
        sites => count(sites, one, more),
    }
}

pub(super) fn tables(items: &mut Vec<Item>, result: &PolicyResult, place: Target) {
    let broken = result.sites.iter().flat_map(|site| {
        let broken = site.broken.iter();
        broken.map(move |broken| ((broken.rule, &broken.what), &site.site))
    });
    let broken = broken.into_group_map().into_iter().sorted();
    items.extend(
        Table::of(broken)
            .text("rule", 0, |((rule, _), _)| rule.name())
            .short("broken by", 0, |((_, what), _)| *what)
            .count("sites", 0, |(_, sites)| sites.len())
            .which_sites(place, 1, |(_, sites)| {
                shorten(&some_of(NAMED, sites.iter()))
            })
            .under(format!("What breaks the policy {}", name(result))),
    );
    let breaking = result.sites.iter().filter(|site| !site.broken.is_empty());
    items.extend(
        Table::of(breaking)
            .site(place, |site| &site.site)
            .text("broken rules", 0, |site| rules(site))
            .excerpt(Excerpt::First(ROWS))
            .under("Sites that break it"),
    );
    let unknown = result.sites.iter().filter(|site| site.broken.is_empty());
    let unknown = unknown.filter_map(|site| Some((site.unknown.as_ref()?, &site.site)));
    items.extend(
        by_reason(unknown, place, 1)
            .under("Sites of which it is not known whether they keep to the policy"),
    );
}

/// Returns the number of violations of each rule by a site: `2 version, 51 suite`.
fn rules(site: &SitePolicy) -> String {
    let counts = site.broken.iter().counts_by(|broken| broken.rule);
    let counts = counts.into_iter().sorted();
    let mut counts = counts.map(|(rule, count)| format!("{count} {rule}"));
    counts.join(", ")
}

/// A check for each site and rule. What is not known does not pass.
pub(super) fn checks(result: &PolicyResult, place: Target) -> CheckSuite {
    let checks = result.sites.iter().flat_map(|site| {
        let rules = PolicyRule::ALL.iter();
        let rules = rules.filter_map(|rule| Some((rule.name(), broken(site, *rule)?)));
        let unknown = site.unknown.iter().map(|why| ("not-known", why.clone()));
        let failed = rules.chain(unknown);
        let failed = failed.map(|(class, why)| Check::new(class, Checked::failed(why, class)));
        let mut checks = failed.collect_vec();
        if checks.is_empty() {
            checks.push(Check::new(&result.policy.name, Checked::Passed));
        }
        let site = named_site(place, &site.site);
        checks.into_iter().map(move |check| check.of(&site))
    });
    CheckSuite::new(format!("policy {}", name(result)), checks)
}

/// Returns how a site breaks this rule; `None` if it does not.
fn broken(site: &SitePolicy, rule: PolicyRule) -> Option<String> {
    let of_rule = site.broken.iter().filter(|broken| broken.rule == rule);
    let why = of_rule.map(|broken| &broken.what).join(", ");
    (!why.is_empty()).then_some(why)
}
