//! Runs that lose a resource: a server of the lab, samples, or descriptors.

use std::{collections::BTreeSet, process::Command};

use netbench_model::{ConnectManifest, Outcome, Role, Sample};
use netbench_report::ConnectSummary;

use crate::support::{
    Done, Place, assert_contains, check_lines, edit, finish, json, kept, manifest, mark, marked,
    measured, piped, samples, signal, starting, text, until, wait, write_samples,
};

/// Returns the process of the only server of the lab.
fn server(mark: &str) -> Option<u32> {
    let mut all = marked(mark).into_iter();
    let server = all.find(|(_, command)| command.contains("netbench-worker-rustls"));
    server.map(|(process, _)| process)
}

#[test]
fn a_lab_server_that_dies_is_started_again_and_costs_no_site_anything() {
    // No client has the server's executable, so that the executable identifies the server.
    let place = Place::with_sites(
        "one.example server=rustls-ring\ntwo.example server=rustls-ring tickets=0\n",
    );
    let line = "connect --sites sites.txt --rounds 60 --link none --stack openssl,openssl --json";
    let mut command = place.command_line(line);
    let mark = mark(&place, &mut command);
    let child = piped(&mut command);
    for due in [10, 60] {
        until("samples", || place.lines("samples.jsonl") >= due);
        until("a server", || server(&mark).is_some());
        signal("KILL", server(&mark).unwrap());
    }
    let done = wait(child).expect(0);
    done.tells("it was started again");
    let summary: ConnectSummary = json(&done.stdout);
    assert!(summary.failures.is_empty(), "{:?}", summary.failures);
    assert_eq!(summary.run.samples, summary.run.planned);
    let warnings = summary.warnings.join("\n");
    assert_contains(&warnings, "server of the lab that had died");
    assert!(
        !warnings.contains("missing") && !warnings.contains("handshakes"),
        "{warnings}"
    );
    let run = place.run();
    let void = samples(&run)
        .into_iter()
        .filter(|sample| !sample.outcome.counts());
    assert!(void.count() >= 2);
    crate::support::check("connect-summary.json", &done.stdout);
    check_lines("sample.json", &text(&run, "samples.jsonl"));
}

#[test]
fn samples_that_are_gone_are_missed_everywhere_and_taken_again() {
    type Change = fn(&mut Vec<Sample>);
    let changes: [(&str, Change, u64); 5] = [
        ("gone", |samples| samples.clear(), 8),
        (
            "cut",
            |samples| samples.retain(|sample| sample.round == 0),
            4,
        ),
        (
            "void",
            |samples| {
                let mut last = samples.iter_mut().rev();
                let last = last.find(|sample| sample.role == Role::Measured).unwrap();
                last.outcome = Outcome::Discarded {
                    reason: "a server had died".to_owned(),
                };
            },
            1,
        ),
        (
            "of other sites",
            |samples| {
                for sample in samples {
                    sample.site = format!("other-{}", sample.site);
                }
            },
            8,
        ),
        (
            "of more rounds",
            |samples| {
                let more = samples.iter().cloned().map(|sample| Sample {
                    round: sample.round + 2,
                    ..sample
                });
                let more: Vec<Sample> = more.collect();
                samples.extend(more);
            },
            0,
        ),
    ];
    let place = Place::with_sites("one.example\ntwo.example\n");
    place.connect("--quiet --rounds 2 --link none --stack rustls-ring,rustls-ring");
    let run = place.run();
    let (before, whole) = (samples(&run), kept::<ConnectManifest>(&run, "run.json"));
    assert!(whole.finished.is_some());
    for (what, change, missing) in changes {
        let mut changed = before.clone();
        change(&mut changed);
        write_samples(&run, &changed);
        let report = place.netbench_line("runs report RUN").stdout;
        let summary = place.netbench_line("runs report RUN --json");
        let summary: ConnectSummary = json(&summary.stdout);
        assert_eq!(summary.run.planned - summary.run.samples, missing, "{what}");
        let told = format!("{missing} of 8 samples missing");
        assert_eq!(report.contains(&told), missing > 0, "{what}: {report}");
        let foreign = report.contains("are left out");
        assert_eq!(foreign, what.starts_with("of "), "{what}: {report}");
        let row = place.succeeds("runs list --json").stdout;
        let row: serde_json::Value = json(&row);
        assert_eq!(row["runs"][0]["missing"], missing, "{what}: {row}");
        let list = place.succeeds("runs list").stdout;
        assert_eq!(list.contains(" missing"), missing > 0, "{what}: {list}");
        if missing > 0 {
            let done = place.succeeds("run RUN");
            assert!(!done.stdout.contains("missing"), "{what}: {}", done.stdout);
            let keys: BTreeSet<String> = measured(&run)
                .iter()
                .filter(|sample| sample.outcome.counts() && !sample.site.starts_with("other"))
                .map(|sample| format!("{:?}", sample.key()))
                .collect();
            assert_eq!(keys.len(), 8, "{what}");
        }
        edit(&run, |manifest: &mut ConnectManifest| {
            *manifest = whole.clone()
        });
    }
}

/// Runs `netbench connect` to the sites of `sites.txt` with a limit of open files.
fn with_descriptors(place: &Place, most: u32, line: &str) -> Done {
    let netbench = place.command_line(&format!("connect --sites sites.txt {line}"));
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {most}; exec \"$0\" \"$@\"")]);
    finish(starting(&mut command, &netbench))
}

#[test]
fn a_run_that_does_not_fit_does_not_begin() {
    let place = Place::with_sites("one.example\n");
    let line = "--jobs 40 --link none --stack rustls-ring,rustls-ring";
    let done = with_descriptors(&place, 200, line).expect(1);
    done.tells("need 290 open files");
    assert!(!place.path().join("runs").exists());
}

#[test]
fn more_sites_than_descriptors_are_served() {
    const SITES: usize = 110;
    let sites: String = (0..SITES)
        .map(|i| format!("site{i}.example server=rustls-ring rtt=1ms key=ecdsa-p256\n"))
        .collect();
    let place = Place::with_sites(&sites);
    let line = "--rounds 1 --jobs 2 --stack rustls-ring,rustls-ring --quiet";
    for link in ["none", "auto"] {
        let line = format!("{line} --link {link} --name {link}");
        with_descriptors(&place, 100, &line).expect(0);
        let run = place.named(link);
        let failed: Vec<_> = measured(&run)
            .iter()
            .filter_map(crate::support::failure)
            .collect();
        assert_eq!(failed, Vec::<String>::new());
        assert_eq!(measured(&run).len(), 2 * SITES);
        assert!(manifest(&run).finished.is_some());
    }
}
