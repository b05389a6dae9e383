//! Commands on stored runs: sites explained, old runs removed; and defective folders, terminals and disks.

use std::{
    fs::{self, File},
    path::PathBuf,
};

use netbench_model::ConnectManifest;

use crate::support::{
    Done, Place, assert_contains, check, edit, finish, json, names_in, text, tree, words,
};

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
            done.tells(why);
            done.tells(folder);
        }
    }
    // A list continues after a defective run, and shows the defect of each.
    let done = place.succeeds("runs list broken runs --format csv");
    for (folder, why) in &folders[..6] {
        let mut lines = done.stdout.lines();
        let told = lines.any(|line| line.contains(folder) && line.contains(why));
        assert!(told, "{folder}: {}", done.stdout);
    }
    // A last line that a kill has truncated is ignored.
    fs::write(run.join("samples.jsonl"), &lines[..lines.len() - 5]).unwrap();
    place.succeeds("runs explain RUN");
    // Without samples, there is nothing to compare.
    fs::write(run.join("samples.jsonl"), b"").unwrap();
    for line in ["runs report RUN", "runs explain RUN"] {
        place.netbench_line(line).expect(3);
    }
}

#[test]
fn a_sample_that_is_stored_twice_is_counted_once() {
    let place = Place::with_sites(SITES);
    let run = one(&place);
    let report = "runs report RUN --format json";
    let before = place.succeeds(report);
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
            place.succeeds("runs prune --compress RUN");
        }
        let after = place.succeeds(report);
        assert_eq!(after.stdout, before.stdout);
        let said = after.stderr.replace("samples.jsonl.zst", "samples.jsonl");
        assert!(said.contains(&says), "{said}");
        let explained = place.succeeds("runs explain RUN");
        explained.tells("repeat another one");
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
        let done = place.netbench_line(&format!("{command} RUN")).expect(2);
        done.tells("total_ns is 0 in a connection that ended well");
        done.tells("samples.jsonl, line ");
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
    let show = "runs show RUN --json";
    let before = place.succeeds(show).stdout;
    let measuring = File::open(run.join("samples.jsonl")).unwrap();
    measuring.lock().unwrap();
    let compress = "runs prune --compress RUN";
    let done = place.netbench_line(compress).expect(2);
    done.tells("being measured");
    drop(measuring);
    let done = place.succeeds(compress);
    done.prints("1 run: ");
    assert!(!run.join("samples.jsonl").exists());
    assert_eq!(place.succeeds(show).stdout, before);
    place.netbench_line("run RUN").tells("zstd -d --rm");
    place.succeeds("runs prune --keep 0 --yes");
    assert_eq!(names_in(&place.path().join("runs")), [""; 0]);

    let run = one(&place);
    edit(&run, |m: &mut ConnectManifest| m.finished = None);
    let done = place.netbench_line(compress).expect(2);
    done.tells("not finished");
    fs::write(run.join("samples.jsonl.zst"), "garbage").unwrap();
    fs::remove_file(run.join("samples.jsonl")).unwrap();
    place.refuses(2, "runs report RUN => not a whole zstd file");
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
    place.refuses(2, "runs prune --older-than 30 => --yes removes this run");
    let done = place.succeeds("runs prune --older-than 30 --dry-run");
    for line in [
        "would be removed: ",
        "has notes.txt in it",
        "being measured",
        "foreign: not a run",
    ] {
        done.prints(line);
    }
    assert!(old.exists());
    place.succeeds("runs prune --keep 9 --yes");
    assert!(old.exists());
    place.succeeds("runs prune --older-than 30 --yes");
    assert!(!old.exists());
    for stays in [&noted, &busy, &foreign, &young] {
        assert!(stays.exists(), "{stays:?}");
    }
    drop(measuring);
    place.succeeds("runs prune --keep 0 --yes");
    assert!(!busy.exists() && noted.exists() && foreign.exists());
    let line = format!(
        "runs list {} => a run, not a folder of runs",
        noted.display()
    );
    place.refuses(2, &line);
}

#[test]
fn manual_pages_are_of_every_command() {
    let place = Place::new();
    let page = place.succeeds("setup man").stdout;
    assert_contains(&page, ".TH netbench 1");
    assert_contains(&page, "netbench\\-runs(1)");
    place.succeeds("setup man pages");
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
    one(&place);
    for line in ["runs explain RUN", "runs report RUN -q", "runs list"] {
        let done = finish(place.command_line(line).env("COLUMNS", "40")).expect(0);
        for shown in done.stdout.lines() {
            let one_word = shown.split(' ').count() <= 2;
            assert!(one_word || shown.chars().count() <= 40, "{line}: {shown:?}");
        }
        assert!(!done.stdout.contains('\x1b') && !done.stderr.contains('\x1b'));
        if line.ends_with("-q") {
            assert_eq!(done.stderr, "");
        }
    }
    // A report for a narrow terminal names its missing columns; a report for a pipe is complete.
    let left_out = "(no room for: ";
    let report = "runs report RUN -q";
    let narrow = finish(place.command_line(report).env("COLUMNS", "40")).expect(0);
    narrow.prints(left_out);
    let piped = finish(place.command_line(report).env_remove("COLUMNS")).expect(0);
    assert!(!piped.stdout.contains(left_out), "{}", piped.stdout);
    let done = place.connect("--rounds 1 --link none --limit 2 --verbose");
    let told = done
        .stderr
        .lines()
        .filter(|line| line.contains("round 1, "))
        .count();
    assert_eq!(told, 2 * 2, "{}", done.stderr);
    place.refuses(2, "connect --verbose --quiet => cannot be used with");
}

#[test]
fn a_step_of_github_actions_gets_a_summary() {
    let place = Place::with_sites(SITES);
    let line = "connect --sites sites.txt --rounds 1 --link none --limit 1 -q --github-summary";
    let mut command = place.command_line(line);
    let done = finish(command.env_remove("GITHUB_STEP_SUMMARY")).expect(2);
    done.tells("names no file");
    assert!(
        !place.path().join("runs").exists(),
        "it was measured all the same"
    );
    let mut command = place.command_line(line);
    finish(command.env("GITHUB_STEP_SUMMARY", "step.md")).expect(0);
    let mut command = place.command_line("runs explain RUN --github-summary");
    finish(command.env("GITHUB_STEP_SUMMARY", "step.md")).expect(0);
    let text = text(place.path(), "step.md");
    assert!(text.starts_with("# netbench connect: "), "{text}");
    assert!(text.contains("\n# netbench runs explain: "), "{text}");
}

#[test]
fn a_full_output_is_said() {
    let place = Place::with_sites(SITES);
    one(&place);
    for line in ["runs explain RUN", "runs list", "setup man"] {
        let mut command = place.command_line(line);
        let full = File::options().write(true).open("/dev/full").unwrap();
        let done = Done::of(command.stdout(full)).expect(1);
        done.tells("No space left");
    }
}

#[test]
fn cases_are_followed_over_all_runs_of_a_folder() {
    let place = Place::new();
    let results = tree().join("results");
    let results = results.display();
    let line = format!("runs history {results} --case handshake-full_1.3* --stack rustls-aws-lc");
    let done = place.succeeds(&format!("{line} --json"));
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
    done.prints("damaged is left out");
    place.netbench_line("runs history nowhere").expect(2);
}
