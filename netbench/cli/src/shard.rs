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
    let mut places = shard.places(whole).peekable();
    let mut place = 0..whole;
    sites.retain(|_| {
        let at = place.next();
        places.next_if(|next| Some(*next) == at).is_some()
    });
    Ok(ShardRecord {
        shard,
        whole_sites: u32::try_from(whole).unwrap_or(u32::MAX),
    })
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

    fn slurm(id: &str, count: &str, min: &str, max: &str) -> String {
        format!(
            "SLURM_ARRAY_TASK_ID={id} SLURM_ARRAY_TASK_COUNT={count} \
             SLURM_ARRAY_TASK_MIN={min} SLURM_ARRAY_TASK_MAX={max}"
        )
    }

    #[test]
    fn the_shard_comes_from_what_started_the_process() {
        let cases = [
            (slurm("1", "3", "1", "3"), Ok("1/3")),
            (slurm("3", "3", "1", "3"), Ok("3/3")),
            (slurm("0", "3", "0", "2"), Ok("1/3")),
            (
                slurm("4", "3", "0", "4") + " SLURM_ARRAY_TASK_STEP=2",
                Ok("3/3"),
            ),
            (slurm("7", "3", "1", "7"), Err("must be regular")),
            (slurm("0", "3", "1", "3"), Err("must be regular")),
            (slurm("9", "3", "1", "3"), Err("numbered from 1 to 3")),
            (slurm("1", "0", "1", "1"), Err("must be regular")),
            (
                slurm("1", "4294967295", "0", "4294967294"),
                Err("expected from 1"),
            ),
            ("SLURM_ARRAY_TASK_ID=1".to_owned(), Err("COUNT is not")),
            ("SLURM_ARRAY_TASK_ID=x".to_owned(), Err("no number")),
            (
                "JOB_COMPLETION_INDEX=0 NETBENCH_SHARDS=3".to_owned(),
                Ok("1/3"),
            ),
            (
                "JOB_COMPLETION_INDEX=3 NETBENCH_SHARDS=3".to_owned(),
                Err("numbered from 1 to 3"),
            ),
            (
                "JOB_COMPLETION_INDEX=-1 NETBENCH_SHARDS=3".to_owned(),
                Err("no number"),
            ),
            (
                "JOB_COMPLETION_INDEX=1".to_owned(),
                Err("NETBENCH_SHARDS is not"),
            ),
            (
                "JOB_COMPLETION_INDEX=1 SLURM_ARRAY_TASK_ID=1".to_owned(),
                Err("both"),
            ),
            (String::new(), Err("neither")),
        ];
        for (environment, expected) in cases {
            let found = automatic(&|name| {
                let mut variables = environment.split_whitespace();
                variables
                    .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
                    .map(str::to_owned)
            });
            match (found, expected) {
                (Ok(shard), Ok(text)) => assert_eq!(shard.to_string(), text, "{environment}"),
                (Err(why), Err(text)) => assert!(why.contains(text), "{environment}: {why}"),
                (found, _) => panic!("{environment}: {found:?}"),
            }
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
