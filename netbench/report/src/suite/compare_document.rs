use super::{
    CompareSummary, Regression,
    document::{factor, factors, grouped},
    rows,
    summary::verdict_word,
};
use crate::{
    block::{Block, Document, Table, left, right},
    rows::Rows,
    text::{change, interval, plain, time},
};

use netbench_model::Unit;

impl Document for CompareSummary {
    fn blocks(&self) -> Vec<Block> {
        let mut blocks = vec![Block::Heading(title(self))];
        blocks.push(Block::Headline(headline(self)));
        blocks.extend(self.warnings.iter().map(|text| Block::Warning(plain(text))));
        differences(&mut blocks, self);
        cases(&mut blocks, self);
        if !self.missing.is_empty() {
            blocks.push(Block::Text(format!(
                "Not compared, because only one side has figures: {}.",
                plain(&self.missing.join(", "))
            )));
        }
        blocks
    }

    fn rows(&self, table: &mut Rows) {
        rows::compare(self, table);
    }
}

fn title(summary: &CompareSummary) -> String {
    let side = |side: &super::Compared| {
        let stacks: Vec<_> = side
            .stacks
            .iter()
            .map(|(name, about)| format!("{name} ({})", plain(about)))
            .collect();
        stacks.join(", ")
    };
    if summary.paired {
        format!(
            "netbench compare: {} against {}, run {}",
            side(&summary.other),
            side(&summary.first),
            plain(&summary.first.run)
        )
    } else {
        format!(
            "netbench compare: {} against {}",
            plain(&summary.other.run),
            plain(&summary.first.run)
        )
    }
}

fn headline(summary: &CompareSummary) -> String {
    use netbench_stats::Verdict;
    let count = |verdict| {
        summary
            .cases
            .iter()
            .filter(|c| c.verdict == verdict)
            .count()
    };
    let tally = format!(
        "{} cases: better in {}, worse in {}, the same in {}, undecided in {}.",
        summary.cases.len(),
        count(Verdict::Faster),
        count(Verdict::Slower),
        count(Verdict::Same),
        count(Verdict::Undecided)
    );
    match summary.threshold {
        None => tally,
        Some(threshold) => format!(
            "{} regressed by more than {:.1} %. {tally}",
            match summary.regressed {
                0 => "No case".to_owned(),
                1 => "1 case".to_owned(),
                n => format!("{n} cases"),
            },
            threshold * 100.0
        ),
    }
}

fn differences(blocks: &mut Vec<Block>, summary: &CompareSummary) {
    if summary.differences.is_empty() {
        return;
    }
    blocks.push(Block::Heading("What differs between the runs".to_owned()));
    let rows = summary.differences.iter().map(|row| {
        vec![
            plain(&row.what),
            plain(&row.first),
            plain(&row.other),
            if row.harmless { "" } else { "not comparable" }.to_owned(),
        ]
    });
    blocks.push(Block::Table(Table {
        columns: vec![
            left("what", 0),
            left("first", 0),
            left("other", 0),
            left("", 0),
        ],
        rows: rows.collect(),
    }));
}

fn cases(blocks: &mut Vec<Block>, summary: &CompareSummary) {
    blocks.push(Block::Heading("Case by case".to_owned()));
    blocks.push(Block::Text(
        "Change: the other's figure against the first one's; more than 0 % is worse. Factor: how many \
         times less the other takes."
            .to_owned(),
    ));
    let stacks = |case: &super::ComparedCase| {
        if case.first_stack == case.other_stack {
            case.first_stack.to_string()
        } else {
            format!("{} / {}", case.first_stack, case.other_stack)
        }
    };
    let rows = summary.cases.iter().map(|case| {
        let value = |value: f64| match case.unit {
            Unit::Nanoseconds => time(value),
            Unit::Bytes => format!("{} B", grouped(value)),
            Unit::Allocations | Unit::Instructions => grouped(value),
        };
        let word = match case.regression {
            Regression::Regressed => "regressed",
            _ => verdict_word(case.verdict, case.unit),
        };
        vec![
            case.name.clone(),
            stacks(case),
            value(case.first),
            value(case.other),
            change(case.ratio),
            interval(case.interval),
            word.to_owned(),
            factor(case.ratio),
            factors(case.interval),
        ]
    });
    blocks.push(Block::Table(Table {
        columns: vec![
            left("case", 0),
            left("stack", 3),
            right("first", 1),
            right("other", 1),
            right("change", 0),
            right("interval", 2),
            left("verdict", 0),
            right("factor", 4),
            right("as factors", 5),
        ],
        rows: rows.collect(),
    }));
}
