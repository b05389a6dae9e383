//! The report of a sweep.

use netbench_model::{Outcome, Sweep};
use netbench_report::{ConnectReport, Extent, Fit, FlightDirection, Report};
use netbench_stats::Verdict;

use crate::support::{
    fixture::{Fixture, refused},
    formats::{assert_emulated, assert_has, render, terminal},
    published,
};

fn report(axes: &[&str]) -> ConnectReport {
    let fixture = Fixture {
        sweep: Some(Sweep::parse(axes).unwrap()),
        ..Fixture::clean()
    };
    fixture.report()
}

/// Returns the part of the report about the sweep.
fn part(text: &str) -> &str {
    let begin = text.find("Over networks").expect("a section");
    let end = text.find("Connection time").expect("the next section");
    &text[begin..end]
}

#[test]
fn every_point_has_its_times_and_its_difference() {
    let report = report(&["rtt=1ms,10ms,100ms", "loss=0,1%"]);
    assert_emulated(&report);
    insta::assert_snapshot!(part(&terminal(&report, 120)));
    let sweep = report.summary.sweep.as_ref().unwrap();
    assert_eq!(sweep.differences.len(), 6);
    assert_eq!(sweep.times.len(), 12);
    for row in &sweep.times {
        let lossy = row.settings["loss"] != "0";
        // The made connections do not wait for the server's computation, which is negligible only beside 300 ms.
        let far = row.settings["rtt"] == "100ms";
        let fit = match (lossy, far) {
            (true, _) => Fit::Lossy,
            (false, true) => Fit::Holds,
            (false, false) => Fit::Off,
        };
        assert_eq!(row.fit, fit, "{}", row.point);
        let reported = row.predicted.unwrap();
        let parts = reported.waiting_ns + reported.cpu_ns + reported.bytes_ns - reported.overlap_ns;
        assert!(
            (parts / reported.total_ns - 1.0).abs() < 0.01,
            "{}",
            row.point
        );
        assert!((reported.round_trips - 3.0).abs() < 1e-9, "{}", row.point);
    }
    for (format, least) in [("csv", 20), ("json", 3)] {
        let text = render(&report, format);
        let rows = text.matches("rtt=100ms,loss=1%").count();
        assert!(rows > least, "{format}");
    }
}

#[test]
fn a_slow_link_and_a_smaller_share_of_a_core_are_predicted() {
    let report = report(&["link=dsl,3g", "cpu=100%,25%"]);
    let sweep = report.summary.sweep.as_ref().unwrap();
    let points = [("dsl", "100%"), ("3g", "100%"), ("dsl", "25%")];
    let [dsl, slow_link, slow_core] = points.map(|(link, cpu)| {
        let mut rows = sweep.times.iter();
        let row = rows.find(|row| row.settings["link"] == link && row.settings["cpu"] == cpu);
        row.unwrap().predicted.unwrap()
    });
    assert!(slow_link.waiting_ns > 5.0 * dsl.waiting_ns);
    assert!(slow_core.cpu_ns > 2.0 * dsl.cpu_ns);
    assert!(dsl.bytes_ns > 0.0);
}

#[test]
fn a_sweep_of_one_point_says_which() {
    let report = report(&["rtt=7ms"]);
    assert!(part(&terminal(&report, 100)).contains("at rtt=7ms"));
}

/// Returns a sweep of two sites at three points each, with the outcome of `made`, which is called with each point's
/// name, for the second stack.
fn two_sites(made: impl Fn(&str) -> Option<Outcome>) -> ConnectReport {
    let fixture = Fixture {
        sweep: Some(Sweep::parse(&["rtt=1ms,10ms,100ms"]).unwrap()),
        swept: 2,
        ..Fixture::clean()
    };
    let mut samples = fixture.samples();
    for sample in &mut samples {
        if sample.stack.as_str() == "rustls-ring"
            && let Some(outcome) = made(&sample.site)
        {
            sample.outcome = outcome;
        }
    }
    ConnectReport::new(fixture.manifest(), samples)
}

