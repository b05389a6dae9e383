use std::collections::{BTreeMap, BTreeSet};

use super::Part;
use crate::exit::WrongInput;

/// Whether a shard may be missing, or a run unfinished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gaps {
    Allowed,
    Refused,
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
    if gaps == Gaps::Refused && !missing.is_empty() {
        return Err(WrongInput(format!(
            "{}; --partial joins what there is",
            missing.join("; ")
        )));
    }
    Ok(groups)
}

/// A run is known by its name, its start and its place, also in a copy of its folder.
fn refuse_twice(parts: &[Part]) -> Result<(), WrongInput> {
    let mut seen = BTreeMap::new();
    for part in parts {
        let manifest = &part.manifest;
        let run = (&manifest.name, &manifest.started, manifest.plan.seed);
        let place = (&manifest.origin.vantage, manifest.origin.shard);
        if let Some(before) = seen.insert((run, place), &part.path) {
            return Err(WrongInput(format!(
                "{before} and {} are the same run",
                part.path
            )));
        }
    }
    Ok(())
}

/// Two runs that have the same shard; and shards of different numbers of shards, which overlap too.
fn overlap(shards: &[Part]) -> Option<String> {
    let mut seen: BTreeMap<u32, &str> = BTreeMap::new();
    let first = shards.first()?;
    let of = first.manifest.origin.shard?.shard.of();
    for part in shards {
        let shard = part.manifest.origin.shard?.shard;
        if shard.of() != of {
            return Some(format!(
                "{} is one of {of} shards and {} one of {}: they overlap",
                first.path,
                part.path,
                shard.of()
            ));
        }
        if let Some(before) = seen.insert(shard.index(), &part.path) {
            return Some(format!(
                "shard {shard} is in both {before} and {}",
                part.path
            ));
        }
    }
    None
}

fn missing(parts: &[Part]) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(record) = parts.first().and_then(|part| part.manifest.origin.shard) {
        let of = record.shard.of();
        let there: BTreeSet<u32> = parts
            .iter()
            .filter_map(|part| Some(part.manifest.origin.shard?.shard.index()))
            .collect();
        let gone: Vec<String> = (1..=of)
            .filter(|index| !there.contains(index))
            .take(20)
            .map(|index| format!("{index}/{of}"))
            .collect();
        let seed = parts[0].manifest.plan.seed;
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
        if part.manifest.finished.is_none() {
            words.push(format!("{} was not finished", part.path));
        } else if part.samples.is_empty() {
            words.push(format!("{} has no samples", part.path));
        }
    }
    words
}
