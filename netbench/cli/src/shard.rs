//! `--shard`: the part of the sites that this machine measures, given by the user or by a scheduler.

use std::{env, str::FromStr};

use netbench_model::{Origin, Shard, ShardRecord, Site};
use netbench_report::count;

use crate::exit::{WrongInput, bail_input};

/// The number of pods of an Indexed Job, which Kubernetes does not set.
const COUNT: &str = "NETBENCH_SHARDS";

/// The number of a task of a Slurm array.
const SLURM: &str = "SLURM_ARRAY_TASK_ID";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShardArg {
    Given(Shard),
    /// The shard that a Kubernetes Indexed Job or a Slurm array has assigned to this process.
    Auto,
}

impl FromStr for ShardArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            text => text
                .parse()
                .map(Self::Given)
                .map_err(|error| format!("{error}; or auto")),
        }
    }
}

impl ShardArg {
    /// Returns the shard, which comes from the environment with `auto`.
    pub(crate) fn shard(self) -> Result<Shard, WrongInput> {
        match self {
            Self::Given(shard) => Ok(shard),
            Self::Auto => automatic(&|name| env::var(name).ok())
                .map_err(|why| WrongInput(format!("--shard auto: {why}"))),
        }
    }
}

/// Keeps only those of `sites` that belong to the shard.
pub(crate) fn cut(sites: &mut Vec<Site>, shard: Shard) -> Result<ShardRecord, WrongInput> {
    let whole = sites.len();
    if (shard.of() as usize) > whole {
        bail_input!(
            "--shard {shard}: the file has only {}, so that some shards would have none",
            count(whole, "site", "sites")
        );
    }
    keep_at(sites, shard.places(whole));
    Ok(ShardRecord {
        shard,
        whole_sites: u32::try_from(whole).unwrap_or(u32::MAX),
    })
}

/// Keeps only the sites at these places, which are in order.
pub(crate) fn keep_at(sites: &mut Vec<Site>, places: impl IntoIterator<Item = usize>) {
    let mut places = places.into_iter().peekable();
    let mut at = 0..sites.len();
    sites.retain(|_| {
        let at = at.next();
        places.next_if(|next| Some(*next) == at).is_some()
    });
}

/// Refuses a run that was never measured as one run, or whose manifest was edited: `sites` is the number of sites of
/// its plan.
pub(crate) fn may_go_on(name: &str, origin: &Origin, sites: usize) -> Result<(), WrongInput> {
    if !origin.merged.is_empty() {
        bail_input!("run {name} was merged from other runs; continue those and merge again");
    }
    let Some(part) = origin.shard else {
        return Ok(());
    };
    let due = part.shard.places(part.whole_sites as usize).count();
    if due == sites {
        Ok(())
    } else {
        bail_input!(
            "run {name} has {sites} sites, and not the {due} of shard {}",
            part.shard
        );
    }
}

/// Returns the shard from the scheduler's variables. A Slurm array counts from `SLURM_ARRAY_TASK_MIN` in steps of
/// `SLURM_ARRAY_TASK_STEP`, an Indexed Job from 0.
fn automatic(variable: &dyn Fn(&str) -> Option<String>) -> Result<Shard, String> {
    const KUBERNETES: &str = "JOB_COMPLETION_INDEX";
    let (slurm, kubernetes) = (number(variable, SLURM)?, number(variable, KUBERNETES)?);
    match (slurm, kubernetes) {
        (Some(_), Some(_)) => Err(format!("both {SLURM} and {KUBERNETES} are set")),
        (Some(task), None) => {
            let count = of_array(variable, "SLURM_ARRAY_TASK_COUNT")?;
            let first = of_array(variable, "SLURM_ARRAY_TASK_MIN")?;
            let last = of_array(variable, "SLURM_ARRAY_TASK_MAX")?;
            let step = number(variable, "SLURM_ARRAY_TASK_STEP")?;
            let step = step.unwrap_or(1).max(1);
            let regular = count > 0 && last.checked_sub(first) == (count - 1).checked_mul(step);
            let index = task.checked_sub(first).filter(|from| from % step == 0);
            match index {
                Some(index) if regular => Shard::new((index / step).saturating_add(1), count),
                _ => Err(format!(
                    "task {task} of an array of {count} from {first} to {last} in steps of {step}: \
                     the array must be regular, such as --array=1-{}",
                    count.max(1)
                )),
            }
        }
        (None, Some(index)) => {
            let count = number(variable, COUNT)?.ok_or_else(|| {
                format!("{KUBERNETES} is set, but {COUNT} is not; give it the job's completions")
            })?;
            Shard::new(index.saturating_add(1), count)
                .map_err(|why| format!("{KUBERNETES} is {index} and {COUNT} is {count}: {why}"))
        }
        (None, None) => Err(format!("neither {KUBERNETES} nor {SLURM} is set")),
    }
}

