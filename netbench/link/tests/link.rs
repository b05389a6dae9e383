//! Tests of the link as processes use it. Every scenario runs in a separate child, because a user namespace
//! can only be entered by a whole process with one thread; this executable is that child as well.

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    process::ExitCode,
    time::Duration,
};

use netbench_model::{AckWait, LinkDirection, LinkPackets};
use netbench_testing::{Failed, Test, Tool};
use serde_json::Value;
use support::{
    child::{self, Child, User},
    scenario,
    vm::{self, Time},
};

/// A test of one kind of link, as one user.
type LinkTest = fn(&str, User) -> Result<(), Failed>;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some(scenario::WORD) {
        return scenario::run(&words.collect::<Vec<_>>());
    }
    let tests: [(&str, LinkTest); 7] = [
        (
            "connects_take_the_round_trip_time",
            connects_take_the_round_trip_time,
        ),
        ("losses_come_from_the_seed", losses_come_from_the_seed),
        ("nothing_is_left_after_kill", nothing_is_left_after_kill),
        (
            "processes_start_in_their_namespace",
            processes_start_in_their_namespace,
        ),
        ("every_refusal_is_reported", every_refusal_is_reported),
        (
            "delayed_acknowledgements_of_the_kernel_are_distinguished",
            delayed_acknowledgements_of_the_kernel_are_distinguished,
        ),
        (
            "servers_have_the_congestion_window_of_their_site",
            servers_have_the_congestion_window_of_their_site,
        ),
    ];
    let mut all = Vec::new();
    for (kind, user) in [
        ("user", User::Own),
        ("user", User::Nobody),
        ("tun", User::Own),
    ] {
        let closed = closed(kind, user);
        for (name, test) in tests {
            let name = format!("{name}::{kind}_as_{user}");
            let test = Test::new(name, move || test(kind, user));
            let closed = closed.clone();
            all.push(test.needs_that(&format!("link-{kind}"), move || closed.clone()));
        }
    }
    all.extend([
        Test::new("loopback_works_everywhere", loopback_works_everywhere),
        Test::new("a_second_thread_is_an_error", a_second_thread_is_an_error),
        Test::new(
            "netem_works_or_its_lack_is_reported",
            netem_works_or_its_lack_is_reported,
        ),
        Test::new("netem_in_a_vm", netem_in_a_vm).needs(Tool::EmulatedMachine),
        Test::new("user_link_in_a_vm", user_link_in_a_vm).needs(Tool::EmulatedMachine),
        Test::new(
            "netem_and_the_user_link_agree",
            netem_and_the_user_link_agree,
        )
        .needs(Tool::EmulatedMachine),
    ]);
    let ended = netbench_testing::run(all);
    child::clean_up();
    ended
}

/// Returns the reason why this user cannot open links of this kind here.
fn closed(kind: &str, user: User) -> Option<String> {
    if let (User::Nobody, Some(reason)) = (user, Tool::Root.missing()) {
        return Some(reason);
    }
    match Child::run(&["open", kind], user) {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    }
}

fn connects_take_the_round_trip_time(kind: &str, user: User) -> Result<(), Failed> {
    let answer = Child::run(&["check", kind], user)?;
    assert_eq!(
        answer["user_kept"], true,
        "files would not stay the user's own"
    );
    checks_are_plausible(&answer, Duration::MAX)?;
    let record = &answer["record"];
    assert_eq!(record["kind"], "user");
    assert!(
        record["why"]
            .as_str()
            .is_some_and(|why| why.contains("user space") || why.contains("TUN"))
    );
    assert!(record["lateness_ns"]["p99"].as_u64().is_some());
    // Losses do not apply to the check; site 3 would lose every packet.
    assert_eq!(
        (
            record["packets"]["lost"].as_u64(),
            record["packets"]["lost_bare"].as_u64()
        ),
        (Some(0), Some(0))
    );
    assert_eq!(
        record["settings"]["server.net.ipv4.tcp_no_metrics_save"],
        "1"
    );
    assert_eq!(record["settings"]["client.route.quickack"], "1");
    Ok(())
}

