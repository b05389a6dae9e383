use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use netbench_model::{ConnectManifest, ConnectPlan, Sample, Site};
use netbench_store::{RunFolder, StoreError};

use super::{
    Merged, Merging, Part, Whole,
    groups::{Group, groups},
    name, parts,
    settings::text,
    write,
};
use crate::exit::WrongInput;

/// Merges runs of `connect`: shards of one plan, or whole runs from several machines.
pub(crate) fn merge(paths: &[PathBuf], merging: &Merging<'_>) -> anyhow::Result<RunFolder> {
    let groups = groups(parts::<ConnectPlan>(paths)?, merging.gaps)?;
    let (manifest, samples) = join(groups, name(merging.out)?)?;
    let samples = samples.into_iter().map(Ok);
    write(merging.out, manifest, samples, |_| Ok(()))
}

impl Merged for ConnectPlan {
    type Records = Vec<Sample>;
    type Extra = ();

    fn seed(&self) -> u64 {
        self.seed
    }

    fn sites(&self) -> &[Site] {
        &self.sites
    }

    fn records(folder: &RunFolder, _: &ConnectManifest) -> Result<Vec<Sample>, StoreError> {
        folder.records()
    }

    fn extra(_: &RunFolder) -> Result<(), StoreError> {
        Ok(())
    }

    fn missing(part: &Part<Self>) -> u64 {
        part.manifest.missing(&part.records)
    }

    fn lacks(part: &Part<Self>) -> Option<&'static str> {
        part.records.is_empty().then_some("samples")
    }

    /// The seed is not included: each whole run has its own.
    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("the conditions", text(&self.conditions)),
            ("the rounds", text(&self.rounds)),
            ("the trials at one time (--jobs)", text(&self.jobs)),
            ("the share of a core (--cpu)", text(&self.cpu_percent)),
            ("lab or --live", text(&self.target)),
            ("the sites file", text(&self.sites_sha256)),
            ("what clients offer", text(&self.client)),
            ("the trust roots", text(&self.roots.sha256)),
            ("the number of trust roots", text(&self.roots.count)),
            ("the time limit", text(&self.timeout_ms)),
            ("the pause", text(&self.pause_ms)),
            ("--connect-to", text(&self.connect_to)),
            ("the request", text(&self.request)),
            ("the client certificate", text(&self.client_certificate)),
        ]
    }
}

/// Joins sites in the order of the whole list and samples in the order of the plan.
///
/// Each group except the first gets new numbers of rounds, ordinals and blocks, so that samples of
/// one site from two machines stay distinct.
fn join(
    groups: Vec<Group<ConnectPlan>>,
    name: String,
) -> Result<(ConnectManifest, Vec<Sample>), WrongInput> {
    let missing: Vec<String> = groups
        .iter()
        .flat_map(|group| group.missing.clone())
        .collect();
    let mut joined = Joined {
        whole: Whole::new(),
        sites: BTreeMap::new(),
        samples: Vec::new(),
        rounds: 0,
        blocks: 0,
    };
    for (number, group) in groups.into_iter().enumerate() {
        for part in group.parts {
            joined.add(number, part)?;
        }
    }
    joined
        .samples
        .sort_by_key(|sample| (sample.round, sample.trial, sample.session));
    let mut manifest = joined.whole.manifest(name, &missing)?;
    manifest.plan.sites = joined.sites.into_values().collect();
    manifest.plan.rounds = joined.rounds;
    Ok((manifest, joined.samples))
}

struct Joined {
    whole: Whole<ConnectPlan>,
    /// The sites, by their positions in the whole list.
    sites: BTreeMap<usize, Site>,
    samples: Vec<Sample>,
    rounds: u32,
    blocks: u32,
}

impl Joined {
    fn add(&mut self, group: usize, mut part: Part<ConnectPlan>) -> Result<(), WrongInput> {
        let places = part.places()?;
        let numbers = u32::try_from(group).ok().and_then(|group| {
            let mut run = part.merged_run(self.whole.merged.last())?;
            run.first_round = group.checked_mul(part.manifest.plan.rounds)?;
            run.first_round.checked_add(part.manifest.plan.rounds)?;
            run.first_block = self.blocks;
            Some(run)
        });
        let run = numbers.ok_or_else(|| part.wrong("too many rounds or sessions"))?;
        let samples = std::mem::take(&mut part.records);
        let plan = &part.manifest.plan;
        let trials = places.whole * plan.stacks.len() as u64;
        let trials = trials * plan.conditions.len() as u64 * u64::from(plan.rounds);
        let first_trial = trials.saturating_mul(group as u64);

        let names: BTreeSet<String> = plan.sites.iter().map(Site::name).collect();
        for mut sample in samples {
            let known = sample.round < plan.rounds
                && sample.session < run.sessions
                && sample.trial < trials
                && names.contains(&sample.site)
                && plan.stacks.contains(&sample.stack);
            let block = run.first_block.checked_add(sample.block);
            let next = block.and_then(|block| block.checked_add(1));
            let (true, Some(block), Some(next)) = (known, block, next) else {
                return Err(part.wrong("it has a sample that is not of its plan"));
            };
            sample.block = block;
            sample.trial += first_trial;
            sample.round += run.first_round;
            sample.session += run.first_session;
            self.blocks = self.blocks.max(next);
            self.samples.push(sample);
        }
        self.rounds = self.rounds.max(run.first_round + plan.rounds);
        self.whole.merged.push(run);
        for (place, site) in places.sites.into_iter().zip(&plan.sites) {
            self.sites.insert(place, site.clone());
        }
        self.whole.add(part.manifest);
        Ok(())
    }
}