/// Returns a number that the scheduler sets for every task of a Slurm array.
fn of_array(variable: &dyn Fn(&str) -> Option<String>, name: &str) -> Result<u32, String> {
    number(variable, name)?.ok_or_else(|| format!("{SLURM} is set, but {name} is not"))
}

fn number(variable: &dyn Fn(&str) -> Option<String>, name: &str) -> Result<Option<u32>, String> {
    let Some(text) = variable(name) else {
        return Ok(None);
    };
    let number = text.parse().map(Some);
    number.map_err(|_| format!("{name} is \"{}\", which is no number", text.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variables, of which those of Slurm have short names, and the shard or the reason why there is none.
    const CASES: &str = "\
        ID=1 COUNT=3 MIN=1 MAX=3 => 1/3
        ID=3 COUNT=3 MIN=1 MAX=3 => 3/3
        ID=0 COUNT=3 MIN=0 MAX=2 => 1/3
        ID=4 COUNT=3 MIN=0 MAX=4 STEP=2 => 3/3
        ID=7 COUNT=3 MIN=1 MAX=7 => must be regular
        ID=0 COUNT=3 MIN=1 MAX=3 => must be regular
        ID=9 COUNT=3 MIN=1 MAX=3 => numbered from 1 to 3
        ID=1 COUNT=0 MIN=1 MAX=1 => must be regular
        ID=1 COUNT=4294967295 MIN=0 MAX=4294967294 => expected from 1
        ID=1 => COUNT is not
        ID=x => no number
        JOB_COMPLETION_INDEX=0 NETBENCH_SHARDS=3 => 1/3
        JOB_COMPLETION_INDEX=3 NETBENCH_SHARDS=3 => numbered from 1 to 3
        JOB_COMPLETION_INDEX=-1 NETBENCH_SHARDS=3 => no number
        JOB_COMPLETION_INDEX=1 => NETBENCH_SHARDS is not
        JOB_COMPLETION_INDEX=1 ID=1 => both
        OTHER=1 => neither";

    #[test]
    fn the_shard_comes_from_what_started_the_process() {
        for case in CASES.lines() {
            let (environment, expected) = case.split_once(" => ").unwrap();
            let found = automatic(&|name| {
                let name = name.strip_prefix("SLURM_ARRAY_TASK_").unwrap_or(name);
                let mut variables = environment.split_whitespace();
                variables
                    .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
                    .map(str::to_owned)
            });
            let found = found.map_or_else(|why| why, |shard| shard.to_string());
            assert!(found.contains(expected), "{environment}: {found}");
        }
    }

    #[test]
    fn what_is_given_by_hand_wins() {
        let given: ShardArg = "2/5".parse().unwrap();
        assert_eq!(given.shard().unwrap().to_string(), "2/5");
        assert_eq!("auto".parse(), Ok(ShardArg::Auto));
        let error = "half".parse::<ShardArg>().unwrap_err();
        assert!(error.contains("expected I/N") && error.contains("auto"));
    }
}
