use netbench_model::{
    Plan, StackName,
    ship::{ShipManifest, ShipPlan, ShipSample},
};
use netbench_report::summarize_ship;

use super::{Holds, KindOfRun, Listed, row};
use crate::{commands::ship::ShipSettings, pipeline::go_on, stored::wrong};

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: ShipPlan::KIND,
    read: |folder| {
        let manifest: ShipManifest = folder.manifest().map_err(wrong)?;
        let samples: Vec<ShipSample> = folder.records().map_err(wrong)?;
        Ok(Box::new(summarize_ship(&manifest, &samples)))
    },
    list: row::<ShipPlan>,
    run: go_on::<ShipSettings>,
    merge: None,
    compare: None,
    holds: Holds::Files(&[]),
};

impl Listed for ShipPlan {
    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        1
    }
}
