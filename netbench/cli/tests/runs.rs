//! What is done with runs once they are kept: shards are joined, sites explained, old runs removed; and
//! folders that are not what they should be.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use netbench_model::{Manifest, Role, Sample};
use support::{Place, can_emulate, finish, manifest, samples, words};

const SITES: &str = "\
rsa.example    server=openssl        rtt=2ms key=rsa-2048 loss=2%
ecdsa.example  server=rustls-aws-lc  rtt=3ms key=ecdsa-p256 chain=3/5000
old.example    server=rustls-ring    rtt=1ms key=rsa-2048 tls=1.2 alpn=http/1.1
none.example   server=openssl        rtt=1ms tickets=0
last.example   server=rustls-ring    rtt=1ms key=ecdsa-p256
";

/// A change to a manifest.
type Change = fn(&mut Manifest);

/// Makes a run called `name`, and says where it is.
fn make(place: &Place, name: &str, more: &str) -> PathBuf {
    place.write("sites.txt", SITES);
    let line = format!("connect --sites sites.txt --quiet --name {name} {more}");
    place.netbench(&words(&line)).expect(0);
    named(place, name)
}

fn named(place: &Place, name: &str) -> PathBuf {
    let runs = fs::read_dir(place.path().join("runs")).unwrap();
    let ends = format!("-{name}");
    runs.map(|entry| entry.unwrap().path())
        .find(|path| path.to_str().unwrap().ends_with(&ends))
        .unwrap()
}

fn merge(place: &Place, runs: &[&Path], more: &[&str]) -> support::Done {
    let mut arguments = vec!["merge"];
    arguments.extend(runs.iter().map(|run| run.to_str().unwrap()));
    arguments.extend(more);
    place.netbench(&arguments)
}

fn edit(run: &Path, change: impl FnOnce(&mut Manifest)) {
    let mut edited = manifest(run);
    change(&mut edited);
    fs::write(run.join("run.json"), serde_json::to_vec(&edited).unwrap()).unwrap();
}

/// What must be equal: all but the times, the processes and their warming up.
fn trials(run: &Path) -> Vec<String> {
    let trial = |sample: &Sample| {
        format!(
            "{} {} {} {} {} {:?}",
            sample.trial, sample.round, sample.site, sample.condition, sample.stack, sample.role
        )
    };
    let samples = samples(run);
    let measured = samples.iter().filter(|sample| sample.role != Role::Warmup);
    measured.map(trial).collect()
}

#[test]
fn three_shards_merged_equal_one_run_of_the_same_seed() {
    let place = Place::new();
    let link = if can_emulate() { "user" } else { "none" };
    let how = format!("--rounds 3 --condition clean,resumed --seed 7 --jobs 1 --link {link}");
    let whole = make(&place, "whole", &how);
    let shards: Vec<PathBuf> = (1..=3)
        .map(|i| {
            make(
                &place,
                &format!("s{i}"),
                &format!("{how} --shard {i}/3 --vantage m{i}"),
            )
        })
        .collect();
    let given: Vec<&Path> = [2, 0, 1].iter().map(|i| shards[*i].as_path()).collect();
    let done = merge(&place, &given, &["--out", "all"]).expect(0);
    assert!(done.stdout.contains("Joined of 3 runs"), "{}", done.stdout);
    let all = place.path().join("all");
    assert_eq!(trials(&all), trials(&whole));
    let (joined, one) = (manifest(&all), manifest(&whole));
    assert_eq!(joined.plan.sites, one.plan.sites);
    assert_eq!((joined.plan.seed, joined.plan.rounds), (7, 3));
    assert!(joined.finished.is_some());

    // Every sample knows its vantage point, and no two shards share a block.
    let samples = samples(&all);
    for (place_of_site, site) in one.plan.sites.iter().enumerate() {
        let of_site = samples.iter().filter(|sample| sample.site == site.name());
        for sample in of_site {
            let vantage = format!("m{}", place_of_site % 3 + 1);
            assert_eq!(joined.origin.vantage_of(sample.session), vantage);
        }
    }
    let mut blocks: Vec<(u32, &str)> = samples
        .iter()
        .map(|sample| (sample.block, joined.origin.vantage_of(sample.session)))
        .collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert!(
        blocks.windows(2).all(|two| two[0].0 != two[1].0),
        "{blocks:?}"
    );

    // The same sites seen from another place become further rounds.
    let both = [whole.as_path(), given[0], given[1], given[2]];
    merge(&place, &both, &["--out", "both"]).expect(0);
    let both = manifest(&place.path().join("both"));
    assert_eq!(both.plan.rounds, 6);
    assert_eq!(both.plan.sites, one.plan.sites);
    for command in ["report both --json", "explain both", "results show both"] {
        place.netbench(&words(command)).expect(0);
    }
    let done = place.netbench(&words("connect --resume both")).expect(2);
    assert!(done.stderr.contains("joined of others"), "{}", done.stderr);
}

