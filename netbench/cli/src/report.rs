use netbench_store::RunFolder;

use crate::{
    args::Report,
    exit::{Ended, WrongInput},
    output,
};

/// Makes the reports of a kept run again, from its samples.
pub(crate) fn report(options: &Report) -> anyhow::Result<Ended> {
    let wrong = |error: netbench_store::StoreError| WrongInput(error.to_string());
    let folder = RunFolder::open(&options.run).map_err(wrong)?;
    let manifest = folder.manifest().map_err(wrong)?;
    let compared = output::publish(&folder, &manifest, &options.output)?;
    Ok(if compared {
        Ended::Well
    } else {
        Ended::NothingToCompare
    })
}
