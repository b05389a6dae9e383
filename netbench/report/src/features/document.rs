use itertools::Itertools;
use netbench_model::{
    StackName,
    compat::{Judgement, OutsideClient},
    features::{FeatureCase, Guards},
};

use super::{FeatureCell, FeaturesSummary};
use crate::{
    cell::Cell,
    document::{Check, Document, Extent, Item, Report, Section, Table},
    matrix::MatrixCase,
    text::{alike, count},
};

/// The columns of the table of totals, each with its judgements.
const TOTALS: [(&str, &[Judgement]); 5] = [
    ("as expected", &[Judgement::Right]),
    (
        "otherwise",
        &[Judgement::FalseReject, Judgement::FalseAccept],
    ),
    ("no report", &[Judgement::Hung]),
    ("crash", &[Judgement::Crashed]),
    ("unsupported", &[Judgement::Unsupported]),
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
            ..Document::of_run("browser features", &self.run.head, self)
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
            .text("case", 0, |row| &row.case.name)
            .text("the page", 2, |row| &row.case.about)
            .clients(&summary.matrix.clients, |cell| Cell::text(cell.word()))
            .text("what was seen", 1, |row| seen(summary, row))
            .unfolded()
            .if_any(),
    );
    let browsers = summary.run.browsers.iter();
    let mut described = browsers.filter_map(OutsideClient::described);
    let described = described.join(" ");
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
    cell.is_told() && cell.judgement != Judgement::Right
}

fn wrong(summary: &FeaturesSummary) -> Section {
    let rows = summary.matrix.cases.iter();
    let rows = rows.filter(|row| row.cells.iter().flatten().any(is_wrong));
    let table = Table::of(rows)
        .text("case", 0, |row| &row.case.name)
        .text("what was seen", 0, |row| seen(summary, row))
        .text("consequence", 2, |row| consequence(&row.case))
        .text("why another outcome is expected", 1, |row| &row.case.why)
        .text("standard", 3, |row| &row.case.standard)
        .text("web platform tests", 4, |row| {
            row.case.tests.iter().format(", ")
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
    Table::of(summary.matrix.clients.iter().zip(&summary.totals))
        .text("browser", 0, |(client, _)| *client)
        .cols(TOTALS.map(|(name, _)| name), |(_, cases), number| {
            let (_, judgements) = TOTALS[number];
            Cell::count(judgements.iter().map(|of| cases.of(*of)).sum::<u32>())
        })
        .item()
}

fn observed(summary: &FeaturesSummary) -> Option<Section> {
    let rows = summary.matrix.cases.iter().flat_map(|row| {
        let names = row.case.observed.iter();
        names.map(move |name| (row, name))
    });
    let section = Table::of(rows)
        .text("case", 0, |(row, _)| &row.case.name)
        .text("value", 0, |(_, name)| *name)
        .cols(&summary.matrix.clients, |(row, name), client| {
            let cell = row.cell(client);
            Cell::maybe(cell.and_then(|cell| cell.result.told.get(*name)))
        })
        .section("observed", "What the standards leave open")?;
    Some(section)
}

fn all(summary: &FeaturesSummary) -> Section {
    let table = Table::of(&summary.matrix.cases)
        .text("case", 0, |row| &row.case.name)
        .text("the page", 2, |row| &row.case.about)
        .clients(&summary.matrix.clients, |cell| Cell::text(cell.word()))
        .text("standard", 3, |row| &row.case.standard);
    Section::new("cases", "Every case", vec![table.item()])
}

fn check(case: &FeatureCase, _: &StackName, cell: &FeatureCell) -> Check {
    let outcome = cell.checked(|| cell.result.seen.join("; "));
    Check::new(&case.name, outcome).of(case.group())
}
