use netbench_model::coverage::{Coverage, FeatureRow, Half, Tally};
use netbench_model::{Depth, Losses, Target};

use super::{
    Cell, Figure, Item, KeptRun, Page, PageColumn, PageTable, Question, Section, coverage_chart,
    document_section, environment_section,
};
use crate::{
    Evaluation, evaluation,
    evaluation::document::{confirmed_words, state_words},
    text::plain,
};

/// The ids of the sections that only an evaluation has.
const SITES: &str = "sites";
const FEATURES: &str = "features";
const DIFFERENCE: &str = "difference";
const PARTS: &str = "parts";

/// Figures under a verdict; the sections have all of them.
const CARRYING: usize = 3;

/// The page of an evaluation. `runs` are those of its parts, as far as they were done.
pub fn page_of_evaluation(evaluation: &Evaluation, runs: &[KeptRun<'_>]) -> Page {
    let plan = &evaluation.run.plan;
    let about = format!(
        "{} in place of {}",
        plain(plan.to.as_str()),
        plain(plan.from.as_str())
    );
    let mut sections = Vec::new();
    sections.push(sites(evaluation));
    sections.extend(features(evaluation));
    let mut first_run = None;
    let mut machines = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let id = format!("{}-{}", run.kind(), number + 1);
        let heading = match run {
            KeptRun::Connect { .. } => "Connection time",
            KeptRun::Suite { summary, .. } if summary.run.preset.is_some() => {
                "In memory: data and handshakes"
            }
            KeptRun::Suite { .. } => "In memory: verification, connector, memory",
            KeptRun::Scan { .. } => "What the sites speak",
        };
        if matches!(run, KeptRun::Connect { .. }) {
            first_run.get_or_insert_with(|| id.clone());
        }
        machines.extend(run.machine());
        sections.push(run.section(&id, heading));
        sections.extend(run.explained(&id));
    }
    sections.push(parts(evaluation));
    sections.push(environment_section("machine", &machines));
    let leads = [Some(SITES.to_owned()), first_run.clone(), first_run];
    let questions = evaluation.questions.iter().zip(leads);
    Page {
        title: about.clone(),
        lead: lead(evaluation),
        made: made(evaluation),
        questions: questions
            .map(|(question, section)| asked(question, &about, section))
            .collect(),
        sections,
    }
}

fn asked(question: &evaluation::Question, about: &str, section: Option<String>) -> Question {
    let mut breaks: Vec<String> = question.breaks.iter().map(|line| plain(line)).collect();
    let missing = question.missing.iter();
    breaks.extend(missing.map(|line| format!("Not looked at: {}", plain(line))));
    Question {
        text: plain(&question.question),
        about: about.to_owned(),
        answer: question.answer,
        why: plain(&question.because),
        figures: question
            .figures
            .iter()
            .take(CARRYING)
            .map(|figure| Figure {
                value: plain(&figure.value),
                label: plain(&figure.label),
            })
            .collect(),
        breaks,
        section,
    }
}

fn lead(evaluation: &Evaluation) -> String {
    let plan = &evaluation.run.plan;
    let sites = match plan.target {
        Target::Lab => format!("{} emulated sites", plan.sites),
        Target::Live => format!("{} real sites", plan.sites),
    };
    let depth = match plan.depth {
        Depth::Quick => "the quick form: fewer rounds, wider intervals",
        Depth::Full => "the full form",
    };
    format!(
        "What would change for the users of a TLS client that switched from {} to {}, measured with netbench on {sites} \
         ({depth}).",
        plain(plan.from.as_str()),
        plain(plan.to.as_str())
    )
}

fn made(evaluation: &Evaluation) -> String {
    format!(
        "Made from {} (netbench {}, begun {}). This page is one file and asks for nothing from anywhere.",
        plain(&evaluation.run.name),
        plain(&evaluation.run.netbench),
        plain(&evaluation.run.started)
    )
}

fn sites(evaluation: &Evaluation) -> Section {
    let plan = &evaluation.run.plan;
    let (from, to) = (plan.from.as_str(), plan.to.as_str());
    let mut section = Section {
        id: SITES.to_owned(),
        heading: "Sites that a switch would lose".to_owned(),
        explanation: format!(
            "Each site is scanned for every version, suite, group and signature that it accepts; what {from} and {to} \
             offer is taken from their own ClientHellos. A site is lost where {from} can agree with it and {to} cannot. \
             Handshakes of both then check what was predicted."
        ),
        items: Vec::new(),
        missing: None,
    };
    let Some(losses) = &evaluation.found.losses else {
        section.missing = Some("No sites were scanned.".to_owned());
        return section;
    };
    section.items.push(Item::Headline(format!(
        "Of {} sites both can agree with {}, only {from} with {}, only {to} with {}, and neither with {}. {} handshakes went \
         as predicted, {} did not.",
        losses.scanned,
        losses.both,
        losses.lost.len(),
        losses.gained.len(),
        losses.neither,
        losses.confirmed,
        losses.contradicted.len()
    )));
    let contradicted = losses.contradicted.iter();
    section
        .items
        .extend(contradicted.map(|line| Item::Warning(plain(line))));
    if !losses.lost.is_empty() || !losses.gained.is_empty() {
        section.items.push(Item::Table(lost(losses, from, to)));
    }
    section
}