#[test]
fn runs_that_do_not_belong_together_are_refused_by_name() {
    let place = Place::new();
    let how = "--rounds 1 --seed 7 --link none --stack rustls-ring,rustls-aws-lc";
    let one = make(&place, "s1", &format!("{how} --shard 1/2"));
    let two = make(&place, "s2", &format!("{how} --shard 2/2"));
    let refused = |runs: &[&Path], why: &str| {
        let done = merge(&place, runs, &["--out", "new"]).expect(2);
        assert!(done.stderr.contains(why), "{why}: {}", done.stderr);
        assert!(!place.path().join("new").exists());
    };
    refused(&[&one], "shard 2/2 is missing");
    refused(&[&one, &one], "are the same run");
    refused(&[&one, &place.path().join("nowhere")], "no such run folder");

    let original = manifest(&two);
    let changes: [(&str, Change); 9] = [
        ("the version of netbench", |m| {
            m.netbench = "9.9.9".to_owned()
        }),
        ("the rounds (1 and 2)", |m| m.plan.rounds = 2),
        ("the sites file", |m| m.plan.sites_sha256 = "00".repeat(32)),
        ("the time limit", |m| m.plan.timeout_ms += 1),
        ("what clients offer", |m| m.plan.client.groups.truncate(1)),
        ("the workers of the stacks", |m| {
            m.workers
                .iter_mut()
                .for_each(|w| w.library = "x\x1b[2J".to_owned());
        }),
        ("shard 1/2 is in both", |m| {
            let shard = "1/2".parse().unwrap();
            m.origin.shard.as_mut().unwrap().shard = shard;
            m.name = "another".to_owned();
        }),
        ("was not finished", |m| m.finished = None),
        ("of seed 8, shard 1/2 is missing", |m| m.plan.seed = 8),
    ];
    for (why, change) in changes {
        edit(&two, change);
        refused(&[&one, &two], why);
        edit(&two, |m| *m = original.clone());
    }
    edit(&two, |m| m.plan.sites.truncate(1));
    refused(&[&one, &two], "not those of its shard");
    edit(&two, |m| *m = original.clone());

    let done = merge(&place, &[&one], &["--partial", "--out", "part"]).expect(0);
    assert!(
        done.stdout.contains("shard 2/2 is missing"),
        "{}",
        done.stdout
    );
    let done = merge(&place, &[&one, &two], &["--out", "part"]).expect(2);
    assert!(done.stderr.contains("something in it"), "{}", done.stderr);
    let part = place.path().join("part");
    let done = merge(&place, &[&part, &two], &["--out", "new"]).expect(2);
    assert!(
        done.stderr.contains("joined of others already"),
        "{}",
        done.stderr
    );
}

#[test]
fn shards_that_cannot_be_are_wrong_input() {
    let place = Place::new();
    place.write("sites.txt", SITES);
    for (line, why) in [
        ("--shard 1/3", "--seed"),
        ("--shard 4/3 --seed 1", "numbered from 1 to 3"),
        ("--shard 0/3 --seed 1", "numbered from 1 to 3"),
        ("--shard one --seed 1", "expected I/N"),
        ("--shard 1/6 --seed 1", "only 5 sites"),
        (
            "--shard auto --seed 1",
            "neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID",
        ),
        ("--vantage a/b", "letters, digits"),
    ] {
        let line = format!("connect --sites sites.txt {line}");
        let mut command = place.command(&words(&line));
        command
            .env_remove("JOB_COMPLETION_INDEX")
            .env_remove("SLURM_ARRAY_TASK_ID");
        let done = finish(&mut command).expect(2);
        assert!(done.stderr.contains(why), "{line}: {}", done.stderr);
    }
    let line = "connect --sites sites.txt --rounds 1 --link none --seed 1 --quiet --shard auto";
    let mut command = place.command(&words(line));
    command
        .env_remove("SLURM_ARRAY_TASK_ID")
        .env("JOB_COMPLETION_INDEX", "4")
        .env("NETBENCH_SHARDS", "5");
    finish(&mut command).expect(0);
    let sites = manifest(&place.run()).plan.sites;
    assert_eq!(sites.len(), 1);
    assert_eq!(sites[0].name(), "last.example");
}

