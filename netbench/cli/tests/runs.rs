//! Commands on stored runs: sites explained, old runs removed; and defective folders, terminals and disks.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Stdio,
};

use netbench_model::ConnectManifest;

use crate::support::{Place, check, edit, finish, json, text, tree, words};

const SITES: &str = "\
one.example    server=openssl        rtt=2ms key=rsa-2048
two.example    server=rustls-aws-lc  rtt=3ms key=ecdsa-p256 chain=3/5000
three.example  server=rustls-ring    rtt=1ms key=rsa-2048 tls=1.2 alpn=http/1.1
";

/// The minimal options of a run.
const ITSELF: &str = "--rounds 1 --link none --stack rustls-ring,rustls-ring";

/// Makes a run with one round of a stack compared with itself.
fn one(place: &Place) -> PathBuf {
    place.connect(&format!("--quiet {ITSELF}"));
    place.run()
}

#[test]
fn every_broken_folder_is_named_by_every_command_that_reads_one() {
    let place = Place::with_sites(SITES);
    let run = one(&place);
    let [json, lines] = ["run.json", "samples.jsonl"].map(|name| text(&run, name));
    let newer = json.replacen("\"schema\": 2", "\"schema\": 99", 1);
    let newer_line = lines.replacen("\"schema\":2", "\"schema\":99", 1);
    for (name, json, lines) in [
        ("no-manifest", None, &*lines),
        ("cut-short", Some(&json[..json.len() / 2]), &lines),
        ("empty", Some(""), ""),
        ("newer", Some(&newer), &lines),
        ("newer-samples", Some(&json), &newer_line),
        ("nonsense", Some(&json), "{\"schema\":1}\n"),
    ] {
        let folder = place.path().join("broken").join(name);
        fs::create_dir_all(&folder).unwrap();
        if let Some(json) = json {
            fs::write(folder.join("run.json"), json).unwrap();
        }
        fs::write(folder.join("samples.jsonl"), lines).unwrap();
    }
    let folders = [
        ("no-manifest", "no run.json"),
        ("cut-short", "not a manifest"),
        ("empty", "not a manifest"),
        ("newer", "schema 99 is newer"),
        ("newer-samples", "schema 99 is newer"),
        ("nonsense", "line 1: not a sample"),
        ("missing", "no such run folder"),
    ];
    for (folder, why) in folders {
        let path = format!("broken/{folder}");
        for line in [
            "runs report",
            "runs explain",
            "runs merge --out new",
            "runs show",
        ] {
            let mut arguments = words(line);
            arguments.push(&path);
            let done = place.netbench(&arguments).expect(2);
            assert!(done.stderr.contains(why), "{line} {path}: {}", done.stderr);
            assert!(done.stderr.contains(folder), "{}", done.stderr);
        }
    }
    // A list continues after a defective run, and shows the defect of each.
    let done = place
        .netbench_line("runs list broken runs --format csv")
        .expect(0);
    for (folder, why) in &folders[..6] {
        let mut lines = done.stdout.lines();
        let told = lines.any(|line| line.contains(folder) && line.contains(why));
        assert!(told, "{folder}: {}", done.stdout);
    }
    // A last line that a kill has truncated is ignored.
    fs::write(run.join("samples.jsonl"), &lines[..lines.len() - 5]).unwrap();
    place
        .netbench(&["runs", "explain", run.to_str().unwrap()])
        .expect(0);
    // Without samples, there is nothing to compare.
    fs::write(run.join("samples.jsonl"), b"").unwrap();
    for command in ["report", "explain"] {
        let line = ["runs", command, run.to_str().unwrap()];
        place.netbench(&line).expect(3);
    }
}

#[test]
fn a_sample_that_is_stored_twice_is_counted_once() {
    let place = Place::with_sites(SITES);
    let run = one(&place);
    let path = run.to_str().unwrap();
    let report = ["runs", "report", path, "--format", "json"];
    let before = place.netbench(&report).expect(0);
    assert!(!before.stderr.contains("repeat"), "{}", before.stderr);
    let lines = fs::read(run.join("samples.jsonl")).unwrap();
    fs::write(run.join("samples.jsonl"), lines.repeat(2)).unwrap();
    let count = lines.iter().filter(|byte| **byte == b'\n').count();
    let says = format!(
        "samples.jsonl: {count} lines repeat another one, the first is line {}",
        count + 1
    );
    for packed in [false, true] {
        if packed {
            place
                .netbench(&["runs", "prune", "--compress", path])
                .expect(0);
        }
        let after = place.netbench(&report).expect(0);
        assert_eq!(after.stdout, before.stdout);
        let said = after.stderr.replace("samples.jsonl.zst", "samples.jsonl");
        assert!(said.contains(&says), "{said}");
        let explained = place.netbench(&["runs", "explain", path]).expect(0);
        assert!(
            explained.stderr.contains("repeat another one"),
            "{}",
            explained.stderr
        );
    }
}

