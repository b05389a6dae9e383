//! Every format of the report, for a run with every kind of content.

use netbench_report::{ConnectReport, Options, Style};

use crate::support::{
    fixture::Fixture,
    formats::{
        assert_emulated, assert_has, assert_json, assert_valid, in_options, is_obeyed, render,
        terminal,
    },
};

fn report(fixture: &Fixture) -> ConnectReport {
    fixture.report()
}

#[test]
fn terminal_of_a_hundred_columns() {
    let report = Fixture::default().report();
    assert_emulated(&report);
    insta::assert_snapshot!(terminal(&report, 100));
}

#[test]
fn terminal_of_forty_columns() {
    let fixture = Fixture::clean();
    let report = fixture.report();
    let text = terminal(&report, 40);
    for line in text.lines() {
        let words = line.split(' ').count();
        assert!(words == 1 || line.chars().count() <= 40, "{line:?}");
    }
    insta::assert_snapshot!(text);
}

/// The answers and the differences are a line each, and the last line is the answer about the speed.
#[test]
fn brief_form() {
    let text = render(&Fixture::default().report(), "brief");
    insta::assert_snapshot!(text);
    assert_eq!(text.lines().count(), 3, "{text}");
    let alike = Fixture {
        factor: 1.0,
        ..Fixture::clean()
    };
    // A stack whose connections all fail has no parameters, and no site is called one with the same.
    let mut failing = alike.samples();
    for sample in &mut failing {
        if sample.stack.as_str() == "rustls-ring" {
            sample.outcome = netbench_model::Outcome::Unsupported {
                reason: "not built".to_owned(),
            };
        }
    }
    let failing = ConnectReport::new(alike.manifest(), failing);
    let text = render(&failing, "brief");
    let expected = "too few connections to compare times; no site was reached by both.";
    assert_has(&text, expected);
    let text = render(&report(&alike), "brief");
    let expected = "Where rustls-ring differs from openssl: no phase differs measurably; other parameters with 1 site";
    assert_has(&text, expected);
    let (first, last) = (text.lines().next().unwrap(), text.lines().last().unwrap());
    assert!(
        first.starts_with("Do connections of rustls-ring work"),
        "{text}"
    );
    assert!(
        last.starts_with("Are connections of rustls-ring fast enough? Yes."),
        "{text}"
    );
}

#[test]
fn colours_are_the_only_difference_of_a_coloured_terminal() {
    let report = Fixture::default().report();
    let options = Options {
        width: 100,
        style: Style::Color,
    };
    let coloured = in_options(&report, "terminal", &options);
    assert!(coloured.contains("\x1b[32mfaster\x1b[0m"));
    let mut plain = coloured;
    for code in ["0", "1", "2", "31", "32", "33"] {
        plain = plain.replace(&format!("\x1b[{code}m"), "");
    }
    assert_eq!(plain, terminal(&report, 100));
}

#[test]
fn markdown_form() {
    let report = Fixture::default().report();
    insta::assert_snapshot!(render(&report, "markdown"));
}

#[test]
fn csv_form() {
    let fixture = Fixture {
        rounds: 2,
        ..Fixture::default()
    };
    let report = fixture.report();
    let text = render(&report, "csv");
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
    let report = fixture.report();
    insta::assert_snapshot!(render(&report, "junit"));
}

#[test]
fn json_form_is_as_its_schema_says() {
    let fixture = Fixture::default();
    let (manifest, samples) = (fixture.manifest(), fixture.samples());
    let report = fixture.report();
    let text = render(&report, "json");
    let again: netbench_report::ConnectSummary = serde_json::from_str(&text).unwrap();
    assert_eq!(again, *report.summary);
    assert_json(&report, "connect-summary.json");
    assert_valid(&serde_json::to_value(&manifest).unwrap(), "run.json");
    for sample in &samples {
        assert_valid(&serde_json::to_value(sample).unwrap(), "sample.json");
    }
}

#[test]
fn nothing_in_any_form_is_obeyed() {
    let report = Fixture::default().report();
    let formats = [
        terminal(&report, 200),
        render(&report, "markdown"),
        render(&report, "csv"),
    ];
    for format in formats {
        assert!(
            format.contains("cmd()"),
            "the hostile text is in the report"
        );
        assert!(!format.contains(is_obeyed));
        assert!(
            !format
                .lines()
                .any(|line| line.starts_with("end") || line.starts_with('='))
        );
    }
    assert!(!render(&report, "markdown").contains("<script>"));
}
