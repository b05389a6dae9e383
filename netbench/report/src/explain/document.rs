use super::{CharacteristicRow, ExplainSummary, Explanation, sentences::signed_time};
use crate::{
    block::{Block, Document, Table, left, right},
    rows::Rows,
    text::{change, interval, plain, time, verdict},
};

/// How many sites are shown; every form but the terminal's and Markdown's has all.
const SITES_SHOWN: usize = 30;

impl Document for ExplainSummary {
    fn blocks(&self) -> Vec<Block> {
        let mut blocks = vec![
            Block::Heading(format!("netbench explain: {}", plain(&self.run.name))),
            Block::Text(
                "Each row compares the sites that have a value with all other sites of this run. A ratio is \
                 the other stack's total over the first one's. The intervals of one table hold together at \
                 99 %. What goes with being faster need not be its cause: values often come together."
                    .to_owned(),
            ),
        ];
        for explanation in &self.explanations {
            one(&mut blocks, explanation);
        }
        if self.conditions.len() > 1 {
            blocks.push(Block::Heading("By condition".to_owned()));
            let mut rows = Vec::new();
            for condition in &self.conditions {
                let mut cells = vec![format!("{} / {}", condition.other, condition.first)];
                cells.extend(cells_of(&condition.row));
                rows.push(cells);
            }
            let mut columns = vec![left("stacks", 3)];
            columns.extend(columns_of_values());
            blocks.push(Block::Table(Table { columns, rows }));
        }
        heaps(&mut blocks, self);
        blocks
    }

    fn rows(&self, rows: &mut Rows) {
        for explanation in &self.explanations {
            let about = |rows: &mut Rows, table: &str| {
                let (first, other) = (explanation.first.as_str(), explanation.other.as_str());
                rows.about(table, explanation.condition.name(), first, other);
            };
            about(rows, "characteristics");
            for row in &explanation.characteristics {
                value_rows(rows, row);
            }
            about(rows, "against");
            for row in &explanation.against {
                rows.value(&row.site, "ratio", row.ratio, "other/first");
                rows.value(&row.site, "difference", row.difference_ns, "ns");
                for (name, value) in &row.characteristics {
                    rows.text(&row.site, name, value);
                }
            }
            about(rows, "shared");
            for row in &explanation.shared {
                let item = format!("{}: {}", row.characteristic, row.value);
                rows.value(&item, "listed_with", row.listed_with as f64, "sites");
                rows.value(&item, "listed", row.listed as f64, "sites");
                rows.value(&item, "others_with", row.others_with as f64, "sites");
                rows.value(&item, "others", row.others as f64, "sites");
                rows.value(&item, "chance", row.chance, "");
            }
        }
        for condition in &self.conditions {
            rows.about(
                "conditions",
                "",
                condition.first.as_str(),
                condition.other.as_str(),
            );
            value_rows(rows, &condition.row);
        }
        for row in &self.heaps {
            rows.about("heaps", row.condition.name(), row.stack.as_str(), "");
            rows.value(&row.site, "lower", row.lower_ns, "ns");
            rows.value(&row.site, "upper", row.upper_ns, "ns");
            rows.value(&row.site, "apart", row.round_trips, "round trips");
            rows.value(&row.site, "slower", row.slower as f64, "connections");
            rows.value(
                &row.site,
                "connections",
                row.connections as f64,
                "connections",
            );
        }
    }
}

fn value_rows(rows: &mut Rows, row: &CharacteristicRow) {
    let item = format!("{}: {}", row.characteristic, row.value);
    rows.value(&item, "sites", row.sites as f64, "sites");
    rows.value(&item, "pairs", row.paired.pairs as f64, "pairs");
    rows.value(&item, "ratio", row.paired.ratio, "other/first");
    rows.interval(&item, "ratio", row.paired.interval);
    rows.value(&item, "difference", row.difference_ns, "ns");
    rows.value(&item, "contrast", row.contrast.ratio, "ratio/ratio");
    rows.interval(&item, "contrast", row.contrast.interval);
    rows.text(&item, "verdict", row.contrast.verdict.name());
}

