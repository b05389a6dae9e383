//! Scans of a server behind relays: some relays cut connections, one is slow.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use netbench_model::scan::{Confirmed, LossReason, ScanOutcome};
use netbench_report::ScanSummary;
use netbench_scan::codec::{ClientHello, extension};

use crate::{
    scan_loss::{authority, certificate, server},
    support::{Place, json},
};

netbench_testing::module_tests! {
    a_connection_that_is_cut_while_confirming_is_no_loss: OpensslCommand;
    silence_is_a_refusal_only_while_the_hello_of_the_scan_is_answered: OpensslCommand;
    a_site_gets_no_more_than_its_time_and_keeps_no_other_waiting: OpensslCommand;
}

/// A relay's treatment of a connection, after its hello has arrived.
enum Fate {
    Pass,
    Reset,
    /// The connection stays open, without an answer.
    Drop,
    /// The connection passes after this time.
    Wait(Duration),
}

/// Listens until the test ends, and forwards to `server`. Returns the listening address.
fn relay(server: &str, fate: impl Fn(&ClientHello) -> Fate + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let site = listener.local_addr().unwrap().to_string();
    let (server, fate) = (server.to_owned(), Arc::new(fate));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (server, fate) = (server.clone(), Arc::clone(&fate));
            // The connection ends when its client or server has left.
            thread::spawn(move || carry(stream?, &server, &*fate));
        }
    });
    site
}

fn carry(stream: TcpStream, server: &str, fate: &dyn Fn(&ClientHello) -> Fate) -> io::Result<()> {
    let Some(hello) = first_hello(&stream)? else {
        return Ok(());
    };
    match fate(&hello) {
        Fate::Pass => {}
        // The unread bytes make the end of the connection a reset.
        Fate::Reset => return Ok(()),
        Fate::Drop => return io::copy(&mut &stream, &mut io::sink()).map(drop),
        Fate::Wait(time) => thread::sleep(time),
    }
    let onward = TcpStream::connect(server)?;
    let (mut from, mut to) = (stream.try_clone()?, onward.try_clone()?);
    let up = thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        to.shutdown(Shutdown::Both)
    });
    let _ = io::copy(&mut &onward, &mut &stream);
    let _ = (&stream).flush();
    let _ = stream.shutdown(Shutdown::Both);
    let _ = up.join();
    Ok(())
}

/// Peeks at the hello, which remains in the buffer. Returns `None` if the client leaves before the hello is complete.
fn first_hello(stream: &TcpStream) -> io::Result<Option<ClientHello>> {
    let mut room = [0; 16 * 1024];
    let mut before = 0;
    loop {
        let there = stream.peek(&mut room)?;
        match ClientHello::of_records(&room[..there]) {
            Ok(Some(hello)) => return Ok(Some(hello)),
            Ok(None) if there > before || there == 0 => before = there,
            Ok(None) => thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(io::Error::other(error)),
        }
        if there == 0 {
            return Ok(None);
        }
    }
}

/// Returns whether a stack sent the hello: the scan's own hellos request certificate timestamps, except those of SSL
/// 3.0, which has no extensions.
fn is_of_a_stack(hello: &ClientHello) -> bool {
    hello.legacy_version > 0x0300 && hello.extension(extension::SCT).is_none()
}

/// Returns whether rustls sent the hello: rustls has no suite for which it could request this extension.
fn is_of_rustls(hello: &ClientHello) -> bool {
    is_of_a_stack(hello) && hello.extension(extension::ENCRYPT_THEN_MAC).is_none()
}

/// Starts a relay with this fate of every connection since the first one of a stack.
fn ends_with_a_stack(server: &str, fate: fn() -> Fate) -> String {
    let has_ended = AtomicBool::new(false);
    relay(server, move |hello| {
        let is_last = is_of_a_stack(hello);
        if has_ended.fetch_or(is_last, Ordering::Relaxed) || is_last {
            fate()
        } else {
            Fate::Pass
        }
    })
}

/// Forwards like [`relay`], but cuts the first `most` of the connections with such hellos.
fn cut_if(server: &str, cut: fn(&ClientHello) -> bool, most: u32) -> String {
    let left = AtomicU32::new(most);
    relay(server, move |hello| {
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        let is_cut = cut(hello)
            && left
                .fetch_update(set, fetch, |left| left.checked_sub(1))
                .is_ok();
        match is_cut {
            true => Fate::Reset,
            false => Fate::Pass,
        }
    })
}

