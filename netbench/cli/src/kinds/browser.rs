use std::collections::BTreeSet;

use netbench_model::{
    StackName,
    browser::{BrowserManifest, BrowserPlan, VisitSample},
};
use netbench_report::summarize_browser;

use super::{KindOfRun, Listed};
use crate::{
    commands::browser::{BrowserRun, stacks},
    cost::{self, Cost},
    stack_names::clients,
    stored::wrong,
};

pub(super) const KIND: KindOfRun = KindOfRun::of::<BrowserRun>(|folder| {
    let manifest: BrowserManifest = folder.manifest().map_err(wrong)?;
    let samples: Vec<VisitSample> = folder.records().map_err(wrong)?;
    Ok(Box::new(summarize_browser(&manifest, &samples)))
});

impl Listed for BrowserPlan {
    fn stacks(&self) -> &[StackName] {
        &self.clients
    }

    fn cases(&self) -> u64 {
        self.sites.len() as u64
    }

    fn workers(&self) -> BTreeSet<String> {
        clients(stacks(self))
    }

    fn cost(&self) -> Cost {
        cost::browser(self)
    }
}