/// Returns the reason and the first figure of the answer to whether connections work.
fn works(report: &ConnectReport) -> (String, String) {
    let document = report.document(Extent::Full);
    let question = document.questions.into_iter().next().unwrap().question;
    (question.because, question.figures[0].value.clone())
}

#[test]
fn a_site_that_is_swept_is_one_site() {
    let report = two_sites(|_| None);
    assert_eq!(report.manifest.plan.site_count(), 2);
    assert_eq!(
        (report.summary.run.sites, report.summary.run.points),
        (2, Some(3))
    );
    let text = terminal(&report, usize::MAX);
    assert_has(
        &text,
        "120 connections to 2 emulated sites at 3 points each: ",
    );
    assert_has(
        &text,
        "Of 6 combinations of emulated site and point 0 could not",
    );
    assert!(
        !text.contains("6 sites") && !text.contains("6 emulated"),
        "{text}"
    );
    let (because, failed) = works(&report);
    assert!(
        because.starts_with("120 connections to 2 sites, all finished"),
        "{because}"
    );
    assert_eq!(failed, "0 of 2");
}

#[test]
fn a_site_that_fails_at_a_point_is_one_site_that_fails() {
    let at_two = two_sites(|site| {
        let fails = ["near.example@rtt=1ms", "near.example@rtt=10ms"].contains(&site);
        fails.then(refused)
    });
    let (because, failed) = works(&at_two);
    assert_eq!(failed, "1 of 2", "{because}");
    assert_has(&because, "1 site failed with rustls-ring");
}

#[test]
fn a_site_that_is_tried_at_any_point_is_tried() {
    let not_done = Outcome::Unsupported {
        reason: "it is too far".to_owned(),
    };
    let at_one = two_sites(|site| site.contains("rtt=100ms").then(|| not_done.clone()));
    let (because, failed) = works(&at_one);
    assert_has(&because, "to 2 sites");
    assert_eq!(failed, "0 of 2", "{because}");
    let at_all = two_sites(|site| site.starts_with("near.example@").then(|| not_done.clone()));
    let (because, failed) = works(&at_all);
    assert_has(&because, "to 1 site");
    assert_has(&because, "One site was not tried: it is too far.");
    assert_eq!(failed, "0 of 1", "{because}");
}

#[test]
fn the_second_value_of_two_is_held_against_the_first() {
    let report = report(&["rtt=1ms,100ms", "hybrid=off,on", "loss=0,1%,3%"]);
    let sweep = report.summary.sweep.as_ref().unwrap();
    // Two stacks at each point of the other axes; an axis of three values has no steps.
    for (axis, number) in [("rtt", 12), ("hybrid", 12), ("loss", 0)] {
        let steps = sweep.steps.iter().filter(|step| step.key.axis == axis);
        assert_eq!(steps.count(), number, "{axis}");
    }
    for step in &sweep.steps {
        assert!(!step.key.settings.contains_key(&step.key.axis));
        if step.key.axis == "rtt" {
            // Three round trips, each 99 ms longer.
            assert!(
                (step.key.difference.middle_ns / 297e6 - 1.0).abs() < 0.02,
                "{step:?}"
            );
            assert_eq!(step.key.more_round_trips, Some(0.0));
        }
    }
    insta::assert_snapshot!(part(&terminal(&report, 120)));
}