fn one(blocks: &mut Vec<Block>, explanation: &Explanation) {
    let (first, other) = (explanation.first.as_str(), explanation.other.as_str());
    blocks.push(Block::Heading(format!(
        "{}: {other} against {first}",
        explanation.condition
    )));
    if let Some(overall) = &explanation.overall {
        blocks.push(Block::Headline(format!(
            "Over all sites, {}: {} ({}).",
            verdict(overall.verdict, first, other),
            change(overall.ratio),
            interval(overall.interval)
        )));
    }
    for sentence in &explanation.sentences {
        blocks.push(Block::Text(sentence.clone()));
    }
    if !explanation.characteristics.is_empty() {
        blocks.push(Block::Table(Table {
            columns: columns_of_values(),
            rows: explanation.characteristics.iter().map(cells_of).collect(),
        }));
    }
    if explanation.against.is_empty() {
        return;
    }
    blocks.push(Block::Heading("Sites that go the other way".to_owned()));
    blocks.push(
        Table::of(explanation.against.iter().take(SITES_SHOWN))
            .left("site", 0, |row| plain(&row.site))
            .right("change", 0, |row| change(row.ratio))
            .right("by", 1, |row| signed_time(row.difference_ns))
            .left("characteristics", 2, |row| {
                let told = ["key", "version", "group", "round trip", "chain bytes"];
                let told: Vec<String> = told
                    .iter()
                    .filter_map(|name| row.characteristics.get(*name))
                    .map(|value| plain(value))
                    .collect();
                told.join(", ")
            })
            .block(),
    );
    if explanation.against.len() > SITES_SHOWN {
        blocks.push(Block::Text(format!(
            "And {} more; CSV and JSON have all.",
            explanation.against.len() - SITES_SHOWN
        )));
    }
}

fn columns_of_values() -> Vec<crate::Column> {
    vec![
        left("characteristic", 0),
        left("value", 0),
        right("sites", 2),
        right("change", 0),
        right("by", 3),
        right("against the rest", 1),
        right("interval", 4),
        left("does", 1),
    ]
}

fn cells_of(row: &CharacteristicRow) -> Vec<String> {
    let does = match row.contrast.verdict {
        netbench_stats::Verdict::Faster => "better",
        netbench_stats::Verdict::Slower => "worse",
        other => other.name(),
    };
    vec![
        row.characteristic.clone(),
        plain(&row.value),
        row.sites.to_string(),
        change(row.paired.ratio),
        signed_time(row.difference_ns),
        change(row.contrast.ratio),
        interval(row.contrast.interval),
        does.to_owned(),
    ]
}

fn heaps(blocks: &mut Vec<Block>, summary: &ExplainSummary) {
    if summary.heaps.is_empty() {
        return;
    }
    blocks.push(Block::Heading(
        "Totals in two heaps, a round trip apart".to_owned(),
    ));
    blocks.push(Block::Text(
        "On these sites some connections took a round trip more than others of the same stack. A median \
         of such totals jumps from one heap to the other; how many connections are in the slower heap says \
         more."
            .to_owned(),
    ));
    blocks.push(
        Table::of(&summary.heaps)
            .left("site", 0, |row| plain(&row.site))
            .left("stack", 0, |row| row.stack.to_string())
            .left("condition", 2, |row| row.condition.to_string())
            .right("fast", 1, |row| time(row.lower_ns))
            .right("slow", 1, |row| time(row.upper_ns))
            .right("round trips apart", 3, |row| {
                format!("{:.2}", row.round_trips)
            })
            .right("in the slow heap", 0, |row| {
                format!("{} of {}", row.slower, row.connections)
            })
            .block(),
    );
}
