use netbench_model::{ConnectPlan, StackName};
use netbench_report::ConnectReport;
use netbench_store::RunFolder;

use super::{KindOfRun, Listed};
use crate::{
    commands::{connect::ConnectRun, runs::compare},
    cost::{self, Cost},
    merge,
    stored::wrong,
};

pub(super) const KIND: KindOfRun =
    KindOfRun::of::<ConnectRun>(|folder| Ok(Box::new(read(folder)?)))
        .merged_by(merge::connect::merge)
        .compared_by(compare::connect::compare);

pub(super) fn read(folder: &RunFolder) -> anyhow::Result<ConnectReport> {
    let manifest = folder.manifest().map_err(wrong)?;
    let samples = folder.records().map_err(wrong)?;
    Ok(ConnectReport::new(manifest, samples))
}

impl Listed for ConnectPlan {
    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.site_count()
    }

    fn cost(&self) -> Cost {
        cost::connect(self)
    }
}
