use std::{collections::BTreeMap, path::Path};

use anyhow::Context;
use netbench_model::{ClientSettings, Failure, FailureClass, Manifest, Phase};
use netbench_runner::{Plan, Targets};
use netbench_store::{RunFolder, RunKind};

use super::settings::Settings;
use crate::kept;

/// The run that is to be gone on with.
pub(crate) fn earlier(path: &Path) -> anyhow::Result<(RunFolder, Manifest)> {
    kept::open_as(path, RunKind::Connect, "not a run of connect")
        .with_context(|| format!("cannot go on with {}", path.display()))
}

/// Everything that trials need, complete.
pub(crate) fn plan(
    settings: &Settings,
    client: ClientSettings,
    roots_pem: String,
    ground: &Targets,
    earlier: Option<&Manifest>,
) -> Plan {
    let sites = settings.over.file.sites.clone();
    let unreachable: BTreeMap<usize, Failure> = match ground {
        Targets::Lab(_) => BTreeMap::new(),
        Targets::Live(addresses) => addresses
            .iter()
            .zip(&sites)
            .enumerate()
            .filter(|(_, (address, _))| address.is_none())
            .map(|(i, (_, site))| (i, unresolved(site.host.as_str())))
            .collect(),
    };
    Plan {
        seed: settings.over.seed,
        stacks: settings.stacks.clone(),
        conditions: settings.conditions.clone(),
        rounds: settings.rounds,
        jobs: settings.jobs,
        target: settings.target,
        shard: settings.over.shard,
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
