use netbench_store::{RunFolder, RunKind, StoreError};

use crate::{
    args::Report,
    connect, evaluate,
    exit::{Ended, WrongInput},
    suite,
};

/// Makes the reports of a kept run again, from its samples.
pub(crate) fn report(options: &Report) -> anyhow::Result<Ended> {
    let wrong = |error: StoreError| WrongInput(error.to_string());
    let folder = RunFolder::open(&options.run).map_err(wrong)?;
    let compared = match folder.kind().map_err(wrong)? {
        RunKind::Connect => {
            let manifest = folder.manifest().map_err(wrong)?;
            connect::publish(&folder, &manifest, &options.output)?
        }
        RunKind::Suite => {
            let manifest = folder.manifest().map_err(wrong)?;
            suite::publish(&folder, &manifest, &options.output)?
        }
        RunKind::Evaluate => {
            let manifest = folder.manifest().map_err(wrong)?;
            let evaluation = evaluate::publish(&folder, manifest, &options.output)?;
            evaluate::answered(&evaluation)
        }
    };
    Ok(if compared {
        Ended::Well
    } else {
        Ended::NothingToCompare
    })
}
