use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
};

use crate::{
    ConnectPlan, Manifest, Plan, Record, Role, Sample, SampleKey, ScanPlan, Site, StackName,
    SuitePlan, SuiteSample,
    scan::{SiteOutcome, SiteScan},
};

/// A plan whose runs have records.
pub trait Recorded: Plan {
    /// The record of a run.
    type Record: Record;

    /// The part of a record that is needed to count it, read from the same file.
    type Counted: Record;

    /// The identity of a record within a run.
    type Key<'a>: Eq + Hash;

    /// Returns the key of a record.
    fn key(record: &Self::Counted) -> Self::Key<'_>;

    /// Returns the number of records that the plan requires.
    fn planned(&self) -> u64;

    /// Returns a function that decides whether the plan requires a record.
    fn requires(&self) -> impl Fn(&Self::Counted) -> bool;

    /// Returns whether a record counts. A piece of work whose record does not count is repeated.
    fn counts(_record: &Self::Counted) -> bool {
        true
    }

    /// Returns the keys of the required records that exist and count.
    fn done<'a>(&self, records: &'a [Self::Counted]) -> HashSet<Self::Key<'a>> {
        let requires = self.requires();
        let required = records.iter().filter(|record| requires(record));
        required
            .filter(|record| Self::counts(record))
            .map(Self::key)
            .collect()
    }

    /// Compares the records of a run with the plan.
    fn tally(&self, records: &[Self::Counted]) -> Tally {
        let requires = self.requires();
        Tally {
            planned: self.planned(),
            taken: self.done(records).len() as u64,
            foreign: records.iter().filter(|record| !requires(record)).count() as u64,
        }
    }
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

    type Key<'a> = SampleKey<'a>;

    fn key(sample: &Sample) -> Self::Key<'_> {
        sample.key()
    }

    fn planned(&self) -> u64 {
        let each_round = self.sites.len() * self.stacks.len() * self.conditions.len();
        each_round as u64 * u64::from(self.rounds)
    }

    fn requires(&self) -> impl Fn(&Sample) -> bool {
        let sites: HashSet<String> = self.sites.iter().map(Site::name).collect();
        move |sample| {
            // Warm-ups are clean connections, whatever the run measures.
            let is_asked =
                sample.role == Role::Warmup || self.conditions.contains(&sample.condition);
            sample.round < self.rounds
                && is_asked
                && self.stacks.contains(&sample.stack)
                && sites.contains(&sample.site)
        }
    }

    fn counts(sample: &Sample) -> bool {
        sample.role == Role::Measured && sample.outcome.counts()
    }
}

impl Recorded for SuitePlan {
    type Record = SuiteSample;
    type Counted = SuiteSample;

    type Key<'a> = (&'a str, u32, &'a StackName);

    fn key(sample: &SuiteSample) -> Self::Key<'_> {
        (&sample.name, sample.round, &sample.stack)
    }

    fn planned(&self) -> u64 {
        let rounds = self
            .scenarios
            .iter()
            .map(|scenario| scenario.rounds_of_use(self.rounds));
        rounds.map(u64::from).sum::<u64>() * self.stacks.len() as u64
    }

    fn requires(&self) -> impl Fn(&SuiteSample) -> bool {
        let scenarios = self.scenarios.iter();
        let rounds: HashMap<String, u32> = scenarios
            .map(|scenario| (scenario.to_string(), scenario.rounds_of_use(self.rounds)))
            .collect();
        move |sample| {
            rounds
                .get(&sample.name)
                .is_some_and(|rounds| sample.round < *rounds)
                && self.stacks.contains(&sample.stack)
        }
    }

    /// Compares the records with the plan. The rounds of a scenario that ended when it was decided are those that it
    /// has.
    fn tally(&self, records: &[SuiteSample]) -> Tally {
        let requires = self.requires();
        let done = self.done(records);
        let mut last: HashMap<&str, u32> = HashMap::new();
        for (name, round, _) in &done {
            let last = last.entry(name).or_default();
            *last = (*last).max(round + 1);
        }
        let rounds = self.scenarios.iter().map(|scenario| {
            let planned = scenario.rounds_of_use(self.rounds);
            match last.get(scenario.to_string().as_str()) {
                _ if !self.until_decided => planned,
                Some(last) => planned.min(*last),
                None => planned.min(1),
            }
        });
        let rounds: u64 = rounds.map(u64::from).sum();
        Tally {
            planned: rounds * self.stacks.len() as u64,
            taken: done.len() as u64,
            foreign: records.iter().filter(|sample| !requires(sample)).count() as u64,
        }
    }
}

impl Recorded for ScanPlan {
    type Record = SiteScan;
    type Counted = SiteOutcome;

    type Key<'a> = &'a str;

    fn key(scan: &SiteOutcome) -> &str {
        &scan.site
    }

    fn planned(&self) -> u64 {
        self.sites.len() as u64
    }

    fn requires(&self) -> impl Fn(&SiteOutcome) -> bool {
        let sites: HashSet<String> = self.sites.iter().map(Site::name).collect();
        move |scan| sites.contains(&scan.site)
    }
}
