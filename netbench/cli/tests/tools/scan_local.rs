//! `netbench scan` of servers on this machine, without a lab.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    thread,
    time::Duration,
};

use jiff::Timestamp;
use netbench_compat::{Case, NameServer, Zone};
use netbench_model::scan::{Observed, SiteScan};
use netbench_report::ScanSummary;

use crate::support::{Place, json, kept, text};

netbench_testing::module_tests! {
    servers_of_this_machine_are_scanned_directly_and_classed;
    servers_that_begin_in_plain_text_are_asked_for_tls;
    sites_that_failed_are_tried_again_by_resume;
    very_many_sites_of_this_machine_are_grouped;
    addresses_of_both_families_stand_in_a_file;
    names_in_other_scripts_are_shown_as_they_were_given;
    https_records_are_compared_with_what_the_server_sends;
}

/// Answers every connection with these bytes until the test ends. Returns the listening address.
fn serve(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut room = [0; 4096];
            let _ = stream.read(&mut room);
            let _ = stream.write_all(answer);
        }
    });
    address
}

fn servers_of_this_machine_are_scanned_directly_and_classed() {
    let http = serve(b"HTTP/1.1 400 \x1b[31mBad\r\n\r\n");
    let ssh = serve(b"SSH-2.0-\x1b[31mx\r\n");
    let place = Place::new();
    let done = place.succeeds(&format!("scan {http} {ssh} 127.0.0.1:9 --timeout 1s"));
    for class in ["plain-http", "ssh", "connect"] {
        done.prints(&format!("{class}: "));
    }
    assert!(!done.stdout.contains('\x1b'));
}

fn servers_that_begin_in_plain_text_are_asked_for_tls() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.write_all(b"220 mail.test ESMTP\r\n");
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"250 mail.test\r\n");
        }
    });
    let place = Place::new();
    let plain = place.succeeds(&format!("scan {at}"));
    plain.prints("answers as SMTP: try --starttls smtp");
    let line = format!("scan {at} --starttls smtp --json --name asked");
    let asked: ScanSummary = json(&place.succeeds(&line).stdout);
    assert_eq!(asked.run.failed["starttls"], 1);
    let run = place.named("asked");
    let stored = text(&run, "run.json");
    assert!(stored.contains("\"start_tls\": \"smtp\""), "{stored}");
    // The protocol's own port is the default; port 443 is asked if it is given.
    for (site, due) in [
        ("localhost", "localhost:25"),
        ("localhost:443", "localhost"),
    ] {
        let line = format!("scan {site} --starttls smtp --json");
        let asked: ScanSummary = json(&place.succeeds(&line).stdout);
        assert_eq!(asked.sites[0].site, due);
    }
    place.write("twice.txt", "localhost\nlocalhost:143\n");
    place.refuses(2, "
        scan --starttls imap => emulated sites begin with TLS
        scan localhost:1 --starttls telnet => xmpp
        scan localhost:1 --starttls pop3 --against openssl => --against
        scan localhost localhost:25 --starttls smtp => localhost:25 is given twice: localhost and localhost:25
        scan --sites twice.txt --starttls imap => twice.txt: localhost:143 is given twice: localhost and localhost:143; the default port is 143
        scan localhost --starttls smtp --starttls imap => --starttls can be given once only
    ");
}

fn sites_that_failed_are_tried_again_by_resume() {
    let port = {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.local_addr().unwrap().port()
    };
    let place = Place::new();
    let done = place.succeeds(&format!("scan 127.0.0.1:{port} --timeout 1s"));
    done.prints("connect: ");
    // From now on, a server listens at the port.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"SSH-2.0-x\r\n");
        }
    });
    let done = place.succeeds("run RUN");
    done.prints("ssh: ");
    assert!(!done.stdout.contains("connect: "), "{}", done.stdout);
}

