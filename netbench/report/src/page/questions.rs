use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{Condition, Part, Phase, StackName, Target};
use netbench_stats::{Verdict, median};

use super::{Answer, Figure, Question, suite::short};
use crate::{
    CaseRow, Comparison, ConnectSummary, SuiteSummary,
    evaluation::{NO_MORE_THAN, of_lost, of_totals},
    suite::document::factor,
    text::{change, interval, plain},
};

/// What would break is told of so many things at most; the section has all of them.
const TOLD: usize = 6;

/// A question that nothing was measured for.
pub fn not_answered(text: &str, about: &str, why: &str) -> Question {
    Question {
        text: text.to_owned(),
        about: about.to_owned(),
        answer: Answer::Open,
        why: why.to_owned(),
        figures: Vec::new(),
        breaks: Vec::new(),
        section: None,
    }
}

/// Is it fast enough, by the total time of connections: a question for each stack but the first.
///
/// The rule is that of an evaluation, [`of_totals`].
pub fn fast_enough(summary: &ConnectSummary, section: &str) -> Vec<Question> {
    others(summary)
        .map(|(first, other)| {
            let about = in_place_of(other.as_str(), first.as_str());
            let comparisons: Vec<&Comparison> = summary
                .comparisons
                .iter()
                .filter(|comparison| comparison.other == *other)
                .collect();
            let mut question = not_answered(FAST, &about, "");
            question.section = Some(section.to_owned());
            answer_fast(&mut question, &comparisons);
            question
        })
        .collect()
}

const FAST: &str = "Is it fast enough?";

fn answer_fast(question: &mut Question, comparisons: &[&Comparison]) {
    let totals: Vec<(Condition, &crate::PhaseRow)> = comparisons
        .iter()
        .filter_map(|c| Some((c.condition, phase(c, Phase::Total)?)))
        .collect();
    let Some((condition, total)) = totals.first() else {
        question.why = "No pair of samples did the same work.".to_owned();
        return;
    };
    question.figures.push(Figure {
        value: change(total.paired.ratio),
        label: format!(
            "total time of a {condition} connection, the median over {} pairs ({})",
            total.paired.pairs,
            interval(total.paired.interval)
        ),
    });
    let cpu = comparisons.first().and_then(|c| phase(c, Phase::Cpu));
    if let Some(cpu) = cpu {
        question.figures.push(Figure {
            value: change(cpu.paired.ratio),
            label: format!("CPU time of the client ({})", interval(cpu.paired.interval)),
        });
    }
    question.answer = of_totals(totals.iter().map(|(_, row)| &row.paired));
    for (condition, row) in &totals {
        if row.paired.verdict == Verdict::Slower {
            question.breaks.push(format!(
                "{condition} connections take {} of total time",
                change(row.paired.ratio)
            ));
        }
    }
    let slow = slow_sites(comparisons);
    let more = slow.len().saturating_sub(TOLD);
    question.breaks.extend(slow.into_iter().take(TOLD));
    if more > 0 {
        question.breaks.push(format!("and {more} more sites"));
    }
    question.why = why_fast(comparisons, question.answer);
}