#[test]
fn every_broken_folder_is_named_by_every_command_that_reads_one() {
    let place = Place::new();
    let run = make(
        &place,
        "one",
        "--rounds 1 --link none --stack rustls-ring,rustls-ring",
    );
    let kept = |name: &str| fs::read(run.join(name)).unwrap();
    let (json, lines) = (kept("run.json"), kept("samples.jsonl"));
    let newer =
        String::from_utf8(json.clone())
            .unwrap()
            .replacen("\"schema\": 1", "\"schema\": 99", 1);
    let newer_line =
        String::from_utf8(lines.clone())
            .unwrap()
            .replacen("\"schema\":1", "\"schema\":99", 1);
    let broken = |name: &str, json: Option<&[u8]>, lines: &[u8]| {
        let folder = place.path().join("broken").join(name);
        fs::create_dir_all(&folder).unwrap();
        if let Some(json) = json {
            fs::write(folder.join("run.json"), json).unwrap();
        }
        fs::write(folder.join("samples.jsonl"), lines).unwrap();
    };
    broken("no-manifest", None, &lines);
    broken("cut-short", Some(&json[..json.len() / 2]), &lines);
    broken("empty", Some(b""), b"");
    broken("newer", Some(newer.as_bytes()), &lines);
    broken("newer-samples", Some(&json), newer_line.as_bytes());
    broken("nonsense", Some(&json), b"{\"schema\":1}\n");
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
        for line in ["report", "explain", "merge --out new", "results show"] {
            let mut arguments = words(line);
            arguments.push(&path);
            let done = place.netbench(&arguments).expect(2);
            assert!(done.stderr.contains(why), "{line} {path}: {}", done.stderr);
            assert!(done.stderr.contains(folder), "{}", done.stderr);
        }
    }
    // A list goes on, and says of each what is wrong.
    let done = place
        .netbench(&words("results list broken runs --format csv"))
        .expect(0);
    for (folder, why) in &folders[..6] {
        let told = |line: &str| line.contains(folder) && line.contains(why);
        assert!(done.stdout.lines().any(told), "{folder}: {}", done.stdout);
    }
    // A last line that a kill has cut is passed over.
    fs::write(run.join("samples.jsonl"), &lines[..lines.len() - 5]).unwrap();
    place
        .netbench(&["explain", run.to_str().unwrap()])
        .expect(0);
    // No samples at all: nothing to compare.
    fs::write(run.join("samples.jsonl"), b"").unwrap();
    for command in ["report", "explain"] {
        place.netbench(&[command, run.to_str().unwrap()]).expect(3);
    }
}