#[test]
fn a_connection_that_took_no_time_is_no_sample() {
    let place = Place::with_sites(SITES);
    let run = one(&place);
    let lines = text(&run, "samples.jsonl");
    let zeroed: Vec<String> = lines
        .lines()
        .map(|line| zeroed(line, "\"total_ns\":"))
        .collect();
    assert_ne!(zeroed.join("\n"), lines.trim_end());
    fs::write(run.join("samples.jsonl"), zeroed.join("\n") + "\n").unwrap();
    for command in ["runs report", "runs explain", "runs prune --compress"] {
        let mut arguments = words(command);
        arguments.push(run.to_str().unwrap());
        let done = place.netbench(&arguments).expect(2);
        let says = "total_ns is 0 in a connection that ended well";
        assert!(done.stderr.contains(says), "{command}: {}", done.stderr);
        assert!(
            done.stderr.contains("samples.jsonl, line "),
            "{command}: {}",
            done.stderr
        );
    }
}

/// Returns the line with 0 for the number after `key`.
fn zeroed(line: &str, key: &str) -> String {
    match line.split_once(key) {
        None => line.to_owned(),
        Some((before, after)) => {
            let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before}{key}0{rest}")
        }
    }
}

#[test]
fn a_packed_run_is_reported_as_before() {
    let place = Place::with_sites(SITES);
    let run = one(&place);
    let run = run.to_str().unwrap();
    let show = ["runs", "show", run, "--json"];
    let before = place.netbench(&show).expect(0).stdout;
    let measuring = File::open(place.run().join("samples.jsonl")).unwrap();
    measuring.lock().unwrap();
    let done = place
        .netbench(&["runs", "prune", "--compress", run])
        .expect(2);
    assert!(done.stderr.contains("being measured"), "{}", done.stderr);
    drop(measuring);
    let done = place
        .netbench(&["runs", "prune", "--compress", run])
        .expect(0);
    assert!(done.stdout.contains("1 run: "), "{}", done.stdout);
    assert!(!place.run().join("samples.jsonl").exists());
    assert_eq!(place.netbench(&show).expect(0).stdout, before);
    let done = place.netbench(&["run", run]);
    assert!(done.stderr.contains("zstd -d --rm"), "{}", done.stderr);
    place.netbench_line("runs prune --keep 0 --yes").expect(0);
    assert!(
        fs::read_dir(place.path().join("runs"))
            .unwrap()
            .next()
            .is_none()
    );

    let run = one(&place);
    edit(&run, |m: &mut ConnectManifest| m.finished = None);
    let done = place
        .netbench(&["runs", "prune", "--compress", run.to_str().unwrap()])
        .expect(2);
    assert!(done.stderr.contains("not finished"), "{}", done.stderr);
    fs::write(run.join("samples.jsonl.zst"), "garbage").unwrap();
    fs::remove_file(run.join("samples.jsonl")).unwrap();
    let done = place
        .netbench(&["runs", "report", run.to_str().unwrap()])
        .expect(2);
    assert!(
        done.stderr.contains("not a whole zstd file"),
        "{}",
        done.stderr
    );
}

