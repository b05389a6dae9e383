//! Name resolution during a scan.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use netbench_model::scan::{FailedClass, ScanOutcome, SiteScan};
use netbench_scan::{Limits, Place, Resolver, ScanTarget, TrustAnchors, dns, scan_all_with};

use crate::{
    hostile::{class, limits, says},
    replies::{record, server_hello},
    support::{free_address, shown, target},
};

/// Scans sites of these names, `sites` at a time. Each name has at most `limit` to be looked up.
fn scan(
    names: &[impl AsRef<str>],
    sites: usize,
    limit: Duration,
    lookup: impl Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static,
) -> Vec<SiteScan> {
    let targets = names.iter().map(|name| ScanTarget {
        site: name.as_ref().to_owned(),
        host: name.as_ref().to_owned(),
        place: Place::Named(name.as_ref().to_owned(), 443),
        ..target(SocketAddr::from((Ipv4Addr::LOCALHOST, 443)))
    });
    let limits = Limits {
        sites,
        retries: 0,
        parts: Vec::new(),
        ..limits()
    };
    let resolver = Resolver::new(lookup, limit);
    let stop = Arc::new(AtomicBool::new(false));
    let mut found = Vec::new();
    let roots = TrustAnchors::default();
    scan_all_with::<io::Error>(resolver, targets, limits, roots, &stop, |scan| {
        found.push(scan.clone());
        Ok(())
    })
    .unwrap();
    found
}

fn scan_of<'a>(name: &str, found: &'a [SiteScan]) -> &'a SiteScan {
    found.iter().find(|scan| scan.site == name).unwrap()
}

/// Lookups in progress, and ended lookups of names that resolve.
#[derive(Default)]
struct Lookups {
    at_once: AtomicU32,
    most_at_once: AtomicU32,
    living: AtomicU32,
    /// Dead names whose lookups kept all others waiting.
    blocking: AtomicU32,
}

impl Lookups {
    /// Waits as long as the lookup of a dead name: a second, and until `further` living names of `all` have been
    /// looked up. Counts the name as blocking if that takes a minute.
    fn wait(&self, further: u32, all: u32) {
        let due = all.min(self.living.load(Ordering::Relaxed) + further);
        thread::sleep(Duration::from_secs(1));
        for _ in 0..6_000 {
            let is_over = self.living.load(Ordering::Relaxed) >= due;
            if is_over || self.blocking.load(Ordering::Relaxed) > 0 {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.blocking.fetch_add(1, Ordering::Relaxed);
    }
}

/// A resolver does not answer for one name in eight until hundreds of others have been looked up, during which dozens
/// of dead names come.
pub(crate) fn dead_names_keep_no_other_waiting() {
    const NAMES: u32 = 10_000;
    const DEAD: u32 = NAMES / 8;
    const LIVING: u32 = NAMES - DEAD;
    let closed = free_address();
    let lookups = Arc::new(Lookups::default());
    let counts = Arc::clone(&lookups);
    let names: Vec<String> = (0..NAMES).map(|n| format!("n{n}")).collect();
    let found = scan(&names, 50, Duration::from_millis(500), move |name, _| {
        let now = counts.at_once.fetch_add(1, Ordering::Relaxed) + 1;
        counts.most_at_once.fetch_max(now, Ordering::Relaxed);
        let number: u32 = name.trim_start_matches('n').parse().unwrap();
        if number.is_multiple_of(8) {
            counts.wait(448, LIVING);
        } else {
            counts.living.fetch_add(1, Ordering::Relaxed);
        }
        counts.at_once.fetch_sub(1, Ordering::Relaxed);
        Ok(vec![closed])
    });
    assert_eq!(found.len(), NAMES as usize);
    for (failed, due) in [(FailedClass::Resolve, DEAD), (FailedClass::Connect, LIVING)] {
        let of_class = found.iter().filter(|scan| class(scan) == Some(failed));
        assert_eq!(of_class.count(), due as usize);
    }
    assert_eq!(lookups.blocking.load(Ordering::Relaxed), 0);
    let most = lookups.most_at_once.load(Ordering::Relaxed);
    assert!((9..=256).contains(&most), "{most} lookups at one time");
}

/// A DNS server on loopback that answers names of `nx` with NXDOMAIN and of `fa` with SERVFAIL once `wait_for` names have been asked
/// for, and no others.
fn dns_server(wait_for: usize) -> SocketAddr {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let server = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut waiting = Vec::new();
        loop {
            let mut message = [0; 512];
            let (length, from) = socket.recv_from(&mut message).unwrap();
            let code = match &message[13..15] {
                b"nx" => 3,
                b"fa" => 2,
                _ => continue,
            };
            message[2] |= 0x80;
            message[3] |= code;
            waiting.push((message[..length].to_vec(), from));
            if waiting.len() >= wait_for {
                for (answer, from) in waiting.drain(..) {
                    socket.send_to(&answer, from).unwrap();
                }
            }
        }
    });
    server
}

