use netbench_model::{StackName, SuitePlan, SuiteSample};
use netbench_report::SuiteReport;
use netbench_store::RunFolder;

use super::{KindOfRun, Listed};
use crate::{
    commands::{runs::compare, suite::SuiteRun},
    cost::{self, Cost},
    stored::wrong,
};

pub(super) const KIND: KindOfRun = KindOfRun::of::<SuiteRun>(|folder| Ok(Box::new(read(folder)?)))
    .compared_by(compare::suite::compare);

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

    fn cost(&self) -> Cost {
        cost::suite(self)
    }
}
