//! Differences between stacks and browsers or other programs.

use netbench_model::{
    Accepts, StackName, SwitchEffect,
    browser::Sandbox,
    compat::{CompatOutcome, Expected, Judgement, OutsideClient, OutsideFound, OutsideKind},
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
        for row in cases {
            let Some(cell) = row.cell(number) else {
                continue;
            };
            let Some(accepts) = is_accepted(cell) else {
                continue;
            };
            let (mut accepted_by, mut refused_by) = (Vec::new(), Vec::new());
            for (client, cell) in clients.iter().zip(row.cells.iter().skip(stacks.len())) {
                let Some(also) = cell.as_ref().and_then(is_accepted) else {
                    continue;
                };
                let by = if also {
                    &mut accepted_by
                } else {
                    &mut refused_by
                };
                by.push(client.name.clone());
            }
            let others = if accepts { &refused_by } else { &accepted_by };
            if others.is_empty() {
                continue;
            }
            let disagreement = CompatDisagreement {
                stack: stack.clone(),
                stance: if accepts {
                    Stance::Accepts
                } else {
                    Stance::Refuses
                },
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
            };
            found.push((number, disagreement));
        }
    }
    found.sort_by_key(|(number, row)| (*number, row.stance, row.kind(clients)));
    found.into_iter().map(|(_, row)| row).collect()
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

/// Returns the warning about a client.
pub(super) fn warning(client: &OutsideClient) -> Option<String> {
    match &client.found {
        OutsideFound::Missing { reason } => {
            Some(format!("{} was not tried: {reason}", client.name))
        }
        OutsideFound::Installed {
            sandbox: Some(Sandbox::Off),
            ..
        } => Some(format!(
            "{} ran without its sandbox, as --no-sandbox asked",
            client.name
        )),
        OutsideFound::Installed { .. } => None,
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
    let described: Vec<String> = clients.iter().filter_map(described).collect();
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
    let rows: Vec<_> = summary
        .disagreements
        .iter()
        .filter(|row| row.stance == stance && row.kind(clients) == kind)
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let who = match kind {
        OutsideKind::Browser => "browsers",
        OutsideKind::Engine if kind == told_kind(clients) => "engines",
        OutsideKind::Engine => "engines, and no browser,",
        OutsideKind::Program if kind == told_kind(clients) => "programs",
        OutsideKind::Program => "programs alone",
    };
    let heading = match stance {
        Stance::Refuses => format!("What {who} accept that a stack refuses"),
        Stance::Accepts => format!("What a stack accepts that {who} refuse"),
    };
    Table::of(rows)
        .col("case", 0, |row| Cell::text(&row.case))
        .col("stack", 0, |row| Cell::text(&row.stack))
        .col("should be", 1, |row| Cell::text(&row.expected))
        .col("effect", 3, |row| Cell::maybe(row.effect))
        .col("the stack", 2, |row| Cell::text(&row.does))
        .col("accepted by", 0, |row| Cell::text(names(&row.accepted_by)))
        .col("refused by", 0, |row| Cell::text(names(&row.refused_by)))
        .under(&heading)
}

/// Builds the section with each client's messages about the servers that it refuses.
pub(super) fn words(summary: &CompatSummary) -> Option<Section> {
    let (run, stacks) = (&summary.run, summary.run.stacks.len());
    let said = |row: &CompatRow, client: usize| match &row.cell(client)?.result.outcome {
        CompatOutcome::Rejected {
            library, detail, ..
        } if library == detail => Some(library.clone()),
        CompatOutcome::Rejected {
            library, detail, ..
        } => Some(format!("{library}: {detail}")),
        _ => None,
    };
    let clients = summary.matrix.clients.iter().enumerate().skip(stacks);
    let is_refused =
        |row: &&CompatRow| (stacks..row.cells.len()).any(|client| said(row, client).is_some());
    let rows: Vec<_> = summary.matrix.cases.iter().filter(is_refused).collect();
    if rows.is_empty() {
        return None;
    }
    let table = Table::of(rows).col("case", 0, |row| Cell::text(&row.case.name));
    let table = clients.fold(table, |table, (number, client)| {
        table.col(client.as_str(), 0, |row| Cell::maybe(said(row, number)))
    });
    Some(Section::new("words", "What each client says", vec![table.item()]).explained(if run.clients.iter().any(is_engine) {
            "The codes of browsers' error pages, engines' errors, and what other programs print."
        } else {
            "The codes of browsers' error pages, and what other programs print."
        }))
}

fn is_engine(client: &OutsideClient) -> bool {
    client.kind == OutsideKind::Engine
}

/// Returns browsers if there are any, otherwise engines, otherwise programs.
fn told_kind(clients: &[OutsideClient]) -> OutsideKind {
    first_kind(clients.iter())
}

fn first_kind<'a>(clients: impl Iterator<Item = &'a OutsideClient>) -> OutsideKind {
    let kinds = clients.map(|client| client.kind);
    kinds.min().unwrap_or(OutsideKind::Program)
}

fn headline(summary: &CompatSummary) -> String {
    let clients = &summary.run.clients;
    let kind = told_kind(clients);
    let a = match kind {
        OutsideKind::Browser => "a browser",
        OutsideKind::Engine => "an engine",
        OutsideKind::Program => "a program",
    };
    let of = |stack: &StackName, stance: Stance| {
        let rows = summary.disagreements.iter();
        let rows = rows.filter(|row| row.stack == *stack && row.stance == stance);
        rows.filter(|row| row.kind(clients) == kind).count()
    };
    let stacks = summary.run.stacks.iter().map(|of| &of.stack);
    let sentences = stacks.map(|stack| {
        format!(
            "{stack} refuses {} that {a} accepts, and accepts {} that {a} refuses.",
            count(of(stack, Stance::Refuses), "server", "servers"),
            of(stack, Stance::Accepts)
        )
    });
    sentences.collect::<Vec<_>>().join(" ")
}

fn described(client: &OutsideClient) -> Option<String> {
    match &client.found {
        OutsideFound::Installed {
            version, library, ..
        } => Some(format!("{} is {version} with {library}.", client.name)),
        OutsideFound::Missing { .. } => None,
    }
}

fn names(names: &[StackName]) -> String {
    let names: Vec<_> = names.iter().map(StackName::as_str).collect();
    names.join(", ")
}
