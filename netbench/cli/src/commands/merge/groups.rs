use std::collections::{BTreeMap, BTreeSet};

use netbench_model::Origin;

use super::Part;
use crate::exit::WrongInput;

/// Whether a shard may be missing, or a run unfinished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gaps {
    Allowed,
    Refused,
}

/// What a run to be joined is known by.
pub(super) struct Facts<'a> {
    /// What the user called it.
    pub(super) path: &'a str,
    pub(super) name: &'a str,
    pub(super) started: &'a str,
    pub(super) finished: Option<&'a str>,
    pub(super) seed: u64,
    pub(super) origin: &'a Origin,
    /// What it should have and has none of.
    pub(super) lacks: Option<&'static str>,
}

/// A run that is to be joined.
pub(super) trait Run {
    fn facts(&self) -> Facts<'_>;
}

impl Run for Part {
    fn facts(&self) -> Facts<'_> {
        let manifest = &self.manifest;
        Facts {
            path: &self.path,
            name: &manifest.name,
            started: &manifest.started,
            finished: manifest.finished.as_deref(),
            seed: manifest.plan.seed,
            origin: &manifest.origin,
            lacks: self.samples.is_empty().then_some("samples"),
        }
    }
}

/// Runs that together took a plan through its rounds once: one whole run, or its shards.
pub(super) struct Group {
    pub(super) parts: Vec<Part>,
    /// What is missing, in words.
    pub(super) missing: Vec<String>,
}

/// Puts together what belongs together. Shards of one seed are one group; where some are there twice,
/// shards of one seed and vantage point are.
pub(super) fn groups(parts: Vec<Part>, gaps: Gaps) -> Result<Vec<Group>, WrongInput> {
    refuse_twice(&parts)?;
    let mut groups = Vec::new();
    let mut by_seed: BTreeMap<u64, Vec<Part>> = BTreeMap::new();
    for part in parts {
        match part.manifest.origin.shard {
            None => groups.push(vec![part]),
            Some(_) => by_seed
                .entry(part.manifest.plan.seed)
                .or_default()
                .push(part),
        }
    }
    for shards in by_seed.into_values() {
        if overlap(&shards).is_none() {
            groups.push(shards);
            continue;
        }
        let mut by_vantage: BTreeMap<String, Vec<Part>> = BTreeMap::new();
        for part in shards {
            let vantage = part.manifest.origin.vantage.clone();
            by_vantage.entry(vantage).or_default().push(part);
        }
        for shards in by_vantage.into_values() {
            if let Some(why) = overlap(&shards) {
                return Err(WrongInput(why));
            }
            groups.push(shards);
        }
    }
    let groups: Vec<Group> = groups
        .into_iter()
        .map(|mut parts| {
            parts.sort_by_key(|part| {
                part.manifest
                    .origin
                    .shard
                    .map(|record| record.shard.index())
            });
            let missing = missing(&parts);
            Group { parts, missing }
        })
        .collect();
    let missing: Vec<&str> = groups
        .iter()
        .flat_map(|group| group.missing.iter().map(String::as_str))
        .collect();
    refuse_gaps(&missing, gaps)?;
    Ok(groups)
}

/// Refuses what is missing, unless it may be.
pub(super) fn refuse_gaps(missing: &[&str], gaps: Gaps) -> Result<(), WrongInput> {
    if gaps == Gaps::Refused && !missing.is_empty() {
        return Err(WrongInput(format!(
            "{}; --partial joins what there is",
            missing.join("; ")
        )));
    }
    Ok(())
}

/// A run is known by its name, its start and its place, also in a copy of its folder.
pub(super) fn refuse_twice(parts: &[impl Run]) -> Result<(), WrongInput> {
    let mut seen = BTreeMap::new();
    for part in parts {
        let facts = part.facts();
        let run = (facts.name, facts.started, facts.seed);
        let place = (&facts.origin.vantage, facts.origin.shard);
        if let Some(before) = seen.insert((run, place), facts.path) {
            return Err(WrongInput(format!(
                "{before} and {} are the same run",
                facts.path
            )));
        }
    }
    Ok(())
}

/// Two runs that have the same shard; and shards of different numbers of shards, which overlap too.
pub(super) fn overlap(shards: &[impl Run]) -> Option<String> {
    let mut seen: BTreeMap<u32, &str> = BTreeMap::new();
    let first = shards.first()?.facts();
    let of = first.origin.shard?.shard.of();
    for part in shards.iter().map(Run::facts) {
        let shard = part.origin.shard?.shard;
        if shard.of() != of {
            return Some(format!(
                "{} is one of {of} shards and {} one of {}: they overlap",
                first.path,
                part.path,
                shard.of()
            ));
        }
        if let Some(before) = seen.insert(shard.index(), part.path) {
            return Some(format!(
                "shard {shard} is in both {before} and {}",
                part.path
            ));
        }
    }
    None
}

pub(super) fn missing(parts: &[impl Run]) -> Vec<String> {
    let mut words = Vec::new();
    let parts: Vec<Facts<'_>> = parts.iter().map(Run::facts).collect();
    if let Some(record) = parts.first().and_then(|part| part.origin.shard) {
        let of = record.shard.of();
        let there: BTreeSet<u32> = parts
            .iter()
            .filter_map(|part| Some(part.origin.shard?.shard.index()))
            .collect();
        let gone: Vec<String> = (1..=of)
            .filter(|index| !there.contains(index))
            .take(20)
            .map(|index| format!("{index}/{of}"))
            .collect();
        let seed = parts[0].seed;
        if !gone.is_empty() {
            let more = if of as usize - there.len() > gone.len() {
                " and more"
            } else {
                ""
            };
            words.push(format!(
                "of seed {seed}, shard {}{more} is missing",
                gone.join(", ")
            ));
        }
    }
    for part in parts {
        if part.finished.is_none() {
            words.push(format!("{} was not finished", part.path));
        } else if let Some(what) = part.lacks {
            words.push(format!("{} has no {what}", part.path));
        }
    }
    words
}
