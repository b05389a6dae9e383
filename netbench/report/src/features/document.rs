use itertools::Itertools;
use netbench_model::{
    StackName,
    features::{FeatureCase, FeatureFound, Guards},
};

use super::{FeatureCell, FeatureWord, FeaturesSummary};
use crate::{
    cell::Cell,
    document::{Check, Document, Extent, Item, Report, Section, Table},
    matrix::MatrixCase,
    text::{alike, count},
};

/// The words of the outcomes, with their columns in the table of totals.
const OUTCOMES: [(FeatureWord, &str); 5] = [
    (FeatureWord::Expected, "as expected"),
    (FeatureWord::Otherwise, "otherwise"),
    (FeatureWord::NoReport, "no report"),
    (FeatureWord::Crash, "crash"),
    (FeatureWord::Unsupported, "unsupported"),
];

impl Report for FeaturesSummary {
    fn tells(&self) -> bool {
        self.matrix.cells().any(FeatureCell::is_told)
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let names = self.matrix.clients.iter().format(", ");
        let mut sections = vec![differences(self), wrong(self)];
        sections.extend(observed(self));
        sections.push(all(self));
        Document {
            about: names.to_string(),
            lead: format!(
                "The outcome of {} in each browser: what the page found, and what its server saw.",
                match self.matrix.cases.len() {
                    1 => "one page".to_owned(),
                    pages => format!("{pages} pages"),
                }
            ),
            sections,
            checks: self.matrix.suites(self.matrix.clients.len(), check),
            data: vec![self],
            ..Document::of_run("browser features", &self.run.head)
        }
    }
}

type Row = MatrixCase<FeatureCase, FeatureCell>;

fn differences(summary: &FeaturesSummary) -> Section {
    let found = &summary.differences;
    let told = summary.matrix.cases.iter().map(|row| {
        let cells = row.cells.iter().flatten();
        cells.filter(|cell| cell.is_told()).count()
    });
    let compared = told.filter(|told| *told > 1).count();
    let mut items = vec![Item::Headline(match (compared, found.len()) {
        (0, _) => "No case has an outcome in two browsers.".to_owned(),
        (compared, 0) => format!(
            "The browsers do the same in {}.",
            count(compared, "case", "cases")
        ),
        (compared, found) => format!(
            "The browsers differ in {found} of {}.",
            count(compared, "case", "cases")
        ),
    })];
    items.extend(Item::warnings(&summary.warnings));
    let rows = found.iter().filter_map(|found| {
        let mut rows = summary.matrix.cases.iter();
        rows.find(|row| row.case.name == found.case)
    });
    items.extend(
        Table::of(rows)
            .col("case", 0, |row| Cell::text(&row.case.name))
            .col("the page", 2, |row| Cell::text(&row.case.about))
            .clients(&summary.matrix.clients, |cell| Cell::text(cell))
            .col("what was seen", 1, |row| Cell::text(seen(summary, row)))
            .unfolded()
            .if_any(),
    );
    let described = summary
        .run
        .browsers
        .iter()
        .filter_map(|browser| match &browser.found {
            FeatureFound::Installed {
                version, library, ..
            } => Some(format!("{} is {version} with {library}.", browser.name)),
            FeatureFound::Missing { .. } => None,
        });
    let described = described.format(" ").to_string();
    Section::new("differences", "What differs between the browsers", items).explained(format!(
        "{described} + is the expected outcome, - is another. The expectation is that of the standard, and precedes any run."
    ))
}

/// Returns the differences from the expectation, with the browsers of each.
fn seen(summary: &FeaturesSummary, row: &Row) -> String {
    let cells = summary.matrix.clients.iter().zip(&row.cells);
    let wrong = cells.filter_map(|(client, cell)| {
        let cell = cell.as_ref().filter(|cell| is_wrong(cell))?;
        Some((cell.result.seen.join("; "), client))
    });
    alike(wrong)
        .into_iter()
        .map(|(words, clients)| format!("{}: {words}", clients.iter().format(", ")))
        .join(". ")
}

/// Returns whether the browser has an outcome other than the expected one.
fn is_wrong(cell: &FeatureCell) -> bool {
    cell.is_told() && cell.result.outcome != FeatureWord::Expected
}

fn wrong(summary: &FeaturesSummary) -> Section {
    let rows = summary.matrix.cases.iter();
    let rows = rows.filter(|row| row.cells.iter().flatten().any(is_wrong));
    let table = Table::of(rows)
        .col("case", 0, |row| Cell::text(&row.case.name))
        .col("what was seen", 0, |row| Cell::text(seen(summary, row)))
        .col("consequence", 2, |row| Cell::text(consequence(&row.case)))
        .col("why another outcome is expected", 1, |row| {
            Cell::text(&row.case.why)
        })
        .col("standard", 3, |row| Cell::text(&row.case.standard))
        .col("web platform tests", 4, |row| {
            Cell::text(row.case.tests.iter().format(", "))
        });
    let items = [Some(totals(summary)), table.if_any()];
    let items = items.into_iter().flatten().collect();
    Section::new("wrong", "What is not as expected", items)
}

fn consequence(case: &FeatureCase) -> &'static str {
    match case.guards {
        Guards::Function => "pages do not work",
        Guards::Protection => "less protection",
        Guards::Speed => "pages take longer",
    }
}

fn totals(summary: &FeaturesSummary) -> Item {
    Table::of(summary.matrix.clients.iter().enumerate())
        .col("browser", 0, |(_, client)| Cell::text(client))
        .cols(OUTCOMES.map(|(_, name)| name), |(client, _), number| {
            let column = summary.matrix.column(*client);
            let cells = column.filter(|(_, cell)| cell.result.outcome == OUTCOMES[number].0);
            Cell::count(cells.count())
        })
        .item()
}

/// Builds the section of values that a standard leaves open.
fn observed(summary: &FeaturesSummary) -> Option<Section> {
    let rows = summary.matrix.cases.iter().flat_map(|row| {
        let names = row.case.observed.iter();
        names.map(move |name| (row, name))
    });
    let section = Table::of(rows)
        .col("case", 0, |(row, _)| Cell::text(&row.case.name))
        .col("value", 0, |(_, name)| Cell::text(name))
        .cols(&summary.matrix.clients, |(row, name), client| {
            let cell = row.cell(client);
            Cell::maybe(cell.and_then(|cell| cell.result.told.get(*name)))
        })
        .section("observed", "What the standards leave open")?;
    Some(section)
}

fn all(summary: &FeaturesSummary) -> Section {
    let table = Table::of(&summary.matrix.cases)
        .col("case", 0, |row| Cell::text(&row.case.name))
        .col("the page", 2, |row| Cell::text(&row.case.about))
        .clients(&summary.matrix.clients, |cell| Cell::text(cell))
        .col("standard", 3, |row| Cell::text(&row.case.standard));
    Section::new("cases", "Every case", vec![table.item()])
}

fn check(case: &FeatureCase, _: &StackName, cell: &FeatureCell) -> Check {
    let outcome = cell.checked(|| cell.result.seen.join("; "));
    Check::new(&case.name, outcome).of(case.group())
}
