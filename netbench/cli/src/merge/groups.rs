use std::collections::{BTreeMap, BTreeSet};

use super::{Merged, Part};
use crate::{
    exit::{WrongInput, bail_input},
    options::Merge,
};

/// The runs that together completed the rounds of a plan once.
type Group<P> = Vec<Part<P>>;

/// Groups the runs that together completed the rounds of a plan once: one whole run, or its shards. Shards with the same
/// seed are one group; if such shards overlap, the shards with the same seed and vantage point are. Also returns
/// descriptions of the missing parts.
pub(crate) fn groups<P: Merged>(
    parts: Vec<Part<P>>,
    options: &Merge,
) -> Result<(Vec<Group<P>>, Vec<String>), WrongInput> {
    let mut groups = Vec::new();
    let mut by_seed: BTreeMap<u64, Vec<Part<P>>> = BTreeMap::new();
    for part in parts {
        match part.manifest.origin.shard {
            None => groups.push(vec![part]),
            Some(_) => by_seed.entry(part.seed()).or_default().push(part),
        }
    }
    for shards in by_seed.into_values() {
        if overlap(&shards).is_none() {
            groups.push(shards);
            continue;
        }
        let mut by_vantage: BTreeMap<String, Vec<Part<P>>> = BTreeMap::new();
        for part in shards {
            let vantage = part.manifest.origin.vantage.clone();
            by_vantage.entry(vantage).or_default().push(part);
        }
        for shards in by_vantage.into_values() {
            if let Some(why) = overlap(&shards) {
                bail_input!("{why}");
            }
            groups.push(shards);
        }
    }
    let mut gaps = Vec::new();
    for parts in &mut groups {
        parts.sort_by_key(|part| {
            let shard = part.manifest.origin.shard;
            shard.map(|record| record.shard.index())
        });
        gaps.extend(missing(parts));
    }
    if !options.partial && !gaps.is_empty() {
        bail_input!("{}; --partial merges the rest", gaps.join("; "));
    }
    Ok((groups, gaps))
}

/// Refuses a run that is given twice. Its name, start and place identify a run, even in a copy of
/// its folder.
pub(super) fn refuse_twice<P: Merged>(parts: &[Part<P>]) -> Result<(), WrongInput> {
    let mut seen = BTreeMap::new();
    for part in parts {
        let manifest = &part.manifest;
        let run = (&manifest.name, &manifest.started, part.seed());
        let place = (&manifest.origin.vantage, manifest.origin.shard);
        if let Some(before) = seen.insert((run, place), &part.path) {
            bail_input!("{before} and {} are the same run", part.path);
        }
    }
    Ok(())
}

/// Describes two runs with the same shard, or shards of different numbers of shards, which overlap
/// too.
fn overlap<P: Merged>(shards: &[Part<P>]) -> Option<String> {
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

fn missing<P: Merged>(parts: &[Part<P>]) -> Vec<String> {
    let mut words = Vec::new();
    let shards = parts.iter().filter_map(|part| part.manifest.origin.shard);
    let there: BTreeSet<u32> = shards.clone().map(|record| record.shard.index()).collect();
    if let (Some(first), Some(record)) = (parts.first(), shards.clone().next()) {
        let of = record.shard.of();
        let gone: Vec<String> = (1..=of)
            .filter(|index| !there.contains(index))
            .take(20)
            .map(|index| format!("{index}/{of}"))
            .collect();
        let seed = first.seed();
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
        } else if let missing @ 1.. = part.missing {
            words.push(format!("{} lacks {missing} of its samples", part.path));
        } else if let Some(what) = part.lacks {
            words.push(format!("{} has no {what}", part.path));
        }
    }
    words
}
