//! `netbench evaluate` from a user's perspective, over the lab.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    checkout::{alone, checkout},
    support::{Place, assert_contains, check, json, text, tree, without_operation, words},
};

const SITES: &str = "\
one.example    rtt=2ms
two.example    rtt=3ms
";

fn place() -> Place {
    Place::with_sites(SITES)
}

fn evaluation(stdout: &str) -> Value {
    check("evaluation.json", stdout);
    json(stdout)
}

fn states(evaluation: &Value) -> Vec<(String, String)> {
    let parts = evaluation["run"]["plan"]["parts"].as_array().unwrap();
    let states = parts.iter().map(|part| {
        let texts = [&part["part"], &part["state"]["state"]];
        texts.map(|text| text.as_str().unwrap().to_owned()).into()
    });
    states.collect()
}

fn state<'a>(states: &'a [(String, String)], part: &str) -> &'a str {
    &states.iter().find(|(name, _)| name == part).unwrap().1
}

#[test]
fn browsers_are_asked_where_there_are_any() {
    let place = place();
    let line = "evaluate --quick --sites sites.txt --part browsers --browsers=chromium --json";
    let done = place.netbench_line(line);
    let found = evaluation(&done.stdout);
    let states = states(&found);
    let question = &found["questions"][3];
    let because = question["because"].as_str().unwrap();
    assert_contains(
        question["question"].as_str().unwrap(),
        "what do browsers do",
    );
    match state(&states, "browsers") {
        "done" => {
            assert_ne!(question["answer"], "open", "{because}");
            assert!(because.contains("chromium loads 2 of 2"), "{because}");
            assert!(because.contains("does worse than a browser"), "{because}");
            let disagreements = found["found"]["clients"]["disagreements"].as_array();
            assert!(disagreements.unwrap().len() > 5);
        }
        "unsupported" => assert_eq!(question["answer"], "open"),
        other => panic!("{other}: {}", done.stderr),
    }
    let line = "evaluate --quick --part browsers";
    let refused = place.netbench_line(line).expect(2);
    refused.tells("--browsers");
}

#[test]
fn two_parts_answer_what_they_can_and_the_rest_is_said_to_be_missing() {
    let place = place();
    let line = "evaluate --quick --sites sites.txt --part features,connections --link none --json";
    // Each question needs a part that was left out, so that no question has an answer; connections were compared
    // anyway.
    let done = place.succeeds(line);
    let found = evaluation(&done.stdout);
    let states = states(&found);
    assert_eq!(state(&states, "features"), "done");
    assert_eq!(state(&states, "connections"), "done");
    assert_eq!(state(&states, "suite"), "left-out");
    let questions = found["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 3);
    assert_eq!(questions[0]["answer"], "open");
    assert_contains(questions[0]["missing"][0].as_str().unwrap(), "left out");
    assert_eq!(questions[1]["answer"], "open");
    let because = questions[1]["because"].as_str().unwrap();
    assert!(
        because.starts_with("Not decided: compatibility was not tested"),
        "{because}"
    );
    assert_eq!(found["found"]["connections"]["run"]["sites"], 2);
    done.tells("part 2 of 2: connections");

    let named = done.stderr.matches("netbench: the page so far is ").count();
    assert_eq!(named, 1, "{}", done.stderr);

    let run = place.run();
    for file in ["summary.md", "summary.csv", "summary.json"] {
        assert!(run.join(file).is_file(), "{file}");
    }
    let again = place.succeeds("runs report RUN");
    again.prints("Is rustls-aws-lc fast enough?");
    compress(&place, &run);
    prune(&place, &run);
}

/// An evaluation is compressed with the runs of its parts, and reported as before.
fn compress(place: &Place, run: &Path) {
    let report = "runs report RUN --format json";
    let before = place.succeeds(report).stdout;
    assert_ne!(samples(run), [] as [PathBuf; 0]);
    // The run is in `runs`, the default folder, where it is found compressed already.
    for line in ["runs prune --compress RUN", "runs prune --compress"] {
        place.succeeds(line);
        assert_eq!(samples(run), [] as [PathBuf; 0]);
        assert_eq!(place.succeeds(report).stdout, before);
    }
}

/// Returns the files of samples in a folder and below that are not compressed.
fn samples(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<_>, Vec<_>) = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .partition(|path| path.is_dir());
    files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .chain(folders.iter().flat_map(|folder| samples(folder)))
        .collect()
}

