//! `netbench compat chains`: gives certificate chains to each stack's own verifier.

pub(crate) mod args;
mod bettertls;

use std::{
    collections::{BTreeSet, HashSet},
    ops::ControlFlow,
    time::Duration,
};

use jiff::Timestamp;
use netbench_compat::chains::{BETTERTLS, BetterTls, Chain, OWN, own};
use netbench_model::{
    Plan, StackName,
    chains::{ChainCase, ChainOutcome, ChainSample, ChainsManifest, ChainsPlan, SuiteOfChains},
};
use netbench_runner::chains::{Verifiers, verify_chains};

use self::{args::Chains, bettertls::bettertls};
use super::cases::Wanted;
use crate::{
    client::{Unstored, millis},
    cost::{Chains as ChainsToVerify, Consent, Cost},
    exit::{Ended, bail_input},
    output,
    pipeline::{self, Asked, Measured, Ready, Setup},
    progress::outcome_of,
    sites_file::sha256,
    stack_names::stack_names,
};

pub(super) fn chains(options: &Chains) -> anyhow::Result<Ended> {
    let settings = ChainsSettings::of_options(options)?;
    if options.list {
        output::write(settings.list().as_bytes())?;
        return Ok(Ended::Well);
    }
    let asked = Asked {
        own: &options.own,
        consent: Consent::Given,
        output: &options.output,
    };
    pipeline::start(settings, &options.stored_in, "chains", asked)
}

/// The approximate numbers of netbench's own chains and of all chains.
const ABOUT: [usize; 2] = [240, 9_800];

/// Returns the approximate time of a run with these options, without making any chain.
pub(super) fn time(options: &Chains) -> Duration {
    let is_own = |pattern: &String| pattern.starts_with("own/");
    let [own, all] = ABOUT;
    let is_own_alone = !options.case.is_empty() && options.case.iter().all(is_own);
    let cost = ChainsToVerify {
        chains: if is_own_alone { own } else { all },
        stacks: options.stacks.names().len(),
    };
    cost.cost().time
}

/// The user's options, read and validated.
pub(crate) struct ChainsSettings {
    chains: Vec<Chain>,
    plan: ChainsPlan,
}

impl ChainsSettings {
    fn of_options(options: &Chains) -> anyhow::Result<Self> {
        let wants = |suite: &str| {
            let begins = format!("{suite}/");
            let may_match = |pattern: &String| {
                let literal = pattern
                    .split(['*', '?', '[', '{'])
                    .next()
                    .unwrap_or_default();
                literal.starts_with(&begins) || begins.starts_with(literal)
            };
            options.case.is_empty() || options.case.iter().any(may_match)
        };
        let (mut chains, suites) = all(wants)?;
        let missing = suites.iter().find_map(|suite| suite.missing.as_deref());
        if let (true, Some(missing)) = (chains.is_empty(), missing) {
            bail_input!("there is no chain to verify: {missing}");
        }
        let names: Vec<&str> = chains.iter().map(|chain| &*chain.case.name).collect();
        let wanted = Wanted::of(
            "--case",
            &options.case,
            &names,
            "netbench compat chains --list",
        )?;
        chains.retain(|chain| wanted.takes(&chain.case.name));
        let plan = ChainsPlan {
            stacks: stack_names(&options.stacks.names()),
            suites,
            cases: chains.iter().map(|chain| chain.case.clone()).collect(),
            limit_ms: millis(options.timeout),
        };
        Ok(Self { chains, plan })
    }

    fn of_manifest(manifest: &ChainsManifest) -> anyhow::Result<Self> {
        let plan = manifest.plan.clone();
        let (mut chains, suites) = all(|name| {
            plan.suites
                .iter()
                .any(|suite| suite.name == name && suite.missing.is_none())
        })?;
        for then in plan.suites.iter().filter(|suite| suite.missing.is_none()) {
            let now = suites.iter().find(|suite| suite.name == then.name);
            if now.is_none_or(|now| (&now.version, &now.sha256) != (&then.version, &then.sha256)) {
                bail_input!(
                    "run {} cannot be continued: the chains of {} are not the same any more",
                    manifest.name,
                    then.name
                );
            }
        }
        let cases: HashSet<&ChainCase> = plan.cases.iter().collect();
        chains.retain(|chain| cases.contains(&chain.case));
        Ok(Self { chains, plan })
    }

