use netbench_model::{ConnectPlan, Plan, StackName};
use netbench_report::ConnectReport;
use netbench_store::RunFolder;

use super::{Holds, KindOfRun, Listed, row};
use crate::{
    commands::{connect::ConnectSettings, runs::compare},
    merge,
    pipeline::go_on,
    stored::wrong,
};

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: ConnectPlan::KIND,
    read: |folder| Ok(Box::new(read(folder)?)),
    list: row::<ConnectPlan>,
    run: go_on::<ConnectSettings>,
    merge: Some(merge::connect::merge),
    compare: Some(compare::connect::compare),
    holds: Holds::Files(&[]),
};

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
}
