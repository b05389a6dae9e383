//! `netbench ship`: builds a client with each stack, and measures its cost.

pub(crate) mod args;

use std::{
    collections::{BTreeSet, HashSet},
    path::Path,
    sync::atomic::Ordering,
    time::Duration,
};

use anyhow::Context;
use netbench_model::{
    Plan, SCHEMA_VERSION, StackName,
    ship::{ShipManifest, ShipOutcome, ShipPlan, ShipSample},
    suggestion,
};
use netbench_ship::{
    BUILT_IN_LOCK, Project, Reuse, ShipError, Toolchain, lock_sha256, providers_of_lock,
};
use netbench_stacks::{ShipStack, ship_stacks};

use self::args::Ship;
use crate::{
    cache,
    client::Unstored,
    cost::{Consent, Cost},
    exit::{Ended, WrongInput, bail_input},
    options::OwnWorkers,
    output,
    pipeline::{self, Asked, Measured, Ready, Setup},
    progress::outcome_of,
    user_file::read_text,
};

/// The name of netbench's own lock file in reports.
const BUILT_IN: &str = "built-in";

/// The time of a build on two cores. OpenSSL takes twice as long, ring half.
const BUILD: Duration = Duration::from_secs(90);

/// The largest size of a Cargo.lock, in bytes.
const LONGEST_LOCK: u64 = 16 << 20;

pub(crate) fn ship(options: &Ship) -> anyhow::Result<Ended> {
    let settings = ShipSettings::of_options(options)?;
    let asked = Asked {
        own: &OwnWorkers { worker: Vec::new() },
        consent: Consent::Given,
        output: &options.output,
    };
    pipeline::start(settings, &options.stored_in, "ship", asked)
}

/// The user's options, read and validated.
pub(crate) struct ShipSettings {
    plan: ShipPlan,
    stacks: Vec<&'static ShipStack>,
    lock: String,
    toolchain: Toolchain,
    reuse: Reuse,
}

impl ShipSettings {
    fn of_options(options: &Ship) -> anyhow::Result<Self> {
        let mut stacks: Vec<&ShipStack> = Vec::new();
        for name in options.stacks.names() {
            let stack = known(&name)?;
            if !stacks.contains(&stack) {
                stacks.push(stack);
            }
        }
        let name = options
            .lock
            .as_deref()
            .map(|path| path.display().to_string());
        let reuse = if options.fresh {
            Reuse::Nothing
        } else {
            Reuse::Earlier
        };
        Self::new(reuse, stacks, name.unwrap_or_else(|| BUILT_IN.to_owned()))
    }

    fn of_manifest(manifest: &ShipManifest) -> anyhow::Result<Self> {
        let plan = &manifest.plan;
        let stacks: anyhow::Result<_> = plan.stacks.iter().map(|s| known(s.as_str())).collect();
        let reuse = if plan.fresh {
            Reuse::Nothing
        } else {
            Reuse::Earlier
        };
        let settings = Self::new(reuse, stacks?, plan.lock.clone())?;
        for (what, is) in [
            ("Cargo.lock", settings.plan.lock_sha256 == plan.lock_sha256),
            ("cargo", settings.plan.cargo == plan.cargo),
            ("rustc", settings.plan.rustc == plan.rustc),
        ] {
            if !is {
                bail_input!(
                    "run {} cannot be continued: it was started with another {what}",
                    manifest.name
                );
            }
        }
        Ok(settings)
    }

