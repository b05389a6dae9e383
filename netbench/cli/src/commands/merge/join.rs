use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{LinkRecord, Manifest, MergedRun, Origin, Sample, Site};

use super::{Part, groups::Group};
use crate::exit::WrongInput;

/// Joins groups to one run: sites in the order of the whole list, samples in the order of the plan.
///
/// Each group but the first gets rounds, ordinals and blocks of its own, so that two machines' samples
/// of one site are never taken for one another.
pub(super) fn join(
    groups: Vec<Group>,
    name: String,
) -> Result<(Manifest, Vec<Sample>), WrongInput> {
    let missing: Vec<String> = groups
        .iter()
        .flat_map(|group| group.missing.clone())
        .collect();
    let mut joined = Joined::default();
    for (number, group) in groups.into_iter().enumerate() {
        for part in group.parts {
            joined.add(number, part)?;
        }
    }
    joined
        .samples
        .sort_by_key(|sample| (sample.round, sample.trial, sample.session));
    let Some(mut manifest) = joined.manifest else {
        return Err(WrongInput("no runs".to_owned()));
    };
    manifest.name = name;
    manifest.plan.sites = joined.sites.into_values().collect();
    manifest.plan.rounds = joined.rounds;
    manifest.origin = Origin {
        vantage: String::new(),
        shard: None,
        merged: joined.merged,
    };
    manifest.warnings = joined.warnings;
    for what in missing {
        manifest.warnings.push(format!("joined with gaps: {what}"));
    }
    Ok((manifest, joined.samples))
}

#[derive(Default)]
struct Joined {
    /// Of the first part, with what the others add.
    manifest: Option<Manifest>,
    /// By their places in the whole list.
    sites: BTreeMap<usize, Site>,
    samples: Vec<Sample>,
    merged: Vec<MergedRun>,
    warnings: Vec<String>,
    rounds: u32,
    blocks: u32,
}

impl Joined {
    fn add(&mut self, group: usize, part: Part) -> Result<(), WrongInput> {
        let Part {
            path,
            manifest,
            samples,
        } = part;
        let wrong = |why: &str| WrongInput(format!("{path}: {why}"));
        let places = places(&manifest.origin, manifest.plan.sites.len())
            .ok_or_else(|| wrong("its sites are not those of its shard"))?;
        let run = self
            .run(group, &manifest)
            .ok_or_else(|| wrong("too many rounds or sessions"))?;
        let trials = places.whole * manifest.plan.stacks.len() as u64;
        let trials =
            trials * manifest.plan.conditions.len() as u64 * u64::from(manifest.plan.rounds);
        let first_trial = trials.saturating_mul(group as u64);

        let names: BTreeSet<String> = manifest.plan.sites.iter().map(Site::name).collect();
        for mut sample in samples {
            let known = sample.round < manifest.plan.rounds
                && sample.session < run.sessions
                && sample.trial < trials
                && names.contains(&sample.site)
                && manifest.plan.stacks.contains(&sample.stack);
            let block = run.first_block.checked_add(sample.block);
            let next = block.and_then(|block| block.checked_add(1));
            let (true, Some(block), Some(next)) = (known, block, next) else {
                return Err(wrong("it has a sample that is not of its plan"));
            };
            sample.block = block;
            sample.trial += first_trial;
            sample.round += run.first_round;
            sample.session += run.first_session;
            self.blocks = self.blocks.max(next);
            self.samples.push(sample);
        }
        self.rounds = self.rounds.max(run.first_round + manifest.plan.rounds);
        self.merged.push(run);
        for (place, site) in places.sites.into_iter().zip(&manifest.plan.sites) {
            self.sites.insert(place, site.clone());
        }
        self.take_manifest(manifest);
        Ok(())
    }

    /// Where the part's numbers begin in the joined run.
    fn run(&self, group: usize, manifest: &Manifest) -> Option<MergedRun> {
        let group = u32::try_from(group).ok()?;
        let first_round = group.checked_mul(manifest.plan.rounds)?;
        first_round.checked_add(manifest.plan.rounds)?;
        let first_session = self
            .merged
            .last()
            .map_or(0, |run| run.first_session + run.sessions);
        let sessions = u32::try_from(manifest.sessions.len()).ok()?;
        first_session.checked_add(sessions)?;
        Some(MergedRun {
            name: manifest.name.clone(),
            vantage: manifest.origin.vantage.clone(),
            seed: manifest.plan.seed,
            started: manifest.started.clone(),
            finished: manifest.finished.clone(),
            shard: manifest.origin.shard,
            first_session,
            sessions,
            first_round,
            first_block: self.blocks,
        })
    }

    fn take_manifest(&mut self, part: Manifest) {
        add_new(&mut self.warnings, part.warnings.clone());
        let Some(whole) = &mut self.manifest else {
            self.manifest = Some(Manifest {
                warnings: Vec::new(),
                ..part
            });
            return;
        };
        let changes = whole.environment.changes(&part.environment);
        add_new(&mut self.warnings, changes);
        whole.started = whole.started.clone().min(part.started);
        whole.finished = whole.finished.take().max(part.finished);
        add_new(&mut whole.workers, part.workers);
        whole.sessions.extend(part.sessions);
        join_links(&mut whole.link, part.link);
    }
}

/// Adds to `whole` what it does not have yet.
pub(super) fn add_new<T: PartialEq>(whole: &mut Vec<T>, part: Vec<T>) {
    for item in part {
        if !whole.contains(&item) {
            whole.push(item);
        }
    }
}

/// The worst of both, and the sum of what was counted. Digests of losses cannot be joined.
pub(super) fn join_links(whole: &mut LinkRecord, part: LinkRecord) {
    whole.checks.extend(part.checks);
    for (name, late) in part.lateness_ns {
        let worst = whole.lateness_ns.entry(name).or_default();
        *worst = late.max(*worst);
    }
    for (name, count) in part.packets {
        let sum = whole.packets.entry(name).or_default();
        *sum = sum.saturating_add(count);
    }
    whole.losses_sha256 = None;
}

pub(super) struct Places {
    /// How many sites the whole list has.
    pub(super) whole: u64,
    /// The places of the part's sites in it.
    pub(super) sites: Vec<usize>,
}

/// Of a run that has `count` sites; none where its shard has not as many.
pub(super) fn places(origin: &Origin, count: usize) -> Option<Places> {
    let Some(record) = origin.shard else {
        return Some(Places {
            whole: count as u64,
            sites: (0..count).collect(),
        });
    };
    let whole = record.whole_sites as usize;
    let fits = record.shard.places(whole).take(count + 1).count() == count;
    fits.then(|| Places {
        whole: whole as u64,
        sites: record.shard.places(whole).collect(),
    })
}
