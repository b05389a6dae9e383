use netbench_link::TrialKey;
use netbench_model::{Condition, ConnectPlan, Role, ShardRecord};
use netbench_stats::{SplitMix, mix};

/// A site under one condition in one round: every stack, in direct succession, so that their circumstances are as
/// similar as possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The ordinal of its first trial; each further stack has the next one.
    pub first_trial: u64,
    /// The round.
    pub round: u32,
    /// The condition.
    pub condition: Condition,
    /// The site's index in the plan.
    pub site: usize,
    /// The site's index in the whole list, of which the plan may have a part.
    pub place: usize,
    /// Indices of the stacks, in the order in which they are tested.
    pub order: Vec<usize>,
}

impl Unit {
    /// Returns whether it starts fresh processes, and must therefore not be processed at the same time as units
    /// that do not.
    pub(crate) fn is_cold(&self) -> bool {
        self.condition == Condition::Cold
    }

    /// Returns whether the set-up is also measured step by step: on every tenth site.
    pub(crate) fn takes_steps(&self) -> bool {
        const EVERY: usize = 10;
        self.is_cold() && self.place.is_multiple_of(EVERY)
    }

    /// Returns the key from which the link draws losses: the same for every stack of the unit.
    pub fn key(&self, seed: u64, role: Role) -> TrialKey {
        let parts = [
            seed,
            u64::from(self.round),
            self.condition as u64,
            self.place as u64,
            role as u64,
        ];
        TrialKey(
            parts
                .into_iter()
                .fold(0x6e62_6b65_7931, |key, part| mix(key ^ mix(part))),
        )
    }
}

/// Returns every unit of the plan, shuffled within each round by the plan's seed. The cold ones of a round come
/// after all others: the one-time set-up of a process takes tens of milliseconds of CPU time, for which other
/// trials would wait.
///
/// A shard's units are those that a run of all sites would have, in the same order and with the same ordinals,
/// without those of the other shards.
pub fn schedule(plan: &ConnectPlan, shard: Option<ShardRecord>) -> Vec<Unit> {
    let whole = shard.map_or(plan.sites.len(), |part| part.whole_sites as usize);
    let places: Vec<usize> = match shard {
        Some(part) => part.shard.places(whole).collect(),
        None => (0..whole).collect(),
    };
    let sizes = (whole, plan.stacks.len());
    let all = shuffled(
        plan.seed ^ 0x6f72_6465_7231,
        plan.rounds,
        &plan.conditions,
        sizes,
    );
    all.into_iter()
        .filter_map(|unit| {
            let site = places.binary_search(&unit.place).ok()?;
            Some(Unit { site, ..unit })
        })
        .collect()
}

/// Returns every unit of some rounds over a number of sites with a number of clients, shuffled within each round, the
/// cold ones last.
pub(crate) fn shuffled(
    seed: u64,
    rounds: u32,
    conditions: &[Condition],
    (sites, clients): (usize, usize),
) -> Vec<Unit> {
    let mut random = SplitMix::new(mix(seed));
    let mut units = Vec::new();
    for round in 0..rounds {
        let mut these: Vec<(Condition, usize)> = conditions
            .iter()
            .flat_map(|condition| (0..sites).map(move |site| (*condition, site)))
            .collect();
        random.shuffle(&mut these);
        these.sort_by_key(|(condition, _)| *condition == Condition::Cold);
        for (condition, site) in these {
            let mut order: Vec<usize> = (0..clients).collect();
            random.shuffle(&mut order);
            units.push(Unit {
                first_trial: (units.len() * clients) as u64,
                round,
                condition,
                site,
                place: site,
                order,
            });
        }
    }
    units
}

/// Returns the random stream of one round of the suite.
pub(crate) fn round_order(seed: u64, round: u32) -> SplitMix {
    SplitMix::new(mix(seed ^ mix(u64::from(round) ^ 0x7375_6974_6531)))
}

#[cfg(test)]
mod tests {
    use netbench_model::{ClientSettings, Profile, Shard, Site};
    use serde_json::json;

    use super::*;

    fn plan(seed: u64) -> ConnectPlan {
        let sites = (0..20).map(|n| Site::new(format!("site{n}.example").parse().unwrap(), 443));
        let plan = json!({
            "seed": seed, "stacks": ["a", "b"], "conditions": ["clean", "cold"], "rounds": 3, "jobs": 1,
            "target": "lab", "sites_file": "", "sites_sha256": "", "sites": sites.collect::<Vec<_>>(),
            "client": ClientSettings::undecided(Profile::Default),
            "roots": {"source": "mozilla", "count": 0, "sha256": ""}, "timeout_ms": 1_000,
        });
        serde_json::from_value(plan).unwrap()
    }

    #[test]
    fn every_round_holds_every_case_and_stack_once() {
        let units = schedule(&plan(7), None);
        assert_eq!(units.len(), 3 * 2 * 20);
        for round in 0..3 {
            let mut cases: Vec<_> = units
                .iter()
                .filter(|unit| unit.round == round)
                .map(|unit| (unit.condition, unit.site))
                .collect();
            assert!(cases.is_sorted_by_key(|(condition, _)| *condition == Condition::Cold));
            cases.sort_unstable();
            cases.dedup();
            assert_eq!(cases.len(), 40);
        }
        for (index, unit) in units.iter().enumerate() {
            assert_eq!(unit.first_trial, 2 * index as u64);
            let mut order = unit.order.clone();
            order.sort_unstable();
            assert_eq!(order, [0, 1]);
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        assert_eq!(schedule(&plan(7), None), schedule(&plan(7), None));
        assert_ne!(schedule(&plan(7), None), schedule(&plan(8), None));
        let first = schedule(&plan(7), None)
            .iter()
            .filter(|unit| unit.order[0] == 0)
            .count();
        assert!(
            (40..=80).contains(&first),
            "{first} of 120 begin with the first stack"
        );
    }

    #[test]
    fn shards_have_the_units_of_the_whole_run() {
        let whole = plan(7);
        let mut joined = Vec::new();
        for index in 1..=3 {
            let shard = Shard::new(index, 3).unwrap();
            let places: Vec<usize> = shard.places(20).collect();
            let part = ConnectPlan {
                sites: places.iter().map(|i| whole.sites[*i].clone()).collect(),
                ..whole.clone()
            };
            let shard = ShardRecord {
                shard,
                whole_sites: 20,
            };
            for unit in schedule(&part, Some(shard)) {
                assert_eq!(part.sites[unit.site], whole.sites[unit.place]);
                joined.push(Unit {
                    site: unit.place,
                    ..unit
                });
            }
        }
        joined.sort_by_key(|unit| unit.first_trial);
        assert_eq!(joined, schedule(&whole, None));
    }

    #[test]
    fn losses_are_the_same_for_the_stacks_of_a_unit_and_no_other() {
        let units = schedule(&plan(7), None);
        let mut keys: Vec<u64> = units
            .iter()
            .map(|unit| unit.key(7, Role::Measured).0)
            .collect();
        keys.extend(units.iter().map(|unit| unit.key(7, Role::Prime).0));
        keys.extend(units.iter().map(|unit| unit.key(8, Role::Measured).0));
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }
}
