use std::{cmp::Reverse, collections::BTreeMap};

use itertools::Itertools;
use netbench_model::{
    Depth, EvaluationPlan, Losses, PartState, SwitchEffect, Target,
    coverage::{Coverage, Matrix},
};

use super::{
    Evaluation,
    advice::advice,
    browsers::switched,
    counts,
    finding::Severity,
    losses::contradicted,
    question::{Answer, Asked, Question, SHOWN, Subject},
};
use crate::{
    RunHead,
    bogo::{Lost, features_sections},
    cell::{Cell, Digits},
    document::{Check, CheckSuite, Checked, Document, Extent, Item, Place, Report, Section, Table},
    text::{count, in_place_of, places, profile_in_words, site_words, some_of},
};

/// The ids of the sections that only an evaluation has.
const SITES: &str = "sites";
const PARTS: &str = "parts";
const TO_DO: &str = "what-to-do";

/// Number of cases of a finding that its row names.
const NAMED_CASES: usize = 8;

/// Number of sites of one reason that are named with advice.
const NAMED: usize = 12;

/// An evaluation with the reports of its parts.
pub struct EvaluationReport {
    /// The evaluation.
    pub evaluation: Evaluation,
    /// The runs of its parts, as far as they were performed.
    pub parts: Vec<Box<dyn Report>>,
}

impl Report for EvaluationReport {
    fn tells(&self) -> bool {
        self.evaluation.tells()
    }

    fn passes(&self) -> bool {
        let mut questions = self.evaluation.questions.iter();
        questions.all(|question| question.answer != Answer::No)
    }

    fn document(&self, extent: Extent) -> Document<'_> {
        let evaluation = &self.evaluation;
        let run = &evaluation.run;
        let plan = &run.plan;
        let about = in_place_of(&[plan.from.as_str(), plan.to.as_str()]);
        let mut document = Document {
            lead: lead(evaluation),
            sentence: evaluation.sentence.clone(),
            sites: Some(plan.target),
            title: match switched(&plan.browsers) {
                None => format!("netbench evaluate: from {} to {}", plan.from, plan.to),
                Some((from, to)) => format!(
                    "netbench evaluate: from {from} ({}) to {to} ({})",
                    plan.from, plan.to
                ),
            },
            ..Document::of_run("evaluate", &RunHead::of(run), evaluation)
        };
        document
            .checks
            .push(checks(&evaluation.sentence, &evaluation.questions));
        document.checks.push(findings(evaluation));
        let mut reported = Told::default();
        for (number, part) in self.parts.iter().enumerate() {
            let mut part = part.document(extent);
            part.number(number + 1);
            let sections = reported.sections.entry(part.place).or_default();
            if part.place == Place::Connections && !sections.is_empty() {
                // These connections were repeated with the same settings.
                for section in &mut part.sections {
                    section.heading = format!("{}, with the same settings", section.heading);
                }
                reported.same_settings = part.sections.first().map(|section| section.id.clone());
            }
            sections.append(&mut part.sections);
            reported.questions.append(&mut part.questions);
            // Connections and suites are in the evaluation's own summary.
            if part.place == Place::Scans {
                let data = part.data.drain(..).map(|data| (part.kind, data));
                document.of_parts.extend(data);
            }
            document.checks.append(&mut part.checks);
            document.machines.append(&mut part.machines);
        }
        let to_do = to_do(evaluation);
        let questions = Subject::ALL.into_iter().zip(&evaluation.questions);
        document.questions = questions
            .map(|(subject, question)| Asked {
                subject,
                question: question.clone(),
                about: about.clone(),
                section: reported.details(subject),
                act: (subject == Subject::Supports && to_do.is_some()).then(|| TO_DO.to_owned()),
                warnings: reported.warnings(subject),
            })
            .collect();
        document.about = about;
        // The deciding results come first, and tests that involve no site last.
        let sections = &mut document.sections;
        sections.extend(to_do);
        for (at, question) in evaluation.questions.iter().enumerate() {
            sections.extend(all_changes(question, &format!("changes-{}", at + 1), None));
        }
        sections.push(sites(evaluation));
        if extent == Extent::Full {
            sections.extend(reported.sections.into_values().flatten());
        }
        sections.extend(features(evaluation, extent));
        sections.push(parts(evaluation));
        document
    }
}

