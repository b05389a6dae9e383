//! `netbench runs merge`: merges stored runs of one kind into one that every other command reads.

pub(crate) mod args;

use netbench_store::RunFolder;

use self::args::Merge;
use crate::{
    exit::{Ended, bail_input},
    kinds::{self, Page},
    merge::{Gaps, Merging},
    stored::wrong,
};

pub(crate) fn merge(options: &Merge) -> anyhow::Result<Ended> {
    let mut kinds = Vec::new();
    for path in &options.runs {
        kinds.push(kinds::of(&RunFolder::open(path).map_err(wrong)?)?);
    }
    let merging = Merging {
        out: &options.out,
        gaps: if options.partial {
            Gaps::Allowed
        } else {
            Gaps::Refused
        },
    };
    for (path, kind) in options.runs.iter().zip(&kinds) {
        let path = path.display();
        if kind.merge.is_none() {
            let why = format!("{path}: runs of {} cannot be merged", kind.kind);
            bail_input!("{why}");
        }
        if kind.kind != kinds[0].kind {
            let why = format!(
                "{path}: a run of {}, where {} is one of {}: only runs of one kind are merged",
                kind.kind,
                options.runs[0].display(),
                kinds[0].kind
            );
            bail_input!("{why}");
        }
    }
    let Some(merge) = kinds.first().and_then(|kind| kind.merge) else {
        return Ok(Ended::NothingToCompare);
    };
    let folder = merge(&options.runs, &merging)?;
    kinds::publish(&folder, &options.output, Page::of_option(options.open))
}
