//! Round trips that a sweep predicts for large ClientHellos and small congestion windows of the client.

use netbench_model::{Condition, Group, Outcome, Sample, Sweep};
use netbench_report::{ConnectReport, FlightDirection};

use crate::support::{
    fixture::Fixture,
    formats::{assert_has, terminal},
};

/// Returns the report of a sweep over 100 ms whose connections have the sizes that `set` gives them.
fn report(condition: Condition, axes: &[&str], set: fn(&mut Sample)) -> ConnectReport {
    let axes = [axes, &["rtt=100ms"]].concat();
    let fixture = Fixture {
        conditions: vec![condition],
        sweep: Some(Sweep::parse(&axes).unwrap()),
        ..Fixture::default()
    };
    let mut samples = fixture.samples();
    samples.iter_mut().for_each(set);
    ConnectReport::new(fixture.manifest(), samples)
}

/// Gives a connection a ticket with the client's chain, and a further round trip where the hello exceeds a window of 10 segments.
fn with_a_ticket(sample: &mut Sample) {
    const RTT_NS: u64 = 100_000_000;
    let bytes = [("/8000", 8_500), ("/14000", 15_000), ("/15000", 16_000)]
        .into_iter()
        .find_map(|(chain, bytes)| sample.site.contains(chain).then_some(bytes))
        .expect("certificates of the sweep");
    if let Outcome::Ok(measured) = &mut sample.outcome {
        measured.transfer.handshake_bytes_out = bytes;
        measured.transfer.bytes_out = bytes + 300;
        if bytes > 14_480 && sample.site.contains("window-up=10") {
            measured.phases.total_ns += RTT_NS;
        }
    }
}

#[test]
fn the_size_at_which_a_resumed_clients_hello_takes_another_round_trip_is_predicted() {
    let axes = [
        "client-cert=ecdsa-p256/8000,ecdsa-p256/14000,ecdsa-p256/15000",
        "window-up=10,20",
    ];
    let report = report(Condition::Resumed, &axes, with_a_ticket);
    let flights = &report.summary.sweep.as_ref().unwrap().flights;
    let found = flights.iter().map(|step| {
        assert_eq!(step.direction, FlightDirection::FromClient);
        assert_eq!((step.from_bytes, step.to_bytes), (8_500.0, 15_000.0));
        (&step.settings["window-up"][..], step.agrees())
    });
    assert_eq!(found.collect::<Vec<_>>(), [("10", true); 2]);
    assert_has(&terminal(&report, usize::MAX), "2 of 2 steps are measured");
}

/// Gives a connection the sizes that were measured with and without a share of the hybrid group.
fn with_a_share(sample: &mut Sample) {
    let is_openssl = sample.stack.as_str() == "openssl";
    let (group, hello) = match (sample.site.contains("hybrid=on"), is_openssl) {
        (true, true) => (Group::X25519MLKEM768, 1_486),
        (true, false) => (Group::X25519MLKEM768, 1_477),
        (false, true) => (Group::X25519, 517),
        (false, false) => (Group::X25519, 255),
    };
    if let Outcome::Ok(measured) = &mut sample.outcome {
        measured.client.group = Some(group);
        let transfer = &mut measured.transfer;
        (transfer.handshake_bytes_in, transfer.bytes_in) = (6_434, 6_434);
        transfer.handshake_bytes_out = hello + 64;
        transfer.bytes_out = hello + 64 + 268;
    }
}

/// Connections over an emulated link took these further round trips.
#[test]
fn a_small_window_of_the_client_takes_round_trips() {
    let axes = ["hybrid=off,on", "window-up=1,2,10"];
    let report = report(Condition::Clean, &axes, with_a_share);
    let sweep = report.summary.sweep.as_ref().unwrap();
    let found = sweep.times.iter().map(|row| {
        let more = row.predicted.unwrap().round_trips - 3.0;
        let settings = ["hybrid", "window-up"].map(|axis| row.settings[axis].as_str());
        (row.stack.as_str(), settings, more)
    });
    let expected = [
        // The Finished message and the first of three writes of the request fill a window of two.
        ("openssl", ["off", "1"], 1.0),
        ("rustls-ring", ["off", "1"], 1.0),
        ("openssl", ["off", "2"], 1.0),
        ("rustls-ring", ["off", "2"], 1.0),
        ("openssl", ["off", "10"], 0.0),
        ("rustls-ring", ["off", "10"], 0.0),
        ("openssl", ["on", "1"], 2.0),
        ("rustls-ring", ["on", "1"], 2.0),
        // The acknowledgements of a hello of two segments make room for four, and rustls writes ChangeCipherSpec by itself.
        ("openssl", ["on", "2"], 0.0),
        ("rustls-ring", ["on", "2"], 1.0),
        ("openssl", ["on", "10"], 0.0),
        ("rustls-ring", ["on", "10"], 0.0),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}