/// Builds a check for each question with its answer: a no has failed, an open question is skipped, and losses are
/// named.
pub(super) fn checks<'a>(
    sentence: &str,
    questions: impl IntoIterator<Item = &'a Question>,
) -> CheckSuite {
    let checks = questions.into_iter().map(|question| {
        let why = question.because.clone();
        let said = format!("{}: {why}", question.answer.words());
        let outcome = match question.answer {
            Answer::Yes | Answer::WithLosses => Checked::Passed,
            Answer::No => Checked::failed(why, "no"),
            Answer::Open => Checked::skipped(why),
        };
        let check = Check::new(&question.question, outcome);
        check.of("decision").saying(said)
    });
    CheckSuite::new(sentence, checks)
}

/// Builds a check for each finding, in the order of the page: one that makes an answer worse has failed.
fn findings(evaluation: &Evaluation) -> CheckSuite {
    let findings = evaluation.questions.iter();
    let findings = findings.flat_map(|question| &question.findings);
    let checks = findings.map(|finding| {
        let outcome = match finding.severity {
            Severity::RefusedByBrowsersToo => Checked::Passed,
            severity => Checked::failed(&finding.advice, severity.words()),
        };
        Check::new(finding.line(), outcome).of(&finding.family)
    });
    CheckSuite::new("findings", checks)
}

/// The contents of the parts' own documents.
#[derive(Default)]
struct Told {
    sections: BTreeMap<Place, Vec<Section>>,
    /// The section about connections with the same settings for both.
    same_settings: Option<String>,
    questions: Vec<Asked>,
}

impl Told {
    fn of(&self, place: Place) -> impl Iterator<Item = &Section> {
        self.sections.get(&place).into_iter().flatten()
    }

    fn warnings(&self, subject: Subject) -> Vec<String> {
        let asked = self.questions.iter();
        let asked = asked.filter(|asked| asked.subject == subject);
        let warnings = asked.flat_map(|asked| &asked.warnings);
        warnings.unique().cloned().collect()
    }

    /// Returns the id of the section with the details of a question.
    fn details(&self, subject: Subject) -> Option<String> {
        let mut connections = self.of(Place::Connections).map(|section| &section.id);
        match subject {
            Subject::Supports => Some(SITES.to_owned()),
            Subject::Works => connections.next().cloned(),
            Subject::Fast => self.same_settings.as_ref().or(connections.next()).cloned(),
            Subject::Browsers => {
                let mut others = self.of(Place::Others);
                let details = others.find(|section| section.details_of == Some(subject))?;
                Some(details.id.clone())
            }
        }
    }
}

fn lead(evaluation: &Evaluation) -> String {
    let plan = &evaluation.run.plan;
    let sites = places(plan.target, plan.sites);
    let here = match plan.target {
        Target::Lab => " on this machine",
        Target::Loopback | Target::Live => "",
    };
    let profile = plan.client_profile.map(profile_in_words);
    let profile = profile.map_or_else(String::new, |words| format!(" {words}"));
    let depth = match plan.depth {
        Depth::Quick => "the quick form: fewer rounds and cases, wider intervals",
        Depth::Full => "the full form",
    };
    let switch = match switched(&plan.browsers) {
        None => format!(
            "a TLS client that switched from {} to {}",
            plan.from, plan.to
        ),
        Some((from, to)) => format!(
            "{from} that switched to {to}: of the TLS stack of the one, {}, and that of the other, {}, and of page loads",
            plan.from, plan.to
        ),
    };
    format!(
        "What would change for the users of {switch}, measured with netbench on {sites}{here} ({depth}).{profile}"
    )
}

/// Returns the section with all changes for the worse, or `None` if there is no more than the card shows. `shown_by` has the
/// number of evaluations that show each finding, and the number of all, if there are several.
pub(super) fn all_changes(
    question: &Question,
    id: &str,
    shown_by: Option<(&[u64], u64)>,
) -> Option<Section> {
    if question.findings.is_empty() {
        return None;
    }
    let table = Table::of(question.findings.iter().enumerate())
        .text("what changes", 0, |(_, finding)| &finding.family)
        .text("effect", 0, |(_, finding)| finding.severity.words())
        .text("share", 0, |(_, finding)| finding.share.words())
        .col_if(shown_by.map(|_| "evaluations"), 0, |(at, _)| {
            shown_by
                .and_then(|(shown_by, of)| Some(Cell::Of(*shown_by.get(*at)?, of)))
                .unwrap_or(Cell::Missing)
        })
        .text("who meets it", 2, |(_, finding)| &finding.meets)
        .text("shown by", 1, |(_, finding)| {
            some_of(NAMED_CASES, &finding.evidence)
        })
        .text("what to do", 0, |(_, finding)| &finding.advice)
        .text("source of the share", 3, |(_, finding)| {
            finding.share.source()
        });
    let mut items = vec![table.item()];
    items.extend(
        question
            .breaks
            .iter()
            .skip(SHOWN / 2)
            .map(|line| Item::Text(line.clone())),
    );
    let heading = format!("Everything that would be worse: {}", question.question);
    Some(Section::new(id, heading, items).explained(
        "Ranked by severity, then by the upper end of the share. Shares of sites, connections and certificates are compared as \
         they are; findings of which only a larger set was counted (≤) follow, and then those of an unknown share.",
    ))
}

