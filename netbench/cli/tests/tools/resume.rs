//! Runs that Ctrl-C stops and `netbench run` completes: every planned sample exists exactly once.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

use netbench_model::{
    FailureClass, Outcome, Sample,
    compat::{CompatManifest, CompatSample},
};
use netbench_report::{CompatSummary, ConnectSummary};
use netbench_testing::Tool;

use crate::support::{
    Place, check, finish, interrupt, json, kept, manifest, measured, piped, samples_of, until,
};

netbench_testing::module_tests! {
    a_sweep_goes_on_where_it_was_stopped;
    time_outs_before_a_resume_count;
    clients_from_outside_go_on_where_they_were_stopped: Curl, UserNamespaces;
}

/// Runs a command until it has stored `samples` samples, and presses Ctrl-C.
fn stop_at(place: &Place, command: &mut Command, samples: usize) {
    let child = piped(command);
    until("samples", || place.lines("samples.jsonl") >= samples);
    interrupt(child).expect(130);
}

fn a_sweep_goes_on_where_it_was_stopped() {
    let place = Place::with_sites("a.example server=rustls-ring\nb.example server=rustls-ring\n");
    let line = "connect --sites sites.txt --sweep body=1k,2k,4k --rounds 30 --link none \
                --stack rustls-ring,openssl";
    stop_at(&place, &mut place.command_line(line), 20);
    let run = place.run();
    let (before, whole) = (measured(&run).len(), 2 * 3 * 30 * 2);
    assert!((1..whole).contains(&before), "{before}");
    let summary: ConnectSummary = place.document("connect-summary.json", "run -q --json RUN");
    assert_eq!((summary.run.samples, summary.run.planned), (360, 360));
    let samples = measured(&run);
    // The sessions in which the two halves of each pair were measured.
    let mut pairs: BTreeMap<(&str, u32), [Vec<u32>; 2]> = BTreeMap::new();
    for sample in &samples {
        let pair = pairs.entry((&sample.site, sample.round)).or_default();
        let half = usize::from(sample.stack.as_str() == "openssl");
        pair[half].push(sample.session);
    }
    assert_eq!(pairs.len(), whole / 2);
    for (pair, mut sessions) in pairs {
        sessions.sort();
        // The halves of a pair are measured concurrently: if Ctrl-C leaves half a pair, the whole pair is measured
        // again.
        let due: [[&[u32]; 2]; 3] = [[&[0], &[0]], [&[1], &[1]], [&[0, 1], &[1]]];
        assert!(
            due.iter().any(|due| sessions == *due),
            "{pair:?}: {sessions:?}"
        );
    }
    let manifest = manifest(&run);
    for sample in &samples {
        let Outcome::Ok(measured) = &sample.outcome else {
            panic!("{sample:?}");
        };
        let (_, body) = sample.site.split_once("@body=").unwrap();
        let kib: u64 = body.trim_end_matches('k').parse().unwrap();
        assert_eq!(measured.body_bytes, kib << 10);
    }
    let ends: Vec<bool> = manifest.sessions.iter().map(|it| it.interrupted).collect();
    assert_eq!(ends, [true, false]);
    assert!(manifest.finished.is_some());
}

fn clients_from_outside_go_on_where_they_were_stopped() {
    let place = Place::new();
    // Each fetch of curl takes a while, and the test waits for none of the cases.
    let curl = Tool::Curl.path().unwrap();
    let slow = format!(
        "[ \"$1\" = --version ] || sleep 0.2\nexec '{}' \"$@\"",
        curl.display()
    );
    place.script("curl", &slow);
    let path = format!(
        "{}:{}",
        place.path().display(),
        std::env::var("PATH").unwrap()
    );
    let line = "compat --stack rustls-ring --client curl --case name/* --case certificate/*";
    stop_at(&place, place.command_line(line).env("PATH", &path), 6);
    let run = place.run();
    let before: Vec<CompatSample> = samples_of(&run);
    let plan: CompatManifest = kept(&run, "run.json");
    let whole = 2 * plan.plan.cases.len();
    assert!(before.len() < whole, "{} of {whole}", before.len());

    let done = finish(place.command_line("run -q --json RUN").env("PATH", &path)).expect(0);
    check("compat-summary.json", &done.stdout);
    let summary: CompatSummary = json(&done.stdout);
    assert_eq!(summary.matrix.cases.len(), plan.plan.cases.len());
    let samples: Vec<CompatSample> = samples_of(&run);
    let keys: BTreeSet<_> = samples.iter().map(|it| (&it.case, &it.stack)).collect();
    assert_eq!((samples.len(), keys.len()), (whole, whole));
    // Earlier samples are unchanged.
    assert_eq!(samples[..before.len()], before);
}

fn time_outs(samples: &[Sample]) -> usize {
    let failures = samples.iter().filter(|sample| match &sample.outcome {
        Outcome::Failed(failure) => failure.class == FailureClass::Timeout,
        _ => false,
    });
    failures.count()
}

fn time_outs_before_a_resume_count() {
    let place = Place::with_sites(
        "good.example server=rustls-ring\nsilent.example server=rustls-ring fault=silent\n",
    );
    place.connect(
        "--rounds 4 --link none --jobs 1 --timeout 1s \
                --condition clean --stack rustls-ring,openssl",
    );
    let run = place.run();
    assert_eq!(time_outs(&measured(&run)), 4);
    // The kept lines are those of a run that was killed right after its last time-out.
    let file = run.join("samples.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let mut found = 0;
    let kept = text.split_inclusive('\n').take_while(|line| {
        let goes_on = found < 4;
        found += usize::from(line.contains("\"class\":\"timeout\""));
        goes_on
    });
    let kept: String = kept.collect();
    assert!(kept.len() < text.len(), "nothing is left to do");
    fs::write(&file, kept).unwrap();
    place.succeeds("run -q RUN");
    let samples = measured(&run);
    assert_eq!((samples.len(), time_outs(&samples)), (2 * 4 * 2, 4));
}
