use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use netbench_model::{CompressionRecord, ConnectManifest, ConnectPlan, Sample, Site};
use netbench_store::{RunFolder, StoreError};

use crate::{
    exit::WrongInput,
    merge::{Group, Merged, Part, Read, Whole, groups, name, parts, write},
    options::Merging,
};

/// Merges runs of `connect`: shards of one plan, or whole runs from several machines.
pub(super) fn merge(paths: &[PathBuf], merging: &Merging<'_>) -> anyhow::Result<RunFolder> {
    let groups = groups(parts::<ConnectPlan>(paths)?, merging.gaps)?;
    let (manifest, samples) = join(groups, name(merging.out)?)?;
    let samples = samples.into_iter().map(Ok);
    write(merging.out, manifest, samples, |_| Ok(()))
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

    fn read(folder: &RunFolder, manifest: &ConnectManifest) -> Result<Read<Self>, StoreError> {
        let samples: Vec<Sample> = folder.records()?;
        Ok(Read {
            missing: manifest.missing(&samples),
            lacks: samples.is_empty().then_some("samples"),
            records: samples,
        })
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
        compression: None,
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
    manifest.plan.compression = joined.compression;
    Ok((manifest, joined.samples))
}

struct Joined {
    whole: Whole<ConnectPlan>,
    /// The sites, by their positions in the whole list.
    sites: BTreeMap<usize, Site>,
    /// The sizes of the chains of all parts.
    compression: Option<CompressionRecord>,
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
        let samples = std::mem::take(&mut part.read.records);
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
        if let Some(compression) = part.manifest.plan.compression.clone() {
            let joined = self.compression.get_or_insert_default();
            joined.merge(compression);
        }
        self.whole.add(part.manifest);
        Ok(())
    }
}
