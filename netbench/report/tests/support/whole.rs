//! Parts of an evaluation without losses, for the parts that a test does not concern, and parts with given
//! intervals.

use std::sync::{Arc, LazyLock};

use netbench_model::{
    Case, Condition, ConnectionSettings, Depth, EvaluationManifest, EvaluationPlan, FailureClass,
    Losses, LostSite, Measure, Part, PartRecord, PartState, Profile, StackName, Target,
    compat::Judgement, coverage,
};
use netbench_report::{
    CaseRow, ConnectSummary, Evaluation, EvaluationReport, FailureRow, Found, SuiteSummary,
};
use netbench_stats::{Basis, CASE_MARGIN, Change, Interval, UndecidedReason, Verdict};

use super::{
    made_parts,
    manifest::{manifest_of, session},
};

/// Returns the scan of these numbers of sites that both stacks reach, and that are lost.
pub fn losses(both: u64, lost: u64) -> Losses {
    let sites = (0..lost).map(|number| LostSite {
        site: format!("lost-{number}.example"),
        reason: "CBC only".to_owned(),
        detail: String::new(),
        confirmed: Some(true),
    });
    Losses {
        scanned: both + lost,
        both,
        lost: sites.collect(),
        ..Losses::default()
    }
}

/// Returns a connection of a stack to a site that failed in one of ten trials.
pub fn failure(site: &str, stack: &str, reason: &str) -> FailureRow {
    FailureRow {
        site: site.to_owned(),
        stack: StackName::new(stack),
        condition: Condition::Clean,
        class: FailureClass::Alert,
        reason: reason.to_owned(),
        detail: String::new(),
        failed: 1,
        trials: 10,
    }
}

/// Returns an evaluation of `new` in place of `old`, with the state of these parts.
pub fn run(parts: &[(&str, PartState)]) -> EvaluationManifest {
    let parts = parts.iter().map(|(name, state)| PartRecord {
        part: (*name).to_owned(),
        state: state.clone(),
        estimate_s: 10,
        took_s: Some(9),
        notes: Vec::new(),
    });
    EvaluationManifest {
        started: "2026-01-01T00:00:00Z".to_owned(),
        finished: Some("2026-01-01T00:05:00Z".to_owned()),
        name: "e".to_owned(),
        sessions: vec![session("netbench evaluate")],
        ..manifest_of(EvaluationPlan {
            from: StackName::new("old"),
            to: StackName::new("new"),
            depth: Depth::Quick,
            target: Target::Lab,
            sites_file: Some("mine.txt".to_owned()),
            urls: Vec::new(),
            connections: ConnectionSettings::default(),
            limit: None,
            sites: 101,
            client_use: netbench_model::ClientUse::default(),
            client_profile: Some(Profile::Library),
            link: None,
            seed: 1,
            workers: Vec::new(),
            browsers: Vec::new(),
            parts: parts.collect(),
        })
    }
}

/// Replaces the names of published stacks with those of artificial ones.
fn renamed(text: &str) -> String {
    text.replace("rustls-aws-lc", "new")
        .replace("openssl", "old")
}

pub fn runner() -> coverage::RunnerId {
    coverage::RunnerId {
        package: "boring-sys".to_owned(),
        version: "1".to_owned(),
        checksum: "0".to_owned(),
    }
}

