mod shape;

use csv::{Terminator, Writer, WriterBuilder};
use serde_json::Value;

use self::shape::Shape;
use super::{Format, Options};
use crate::{
    document::Document,
    text::{plain, sites_word},
};

/// The values of the JSON, one per row (RFC 4180, except for line ends of one character): a table that any program
/// can filter; with a column for each figure, the columns would differ by table.
///
/// The schema of the summary declares the fields that identify a row, and the units: see [`Shape`].
pub(super) const FORMAT: Format =
    Format::new("csv", "csv", "Every value of the JSON, one a row", render);

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
    // The names of emulated sites are those of hosts that a figure is not about.
    "sites",
];

/// The columns that identify a row.
const KEYS: [&str; 4] = ["condition", "first", "other", "item"];
const FIRST: usize = 1;
const ITEM: usize = 3;

/// The endings of names of fields that include their unit.
const ENDINGS: [(&str, &str); 7] = [
    ("bytes_per_second", "bytes/s"),
    ("per_second", "1/s"),
    ("_ns", "ns"),
    ("_us", "µs"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("bytes", "bytes"),
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
        let (value, schema) = (serde_json::to_value(data), data.schema());
        let shape = Shape::of(schema.as_value());
        rows.value(&value.unwrap_or_default(), shape, &place);
    }
    rows.writer.into_inner().unwrap_or_default()
}

/// The position of a value.
#[derive(Clone, Default)]
struct Place<'a> {
    /// The names of the fields that lead to the value, separated by dots.
    path: String,
    /// The length of the part of the path that leads to the row's list.
    table: usize,
    /// The columns of [`KEYS`].
    keys: [String; 4],
    /// The fields that are used in these columns.
    used: Vec<&'a str>,
    unit: String,
    /// Whether only numbers with a fraction have the unit: it is that of a value around the field, and whole numbers in
    /// it are counts.
    of_fractions: bool,
    row: Option<usize>,
    /// The value that the value is in.
    around: Option<&'a Around<'a>>,
}

/// A value with the values that it is in.
struct Around<'a> {
    value: &'a Value,
    shape: Shape<'a>,
    outer: Option<&'a Self>,
}

impl<'a> Around<'a> {
    /// Returns the values, the innermost first.
    fn all(place: Option<&'a Self>) -> impl Iterator<Item = &'a Self> {
        std::iter::successors(place, |around| around.outer)
    }

    /// Returns the value at a JSON pointer from the innermost value that has one, with its shape.
    fn find(place: Option<&'a Self>, pointer: &str) -> Option<(&'a Value, Shape<'a>)> {
        let mut all = Self::all(place);
        let (found, around) =
            all.find_map(|around| Some((around.value.pointer(pointer)?, around)))?;
        let fields = pointer.split('/').skip(1);
        Some((found, fields.fold(around.shape, Shape::field)))
    }
}

impl<'a> Place<'a> {
    /// Returns the place of a field or of a numbered element.
    fn inside(&self, name: &str) -> Self {
        let mut inside = self.clone();
        inside.used.clear();
        if !inside.path.is_empty() {
            inside.path.push('.');
        }
        inside.path.push_str(name);
        inside
    }

    /// Returns the place of a field, with the unit of its figures.
    fn field(&self, name: &str, shape: Shape<'_>) -> Self {
        let mut inside = self.inside(name);
        let ending = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
        let own = self.unit(shape);
        if let Some(unit) = own.or_else(|| Some(ending?.1.to_owned())) {
            (inside.unit, inside.of_fractions) = (unit, false);
        }
        inside
    }

    /// Returns the unit that a schema declares for the value.
    fn unit(&self, shape: Shape<'_>) -> Option<String> {
        let unit = match shape.keyword(shape::UNIT_IN) {
            Some(field) => {
                let mut all = Around::all(self.around);
                all.find_map(|around| around.value.get(field)?.as_str())
            }
            None => shape.keyword(shape::UNIT),
        };
        let unit = unit?;
        Some(if unit == "nanoseconds" { "ns" } else { unit }.to_owned())
    }

