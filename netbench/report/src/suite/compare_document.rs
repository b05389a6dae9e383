use super::{
    CompareSummary, ComparedCase, Regression,
    document::{factor, factors, grouped},
    rows,
    summary::verdict_word,
};
use crate::{
    block::{Block, Document, Table},
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
    blocks.push(
        Table::of(&summary.differences)
            .left("what", 0, |row| plain(&row.what))
            .left("first", 0, |row| plain(&row.first))
            .left("other", 0, |row| plain(&row.other))
            .left("", 0, |row| {
                if row.harmless { "" } else { "not comparable" }.to_owned()
            })
            .block(),
    );
}

fn cases(blocks: &mut Vec<Block>, summary: &CompareSummary) {
    blocks.push(Block::Heading("Case by case".to_owned()));
    blocks.push(Block::Text(
        "Change: the other's figure against the first one's; more than 0 % is worse. Factor: how many \
         times less the other takes."
            .to_owned(),
    ));
    let stacks = |case: &ComparedCase| {
        if case.first_stack == case.other_stack {
            case.first_stack.to_string()
        } else {
            format!("{} / {}", case.first_stack, case.other_stack)
        }
    };
    let value = |case: &ComparedCase, value: f64| match case.unit {
        Unit::Nanoseconds => time(value),
        Unit::Bytes => format!("{} B", grouped(value)),
        Unit::Allocations | Unit::Instructions => grouped(value),
    };
    let word = |case: &ComparedCase| match case.regression {
        Regression::Regressed => "regressed",
        _ => verdict_word(case.verdict, case.unit),
    };
    blocks.push(
        Table::of(&summary.cases)
            .left("case", 0, |case| case.name.clone())
            .left("stack", 3, |case| stacks(case))
            .right("first", 1, |case| value(case, case.first))
            .right("other", 1, |case| value(case, case.other))
            .right("change", 0, |case| change(case.ratio))
            .right("interval", 2, |case| interval(case.interval))
            .left("verdict", 0, |case| word(case).to_owned())
            .right("factor", 4, |case| factor(case.ratio))
            .right("as factors", 5, |case| factors(case.interval))
            .block(),
    );
}
