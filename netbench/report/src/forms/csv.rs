use csv::{Terminator, Writer, WriterBuilder};
use serde_json::Value;

use super::{Form, Options};
use crate::{
    document::Document,
    text::{plain, sites_word},
};

/// The values of the JSON, one per row (RFC 4180, except for line ends of one character): a table that any program
/// can filter; with a column for each figure, the columns would differ by table.
pub(super) const FORM: Form = Form::new("csv", "csv", "Every value of the JSON, one a row", render);

const COLUMNS: [&str; 10] = [
    "table",
    "condition",
    "first",
    "other",
    "item",
    "figure",
    "value",
    "unit",
    "row",
    // The names of emulated sites are those of hosts that a figure says nothing about.
    "sites",
];

/// The fields that identify an element of a list, for the columns `condition`, `first`, `other` and `item`. A
/// column uses the first field that exists; `item` uses all.
const KEYS: [&[&str]; 4] = [
    &["condition", "part", "version", "kind"],
    &["stack", "first", "first_stack", "shim"],
    &["other", "other_stack"],
    &[
        "site",
        "point",
        "name",
        "phase",
        "scenario",
        "case",
        "class",
        "feature",
        "profile",
        "question",
        "path",
        "what",
        "variant",
        "characteristic",
        "value",
        "step",
    ],
];
const FIRST: usize = 1;
const ITEM: usize = 3;

/// Lists with an element for each stack or column, without its name, and the lists that have the names.
const PARALLEL: [(&str, &str); 4] = [
    ("works", "shims"),
    ("refuses", "shims"),
    ("agreements", "offers"),
    ("figures", "columns"),
];

/// Figures in the unit that their case names.
const IN_UNIT_OF_CASE: [&str; 13] = [
    "low", "mean", "p5", "p50", "p95", "p99", "max", "mad", "cpu_p50", "by_round", "figures",
    "first", "other",
];

/// The endings of figures' names, and their units.
const UNITS: [(&str, &str); 15] = [
    // A contrast is a ratio of two ratios.
    ("contrast.ratio", "ratio/ratio"),
    ("contrast.interval.low", "ratio/ratio"),
    ("contrast.interval.high", "ratio/ratio"),
    ("bytes_per_second", "bytes/s"),
    ("per_second", "1/s"),
    ("_ns", "ns"),
    ("_us", "µs"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("bytes", "bytes"),
    ("ratio", "other/first"),
    ("interval.low", "other/first"),
    ("interval_single.low", "other/first"),
    ("interval.high", "other/first"),
    ("interval_single.high", "other/first"),
];

fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let mut rows = Rows {
        writer: WriterBuilder::new()
            .terminator(Terminator::Any(b'\n'))
            .from_writer(Vec::new()),
        count: 0,
        sites: document.sites.map_or("", sites_word),
    };
    // Writing into memory fails only if memory is exhausted.
    let _ = rows.writer.write_record(COLUMNS);
    let of_parts = document.of_parts.iter().map(|(part, data)| (*part, data));
    let own = document.data.iter().map(|data| ("", data));
    for (part, data) in own.chain(of_parts) {
        let place = Place {
            path: part.to_owned(),
            ..Place::default()
        };
        rows.value(&serde_json::to_value(data).unwrap_or_default(), &place);
    }
    rows.writer.into_inner().unwrap_or_default()
}

/// The position of a value.
#[derive(Clone, Default)]
struct Place {
    /// The names of the fields that lead to the value, separated by dots.
    path: String,
    /// The length of the part of the path that leads to the row's list.
    table: usize,
    /// The columns of [`KEYS`].
    keys: [String; 4],
    /// The fields that are used in these columns.
    used: Vec<&'static str>,
    /// The unit of the value's case.
    unit: String,
    /// The names of the elements of a parallel list.
    names: Vec<String>,
    row: Option<usize>,
}

impl Place {
    fn inside(&self, name: &str) -> Self {
        let mut inside = self.clone();
        inside.used.clear();
        if !inside.path.is_empty() {
            inside.path.push('.');
        }
        inside.path.push_str(name);
        inside
    }

    /// Fills the columns that are still empty from an element's fields. Returns whether there was such a field.
    fn identify(&mut self, element: &Value) -> bool {
        for (column, fields) in self.keys.iter_mut().zip(KEYS) {
            if !column.is_empty() {
                continue;
            }
            let known = fields
                .iter()
                .filter_map(|field| Some((*field, element.get(field)?.as_str()?)));
            let most = if fields == KEYS[ITEM] { usize::MAX } else { 1 };
            let (fields, words): (Vec<_>, Vec<_>) = known.take(most).unzip();
            *column = words.join(": ");
            self.used.extend(fields);
        }
        !self.used.is_empty()
    }

    /// Returns the path to the row's list, and the path from there to the value.
    fn table_and_figure(&self) -> (&str, &str) {
        if self.row.is_none() {
            return self.path.split_once('.').unwrap_or(("", &self.path));
        }
        let (table, figure) = self.path.split_at(self.table);
        let last = table.rsplit('.').next().unwrap_or(table);
        (table, figure.strip_prefix('.').unwrap_or(last))
    }
}

/// The written rows.
struct Rows {
    writer: Writer<Vec<u8>>,
    count: usize,
    /// The column for what the sites are.
    sites: &'static str,
}

