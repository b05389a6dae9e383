use std::{collections::BTreeMap, path::Path};

use anyhow::Context;
use netbench_model::{ClientSettings, Failure, FailureClass, Manifest, Phase};
use netbench_runner::{Ground, Plan};
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
        shard: settings.shard,
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
