use std::{collections::BTreeMap, path::Path};

use anyhow::Context;
use netbench_model::{ClientSettings, Failure, FailureClass, Manifest, Phase};
use netbench_runner::{Fleet, Ground, Plan};
use netbench_store::RunFolder;

use super::settings::Settings;
use crate::exit::WrongInput;

/// The run that is to be gone on with.
pub(crate) fn earlier(path: &Path) -> anyhow::Result<(RunFolder, Manifest)> {
    let cannot = || format!("cannot go on with {}", path.display());
    let wrong = |e: netbench_store::StoreError| WrongInput(e.to_string());
    let folder = RunFolder::open(path).map_err(wrong).with_context(cannot)?;
    let manifest = folder.manifest().map_err(wrong).with_context(cannot)?;
    Ok((folder, manifest))
}

/// Refuses to go on with other workers than the run was begun with: its samples would be of two
/// different things under one name.
pub(crate) fn same_workers(manifest: &Manifest, fleet: &Fleet) -> anyhow::Result<()> {
    for now in fleet.descriptions().map(|description| &description.record) {
        let then = manifest.workers.iter().find(|then| then.stack == now.stack);
        if then != Some(now) {
            return Err(WrongInput(format!(
                "run {} was begun with another worker of {} (now {}), so that it cannot go on",
                manifest.name, now.stack, now.library
            ))
            .into());
        }
    }
    Ok(())
}

/// Everything that trials need, complete.
pub(crate) fn plan(
    settings: &Settings,
    client: ClientSettings,
    roots_pem: String,
    ground: &Ground,
    earlier: Option<&Manifest>,
) -> Plan {
    let sites = settings.sites.sites.clone();
    let unreachable: BTreeMap<usize, Failure> = match ground {
        Ground::Lab(_) => BTreeMap::new(),
        Ground::Live(addresses) => addresses
            .iter()
            .zip(&sites)
            .enumerate()
            .filter(|(_, (address, _))| address.is_none())
            .map(|(i, (_, site))| (i, unresolved(site.host.as_str())))
            .collect(),
    };
    Plan {
        seed: settings.seed,
        stacks: settings.stacks.clone(),
        conditions: settings.conditions.clone(),
        rounds: settings.rounds,
        jobs: settings.jobs,
        target: settings.target,
        sites,
        client,
        roots_pem,
        timeout: settings.timeout,
        unreachable,
        session: earlier.map_or(0, |manifest| {
            u32::try_from(manifest.sessions.len()).unwrap_or(0)
        }),
    }
}

fn unresolved(host: &str) -> Failure {
    Failure {
        class: FailureClass::Resolve,
        reason: "not found".to_owned(),
        detail: format!("{host} did not resolve"),
        phase: Some(Phase::Dns),
        after_ns: None,
    }
}
