//! Reports in their forms, as text.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "each test binary uses some of it"
)]

use netbench_report::{Document, Options, Report, Style, form};

/// A report in the form of this name.
pub fn render(report: &dyn Report, name: &str) -> String {
    in_options(report, name, &Options::default())
}

/// A report for a terminal of `width` columns.
pub fn terminal(report: &dyn Report, width: usize) -> String {
    let options = Options {
        width,
        style: Style::Plain,
    };
    in_options(report, "terminal", &options)
}

/// A report in the form of this name, as asked for.
pub fn in_options(report: &dyn Report, name: &str, options: &Options) -> String {
    String::from_utf8(form(name).unwrap().of(report, options)).unwrap()
}

/// A document in the form of this name.
pub fn in_form(document: &Document<'_>, name: &str, options: &Options) -> String {
    String::from_utf8((form(name).unwrap().render)(document, options)).unwrap()
}

/// Fails where a form shows the name of an emulated site (all end in `.example` or `.test`) without saying that it is emulated: in its line,
/// in the heading of its column, or in a chart beside the name.
#[track_caller]
pub fn assert_emulated(report: &dyn Report) {
    // A name that a browser asked for by itself is no site.
    let is_named = |text: &str| {
        let text = text.replace("updates.example", "");
        text.contains(".example") || text.contains(".test")
    };
    let text = render(report, "markdown");
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
    let page = render(report, "html");
    for chart in page.split("<svg").skip(1) {
        let (chart, _) = chart.split_once("</svg>").unwrap();
        for (at, _) in chart.match_indices(".example") {
            let after: String = chart[at..].chars().take(40).collect();
            assert!(after.contains("(emulated)"), "{after}");
        }
    }
}
