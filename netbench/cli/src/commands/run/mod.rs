//! `netbench run`: continues a run of any kind, by the plan in its manifest.

pub(crate) mod args;

use anyhow::Context;
use netbench_store::RunFolder;

use self::args::Run;
use crate::{exit::Ended, kinds, stored::wrong};

pub(crate) fn run(options: &Run) -> anyhow::Result<Ended> {
    let kind = RunFolder::open(&options.run)
        .map_err(wrong)
        .and_then(|folder| kinds::of(&folder))
        .with_context(|| format!("cannot continue {}", options.run.display()))?;
    (kind.run)(options)
}