/// Lists each reason for which sites are lost, with the remedies. Returns `None` if no site is lost.
fn to_do(evaluation: &Evaluation) -> Option<Section> {
    let plan = &evaluation.run.plan;
    let lost = &evaluation.found.losses.as_ref()?.lost;
    let by_reason = lost.iter().into_group_map_by(|site| site.reason.as_str());
    if by_reason.is_empty() {
        return None;
    }
    let rows = by_reason.into_iter();
    let rows = rows.sorted_by_key(|(reason, sites)| (Reverse(sites.len()), *reason));
    let rows = rows.map(|(reason, sites)| (reason, sites, advice(reason, &plan.to)));
    let table = Table::of(rows)
        .caption("what to do for each reason")
        .col(site_words(plan.target)[1], 0, |(_, sites, _)| {
            let named = sites.iter().map(|site| &site.site);
            Cell::text(format!("{}: {}", sites.len(), some_of(NAMED, named)))
        })
        .text("lost because", 0, |(reason, _, advice)| {
            format!("{reason}. {}", advice.why)
        })
        .text(&format!("in {}", plan.to), 0, |(.., advice)| advice.client)
        .text("on the server", 0, |(.., advice)| advice.server);
    Some(Section::new(TO_DO, "What to do about the sites that are lost", vec![table.item()]).explained(format!(
            "One row for each reason. Either side can help: {} by a setting, where it has one, or the site's operator. Look a \
             setting up in the library's documentation first: netbench has not tried it on your sites.",
            plan.to
        )))
}

fn sites(evaluation: &Evaluation) -> Section {
    let plan = &evaluation.run.plan;
    let (from, to) = (&plan.from, &plan.to);
    let (items, missing) = match &evaluation.found.losses {
        Some(losses) => (lost_and_gained(losses, plan), None),
        None => (Vec::new(), Some("No sites were scanned.")),
    };
    Section::new(SITES, "Sites that a switch would lose", items)
        .explained(format!(
            "Each site is scanned for every version, suite, group and signature that it accepts; what {from} and {to} \
             offer is taken from their own ClientHellos. A site is lost where {from} can agree with it and {to} cannot. \
             Handshakes of both then check what was predicted."
        ))
        .missing(missing)
}

/// Lists the sites with which only one of two stacks can agree.
fn lost_and_gained(losses: &Losses, plan: &EvaluationPlan) -> Vec<Item> {
    let (from, to) = (&plan.from, &plan.to);
    let counted = match losses.counted() {
        0 => format!("No site that {from} can agree with was compared."),
        of => format!(
            "Of {} that {from} can agree with, {to} can agree with {} and loses {}.",
            count(of, "site", "sites"),
            losses.both,
            losses.lost.len()
        ),
    };
    let gained = match losses.gained.len() {
        0 => String::new(),
        gained => format!(" Only {to} reaches {}.", count(gained, "site", "sites")),
    };
    let mut items = vec![Item::Headline(format!(
        "{counted}{gained} {} went as predicted, {} did not.",
        count(losses.confirmed, "handshake", "handshakes"),
        losses.contradicted.len()
    ))];
    let outside = super::supports::outside(losses, plan.target).into_iter();
    items.extend(outside.map(|line| Item::Text(format!("{line}."))));
    items.extend(Item::warnings(&contradicted(losses, plan.target)));
    use SwitchEffect as E;
    let rows = [
        (from, E::LossOfReach, &losses.lost),
        (to, E::LossInSecurity, &losses.without_warning),
        (to, E::GainOfReach, &losses.gained),
        (from, E::GainInSecurity, &losses.refused),
    ];
    let rows = rows.into_iter();
    let rows =
        rows.flat_map(|(only, effect, sites)| sites.iter().map(move |site| (only, effect, site)));
    items.extend(
        Table::of(rows)
            .caption("Sites that only one of the two can agree with")
            .site(plan.target, |(.., site)| &site.site)
            .text("only", 0, |(only, ..)| *only)
            .text("effect", 0, |(_, effect, _)| *effect)
            .text("reason", 0, |(.., site)| &site.reason)
            .text("detail", 1, |(.., site)| &site.detail)
            .text("confirmed by a handshake", 0, |(.., site)| {
                match site.confirmed {
                    Some(true) => "yes",
                    Some(false) => "no: the handshake contradicts it",
                    None => "not tried",
                }
            })
            .if_any(),
    );
    items
}