/// The hybrid group costs a round trip on one of two sites, whose server requests another key share.
#[test]
fn sites_are_reported_together_and_each_by_itself() {
    const RTT_NS: u64 = 10_000_000;
    let fixture = Fixture {
        sweep: Some(Sweep::parse(&["rtt=10ms", "hybrid=off,on"]).unwrap()),
        swept: 2,
        ..Fixture::clean()
    };
    let mut samples = fixture.samples();
    for sample in &mut samples {
        if let Outcome::Ok(measured) = &mut sample.outcome
            && sample.site.starts_with("near.example@")
            && sample.site.contains("hybrid=on")
        {
            measured.phases.total_ns += RTT_NS;
        }
    }
    let report = ConnectReport::new(fixture.manifest(), samples);
    let sweep = report.summary.sweep.as_ref().unwrap();
    let [near, other] = sweep.each_site.as_slice() else {
        panic!("two sites: {:?}", sweep.each_site);
    };
    assert_eq!(near.sites, ["near.example"]);
    assert_eq!(sweep.sites, [&near.sites[..], &other.sites[..]].concat());
    for (of_site, round_trips) in [(near, 1.0), (other, 0.0)] {
        assert_eq!(of_site.steps.len(), 2, "one for each stack");
        for step in &of_site.steps {
            let more = step.key.difference.middle_ns / RTT_NS as f64;
            assert!((more - round_trips).abs() < 0.05, "{step:?}");
        }
        assert_eq!(of_site.times.len(), sweep.times.len());
        assert!(of_site.each_site.is_empty());
    }
    for (of_site, slower) in [(near, 2), (other, 0)] {
        let verdicts = of_site.steps.iter().map(|step| step.change.verdict);
        let found = verdicts.filter(|verdict| *verdict == Verdict::Slower);
        assert_eq!(found.count(), slower);
    }
    let text = terminal(&report, 120);
    for name in [&near.sites[0], &other.sites[0]] {
        assert!(
            text.contains(&format!("{name} (emulated) by itself")),
            "{text}"
        );
    }
    assert_has(
        &text,
        "near.example (emulated), hybrid=on against hybrid=off",
    );
}