/// Checks that every distinct round-trip time occurs once, and that no connect is faster than it, nor later
/// than it by more than `most`.
fn checks_are_plausible(answer: &Value, most: Duration) -> Result<(), Failed> {
    let checks = answer["checks"].as_array().ok_or("no checks")?;
    let times: BTreeMap<u64, u64> = checks
        .iter()
        .filter_map(|check| Some((check["rtt_ns"].as_u64()?, check["connect_ns"].as_u64()?)))
        .collect();
    assert_eq!(
        times.keys().copied().collect::<Vec<_>>(),
        [20_000_000, 50_000_000, 100_000_000]
    );
    for (rtt_ns, connect_ns) in times {
        let (connect, rtt) = (
            Duration::from_nanos(connect_ns),
            Duration::from_nanos(rtt_ns),
        );
        // A connect may be a tenth shorter, because clocks differ.
        if connect < rtt * 9 / 10 || connect.saturating_sub(rtt) > most {
            return Err(format!("{connect_ns} ns to connect over {rtt_ns} ns").into());
        }
    }
    Ok(())
}

/// Acknowledgements that a kernel delays are the only ones that `explain` names delayed.
fn delayed_acknowledgements_of_the_kernel_are_distinguished(
    kind: &str,
    user: User,
) -> Result<(), Failed> {
    let answer = Child::run(&["acks", kind], user)?;
    let delayed = waits(&answer["server_delays"])?;
    assert!(
        delayed.iter().any(AckWait::is_of_delayed_ack),
        "{delayed:?}"
    );
    let mut directions = delayed.iter().map(|wait| wait.direction);
    assert!(directions.all(|d| d == LinkDirection::Up), "{delayed:?}");
    for of in ["server_at_once", "client"] {
        let at_once = waits(&answer[of])?;
        assert!(!at_once.is_empty(), "{of}: no wait");
        assert!(
            !at_once.iter().any(AckWait::is_of_delayed_ack),
            "{of}: {at_once:?}"
        );
    }
    Ok(())
}

fn waits(packets: &Value) -> Result<Vec<AckWait>, Box<dyn Error>> {
    let packets: Vec<LinkPackets> = serde_json::from_value(packets.clone())?;
    let waits = packets.into_iter().flat_map(|packets| packets.waits);
    Ok(waits.collect())
}

/// The kernel reports the window of each accepted connection.
fn servers_have_the_congestion_window_of_their_site(kind: &str, user: User) -> Result<(), Failed> {
    let answer = Child::run(&["windows", kind], user)?;
    assert_eq!(answer["segments"], serde_json::json!([10, 32, 20, 32]));
    Ok(())
}

fn losses_come_from_the_seed(kind: &str, user: User) -> Result<(), Failed> {
    // A kernel that stalls for longer than a retransmission timeout sends an additional packet; one more run
    // may therefore decide.
    let mut same = vec![
        losses_digest(kind, user, "6")?,
        losses_digest(kind, user, "6")?,
    ];
    if same[0] != same[1] {
        same.push(losses_digest(kind, user, "6")?);
        assert!(
            same[2] == same[0] || same[2] == same[1],
            "three runs, three digests"
        );
    }
    let other = losses_digest(kind, user, "7")?;
    assert!(!same.contains(&other), "two seeds, the same losses");
    Ok(())
}

fn losses_digest(kind: &str, user: User, seed: &str) -> Result<String, Box<dyn Error>> {
    let answer = Child::run(&["traffic", kind, seed], user)?;
    let record = &answer["record"];
    assert!(
        record["packets"]["lost"].as_u64() > Some(0),
        "nothing lost: {record}"
    );
    let digest = record["losses_sha256"].as_str().ok_or("no digest")?;
    Ok(digest.to_owned())
}

fn nothing_is_left_after_kill(kind: &str, user: User) -> Result<(), Failed> {
    let before = support::interfaces()?;
    let mut child = Child::start(&["hold", kind], user)?;
    let ready = child.answer()?;
    assert_eq!(
        support::interfaces()?,
        before,
        "the host's own interfaces have changed"
    );
    let inner = ready["process"].as_u64().ok_or("no process inside")?;
    let namespace = ready["namespace"]
        .as_str()
        .ok_or("no namespace")?
        .to_owned();
    assert!(support::users_of(&namespace).contains(&inner));
    child.kill()?;
    support::within(
        Duration::from_secs(20),
        "the namespace's processes to end",
        || support::users_of(&namespace).is_empty(),
    )?;
    assert_eq!(support::interfaces()?, before);
    Ok(())
}

fn processes_start_in_their_namespace(kind: &str, user: User) -> Result<(), Failed> {
    let answer = Child::run(&["places", kind], user)?;
    let places = ["host", "client", "server"].map(|name| answer[name].as_str());
    let distinct: BTreeSet<&str> = places.into_iter().flatten().collect();
    assert_eq!(distinct.len(), places.len(), "{answer}");
    assert_eq!(answer["listened_on"], 443, "{answer}");
    Ok(())
}

