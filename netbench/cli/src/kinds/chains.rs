use netbench_compat::chains::reasons;
use netbench_model::{
    StackName,
    chains::{ChainsManifest, ChainsPlan},
};
use netbench_report::summarize_chains;

use super::{KindOfRun, Listed};
use crate::{
    commands::compat::chains::ChainsRun,
    cost::{self, Cost},
    stored::wrong,
};

pub(super) const KIND: KindOfRun = KindOfRun::of::<ChainsRun>(|folder| {
    let manifest: ChainsManifest = folder.manifest().map_err(wrong)?;
    let samples = folder.records().map_err(wrong)?;
    Ok(Box::new(summarize_chains(&manifest, samples, &reasons())))
});

impl Listed for ChainsPlan {
    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.cases.len() as u64
    }

    fn cost(&self) -> Cost {
        cost::chains(self)
    }
}