    /// Returns a line for each chain: its name, and the expected verdict.
    fn list(&self) -> String {
        let cases = &self.plan.cases;
        let width = cases.iter().map(|case| case.name.len()).max();
        let width = width.unwrap_or_default();
        let line = |case: &ChainCase| format!("{:width$}  {}\n", case.name, case.due);
        cases.iter().map(line).collect()
    }
}

/// Returns the chains of the wanted suites, and the descriptions of these suites.
fn all(wants: impl Fn(&str) -> bool) -> anyhow::Result<(Vec<Chain>, Vec<SuiteOfChains>)> {
    let (mut chains, mut suites) = (Vec::new(), Vec::new());
    if wants(BETTERTLS) {
        let found = bettertls()?;
        suites.push(SuiteOfChains {
            name: BETTERTLS.to_owned(),
            version: BetterTls::version().to_owned(),
            sha256: found
                .as_ref()
                .ok()
                .map(|found| sha256(found.head.as_bytes())),
            missing: found.as_ref().err().cloned(),
        });
        match found {
            Ok(found) => chains.extend(found.chains),
            Err(missing) => note!("netbench: {missing}"),
        }
    }
    if wants(OWN) {
        suites.push(SuiteOfChains {
            name: OWN.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            // The suite's keys are new in every run.
            sha256: None,
            missing: None,
        });
        chains.extend(own(Timestamp::now()));
    }
    Ok((chains, suites))
}

impl Measured for ChainsSettings {
    type Plan = ChainsPlan;

    const UNIT: (&'static str, &'static str) = ("chain", "chains");

    fn of_run(manifest: &ChainsManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        unstored.refuse_certificate(&ChainsPlan::KIND)?;
        Self::of_manifest(manifest)
    }

    fn workers(&self) -> BTreeSet<String> {
        let names = self.plan.stacks.iter();
        names.map(|stack| stack.stack().to_owned()).collect()
    }

    fn cost(&self) -> Cost {
        ChainsToVerify {
            chains: self.chains.len(),
            stacks: self.plan.stacks.len(),
        }
        .cost()
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        _earlier: Option<&ChainsManifest>,
    ) -> anyhow::Result<Ready<'a, ChainsPlan>> {
        let (plan, workers) = (&self.plan, &setup.workers);
        Ok(Ready {
            plan: plan.clone(),
            checks: Vec::new(),
            measure: Box::new(move |folder, mut appender| {
                let earlier: Vec<ChainSample> = folder.records()?;
                let done: HashSet<(&str, &StackName)> = earlier
                    .iter()
                    .map(|sample| (sample.case.as_str(), &sample.stack))
                    .collect();
                let cost = self.cost();
                let left = cost.after(done.len() as u64).time;
                setup.progress.begin(cost.pieces, done.len() as u64, left);
                let verifiers = Verifiers {
                    workers,
                    limit: Duration::from_millis(plan.limit_ms),
                    stop: &setup.stop,
                };
                let wanted =
                    |stack: &StackName, chain: &Chain| !done.contains(&(&*chain.case.name, stack));
                let mut kept = Ok(());
                verify_chains(&verifiers, &plan.stacks, &self.chains, wanted, |sample| {
                    let is_broken = matches!(
                        sample.outcome,
                        ChainOutcome::Crash { .. } | ChainOutcome::Hang { .. }
                    );
                    kept = appender.append(&sample);
                    let told =
                        || format!("{}, {}: {}", sample.case, sample.stack, outcome_of(&sample));
                    setup.progress.sampled(told, is_broken, cost.each());
                    match &kept {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    }
                });
                Ok(kept?)
            }),
        })
    }
}
