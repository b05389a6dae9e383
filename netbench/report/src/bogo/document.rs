use netbench_model::coverage::{
    Category, Coverage, Difference, DifferenceGroup, Ending, Half, ShimSummary, Tally, TestOutcome,
};

use super::rows;
use crate::{
    block::{Block, Document, Table, left, right},
    rows::Rows,
    text::{percent, plain},
};

/// Failures that nothing explains, shown at most; all are in the JSON.
const UNEXPLAINED_SHOWN: usize = 20;

/// Groups of the difference view, shown at most for each side; all are in CSV and JSON.
const GROUPS_SHOWN: usize = 60;

impl Document for Coverage {
    fn blocks(&self) -> Vec<Block> {
        coverage(self)
    }

    fn rows(&self, table: &mut Rows) {
        rows::coverage(self, table);
    }
}

impl Document for Difference {
    fn blocks(&self) -> Vec<Block> {
        difference(self)
    }

    fn rows(&self, table: &mut Rows) {
        rows::difference(self, table);
    }
}

fn coverage(coverage: &Coverage) -> Vec<Block> {
    let mut blocks = vec![
        Block::Heading("netbench bogo: what each stack passes of BoringSSL's tests".to_owned()),
        Block::Text(about(coverage)),
    ];
    blocks.extend(Block::warnings(&coverage.warnings));
    blocks.push(totals(coverage));
    for (half, heading, text) in [
        (
            Half::Works,
            "What works: tests that expect success",
            "A cell is the share that passed, and then passed/failed/unsupported. Unsupported: the library or its \
             interface has no way to do it. A test may be about several features.",
        ),
        (
            Half::Refuses,
            "What is refused as it must be: tests that expect failure",
            "The floor is left out. A stack that lacks a feature cannot show here that it refuses its misuse.",
        ),
    ] {
        let table = features(coverage, half);
        if !table.rows.is_empty() {
            blocks.push(Block::Heading(heading.to_owned()));
            blocks.push(Block::Text(text.to_owned()));
            blocks.push(Block::Table(table));
        }
    }
    unexplained(&mut blocks, coverage);
    blocks
}

fn about(coverage: &Coverage) -> String {
    let pattern = coverage
        .pattern
        .as_ref()
        .map_or_else(String::new, |pattern| {
            format!(" Only the tests that match {} were run.", plain(pattern))
        });
    format!(
        "The runner of {} {}: {} tests. A shim that does nothing but fail passes {} of them; those prove nothing \
         and count for no one.{pattern}",
        coverage.runner.package, coverage.runner.version, coverage.tests, coverage.floor
    )
}

fn totals(coverage: &Coverage) -> Block {
    Table::of(&coverage.shims)
        .left("stack", 0, |shim| plain(&shim.shim))
        .right("works", 0, |shim| cell(shim.works))
        .right("refuses", 0, |shim| cell(shim.refuses))
        .right("explained failures", 1, |shim| explained(shim))
        .right("unexplained", 0, |shim| shim.unexplained.len().to_string())
        .right("crashed or hung", 2, |shim| shim.crashed.len().to_string())
        .block()
}

fn explained(shim: &ShimSummary) -> String {
    if shim.explained.is_empty() {
        return "none".to_owned();
    }
    let counts: Vec<_> = shim
        .explained
        .iter()
        .map(|(category, tests)| format!("{tests} {}", category.name()))
        .collect();
    counts.join(", ")
}

fn features(coverage: &Coverage, half: Half) -> Table {
    let mut columns = vec![left("feature", 0)];
    columns.extend(coverage.shims.iter().map(|shim| right(&shim.shim, 0)));
    let rows = coverage.features.iter().filter_map(|row| {
        let tallies = row.half(half);
        if tallies.iter().all(|tally| tally.total() == 0) {
            return None;
        }
        let cells = tallies.iter().map(|tally| cell(*tally));
        Some([row.feature.clone()].into_iter().chain(cells).collect())
    });
    Table {
        columns,
        rows: rows.collect(),
    }
}