fn lost(losses: &Losses, from: &str, to: &str) -> PageTable {
    let row = |only: &str, site: &netbench_model::LostSite| {
        let confirmed = confirmed_words(site.confirmed);
        let cells = [&site.site, only, &site.reason, &site.detail, confirmed];
        cells.map(|text| Cell::words(plain(text))).to_vec()
    };
    let lost = losses.lost.iter().map(|site| row(from, site));
    let gained = losses.gained.iter().map(|site| row(to, site));
    PageTable {
        caption: "Sites that only one of the two can agree with".to_owned(),
        columns: [
            "site",
            "only",
            "reason",
            "detail",
            "confirmed by a handshake",
        ]
        .map(PageColumn::words)
        .to_vec(),
        rows: lost.chain(gained).collect(),
    }
}

fn features(evaluation: &Evaluation) -> Vec<Section> {
    let Some(coverage) = &evaluation.found.coverage else {
        return vec![Section {
            id: FEATURES.to_owned(),
            heading: "Features".to_owned(),
            explanation: "What each stack passes of BoringSSL's protocol tests.".to_owned(),
            items: Vec::new(),
            missing: Some("The protocol tests were not looked at.".to_owned()),
        }];
    };
    let mut section = document_section(
        FEATURES,
        "Features, by BoringSSL's protocol tests",
        coverage,
    );
    // The matrix takes the place of the report's tables.
    section.items.clear();
    let warnings = coverage.warnings.iter();
    section
        .items
        .extend(warnings.map(|line| Item::Warning(plain(line))));
    section.items.push(coverage_chart(coverage));
    for (half, caption) in [
        (Half::Works, "What works: tests that expect success"),
        (
            Half::Refuses,
            "What is refused as it must be: tests that expect failure",
        ),
    ] {
        section
            .items
            .push(Item::Table(matrix(coverage, half, caption)));
    }
    let mut sections = vec![section];
    if let Some(difference) = &evaluation.found.difference {
        let heading = "What one stack passes and the other does not";
        sections.push(document_section(DIFFERENCE, heading, difference));
    }
    sections
}

/// Feature × stack: the share that passed, with what it is a share of.
fn matrix(coverage: &Coverage, half: Half, caption: &str) -> PageTable {
    let mut columns = vec![PageColumn::words("feature")];
    for shim in &coverage.shims {
        columns.push(PageColumn::figures(&plain(&shim.shim), "%"));
        columns.push(PageColumn::words("passed / failed / unsupported"));
    }
    let cells = |tally: &Tally| {
        if tally.total() == 0 {
            return [Cell::words("–"), Cell::words("")];
        }
        let share = 100.0 * tally.passed as f64 / tally.total() as f64;
        let counts = format!(
            "{} / {} / {}",
            tally.passed, tally.failed, tally.unsupported
        );
        [
            Cell::figure(format!("{share:.0} %"), share),
            Cell::words(counts),
        ]
    };
    let row = |row: &FeatureRow| -> Vec<Cell> {
        let feature = Cell::words(plain(&row.feature));
        let tallies = row.half(half).iter().flat_map(cells);
        std::iter::once(feature).chain(tallies).collect()
    };
    let any = |row: &&FeatureRow| row.half(half).iter().any(|tally| tally.total() > 0);
    PageTable {
        caption: caption.to_owned(),
        columns,
        rows: coverage.features.iter().filter(any).map(row).collect(),
    }
}

fn parts(evaluation: &Evaluation) -> Section {
    let row = |part: &netbench_model::PartRecord| {
        let state = state_words(&part.state);
        let took = match part.took_s {
            Some(took_s) => Cell::figure(format!("{took_s} s"), took_s as f64),
            None => Cell::words("–"),
        };
        vec![Cell::words(plain(&part.part)), Cell::words(state), took]
    };
    let table = PageTable {
        caption: "Parts of this evaluation".to_owned(),
        columns: vec![
            PageColumn::words("part"),
            PageColumn::words("how far it came"),
            PageColumn::figures("took", "s"),
        ],
        rows: evaluation.run.plan.parts.iter().map(row).collect(),
    };
    let warnings = evaluation.warnings.iter();
    let warnings = warnings.map(|line| Item::Warning(plain(line)));
    let command = evaluation.run.sessions.first();
    let command = command.map_or_else(String::new, |session| session.command.join(" "));
    Section {
        id: PARTS.to_owned(),
        heading: "How it was done".to_owned(),
        explanation: format!(
            "Each part is a command of netbench in a process of its own. Seed {}. Command: {}",
            evaluation.run.plan.seed,
            plain(&command)
        ),
        items: std::iter::once(Item::Table(table))
            .chain(warnings)
            .collect(),
        missing: None,
    }
}