    /// Fills the columns that identify a row from an element's fields. Returns whether there was such a field.
    fn identify(&mut self, element: &'a Value, shape: Shape<'_>) -> bool {
        let fields = element.as_object().into_iter().flatten();
        let mut keys: [Vec<String>; 4] = Default::default();
        for (field, value) in fields {
            let Some(key) = shape.field(field).keyword(shape::KEY) else {
                continue;
            };
            let column = KEYS.iter().position(|column| *column == key);
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => continue,
            };
            if let Some(column) = column {
                keys[column].push(text);
                self.used.push(field);
            }
        }
        for (column, mut words) in keys.into_iter().enumerate() {
            if words.is_empty() {
                continue;
            }
            let outer = &mut self.keys[column];
            if column == ITEM && !outer.is_empty() {
                words.insert(0, std::mem::take(outer));
            }
            *outer = words.join(": ");
        }
        !self.used.is_empty()
    }

    /// Identifies the row by an element of a list of names.
    fn name(&mut self, name: &'a Value, shape: Shape<'_>) -> bool {
        if let Value::String(name) = name {
            name.clone_into(&mut self.keys[FIRST]);
            return true;
        }
        let is_known = self.identify(name, shape);
        // These are fields of another value.
        self.used.clear();
        is_known
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

struct Rows {
    writer: Writer<Vec<u8>>,
    count: usize,
    /// The value of the column `sites`.
    sites: &'static str,
}

impl Rows {
    fn value(&mut self, value: &Value, shape: Shape<'_>, place: &Place<'_>) {
        match value {
            Value::Null => {}
            Value::Object(fields) => {
                let around = Around {
                    value,
                    shape,
                    outer: place.around,
                };
                let mut place = place.clone();
                place.around = Some(&around);
                if let Some(unit) = place.unit(shape) {
                    place.unit = unit;
                }
                if !shape.is_map() {
                    place.of_fractions = true;
                }
                for (field, value) in fields {
                    if !place.used.contains(&field.as_str()) {
                        let shape = shape.field(field);
                        self.value(value, shape, &place.field(field, shape));
                    }
                }
            }
            Value::Array(elements) => self.list(elements, shape, place),
            Value::String(text) => self.write(cell(text), "", place),
            Value::Bool(_) => self.write(value.to_string(), "", place),
            Value::Number(number) => {
                let has_unit = !place.of_fractions || number.is_f64();
                let unit = if has_unit { place.unit.as_str() } else { "" };
                self.write(number.to_string(), unit, place);
            }
        }
    }

    /// Writes the elements of a list: those that can be identified become rows of a table; others have their number
    /// in the path.
    fn list(&mut self, elements: &[Value], shape: Shape<'_>, place: &Place<'_>) {
        let names = shape
            .keyword(shape::NAMES)
            .and_then(|pointer| Around::find(place.around, pointer));
        let elements = elements.iter().enumerate();
        for (number, element) in elements.filter(|(_, element)| !element.is_null()) {
            let of_element = shape.element(number);
            let mut inside = place.clone();
            inside.used.clear();
            let name = names.and_then(|(names, of)| Some((names.get(number)?, of)));
            let is_named = name.is_some_and(|(name, of)| inside.name(name, of.element(number)));
            if inside.identify(element, of_element) || is_named {
                self.count += 1;
                (inside.row, inside.table) = (Some(self.count), inside.path.len());
                self.value(element, of_element, &inside);
            } else {
                self.value(element, of_element, &place.inside(&number.to_string()));
            }
        }
    }

    fn write(&mut self, value: String, unit: &str, place: &Place<'_>) {
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
            unit,
            &place.row.map_or_else(String::new, |row| row.to_string()),
            self.sites,
        ]);
    }
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
    use netbench_model::{Part, StackName, Unit};
    use schemars::JsonSchema;
    use serde::Serialize;

    use super::*;

