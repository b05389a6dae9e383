use netbench_report::Answer;
use netbench_store::RunFolder;

use super::parts;
use crate::{options::Output, output};

/// The answers that were shown while an evaluation runs.
#[derive(Debug, Default)]
pub(super) struct Answers {
    shown: Vec<String>,
    has_named_page: bool,
}

impl Answers {
    /// Renews the page, and prints the answers that the parts so far give or change. Of a question that waits for other
    /// parts, the figures are printed.
    pub(super) fn show(&mut self, folder: &RunFolder, options: &Output) {
        // The report at the end reads the same files, and has the error.
        let Ok(report) = parts::read(folder) else {
            return;
        };
        for question in &report.evaluation.questions {
            let line = match question.answer {
                Answer::Open => {
                    let figures = question.figures.iter();
                    let figures =
                        figures.map(|figure| format!("{}: {}", figure.label, figure.value));
                    let figures: Vec<String> = figures.collect();
                    if figures.is_empty() {
                        continue;
                    }
                    format!("{} open. {}", question.question, figures.join("; "))
                }
                answer => format!(
                    "{} {}. {}",
                    question.question,
                    answer.words(),
                    question.because
                ),
            };
            if self.shown.contains(&line) {
                continue;
            }
            if !options.quiet {
                note!("netbench: so far: {line}");
            }
            self.shown.push(line);
        }
        if let Ok(page) = output::renew_page(folder, &report)
            && !self.has_named_page
        {
            self.has_named_page = true;
            if !options.quiet {
                note!("netbench: the page so far is {}", page.display());
            }
        }
    }
}