impl Rows {
    fn value(&mut self, value: &Value, place: &Place) {
        match value {
            Value::Null => {}
            Value::Object(fields) => {
                let mut place = place.clone();
                if let Some(unit) = fields.get("unit").and_then(Value::as_str) {
                    unit.clone_into(&mut place.unit);
                }
                let names = PARALLEL.iter().find_map(|(_, names)| fields.get(*names));
                if let Some(names) = names.and_then(Value::as_array) {
                    place.names = names.iter().map(name).collect();
                }
                for (field, value) in fields {
                    if !place.used.contains(&field.as_str()) {
                        self.value(value, &place.inside(field));
                    }
                }
            }
            Value::Array(elements) => self.list(elements, place),
            Value::String(text) => self.write(cell(text), place),
            Value::Bool(_) | Value::Number(_) => self.write(value.to_string(), place),
        }
    }

    /// Writes the elements of a list: those that can be identified become rows of a table; others have their number
    /// in the path.
    fn list(&mut self, elements: &[Value], place: &Place) {
        let last = place.path.rsplit('.').next().unwrap_or_default();
        let parallel = PARALLEL.iter().any(|(list, _)| *list == last);
        for (number, element) in elements.iter().enumerate() {
            let mut inside = place.clone();
            let is_row = match place.names.get(number) {
                Some(name) if parallel => {
                    name.clone_into(&mut inside.keys[FIRST]);
                    true
                }
                _ => inside.identify(element),
            };
            if is_row {
                self.count += 1;
                (inside.row, inside.table) = (Some(self.count), inside.path.len());
            } else {
                inside = inside.inside(&number.to_string());
            }
            self.value(element, &inside);
        }
    }

    fn write(&mut self, value: String, place: &Place) {
        let (table, figure) = place.table_and_figure();
        let [condition, first, other, item] = &place.keys;
        let _ = self.writer.write_record([
            &plain(table),
            &plain(condition),
            &plain(first),
            &plain(other),
            &cell(item),
            &cell(figure),
            &value,
            unit(table, figure, &place.unit),
            &place.row.map_or_else(String::new, |row| row.to_string()),
            self.sites,
        ]);
    }
}

/// Returns the name of an element of a list of names.
fn name(element: &Value) -> String {
    let name = element.get("shim").or_else(|| element.get("stack"));
    let name = name.unwrap_or(element).as_str();
    name.unwrap_or_default().to_owned()
}

fn unit<'a>(table: &str, figure: &str, of_case: &'a str) -> &'a str {
    let first = figure.split('.').next().unwrap_or_default();
    // The other figures of a verdict are ratios as well.
    if table.ends_with("verdicts") && ["all_turns", "median", "mean"].contains(&figure) {
        return "other/first";
    }
    if !of_case.is_empty() && IN_UNIT_OF_CASE.contains(&first) {
        return match of_case {
            "nanoseconds" => "ns",
            unit => unit,
        };
    }
    let known = UNITS.iter().find(|(end, _)| figure.ends_with(end));
    known.map_or("", |(_, unit)| unit)
}

/// Returns a text that no spreadsheet takes for a formula.
fn cell(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@']) {
        format!("'{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_value_has_a_row_that_says_what_it_is_of() {
        let summary = json!({
            "run": { "seed": 7, "command": ["netbench", "suite"], "finished": null },
            "cases": [{
                "name": "bulk",
                "part": "bulk",
                "unit": "nanoseconds",
                "stacks": [{ "stack": "openssl", "low": 1.5, "rounds": 3, "by_round": [1.0] }],
                "verdicts": [{ "first": "openssl", "other": "ring", "paired": { "ratio": 0.5 }, "mean": 0.6 }],
            }],
            "coverage": {
                "shims": [{ "shim": "openssl" }, { "shim": "ring" }],
                "features": [{ "feature": "ALPN", "works": [{ "passed": 1 }, { "passed": 2 }] }],
            },
            "sites": [{ "site": "=cmd()", "rtt_ns": 9, "alive": true }],
        });
        let document = Document {
            data: vec![&summary],
            ..Document::new("test", String::new())
        };
        let text = String::from_utf8(render(&document, &Options::default())).unwrap_or_default();
        let expected = [
            "table,condition,first,other,item,figure,value,unit,row,sites",
            "cases.stacks,bulk,openssl,,bulk,by_round.0,1.0,ns,2,",
            "cases.stacks,bulk,openssl,,bulk,low,1.5,ns,2,",
            "cases.stacks,bulk,openssl,,bulk,rounds,3,,2,",
            "cases,bulk,,,bulk,unit,nanoseconds,,1,",
            "cases.verdicts,bulk,openssl,ring,bulk,mean,0.6,other/first,3,",
            "cases.verdicts,bulk,openssl,ring,bulk,paired.ratio,0.5,other/first,3,",
            "coverage.features.works,,openssl,,ALPN,passed,1,,5,",
            "coverage.features.works,,ring,,ALPN,passed,2,,6,",
            "run,,,,,command.0,netbench,,,",
            "run,,,,,command.1,suite,,,",
            "run,,,,,seed,7,,,",
            "sites,,,,'=cmd(),alive,true,,9,",
            "sites,,,,'=cmd(),rtt_ns,9,ns,9,",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
