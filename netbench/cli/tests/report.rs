//! `netbench runs report` of stored runs: every format, several runs side by side, and errors.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::support::{Place, finish, published, published_run, text};

#[test]
fn every_form_of_a_run() {
    let place = Place::new();
    published(&place, "connect-101-sites");
    published(&place, "memory-table");
    let cases = [
        ("connect-101-sites --format terminal", "By phase"),
        ("connect-101-sites --format markdown", "| emulated site |"),
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
        let line = format!("runs report {line}");
        let done = place.succeeds(&line);
        done.prints(text);
    }
    let line = "runs report connect-101-sites --format junit --output junit.xml";
    assert_eq!(place.succeeds(line).stdout, "");
    let junit = text(place.path(), "junit.xml");
    assert!(junit.contains("tests=\"202\""), "101 sites on two stacks");
}

#[test]
fn a_width_of_zero_is_none() {
    let place = Place::new();
    published(&place, "memory-table");
    let [zero, none, narrow] = ["0", "", "40"].map(|columns| {
        let mut command = place.command(&["runs", "report", "memory-table"]);
        finish(command.env("COLUMNS", columns)).expect(0).stdout
    });
    assert_eq!(zero, none);
    assert_ne!(zero, narrow);
}

/// The summary of an older netbench has figures that this one would lose.
#[test]
fn reading_a_run_changes_nothing_in_it() {
    let place = Place::new();
    let run = published(&place, "connect-101-sites");
    fs::write(run.join("summary.json"), "{\"schema\": 1, \"older\": true}").unwrap();
    let before = files(&run);
    for line in [
        "runs report connect-101-sites",
        "runs report connect-101-sites --format markdown",
        "runs report connect-101-sites --format csv",
        "runs report connect-101-sites --json",
        "runs report connect-101-sites --format junit --output junit.xml",
        "runs report connect-101-sites --output page.html",
        "runs report connect-101-sites --format html",
        "runs report connect-101-sites --open",
        "runs list .",
        "runs explain connect-101-sites",
    ] {
        place.succeeds(line);
        assert!(files(&run) == before, "{line} changed the run");
    }
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap();
    let paths = paths.map(|entry| entry.unwrap().path());
    paths
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

#[test]
fn the_page_goes_where_it_is_wanted() {
    let place = Place::new();
    published(&place, "connect-101-sites");
    published(&place, "memory-table");

    let done = place.netbench_line("runs report connect-101-sites --format html");
    let one = done.expect(0).stdout;
    assert!(one.contains("<section id=\"connect\""));

    let both = "runs report connect-101-sites memory-table --output both.HTML --quiet";
    assert_eq!(place.succeeds(both).stderr, "");
    let both = text(place.path(), "both.HTML");
    for id in ["connect-1", "suite-2", "machine"] {
        assert!(both.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    // The same samples make the same page.
    place.succeeds("runs report connect-101-sites --output again.html");
    assert_eq!(text(place.path(), "again.html"), one);
}

#[test]
fn the_page_is_opened_where_it_can_be_seen_and_named_where_not() {
    // The behaviour of xdg-open, if it is installed; the display; the message.
    let cases = [
        (None, "", "no display here: open "),
        (Some("exit 0"), "", "no display here"),
        (None, ":0", "no xdg-open here: open "),
        (Some("exit 3"), ":0", "found no browser here: open "),
        (Some("echo \"$1\" > opened"), ":0", ""),
    ];
    for (opener, display, said) in cases {
        let place = Place::new();
        published(&place, "memory-table");
        if let Some(script) = opener {
            place.script("xdg-open", script);
        }
        let mut command = place.command_line("runs report memory-table --open");
        let path = format!("{}:/bin:/usr/bin", place.path().display());
        let path = if opener.is_some() {
            path
        } else {
            place.path().display().to_string()
        };
        command
            .env("PATH", path)
            .env("DISPLAY", display)
            .env("WAYLAND_DISPLAY", "");
        let done = finish(&mut command).expect(0);
        done.tells(said);
        let page = "netbench/reports/memory-table.html";
        assert!(place.path().join("cache").join(page).is_file());
        assert!(!place.path().join("memory-table/report.html").exists());
        assert!(
            said.is_empty() || done.stderr.contains(page),
            "{}",
            done.stderr
        );
        if said.is_empty() {
            let opened = text(place.path(), "opened");
            assert!(opened.trim().ends_with(page), "{opened}");
        } else {
            assert!(!place.path().join("opened").exists());
        }
    }
}

#[test]
fn a_demonstration_is_a_whole_page() {
    let place = Place::new();
    place.succeeds("runs demo --output page.html");
    let page = text(place.path(), "page.html");
    assert!(page.starts_with("<!DOCTYPE html>"));
    assert!(page.trim_end().ends_with("</html>"));
    for question in ["support what", "work without glitches?", "fast enough?"] {
        assert!(page.contains(question), "{question}");
    }

    place.refuses(
        1,
        "runs demo --output missing/page.html => cannot write missing/page.html",
    );
}

/// A page of many stacks has pictures of all and no cards, and one of a pair has cards.
#[test]
fn pages_of_many_stacks_lead_with_pictures() {
    let [many, pair] = ["23-204717-vm-all-stacks", "27-000500-vm-rustls-vs-openssl"].map(|end| {
        let run = published_run(end);
        let line = format!("runs report {} --format html", run.display());
        Place::new().succeeds(&line).stdout
    });
    assert_eq!(many.matches("<article class=\"card").count(), 0);
    let [pictures, answers, figures] = [
        "All stacks, the best first",
        "Is the stack fast enough in memory, in place of openssl?",
        "One row for each stack",
    ]
    .map(|text| many.find(text).unwrap_or_else(|| panic!("no {text}")));
    assert!(pictures < answers && answers < figures);
    let leading = &many[pictures..answers];
    assert_eq!(leading.matches("<figure").count(), 10);
    // Both widths of the first picture have every stack that has the figure.
    let first = &leading[..leading.find("</figure>").unwrap()];
    assert_eq!(first.matches("rustls-graviola").count(), 2 * 2);
    assert_eq!(pair.matches("<article class=\"card").count(), 1);
    assert!(!pair.contains("All stacks, the best first"));
}
