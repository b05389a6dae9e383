//! `netbench suite`: measures the time that the libraries themselves take, in memory.

pub(crate) mod args;
mod cases;
mod idle;
mod settings;

use std::time::Instant;

use netbench_model::{Case, PinRecord, Plan, Preset, SuiteManifest, SuitePlan, SuiteSample};
use netbench_report::{decided, idle_reference};
use netbench_runner::{Materials, SuiteEvent, SuiteFeedback, SuiteTrials, execute_suite};

use self::args::{Pin, Suite};
pub(crate) use self::settings::plan;
use self::settings::{heap_library, permitted_layout, pin};
use crate::{
    client::Unstored,
    cost::{Trials, cores},
    exit::{Ended, bail_input},
    output,
    pipeline::{self, Measure, Measured, Planned, Setup},
    workers::in_path,
};

pub(crate) fn suite(options: &Suite) -> anyhow::Result<Ended> {
    let plan = plan(options)?;
    if options.list {
        let cases = plan.scenarios.iter().flat_map(|each| each.cases());
        let names: Vec<String> = cases.map(|case: Case| format!("{case}\n")).collect();
        output::write(names.concat().as_bytes())?;
        return Ok(Ended::Well);
    }
    let name = options.preset.map_or("suite", Preset::name);
    let asked = options.start.asked(&options.output, Unstored::default());
    let planned = Planned {
        thresholds: options.thresholds.collected(),
        ..plan.into()
    };
    pipeline::start::<SuiteRun>(planned, &options.stored_in, name, asked)
}

/// The certificates of a plan.
pub(crate) struct SuiteRun(Materials);

impl Measured for SuiteRun {
    type Plan = SuitePlan;

    const UNIT: (&'static str, &'static str) = ("sample", "samples");

    fn open(run: &SuiteManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        unstored.refuse_certificate(&SuitePlan::KIND)?;
        if let PinRecord::Core(core) = run.plan.pin {
            pin(Pin::Core(core))?;
        }
        let materials = Materials::of(&run.plan.scenarios)?;
        if run.has_begun() && run.plan.pki_sha256 != materials.sha256() {
            bail_input!(
                "run {} cannot be continued: it was started with other certificates",
                run.name
            );
        }
        Ok(Self(materials))
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        run: &mut SuiteManifest,
    ) -> anyhow::Result<Measure<'a, SuitePlan>> {
        let layout = permitted_layout(&run.plan, &setup.workers, &setup.progress)?;
        if !run.has_begun() {
            run.plan.layout = layout;
            self.0.sha256().clone_into(&mut run.plan.pki_sha256);
        } else if layout != run.plan.layout {
            bail_input!(
                "run {} cannot be continued: it was started with a fixed layout of memory",
                run.name
            );
        }
        let heap_library = heap_library(&run.plan, &setup.progress);
        Ok(Box::new(move |run, folder, appender| {
            let plan = &run.plan;
            let trials = SuiteTrials {
                plan,
                materials: &self.0,
                deadline: plan.budget().map(|budget| Instant::now() + budget),
                heap_library,
                valgrind: in_path("valgrind"),
                jobs: cores().into(),
            };
            let earlier: Vec<SuiteSample> = folder.records()?;
            let work = Trials::of(plan);
            let listener = |event: SuiteEvent<'_>| setup.progress.hear_suite(&event, &work);
            let feedback = |samples: &[SuiteSample], rounds: u32| decided(plan, samples, rounds);
            let feedback: Option<&SuiteFeedback<'_>> = if plan.until_decided {
                Some(&feedback)
            } else {
                None
            };
            let (workers, stop) = (&setup.workers, &setup.stop);
            execute_suite(
                &trials, workers, earlier, appender, feedback, &listener, stop,
            )?;
            if let Err(error) = idle::remember(idle_reference(&folder.records()?)) {
                let progress = &setup.progress;
                progress.stage(&format!("the idle level is not remembered: {error:#}"));
            }
            Ok(())
        }))
    }
}