/// An evaluation is removed with its parts, but kept if a part contains a foreign file.
fn prune(place: &Place, run: &Path) {
    let foreign = run.join("features/mine.txt");
    fs::write(&foreign, "mine").unwrap();
    let line = words("runs prune --keep 0 --yes");
    let kept = place.netbench(&line).expect(0).stdout;
    assert_contains(&kept, "left alone");
    assert_contains(&kept, "mine.txt");
    fs::remove_file(foreign).unwrap();
    place.netbench(&line).expect(0);
    assert!(!run.exists());
}

#[test]
fn a_site_that_a_switch_loses_is_named_with_the_reason_and_on_the_page() {
    let legacy =
        "legacy.example rtt=2ms server=openssl tls=1.2 suites=TLS_RSA_WITH_AES_128_GCM_SHA256\n";
    let place = Place::with_sites(&format!("{SITES}{legacy}"));
    let line = "evaluate --quick --sites sites.txt --part sites --json";
    let done = place.netbench_line(line).expect(4);
    let found = evaluation(&done.stdout);
    let losses = &found["found"]["losses"];
    assert_eq!(losses["both"], 2, "{losses}");
    assert_eq!(losses["lost"].as_array().unwrap().len(), 1, "{losses}");
    let lost = &losses["lost"][0];
    assert_eq!(lost["site"], "legacy.example");
    assert_eq!(lost["reason"], "rsa-key-exchange-only");
    assert_eq!(lost["confirmed"], true);
    let question = &found["questions"][0];
    assert_eq!(question["answer"], "no", "a third of the sites: {question}");
    let page = text(&place.run(), "report.html");
    assert!(page.contains("legacy.example") && page.contains("rsa-key-exchange-only"));
    // A scan has no charts, and no picture of them.
    assert!(!place.run().join("report.svg").exists());
    done.tells("report.html");
}

/// The sites have the fields of old-sites.txt.
#[test]
fn cards_say_the_same_of_sites_that_a_switch_loses() {
    let sites = "\
new.example
cbc.example   tls=1.2 suites=TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256
name.example  fault=wrong-name
";
    let place = Place::with_sites(sites);
    let line = "evaluate --quick --sites sites.txt --part sites,connections --link none --json";
    let found = evaluation(&place.netbench_line(line).expect(4).stdout);
    let losses = &found["found"]["losses"];
    let connections = &found["found"]["connections"]["run"];
    assert_eq!(losses["client_profile"], "library");
    assert_eq!(connections["client_profile"], "library");

    let [sites, works] = [0, 1].map(|card| {
        let question = &found["questions"][card];
        assert_eq!(question["answer"], "no", "{question}");
        question["because"].as_str().unwrap()
    });
    let lost = "rustls-aws-lc cannot agree with 1 of the 2 emulated sites that openssl can.";
    assert!(sites.starts_with(lost), "{sites}");
    // The stack in use completes no connection to the site with the wrong name.
    assert_contains(
        works,
        "were finished: rustls-aws-lc cannot agree with 1 site that openssl can, and no other failed with \
             rustls-aws-lc alone. 1 site failed with openssl already, and is not counted.",
    );
    assert_eq!(found["questions"][1]["figures"][0]["value"], "1 of 2");
}

