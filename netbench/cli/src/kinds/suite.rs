use netbench_model::{Plan, StackName, SuitePlan, SuiteSample};
use netbench_report::SuiteReport;
use netbench_store::RunFolder;

use super::{Holds, KindOfRun, Listed, row};
use crate::{
    commands::{runs::compare, suite::SuiteSettings},
    pipeline::go_on,
    stored::wrong,
};

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: SuitePlan::KIND,
    read: |folder| Ok(Box::new(read(folder)?)),
    list: row::<SuitePlan>,
    run: go_on::<SuiteSettings>,
    merge: None,
    compare: Some(compare::suite::compare),
    holds: Holds::Files(&[]),
};

pub(super) fn read(folder: &RunFolder) -> anyhow::Result<SuiteReport> {
    let manifest = folder.manifest().map_err(wrong)?;
    let samples: Vec<SuiteSample> = folder.records().map_err(wrong)?;
    Ok(SuiteReport::new(manifest, &samples))
}

impl Listed for SuitePlan {
    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.scenarios.len() as u64
    }
}
