//! Predictions of a run's time before it starts, and during the run.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs::File,
    io::{Read, Write},
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
};

use nix::{
    pty::openpty,
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::support::{Place, until};

/// Scenarios whose rounds take more than an hour.
const LONG: &str = "suite handshake bulk --rounds 9000 --trial 5ms --stack rustls-ring";

#[test]
fn a_run_over_an_hour_needs_leave() {
    let place = Place::new();
    let done = place.netbench_line(LONG).expect(2);
    for part in ["this takes about", "h", "samples)", "--yes", "--rounds"] {
        done.tells(part);
    }
    assert!(!place.path().join("runs").exists());
    // There is no terminal on which a user could read the question.
    let done = place.netbench_line("evaluate --sites missing.txt");
    assert!(!done.stderr.contains("this takes"), "{}", done.stderr);

    let child = place.begin(&format!("{LONG} --yes"));
    until("the first sample", || place.lines("samples.jsonl") > 0);
    let done = crate::support::interrupt(child).expect(130);
    assert!(!done.stderr.contains("--yes"), "{}", done.stderr);
}

#[test]
fn a_run_over_a_minute_says_so() {
    let place = Place::with_sites("one.example\n");
    // Nothing is measured, because there is no such worker.
    let mine = "--worker mine=./missing --stack mine,mine";
    let scan = "scan --sites sites.txt --link none --worker mine=./missing --against mine";
    let both = "--worker mine=./missing --worker other=./missing --from mine --to other";
    for (line, told) in [
        (format!("suite --rounds 60 {mine}"), "samples)"),
        (format!("connect --rounds 100 {mine}"), "(20,200 samples)"),
        (
            format!("evaluate --part connections,suite {both}"),
            "(2 parts)",
        ),
        (format!("suite --rounds 60 {mine} -q"), ""),
        (format!("suite --rounds 1 {mine}"), ""),
        (format!("connect --limit 2 {mine}"), ""),
        (scan.to_owned(), ""),
    ] {
        let done = place.netbench_line(&line);
        assert_ne!(done.code, Some(0), "{line}");
        let said = done.stderr.contains("this takes about");
        assert_eq!(said, !told.is_empty(), "{line}: {}", done.stderr);
        done.tells(told);
    }
}

#[test]
fn what_is_left_of_a_run_is_estimated_when_it_goes_on() {
    let place = Place::with_sites("one.example\ntwo.example\n");
    place.connect("--link none --rounds 2");
    // No samples remain.
    let done = place.netbench_line("run RUN");
    assert!(!done.stderr.contains("this takes"), "{}", done.stderr);
    done.expect(0);
}

/// A command on a terminal.
struct Terminal {
    child: Child,
    keys: File,
    shown: JoinHandle<String>,
}

impl Terminal {
    fn open(mut command: Command) -> Self {
        let pty = openpty(None, None).unwrap();
        let child = command
            .stdin(pty.slave.try_clone().unwrap())
            .stdout(Stdio::null())
            .stderr(pty.slave)
            .env("TERM", "xterm")
            .spawn()
            .unwrap();
        let mut screen = File::from(pty.master.try_clone().unwrap());
        let shown = thread::spawn(move || {
            let (mut all, mut some) = (Vec::new(), [0; 4096]);
            // The end of a terminal is a read error.
            while let Ok(1..) = screen.read(&mut some).inspect(|n| all.extend(&some[..*n])) {}
            String::from_utf8_lossy(&all).into_owned()
        });
        Self {
            child,
            keys: File::from(pty.master),
            shown,
        }
    }

    /// Waits for the end, and returns the exit code and the contents of the screen.
    fn end(mut self) -> (Option<i32>, String) {
        let code = crate::support::end(&mut self.child);
        (code, self.shown.join().unwrap())
    }
}

#[test]
fn on_a_terminal_the_user_is_asked() {
    let place = Place::new();
    for (answer, starts) in [("\n", false), ("n\n", false), ("y\n", true)] {
        let mut command = place.command_line(LONG);
        command.env("CI", "");
        let mut terminal = Terminal::open(command);
        terminal.keys.write_all(answer.as_bytes()).unwrap();
        if starts {
            until("the first sample", || place.lines("samples.jsonl") > 0);
            let pid = i32::try_from(terminal.child.id()).unwrap();
            kill(Pid::from_raw(pid), Signal::SIGINT).unwrap();
        }
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(if starts { 130 } else { 2 }), "{shown}");
        assert!(shown.contains("Start it? [y/N]"), "{shown}");
        assert_eq!(place.path().join("runs").exists(), starts, "{shown}");
        assert_eq!(shown.contains("not started"), !starts, "{shown}");
    }
}

#[test]
fn progress_is_a_bar_on_a_terminal_and_lines_in_a_log() {
    for (ci, bar) in [("", true), ("false", true), ("true", false)] {
        let place = Place::with_sites("one.example\ntwo.example\n");
        let mut command = place.command_line("connect --sites sites.txt --link none --rounds 3");
        let terminal = Terminal::open({
            command.env("CI", ci);
            command
        });
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(0), "{shown}");
        assert_eq!(shown.contains('\x1b'), bar, "CI={ci}: {shown}");
        assert_eq!(shown.contains("12 samples to go"), !bar, "CI={ci}: {shown}");
        assert_eq!(shown.contains("12 of 12 samples"), !bar, "CI={ci}: {shown}");
    }
}