#[test]
fn a_part_that_fails_leaves_the_others_and_can_be_tried_again() {
    let place = place();
    let mut command = place.command(&words(
        "evaluate --quick --sites sites.txt --part features,connections --link none --worker rustls-aws-lc=./breaks --json",
    ));
    place.script("breaks", "echo 'no such thing' >&2\nexit 1");
    let done = crate::support::finish(&mut command).expect(1);
    done.tells("the part connections failed");
    let found = evaluation(&done.stdout);
    let states = states(&found);
    assert_eq!(state(&states, "features"), "done");
    assert_eq!(state(&states, "connections"), "failed");
    assert!(found["found"]["coverage"].is_object());
    let warnings = found["warnings"].as_array().unwrap();
    let mut texts = warnings.iter().map(|warning| warning.as_str().unwrap());
    let told = texts.any(|text| text.contains("The part connections failed"));
    assert!(told, "{warnings:?}");
}

/// The Cargo of this checkout fails, so that it builds no worker.
#[test]
fn the_part_without_workers_answers_before_anything_is_built() {
    let place = checkout();
    fs::create_dir(place.path().join("results")).unwrap();
    for folder in ["results/bogo", "bogo-shims"] {
        std::os::unix::fs::symlink(tree().join(folder), place.path().join(folder)).unwrap();
    }
    place.script("cargo", "echo 'no compiler' >&2\nexit 101");
    let done = alone(&place, "evaluate --quick").expect(1);
    let places = [
        "so far: Does rustls-aws-lc support what the sites need? open. ",
        "features of openssl that rustls-aws-lc lacks, ",
        "Building the openssl worker",
    ]
    .map(|text| {
        let found = done.stderr.find(text);
        found.unwrap_or_else(|| panic!("no {text:?} in {}", done.stderr))
    });
    assert!(places.is_sorted(), "{}", done.stderr);
    let run = place.run();
    assert!(run.join("report.html").is_file());
    // The run can be continued: the next part to be measured fails for the same reason.
    let line = format!("run {}", run.display());
    let again = alone(&place, &line).expect(1);
    again.tells("the part compat failed");
}

#[test]
fn what_a_worker_does_not_do_is_left_out_before_it_takes_time() {
    let place = place();
    without_operation(&place, "without-the-suite", "suite");
    let line = "evaluate --quick --sites sites.txt --part features,suite --worker rustls-aws-lc=./without-the-suite --json";
    let done = place.netbench_line(line).expect(3);
    let found = evaluation(&done.stdout);
    let suite = &found["run"]["plan"]["parts"][5];
    assert_eq!(suite["part"], "suite");
    assert_eq!(suite["state"]["state"], "unsupported");
    assert_eq!(suite["estimate_s"], 0);
    let missing = &found["questions"][2]["missing"];
    let why =
        "what the libraries take in memory: it is not supported by the worker of rustls-aws-lc";
    assert!(
        missing.as_array().unwrap().contains(&why.into()),
        "{missing}"
    );
    done.tells("the part suite is left out");
}

/// rustls with ring has no hybrid group, which the other stack negotiates with every site.
#[test]
fn stacks_that_agree_on_different_groups_are_compared_with_the_same_settings() {
    let place = place();
    let line = "evaluate --quick --sites sites.txt --part connections --from openssl --to rustls-ring --json";
    let done = place.netbench_line(line);
    let found = evaluation(&done.stdout);
    let parts = &found["found"];
    for (part, profile, leaves_out) in [
        ("connections", "library", true),
        ("same_settings", "default", false),
    ] {
        assert_eq!(parts[part]["run"]["client_profile"], profile);
        let left_out = parts[part]["left_out"].as_array().unwrap();
        assert_eq!(!left_out.is_empty(), leaves_out, "{part}");
    }
    done.tells("once more with the same settings");
    let fast = &found["questions"][2];
    let because = fast["because"].as_str().unwrap();
    assert_contains(because, "group X25519MLKEM768");
    assert_contains(because, "`--client-profile default`");
    // The resumed evaluation finds its earlier runs.
    let again = evaluation(&place.netbench_line("run --json RUN").stdout);
    assert_eq!(again["found"]["same_settings"], parts["same_settings"]);
}

