//! Differences between stacks and browsers or other programs.

use itertools::{Either, Itertools};
use netbench_model::{
    Accepts, StackName, SwitchEffect,
    compat::{CompatOutcome, Expected, Judgement, OutsideClient, OutsideKind},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CompatCell, CompatRow, CompatSummary};
use crate::{
    cell::Cell,
    document::{Item, Section, Table},
    evaluation::question::Subject,
    text::count,
};

/// A server that a stack accepts and an external client refuses, or vice versa.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatDisagreement {
    /// The stack.
    pub stack: StackName,
    /// The side that accepts the server.
    pub stance: Stance,
    /// The case.
    #[schemars(extend("x-key" = "item"))]
    pub case: String,
    /// The server's behaviour.
    pub about: String,
    /// The correct behaviour of a client.
    pub expected: Expected,
    /// The stack's behaviour.
    pub does: String,
    /// The stack's behaviour compared with the correct one.
    pub judgement: Judgement,
    /// The effect of the stack in place of a client that treats the server differently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<SwitchEffect>,
    /// The clients that accept the server.
    pub accepted_by: Vec<StackName>,
    /// The clients that refuse it.
    pub refused_by: Vec<StackName>,
}

/// A stack's behaviour towards a server that a client treats differently.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Stance {
    /// The stack refuses it.
    Refuses,
    /// The stack accepts it.
    Accepts,
}

impl CompatDisagreement {
    /// Returns the kind of the clients that treat the server differently from the stack: browsers if there are any,
    /// otherwise engines or programs.
    fn kind(&self, clients: &[OutsideClient]) -> OutsideKind {
        let others = match self.stance {
            Stance::Refuses => &self.accepted_by,
            Stance::Accepts => &self.refused_by,
        };
        let others = clients
            .iter()
            .filter(|client| others.contains(&client.name));
        first_kind(others)
    }
}

/// Returns every disagreement, in the order of the stacks: refusals of a stack first, and within them those where
/// browsers differ.
pub(super) fn disagreements(
    stacks: &[StackName],
    clients: &[OutsideClient],
    cases: &[CompatRow],
) -> Vec<CompatDisagreement> {
    let mut found = Vec::new();
    for (number, stack) in stacks.iter().enumerate() {
        let rows = cases.iter().filter_map(|row| {
            let cell = row.cell(number)?;
            let accepts = is_accepted(cell)?;
            let others = clients.iter().zip(row.cells.iter().skip(stacks.len()));
            let others = others.filter_map(|(client, cell)| {
                Some((client.name.clone(), is_accepted(cell.as_ref()?)?))
            });
            let (accepted_by, refused_by): (Vec<_>, Vec<_>) =
                others.partition_map(|(client, accepts)| match accepts {
                    true => Either::Left(client),
                    false => Either::Right(client),
                });
            let (stance, is_found) = match accepts {
                true => (Stance::Accepts, !refused_by.is_empty()),
                false => (Stance::Refuses, !accepted_by.is_empty()),
            };
            is_found.then(|| CompatDisagreement {
                stack: stack.clone(),
                stance,
                case: row.case.name.clone(),
                about: row.case.about.clone(),
                expected: row.case.expected.clone(),
                does: cell.to_string(),
                judgement: cell.judgement,
                effect: SwitchEffect::of(
                    row.case.standing(),
                    Accepts::from(!accepts),
                    Accepts::from(accepts),
                ),
                accepted_by,
                refused_by,
            })
        });
        found.extend(rows.sorted_by_key(|row| (row.stance, row.kind(clients))));
    }
    found
}

/// Returns whether the server is accepted; `None` if unknown.
fn is_accepted(cell: &CompatCell) -> Option<bool> {
    match cell.result.outcome {
        CompatOutcome::Accepted { .. } => Some(true),
        CompatOutcome::Unsupported { .. } => None,
        CompatOutcome::Rejected { .. }
        | CompatOutcome::Hang { .. }
        | CompatOutcome::Crash { .. } => Some(false),
    }
}

/// Builds the section of servers that stacks refuse and the clients accept, and vice versa.
pub(super) fn section(summary: &CompatSummary) -> Option<Section> {
    let clients = &summary.run.clients;
    if clients.is_empty() {
        return None;
    }
    let mut items = vec![Item::Headline(headline(summary))];
    for kind in OutsideKind::ALL {
        for stance in [Stance::Refuses, Stance::Accepts] {
            items.extend(table(summary, *kind, stance));
        }
    }
    let described: Vec<String> = clients
        .iter()
        .filter_map(OutsideClient::described)
        .collect();
    Some(Section {
        details_of: Some(Subject::Browsers),
        ..Section::new("clients", "Stacks beside other clients", items).explained(format!(
            "{} {}",
            described.join(" "),
            surroundings(clients)
        ))
    })
}

