use netbench_model::{
    Plan, StackName,
    roots::{RootsManifest, RootsPlan},
};
use netbench_report::summarize_roots;

use super::{Holds, KindOfRun, Listed, row};
use crate::{commands::compat::roots::RootsSettings, pipeline::go_on, stored::wrong};

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: RootsPlan::KIND,
    read: |folder| {
        let manifest: RootsManifest = folder.manifest().map_err(wrong)?;
        let samples = folder.records().map_err(wrong)?;
        Ok(Box::new(summarize_roots(&manifest, samples)))
    },
    list: row::<RootsPlan>,
    run: go_on::<RootsSettings>,
    merge: None,
    compare: None,
    holds: Holds::Files(&[]),
};

impl Listed for RootsPlan {
    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.layouts.len() as u64
    }
}
