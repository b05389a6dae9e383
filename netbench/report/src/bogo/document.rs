use itertools::Itertools;
use netbench_model::coverage::{
    Category, Coverage, Difference, DifferenceGroup, Ending, Half, Matrix, ShimSummary, Tally,
    TestOutcome,
};

use super::matrix::matrix_section;
use crate::{
    cell::Cell,
    document::{Document, Excerpt, Extent, Item, Report, Section, Table},
    text::whole,
};

/// Number of unexplained failures that text formats show at most.
const UNEXPLAINED_SHOWN: usize = 20;

/// Number of groups of the difference view that text formats show at most for each side.
const GROUPS_SHOWN: usize = 60;

impl Report for Coverage {
    fn document(&self, _: Extent) -> Document<'_> {
        let title = "netbench bogo: what each stack passes of BoringSSL's tests";
        Document::of_section("bogo", title, coverage_section(self), self)
    }
}

impl Report for Difference {
    fn document(&self, _: Extent) -> Document<'_> {
        let title = format!("netbench bogo diff: {} and {}", self.first, self.second);
        Document::of_section("bogo", title, difference_section(self), self)
    }
}

/// Builds the protocol tests as parts of another document, for formats with room for them, with the stacks' names
/// in place of their shims' names.
pub(crate) fn features_sections(
    matrix: Option<&Matrix>,
    coverage: &Coverage,
    difference: Option<&Difference>,
    stacks: [&str; 2],
) -> Vec<Section> {
    let shims = coverage.shims.iter().map(|s| s.shim.as_str()).join(", ");
    let matrix = matrix.map(|matrix| {
        let mut matrix = matrix.clone();
        matrix.shims = stacks.map(str::to_owned).to_vec();
        let section = matrix_section(&matrix);
        Section {
            id: "features".to_owned(),
            heading: "Features, by BoringSSL's protocol tests".to_owned(),
            explanation: format!("{} Shims: {shims}.", section.explanation),
            ..section
        }
    });
    let mut coverage = coverage.clone();
    for (shim, stack) in coverage.shims.iter_mut().zip(stacks) {
        stack.clone_into(&mut shim.shim);
    }
    let coverage = Section {
        id: "protocol-tests".to_owned(),
        heading: "How the protocol tests went".to_owned(),
        is_folded: true,
        ..coverage_section(&coverage)
    };
    let difference = difference.map(|difference| {
        let [first, second] = stacks.map(str::to_owned);
        Section {
            id: "difference".to_owned(),
            heading: "What one stack passes and the other does not".to_owned(),
            ..difference_section(&Difference {
                first,
                second,
                ..difference.clone()
            })
        }
    });
    matrix
        .into_iter()
        .chain([coverage])
        .chain(difference)
        .collect()
}

fn coverage_section(coverage: &Coverage) -> Section {
    let mut items: Vec<Item> = Item::warnings(&coverage.warnings).collect();
    items.push(totals(coverage));
    for (half, heading, text) in [
        (
            Half::Works,
            "What works: tests that expect success",
            "Tests that passed, of all, and how many failed. The rest is unsupported: the library or its interface has \
             no way to do it. A test may be about several features.",
        ),
        (
            Half::Refuses,
            "What is refused as it must be: tests that expect failure",
            "The floor is left out. A stack that lacks a feature cannot show here that it refuses its misuse.",
        ),
    ] {
        let rows = coverage.features.iter();
        let rows = rows.filter(|row| row.half(half).iter().any(|tests| tests.total() > 0));
        let shims = coverage.shims.iter().map(|shim| &shim.shim);
        items.extend(
            Table::of(rows)
                .text("feature", 0, |row| &row.feature)
                .cols(shims, |row, shim| {
                    row.half(half).get(shim).copied().map(tally)
                })
                .explained(heading, text),
        );
    }
    unexplained(&mut items, coverage);
    Section::only(items).explained(about(coverage))
}

fn about(coverage: &Coverage) -> String {
    let pattern = match &coverage.pattern {
        None => String::new(),
        Some(pattern) => format!(" Only the tests that match {pattern} were run."),
    };
    format!(
        "The runner of {} {}: {} tests. A shim that does nothing but fail passes {} of them; those prove nothing \
         and count for no one.{pattern}",
        coverage.runner.package,
        coverage.runner.version,
        whole(coverage.tests),
        whole(coverage.floor)
    )
}