fn surroundings(clients: &[OutsideClient]) -> &'static str {
    if clients.iter().all(is_engine) {
        "An engine's network stack is in a worker, and trusts the case's root alone."
    } else if clients.iter().any(is_engine) {
        "Browsers and programs each run in a private network, and engines' network stacks in workers. \
         Each trusts the case's root, alone or beside the roots it comes with."
    } else {
        "Each runs in a private network, and trusts the case's root, alone or beside the roots it comes with."
    }
}

/// Builds the table of servers that clients of a kind treat differently from a stack; a program's rows are those
/// that no browser has.
fn table(summary: &CompatSummary, kind: OutsideKind, stance: Stance) -> Vec<Item> {
    let clients = &summary.run.clients;
    let rows = summary.disagreements.iter();
    let rows = rows.filter(|row| row.stance == stance && row.kind(clients) == kind);
    let who = match kind {
        OutsideKind::Browser => "browsers",
        OutsideKind::Engine if kind == first_kind(clients) => "engines",
        OutsideKind::Engine => "engines, and no browser,",
        OutsideKind::Program if kind == first_kind(clients) => "programs",
        OutsideKind::Program => "programs alone",
    };
    let heading = match stance {
        Stance::Refuses => format!("What {who} accept that a stack refuses"),
        Stance::Accepts => format!("What a stack accepts that {who} refuse"),
    };
    Table::of(rows)
        .text("case", 0, |row| &row.case)
        .text("stack", 0, |row| &row.stack)
        .text("should be", 1, |row| &row.expected)
        .optional("effect", 3, |row| row.effect)
        .text("the stack", 2, |row| &row.does)
        .text("accepted by", 0, |row| row.accepted_by.iter().format(", "))
        .text("refused by", 0, |row| row.refused_by.iter().format(", "))
        .under(&heading)
}

/// Builds the section with each client's messages about the servers that it refuses.
pub(super) fn words(summary: &CompatSummary) -> Option<Section> {
    let (matrix, stacks) = (&summary.matrix, summary.run.stacks.len());
    let rows = matrix.cases.iter();
    let rows = rows.filter(|row| row.cells.iter().skip(stacks).flatten().any(is_refused));
    let section = Table::of(rows)
        .text("case", 0, |row| &row.case.name)
        .cols(matrix.clients.iter().skip(stacks), |row, client| {
            Cell::maybe(row.cell(stacks + client).and_then(said))
        })
        .section("words", "What each client says")?;
    let has_engines = summary.run.clients.iter().any(is_engine);
    Some(section.explained(if has_engines {
        "The codes of browsers' error pages, engines' errors, and what other programs print."
    } else {
        "The codes of browsers' error pages, and what other programs print."
    }))
}

fn is_refused(cell: &CompatCell) -> bool {
    matches!(cell.result.outcome, CompatOutcome::Rejected { .. })
}

/// Returns a client's message about a server that it refuses.
fn said(cell: &CompatCell) -> Option<String> {
    match &cell.result.outcome {
        CompatOutcome::Rejected {
            library, detail, ..
        } => Some(match library == detail {
            true => library.clone(),
            false => format!("{library}: {detail}"),
        }),
        _ => None,
    }
}

fn is_engine(client: &OutsideClient) -> bool {
    client.kind == OutsideKind::Engine
}

/// Returns browsers if there are any, otherwise engines, otherwise programs.
fn first_kind<'a>(clients: impl IntoIterator<Item = &'a OutsideClient>) -> OutsideKind {
    let kinds = clients.into_iter().map(|client| client.kind);
    kinds.min().unwrap_or(OutsideKind::Program)
}

fn headline(summary: &CompatSummary) -> String {
    let clients = &summary.run.clients;
    let kind = first_kind(clients);
    let a = match kind {
        OutsideKind::Browser => "a browser",
        OutsideKind::Engine => "an engine",
        OutsideKind::Program => "a program",
    };
    let stacks = summary.run.stacks.iter().map(|of| &of.stack);
    let mut sentences = stacks.map(|stack| {
        let rows = summary.disagreements.iter();
        let rows = rows.filter(|row| row.stack == *stack && row.kind(clients) == kind);
        let (refused, accepted): (Vec<_>, Vec<_>) =
            rows.partition(|row| row.stance == Stance::Refuses);
        format!(
            "{stack} refuses {} that {a} accepts, and accepts {} that {a} refuses.",
            count(refused.len(), "server", "servers"),
            accepted.len()
        )
    });
    sentences.join(" ")
}