    fn new(reuse: Reuse, stacks: Vec<&'static ShipStack>, lock: String) -> anyhow::Result<Self> {
        let text = match lock.as_str() {
            BUILT_IN => BUILT_IN_LOCK.to_owned(),
            file => read_lock(Path::new(file))?,
        };
        let toolchain = Toolchain::find(cache::folder("ship")?)
            .map_err(|error| WrongInput(error.to_string()))?;
        let plan = ShipPlan {
            stacks: stacks
                .iter()
                .map(|stack| StackName::new(&stack.name))
                .collect(),
            lock_providers: match lock.as_str() {
                // The built-in lock file contains the providers of every stack.
                BUILT_IN => Vec::new(),
                _ => providers_of_lock(&text),
            },
            lock_sha256: lock_sha256(&text),
            lock,
            cargo: toolchain.cargo_version.clone(),
            rustc: toolchain.rustc_version.clone(),
            fresh: reuse == Reuse::Nothing,
        };
        Ok(Self {
            plan,
            stacks,
            lock: text,
            toolchain,
            reuse,
        })
    }
}

fn known(name: &str) -> anyhow::Result<&'static ShipStack> {
    let stacks = ship_stacks().map_err(|error| WrongInput(error.to_string()))?;
    let found = stacks.iter().find(|stack| stack.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = stacks.iter().map(|stack| stack.name.as_str()).collect();
        let (shown, suggestion) = (output::shown(name), suggestion(name, &names));
        WrongInput(format!(
            "no client is built with the stack \"{shown}\"; {suggestion}"
        ))
        .into()
    })
}

/// Reads a Cargo.lock. A file of another kind is refused before anything is built.
fn read_lock(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let wrong = |why: String| WrongInput(format!("{shown}: {why}"));
    let text = read_text(path, LONGEST_LOCK).map_err(wrong)?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error
            .span()
            .map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        wrong(format!("line {line}: {}", error.message()))
    })?;
    if !table.contains_key("package") {
        return Err(wrong("not a Cargo.lock: it has no [[package]]".to_owned()).into());
    }
    Ok(text)
}

impl Measured for ShipSettings {
    type Plan = ShipPlan;

    const UNIT: (&'static str, &'static str) = ("build", "builds");

    fn of_run(manifest: &ShipManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        unstored.refuse_certificate(&ShipPlan::KIND)?;
        Self::of_manifest(manifest)
    }

    fn workers(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn cost(&self) -> Cost {
        let builds = u32::try_from(self.stacks.len()).unwrap_or(u32::MAX);
        Cost {
            time: BUILD.saturating_mul(builds),
            pieces: u64::from(builds),
            unit: "builds",
            shorter: "fewer stacks",
        }
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        _earlier: Option<&ShipManifest>,
    ) -> anyhow::Result<Ready<'a, ShipPlan>> {
        Ok(Ready {
            plan: self.plan.clone(),
            checks: Vec::new(),
            measure: Box::new(move |folder, mut appender| {
                let earlier: Vec<ShipSample> = folder.records()?;
                let built = |sample: &&ShipSample| matches!(sample.outcome, ShipOutcome::Built(_));
                let done: HashSet<&StackName> =
                    earlier.iter().filter(built).map(|s| &s.stack).collect();
                let cost = self.cost();
                let left = cost.after(done.len() as u64).time;
                setup.progress.begin(cost.pieces, done.len() as u64, left);
                for (name, stack) in self.plan.stacks.iter().zip(&self.stacks) {
                    if done.contains(name) || setup.stop.load(Ordering::Relaxed) {
                        continue;
                    }
                    let project = Project::new(stack, &self.lock);
                    let shipped = self
                        .toolchain
                        .ship(stack, &project, self.reuse, &setup.stop);
                    let outcome = match shipped {
                        Ok(shipped) => ShipOutcome::Built(Box::new(shipped)),
                        Err(ShipError::Stopped) => break,
                        Err(error) => ShipOutcome::Failed {
                            why: error.to_string(),
                        },
                    };
                    let failed = matches!(outcome, ShipOutcome::Failed { .. });
                    let sample = ShipSample {
                        schema: SCHEMA_VERSION,
                        stack: name.clone(),
                        outcome,
                    };
                    appender.append(&sample).context("cannot store a result")?;
                    let told = || format!("{}: {}", sample.stack, outcome_of(&sample));
                    setup.progress.sampled(told, failed, cost.each());
                }
                Ok(())
            }),
        })
    }
}
