//! nginx behind haproxy, which limits connections by a stick table.

use std::{
    net::SocketAddr,
    process::{Command, Stdio},
    thread,
};

use netbench_model::scan::ScanOutcome;
use netbench_scan::ScanPart;
use netbench_testing::Tool;

use crate::{
    hostile::scan_within,
    limited::{is_sure_of_what_it_says, within},
    programs::{nginx, wait_until_it_listens},
    support::{Files, Key, Server, free_address, scan, shown},
};

/// The ways in which haproxy refuses a connection over the limit.
const HOW: [&str; 2] = ["reject", "silent-drop"];

/// Numbers of connections in 10 s.
const MOST: [u32; 3] = [5, 10, 20];

pub(crate) fn what_haproxy_keeps_back_is_not_called_absent() {
    let files = Files::new(Key::Rsa);
    let server = nginx(&files, "ssl_protocols TLSv1.2 TLSv1.3;");
    let whole = scan(server.address, &[ScanPart::Intolerance]);
    assert_eq!(whole.outcome, ScanOutcome::Scanned, "{}", shown(&whole));

    let limits: Vec<(&str, u32, SocketAddr)> = HOW
        .iter()
        .flat_map(|how| MOST.map(|most| (*how, most, free_address())))
        .collect();
    let _haproxy = haproxy(&files, server.address, &limits);
    let scans: Vec<_> = limits
        .into_iter()
        .map(|(how, most, address)| {
            let scan = thread::spawn(move || scan_within(address, within(60)));
            (format!("{how} above {most}"), scan)
        })
        .collect();
    for (name, scan) in scans {
        let found = scan.join().unwrap();
        is_sure_of_what_it_says(&found, &whole, &name);
        let met = found
            .notes
            .iter()
            .any(|n| n.starts_with("limits connections"));
        let partial = matches!(found.outcome, ScanOutcome::Partial { .. });
        assert!(met || partial, "{name}: {}", shown(&found));
        let suites = found.versions.iter().map(|version| version.suites.len());
        assert!(suites.sum::<usize>() > 0, "{name}: {}", shown(&found));
    }
}

/// Starts haproxy with one frontend for each limit, in one process in the foreground.
fn haproxy(files: &Files, to: SocketAddr, limits: &[(&str, u32, SocketAddr)]) -> Server {
    let frontends: String = limits
        .iter()
        .map(|(how, most, address)| {
            format!(
                "frontend {how}-{most}\n\
                 \x20 bind {address}\n\
                 \x20 stick-table type ip size 1k expire 30s store conn_rate(10s)\n\
                 \x20 tcp-request connection track-sc0 src\n\
                 \x20 tcp-request connection {how} if {{ sc0_conn_rate gt {most} }}\n\
                 \x20 default_backend nginx\n"
            )
        })
        .collect();
    let path = files.write(
        "haproxy.cfg",
        &format!(
            "defaults\n\
             \x20 mode tcp\n\
             \x20 timeout client 130s\n\
             \x20 timeout connect 5s\n\
             \x20 timeout server 130s\n\
             backend nginx\n\
             \x20 server nginx {to}\n\
             {frontends}"
        ),
    );
    let child = Command::new(Tool::Haproxy.path().expect("haproxy"))
        .args(["-db", "-q", "-f", &path])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("haproxy begins");
    let (.., address) = *limits.last().expect("a limit");
    let mut server = Server::at(child, address);
    assert!(
        wait_until_it_listens(&mut server, address),
        "haproxy listens"
    );
    server
}
