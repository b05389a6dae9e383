use std::collections::BTreeSet;

use netbench_model::{
    StackName,
    ship::{ShipManifest, ShipPlan, ShipSample},
};
use netbench_report::summarize_ship;

use super::{KindOfRun, Listed};
use crate::{
    commands::ship::ShipRun,
    cost::{self, Cost},
    stored::wrong,
};

pub(super) const KIND: KindOfRun = KindOfRun::of::<ShipRun>(|folder| {
    let manifest: ShipManifest = folder.manifest().map_err(wrong)?;
    let samples: Vec<ShipSample> = folder.records().map_err(wrong)?;
    Ok(Box::new(summarize_ship(&manifest, &samples)))
});

impl Listed for ShipPlan {
    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        1
    }

    fn workers(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn cost(&self) -> Cost {
        cost::ship(self)
    }
}