/// Returns a matrix without losses.
pub fn matrix() -> coverage::Matrix {
    coverage::Matrix {
        runner: runner(),
        shims: vec!["old".to_owned(), "new".to_owned()],
        cells: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Returns the interval from `low` to `high`; `None` if `low` is 0.
fn interval(low: f64, high: f64) -> Option<Interval> {
    (low > 0.0).then_some(Interval {
        level: 0.99,
        low,
        high,
    })
}

fn paired(low: f64, high: f64, verdict: Verdict) -> Change {
    Change {
        ratio: if low > 0.0 { (low * high).sqrt() } else { high },
        basis: Basis::Pairs {
            pairs: 600,
            blocks: 30,
        },
        verdict,
        interval: interval(low, high),
        interval_single: interval(low, high),
    }
}

static CONNECTIONS: LazyLock<ConnectSummary> = LazyLock::new(|| {
    let text =
        include_str!("../../../../results/2026-11-28-203801-vm-connect-101-sites/summary.json");
    serde_json::from_str(&renamed(text)).unwrap()
});

/// Returns the published connections, with these intervals of their totals: a comparison for each.
pub fn connections(totals: &[(f64, f64)]) -> ConnectSummary {
    let mut summary = CONNECTIONS.clone();
    let comparison = summary.comparisons.remove(0);
    summary.comparisons.clear();
    for (low, high) in totals {
        let mut comparison = comparison.clone();
        for row in &mut comparison.phases {
            row.change = paired(*low, *high, Verdict::of(interval(*low, *high)));
        }
        summary.comparisons.push(comparison);
    }
    summary
}

/// A case of the suite, by its interval.
#[derive(Debug, Clone, Copy)]
pub struct MadeCase {
    pub part: Part,
    pub measure: Measure,
    /// The ends of the interval; with a `low` of 0 there is no interval.
    pub ends: (f64, f64),
    pub held_back: Option<UndecidedReason>,
}

impl MadeCase {
    pub fn handshake(low: f64, high: f64) -> Self {
        Self {
            part: Part::Handshake,
            measure: Measure::Client,
            ends: (low, high),
            held_back: None,
        }
    }

    pub fn receive(low: f64, high: f64) -> Self {
        Self {
            part: Part::Bulk,
            measure: Measure::Receive,
            ..Self::handshake(low, high)
        }
    }

    pub fn send(low: f64, high: f64) -> Self {
        Self {
            measure: Measure::Send,
            ..Self::receive(low, high)
        }
    }

    pub fn verify(low: f64, high: f64) -> Self {
        Self {
            part: Part::Verify,
            measure: Measure::Whole,
            ..Self::handshake(low, high)
        }
    }

    pub fn held_back(self, reason: UndecidedReason) -> Self {
        Self {
            held_back: Some(reason),
            ..self
        }
    }
}

static SUITE: LazyLock<SuiteSummary> = LazyLock::new(|| {
    let text =
        include_str!("../../../../results/2026-11-24-163528-vm-rustls-vs-openssl/summary.json");
    let mut suite: SuiteSummary = serde_json::from_str(&renamed(text)).unwrap();
    suite.warnings.clear();
    for case in &mut suite.cases {
        case.stacks
            .retain(|figures| ["old", "new"].contains(&figures.stack.as_str()));
        case.verdicts
            .retain(|verdict| verdict.other.as_str() == "new");
    }
    suite
});

/// Returns a run of the suite with these cases.
pub fn suite(cases: &[MadeCase]) -> SuiteSummary {
    let mut rows: Vec<CaseRow> = Vec::new();
    for made in cases {
        let [so_far, all] = [&rows, &SUITE.cases].map(|rows| {
            let rows = rows.iter();
            rows.filter(|row| row.part == made.part && row.case.measure == made.measure)
        });
        // The source run has no separate verification, and no memory.
        let alone = SUITE.cases.iter().map(|row| CaseRow {
            part: made.part,
            case: Case {
                measure: made.measure,
                ..row.case
            },
            ..row.clone()
        });
        let mut all: Vec<CaseRow> = match made.part {
            Part::Verify | Part::Memory => alone.collect(),
            _ => all.cloned().collect(),
        };
        let mut row = all.swap_remove(so_far.count());
        let verdict = &mut row.verdicts[0];
        let (low, high) = made.ends;
        verdict.undecided = made.held_back;
        verdict.change = paired(
            low,
            high,
            match made.held_back {
                Some(_) => Verdict::NotJudged,
                None => Verdict::beyond(interval(low, high), CASE_MARGIN),
            },
        );
        rows.push(row);
    }
    SuiteSummary {
        cases: rows,
        run: netbench_report::SuiteHead {
            stacks: [("old", "1"), ("new", "1")]
                .map(|(stack, library)| (StackName::new(stack), library.to_owned()))
                .to_vec(),
            ..SUITE.run.clone()
        },
        ..SUITE.clone()
    }
}

/// Returns findings that are these connections alone.
pub fn connected(connections: ConnectSummary) -> Found {
    Found {
        connections: Some(Arc::new(connections)),
        ..Found::default()
    }
}

/// Returns findings that are a run of the suite with these cases.
pub fn measured(cases: &[MadeCase]) -> Found {
    Found {
        suites: vec![Arc::new(suite(cases))],
        ..Found::default()
    }
}

/// Returns findings that are servers with these judgements.
pub fn compatible(judgements: &[Judgement]) -> Found {
    Found {
        compat: Some(Arc::new(made_parts::compat(judgements))),
        ..Found::default()
    }
}

/// Returns findings that are these sites.
pub fn scanned(losses: Losses) -> Found {
    Found {
        losses: Some(losses),
        ..Found::default()
    }
}

/// Returns the report of an evaluation without those of its parts.
pub fn report(evaluation: Evaluation) -> EvaluationReport {
    EvaluationReport {
        evaluation,
        parts: Vec::new(),
    }
}

/// Returns a suite in which the new stack takes less.
pub fn fast_suite() -> SuiteSummary {
    suite(&[MadeCase::handshake(0.5, 0.52), MadeCase::receive(0.9, 0.92)])
}

/// Returns the findings, completed with parts without losses.
pub fn complete(found: Found) -> Found {
    let suites = match found.suites.is_empty() {
        true => vec![Arc::new(fast_suite())],
        false => found.suites,
    };
    Found {
        matrix: found.matrix.or_else(|| Some(matrix())),
        losses: found.losses.or_else(|| Some(losses(101, 0))),
        connections: found
            .connections
            .or_else(|| Some(Arc::new(connections(&[(0.995, 1.005)])))),
        compat: found
            .compat
            .or_else(|| Some(Arc::new(made_parts::compat(&[Judgement::Right])))),
        suites,
        ..found
    }
}
