//! `netbench suite`: measures the time that the libraries themselves take, in memory.

mod cases;
mod compare;
mod cost;
mod idle;
mod plan;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use netbench_model::{Case, PinRecord, Preset, StackName, SuiteManifest, SuiteOutcome, SuitePlan};
use netbench_report::{SuiteReport, decided, idle_reference};
use netbench_runner::{Materials, SuiteEvent, SuiteTrials, execute_suite};
use netbench_store::RunFolder;

pub(crate) use self::plan::{EXAMPLES, PartArg, Suite, plan};
use self::plan::{Pin, heap_library, permitted_layout, pin};
use crate::{
    client::Unstored,
    cost::{Piece, cores},
    exit::{Ended, cannot_continue},
    output,
    pipeline::{self, CompareRuns, Listed, Measured, Session, Setup},
    progress::Progress,
    run, stored,
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
    let manifest = SuiteManifest {
        thresholds: options.thresholds.collected(),
        ..run::manifest(plan)
    };
    pipeline::start::<SuiteRun>(manifest, &options.stored_in, name, asked)
}

impl Listed for SuitePlan {
    const UNIT: (&'static str, &'static str) = ("sample", "samples");
    const SHORTER: &'static str = "fewer --rounds or a --case";

    fn stacks(&self) -> &[StackName] {
        &self.stacks
    }

    fn cases(&self) -> u64 {
        self.scenarios.len() as u64
    }

    fn time(&self) -> Duration {
        cost::time(self)
    }
}

/// The certificates of a plan, and the library that counts allocations.
pub(crate) struct SuiteRun {
    materials: Materials,
    heap_library: Option<PathBuf>,
}

impl Measured for SuiteRun {
    type Plan = SuitePlan;
    type Report = SuiteReport;

    const COMPARE: Option<CompareRuns> = Some(compare::compare);

    fn read(folder: &RunFolder) -> anyhow::Result<SuiteReport> {
        let (manifest, samples) = stored::contents::<SuitePlan>(folder)?;
        Ok(SuiteReport::new(manifest, &samples))
    }

    fn open(run: &SuiteManifest, _: &Unstored) -> anyhow::Result<Self> {
        if let PinRecord::Core(core) = run.plan.pin {
            pin(Pin::Core(core))?;
        }
        let materials = Materials::of(&run.plan.scenarios)?;
        if run.has_begun() && run.plan.pki_sha256 != materials.sha256() {
            return Err(cannot_continue(
                &run.name,
                "it was started with other certificates",
            ));
        }
        Ok(Self {
            materials,
            heap_library: None,
        })
    }

    fn ready(&mut self, setup: &Setup, run: &mut SuiteManifest) -> anyhow::Result<()> {
        let layout = permitted_layout(&run.plan, &setup.workers, &setup.progress)?;
        if !run.has_begun() {
            run.plan.layout = layout;
            self.materials.sha256().clone_into(&mut run.plan.pki_sha256);
        } else if layout != run.plan.layout {
            let why = "it was started with a fixed layout of memory";
            return Err(cannot_continue(&run.name, why));
        }
        self.heap_library = heap_library(&run.plan, &setup.progress);
        Ok(())
    }

    fn measure(self, session: Session<'_, SuitePlan>) -> anyhow::Result<()> {
        let (plan, setup, folder) = (&session.run.plan, session.setup, session.folder);
        let trials = SuiteTrials {
            plan,
            workers: &setup.workers,
            stop: &setup.stop,
            materials: &self.materials,
            deadline: plan.budget().map(|budget| Instant::now() + budget),
            heap_library: self.heap_library,
            valgrind: in_path("valgrind"),
            jobs: cores().into(),
        };
        execute_suite(
            &trials,
            session.earlier()?,
            session.appender,
            plan.until_decided
                .then_some(&|samples, rounds| decided(plan, samples, rounds)),
            &|event| hear(&setup.progress, &event, plan),
        )?;
        if let Err(error) = idle::remember(idle_reference(&folder.records()?)) {
            let progress = &setup.progress;
            progress.stage(&format!("the idle level is not remembered: {error:#}"));
        }
        Ok(())
    }
}

/// Shows an event of the measurement in the progress.
fn hear(progress: &Progress, event: &SuiteEvent<'_>, plan: &SuitePlan) {
    match event {
        SuiteEvent::Begin { trials, done } => {
            progress.begin(*trials, *done, cost::left(plan, *done));
        }
        SuiteEvent::Sampled(sample) => {
            let (stack, scenario) = (&sample.stack, &sample.scenario);
            progress.ended(
                || format!("round {}, {scenario}, {stack}", sample.round + 1),
                matches!(sample.outcome, SuiteOutcome::Failed(_)),
                Piece::Done(cost::weight(plan, scenario)),
            );
        }
        SuiteEvent::Decided { saved, left } => {
            progress.change(|left| left.saturating_sub(*saved));
            progress.stage(&format!("decided; {left} scenarios are left"));
        }
        SuiteEvent::WorkerLost { stack, why } => progress.stage(&format!("{stack}: {why}")),
    }
}
