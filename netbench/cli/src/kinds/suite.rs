use std::sync::Arc;

use netbench_model::{Plan, StackName, SuiteManifest, SuitePlan, SuiteSample};
use netbench_report::{SuiteSummary, summarize_suite};
use netbench_store::RunFolder;

use super::{Holds, KindOfRun, Listed, row};
use crate::stored::wrong;

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: SuitePlan::KIND,
    read: |folder| Ok(Box::new(StoredSuite::read(folder)?)),
    list: row::<SuitePlan>,
    merge: None,
    holds: Holds::Files(&[]),
};

/// A run of the suite.
pub(crate) struct StoredSuite {
    pub(crate) manifest: SuiteManifest,
    pub(crate) summary: Arc<SuiteSummary>,
}

impl StoredSuite {
    pub(crate) fn read(folder: &RunFolder) -> anyhow::Result<Self> {
        let manifest = folder.manifest().map_err(wrong)?;
        let samples: Vec<SuiteSample> = folder.records().map_err(wrong)?;
        Ok(Self {
            summary: Arc::new(summarize_suite(&manifest, &samples)),
            manifest,
        })
    }
}

impl Listed for SuitePlan {
    type Record = SuiteSample;

    fn stacks(&self) -> Vec<StackName> {
        self.stacks.clone()
    }

    fn cases(&self) -> u64 {
        self.scenarios.len() as u64
    }
}
