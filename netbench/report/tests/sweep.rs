//! The report of a sweep.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

#[path = "support/forms.rs"]
mod forms;
#[path = "support/published.rs"]
mod published;

use forms::{assert_emulated, render, terminal};
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
    assert_emulated(&report);
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

#[test]
fn the_second_value_of_two_is_held_against_the_first() {
    let report = report(&["rtt=1ms,100ms", "hybrid=off,on", "loss=0,1%,3%"]);
    let sweep = report.summary.sweep.as_ref().unwrap();
    let of = |axis: &str| sweep.steps.iter().filter(|step| step.axis == axis).count();
    // Two stacks at each point of the other axes; an axis of three values has no steps.
    assert_eq!([of("rtt"), of("hybrid"), of("loss")], [12, 12, 0]);
    for step in &sweep.steps {
        assert!(!step.settings.contains_key(&step.axis));
        if step.axis == "rtt" {
            // Three round trips, each 99 ms longer.
            assert!(
                (step.difference.middle_ns / 297e6 - 1.0).abs() < 0.02,
                "{step:?}"
            );
            assert_eq!(step.more_round_trips, Some(0.0));
        }
    }
    insta::assert_snapshot!(part(&terminal(&report, 120)));
}

/// Of real connections, on links that lose nothing.
#[test]
fn what_is_published_took_what_is_foretold() {
    for (name, least, of) in [("-post-quantum", 60, 64), ("-sweep-rtt-loss", 9, 10)] {
        let run = published::run(name);
        let report = ConnectReport::new(run.manifest().unwrap(), run.records().unwrap());
        let sweep = report.summary.sweep.as_ref().unwrap();
        let fits = |fit| sweep.times.iter().filter(|time| time.fit == fit).count();
        assert!(fits(Fit::Holds) >= least, "{name}: {}", fits(Fit::Holds));
        assert_eq!(fits(Fit::Holds) + fits(Fit::Off), of, "{name}");
    }
}
