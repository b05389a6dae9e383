//! Cost of a scan, compared with nmap and sslscan on the same servers of this machine.
//!
//! `cargo run --release -p netbench-scan --example compare [intermediate|everything|fifty|thousand]…`

#![expect(clippy::unwrap_used, reason = "a measurement that cannot be made ends")]

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use netbench_model::scan::SiteScan;
use netbench_scan::{Limits, ScanPart, ScanTarget, TrustAnchors, raise_descriptor_limit, scan_all};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

#[path = "../tests/servers/programs.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod programs;
#[path = "../tests/servers/support.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod support;

use netbench_testing::program;
use programs::{INTERMEDIATE, nginx, s_server};
use support::{Files, Key, free_address};

/// Number of measurements of each figure; the median is shown.
const TIMES: usize = 5;

/// One way of the relay's emulated path.
const ONE_WAY: Duration = Duration::from_millis(25);

fn main() {
    raise_descriptor_limit();
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "relay") {
        return relay(
            words[1].parse().unwrap(),
            words[2].parse().unwrap(),
            words[3].parse().unwrap(),
        );
    }
    if words.is_empty() {
        words = ["intermediate", "everything", "fifty", "thousand"]
            .map(str::to_owned)
            .to_vec();
    }
    for word in words {
        match word.as_str() {
            "intermediate" => intermediate(),
            "everything" => everything(),
            "fifty" => fifty(),
            "thousand" => thousand(),
            other => panic!("there is no comparison named {other}"),
        }
    }
}

fn intermediate() {
    let files = Files::new(Key::Rsa);
    let lines = format!("ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers {INTERMEDIATE};");
    let server = nginx(&files, &lines);
    one("nginx, Mozilla's intermediate set", server.address);
}

fn everything() {
    let files = Files::new(Key::Rsa);
    let server = s_server(&files, &["-cipher", "ALL:@SECLEVEL=0", "-www"]);
    one("openssl s_server -cipher ALL:@SECLEVEL=0", server.address);
}

/// Compares every scanner on versions, suites with their order and groups of one server.
fn one(name: &str, address: SocketAddr) {
    println!("{name}");
    let (found, ours) = median(|| scan(vec![target(address)], &[]));
    let effort = &found[0].effort;
    println!(
        "  netbench: {} connections, {}",
        effort.connections,
        ours.shown(1)
    );
    let (host, port) = (address.ip().to_string(), address.port());
    others(|| scan(vec![target(address)], &[]).1.wall, &[host], port);
}

/// Scans fifty addresses of two servers, each of which is a process.
fn fifty() {
    let files = Files::new(Key::Rsa);
    let port = free_address().port();
    let hosts: Vec<String> = (1..=50).map(|n| format!("127.0.77.{n}")).collect();
    let servers = hosts.chunks(25).map(|hosts| {
        let listens = hosts
            .iter()
            .map(|host| format!("listen {host}:{port} ssl http2;"));
        let listens: String = listens.collect();
        let lines = format!("ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers {INTERMEDIATE}; {listens}");
        nginx(&files, &lines)
    });
    let _servers: Vec<_> = servers.collect();
    println!("fifty targets: nginx, Mozilla's intermediate set");
    let targets: Vec<ScanTarget> = hosts
        .iter()
        .map(|host| target(format!("{host}:{port}").parse().unwrap()))
        .collect();
    let (_, ours) = median(|| scan(targets.clone(), &[]));
    println!(
        "  netbench, versions, suites and groups: {}",
        ours.shown(50)
    );
    let (found, all) = median(|| scan(targets.clone(), ScanPart::ALL));
    let connections: u32 = found.iter().map(|scan| scan.effort.connections).sum();
    println!(
        "  netbench, every part: {connections} connections, {}",
        all.shown(50)
    );
    others(|| scan(targets.clone(), &[]).1.wall, &hosts, port);
}

/// Scans a thousand addresses, each behind a relay with a delay.
fn thousand() {
    let files = Files::new(Key::Rsa);
    let lines = format!("ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers {INTERMEDIATE};");
    let server = nginx(&files, &lines);
    let port = free_address().port();
    const SITES: u32 = 1000;
    let mut relay = Command::new(std::env::current_exe().unwrap())
        .args([
            "relay",
            &server.address.to_string(),
            &port.to_string(),
            &SITES.to_string(),
        ])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let targets: Vec<ScanTarget> = (0..SITES)
        .map(|n| target(SocketAddr::from((nth(n), port))))
        .collect();
    let last = SocketAddr::from((nth(SITES - 1), port));
    let begun = Instant::now();
    while std::net::TcpStream::connect(last).is_err() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the relay listens"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    println!(
        "{SITES} sites behind {} ms of round trip",
        2 * ONE_WAY.as_millis()
    );
    for (name, parts) in [
        ("versions, suites and groups", &[][..]),
        ("every part", ScanPart::ALL),
    ] {
        let (found, cost) = scan(targets.clone(), parts);
        let connections: u32 = found.iter().map(|scan| scan.effort.connections).sum();
        let whole = found
            .iter()
            .filter(|s| s.outcome == netbench_model::scan::ScanOutcome::Scanned);
        println!(
            "  netbench, {name}: {} scanned, {connections} connections, {}",
            whole.count(),
            cost.shown(SITES)
        );
    }
    println!("  peak memory of this process: {} MB", peak_kb() / 1024);
    relay.kill().unwrap();
    relay.wait().unwrap();
}

