//! `netbench report` of runs that are kept: every form, several side by side, and what is wrong.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
};

use support::{Place, finish, words};

/// A published run, copied to where a test may write, by the end of its name.
fn published(place: &Place, end: &str) -> PathBuf {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let run = fs::read_dir(results)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().ends_with(end))
        .unwrap();
    let copy = place.path().join(end);
    fs::create_dir(&copy).unwrap();
    for file in ["run.json", "samples.jsonl.zst"] {
        fs::copy(run.join(file), copy.join(file)).unwrap();
    }
    copy
}

#[test]
fn every_form_of_a_run() {
    let place = Place::new();
    published(&place, "connect-101-sites");
    published(&place, "memory-table");
    let cases = [
        ("connect-101-sites --format terminal", "By phase"),
        ("connect-101-sites --format markdown", "| site |"),
        ("connect-101-sites --format csv", "table,condition,first"),
        ("connect-101-sites --json", "\"comparisons\""),
        (
            "connect-101-sites --format junit",
            "<testsuites name=\"netbench connect\"",
        ),
        (
            "memory-table --format junit",
            "<testsuites name=\"netbench suite\"",
        ),
        ("memory-table --format html --output -", "<!DOCTYPE html>"),
        (
            "memory-table connect-101-sites --format markdown",
            "2 runs side by side",
        ),
    ];
    for (line, text) in cases {
        let line = format!("report {line}");
        let done = place.netbench(&words(&line)).expect(0);
        assert!(done.stdout.contains(text), "{line}");
    }
    let line = "report connect-101-sites --format junit --output junit.xml";
    assert_eq!(place.netbench(&words(line)).expect(0).stdout, "");
    let junit = fs::read_to_string(place.path().join("junit.xml")).unwrap();
    assert!(junit.contains("tests=\"202\""), "101 sites on two stacks");
}

#[test]
fn the_page_goes_where_it_is_wanted() {
    let place = Place::new();
    published(&place, "connect-101-sites");
    published(&place, "memory-table");
    let page = |path: &str| fs::read_to_string(place.path().join(path)).unwrap();

    let done = place.netbench(&words("report connect-101-sites --format html"));
    let done = done.expect(0);
    assert!(done.stderr.contains("connect-101-sites/report.html"));
    assert_eq!(done.stdout, "");
    let one = page("connect-101-sites/report.html");
    assert!(one.contains("<section id=\"connect\""));

    let both = "report connect-101-sites memory-table --output both.HTML --quiet";
    assert_eq!(place.netbench(&words(both)).expect(0).stderr, "");
    let both = page("both.HTML");
    for id in ["connect-1", "suite-2", "machine"] {
        assert!(both.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    // The same samples give the same page.
    place
        .netbench(&words("report connect-101-sites --output again.html"))
        .expect(0);
    assert_eq!(page("again.html"), one);
}

#[test]
fn what_is_wrong_is_said() {
    let place = Place::new();
    published(&place, "memory-table");
    fs::create_dir(place.path().join("empty")).unwrap();
    let cut = published(&place, "bertie");
    let text = fs::read(cut.join("run.json")).unwrap();
    fs::write(cut.join("run.json"), &text[..text.len() / 2]).unwrap();
    let cases: [(&str, i32, &str); 9] = [
        ("", 2, "<RUN>"),
        ("nowhere --format html", 2, "nowhere"),
        ("empty --format html", 2, "run.json"),
        ("bertie --format html", 2, "bertie/run.json"),
        ("memory-table memory-table --format html", 2, "--output"),
        ("memory-table memory-table --format csv", 2, "one run"),
        ("memory-table --format csv --open", 2, "--open"),
        ("memory-table --output - --open", 2, "--open"),
        (
            "memory-table --output no/such/page.html",
            1,
            "no/such/page.html",
        ),
    ];
    for (line, code, text) in cases {
        let line = format!("report {line}");
        let done = place.netbench(&words(&line)).expect(code);
        assert!(done.stderr.contains(text), "{line}: {}", done.stderr);
    }
}

#[test]
fn without_a_browser_it_says_where_the_page_is() {
    let place = Place::new();
    published(&place, "memory-table");
    let mut command = place.command(&words("report memory-table --open"));
    // No opener in there.
    let done = finish(command.env("PATH", place.path())).expect(1);
    assert!(
        done.stderr
            .contains("memory-table/report.html in a browser"),
        "{}",
        done.stderr
    );
    assert!(place.path().join("memory-table/report.html").is_file());
}
