//! `netbench suite`: measures the time that the libraries themselves take, in memory.

pub(crate) mod args;
mod cases;
mod idle;
mod settings;

use std::{collections::BTreeSet, time::Duration};

use netbench_model::{Case, Plan, SuiteManifest, SuitePlan, SuiteSample};
use netbench_report::{decided, idle_reference};
use netbench_runner::{SuiteEvent, SuiteFeedback, execute_suite};

use self::args::Suite;
pub(crate) use self::settings::SuiteSettings;
use crate::{
    client::Unstored,
    cost::Cost,
    exit::Ended,
    output,
    pipeline::{self, Measured, Ready, Setup},
};

pub(crate) fn suite(options: &Suite) -> anyhow::Result<Ended> {
    let settings = SuiteSettings::of_options(options)?;
    if options.list {
        let cases = settings.scenarios.iter().flat_map(|each| each.cases());
        let names: Vec<String> = cases.map(|case: Case| format!("{case}\n")).collect();
        output::write(names.concat().as_bytes())?;
        return Ok(Ended::Well);
    }
    let name = settings.name.clone();
    let asked = options.start.asked(&options.output);
    pipeline::start(settings, &options.stored_in, &name, asked)
}

/// Returns the predicted time of a run with these options.
pub(crate) fn time(options: &Suite) -> anyhow::Result<Duration> {
    Ok(SuiteSettings::of_options(options)?.cost().time)
}

impl Measured for SuiteSettings {
    type Plan = SuitePlan;

    const UNIT: (&'static str, &'static str) = ("sample", "samples");

    fn of_run(manifest: &SuiteManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        unstored.refuse_certificate(&SuitePlan::KIND)?;
        Self::of_manifest(manifest)
    }

    fn workers(&self) -> BTreeSet<String> {
        let names = self.stacks.iter().map(|stack| stack.stack().to_owned());
        names.collect()
    }

    fn cost(&self) -> Cost {
        self.trials().cost()
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        earlier: Option<&SuiteManifest>,
    ) -> anyhow::Result<Ready<'a, SuitePlan>> {
        let plan = self.plan(&setup.workers, &setup.progress)?;
        let record = earlier.map_or_else(|| self.record(&plan), |run| run.plan.clone());
        Ok(Ready {
            plan: record.clone(),
            checks: Vec::new(),
            measure: Box::new(move |folder, appender| {
                let earlier: Vec<SuiteSample> = folder.records()?;
                let work = self.trials();
                let listener = |event: SuiteEvent<'_>| setup.progress.hear_suite(&event, &work);
                let feedback =
                    |samples: &[SuiteSample], rounds: u32| decided(&record, samples, rounds);
                let feedback: Option<&SuiteFeedback<'_>> = if record.until_decided {
                    Some(&feedback)
                } else {
                    None
                };
                let (workers, stop) = (&setup.workers, &setup.stop);
                execute_suite(&plan, workers, earlier, appender, feedback, &listener, stop)?;
                if let Err(error) = idle::remember(idle_reference(&folder.records()?)) {
                    let progress = &setup.progress;
                    progress.stage(&format!("the idle level is not remembered: {error:#}"));
                }
                Ok(())
            }),
        })
    }
}
