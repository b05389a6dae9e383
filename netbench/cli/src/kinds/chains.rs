use netbench_compat::chains::reasons;
use netbench_model::{
    Plan, StackName,
    chains::{ChainsManifest, ChainsPlan},
};
use netbench_report::summarize_chains;

use super::{Holds, KindOfRun, Listed, row};
use crate::{commands::compat::chains::ChainsSettings, pipeline::go_on, stored::wrong};

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: ChainsPlan::KIND,
    read: |folder| {
        let manifest: ChainsManifest = folder.manifest().map_err(wrong)?;
        let samples = folder.records().map_err(wrong)?;
        Ok(Box::new(summarize_chains(&manifest, samples, &reasons())))
    },
    list: row::<ChainsPlan>,
    run: go_on::<ChainsSettings>,
    merge: None,
    compare: None,
    holds: Holds::Files(&[]),
};

impl Listed for ChainsPlan {
    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.cases.len() as u64
    }
}
