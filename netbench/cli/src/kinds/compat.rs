use netbench_model::{
    Plan, StackName,
    compat::{CompatManifest, CompatPlan},
};
use netbench_report::summarize_compat;

use super::{Holds, KindOfRun, Listed, row};
use crate::{commands::compat::CompatSettings, pipeline::go_on, stored::wrong};

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: CompatPlan::KIND,
    read: |folder| {
        let manifest: CompatManifest = folder.manifest().map_err(wrong)?;
        let samples = folder.records().map_err(wrong)?;
        Ok(Box::new(summarize_compat(&manifest, samples)))
    },
    list: row::<CompatPlan>,
    run: go_on::<CompatSettings>,
    merge: None,
    compare: None,
    holds: Holds::Files(&[]),
};

impl Listed for CompatPlan {
    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.cases.len() as u64
    }
}
