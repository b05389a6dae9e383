use netbench_model::{
    SCHEMA_VERSION,
    breakage::{Breakage, Foretelling},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cell::Cell,
    document::{Document, Extent, Item, Report, Section, Table},
    text::count,
};

/// What broke for others: what `netbench compat breakages --json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BreakagesReport {
    /// [`netbench_model::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// How many of them netbench foretells.
    pub foretold: u64,
    /// All of them; those that netbench foretells come first.
    pub breakages: Vec<Breakage>,
}

impl BreakagesReport {
    /// Of these.
    pub fn new(breakages: Vec<Breakage>) -> Self {
        let is_foretold = |it: &&Breakage| matches!(it.answer, Foretelling::Foretold(_));
        Self {
            schema: SCHEMA_VERSION,
            foretold: breakages.iter().filter(is_foretold).count() as u64,
            breakages,
        }
    }
}

impl Report for BreakagesReport {
    fn document(&self, _: Extent) -> Document<'_> {
        let (mut foretold, mut others) = (Vec::new(), Vec::new());
        for breakage in &self.breakages {
            match &breakage.answer {
                Foretelling::Foretold(by) => foretold.push((breakage, by)),
                Foretelling::NotForetold(why) => others.push((breakage, why)),
            }
        }
        let thread = |it: &Breakage| Cell::Link {
            words: it.thread.clone(),
            url: it.url.clone(),
        };
        let by = Table::of(&foretold)
            .col("thread", 0, |(it, _)| thread(it))
            .col("what broke", 0, |(it, _)| Cell::text(&it.what))
            .col("command", 2, |(_, by)| Cell::text(by.command))
            .col("case", 0, |(_, by)| Cell::text(&by.case))
            .col("client", 0, |(_, by)| Cell::text(&by.client))
            .col("today", 1, |(_, by)| Cell::text(&by.today));
        let not = Table::of(&others)
            .col("thread", 0, |(it, _)| thread(it))
            .col("what broke", 0, |(it, _)| Cell::text(&it.what))
            .col("why not", 0, |(_, why)| Cell::text(why));
        Document {
            lead: format!(
                "What users of a client met when its TLS stack was changed: {} from public threads, of which netbench foretells {}.",
                count(self.breakages.len(), "breakage", "breakages"),
                self.foretold
            ),
            sections: vec![
                Section {
                    id: "foretold".to_owned(),
                    heading: "Foretold".to_owned(),
                    explanation: "The command tries the case, and the last column is what the client does with it. A \
                                  test tries every row with the stacks of today."
                        .to_owned(),
                    items: vec![by.item()],
                    ..Section::default()
                },
                Section {
                    id: "not-foretold".to_owned(),
                    heading: "Not foretold".to_owned(),
                    items: if others.is_empty() {
                        vec![Item::text("None.")]
                    } else {
                        vec![not.item()]
                    },
                    ..Section::default()
                },
            ],
            data: vec![self],
            ..Document::new("compat breakages", "What broke for others".to_owned())
        }
    }
}
