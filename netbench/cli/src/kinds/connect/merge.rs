use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{CompressionRecord, ConnectManifest, ConnectPlan, MergedRun, Sample, Site};
use netbench_store::{RunFolder, StoreError};

use crate::{
    exit::WrongInput,
    merge::{Merged, Part, groups, name, parts, whole, whole_sites, write},
    options::Merge,
};

/// Merges runs of `connect`: shards of one plan, or whole runs from several machines. Sites are in the order of the whole
/// list, and samples in the order of the plan.
pub(super) fn merge(options: &Merge) -> anyhow::Result<RunFolder> {
    let (groups, missing) = groups(parts::<ConnectPlan>(&options.runs)?, options)?;
    let name = name(&options.out)?;
    let mut joined = Joined::default();
    for (number, parts) in groups.into_iter().enumerate() {
        for part in parts {
            joined.add(number, part)?;
        }
    }
    let mut samples = joined.samples;
    samples.sort_by_key(|sample| (sample.round, sample.trial, sample.session));
    let mut manifest = whole(joined.manifests, joined.merged, name, &missing)?;
    manifest.plan.sites = joined.sites.into_values().collect();
    manifest.plan.rounds = joined.rounds;
    manifest.plan.compression = joined.compression;
    write(&options.out, manifest, samples.into_iter().map(Ok), |_| {
        Ok(())
    })
}

impl Merged for ConnectPlan {
    type Records = Vec<Sample>;

    /// Each whole run has its own seed, and certificates with their own sizes.
    const MAY_DIFFER: &'static [&'static str] = &[
        "/seed",
        "/sites",
        "/sites_file",
        "/link",
        "/roots/source",
        "/compression",
    ];

    fn sites(&self) -> &[Site] {
        &self.sites
    }

    fn read(
        path: String,
        folder: &RunFolder,
        manifest: ConnectManifest,
    ) -> Result<Part<Self>, StoreError> {
        let records: Vec<Sample> = folder.records()?;
        Ok(Part {
            path,
            missing: manifest.missing(&records),
            lacks: records.is_empty().then_some("samples"),
            records,
            manifest,
        })
    }
}

#[derive(Default)]
struct Joined {
    manifests: Vec<ConnectManifest>,
    merged: Vec<MergedRun>,
    /// The sites, by their positions in the whole list.
    sites: BTreeMap<usize, Site>,
    /// The sizes of the chains of all parts.
    compression: Option<CompressionRecord>,
    samples: Vec<Sample>,
    rounds: u32,
    blocks: u32,
}

impl Joined {
    /// Adds a part of a group. Each group except the first gets new numbers of rounds, ordinals and blocks, which keep
    /// samples of one site from two machines distinct.
    fn add(&mut self, group: usize, mut part: Part<ConnectPlan>) -> Result<(), WrongInput> {
        let places = part.places()?;
        let numbers = u32::try_from(group).ok().and_then(|group| {
            let mut run = part.merged_run(self.merged.last())?;
            run.first_round = group.checked_mul(part.manifest.plan.rounds)?;
            run.first_round.checked_add(part.manifest.plan.rounds)?;
            run.first_block = self.blocks;
            Some(run)
        });
        let run = numbers.ok_or_else(|| part.wrong("too many rounds or sessions"))?;
        let samples = std::mem::take(&mut part.records);
        let plan = &part.manifest.plan;
        let trials = whole_sites(&part.manifest) * plan.stacks.len() as u64;
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
        self.merged.push(run);
        for (place, site) in places.into_iter().zip(&plan.sites) {
            self.sites.insert(place, site.clone());
        }
        if let Some(compression) = part.manifest.plan.compression.clone() {
            let joined = self.compression.get_or_insert_default();
            joined.merge(compression);
        }
        self.manifests.push(part.manifest);
        Ok(())
    }
}