#[test]
fn pruning_removes_old_runs_and_nothing_else() {
    let place = Place::with_sites(SITES);
    let [old, noted, young, busy] = ["old", "noted", "young", "busy"].map(|name| {
        place.connect(&format!("--quiet --name {name} --limit 1 {ITSELF}"));
        place.named(name)
    });
    for run in [&old, &noted, &busy] {
        edit(run, |m: &mut ConnectManifest| {
            m.started = "2020-01-02T03:04:05Z".to_owned()
        });
    }
    fs::write(noted.join("notes.txt"), "mine").unwrap();
    let foreign = place.path().join("runs/foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("thesis.tex"), "mine").unwrap();
    std::os::unix::fs::symlink(&old, place.path().join("runs/link")).unwrap();
    let measuring = File::open(busy.join("samples.jsonl")).unwrap();
    measuring.lock().unwrap();

    place.netbench_line("runs prune").expect(2);
    let done = place.netbench_line("runs prune --older-than 30").expect(2);
    assert!(
        done.stderr.contains("--yes removes this run"),
        "{}",
        done.stderr
    );
    let done = place
        .netbench_line("runs prune --older-than 30 --dry-run")
        .expect(0);
    for line in [
        "would be removed: ",
        "has notes.txt in it",
        "being measured",
        "foreign: not a run",
    ] {
        assert!(done.stdout.contains(line), "{line}: {}", done.stdout);
    }
    assert!(old.exists());
    place.netbench_line("runs prune --keep 9 --yes").expect(0);
    assert!(old.exists());
    place
        .netbench_line("runs prune --older-than 30 --yes")
        .expect(0);
    assert!(!old.exists());
    for stays in [&noted, &busy, &foreign, &young] {
        assert!(stays.exists(), "{stays:?}");
    }
    drop(measuring);
    place.netbench_line("runs prune --keep 0 --yes").expect(0);
    assert!(!busy.exists() && noted.exists() && foreign.exists());
    let done = place
        .netbench(&["runs", "list", noted.to_str().unwrap()])
        .expect(2);
    assert!(
        done.stderr.contains("a run, not a folder of runs"),
        "{}",
        done.stderr
    );
    place.netbench_line("runs list nowhere").expect(2);
}

#[test]
fn manual_pages_are_of_every_command() {
    let place = Place::new();
    let page = place.netbench_line("setup man").expect(0).stdout;
    assert!(
        page.contains(".TH netbench 1") && page.contains("netbench\\-runs(1)"),
        "{page}"
    );
    place.netbench_line("setup man pages").expect(0);
    for command in [
        "netbench",
        "netbench-connect",
        "netbench-runs-explain",
        "netbench-runs-prune",
    ] {
        let page = text(place.path(), &format!("pages/{command}.1"));
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    place.write("file", "");
    place.netbench_line("setup man file/pages").expect(1);
}

#[test]
fn narrow_terminals_and_want_of_colour_are_heeded() {
    let place = Place::with_sites(SITES);
    let run = one(&place);
    let run = run.to_str().unwrap();
    for arguments in [
        vec!["runs", "explain", run],
        vec!["runs", "report", run, "-q"],
        words("runs list"),
    ] {
        let done = finish(place.command(&arguments).env("COLUMNS", "40")).expect(0);
        for line in done.stdout.lines() {
            let one_word = line.split(' ').count() <= 2;
            assert!(
                one_word || line.chars().count() <= 40,
                "{arguments:?}: {line:?}"
            );
        }
        assert!(!done.stdout.contains('\x1b') && !done.stderr.contains('\x1b'));
        if arguments.contains(&"-q") {
            assert_eq!(done.stderr, "");
        }
    }
    // A report for a narrow terminal names its missing columns; a report for a pipe is complete.
    let left_out = "(no room for: ";
    let report = ["runs", "report", run, "-q"];
    let narrow = finish(place.command(&report).env("COLUMNS", "40")).expect(0);
    assert!(narrow.stdout.contains(left_out), "{}", narrow.stdout);
    let piped = finish(place.command(&report).env_remove("COLUMNS")).expect(0);
    assert!(!piped.stdout.contains(left_out), "{}", piped.stdout);
    let line = "connect --sites sites.txt --rounds 1 --link none --limit 2 --verbose";
    let done = place.netbench_line(line).expect(0);
    let told = done
        .stderr
        .lines()
        .filter(|line| line.contains("round 1, "))
        .count();
    assert_eq!(told, 2 * 2, "{}", done.stderr);
    let both = format!("{line} --quiet");
    place.netbench_line(&both).expect(2);
}

#[test]
fn a_step_of_github_actions_gets_a_summary() {
    let place = Place::with_sites(SITES);
    let line = "connect --sites sites.txt --rounds 1 --link none --limit 1 -q --github-summary";
    let mut command = place.command(&words(line));
    let done = finish(command.env_remove("GITHUB_STEP_SUMMARY")).expect(2);
    assert!(done.stderr.contains("names no file"), "{}", done.stderr);
    assert!(
        !place.path().join("runs").exists(),
        "it was measured all the same"
    );
    let mut command = place.command(&words(line));
    finish(command.env("GITHUB_STEP_SUMMARY", "step.md")).expect(0);
    let run = place.run();
    let mut command =
        place.command(&["runs", "explain", run.to_str().unwrap(), "--github-summary"]);
    finish(command.env("GITHUB_STEP_SUMMARY", "step.md")).expect(0);
    let text = text(place.path(), "step.md");
    assert!(text.starts_with("# netbench connect: "), "{text}");
    assert!(text.contains("\n# netbench runs explain: "), "{text}");
}

#[test]
fn a_full_output_is_said() {
    let place = Place::with_sites(SITES);
    let run = one(&place);
    let run = run.to_str().unwrap();
    for arguments in [
        vec!["runs", "explain", run],
        words("runs list"),
        words("setup man"),
    ] {
        let mut command = place.command(&arguments);
        let full = File::options().write(true).open("/dev/full").unwrap();
        let child = command
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let said = String::from_utf8(child.stderr).unwrap();
        assert_eq!(child.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("No space left"), "{said}");
    }
}

#[test]
fn cases_are_followed_over_all_runs_of_a_folder() {
    let place = Place::new();
    let results = tree().join("results");
    let results = results.display();
    let line = format!("runs history {results} --case handshake-full_1.3* --stack rustls-aws-lc");
    let done = place.netbench_line(&format!("{line} --json")).expect(0);
    check("suite-history.json", &done.stdout);
    let found: serde_json::Value = json(&done.stdout);
    let cases = found["cases"].as_array().unwrap();
    assert!(cases.len() > 1, "{}", done.stdout);
    for case in cases {
        assert!(
            case["name"]
                .as_str()
                .unwrap()
                .starts_with("handshake-full_1.3")
        );
        assert!(case["figures"].as_array().unwrap().len() > 1);
    }
    let damaged = place.path().join("runs/damaged");
    fs::create_dir_all(&damaged).unwrap();
    fs::write(damaged.join("run.json"), "{").unwrap();
    let done = place.netbench_line("runs history").expect(3);
    assert!(
        done.stdout.contains("damaged is left out"),
        "{}",
        done.stdout
    );
    place.netbench_line("runs history nowhere").expect(2);
}
