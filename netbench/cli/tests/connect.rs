//! `netbench connect` from a user's perspective: real workers, real connections, real links.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use netbench_model::{Condition, ConnectManifest, Outcome, Profile};
use netbench_testing::Tool;

use crate::support::{
    Place, assert_contains, check, check_lines, description_of_mine, edit, failure, figures,
    in_a_line, manifest, mark, marked_processes, measured, piped, samples, text,
};

const SITES: &str = "\
rsa.example    server=openssl        rtt=2ms key=rsa-2048
ecdsa.example  server=rustls-aws-lc  rtt=4ms key=ecdsa-p256 chain=3/5000
old.example    server=rustls-ring    rtt=1ms key=rsa-2048 tls=1.2 alpn=http/1.1
none.example   server=openssl        rtt=1ms tickets=0
";

fn place() -> Place {
    Place::with_sites(SITES)
}

/// A quick run measures every third of 13 sites.
#[test]
fn a_quick_run_has_at_most_six_sites_and_three_lines() {
    let sites: String = (0..13)
        .map(|n| format!("site-{n}.example rtt=1ms\n"))
        .collect();
    let place = Place::with_sites(&sites);
    let line = "connect --quick --sites sites.txt --rounds 1 --link none";
    let done = place.succeeds(line);
    let manifest = manifest(&place.run());
    let names: Vec<_> = manifest.plan.sites.iter().map(|site| site.name()).collect();
    let expected = [0, 3, 6, 9, 12].map(|n| format!("site-{n}.example"));
    assert_eq!(names, expected);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", done.stdout);
    assert_contains(lines[0], "10 connections to 5 sites");
    assert!(lines[1].starts_with("Where rustls-aws-lc differs from openssl: too few"));
    assert!(lines[2].starts_with("Are connections of rustls-aws-lc fast enough? Open."));
    let table = place.succeeds(&format!("{line} --format csv --name table"));
    assert_contains(table.stdout.lines().next().unwrap(), ",");
}

#[test]
fn every_sample_is_a_handshake_that_the_server_counted_too() {
    let place = place();
    place.connect("--rounds 2 --link none");
    let run = place.run();
    let (manifest, samples) = (manifest(&run), samples(&run));
    assert_eq!(measured(&run).len(), 4 * 2 * 2);
    let mut ok: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in &samples {
        let figures = figures(sample);
        let server = figures
            .server
            .as_ref()
            .expect("the lab's server says what it saw");
        assert_eq!(figures.client.suite, server.negotiated.suite);
        assert!(!figures.client.resumed);
        assert!(figures.phases.tls_ns > 0 && figures.phases.verify_ns.is_some());
        *ok.entry(&sample.site).or_default() += 1;
    }
    for count in &manifest.sessions[0].served {
        assert_eq!(
            Some(&count.handshakes),
            ok.get(count.site.as_str()),
            "{}",
            count.site
        );
        assert_eq!(count.responses, count.handshakes);
    }
    assert!(manifest.finished.is_some());
    assert_eq!(manifest.warnings, Vec::<String>::new());
}

#[test]
fn each_stack_offers_what_its_library_does_unless_settings_are_fixed() {
    let cases = [
        ("", Profile::Library),
        ("--client-profile default", Profile::Default),
        ("--groups x25519", Profile::Default),
        ("--only old.example --sweep body=1k,2k", Profile::Default),
        (
            "--only old.example --sweep body=1k,2k --client-profile library",
            Profile::Library,
        ),
    ];
    for (number, (options, profile)) in cases.into_iter().enumerate() {
        let place = place();
        let line = format!(
            "connect --sites sites.txt --rounds 1 --link none --stack openssl,rustls-ring {options}"
        );
        let done = place.succeeds(&line);
        assert_eq!(
            manifest(&place.run()).plan.client.profile,
            profile,
            "{options}"
        );
        // Only OpenSSL has a hybrid group, which sites served by OpenSSL select. The report names the remedy.
        let text = in_a_line(&done.stdout);
        let named = text.contains("`--client-profile default` has both offer the same");
        assert_eq!(named, number == 0, "{options}: {text}");
        let again = format!("--client-profile {}", profile.name());
        assert!(text.contains(&again), "{options}: {text}");
    }
}