/// Returns the current number of samples of the only evaluation's connections.
fn connections(place: &Place) -> Option<usize> {
    let evaluation = first_in(&place.path().join("runs"))?;
    let run = first_in(&evaluation.join("connections/run"))?;
    let samples = fs::read_to_string(run.join("samples.jsonl")).ok()?;
    Some(samples.lines().count())
}

fn first_in(folder: &Path) -> Option<PathBuf> {
    let entry = fs::read_dir(folder).ok()?.flatten().next()?;
    Some(entry.path())
}

#[test]
fn ctrl_c_keeps_what_there_is_and_the_rest_is_gone_on_with() {
    // Enough sites that the run cannot end before the stop.
    let sites: String = (0..8).map(|site| format!("site{site}.example\n")).collect();
    let place = Place::with_sites(&sites);
    let line = "evaluate --sites sites.txt --part connections --link none --json";
    let child = place.begin(line);
    crate::support::until("samples", || connections(&place) >= Some(8));
    let done = crate::support::interrupt(child).expect(130);
    let found = evaluation(&done.stdout);
    assert_eq!(state(&states(&found), "connections"), "interrupted");
    let before = found["found"]["connections"]["run"]["samples"]
        .as_u64()
        .unwrap();
    let planned = found["found"]["connections"]["run"]["planned"]
        .as_u64()
        .unwrap();
    assert!(0 < before && before < planned, "{before} of {planned}");

    let found = evaluation(&place.succeeds("run --json RUN").stdout);
    assert_eq!(state(&states(&found), "connections"), "done");
    assert_eq!(found["found"]["connections"]["run"]["samples"], planned);
}

/// The verdict rests on servers of the catalogue, in the terms of the client's users.
#[test]
fn servers_that_a_switch_loses_are_named_in_the_words_of_users() {
    let place = place();
    let line = "evaluate --quick --sites sites.txt --part compat,connections --link none --json";
    let found = evaluation(&place.succeeds(line).stdout);
    assert_eq!(state(&states(&found), "compat"), "done");
    let question = &found["questions"][1];
    assert_eq!(question["answer"], "with-losses", "{question}");
    let findings = question["findings"].as_array().unwrap();
    let shown = findings
        .iter()
        .flat_map(|found| found["evidence"].as_array().unwrap());
    let shown: Vec<&str> = shown.map(|text| text.as_str().unwrap()).collect();
    let mut effects = findings.iter().map(|found| &found["severity"]);
    assert!(
        effects.any(|effect| effect == "does-not-load"),
        "{question}"
    );
    let figures = question["figures"].as_array().unwrap();
    let of_servers = figures
        .iter()
        .find(|figure| figure["label"].as_str().unwrap().contains("test servers"));
    let value = of_servers.unwrap()["value"].as_str().unwrap();
    let (worse, _) = value.split_once(" of ").unwrap();
    assert_contains(found["sentence"].as_str().unwrap(), &format!("{worse} of"));
    // The part includes chains and trust stores too.
    for (label, wanted) in [
        ("certificate chains with which", "own/"),
        ("trust stores with which", "a site below"),
    ] {
        let figure = figures
            .iter()
            .find(|figure| figure["label"].as_str().unwrap().starts_with(label));
        assert!(figure.is_some(), "{figures:#?}");
        assert!(shown.iter().any(|text| text.contains(wanted)), "{shown:#?}");
    }
    let page = text(&place.run(), "report.html");
    assert!(page.contains("certificate/"), "the cases are on the page");
    for heading in ["Why they disagree", "Which sites are trusted"] {
        assert!(page.contains(heading), "{heading} is not on the page");
    }
}