/// Measures other scanners on the same servers, alternating with this one: a busy machine slows both.
fn others(mut ours: impl FnMut() -> Duration, hosts: &[String], port: u16) {
    let port = port.to_string();
    if let Some(nmap) = program("nmap") {
        versus("nmap", TIMES, &mut ours, || {
            let ran = Command::new(&nmap)
                .args(["-n", "-Pn", "--script", "ssl-enum-ciphers", "-p", &port])
                .args(hosts)
                .output();
            ran.unwrap();
        });
    }
    if let Some(sslscan) = program("sslscan") {
        let times = if hosts.len() > 1 { 1 } else { TIMES };
        versus("sslscan", times, &mut ours, || {
            for host in hosts {
                let address = format!("{host}:{port}");
                Command::new(&sslscan).arg(address).output().unwrap();
            }
        });
    }
}

fn versus(name: &str, times: usize, ours: &mut impl FnMut() -> Duration, theirs: impl Fn()) {
    let mut turns: Vec<(f64, Duration)> = (0..times)
        .map(|_| {
            let ours = ours();
            let begun = Instant::now();
            theirs();
            let theirs = begun.elapsed();
            (theirs.div_duration_f64(ours), theirs)
        })
        .collect();
    turns.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (ratio, wall) = turns[times / 2];
    println!("  {name}: {wall:.2?}, {ratio:.1} times as long");
}

/// The cost of a scan.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    cpu: Duration,
}

impl Cost {
    fn shown(self, sites: u32) -> String {
        format!(
            "{:.3?}, {:.2?} of CPU time per site",
            self.wall,
            self.cpu / sites
        )
    }
}

fn median(mut work: impl FnMut() -> (Vec<SiteScan>, Cost)) -> (Vec<SiteScan>, Cost) {
    let mut all: Vec<_> = (0..TIMES).map(|_| work()).collect();
    all.sort_by_key(|(_, cost)| cost.wall);
    all.swap_remove(TIMES / 2)
}

fn scan(targets: Vec<ScanTarget>, parts: &[ScanPart]) -> (Vec<SiteScan>, Cost) {
    let limits = Limits {
        parts: parts.to_vec(),
        ..Limits::default()
    };
    let mut found = Vec::new();
    let stop = Arc::new(AtomicBool::new(false));
    let (begun, cpu) = (Instant::now(), cpu_time());
    scan_all::<std::io::Error>(targets, limits, TrustAnchors::default(), &stop, |scan| {
        found.push(scan.clone());
        Ok(())
    })
    .unwrap();
    let cost = Cost {
        wall: begun.elapsed(),
        cpu: cpu_time() - cpu,
    };
    (found, cost)
}

fn target(address: SocketAddr) -> ScanTarget {
    ScanTarget {
        site: address.to_string(),
        ..support::target(address)
    }
}

/// Returns the CPU time of this process, in user space and in the kernel.
fn cpu_time() -> Duration {
    // SAFETY: all zeros is a valid value of these numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid destination for the call.
    let known = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    assert_eq!(known, 0);
    duration(usage.ru_utime) + duration(usage.ru_stime)
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(
        u64::try_from(time.tv_sec).unwrap(),
        u32::try_from(time.tv_usec).unwrap() * 1000,
    )
}

fn peak_kb() -> u64 {
    let status = std::fs::read_to_string(PathBuf::from("/proc/self/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Returns an address of the loopback network.
fn nth(n: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(127, 0, 80, 1)) + n)
}

/// Listens on `sites` addresses and forwards data to `server` with a delay. Ends when it is killed.
fn relay(server: SocketAddr, port: u16, sites: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut all = tokio::task::JoinSet::new();
        for n in 0..sites {
            let listener = TcpListener::bind((nth(n), port)).await.unwrap();
            all.spawn(async move {
                while let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(pass_on(client, server));
                }
            });
        }
        while all.join_next().await.is_some() {}
    });
}

async fn pass_on(client: TcpStream, server: SocketAddr) {
    // The round trip of TCP's connect, which loopback does not have.
    tokio::time::sleep(2 * ONE_WAY).await;
    let Ok(server) = TcpStream::connect(server).await else {
        return;
    };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::join!(later(from_client, to_server), later(from_server, to_client));
}

/// Forwards bytes after the delay. A first flight is one write, so that one at a time suffices.
async fn later(mut from: tokio::net::tcp::OwnedReadHalf, mut to: tokio::net::tcp::OwnedWriteHalf) {
    let mut room = vec![0; 16 * 1024];
    while let Ok(count) = from.read(&mut room).await {
        tokio::time::sleep(ONE_WAY).await;
        if count == 0 || to.write_all(&room[..count]).await.is_err() {
            return;
        }
    }
}
