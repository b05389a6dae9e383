use netbench_model::{ConnectManifest, Sample, StackName, SuiteManifest, Target};

use super::{
    Machine, Page, Question, connect_section, document_section, environment_section,
    explain_section, fast_enough, fast_in_memory, not_answered, suite_section, works,
};
use crate::{ConnectSummary, ScanSummary, SuiteSummary};

/// A kept run, with what it says.
#[derive(Debug, Clone, Copy)]
pub enum KeptRun<'a> {
    /// Of `connect`.
    Connect {
        /// What it says.
        summary: &'a ConnectSummary,
        /// What it was.
        manifest: &'a ConnectManifest,
        /// Its samples, all of them.
        samples: &'a [Sample],
    },
    /// Of the suite.
    Suite {
        /// What it says.
        summary: &'a SuiteSummary,
        /// What it was.
        manifest: &'a SuiteManifest,
    },
    /// Of a scan.
    Scan {
        /// What it says.
        summary: &'a ScanSummary,
    },
}

/// The page of one run, or of several side by side: a section for each, and the answers that they
/// have.
pub fn page_of_runs(runs: &[KeptRun<'_>]) -> Page {
    let mut sections = Vec::new();
    let mut questions = Vec::new();
    let mut machines = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let id = match runs {
            [_] => run.kind().to_owned(),
            _ => format!("{}-{}", run.kind(), number + 1),
        };
        let heading = match runs {
            [_] => run.heading().to_owned(),
            _ => format!("{}: {}", run.heading(), run.name()),
        };
        let asked = run.questions(&id);
        questions.extend(asked.into_iter().map(|question| Question {
            about: match runs {
                [_] => question.about,
                _ => format!("{}, {}", question.about, run.name()),
            },
            ..question
        }));
        machines.extend(run.machine());
        sections.push(run.section(&id, &heading));
        sections.extend(run.explained(&id));
    }
    let about = about(runs);
    if !questions.iter().any(|question| question.text == SUPPORTS) {
        questions.insert(0, unsupported_by_runs(runs));
    }
    sections.push(environment_section("machine", &machines));
    Page {
        title: about,
        lead: lead(runs),
        made: made(runs),
        questions,
        sections,
    }
}

const SUPPORTS: &str = "Does it support what the web needs?";

fn unsupported_by_runs(runs: &[KeptRun<'_>]) -> Question {
    let about = match runs {
        [run] => run.switch(),
        _ => String::new(),
    };
    not_answered(
        SUPPORTS,
        &about,
        "A run of connections or of the suite does not tell. “netbench bogo” does: it runs BoringSSL's protocol tests \
         against each stack.",
    )
}

fn about(runs: &[KeptRun<'_>]) -> String {
    match runs {
        [run] => run.switch(),
        _ => format!("{} runs side by side", runs.len()),
    }
}

fn lead(runs: &[KeptRun<'_>]) -> String {
    let what = "What would change for the users of a TLS client if it switched its TLS stack, measured with netbench.";
    let runs: Vec<String> = runs
        .iter()
        .map(|run| match run {
            KeptRun::Connect { summary, .. } => {
                let place = match summary.run.target {
                    Target::Lab => "emulated",
                    Target::Live => "real",
                };
                format!(
                    "{} connections to {} {place} sites",
                    summary.run.samples, summary.run.sites
                )
            }
            KeptRun::Suite { summary, .. } => {
                format!("{} cases in memory", summary.cases.len())
            }
            KeptRun::Scan { summary } => format!("what {} sites speak", summary.sites.len()),
        })
        .collect();
    format!("{what} Here: {}.", runs.join("; "))
}

fn made(runs: &[KeptRun<'_>]) -> String {
    let runs: Vec<String> = runs
        .iter()
        .map(|run| {
            let (netbench, started) = match run {
                KeptRun::Connect { manifest, .. } => (&manifest.netbench, &manifest.started),
                KeptRun::Suite { manifest, .. } => (&manifest.netbench, &manifest.started),
                KeptRun::Scan { summary } => (&summary.run.netbench, &summary.run.started),
            };
            format!("{} (netbench {netbench}, begun {started})", run.name())
        })
        .collect();
    format!(
        "Made from the samples of {}. This page is one file and asks for nothing from anywhere.",
        runs.join(", ")
    )
}

impl<'a> KeptRun<'a> {
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Connect { .. } => "connect",
            Self::Suite { .. } => "suite",
            Self::Scan { .. } => "scan",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Connect { .. } => "Connection time",
            Self::Suite { .. } => "In memory: data, handshakes, memory",
            Self::Scan { .. } => "What sites speak",
        }
    }

    fn name(self) -> &'a str {
        match self {
            Self::Connect { manifest, .. } => &manifest.name,
            Self::Suite { manifest, .. } => &manifest.name,
            Self::Scan { summary } => &summary.run.name,
        }
    }

    /// `rustls-ring in place of openssl`.
    fn switch(self) -> String {
        let names: Vec<&str> = match self {
            Self::Connect { manifest, .. } => names(&manifest.plan.stacks),
            Self::Suite { manifest, .. } => names(&manifest.plan.stacks),
            Self::Scan { summary } => summary
                .loss
                .iter()
                .flat_map(|loss| &loss.offers)
                .map(|offer| offer.stack.as_str())
                .collect(),
        };
        match names.split_first() {
            Some((first, [])) => format!("{first} alone"),
            Some((first, [others @ .., last])) if !others.is_empty() => {
                format!("{} or {last} in place of {first}", others.join(", "))
            }
            Some((first, others)) => format!("{} in place of {first}", others.join(", ")),
            None => String::new(),
        }
    }

    fn questions(self, id: &str) -> Vec<Question> {
        match self {
            Self::Connect { summary, .. } => {
                let mut questions = works(summary, id);
                questions.extend(fast_enough(summary, id));
                questions
            }
            Self::Suite { summary, .. } => fast_in_memory(summary, id),
            Self::Scan { .. } => Vec::new(),
        }
    }

    pub(super) fn section(self, id: &str, heading: &str) -> super::Section {
        match self {
            Self::Connect {
                summary,
                manifest,
                samples,
            } => connect_section(id, heading, summary, manifest, samples),
            Self::Suite { summary, .. } => suite_section(id, heading, summary),
            Self::Scan { summary } => document_section(id, heading, summary),
        }
    }

    /// What goes with one stack's being faster, where sites differ.
    pub(super) fn explained(self, id: &str) -> Option<super::Section> {
        let Self::Connect {
            manifest, samples, ..
        } = self
        else {
            return None;
        };
        let heading = "Which sites are faster, and what they have in common";
        explain_section(&format!("{id}-why"), heading, manifest, samples)
    }

    /// The machine, where the run depends on it.
    pub(super) fn machine(self) -> Option<Machine<'a>> {
        match self {
            Self::Scan { .. } => None,
            Self::Connect { manifest, .. } => Some(Machine {
                run: &manifest.name,
                environment: &manifest.environment,
                workers: &manifest.workers,
            }),
            Self::Suite { manifest, .. } => Some(Machine {
                run: &manifest.name,
                environment: &manifest.environment,
                workers: &manifest.workers,
            }),
        }
    }
}

fn names(stacks: &[StackName]) -> Vec<&str> {
    stacks.iter().map(|stack| stack.as_str()).collect()
}
