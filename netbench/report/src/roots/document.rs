use netbench_model::roots::{RootsClient, RootsOutcome, StoreLayout};

use super::{RootsCell, RootsSummary};
use crate::{
    cell::Cell,
    document::{Check, Document, Extent, Item, Report, Section, Table},
    text::count,
};

impl Report for RootsSummary {
    fn tells(&self) -> bool {
        self.matrix.cells().any(RootsCell::is_told)
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let run = &self.run;
        Document {
            about: "The trust stores that clients find by default".to_owned(),
            lead: format!(
                "The sites that each client trusts by default, with {} of a system's trust store.",
                count(self.matrix.cases.len(), "layout", "layouts")
            ),
            sections: vec![wrong(self), trusted(self), times(self)],
            checks: self
                .matrix
                .suites(self.matrix.clients.len(), |layout, client, cell| {
                    check(self, layout, client, cell)
                }),
            ..Document::of_run("compat roots", &run.head, self)
        }
    }
}

fn wrong(summary: &RootsSummary) -> Section {
    let found = &summary.wrong;
    let mut items = vec![Item::Headline(if found.is_empty() {
        "Every client trusts what a user of the system expects.".to_owned()
    } else {
        format!(
            "{} from what a user of the system expects.",
            count(
                found.iter().map(|found| found.layouts.len()).sum::<usize>(),
                "result differs",
                "results differ"
            )
        )
    })];
    items.extend(Item::warnings(&summary.warnings));
    items.extend(
        Table::of(found)
            .text("client", 0, |row| &row.client)
            .text("what a user sees", 0, |row| &row.seen)
            .text("layouts", 0, |row| row.layouts.join(", "))
            .optional("the library's words", 2, |row| row.detail.as_ref())
            .text("what to do", 1, |row| &row.advice)
            .unfolded()
            .if_any(),
    );
    Section::new("wrong", "Unexpected results", items).explained("A client is a stack with the roots that it finds by itself. Its process sees the layout in the \
                      place of this system's folders, and verifies the chain of each site.")
}

fn trusted(summary: &RootsSummary) -> Section {
    let table = Table::of(&summary.matrix.cases)
        .text("layout", 0, |row| &row.case.name)
        .text("what it is", 3, |row| &row.case.about)
        .text("a user expects", 0, |row| listed(&row.case.trusts))
        .clients(&summary.matrix.clients, |cell| Cell::text(cell));
    let sites = summary.run.sites.iter();
    let sites: Vec<_> = sites
        .map(|site| format!("{}: {}", site.name, site.about))
        .collect();
    Section::new("trusted", "Which sites are trusted", vec![table.item()]).explained(format!(
        "{}. A client with roots of its own has none of them.",
        sites.join("; ")
    ))
}

fn times(summary: &RootsSummary) -> Section {
    let table = Table::of(&summary.matrix.cases)
        .text("layout", 0, |row| &row.case.name)
        .clients(&summary.matrix.clients, took);
    Section::new(
        "times",
        "How long making the connector takes",
        vec![table.item()],
    )
    .explained(
        "Once, in a new process. A folder with hashed links is read only when a chain is verified.",
    )
}

fn listed(sites: &[String]) -> String {
    if sites.is_empty() {
        "nothing".to_owned()
    } else {
        sites.join(", ")
    }
}

fn took(cell: &RootsCell) -> Cell {
    match &cell.result {
        RootsOutcome::Made { connector_ns, .. } => Cell::Time(*connector_ns as f64),
        _ => Cell::Missing,
    }
}

fn check(
    summary: &RootsSummary,
    layout: &StoreLayout,
    client: &RootsClient,
    cell: &RootsCell,
) -> Check {
    let mut wrong = summary.wrong.iter();
    let wrong = wrong.find(|found| found.layouts.contains(&layout.name) && found.client == *client);
    let outcome = cell.checked(|| match (&cell.result, wrong) {
        (RootsOutcome::Unsupported { reason }, _) => reason.clone(),
        (_, found) => found.map_or_else(String::new, |found| found.seen.clone()),
    });
    Check::new(&layout.name, outcome)
}
