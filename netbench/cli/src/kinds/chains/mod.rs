//! `netbench compat chains`: gives certificate chains to each stack's own verifier.

mod bettertls;

use std::{collections::HashSet, time::Duration};

use clap::Args;
use jiff::Timestamp;
use netbench_compat::chains::{BETTERTLS, BetterTls, Chain, OWN, own, reasons};
use netbench_model::{
    Recorded, StackName,
    chains::{ChainCase, ChainOutcome, ChainSample, ChainsManifest, ChainsPlan, SuiteOfChains},
};
use netbench_report::{ChainsSummary, summarize_chains};
use netbench_runner::chains::{Verifiers, verify_chains};
use netbench_store::RunFolder;

use self::bettertls::bettertls;
use super::wanted::{keep, list};
use crate::{
    client::{Unstored, millis},
    cost::times,
    exit::{Ended, bail_input, cannot_continue},
    options::{Asked, Output, OwnWorkers, StackOptions, StoredIn, between},
    pipeline::{self, Listed, Measured, Session, Told},
    run,
    sites_file::sha256,
    stack_names::stack_names,
    stored,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench compat chains                      openssl and rustls-aws-lc
  netbench compat chains --stack openssl,rustls-ring,go
  netbench compat chains --case 'own/*'       netbench's own chains alone
  netbench compat chains --list               the chains, and what is due
  netbench compat chains --json | jq '.differences[] | {stack, reason, cases}'

BetterTLS' chains are made once by a small Go program, which fetches the module
github.com/Netflix/bettertls through the Go module proxy. Without Go, netbench's
own chains are verified all the same.";

#[derive(Debug, Args)]
pub(crate) struct Chains {
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// Verify only the chains whose names match; * and ? as in a shell
    #[arg(long, value_name = "GLOB")]
    pub(crate) case: Vec<String>,
    /// List the chains with what is due, and exit
    #[arg(long)]
    pub(crate) list: bool,

    /// Time a verifier has for one chain
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = between(Duration::from_millis(100), Duration::from_secs(60)), help_heading = "How")]
    pub(crate) timeout: Duration,
    #[command(flatten, next_help_heading = "How")]
    pub(crate) own: OwnWorkers,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The time of a chain on one core: three signatures, parsing its certificates, and writing a
/// sample.
const CHAIN: Duration = Duration::from_micros(700);

pub(super) fn chains(options: &Chains) -> anyhow::Result<Ended> {
    let plan = plan(options)?;
    if options.list {
        let cases = plan.cases.iter();
        return list(cases.map(|case| (case.name.as_str(), case.due.to_string())));
    }
    let asked = Asked::short(&options.own.worker, &options.output);
    pipeline::start::<ChainsRun>(run::manifest(plan), &options.stored_in, "chains", asked)
}

pub(crate) fn plan(options: &Chains) -> anyhow::Result<ChainsPlan> {
    let (mut chains, suites) = all(|suite| may_match(&options.case, &format!("{suite}/")))?;
    let missing = suites.iter().find_map(|suite| suite.missing.as_deref());
    if let (true, Some(missing)) = (chains.is_empty(), missing) {
        bail_input!("there is no chain to verify: {missing}");
    }
    let asked = ("netbench compat chains", "--case", &*options.case);
    keep(&mut chains, |chain| &chain.case.name, asked)?;
    Ok(ChainsPlan {
        stacks: stack_names(&options.stacks.names()),
        suites,
        cases: chains.into_iter().map(|chain| chain.case).collect(),
        limit_ms: millis(options.timeout),
    })
}

/// Returns whether there are no patterns, or one of them may match a name that begins so.
fn may_match(patterns: &[String], begins: &str) -> bool {
    let mut literals = patterns.iter().map(|pattern| {
        let end = pattern.find(['*', '?', '[', '{']);
        &pattern[..end.unwrap_or(pattern.len())]
    });
    patterns.is_empty()
        || literals.any(|literal| literal.starts_with(begins) || begins.starts_with(literal))
}

/// The chains of a plan.
pub(crate) struct ChainsRun(Vec<Chain>);

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

impl Listed for ChainsPlan {
    const UNIT: (&'static str, &'static str) = ("chain", "chains");
    const SHORTER: &'static str = "--case or fewer stacks";

    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.cases.len() as u64
    }

    fn time(&self) -> Duration {
        times(CHAIN, self.planned() as f64)
    }
}

impl Measured for ChainsRun {
    type Plan = ChainsPlan;
    type Report = ChainsSummary;

    fn read(folder: &RunFolder) -> anyhow::Result<ChainsSummary> {
        let (manifest, samples) = stored::contents(folder)?;
        Ok(summarize_chains(&manifest, samples, &reasons()))
    }

    fn open(run: &ChainsManifest, _: &Unstored) -> anyhow::Result<Self> {
        let plan = &run.plan;
        let there = plan.suites.iter().filter(|suite| suite.missing.is_none());
        let (mut chains, suites) = all(|name| there.clone().any(|suite| suite.name == name))?;
        for then in there {
            let now = suites.iter().find(|suite| suite.name == then.name);
            if now.is_none_or(|now| (&now.version, &now.sha256) != (&then.version, &then.sha256)) {
                let why = format!("the chains of {} are not the same any more", then.name);
                return Err(cannot_continue(&run.name, why));
            }
        }
        let cases: HashSet<&ChainCase> = plan.cases.iter().collect();
        chains.retain(|chain| cases.contains(&chain.case));
        Ok(Self(chains))
    }

    fn measure(self, session: Session<'_, ChainsPlan>) -> anyhow::Result<()> {
        let (plan, setup) = (&session.run.plan, session.setup);
        let earlier = session.earlier()?;
        let (done, mut keeper) = session.resume(&earlier);
        let verifiers = Verifiers {
            workers: &setup.workers,
            limit: Duration::from_millis(plan.limit_ms),
            stop: &setup.stop,
        };
        verify_chains(
            &verifiers,
            &plan.stacks,
            &self.0,
            |stack, chain| !done.contains(&(&*chain.case.name, stack)),
            |sample| keeper.keep(&sample),
        );
        Ok(keeper.end()?)
    }
}

impl Told for ChainSample {
    fn piece(&self) -> String {
        format!("{}, {}", self.case, self.stack)
    }

    fn failed(&self) -> bool {
        matches!(
            self.outcome,
            ChainOutcome::Crash { .. } | ChainOutcome::Hang { .. }
        )
    }
}