/// Loopback addresses in a file need no `--live` either; with over a thousand sites, only the run's folder lists each.
fn very_many_sites_of_this_machine_are_grouped() {
    let place = Place::new();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = stream.unwrap().write_all(b"SSH-2.0-x\r\n");
        }
    });
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let none = closed.local_addr().unwrap().port();
    drop(closed);
    let mut sites: String = (0..1_100)
        .map(|i| format!("127.1.{}.{}:{none}\n", i / 250, i % 250 + 1))
        .collect();
    sites.push_str(&format!("127.0.0.1:{port}\n"));
    place.write("sites.txt", &sites);
    let done = place.succeeds("scan --sites sites.txt --parts enumeration --retries 0");
    assert!(done.stdout.lines().count() < 40, "{}", done.stdout);
    done.prints("scan.jsonl");
    assert_eq!(place.lines("scan.jsonl"), 1_101);
    let run = place.run();
    let summary: ScanSummary = kept(&run, "summary.json");
    assert!(summary.sites.is_empty());
    let many = summary.many.unwrap();
    let alike: Vec<(u32, &str)> = many
        .alike
        .iter()
        .map(|alike| (alike.sites, alike.support.outcome.as_str()))
        .collect();
    assert_eq!(alike, [(1_100, "connect"), (1, "ssh")]);
    // Failed sites are scanned again, and each site still counts once.
    let again: ScanSummary = json(&place.succeeds("run --json RUN").stdout);
    assert_eq!(place.lines("scan.jsonl"), 2_202);
    assert_eq!((again.run.planned, again.run.failed["ssh"]), (1_101, 1));
    assert_eq!(again.run.failed["connect"], 1_100);

    place.write("mixed.txt", "127.0.0.1\na.example\n");
    place.refuses(2, "scan --sites mixed.txt => is on this machine");
}

fn addresses_of_both_families_stand_in_a_file() {
    // Some machines have no IPv6.
    let Ok(listener) = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) else {
        return;
    };
    let at = listener.local_addr().unwrap();
    answer(listener, b"SSH-2.0-x\r\n");
    let place = Place::new();
    place.write(
        "sites.txt",
        &format!("{at}\nhttps://[::1]:9/\n127.0.0.1:9\n"),
    );
    let done = place.netbench_line("scan --sites sites.txt --json");
    let summary: ScanSummary = json(&done.expect(0).stdout);
    let classes: Vec<(&str, u32)> = summary
        .run
        .failed
        .iter()
        .map(|(class, sites)| (class.as_str(), *sites))
        .collect();
    assert_eq!(classes, [("connect", 2), ("ssh", 1)]);
    assert_eq!(summary.sites[0].address, Some(at));
}

fn names_in_other_scripts_are_shown_as_they_were_given() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    answer(listener, b"SSH-2.0-x\r\n");
    let place = Place::new();
    let line = format!(
        "scan https://Bücher.example:{port}/ --connect-to bücher.example::127.0.0.1: --json"
    );
    let summary: ScanSummary = json(&place.succeeds(&line).stdout);
    let scan = &summary.sites[0];
    assert_eq!(scan.site, format!("bücher.example:{port}"));
    assert_eq!(scan.host, "xn--bcher-kva.example");
    assert_eq!(summary.run.failed["ssh"], 1);
}

/// Sends `answer` on every connection, after the client's first bytes.
fn answer(listener: TcpListener, answer: &'static [u8]) {
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            // A client that has left reads no answer.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer);
        }
    });
}

fn named<'c>(cases: &'c [Case], name: &str) -> &'c Case {
    let mut cases = cases.iter();
    cases.find(|case| case.record.name == name).unwrap()
}

/// The server sends the list of the first case's client. It answers clients without Encrypted ClientHello too.
fn https_records_are_compared_with_what_the_server_sends() {
    let place = Place::new();
    let cases = netbench_compat::catalogue(netbench_compat::BUILT_IN).unwrap();
    let case = named(&cases, "ech/config-unknown-version-alone");
    for (name, due, words) in [
        (
            "ech/accepted",
            Observed::Yes,
            "ECH public.netbench.test (X25519), which the server sends too",
        ),
        (
            "ech/config-unknown-version-alone",
            Observed::No,
            "ECH version 0x7a7a, which the server does not send",
        ),
    ] {
        let configs = named(&cases, name).ech_configs().unwrap();
        let server = case.server(Timestamp::now()).unwrap();
        let running = server.start(Duration::from_secs(5)).unwrap();
        let at = running.address();
        let (host, mut zone) = (&case.record.host, Zone::default());
        zone.add(host, at.port(), &configs);
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let names = NameServer::start(zone, any).unwrap();
        let dns = names.address();
        let run = name.replace('/', "-");
        let line = format!("scan {at} --sni {host} --dns {dns} --parts features --name {run}");
        place.succeeds(&line).prints(words);
        let stored = text(&place.named(&run), "scan.jsonl");
        let site: SiteScan = serde_json::from_str(stored.lines().next().unwrap()).unwrap();
        let records = site.features.https_records.unwrap();
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].target, *host);
        assert_eq!(records[0].ech_is_the_servers, due, "{name}");
    }
    place.refuses(
        2,
        "
        scan --dns 127.0.0.1:53 => emulated sites with ech= have their own records
        scan 127.0.0.1:9 --dns 192.0.2.1:53 => asking it takes --live
        ",
    );
}
