//! `netbench browser features` from a user's perspective.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, path::Path};

use netbench_model::{
    compat::Judgement,
    features::{FeatureOutcome, FeatureSample, FeaturesManifest},
};
use netbench_report::FeaturesSummary;

use crate::support::{
    Place, check, finish, interrupt, json, marked_processes, piped, samples_of, signal, text,
    until, wait, with_each, words,
};

netbench_testing::module_tests! {
    chromium_does_what_the_standards_say: Chromium, Certutil, UserNamespaces, UserMounts;
    firefox_does_what_the_standards_say: Firefox, Certutil, UserNamespaces, UserMounts;
    webkitgtk_does_what_the_standards_say: WebKitGtk, Certutil, UserNamespaces, UserMounts;
    chromium_keeps_its_profile: Chromium, Certutil, UserNamespaces, UserMounts;
    firefox_keeps_its_profile: Firefox, Certutil, UserNamespaces, UserMounts;
    a_browser_without_a_profile_is_not_judged: WebKitGtk, Certutil, UserNamespaces, UserMounts;
    a_run_goes_on_where_it_was_stopped_and_leaves_nothing: Chromium, Certutil, UserNamespaces, UserMounts;
    a_browser_that_ends_is_started_again: Chromium, Certutil, UserNamespaces, UserMounts;
    the_cases_are_listed;
    wrong_input_is_said_in_a_line;
}

/// Cases of every group whose outcome is the expected one in every browser.
const CASES: &str = "\
    fetch/preflight fetch/redirect-follow xhr/upload mixed-content/image mixed-content/script hsts/remembered \
    hsts/over-http websocket/text websocket/alpn cookie/secure redirect/twenty-one \
    connection/after-close worker/import-scripts-other-site integrity/script-changed referrer/upgrade certificate/fetch-expired";

/// A case that takes long enough to press Ctrl-C.
const LONG: &str = "fetch/*";

fn chromium_does_what_the_standards_say() {
    a_browser_does_what_the_standards_say("chromium");
}

fn firefox_does_what_the_standards_say() {
    a_browser_does_what_the_standards_say("firefox");
}

fn webkitgtk_does_what_the_standards_say() {
    a_browser_does_what_the_standards_say("webkitgtk");
}

fn a_browser_does_what_the_standards_say(browser: &str) {
    let place = Place::new();
    let line = format!("browser features -q --json --timeout 60s --browser {browser}");
    let line = with_each(&line, "--case", words(CASES));
    let summary: FeaturesSummary = place.document("features-summary.json", &line);
    assert_eq!(summary.matrix.cases.len(), words(CASES).len());
    for row in &summary.matrix.cases {
        let cell = row.cells[0].as_ref().unwrap();
        assert_eq!(
            cell.judgement,
            Judgement::Right,
            "{}: {cell:?}",
            row.case.name
        );
    }
    // The server saw what the page reported.
    let samples: Vec<FeatureSample> = samples_of(&place.run());
    let preflight = samples
        .iter()
        .find(|it| it.case == "fetch/preflight")
        .unwrap();
    let FeatureOutcome::Reported { seen } = &preflight.outcome else {
        panic!("{preflight:?}");
    };
    let methods: Vec<&str> = seen
        .requests
        .iter()
        .filter(|request| request.path == "/echo")
        .map(|request| request.method.as_str())
        .collect();
    assert_eq!(methods, ["OPTIONS", "PUT"]);
    check(
        "features-sample.json",
        &serde_json::to_string(preflight).unwrap(),
    );
}

fn chromium_keeps_its_profile() {
    a_browser_restarts("chromium", Judgement::Right, 0);
}

fn firefox_keeps_its_profile() {
    a_browser_restarts("firefox", Judgement::Right, 0);
}

fn a_browser_without_a_profile_is_not_judged() {
    a_browser_restarts("webkitgtk", Judgement::Unsupported, 3);
}

