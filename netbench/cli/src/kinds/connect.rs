use std::sync::Arc;

use netbench_model::{ConnectManifest, ConnectPlan, Plan, Sample, StackName};
use netbench_report::{ConnectSummary, summarize};
use netbench_store::RunFolder;

use super::{Holds, KindOfRun, Listed, row};
use crate::{merge, stored::wrong};

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: ConnectPlan::KIND,
    read: |folder| Ok(Box::new(StoredConnect::read(folder)?)),
    list: row::<ConnectPlan>,
    merge: Some(merge::connect::merge),
    holds: Holds::Files(&[]),
};

/// A run of `connect`.
pub(crate) struct StoredConnect {
    pub(crate) manifest: ConnectManifest,
    pub(crate) samples: Vec<Sample>,
    pub(crate) summary: Arc<ConnectSummary>,
}

impl StoredConnect {
    pub(crate) fn read(folder: &RunFolder) -> anyhow::Result<Self> {
        let manifest = folder.manifest().map_err(wrong)?;
        let samples: Vec<Sample> = folder.records().map_err(wrong)?;
        Ok(Self {
            summary: Arc::new(summarize(&manifest, &samples)),
            manifest,
            samples,
        })
    }
}

impl Listed for ConnectPlan {
    type Record = Sample;

    fn stacks(&self) -> Vec<StackName> {
        self.stacks.clone()
    }

    fn cases(&self) -> u64 {
        self.sites.len() as u64
    }
}