fn why_fast(comparisons: &[&Comparison], answer: Answer) -> String {
    let sites = comparisons.first().map(|comparison| {
        let tally = &comparison.sites;
        format!(
            "Of {} sites it is faster on {}, slower on {}, the same on {} and undecided on {}; about {:.1} would be \
             called different by chance.",
            tally.rows.len(),
            tally.other_faster,
            tally.first_faster,
            tally.same,
            tally.undecided,
            tally.expected_by_chance
        )
    });
    let rule = format!(
        "Fast enough: less than {:.0} % slower.",
        (NO_MORE_THAN - 1.0) * 100.0
    );
    let open = "The interval of the total reaches too far to say: more rounds would.".to_owned();
    let parts = [(answer == Answer::Open).then_some(open), sites, Some(rule)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Sites that are slower for certain, and by more than is fast enough.
fn slow_sites(comparisons: &[&Comparison]) -> Vec<String> {
    let mut slow = Vec::new();
    for comparison in comparisons {
        for row in comparison.sites.rows.iter().rev() {
            if row.paired.verdict == Verdict::Slower && row.paired.ratio >= NO_MORE_THAN {
                slow.push(format!(
                    "{}: {} ({})",
                    plain(&row.site),
                    change(row.paired.ratio),
                    comparison.condition
                ));
            }
        }
    }
    slow
}

fn phase(comparison: &Comparison, phase: Phase) -> Option<&crate::PhaseRow> {
    comparison.phases.iter().find(|row| row.phase == phase)
}

/// Each stack but the first, with the first.
fn others(summary: &ConnectSummary) -> impl Iterator<Item = (&StackName, &StackName)> {
    let mut seen = BTreeSet::new();
    summary
        .comparisons
        .iter()
        .filter(move |comparison| seen.insert(&comparison.other))
        .map(|comparison| (&comparison.first, &comparison.other))
}

fn in_place_of(other: &str, first: &str) -> String {
    format!("{other} in place of {first}")
}

/// Does it work: which sites answered the first stack and not the other. A question for each stack but
/// the first.
///
/// The rule is that of an evaluation, [`of_lost`], over sites of which some connection failed with the other
/// and none with the first.
pub fn works(summary: &ConnectSummary, section: &str) -> Vec<Question> {
    others(summary)
        .map(|(first, other)| {
            let about = in_place_of(other.as_str(), first.as_str());
            let mut question = not_answered(WORKS, &about, "");
            question.section = Some(section.to_owned());
            answer_works(&mut question, summary, first, other);
            question
        })
        .collect()
}

const WORKS: &str = "Does it work?";

fn answer_works(
    question: &mut Question,
    summary: &ConnectSummary,
    first: &StackName,
    other: &StackName,
) {
    let place = match summary.run.target {
        Target::Lab => "emulated sites",
        Target::Live => "real sites",
    };
    if summary.run.samples == 0 {
        question.why = "The run has no sample.".to_owned();
        return;
    }
    let failed = |stack: &StackName| {
        let mut sites: BTreeMap<&str, Vec<&crate::FailureRow>> = BTreeMap::new();
        for row in summary.failures.iter().filter(|row| row.stack == *stack) {
            sites.entry(&row.site).or_default().push(row);
        }
        sites
    };
    let (of_first, of_other) = (failed(first), failed(other));
    let lost: Vec<&Vec<&crate::FailureRow>> = of_other
        .iter()
        .filter(|(site, _)| !of_first.contains_key(*site))
        .map(|(_, rows)| rows)
        .collect();
    let gained = of_first.keys().filter(|site| !of_other.contains_key(*site));
    let both = of_other.len() - lost.len();
    question.figures.push(Figure {
        value: format!("{} of {}", lost.len(), summary.run.sites),
        label: format!("{place} fail with {other} and not with {first}"),
    });
    question.answer = of_lost(lost.len() as u64, summary.run.sites);
    question.why = format!(
        "Every connection of {} rounds counted. {both} sites failed with both stacks, {} with {first} alone. These \
         are the {place} of this run and no others.",
        summary.run.rounds,
        gained.count()
    );
    for rows in lost.iter().take(TOLD) {
        if let Some(row) = rows.first() {
            question.breaks.push(format!(
                "{}: {}, {} ({} of {} {} connections)",
                plain(&row.site),
                row.class,
                plain(&row.reason),
                row.failed,
                row.trials,
                row.condition
            ));
        }
    }
    if lost.len() > TOLD {
        let more = lost.len() - TOLD;
        question.breaks.push(format!("and {more} more sites"));
    }
}

/// Is it fast enough in memory, or does it take no more memory where nothing else was measured: a question for each stack but the first.
///
/// No: more than half of the decided cases are worse. With losses: some case is worse by
/// [`NO_MORE_THAN`] or more.
pub fn fast_in_memory(summary: &SuiteSummary, section: &str) -> Vec<Question> {
    let mut stacks = summary.run.stacks.iter().map(|(name, _)| name);
    let Some(first) = stacks.next() else {
        return Vec::new();
    };
    let sizes_alone = summary.cases.iter().all(|case| case.part == Part::Memory);
    let text = if sizes_alone {
        "Does it take no more memory?"
    } else {
        "Is it fast enough in memory?"
    };
    stacks
        .map(|other| {
            let about = in_place_of(other.as_str(), first.as_str());
            let mut question = not_answered(text, &about, "");
            question.section = Some(section.to_owned());
            answer_memory(&mut question, summary, other);
            question
        })
        .collect()
}

fn answer_memory(question: &mut Question, summary: &SuiteSummary, other: &StackName) {
    let ratio = |case: &CaseRow| {
        let verdict = case.verdicts.iter().find(|v| v.other == *other)?;
        Some((verdict.paired.ratio, verdict.paired.verdict))
    };
    let parts = [
        (Part::Handshake, "handshakes"),
        (Part::Bulk, "application data"),
        (Part::Memory, "memory"),
    ];
    for (part, words) in parts {
        let logs: Vec<f64> = summary
            .cases
            .iter()
            .filter(|case| case.part == part)
            .filter_map(|case| Some(ratio(case)?.0.ln()))
            .collect();
        if let Some(middle) = median(&logs)
            && question.figures.len() < 2
        {
            question.figures.push(Figure {
                value: factor(middle.exp()),
                label: format!(
                    "{words}: the median factor over {} cases; over 1 is in its favour",
                    logs.len()
                ),
            });
        }
    }
    let tally = summary.tally(other);
    let count = |name: &str| tally.get(name).copied().unwrap_or(0);
    let (better, worse) = (count("faster"), count("slower"));
    if better + worse + count("same") == 0 {
        question.why = "No case was decided: there are too few rounds.".to_owned();
        return;
    }
    let mut losses: Vec<(f64, &CaseRow)> = summary
        .cases
        .iter()
        .filter_map(|case| {
            let (ratio, verdict) = ratio(case)?;
            (verdict == Verdict::Slower && ratio >= NO_MORE_THAN).then_some((ratio, case))
        })
        .collect();
    losses.sort_by(|a, b| b.0.total_cmp(&a.0));
    question.answer = if worse * 2 > better + worse + count("same") {
        Answer::No
    } else if losses.is_empty() {
        Answer::Yes
    } else {
        Answer::WithLosses
    };
    question.why = format!(
        "Better in {better} cases, worse in {worse}, the same in {}, undecided in {}.{}",
        count("same"),
        count("undecided"),
        if summary.cases.iter().any(|case| case.part != Part::Memory) {
            " Without a network: what is lost or gained here is a small part of a connection's time."
        } else {
            ""
        }
    );
    for (ratio, case) in losses.iter().take(TOLD) {
        question.breaks.push(format!(
            "{}, {}: {}",
            case.part.name(),
            short(&case.name),
            factor(*ratio)
        ));
    }
    if losses.len() > TOLD {
        let more = losses.len() - TOLD;
        question.breaks.push(format!("and {more} more cases"));
    }
}
