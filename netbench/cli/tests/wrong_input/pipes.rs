//! Output without a reader: it neither ends a measurement nor changes how a command ends.

use std::{
    fs,
    process::{Command, Stdio},
};

use crate::support::{Place, finish_unread, published, text};

/// Commands that print; `SHORT` is a run of one sample for each stack.
const LINES: &[&str] = &[
    "",
    "--help",
    "--version",
    "conect",
    "connect --help",
    "connect --sites missing.txt",
    "connect --rounds 100000",
    "setup completions bash",
    "setup completions zsh",
    "setup man",
    "setup sites print",
    "setup sites check",
    "setup sites check bad.txt",
    "suite --list",
    "suite all --case * --list",
    "runs list .",
    "runs show bertie",
    "runs report bertie",
    "runs report bertie --format html",
    "runs report bertie --json",
    "runs compare bertie --stack openssl,rustls-ring",
    "runs explain 101-sites",
    "stacks hello --stack rustls-ring",
    "stacks",
];

/// Measurements, and the files of their records.
const RUNS: &[(&str, &str)] = &[
    (
        "connect --sites sites.txt --link none --rounds 3 -v",
        "samples.jsonl",
    ),
    (
        "suite --case handshake-full_1.3_ECDHE_RSA_AES256-GCM_SHA384 --rounds 3 --trial 5ms -v",
        "samples.jsonl",
    ),
    ("scan --sites sites.txt --link none", "scan.jsonl"),
];

fn place() -> Place {
    let place = Place::with_sites("one.example\ntwo.example\n");
    place.write("bad.txt", "one two\n");
    published(&place, "bertie");
    published(&place, "101-sites");
    place
}

#[test]
fn commands_end_as_they_would() {
    let place = place();
    for line in LINES {
        let read = place.netbench_line(line);
        let unread = finish_unread(&mut place.command_line(line));
        assert_eq!(unread, read.code, "{line}: {}", read.stderr);
    }
}

#[test]
fn measurements_go_on() {
    for (line, records) in RUNS {
        let read = Place::with_sites("one.example\ntwo.example\n");
        let done = read.netbench_line(line);
        let unread = Place::with_sites("one.example\ntwo.example\n");
        let code = finish_unread(&mut unread.command_line(line));
        assert_eq!(code, done.code, "{line}: {}", done.stderr);
        assert!(read.lines(records) > 0, "{line}: {}", done.stderr);
        assert_eq!(unread.lines(records), read.lines(records), "{line}");
        assert!(unread.run().join("summary.json").exists(), "{line}");
    }
}

/// Common cases: the reader leaves after the first line, or there never was a reader.
#[test]
fn a_reader_that_leaves_or_never_came() {
    let place = place();
    let line = "connect --sites sites.txt --link none --rounds 2 -v";
    for (number, around) in ["$run 2>&1 | head -1", "$run >&- 2>&-", "$run 2>/dev/full"]
        .iter()
        .enumerate()
    {
        let out = format!("out-{number}");
        let program = env!("CARGO_BIN_EXE_netbench");
        let run = format!("'{program}' {line} --out {out}");
        let status = Command::new("sh")
            .args(["-c", &around.replace("$run", &run)])
            .current_dir(place.path())
            .env("XDG_CACHE_HOME", place.path().join("cache"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(0), "{around}");
        let runs: Vec<_> = fs::read_dir(place.path().join(&out)).unwrap().collect();
        let run = runs[0].as_ref().unwrap().path();
        // With `head`, sh waits only for head.
        crate::support::until("the end of the run", || run.join("summary.json").exists());
        let samples = text(&run, "samples.jsonl");
        let measured = samples.lines().filter(|line| line.contains("\"measured\""));
        assert_eq!(measured.count(), 2 * 2 * 2, "{around}");
    }
}
