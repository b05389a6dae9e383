use netbench_model::{
    SCHEMA_VERSION,
    breakage::{Breakage, Prediction, Tried},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cell::Cell,
    document::{Document, Extent, Item, Report, Section, Table},
    text::count,
};

const PREDICTED: &str = "The command tries the case, and a reader of its report sees the loss with its cause. The column \
                         \"today\" is the result of the client in this case. A test tries every row with the stacks of today.";
const NOT_PREDICTED: &str = "A thread stays on the list whatever its outcome. The first 56 rows were collected with their \
                             outcome known, so the share that is predicted is not a rate.";

const NOT_READ: &str = "These threads are on the list, and what broke in them is not known: they count neither as predicted nor \
                        as missed.";

/// Breakages of other projects: the output of `netbench compat breakages --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BreakagesReport {
    /// [`netbench_model::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The number of breakages that netbench predicts.
    pub predicted: u64,
    /// The number of breakages that do not occur with current stacks.
    pub does_not_break: u64,
    /// The number of breakages that netbench does not predict.
    pub not_predicted: u64,
    /// The number of threads that were not read.
    pub not_read: u64,
    /// The number of tried cases where another library stands in for the thread's.
    pub stand_ins: u64,
    /// All breakages, in the order of the record.
    pub breakages: Vec<Breakage>,
}

impl BreakagesReport {
    /// Counts each outcome of the breakages.
    pub fn new(breakages: Vec<Breakage>) -> Self {
        Self {
            schema: SCHEMA_VERSION,
            predicted: number(&breakages, |it| matches!(it, Prediction::Predicted(_))),
            does_not_break: number(&breakages, |it| matches!(it, Prediction::DoesNotBreak(_))),
            not_predicted: number(&breakages, |it| matches!(it, Prediction::NotPredicted(_))),
            not_read: number(&breakages, |it| matches!(it, Prediction::NotRead(_))),
            stand_ins: number(&breakages, |it| {
                it.tried().is_some_and(|by| by.stands_in_for.is_some())
            }),
            breakages,
        }
    }

    fn lead(&self) -> String {
        format!(
            "What users of a client met when its TLS stack was changed: {} from public threads, of which netbench predicts {}, \
             {} not break today, {} not predicted, and {} not known because the thread was not read; of the {} that are tried, \
             {} with another library than the thread's.",
            count(self.breakages.len(), "breakage", "breakages"),
            self.predicted,
            are(self.does_not_break, "does", "do"),
            are(self.not_predicted, "is", "are"),
            are(self.not_read, "is", "are"),
            self.predicted + self.does_not_break,
            are(self.stand_ins, "is", "are"),
        )
    }
}

fn number(breakages: &[Breakage], is: fn(&Prediction) -> bool) -> u64 {
    breakages.iter().filter(|it| is(&it.answer)).count() as u64
}

/// Returns a number with its verb.
fn are(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

fn thread(it: &Breakage) -> Cell {
    Cell::Link {
        words: it.thread.clone(),
        url: it.url.clone(),
    }
}

fn tried(rows: &[(&Breakage, &Tried)]) -> Item {
    Table::of(rows)
        .col("thread", 0, |(it, _)| thread(it))
        .text("what broke", 0, |(it, _)| &it.what)
        .text("command", 2, |(_, by)| by.command)
        .text("case", 0, |(_, by)| &by.case)
        .text("client", 0, |(_, by)| &by.client)
        .text("stands in for", 2, |(_, by)| {
            by.stands_in_for.as_deref().unwrap_or_default()
        })
        .text("today", 1, |(_, by)| &by.today)
        .item_or("None.")
}

fn untried(rows: &[(&Breakage, &String)]) -> Item {
    Table::of(rows)
        .col("thread", 0, |(it, _)| thread(it))
        .text("what broke", 0, |(it, _)| &it.what)
        .text("why not", 0, |(_, why)| *why)
        .item_or("None.")
}

impl Report for BreakagesReport {
    fn document(&self, _: Extent) -> Document<'_> {
        let (mut predicted, mut fine) = (Vec::new(), Vec::new());
        let (mut others, mut unread) = (Vec::new(), Vec::new());
        for breakage in &self.breakages {
            match &breakage.answer {
                Prediction::Predicted(by) => predicted.push((breakage, by)),
                Prediction::DoesNotBreak(by) => fine.push((breakage, by)),
                Prediction::NotPredicted(why) => others.push((breakage, why)),
                Prediction::NotRead(why) => unread.push((breakage, why)),
            }
        }
        Document {
            lead: self.lead(),
            sections: vec![
                Section::new("predicted", "Predicted", vec![tried(&predicted)])
                    .explained(PREDICTED),
                Section::new("does-not-break", "Does not break today", vec![tried(&fine)])
                    .explained(
                        "Nothing is lost in this case with the stacks of today, so nothing is predicted.",
                    ),
                Section::new("not-predicted", "Not predicted", vec![untried(&others)])
                    .explained(NOT_PREDICTED),
                Section::new("not-read", "Not read", vec![untried(&unread)]).explained(NOT_READ),
            ],
            data: vec![self],
            ..Document::new("compat breakages", "What broke for others".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use netbench_model::breakage::Predicts;

    use super::*;

    #[test]
    fn each_outcome_has_its_own_count_and_the_lead_has_them_all() {
        let tried = Tried {
            command: Predicts::Servers,
            case: "suite/cbc-rsa".to_owned(),
            client: "openssl".to_owned(),
            today: "accepted".to_owned(),
            stands_in_for: None,
        };
        let with_go = Tried {
            stands_in_for: Some("Go".to_owned()),
            ..tried.clone()
        };
        let answers = [
            Prediction::Predicted(tried.clone()),
            Prediction::Predicted(with_go),
            Prediction::DoesNotBreak(tried),
            Prediction::NotPredicted("only on Windows".to_owned()),
            Prediction::NotRead("no copy was found".to_owned()),
        ];
        let breakages = answers.map(|answer| Breakage {
            thread: "x #1".to_owned(),
            url: "https://x.test/1".to_owned(),
            what: "a site is refused".to_owned(),
            answer,
        });
        let report = BreakagesReport::new(breakages.into());
        assert_eq!(
            report.lead(),
            "What users of a client met when its TLS stack was changed: 5 breakages from public threads, of which netbench \
             predicts 2, 1 does not break today, 1 is not predicted, and 1 is not known because the thread was not read; of the \
             3 that are tried, 1 is with another library than the thread's."
        );
    }
}