fn a_connection_that_is_cut_while_confirming_is_no_loss() {
    let place = Place::new();
    authority(&place);
    certificate(&place, "leaf", "rsa:2048", "");
    let server = server(&place, "leaf", &[]);
    let gone = ends_with_a_stack(&server.site, || Fate::Reset);
    // A relay that cuts all connections once a stack has connected, like a limit that has not expired; one that cuts all connections
    // of stacks, like a middlebox that fails on their hellos; one that cuts only the first; and one that cuts those of one stack.
    let sites = [
        gone,
        cut_if(&server.site, is_of_a_stack, u32::MAX),
        cut_if(&server.site, is_of_a_stack, 1),
        cut_if(&server.site, is_of_rustls, u32::MAX),
    ];
    let [gone, all, once, rustls] = &sites;
    let line = format!(
        "scan {gone} {all} {once} {rustls} --roots ca.pem --parts signatures --against openssl,rustls-ring --json"
    );
    let done = place.succeeds(&line);
    let summary: ScanSummary = json(&done.stdout);
    assert_eq!(summary.run.scanned, 4, "{}", done.stdout);
    let loss = summary.loss.unwrap();
    let verdicts: BTreeMap<(&str, &str), Confirmed> = loss
        .confirmed
        .iter()
        .map(|c| ((c.site.as_str(), c.stack.as_str()), c.verdict))
        .collect();
    let due = [
        (gone, "openssl", Confirmed::Unreported),
        (gone, "rustls-ring", Confirmed::Unreported),
        (all, "openssl", Confirmed::Mismatch),
        (all, "rustls-ring", Confirmed::Mismatch),
        (once, "openssl", Confirmed::AsPredicted),
        (once, "rustls-ring", Confirmed::AsPredicted),
        (rustls, "openssl", Confirmed::AsPredicted),
        (rustls, "rustls-ring", Confirmed::Mismatch),
    ];
    let due = due.map(|(site, stack, verdict)| ((site.as_str(), stack), verdict));
    assert_eq!(verdicts, due.into(), "{:?}", loss.confirmed);
    let [lost] = &loss.lost[..] else {
        panic!("{:?}", loss.lost);
    };
    assert_eq!(
        (lost.stack.as_str(), lost.reason),
        ("rustls-ring", LossReason::Handshake)
    );
    assert_eq!(lost.sites.keys().collect::<Vec<_>>(), [rustls]);
    assert_eq!(loss.unreachable, [all.as_str()]);
}

fn silence_is_a_refusal_only_while_the_hello_of_the_scan_is_answered() {
    let place = Place::new();
    authority(&place);
    certificate(&place, "leaf", "rsa:2048", "");
    let server = server(&place, "leaf", &[]);
    let dropped = relay(&server.site, |hello| {
        if is_of_a_stack(hello) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    let gone = ends_with_a_stack(&server.site, || Fate::Drop);
    let line = format!(
        "scan {dropped} {gone} --roots ca.pem --parts enumeration --timeout 1s --against openssl --json"
    );
    let done = place.succeeds(&line);
    let summary: ScanSummary = json(&done.stdout);
    assert_eq!(summary.run.scanned, 2, "{}", done.stdout);
    let loss = summary.loss.unwrap();
    let verdicts: BTreeMap<&str, Confirmed> = loss
        .confirmed
        .iter()
        .map(|c| (c.site.as_str(), c.verdict))
        .collect();
    let due = [
        (dropped.as_str(), Confirmed::Mismatch),
        (gone.as_str(), Confirmed::Unreported),
    ];
    assert_eq!(verdicts, due.into(), "{:?}", loss.confirmed);
}

fn a_site_gets_no_more_than_its_time_and_keeps_no_other_waiting() {
    let place = Place::new();
    authority(&place);
    certificate(&place, "leaf", "rsa:2048", "");
    let server = server(&place, "leaf", &["-cipher", "ECDHE+AESGCM"]);
    let slow = relay(&server.site, |_| Fate::Wait(Duration::from_millis(1_500)));
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let silent = silent
        .local_addr()
        .map(|at| (at.to_string(), silent))
        .unwrap();
    let line = format!(
        "scan {slow} {} {} --parts enumeration --timeout 20s --site-timeout 5s --json",
        server.site, silent.0
    );
    let begun = Instant::now();
    let done = place.succeeds(&line);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(15), "{took:?}");
    let summary: ScanSummary = json(&done.stdout);
    let [slow, whole, silent] = [&slow, &server.site, &silent.0].map(|name| {
        let mut sites = summary.sites.iter();
        sites.find(|site| site.site == *name).unwrap()
    });
    let due = ScanOutcome::Partial {
        why: "not done within 5 s".to_owned(),
    };
    assert_eq!(slow.outcome, due);
    assert_eq!(whole.outcome, ScanOutcome::Scanned);
    let ScanOutcome::Failed { class, .. } = &silent.outcome else {
        panic!("{:?}", silent.outcome);
    };
    assert_eq!(class.name(), "silent");
    assert!(slow.versions.iter().any(|version| version.supported));
    assert!(slow.versions.iter().any(|version| !version.complete));
}
