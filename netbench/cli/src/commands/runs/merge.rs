//! `netbench runs merge`: merges stored runs of one kind into one that every other command reads.

use crate::{
    exit::{Ended, bail_input},
    kinds,
    options::{Merge, Page},
    output,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench connect --seed 7 --shard 1/3 --name s1       2/3 and 3/3 elsewhere
  netbench runs merge runs/*-s1 runs/*-s2 runs/*-s3 --out runs/all
  netbench runs merge berlin/run tokyo/run --out runs/both

Shards with one seed become one run, as if one machine had measured all sites.
Runs of the same sites from several places become further rounds, which keep
the name of their vantage point.";

pub(crate) fn merge(options: &Merge) -> anyhow::Result<Ended> {
    let kind = kinds::of_all(&options.runs, "merged")?;
    let Some(merge) = kind.merge else {
        bail_input!(
            "{}: runs of {} cannot be merged",
            options.runs[0].display(),
            kind.kind
        );
    };
    let folder = merge(options)?;
    let report = (kind.read)(&folder)?;
    output::publish(
        &*report,
        &folder,
        &options.output,
        Page::of_option(options.open),
    )
}
