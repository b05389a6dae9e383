use std::collections::{HashMap, HashSet};

use crate::{
    ConnectPlan, Manifest, Plan, Record, Role, Sample, ScanPlan, SuitePlan, SuiteSample,
    scan::{SiteOutcome, SiteScan},
};

/// A plan whose runs have records.
pub trait Recorded: Plan {
    /// The record of a run.
    type Record: Record;

    /// The part of a record that is needed to count it, read from the same file.
    type Counted: Record;

    /// Compares the records of a run with the plan.
    fn tally(&self, records: &[Self::Counted]) -> Tally;
}

/// Numbers of the records of a run compared with its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Number of records that the plan requires.
    pub planned: u64,
    /// Number of those records that exist, each counted once.
    pub taken: u64,
    /// Number of records that are not in the plan: of other sites, stacks or rounds.
    pub foreign: u64,
}

impl Tally {
    /// Returns the number of missing records.
    pub fn missing(&self) -> u64 {
        self.planned.saturating_sub(self.taken)
    }
}

impl<P: Recorded> Manifest<P> {
    /// Returns the number of records that a finished run lacks: they were lost, or do not count. An unfinished run
    /// lacks no records, because it does not claim to have them.
    pub fn missing(&self, records: &[P::Counted]) -> u64 {
        match self.finished {
            Some(_) => self.plan.tally(records).missing(),
            None => 0,
        }
    }
}

impl Recorded for ConnectPlan {
    type Record = Sample;
    type Counted = Sample;

    fn tally(&self, records: &[Sample]) -> Tally {
        let asked_for = self.asked_for();
        let own = |sample: &&Sample| asked_for.has(sample);
        let measured = |s: &&Sample| s.role == Role::Measured && s.outcome.counts();
        let taken: HashSet<_> = records
            .iter()
            .filter(own)
            .filter(measured)
            .map(Sample::key)
            .collect();
        let each_round = self.sites.len() * self.stacks.len() * self.conditions.len();
        Tally {
            planned: each_round as u64 * u64::from(self.rounds),
            taken: taken.len() as u64,
            foreign: records
                .iter()
                .filter(|sample| !asked_for.has(sample))
                .count() as u64,
        }
    }
}

/// The samples that a plan of `connect` requires.
pub struct AskedFor<'a> {
    plan: &'a ConnectPlan,
    sites: HashSet<String>,
}

impl ConnectPlan {
    /// Returns the samples that the plan requires.
    pub fn asked_for(&self) -> AskedFor<'_> {
        AskedFor {
            plan: self,
            sites: self.sites.iter().map(|site| site.name()).collect(),
        }
    }
}

impl AskedFor<'_> {
    /// Returns whether the plan requires the sample.
    pub fn has(&self, sample: &Sample) -> bool {
        let plan = self.plan;
        sample.round < plan.rounds
            && plan.conditions.contains(&sample.condition)
            && plan.stacks.contains(&sample.stack)
            && self.sites.contains(&sample.site)
    }
}

impl Recorded for SuitePlan {
    type Record = SuiteSample;
    type Counted = SuiteSample;

    /// Counts the records. The rounds of a scenario that ended when it was decided are those that it has.
    fn tally(&self, records: &[SuiteSample]) -> Tally {
        let mut rounds: HashMap<String, u32> = HashMap::new();
        for scenario in &self.scenarios {
            rounds.insert(scenario.to_string(), scenario.rounds_of_use(self.rounds));
        }
        let own = |sample: &&SuiteSample| {
            let asked = rounds.get(&sample.name).copied().unwrap_or(0);
            sample.round < asked && self.stacks.contains(&sample.stack)
        };
        let foreign = records.iter().filter(|sample| !own(sample)).count() as u64;
        let key =
            |sample: &'_ SuiteSample| (sample.name.clone(), sample.round, sample.stack.clone());
        let taken: HashSet<_> = records.iter().filter(own).map(key).collect();
        if self.until_decided {
            let mut seen: HashMap<&str, u32> = HashMap::new();
            for (name, round, _) in &taken {
                let last = seen.entry(name).or_default();
                *last = (*last).max(round + 1);
            }
            let seen: Vec<(String, u32)> = rounds
                .keys()
                .map(|name| (name.clone(), seen.get(name.as_str()).copied().unwrap_or(1)))
                .collect();
            for (name, last) in seen {
                let asked = rounds.entry(name).or_default();
                *asked = (*asked).min(last);
            }
        }
        let rounds: u64 = rounds.values().copied().map(u64::from).sum();
        Tally {
            planned: rounds * self.stacks.len() as u64,
            taken: taken.len() as u64,
            foreign,
        }
    }
}

impl Recorded for ScanPlan {
    type Record = SiteScan;
    type Counted = SiteOutcome;

    fn tally(&self, records: &[SiteOutcome]) -> Tally {
        let names: HashSet<String> = self.sites.iter().map(|site| site.name()).collect();
        let own = |scan: &&SiteOutcome| names.contains(&scan.site);
        let taken: HashSet<&str> = records
            .iter()
            .filter(own)
            .map(|scan| scan.site.as_str())
            .collect();
        Tally {
            planned: names.len() as u64,
            taken: taken.len() as u64,
            foreign: records.iter().filter(|scan| !own(scan)).count() as u64,
        }
    }
}