#[test]
fn pruning_removes_old_runs_and_nothing_else() {
    let place = Place::new();
    let how = "--rounds 1 --link none --limit 1 --stack rustls-ring,rustls-ring";
    for name in ["old", "noted", "young", "busy"] {
        make(&place, name, how);
    }
    let (old, noted, busy) = (
        named(&place, "old"),
        named(&place, "noted"),
        named(&place, "busy"),
    );
    for run in [&old, &noted, &busy] {
        edit(run, |m| m.started = "2020-01-02T03:04:05Z".to_owned());
    }
    fs::write(noted.join("notes.txt"), "mine").unwrap();
    let foreign = place.path().join("runs/foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("thesis.tex"), "mine").unwrap();
    std::os::unix::fs::symlink(&old, place.path().join("runs/link")).unwrap();
    let measuring = File::open(busy.join("samples.jsonl")).unwrap();
    measuring.lock().unwrap();

    place.netbench(&words("results prune")).expect(2);
    let done = place
        .netbench(&words("results prune --older-than 30"))
        .expect(2);
    assert!(
        done.stderr.contains("--yes removes these 1 runs"),
        "{}",
        done.stderr
    );
    let done = place
        .netbench(&words("results prune --older-than 30 --dry-run"))
        .expect(0);
    for line in [
        "would be removed: ",
        "has notes.txt in it",
        "being measured",
        "foreign: no run.json",
    ] {
        assert!(done.stdout.contains(line), "{line}: {}", done.stdout);
    }
    assert!(old.exists());
    place
        .netbench(&words("results prune --keep 9 --yes"))
        .expect(0);
    assert!(old.exists());
    place
        .netbench(&words("results prune --older-than 30 --yes"))
        .expect(0);
    assert!(!old.exists());
    for stays in [&noted, &busy, &foreign, &named(&place, "young")] {
        assert!(stays.exists(), "{stays:?}");
    }
    drop(measuring);
    place
        .netbench(&words("results prune --keep 0 --yes"))
        .expect(0);
    assert!(!busy.exists() && noted.exists() && foreign.exists());
    let done = place
        .netbench(&["results", "list", noted.to_str().unwrap()])
        .expect(2);
    assert!(
        done.stderr.contains("a run, not a folder of runs"),
        "{}",
        done.stderr
    );
    place.netbench(&words("results list nowhere")).expect(2);
}

#[test]
fn manual_pages_are_of_every_command() {
    let place = Place::new();
    let page = place.netbench(&words("man")).expect(0).stdout;
    assert!(
        page.contains(".TH netbench 1") && page.contains("netbench\\-merge(1)"),
        "{page}"
    );
    place.netbench(&words("man pages")).expect(0);
    for command in [
        "netbench",
        "netbench-connect",
        "netbench-explain",
        "netbench-results-prune",
    ] {
        let page = fs::read_to_string(place.path().join(format!("pages/{command}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    place.write("file", "");
    place.netbench(&words("man file/pages")).expect(1);
}

#[test]
fn narrow_terminals_and_want_of_colour_are_heeded() {
    let place = Place::new();
    let run = make(
        &place,
        "one",
        "--rounds 1 --link none --stack rustls-ring,rustls-ring",
    );
    let run = run.to_str().unwrap();
    for arguments in [
        vec!["explain", run],
        vec!["report", run, "-q"],
        words("results list"),
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
    let line = "connect --sites sites.txt --rounds 1 --link none --limit 2 --verbose";
    let done = place.netbench(&words(line)).expect(0);
    let told = done
        .stderr
        .lines()
        .filter(|line| line.contains("round 1, "))
        .count();
    assert_eq!(told, 2 * 2, "{}", done.stderr);
    let both = format!("{line} --quiet");
    place.netbench(&words(&both)).expect(2);
}

#[test]
fn a_step_of_github_actions_gets_a_summary() {
    let place = Place::new();
    place.write("sites.txt", SITES);
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
    let mut command = place.command(&["explain", run.to_str().unwrap(), "--github-summary"]);
    finish(command.env("GITHUB_STEP_SUMMARY", "step.md")).expect(0);
    let text = fs::read_to_string(place.path().join("step.md")).unwrap();
    assert!(text.starts_with("# netbench connect: "), "{text}");
    assert!(text.contains("\n# netbench explain: "), "{text}");
}

#[test]
fn a_full_disk_is_said_and_what_was_measured_is_kept() {
    let place = Place::new();
    let run = make(
        &place,
        "one",
        "--rounds 1 --link none --stack rustls-ring,rustls-ring",
    );
    let run = run.to_str().unwrap();
    for arguments in [vec!["explain", run], words("results list"), words("man")] {
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
    if !can_emulate() {
        return;
    }
    // A disk of its own, with room for the manifest and some samples.
    fs::create_dir(place.path().join("disk")).unwrap();
    let netbench = env!("CARGO_BIN_EXE_netbench");
    let script = format!(
        "mount -t tmpfs -o size=96k none disk && {{ {netbench} connect --sites sites.txt --rounds 200 \
         --link none --quiet --out disk --stack rustls-ring,rustls-ring; code=$?; \
         cp -r disk/* kept; exit $code; }}"
    );
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(place.path());
    let done = finish(&mut command);
    if done.stderr.contains("permission denied") {
        println!("unsupported: no mounts in user namespaces here");
        return;
    }
    let done = done.expect(1);
    assert!(
        done.stderr.contains("no space left on the device"),
        "{}",
        done.stderr
    );
    let kept = place.path().join("kept");
    assert!(!samples(&kept).is_empty());
    assert!(
        done.stdout.contains("samples."),
        "the report is of what was kept: {}",
        done.stdout
    );
    place.netbench(&words("report kept")).expect(0);
}