/// Lists the features that a switch would lose, and, in the full extent, all results of the protocol tests.
fn features(evaluation: &Evaluation, extent: Extent) -> Vec<Section> {
    let found = &evaluation.found;
    let plan = &evaluation.run.plan;
    let Some(coverage) = &found.coverage else {
        let section = Section::new("features", "Features", Vec::new())
            .explained("What each stack has, by BoringSSL's protocol tests.");
        return vec![section.missing(Some("The protocol tests were not run."))];
    };
    let mut sections = Vec::new();
    match &found.matrix {
        Some(matrix) => sections.extend(lost(matrix, plan)),
        None => sections.push(counted(coverage, plan)),
    }
    if extent == Extent::Full {
        let names = [plan.from.as_str(), plan.to.as_str()];
        sections.extend(features_sections(
            found.matrix.as_ref(),
            coverage,
            found.difference.as_ref(),
            names,
        ));
    }
    sections
}

/// Lists the features of which the other stack passes no test, by the counts of an earlier version.
fn counted(coverage: &Coverage, plan: &EvaluationPlan) -> Section {
    let table = Table::of(counts::lacking(coverage))
        .text("feature", 0, |row| &row.feature)
        .count("tests that expect success, passed before", 0, |row| {
            row.works.first().map_or(0, |tally| tally.passed)
        });
    Section::new("lacking", lacking(plan), vec![table.item()]).explained("An earlier version of netbench counted the protocol tests: features that the first passes tests of \
                      and the other none, without role and version.")
}

/// Lists the features that the stack in use has and the other does not, one feature a row.
fn lost(matrix: &Matrix, plan: &EvaluationPlan) -> Option<Section> {
    let lost = Lost::of(matrix);
    let section = Table::of(lost.versions.iter().chain(&lost.features))
        .text("feature", 0, |lost| lost.feature)
        .text("role", 0, |lost| lost.roles)
        .text("versions", 0, |lost| lost.versions.iter().join(", "))
        .text(&format!("with {}", plan.to), 0, |lost| lost.now)
        .optional("why, in the first of them", 1, |lost| lost.why)
        .section("lacking", lacking(plan))?;
    Some(section.explained(format!(
        "By feature, role and version. Not testable: {} may have it, and the shim has no way to ask for it.",
        plan.to
    )))
}

/// Returns the heading of the features that are lost.
fn lacking(plan: &EvaluationPlan) -> String {
    format!("Features of {} that {} lacks", plan.from, plan.to)
}

fn parts(evaluation: &Evaluation) -> Section {
    let run = &evaluation.run;
    let command = run
        .sessions
        .first()
        .map_or(&[][..], |session| &session.command);
    let table = Table::of(&run.plan.parts)
        .caption("Parts of this evaluation")
        .text("part", 0, |part| &part.part)
        .text("state", 0, |part| state(&part.state))
        .col("took", 0, |part| {
            Some(Cell::number(part.took_s? as f64, Digits::All, "s"))
        });
    let mut items = vec![table.item()];
    items.extend(Item::warnings(&evaluation.warnings));
    let section = Section::new(PARTS, "How it was done", items).explained(format!(
        "Each part is a command of netbench in a process of its own. Started {}, seed {}. Command: {}",
        run.started,
        run.plan.seed,
        command.join(" ")
    ));
    section.folded()
}

fn state(state: &PartState) -> String {
    match state {
        PartState::Pending => "not reached".to_owned(),
        PartState::Done => "done".to_owned(),
        PartState::Interrupted => "interrupted".to_owned(),
        PartState::LeftOut => "left out".to_owned(),
        PartState::Failed { why } => format!("failed: {why}"),
        PartState::Unsupported { why } => format!("unsupported: {why}"),
    }
}
