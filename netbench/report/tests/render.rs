//! Every form of the report, of a run with everything in it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use netbench_report::{csv, json, junit, markdown, summarize, terminal};
use support::Fixture;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn terminal_of_a_hundred_columns() {
    let fixture = Fixture::default();
    let summary = summarize(&fixture.manifest(), &fixture.samples());
    insta::assert_snapshot!(text(terminal::render(
        &summary,
        100,
        terminal::Style::Plain
    )));
}

#[test]
fn terminal_of_forty_columns() {
    let fixture = Fixture {
        conditions: vec![netbench_model::Condition::Clean],
        ..Fixture::default()
    };
    let summary = summarize(&fixture.manifest(), &fixture.samples());
    let text = text(terminal::render(&summary, 40, terminal::Style::Plain));
    for line in text.lines() {
        let words = line.split(' ').count();
        assert!(words == 1 || line.chars().count() <= 40, "{line:?}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn colours_are_the_only_difference_of_a_coloured_terminal() {
    let fixture = Fixture::default();
    let summary = summarize(&fixture.manifest(), &fixture.samples());
    let coloured = text(terminal::render(&summary, 100, terminal::Style::Color));
    assert!(coloured.contains("\x1b[32mfaster\x1b[0m"));
    let mut plain = coloured;
    for code in ["0", "1", "2", "31", "32", "33"] {
        plain = plain.replace(&format!("\x1b[{code}m"), "");
    }
    assert_eq!(
        plain,
        text(terminal::render(&summary, 100, terminal::Style::Plain))
    );
}

#[test]
fn markdown_form() {
    let fixture = Fixture::default();
    let summary = summarize(&fixture.manifest(), &fixture.samples());
    insta::assert_snapshot!(text(markdown::render(&summary)));
}

#[test]
fn csv_form() {
    let fixture = Fixture {
        rounds: 2,
        ..Fixture::default()
    };
    let summary = summarize(&fixture.manifest(), &fixture.samples());
    let text = text(csv::render(&summary));
    for line in text.lines() {
        assert!(line.matches(',').count() >= 7, "{line}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn junit_form() {
    let fixture = Fixture {
        rounds: 2,
        ..Fixture::default()
    };
    let summary = summarize(&fixture.manifest(), &fixture.samples());
    insta::assert_snapshot!(text(junit::connect(&summary)));
}

#[test]
fn json_form_is_as_its_schema_says() {
    let fixture = Fixture::default();
    let (manifest, samples) = (fixture.manifest(), fixture.samples());
    let summary = summarize(&manifest, &samples);
    let bytes = json::render(&summary);
    let again: netbench_report::ConnectSummary = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(again, summary);
    let schema = |file: &str| {
        let schemas = netbench_report::schemas();
        let text = &schemas
            .iter()
            .find(|schema| schema.file == file)
            .unwrap()
            .text;
        jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
    };
    let valid = |file: &str, value: serde_json::Value| {
        let errors: Vec<_> = schema(file)
            .iter_errors(&value)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{file}: {errors:?}");
    };
    valid(
        "connect-summary.json",
        serde_json::from_slice(&bytes).unwrap(),
    );
    valid("run.json", serde_json::to_value(&manifest).unwrap());
    for sample in &samples {
        valid("sample.json", serde_json::to_value(sample).unwrap());
    }
}

#[test]
fn nothing_in_any_form_is_obeyed() {
    let fixture = Fixture::default();
    let summary = summarize(&fixture.manifest(), &fixture.samples());
    let forms = [
        text(terminal::render(&summary, 200, terminal::Style::Plain)),
        text(markdown::render(&summary)),
        text(csv::render(&summary)),
    ];
    for form in forms {
        assert!(form.contains("cmd()"), "the hostile text is in the report");
        let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!form.contains(obeyed));
        assert!(
            !form
                .lines()
                .any(|line| line.starts_with("end") || line.starts_with('='))
        );
    }
    assert!(!text(markdown::render(&summary)).contains("<script>"));
}