/// Asserts that each case with a restart has this judgement, and the command this exit code. A browser that was not started
/// again would keep its session's cookie, and one with a new profile would lose the persistent one.
fn a_browser_restarts(browser: &str, judgement: Judgement, code: i32) {
    let place = Place::new();
    let line =
        format!("browser features -q --json --timeout 60s --browser {browser} --group restart");
    let done = place.netbench_line(&line).expect(code);
    let summary: FeaturesSummary = json(&done.stdout);
    for name in ["restart/session-cookie", "restart/persistent-cookie"] {
        let mut rows = summary.matrix.cases.iter();
        assert!(rows.any(|row| row.case.name == name), "{name}");
    }
    for row in &summary.matrix.cases {
        let cell = row.cells[0].as_ref().unwrap();
        assert_eq!(cell.judgement, judgement, "{}: {cell:?}", row.case.name);
    }
}

fn a_run_goes_on_where_it_was_stopped_and_leaves_nothing() {
    let place = Place::new();
    let temporary = place.temporary();
    let line = format!("browser features -q --json --browser chromium --case {LONG}");
    let mut command = place.command_line(&line);
    let child = piped(command.env("TMPDIR", &temporary));
    until("samples", || place.lines("samples.jsonl") >= 2);
    interrupt(child).expect(130);
    let run = place.run();
    let text = text(&run, "run.json");
    check("features-run.json", &text);
    let manifest: FeaturesManifest = json(&text);
    let planned = manifest.plan.cases.len();
    let before = samples_of::<FeatureSample>(&run).len();
    assert!((2..planned).contains(&before), "{before} of {planned}");
    let done = finish(
        place
            .command_line("run -q --json RUN")
            .env("TMPDIR", &temporary),
    )
    .expect(0);
    let summary: FeaturesSummary = json(&done.stdout);
    assert_eq!(samples_of::<FeatureSample>(&run).len(), planned);
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    let left = marked_processes(&temporary.display().to_string());
    assert!(left.is_empty(), "{left:?}");
}

fn a_browser_that_ends_is_started_again() {
    let place = Place::new();
    let temporary = place.temporary();
    let line = format!("browser features -q --json --timeout 60s --browser chromium --case {LONG}");
    let mut command = place.command_line(&line);
    let child = piped(command.env("TMPDIR", &temporary));
    until("samples", || place.lines("samples.jsonl") >= 2);
    let process = browser_of(&temporary).unwrap();
    signal("KILL", process);
    let done = wait(child).expect(0);
    let summary: FeaturesSummary = json(&done.stdout);
    let [total] = summary.totals.as_slice() else {
        panic!("{:?}", summary.totals);
    };
    let pages = summary.matrix.cases.len() as u32;
    let found = [Judgement::Crashed, Judgement::Right].map(|judgement| total.of(judgement));
    assert_eq!(found, [1, pages - 1], "{total:?}");
}

/// Returns the process of the browser whose profile is in this folder.
fn browser_of(temporary: &Path) -> Option<u32> {
    let mark = format!("--user-data-dir={}", temporary.display());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.find(|process: &u32| {
        let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command);
        // The browser's further processes have a type.
        command.contains(&mark) && !command.contains("--type=")
    })
}

fn the_cases_are_listed() {
    let place = Place::new();
    let all = place.netbench_line("browser features --list");
    let all = all.expect(0).stdout;
    assert!(all.lines().count() >= 60, "{all}");
    let some = place
        .succeeds("browser features --list --group hsts,cookie --case */secure")
        .stdout;
    let names: Vec<&str> = some
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(names, ["cookie/secure"]);
}

fn wrong_input_is_said_in_a_line() {
    let place = Place::new();
    place.refuses(
        2,
        r#"
        browser features --group fetsh => did you mean "fetch"
        browser features --case fetch/gett => did you mean "fetch/get"
        browser features --case xhr/get --group fetch => no case of --group fetch
        browser features --browser chromium,chromium => --browser names chromium twice
        browser features --browser netscape => unknown browser
        browser features --timeout 1ms => expected from
        browser --rounds 2 features => cannot be used with
    "#,
    );
}