fn cell(tally: Tally) -> String {
    if tally.total() == 0 {
        return "–".to_owned();
    }
    let share = percent(tally.passed as f64, tally.total() as f64);
    format!(
        "{share} {}/{}/{}",
        tally.passed, tally.failed, tally.unsupported
    )
}

fn unexplained(blocks: &mut Vec<Block>, coverage: &Coverage) {
    for shim in &coverage.shims {
        if shim.unexplained.is_empty() {
            continue;
        }
        blocks.push(Block::Heading(format!(
            "Failures that nothing explains: {}",
            plain(&shim.shim)
        )));
        let shown = shim.unexplained.iter().take(UNEXPLAINED_SHOWN);
        blocks.push(
            Table::of(shown)
                .left("test", 0, |(test, _)| plain(test))
                .left("what the runner says", 0, |(_, line)| plain(line))
                .block(),
        );
        more(blocks, shim.unexplained.len(), UNEXPLAINED_SHOWN);
    }
    for shim in &coverage.shims {
        if shim.crashed.is_empty() {
            continue;
        }
        blocks.push(Block::Heading(format!(
            "Crashes and hangs: {}",
            plain(&shim.shim)
        )));
        let shown = shim.crashed.iter().take(UNEXPLAINED_SHOWN);
        blocks.push(
            Table::of(shown)
                .left("test", 0, |(test, _)| plain(test))
                .left("how it ended", 0, |(_, ending)| match ending {
                    Ending::Exited => "exited".to_owned(),
                    Ending::Crashed(signal) => plain(signal),
                    Ending::Hung => "hung, and was ended".to_owned(),
                })
                .block(),
        );
        more(blocks, shim.crashed.len(), UNEXPLAINED_SHOWN);
    }
}

fn more(blocks: &mut Vec<Block>, all: usize, shown: usize) {
    if all > shown {
        blocks.push(Block::Text(format!(
            "… {} more; --json has all",
            all - shown
        )));
    }
}

fn difference(difference: &Difference) -> Vec<Block> {
    let (first, second) = (plain(&difference.first), plain(&difference.second));
    let count =
        |groups: &[DifferenceGroup]| groups.iter().map(|group| group.tests.len()).sum::<usize>();
    let (only_first, only_second) = (
        count(&difference.only_first),
        count(&difference.only_second),
    );
    let mut blocks = vec![
        Block::Heading(format!("netbench bogo diff: {first} and {second}")),
        Block::Headline(format!(
            "Both pass {}; only {first} passes {only_first}; only {second} passes {only_second}; neither passes {}.",
            difference.both, difference.neither
        )),
        Block::Text(
            "Tests that a shim passes by doing nothing are left out. Defects come first, then failures that nothing \
             explains, decisions that a library may take, what it lacks, refusals in other words, and what is \
             about BoringSSL itself."
                .to_owned(),
        ),
    ];
    side(&mut blocks, &second, &first, &difference.only_first);
    side(&mut blocks, &first, &second, &difference.only_second);
    blocks
}

fn side(blocks: &mut Vec<Block>, lacks: &str, has: &str, groups: &[DifferenceGroup]) {
    blocks.push(Block::Heading(format!(
        "What {lacks} does not pass, and {has} does"
    )));
    if groups.is_empty() {
        blocks.push(Block::Text("Nothing.".to_owned()));
        return;
    }
    let example = |group: &DifferenceGroup| group.tests.first().map(|test| plain(test));
    blocks.push(
        Table::of(groups.iter().take(GROUPS_SHOWN))
            .left("feature", 0, |group| group.feature.clone())
            .left("kind", 0, |group| kind(group).to_owned())
            .right("tests", 0, |group| group.tests.len().to_string())
            .right("expect success", 2, |group| {
                group.expect_success.to_string()
            })
            .left("why", 0, |group| plain(&group.why))
            .left("for example", 1, |group| example(group).unwrap_or_default())
            .block(),
    );
    more(blocks, groups.len(), GROUPS_SHOWN);
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
