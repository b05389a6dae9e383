//! The report of a sweep.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

#[path = "support/forms.rs"]
mod forms;

use forms::{render, terminal};
use netbench_model::{Condition, Sweep};
use netbench_report::{ConnectReport, Fit};
use support::Fixture;

fn report(axes: &[&str]) -> ConnectReport {
    let fixture = Fixture {
        conditions: vec![Condition::Clean],
        sweep: Some(Sweep::parse(axes).unwrap()),
        ..Fixture::default()
    };
    ConnectReport::new(fixture.manifest(), fixture.samples())
}

/// The part of the report that is of the sweep.
fn part(text: &str) -> &str {
    let begin = text.find("Over networks").expect("a section");
    let end = text.find("Connection time").expect("the next section");
    &text[begin..end]
}

#[test]
fn every_point_has_its_times_and_its_difference() {
    let report = report(&["rtt=1ms,10ms,100ms", "loss=0,1%"]);
    insta::assert_snapshot!(part(&terminal(&report, 120)));
    let sweep = report.summary.sweep.as_ref().unwrap();
    assert_eq!(sweep.differences.len(), 6);
    assert_eq!(sweep.times.len(), 12);
    for row in &sweep.times {
        let lossy = row.settings["loss"] != "0";
        // The made connections do not wait for the server's computing, which is only nothing beside 300 ms.
        let far = row.settings["rtt"] == "100ms";
        let fit = match (lossy, far) {
            (true, _) => Fit::Lossy,
            (false, true) => Fit::Holds,
            (false, false) => Fit::Off,
        };
        assert_eq!(row.fit, fit, "{}", row.point);
        let told = row.foretold.unwrap();
        let parts = told.waiting_ns + told.cpu_ns + told.bytes_ns;
        assert!((parts / told.total_ns - 1.0).abs() < 0.01, "{}", row.point);
        assert!((told.round_trips - 3.0).abs() < 1e-9, "{}", row.point);
    }
    let rows = |form: &str| {
        let text = render(&report, form);
        text.matches("rtt=100ms,loss=1%").count()
    };
    assert!(rows("csv") > 20 && rows("json") > 3);
}

#[test]
fn a_slow_link_and_a_smaller_share_of_a_core_are_foretold() {
    let report = report(&["link=dsl,3g", "cpu=100%,25%"]);
    let sweep = report.summary.sweep.as_ref().unwrap();
    let told = |link: &str, cpu: &str| {
        let mut rows = sweep.times.iter();
        let row = rows.find(|row| row.settings["link"] == link && row.settings["cpu"] == cpu);
        row.unwrap().foretold.unwrap()
    };
    assert!(told("3g", "100%").waiting_ns > 5.0 * told("dsl", "100%").waiting_ns);
    assert!(told("dsl", "25%").cpu_ns > 2.0 * told("dsl", "100%").cpu_ns);
    assert!(told("dsl", "100%").bytes_ns > 0.0);
}

#[test]
fn a_sweep_of_one_point_says_which() {
    let report = report(&["rtt=7ms"]);
    assert!(part(&terminal(&report, 100)).contains("at rtt=7ms"));
}