/// The server answers only when it has been asked for all of them.
pub(crate) fn many_names_that_do_not_resolve_are_looked_up_at_a_time() {
    const NAMES: usize = 64;
    let server = dns_server(NAMES);
    let names: Vec<String> = (0..NAMES).map(|n| format!("nx{n}.test")).collect();
    let begun = Instant::now();
    let limit = Duration::from_secs(60);
    let found = scan(&names, 4, limit, move |name, _| {
        let fault = dns::fault(name, &[server], limit);
        Err(io::Error::other(fault.expect("a name without an address")))
    });
    println!("{NAMES} names in {:?}", begun.elapsed());
    let absent = found.iter().filter(|scan| matches!(&scan.outcome, ScanOutcome::Failed { detail, .. } if detail.contains("NXDOMAIN")));
    assert_eq!(absent.count(), NAMES);
}

/// Names of which the system's resolver says only that it failed, and a DNS server that is asked why.
pub(crate) fn silence_failure_and_absence_of_names_are_three_reasons() {
    let server = dns_server(1);
    let due = [
        ("nx.test", "NXDOMAIN"),
        ("fail.test", "SERVFAIL"),
        ("mute.test", "no DNS server answered"),
    ];
    let names = due.map(|(name, _)| name);
    let found = scan(&names, 3, Duration::from_secs(30), move |name, _| {
        let error = io::Error::other("temporary failure in name resolution");
        Err(dns::explained(name, error, &[server]))
    });
    for (name, why) in due {
        let scan = scan_of(name, &found);
        match &scan.outcome {
            ScanOutcome::Failed {
                class: FailedClass::Resolve,
                detail,
            } => assert!(detail.contains(why), "{name}: {detail}"),
            _ => panic!("{}", shown(scan)),
        }
    }
}

pub(crate) fn every_address_of_a_name_is_tried() {
    let server = says(record(22, &server_hello(0x0303, 0x002f, &[])));
    let (closed, open) = (free_address(), server.address);
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let names = ["two.test", "none.test", "wrong.test"];
    let found = scan(&names, 3, Duration::from_secs(20), move |name, _| {
        seen.lock().unwrap().push(name.to_owned());
        match name {
            "two.test" => Ok(vec![closed, open]),
            "none.test" => Ok(Vec::new()),
            _ => Err(io::Error::other("no such name")),
        }
    });
    let two = scan_of("two.test", &found);
    assert!(two.is_scanned(), "{}", shown(two));
    assert_eq!(two.address, Some(open));
    assert_eq!(two.addresses, [closed, open]);
    let said = two
        .notes
        .iter()
        .any(|note| note.contains(&closed.to_string()));
    assert!(said, "{}", shown(two));
    for (name, why) in [("none.test", "no address"), ("wrong.test", "no such name")] {
        let scan = scan_of(name, &found);
        match &scan.outcome {
            ScanOutcome::Failed { class, detail } => {
                assert_eq!(*class, FailedClass::Resolve);
                assert!(detail.contains(why), "{name}: {detail}");
            }
            _ => panic!("{}", shown(scan)),
        }
    }
    assert_eq!(
        asked.lock().unwrap().len(),
        3,
        "each name is asked for once"
    );
}
