//! Reports in their formats, as text.

use netbench_report::{Options, Report, Style, format};
use serde_json::Value;

/// Renders a report in the format of this name.
pub fn render(report: &dyn Report, name: &str) -> String {
    in_options(report, name, &Options::default())
}

/// Renders a report for a terminal of `width` columns.
pub fn terminal(report: &dyn Report, width: usize) -> String {
    let options = Options {
        width,
        style: Style::Plain,
    };
    in_options(report, "terminal", &options)
}

/// Renders a report in the format of this name, with these options.
pub fn in_options(report: &dyn Report, name: &str, options: &Options) -> String {
    String::from_utf8(format(name).unwrap().of(report, options)).unwrap()
}

/// Returns the page of a report.
pub fn html(report: &dyn Report) -> String {
    render(report, "html")
}

/// Fails if the JSON of a report is not as the schema in this file describes it.
#[track_caller]
pub fn assert_json(report: &dyn Report, file: &str) {
    let value = serde_json::from_str(&render(report, "json")).unwrap();
    assert_valid(&value, file);
}

/// Fails if a value is not as the schema in this file under `netbench/schemas/` describes it.
#[track_caller]
pub fn assert_valid(value: &Value, file: &str) {
    let path = format!("{}/../schemas/{file}", env!("CARGO_MANIFEST_DIR"));
    let schema = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    if let Err(error) = jsonschema::validate(&schema, value) {
        panic!("{file}: {error} at {}", error.instance_path());
    }
}

/// Returns whether a terminal or a browser would obey a character.
pub fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n') || c == '\u{202e}'
}

/// Fails with the whole text if it lacks this part.
#[track_caller]
pub fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "no {part:?} in {text}");
}

/// Fails with the whole text if it has this part.
#[track_caller]
pub fn assert_lacks(text: &str, part: &str) {
    assert!(!text.contains(part), "{part:?} in {text}");
}

/// Fails where a format has a character that its reader would obey.
#[track_caller]
pub fn assert_harmless(report: &dyn Report) {
    for name in ["terminal", "markdown", "csv", "junit", "html"] {
        let text = render(report, name);
        assert!(!text.contains(is_obeyed), "{name}: {text}");
    }
}

/// Fails where a format shows the name of an emulated site (all end in `.example` or `.test`) without saying that it is emulated.
#[track_caller]
pub fn assert_emulated(report: &dyn Report) {
    assert_markdown(&render(report, "markdown"));
    // The lines of a paragraph have one heading.
    for paragraph in terminal(report, usize::MAX).split("\n\n") {
        let says = !is_named(paragraph) || paragraph.contains("mulated");
        assert!(says, "{paragraph}");
    }
    let page = render(report, "html");
    for chart in page.split("<svg").skip(1) {
        let (chart, _) = chart.split_once("</svg>").unwrap();
        assert_each_name(chart);
    }
    for table in page.split("<table").skip(1) {
        let (table, _) = table.split_once("</table>").unwrap();
        assert!(!is_named(table) || table.contains("mulated"), "{table}");
    }
    let csv = render(report, "csv");
    let mut rows = csv.lines();
    assert!(rows.next().unwrap().ends_with(",sites"));
    for row in rows {
        assert!(!is_named(row) || row.ends_with(",emulated"), "{row}");
    }
    for name in ["junit", "sarif"] {
        let format = format(name).unwrap();
        if format
            .unsupported(&report.document(format.extent))
            .is_none()
        {
            assert_checks(&render(report, name));
        }
    }
}

/// Whether a site is named. A name that a browser asked for by itself is no site.
fn is_named(text: &str) -> bool {
    let text = text.replace("updates.example", "");
    text.contains(".example") || text.contains(".test")
}

/// Fails where the line, the heading of the column or the words themselves do not say it.
#[track_caller]
fn assert_markdown(text: &str) {
    let mut headings: Vec<&str> = Vec::new();
    let mut named = 0;
    for line in text.lines() {
        if !line.starts_with('|') {
            headings.clear();
        } else if headings.is_empty() {
            headings = line.split('|').collect();
        }
        named += usize::from(is_named(line));
        if line.contains("emulated") {
            continue;
        }
        match line.starts_with('|') {
            false => assert!(!is_named(line), "{line}"),
            true => {
                for (heading, cell) in headings.iter().zip(line.split('|')) {
                    assert!(
                        !is_named(cell) || heading.contains("emulated"),
                        "{heading}: {line}"
                    );
                }
            }
        }
    }
    assert!(named > 0, "no site is named: {text}");
}

/// Fails where the name of a check is that of a site alone. The reason of a failure belongs to its check.
#[track_caller]
fn assert_checks(text: &str) {
    for line in text.lines().filter(|line| is_named(line)) {
        let is_name = [
            "<testcase",
            "<testsuite",
            "\"name\"",
            "\"fullyQualifiedName\"",
            "\"text\"",
        ];
        if is_name.iter().any(|part| line.contains(part)) {
            assert!(line.contains("mulated"), "{line}");
        }
    }
}

/// Fails where a name is not followed by the word.
#[track_caller]
fn assert_each_name(text: &str) {
    for (at, _) in text.match_indices(".example") {
        let after: String = text[at..].chars().take(40).collect();
        assert!(after.contains("(emulated)"), "{after}");
    }
}
