use netbench_model::{
    Plan, StackName,
    browser::{BrowserManifest, BrowserPlan, VisitSample},
};
use netbench_report::summarize_browser;

use super::{Holds, KindOfRun, Listed, row};
use crate::{commands::browser::BrowserSettings, pipeline::go_on, stored::wrong};

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: BrowserPlan::KIND,
    read: |folder| {
        let manifest: BrowserManifest = folder.manifest().map_err(wrong)?;
        let samples: Vec<VisitSample> = folder.records().map_err(wrong)?;
        Ok(Box::new(summarize_browser(&manifest, &samples)))
    },
    list: row::<BrowserPlan>,
    run: go_on::<BrowserSettings>,
    merge: None,
    compare: None,
    holds: Holds::Files(&[]),
};

impl Listed for BrowserPlan {
    fn stacks(&self) -> &[StackName] {
        &self.clients
    }

    fn cases(&self) -> u64 {
        self.sites.len() as u64
    }
}