fn totals(coverage: &Coverage) -> Item {
    Table::of(&coverage.shims)
        .caption("Totals")
        .text("stack", 0, |shim| &shim.shim)
        .col("works", 0, |shim| tally(shim.works))
        .count("of these, a diagnosis ignored", 1, |shim| {
            shim.passed_less_diagnosis
        })
        .col("refuses", 0, |shim| tally(shim.refuses))
        .text("explained failures", 1, |shim| explained(shim))
        .count("unexplained", 0, |shim| shim.unexplained.len())
        .count("crashed or hung", 2, |shim| shim.crashed.len())
        .item()
}

fn tally(tally: Tally) -> Cell {
    Cell::Tally([tally.passed, tally.failed, tally.unsupported].map(|tests| tests as u64))
}

fn explained(shim: &ShimSummary) -> String {
    if shim.explained.is_empty() {
        return "none".to_owned();
    }
    let counts = shim.explained.iter();
    counts
        .map(|(category, tests)| format!("{tests} {}", category.name()))
        .join(", ")
}

fn unexplained(items: &mut Vec<Item>, coverage: &Coverage) {
    for shim in &coverage.shims {
        items.extend(
            Table::of(&shim.unexplained)
                .excerpt(Excerpt::First(UNEXPLAINED_SHOWN))
                .text("test", 0, |(test, _)| *test)
                .text("what the runner says", 0, |(_, line)| *line)
                .under(format!("Failures that nothing explains: {}", shim.shim)),
        );
    }
    for shim in &coverage.shims {
        items.extend(
            Table::of(&shim.crashed)
                .excerpt(Excerpt::First(UNEXPLAINED_SHOWN))
                .text("test", 0, |(test, _)| *test)
                .col("how it ended", 0, |(_, ending)| match ending {
                    Ending::Exited => Cell::text("exited"),
                    Ending::Crashed(signal) => Cell::text(signal),
                    Ending::Hung => Cell::text("hung, and was ended"),
                })
                .under(format!("Crashes and hangs: {}", shim.shim)),
        );
    }
}

fn difference_section(difference: &Difference) -> Section {
    let (first, second) = (&difference.first, &difference.second);
    let [of_first, of_second] = [&difference.only_first, &difference.only_second]
        .map(|groups| groups.iter().map(|group| group.tests.len()).sum::<usize>());
    let mut items = vec![Item::Headline(format!(
        "Both pass {}; only {first} passes {of_first}; only {second} passes {of_second}; neither passes {}.",
        difference.both, difference.neither
    ))];
    items.extend(side(second, first, &difference.only_first));
    items.extend(side(first, second, &difference.only_second));
    Section::only(items).explained(
        "Tests that a shim passes by doing nothing are left out. Defects come first, then failures that \
                      nothing explains, decisions that a library may take, what it lacks, refusals in other words, and \
                      what is about BoringSSL itself.",
    )
}

fn side(lacks: &str, has: &str, groups: &[DifferenceGroup]) -> [Item; 2] {
    let table = Table::of(groups)
        .excerpt(Excerpt::First(GROUPS_SHOWN))
        .text("feature", 0, |group| &group.feature)
        .text("kind", 0, |group| kind(group))
        .count("tests", 0, |group| group.tests.len())
        .count("expect success", 2, |group| group.expect_success)
        .text("why", 0, |group| &group.why)
        .optional("for example", 1, |group| group.tests.first())
        .item_or("Nothing.");
    let heading = format!("What {lacks} does not pass, and {has} does");
    [Item::Heading(heading), table]
}

fn kind(group: &DifferenceGroup) -> &'static str {
    match (group.category, group.outcome) {
        (Some(Category::Defect), _) => "defect",
        (Some(Category::Choice), _) => "decision",
        (Some(Category::Missing), _) | (None, TestOutcome::Unsupported) => "missing",
        (Some(Category::Wording), _) => "other words",
        (Some(Category::Boringssl), _) => "BoringSSL's own",
        (Some(Category::Chance), _) => "by chance",
        (Some(Category::Runner), _) => "not run",
        (None, TestOutcome::Failed | TestOutcome::Passed) => "unexplained",
    }
}