/// A server's first flight exceeds a window of 10 segments with a chain of 14,000 bytes, and fits into one of 20.
#[test]
fn the_size_at_which_a_flight_takes_another_round_trip_is_compared_with_the_prediction() {
    const RTT_NS: u64 = 100_000_000;
    const CHAINS: [(&str, u64); 3] = [("2/9000", 11_000), ("2/14000", 16_000), ("2/15000", 17_000)];
    let fixture = Fixture {
        sweep: Some(
            Sweep::parse(&["chain=2/9000,2/14000,2/15000", "window=10,20", "rtt=100ms"]).unwrap(),
        ),
        ..Fixture::clean()
    };
    let in_time = [("2/14000", "10", true); 2];
    // The second stack's connections take the round trip one size later than predicted.
    let one_late = [
        ("2/14000", "10", true),
        ("2/14000", "10", false),
        ("2/15000", "10", false),
    ];
    for (late, expected) in [(false, &in_time[..]), (true, &one_late)] {
        let mut samples = fixture.samples();
        for sample in &mut samples {
            let is_late = late && sample.stack.as_str() == "rustls-ring";
            let (chain, bytes) = CHAINS
                .into_iter()
                .find(|(chain, _)| sample.site.contains(&format!("chain={chain},")))
                .expect("a chain of the sweep");
            let waits = chain == "2/15000" || (chain == "2/14000" && !is_late);
            if let Outcome::Ok(measured) = &mut sample.outcome {
                measured.transfer.handshake_bytes_in = bytes;
                measured.transfer.bytes_in = bytes + 1_000;
                if waits && sample.site.ends_with("window=10") {
                    measured.phases.total_ns += RTT_NS;
                }
            }
        }
        let report = ConnectReport::new(fixture.manifest(), samples);
        let flights = report.summary.sweep.as_ref().unwrap().flights.iter();
        let found = flights.map(|step| {
            (
                step.to.as_str(),
                &step.settings["window"][..],
                step.agrees(),
            )
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let text = terminal(&report, 120);
        assert_eq!(text.contains("2 of 2 steps are measured"), !late, "{text}");
    }
}

/// A window that takes a part of the round trip to send hides that part of another round trip, and a whole one on a DSL
/// line.
#[test]
fn certificates_take_as_much_of_a_round_trip_as_their_link_does_not_hide() {
    const CERTIFICATES: [(&str, u64); 3] = [
        ("ecdsa", 11_000),
        ("mldsa-44", 12_700),
        ("mldsa-65", 16_700),
    ];
    let axes = [
        "link=cable,dsl,lte,satellite",
        "certificates=ecdsa,mldsa-44,mldsa-65",
    ];
    let fixture = Fixture {
        sweep: Some(Sweep::parse(&axes).unwrap()),
        ..Fixture::clean()
    };
    let mut samples = fixture.samples();
    for sample in &mut samples {
        let (_, bytes) = CERTIFICATES
            .into_iter()
            .find(|(name, _)| sample.site.ends_with(name))
            .expect("certificates of the sweep");
        if let Outcome::Ok(measured) = &mut sample.outcome {
            measured.transfer.handshake_bytes_in = bytes;
            measured.transfer.bytes_in = bytes + 1_000;
        }
    }
    let report = ConnectReport::new(fixture.manifest(), samples);
    let flights = report.summary.sweep.as_ref().unwrap().flights.iter();
    let of_openssl = flights.filter(|step| step.stack.as_str() == "openssl");
    let found = of_openssl.map(|step| {
        let percent = (100.0 * step.predicted_round_trips).round();
        (&step.settings["link"][..], step.to.as_str(), percent)
    });
    // On cable, a fifth of the round trip is left.
    assert_eq!(
        found.collect::<Vec<_>>(),
        [("lte", "mldsa-65", 87.0), ("satellite", "mldsa-65", 99.0)]
    );
    assert_has(&terminal(&report, 120), "mldsa-44 → mldsa-65");
}

/// These are real connections, on links without losses.
#[test]
fn what_is_published_took_what_is_predicted() {
    for (name, least, of) in [("-post-quantum", 192, 192), ("-sweep-rtt-loss", 9, 10)] {
        let report = published::connect(name);
        let sweep = report.summary.sweep.as_ref().unwrap();
        let [holds, off] = [Fit::Holds, Fit::Off]
            .map(|fit| sweep.times.iter().filter(|time| time.fit == fit).count());
        assert!(holds >= least, "{name}: {holds}");
        assert_eq!(holds + off, of, "{name}");
    }
}

/// Compression makes the flight of `mldsa-65` fit into the window of ten segments, and saves nothing that `ecdsa` waits for.
#[test]
fn compressed_certificates_save_what_the_window_makes_a_flight_wait() {
    let fixture = Fixture {
        sweep: Some(
            Sweep::parse(&["certificates=ecdsa,mldsa-65", "hybrid=off,on", "rtt=100ms"]).unwrap(),
        ),
        ..Fixture::clean()
    };
    let mut samples = fixture.samples();
    for sample in &mut samples {
        if let Outcome::Ok(measured) = &mut sample.outcome {
            let bytes = match sample.site.contains("mldsa-65") {
                true => 15_605,
                false => 2_124,
            };
            measured.transfer.handshake_bytes_in = bytes;
            measured.transfer.bytes_in = bytes + 1_000;
        }
    }
    let manifest = |record: Option<&str>| {
        let mut manifest = fixture.manifest();
        manifest.plan.compression = record.map(|record| serde_json::from_str(record).unwrap());
        manifest
    };
    let chain = |key: &str, plain: u32, zlib: u32, brotli: u32| {
        format!(
            r#"{{"host": "near.example", "key": "{key}", "ca_key": "{key}", "chain": {{"length": 2, "bytes": 0}},
            "ocsp": "off", "plain_bytes": {plain}, "zlib_bytes": {zlib}, "brotli_bytes": {brotli}, "zstd_bytes": {zlib}}}"#
        )
    };
    let chains = [
        chain("ecdsa-p256", 1_750, 1_300, 1_200),
        chain("mldsa-65", 12_000, 8_500, 8_492),
    ]
    .join(",");
    let offers = r#"{"openssl": [], "rustls-ring": [{"name": "zlib", "code": 1}]}"#;
    let record = format!(r#"{{"chains": [{chains}], "offers": {offers}}}"#);

    let report = ConnectReport::new(manifest(Some(&record)), samples.clone());
    let sweep = report.summary.sweep.as_ref().unwrap();
    assert_eq!(sweep.times.len(), 8);
    for row in &sweep.times {
        let compressed = row.compressed.as_ref().unwrap();
        let (algorithm, is_offered) = match row.stack.as_str() {
            "openssl" => ("brotli", false),
            _ => ("zlib", true),
        };
        assert_eq!(compressed.algorithm, algorithm);
        assert_eq!(compressed.is_offered, Some(is_offered));
        let is_large = row.settings["certificates"] == "mldsa-65";
        let bytes = match (is_large, is_offered) {
            (true, true) => 3_492.0,
            (true, false) => 3_500.0,
            (false, true) => 442.0,
            (false, false) => 542.0,
        };
        assert_eq!(compressed.saved_bytes, bytes, "{}", row.point);
        let trips = f64::from(u8::from(is_large));
        assert!(
            (compressed.saved_round_trips - trips).abs() < 1e-9,
            "{row:?}"
        );
        assert!((compressed.saved_ns / 1e8 - trips).abs() < 1e-9, "{row:?}");
    }
    let text = terminal(&report, 120);
    let begin = text.find("Certificate compression:").unwrap();
    let predicted = text.find("Predicted savings of compressed").unwrap();
    let end = text.find("Connection time").unwrap();
    insta::assert_snapshot!(&text[predicted..end]);
    assert_has(&text[begin..], "certificates  plain bytes");

    // A run of an older version recorded nothing, and a chain that is compressed already saves no more.
    let old = ConnectReport::new(manifest(None), samples.clone());
    let unknown = record.replace("\"plain_bytes\": 12000", "\"plain_bytes\": 15606");
    let compressed = ConnectReport::new(manifest(Some(&unknown)), samples);
    for (report, left) in [(old, 0), (compressed, 4)] {
        let times = &report.summary.sweep.as_ref().unwrap().times;
        let found = times.iter().filter(|row| row.compressed.is_some());
        assert_eq!(found.count(), left);
    }
    assert!(
        !terminal(&ConnectReport::new(manifest(None), fixture.samples()), 120).contains("compress")
    );
}

/// A client's certificates and the request behind them exceed a window of 10 segments with 14,000 bytes, and fit into one of 20.
#[test]
fn the_size_at_which_a_clients_certificates_take_another_round_trip_is_predicted() {
    const RTT_NS: u64 = 100_000_000;
    const CHAINS: [(&str, u64); 3] = [
        ("ecdsa-p256/8000", 8_500),
        ("ecdsa-p256/14000", 14_500),
        ("ecdsa-p256/15000", 15_500),
    ];
    let axes = [
        "client-cert=ecdsa-p256/8000,ecdsa-p256/14000,ecdsa-p256/15000",
        "window-up=10,20",
        "rtt=100ms",
    ];
    let fixture = Fixture {
        sweep: Some(Sweep::parse(&axes).unwrap()),
        ..Fixture::clean()
    };
    let mut samples = fixture.samples();
    for sample in &mut samples {
        let (_, bytes) = CHAINS
            .into_iter()
            .find(|(chain, _)| sample.site.contains(&format!("{chain},")))
            .expect("certificates of the sweep");
        if let Outcome::Ok(measured) = &mut sample.outcome {
            measured.transfer.handshake_bytes_out = bytes;
            measured.transfer.bytes_out = bytes + 300;
            if bytes > 14_000 && sample.site.contains("window-up=10") {
                measured.phases.total_ns += RTT_NS;
            }
        }
    }
    let report = ConnectReport::new(fixture.manifest(), samples);
    let flights = &report.summary.sweep.as_ref().unwrap().flights;
    let found = flights.iter().map(|step| {
        assert_eq!(step.direction, FlightDirection::FromClient);
        assert_eq!((step.from_bytes, step.to_bytes), (8_500.0, 14_500.0));
        (&step.settings["window-up"][..], step.agrees())
    });
    assert_eq!(found.collect::<Vec<_>>(), [("10", true); 2]);
    let text = terminal(&report, usize::MAX);
    assert_has(&text, "steps of the client's certificates");
    assert_has(&text, "2 of 2 steps are measured");
    assert_has(&text, "8500 → 14500 B");
}