#[test]
fn a_run_does_not_go_on_with_other_workers() {
    let place = place();
    place.connect("--rounds 1 --link none");
    let run = place.run();
    let mut manifest = manifest(&run);
    manifest.workers[0].library = "of another day".to_owned();
    fs::write(run.join("run.json"), serde_json::to_vec(&manifest).unwrap()).unwrap();
    place.refuses(2, "run RUN => another worker");
}

#[test]
fn a_run_that_another_process_measures_is_left_alone() {
    let place = place();
    place.connect("--rounds 1 --link none");
    let run = place.run();
    edit(&run, |manifest: &mut ConnectManifest| {
        manifest.finished = None
    });
    let before = text(&run, "run.json");
    let samples = fs::File::open(run.join("samples.jsonl")).unwrap();
    samples.lock().unwrap();
    let done = place.netbench_line("run RUN").expect(1);
    done.tells("another netbench");
    assert_eq!(text(&run, "run.json"), before);
}

#[test]
fn conditions_are_what_they_say() {
    let place = place();
    let stacks = "--stack openssl,rustls-aws-lc,rustls-ring";
    place.connect(&format!(
        "--rounds 1 --link none --condition clean,resumed,cold {stacks}"
    ));
    for sample in measured(&place.run()) {
        match (&sample.outcome, sample.condition, sample.site.as_str()) {
            (Outcome::Unsupported { reason }, Condition::Resumed, "none.example") => {
                assert_eq!(reason, "the site does not resume sessions");
            }
            (Outcome::Ok(figures), condition, _) => {
                let resumes = condition == Condition::Resumed;
                assert_eq!(figures.client.resumed, resumes, "{sample:?}");
                assert_eq!(figures.phases.connector_ns.is_none(), resumes);
                assert_eq!(figures.phases.verify_ns.is_none(), resumes);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn clients_with_a_share_of_a_core_connect_and_the_report_says_so() {
    let place = place();
    let done = place.connect(
        "--limit 2 --rounds 2 --link none --stack rustls-ring,rustls-aws-lc \
                --client-profile default --condition clean,cold --cpu 25% --json",
    );
    let run = place.run();
    let share = manifest(&run).plan.cpu_percent.unwrap();
    assert_eq!(share.percent(), 25);
    check("run.json", &text(&run, "run.json"));
    done.prints("each client had 25 % of a core's time");
    for sample in measured(&run) {
        assert!(sample.outcome.ok().is_some(), "{sample:?}");
    }

    for wrong in ["25", "0%", "100%"] {
        place.refuses(2, &format!("connect --cpu {wrong} => such as 25%"));
    }
}

#[test]
fn json_is_as_the_schema_says() {
    let place = place();
    let done = place.connect("--rounds 1 --link none --json");
    let run = place.run();
    check("connect-summary.json", &done.stdout);
    check("connect-summary.json", &text(&run, "summary.json"));
    check("run.json", &text(&run, "run.json"));
    check_lines("sample.json", &text(&run, "samples.jsonl"));
    let again = place.succeeds("runs report RUN --json");
    assert_eq!(
        again.stdout, done.stdout,
        "a report is made again from the samples"
    );
}

#[test]
fn faults_end_in_time_with_their_class_and_spare_the_other_sites() {
    let place = Place::new();
    let faults = [
        ("refuse", "connect: refused"),
        ("silent", "timeout: in tls"),
        ("reset", "closed: reset"),
        ("garbage", "protocol: "),
        ("endless-certificate", "protocol: "),
        ("close-mid-handshake", "closed: end of stream"),
        ("slow-response", "timeout: in total"),
        ("bad-http", "http: "),
        ("wrong-name", "certificate: wrong-name"),
        ("unknown-root", "certificate: unknown-issuer"),
        ("expired", "certificate: expired"),
    ];
    let mut sites = "good.example\n".to_owned();
    for (fault, _) in faults {
        sites += &format!("{fault}.example fault={fault}\n");
    }
    place.write("sites.txt", &sites);
    let done = place.connect("--rounds 1 --link none --timeout 700ms");
    let samples = measured(&place.run());
    assert_eq!(samples.len(), 2 * (1 + faults.len()));
    for sample in samples {
        let fault = faults
            .iter()
            .find(|(fault, _)| sample.site == format!("{fault}.example"));
        match (fault, failure(&sample)) {
            (None, None) => {}
            (Some((_, expected)), Some(found)) => {
                assert!(
                    found.starts_with(expected),
                    "{} {}: {found}",
                    sample.site,
                    sample.stack
                );
            }
            other => panic!("{} {}: {other:?}", sample.site, sample.stack),
        }
    }
    assert!(
        !done.stdout.contains('\x1b'),
        "a server's escape codes stay out of the report"
    );
    done.prints("unknown-issuer");
}

#[test]
fn a_worker_that_dies_hangs_or_babbles_loses_its_own_samples_only() {
    let description = description_of_mine(&["connect"]);
    let cases = [
        (
            "echo last words >&2; exit 7",
            "died",
            "exited with 7; it said: last words",
        ),
        ("sleep 600 & wait", "hung", "did not answer within"),
        (
            "printf 'no\\033[31m json\\n'",
            "nonsense",
            "no\u{fffd}[31m json",
        ),
        (
            r#"echo '{"id":999,"type":"configured"}'"#,
            "nonsense",
            "an answer to request 999",
        ),
    ];
    for (act, reason, detail) in cases {
        let place = Place::with_sites("one.example\ntwo.example\n");
        let script = format!(
            "while read -r line; do case $line in\n\
             *describe*) echo '{description}' ;;\n\
             *configure*) echo '{{\"id\":1,\"type\":\"configured\"}}' ;;\n\
             *) {act} ;;\nesac; done"
        );
        place.script("worker.sh", &script);
        let line = "connect --sites sites.txt --rounds 1 --link none --timeout 200ms \
                    --stack rustls-ring,mine --worker mine=./worker.sh";
        let done = place.netbench_line(line).expect(3);
        let run = place.run();
        for sample in measured(&run) {
            if sample.stack.stack() == "mine" {
                assert_eq!(failure(&sample), Some(format!("worker: {reason}")), "{act}");
                let Outcome::Failed(failure) = &sample.outcome else {
                    unreachable!()
                };
                assert!(failure.detail.contains(detail), "{act}: {}", failure.detail);
            } else {
                assert!(sample.outcome.ok().is_some(), "{act}: {:?}", sample.outcome);
            }
        }
        done.prints("cannot be compared");
    }
}

#[test]
fn a_killed_run_leaves_nothing_behind_and_goes_on() {
    let place = place();
    let emulated = Tool::UserNamespaces.missing().is_none();
    let link = if emulated { "user" } else { "none" };
    let line = format!("connect --sites sites.txt --rounds 12 --seed 3 --link {link}");
    let mut command = place.command_line(&line);
    let mark = mark(&place, &mut command);
    let mut child = piped(&mut command);
    crate::support::until("samples", || place.lines("samples.jsonl") >= 15);
    assert!(marked_processes(&mark).len() > 2, "workers are running");
    child.kill().unwrap();
    child.wait().unwrap();
    crate::support::until("the workers' end", || marked_processes(&mark).is_empty());

    let run = place.run();
    let before = text(&run, "samples.jsonl");
    assert!(manifest(&run).finished.is_none());
    // The worst state that a kill leaves.
    let cut = format!("{before}{{\"schema\":1,\"sess");
    fs::write(run.join("samples.jsonl"), cut).unwrap();
    place.succeeds("run RUN");
    let after = text(&run, "samples.jsonl");
    assert!(after.starts_with(&before));
    let manifest = manifest(&run);
    assert_eq!(manifest.sessions.len(), 2);
    assert!(manifest.finished.is_some());
    let done: BTreeSet<_> = measured(&run)
        .iter()
        .map(|sample| (sample.site.clone(), sample.stack.clone(), sample.round))
        .collect();
    assert_eq!(done.len(), 4 * 2 * 12);
}

#[test]
fn ctrl_c_reports_what_there_is() {
    let place = place();
    let child = place.begin("connect --sites sites.txt --rounds 5000 --link none");
    crate::support::until("samples", || place.lines("samples.jsonl") >= 40);
    let done = crate::support::interrupt(child).expect(130);
    done.prints("By phase");
    let run = place.run();
    assert!(run.join("summary.md").is_file());
    assert!(manifest(&run).sessions[0].interrupted);
}

#[test]
fn a_stack_can_be_compared_with_itself() {
    let place = place();
    let done = place.connect("--rounds 2 --link none --stack rustls-ring,rustls-ring");
    done.prints("rustls-ring#2");
}
