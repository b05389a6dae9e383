use netbench_model::{
    StackName,
    roots::{RootsManifest, RootsPlan},
};
use netbench_report::summarize_roots;

use super::{KindOfRun, Listed};
use crate::{
    commands::compat::roots::RootsRun,
    cost::{self, Cost},
    stored::wrong,
};

pub(super) const KIND: KindOfRun = KindOfRun::of::<RootsRun>(|folder| {
    let manifest: RootsManifest = folder.manifest().map_err(wrong)?;
    let samples = folder.records().map_err(wrong)?;
    Ok(Box::new(summarize_roots(&manifest, samples)))
});

impl Listed for RootsPlan {
    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.layouts.len() as u64
    }

    fn cost(&self) -> Cost {
        cost::roots(self)
    }
}