    #[derive(Serialize, JsonSchema)]
    struct Summary {
        seed: Option<u64>,
        command: Vec<String>,
        stacks: Vec<String>,
        cases: Vec<Case>,
        sites: Vec<Site>,
    }

    #[derive(Serialize, JsonSchema)]
    struct Case {
        #[schemars(extend("x-key" = "item"))]
        name: String,
        part: Part,
        unit: Unit,
        figures: Vec<Figures>,
        verdicts: Vec<Verdict>,
        #[schemars(extend("x-names" = "/stacks"))]
        passed: Vec<Option<u64>>,
    }

    #[derive(Serialize, JsonSchema)]
    #[schemars(extend("x-unit-in" = "unit"))]
    struct Figures {
        stack: StackName,
        low: f64,
        rounds: u64,
        by_round: Vec<f64>,
        cpu_ms: u64,
    }

    #[derive(Serialize, JsonSchema)]
    struct Verdict {
        first: StackName,
        #[schemars(extend("x-key" = "other"))]
        other: StackName,
        change: Ratio,
    }

    #[derive(Serialize, JsonSchema)]
    #[schemars(extend("x-unit" = "other/first"))]
    struct Ratio {
        pairs: u64,
        ratio: f64,
    }

    #[derive(Serialize, JsonSchema)]
    struct Site {
        #[schemars(extend("x-key" = "item"))]
        site: String,
        rtt_ns: u64,
        alive: bool,
        versions: Vec<Version>,
    }

    #[derive(Serialize, JsonSchema)]
    struct Version {
        #[schemars(extend("x-key" = "item"))]
        version: String,
        suites: u64,
    }

    #[test]
    fn every_value_has_a_row_that_identifies_it() {
        let summary = Summary {
            seed: None,
            command: vec!["netbench".to_owned()],
            stacks: ["openssl", "ring"].map(str::to_owned).to_vec(),
            cases: vec![Case {
                name: "bulk".to_owned(),
                part: Part::Bulk,
                unit: Unit::Nanoseconds,
                figures: vec![Figures {
                    stack: StackName::new("openssl"),
                    low: 1.5,
                    rounds: 3,
                    by_round: vec![1.0],
                    cpu_ms: 2,
                }],
                verdicts: vec![Verdict {
                    first: StackName::new("openssl"),
                    other: StackName::new("ring"),
                    change: Ratio {
                        pairs: 4,
                        ratio: 0.5,
                    },
                }],
                passed: vec![Some(1), None],
            }],
            sites: vec![Site {
                site: "=cmd()".to_owned(),
                rtt_ns: 9,
                alive: true,
                versions: vec![Version {
                    version: "1.3".to_owned(),
                    suites: 2,
                }],
            }],
        };
        let document = Document {
            data: vec![&summary],
            ..Document::new("test", String::new())
        };
        let text = String::from_utf8(render(&document, &Options::default())).unwrap_or_default();
        let expected = [
            "table,condition,first,other,item,figure,value,unit,row,sites",
            "cases.figures,bulk,openssl,,bulk,by_round.0,1.0,ns,2,",
            "cases.figures,bulk,openssl,,bulk,cpu_ms,2,ms,2,",
            "cases.figures,bulk,openssl,,bulk,low,1.5,ns,2,",
            "cases.figures,bulk,openssl,,bulk,rounds,3,,2,",
            "cases.passed,bulk,openssl,,bulk,passed,1,,3,",
            "cases,bulk,,,bulk,unit,nanoseconds,,1,",
            "cases.verdicts,bulk,openssl,ring,bulk,change.pairs,4,,4,",
            "cases.verdicts,bulk,openssl,ring,bulk,change.ratio,0.5,other/first,4,",
            "command,,,,,0,netbench,,,",
            "sites,,,,'=cmd(),alive,true,,5,",
            "sites,,,,'=cmd(),rtt_ns,9,ns,5,",
            "sites.versions,,,,'=cmd(): 1.3,suites,2,,6,",
            "stacks,,,,,0,openssl,,,",
            "stacks,,,,,1,ring,,,",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