fn every_refusal_is_reported(kind: &str, user: User) -> Result<(), Failed> {
    let answer = Child::run(&["refusals", kind], user)?;
    assert_eq!(answer["reported"], answer["datagrams"], "{answer}");
    Ok(())
}

fn loopback_works_everywhere() -> Result<(), Failed> {
    let answer = Child::run(&["check", "none"], User::Own)?;
    assert_eq!(answer["record"]["kind"], "none");
    assert_eq!(answer["record"]["losses_sha256"], Value::Null);
    assert_eq!(
        answer["addresses"],
        serde_json::json!(["127.1.0.1", "127.1.0.2", "127.1.0.3", "127.1.0.4"])
    );
    assert_eq!(answer["listen_port"], 0);
    Ok(())
}

fn a_second_thread_is_an_error() -> Result<(), Failed> {
    // Root needs no user namespace, and may open a link at any time.
    let user = if User::is_root() {
        User::Nobody
    } else {
        User::Own
    };
    for link in ["user", "auto"] {
        let error = Child::run(&["threads", link], user).expect_err("two threads");
        let reported = error.to_string().contains("single thread, and it has 2");
        assert!(reported, "{link}: {error}");
    }
    Ok(())
}

fn netem_works_or_its_lack_is_reported() -> Result<(), Failed> {
    match Child::run(&["check", "netem"], User::Own) {
        Ok(answer) => {
            assert_eq!(answer["record"]["kind"], "netem");
            checks_are_plausible(&answer, Duration::MAX)
        }
        Err(error) => {
            let error = error.to_string();
            let reported = ["--link netem cannot work here", "cannot make"]
                .iter()
                .any(|text| error.contains(text));
            assert!(reported, "{error}");
            Ok(())
        }
    }
}

fn netem_in_a_vm() -> Result<(), Failed> {
    // The sites include one with a rate of 400 kbit/s and one that loses every packet: the check has a
    // separate queue.
    link_in_a_vm("netem")
}

fn user_link_in_a_vm() -> Result<(), Failed> {
    link_in_a_vm("user")
}

/// The maximum lateness of a connect in an emulated machine. Its processors are slow and share this machine's
/// with the other tests; a delay that is applied twice is 100 ms on the longest link.
const VM_LATENESS: Duration = Duration::from_millis(50);

fn link_in_a_vm(kind: &str) -> Result<(), Failed> {
    // The check runs once more, as other work may have used the processors.
    check_in_a_vm(kind).or_else(|_| check_in_a_vm(kind))
}

fn check_in_a_vm(kind: &str) -> Result<(), Failed> {
    let answer = vm::run(Time::Real, &[scenario::WORD, "check", kind])?;
    assert_eq!(answer["record"]["kind"], kind);
    checks_are_plausible(&answer, VM_LATENESS)
}

/// The maximum difference between the two links, relative to the time of either: 0.4 ms of 20. It is the time
/// of their work on a processor of one instruction a nanosecond; the forwarder, which is in user space, takes
/// longer.
const AGREEMENT: f64 = 0.02;

fn netem_and_the_user_link_agree() -> Result<(), Failed> {
    // The machine runs in virtual time: the load of this machine cannot make the test fail.
    let answer = vm::run(Time::Virtual, &[scenario::WORD, "compare", "user", "netem"])?;
    let medians = answer["medians"].as_array().ok_or("no medians")?;
    println!("rtt ms, part: in user space, netem, difference");
    for rtt_ns in [20_000_000, 100_000_000] {
        for part in ["connect_ns", "handshake_ns"] {
            let [user, netem] = ["user", "netem"].map(|kind| {
                let mut medians = medians.iter().filter(|median| median["rtt_ns"] == rtt_ns);
                medians.find(|median| median["kind"] == kind)?[part].as_f64()
            });
            let user = user.ok_or("no time over the link in user space")?;
            let netem = netem.ok_or("no time over netem")?;
            let difference = user / netem - 1.0;
            let line = format!(
                "{}, {part}: {user} ns, {netem} ns, {:+.2} %",
                rtt_ns / 1_000_000,
                difference * 100.0,
            );
            println!("{line}");
            // Each value must be one round trip, or the comparison is meaningless.
            let plausible = rtt_ns as f64..rtt_ns as f64 * 1.1;
            assert!(
                plausible.contains(&user) && plausible.contains(&netem),
                "{line}"
            );
            assert!(difference.abs() < AGREEMENT, "{line}");
        }
    }
    Ok(())
}
