use std::collections::BTreeSet;

use netbench_model::{
    StackName,
    compat::{CompatManifest, CompatPlan},
};
use netbench_report::summarize_compat;

use super::{KindOfRun, Listed};
use crate::{
    commands::compat::{CompatRun, engines},
    cost::{self, Cost},
    stack_names::clients,
    stored::wrong,
};

pub(super) const KIND: KindOfRun = KindOfRun::of::<CompatRun>(|folder| {
    let manifest: CompatManifest = folder.manifest().map_err(wrong)?;
    let samples = folder.records().map_err(wrong)?;
    Ok(Box::new(summarize_compat(&manifest, samples)))
});

impl Listed for CompatPlan {
    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.cases.len() as u64
    }

    fn workers(&self) -> BTreeSet<String> {
        let mut workers = clients(&self.stacks);
        workers.extend(clients(&engines(self)));
        workers
    }

    fn cost(&self) -> Cost {
        cost::compat(self)
    }
}
