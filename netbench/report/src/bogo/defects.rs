use itertools::Itertools;
use netbench_model::coverage::{DefectTest, Defects};

use crate::{
    cell::Cell,
    document::{Document, Extent, Item, Report, Section, Table},
    text::count,
};

impl Report for Defects {
    fn document(&self, _: Extent) -> Document<'_> {
        let title = format!("netbench bogo defects: {}", self.shims.iter().join(", "));
        Document::of_section("bogo", title, section(self), self)
    }
}

fn section(defects: &Defects) -> Section {
    let mut items: Vec<Item> = Item::warnings(&defects.warnings).collect();
    let shims = defects.shims.as_slice();
    let among_all = counts(shims, &defects.among_all, &defects.causes_among_all);
    let headline = if defects.shims.len() > 1 {
        format!(
            "Defects in {} that all of them run: {}. In all that each runs: {among_all}.",
            count(defects.run_by_all, "test", "tests"),
            counts(shims, &defects.among_those, &defects.causes_among_those)
        )
    } else {
        format!(
            "Defects in {} that it runs: {among_all}.",
            count(defects.run_by_all, "test", "tests")
        )
    };
    items.push(Item::Headline(headline));
    let groups = defects
        .tests
        .iter()
        .chunk_by(|test| (&test.why, &test.judgements));
    let groups: Vec<Vec<&DefectTest>> = groups
        .into_iter()
        .map(|(_, tests)| tests.collect())
        .collect();
    items.push(table(defects, groups));
    Section::only(items).explained(
        "accepted wrongly: what must be refused; rejected wrongly: what must be accepted; right: as the test wants; \
                      excused: otherwise, for a reason that is no defect; unsupported: the shim has no way to ask for it. \
                      Defects are counted by their causes: tests that fail for the same reason show one. A row has the \
                      tests with the same reason and the same behaviour; the JSON has each test.",
    )
}

fn counts(shims: &[String], tests: &[usize], causes: &[usize]) -> String {
    let each = shims.iter().zip(tests).enumerate();
    each.map(|(at, (shim, tests))| match causes.get(at) {
        Some(causes) => format!("{shim} {causes} (in {})", count(*tests, "test", "tests")),
        None => format!("{shim} in {}", count(*tests, "test", "tests")),
    })
    .join(", ")
}

fn table(defects: &Defects, groups: Vec<Vec<&DefectTest>>) -> Item {
    Table::of(groups)
        .cols(&defects.shims, |tests, shim| {
            Cell::maybe(tests.first().and_then(|test| test.judgements.get(shim)))
        })
        .count("tests", 0, |tests| tests.len())
        .optional("why", 0, |tests| tests.first().map(|test| &test.why))
        .optional("for example", 0, |tests| {
            tests.first().map(|test| &test.test)
        })
        .optional("what the runner does", 1, |tests| {
            tests.first().map(|test| &test.sends)
        })
        .item_or("None.")
}
