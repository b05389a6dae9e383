//! The scenarios of the child processes. Each opens a link and answers with one line of JSON.

use std::{
    error::Error,
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket},
    os::fd::AsRawFd,
    process::{Command, ExitCode, Stdio},
    sync::atomic::AtomicBool,
    thread,
    time::Duration,
};

use netbench_link::{Link, LinkChoice, LinkPlan, LinkSite, Namespace, TrialKey};
use netbench_model::{BitRate, LinkDirection, LinkProfile, LossRate, Window};
use serde_json::{Value, json};

use super::exchange;

/// The first argument of a child.
pub(crate) const WORD: &str = "--link-scenario";

type Answer = Result<Value, Box<dyn Error>>;

/// Runs the scenario that the words name: `open`, `check`, `traffic`, `hold`, `places`,
/// `threads`, `refusals`, `acks` or `windows`, then the kind of link, then the seed; or `compare` and two kinds.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let mut words = words.iter().map(String::as_str);
    let [scenario, choice, last] = [(); 3].map(|()| words.next().unwrap_or_default());
    let answer = match (scenario, choice.parse::<LinkChoice>()) {
        (_, Err(error)) => Err(error.into()),
        ("open", Ok(choice)) => open(choice, 1, sites()).map(|link| json!({ "why": link.why() })),
        ("check", Ok(choice)) => check(choice),
        ("traffic", Ok(choice)) => traffic(choice, last.parse().unwrap_or(1)),
        ("hold", Ok(choice)) => hold(choice),
        ("places", Ok(choice)) => places(choice),
        ("threads", Ok(choice)) => threads(choice),
        ("refusals", Ok(choice)) => refusals(choice),
        ("acks", Ok(choice)) => acks(choice),
        ("windows", Ok(choice)) => windows(choice),
        ("compare", Ok(choice)) => compare(choice, last),
        (other, _) => Err(format!("no scenario {other:?}").into()),
    };
    match answer {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn open(choice: LinkChoice, seed: u64, sites: Vec<LinkSite>) -> Result<Link, Box<dyn Error>> {
    Ok(Link::open(LinkPlan {
        choice,
        sites,
        seed,
    })?)
}

/// Returns sites with three round-trip times; the other sites with each time have properties that would
/// disturb a check that does not separate them.
fn sites() -> Vec<LinkSite> {
    let all = LossRate {
        parts_per_million: 1_000_000,
    };
    let slow = BitRate {
        bits_per_second: 400_000,
    };
    [
        ("near.test", profile(20)),
        (
            "middle.test",
            LinkProfile {
                rate: Some(slow),
                jitter_ns: 5_000_000,
                ..profile(50)
            },
        ),
        (
            "far.test",
            LinkProfile {
                loss: all,
                ..profile(100)
            },
        ),
        ("near2.test", profile(20)),
    ]
    .map(|(name, profile)| LinkSite {
        name: name.to_owned(),
        profile,
    })
    .into()
}

fn profile(rtt_ms: u64) -> LinkProfile {
    LinkProfile {
        rtt_ns: rtt_ms * 1_000_000,
        ..LinkProfile::default()
    }
}

fn check(choice: LinkChoice) -> Answer {
    // SAFETY: the call only reads.
    let before = unsafe { libc::geteuid() };
    let link = open(choice, 1, sites())?;
    let checks = link.check(1, &AtomicBool::new(false))?;
    // SAFETY: the call only reads.
    let user_kept = before == unsafe { libc::geteuid() };
    let addresses: Vec<String> = (0..4).map(|site| link.address(site).to_string()).collect();
    Ok(json!({
        "user_kept": user_kept,
        "checks": checks,
        "record": link.record(),
        "addresses": addresses,
        "listen_port": link.listen_port(443),
    }))
}

/// Makes twelve connections, one per site, each with a few questions and answers of one byte: the sides take
/// turns, so the sequence of packets does not depend on timing.
fn traffic(choice: LinkChoice, seed: u64) -> Answer {
    const SITES: usize = 12;
    let loss = LossRate {
        parts_per_million: 50_000,
    };
    let sites = (0..SITES).map(|index| LinkSite {
        name: format!("{index}.test"),
        profile: LinkProfile { loss, ..profile(4) },
    });
    let link = open(choice, seed, sites.collect())?;
    let listener = link
        .server_namespace()
        .run(|| TcpListener::bind(("0.0.0.0", link.listen_port(443))))??;
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut byte = [0];
                while stream.read_exact(&mut byte).is_ok() && stream.write_all(&byte).is_ok() {}
            });
        }
    });
    let (link, client) = (&link, &link.client_namespace());
    thread::scope(|scope| {
        let talks: Vec<_> = (0..SITES)
            .map(|site| scope.spawn(move || client.run(|| talk(link, site))))
            .collect();
        talks
            .into_iter()
            .try_for_each(|talk| -> Result<(), Box<dyn Error>> {
                Ok(talk.join().map_err(|_| "a thread panicked")???)
            })
    })?;
    Ok(json!({ "record": link.record() }))
}

fn talk(link: &Link, site: usize) -> std::io::Result<()> {
    const TURNS: usize = 10;
    link.begin_trial(site, TrialKey(site as u64));
    let mut stream = TcpStream::connect((link.address(site), 443))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut byte = [7];
    for _ in 0..TURNS {
        stream.write_all(&byte)?;
        stream.read_exact(&mut byte)?;
    }
    Ok(())
}

/// Stays until it is ended, with a child process in a namespace.
fn hold(choice: LinkChoice) -> Answer {
    let link = open(choice, 1, sites())?;
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    link.server_namespace().enter(&mut command);
    let mut process = command.spawn()?;
    let namespace = link.server_namespace().run(namespace)??;
    println!(
        "{}",
        json!({ "process": process.id(), "namespace": namespace })
    );
    // The scenario waits until the tests end it, or close its standard input.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    drop(process.stdin.take());
    process.wait()?;
    Ok(json!({}))
}

fn places(choice: LinkChoice) -> Answer {
    let link = open(choice, 1, sites())?;
    let server = link.server_namespace();
    let listener = server.run(|| TcpListener::bind((link.address(2), link.listen_port(443))))??;
    Ok(json!({
        "host": namespace()?,
        "client": place(&link.client_namespace())?,
        "server": place(&server)?,
        "listened_on": listener.local_addr()?.port(),
    }))
}

/// Returns the namespace of a process and of a thread that start in it.
fn place(inside: &Namespace) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new("readlink");
    command.arg("/proc/self/ns/net");
    inside.enter(&mut command);
    let seen = String::from_utf8(command.output()?.stdout)?;
    let (seen, own) = (seen.trim(), inside.run(namespace)??);
    if own == seen {
        Ok(own)
    } else {
        Err(format!("{own} or {seen}?").into())
    }
}

/// Makes the same exchanges over two links in turns, and returns the medians of each. Only root can have two
/// links.
fn compare(one: LinkChoice, other: &str) -> Answer {
    const ROUNDS: usize = 15;
    const RTTS_MS: [u64; 2] = [20, 100];
    let mut links = Vec::new();
    for choice in [one, other.parse()?] {
        let sites = RTTS_MS.map(|rtt_ms| LinkSite {
            name: format!("{rtt_ms}.test"),
            profile: profile(rtt_ms),
        });
        let link = open(choice, 1, sites.into())?;
        exchange::serve(&link)?;
        links.push((link, RTTS_MS.map(|_| Vec::new())));
    }
    // The first round fills the caches.
    for round in 0..=ROUNDS {
        links.rotate_left(1);
        for (link, times) in &mut links {
            for (site, times) in times.iter_mut().enumerate() {
                let address = link.address(site);
                let took = link
                    .client_namespace()
                    .run(|| exchange::exchange(address))??;
                if round > 0 {
                    times.push(took);
                }
            }
        }
    }
    let medians: Vec<Value> = links
        .iter()
        .flat_map(|(link, times)| {
            std::iter::zip(RTTS_MS, times).map(|(rtt_ms, times)| {
                json!({
                    "kind": link.kind(),
                    "rtt_ns": rtt_ms * 1_000_000,
                    "connect_ns": median_ns(times.iter().map(|took| took.connect)),
                    "handshake_ns": median_ns(times.iter().map(|took| took.handshake)),
                })
            })
        })
        .collect();
    Ok(json!({ "rounds": ROUNDS, "medians": medians }))
}

fn median_ns(times: impl Iterator<Item = Duration>) -> u128 {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times[times.len() / 2].as_nanos()
}

/// Sends datagrams to a closed port, as browsers do for HTTP/3 and to resolve names, and counts how often the
/// error is reported.
fn refusals(choice: LinkChoice) -> Answer {
    const DATAGRAMS: usize = 20;
    let link = open(choice, 1, sites())?;
    let mut reported = 0;
    for _ in 0..DATAGRAMS {
        reported += usize::from(link.client_namespace().run(|| -> std::io::Result<bool> {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
            socket.set_read_timeout(Some(Duration::from_secs(2)))?;
            socket.connect((link.address(0), 443))?;
            socket.send(&[0; 1200])?;
            let reported = socket.recv(&mut [0]).map_err(|error| error.kind());
            Ok(reported == Err(ErrorKind::ConnectionRefused))
        })??);
    }
    Ok(json!({ "datagrams": DATAGRAMS, "reported": reported }))
}

/// The time at which the receiver acknowledges data.
#[derive(Clone, Copy)]
enum Acks {
    AtOnce,
    /// The kernel's timer for delayed acknowledgements decides (tcp(7), TCP_QUICKACK).
    Delayed,
}

/// Gives the link's records of exchanges in which one side sends two short pieces of data with Nagle's algorithm, so that the second
/// waits for the acknowledgement of the first.
fn acks(choice: LinkChoice) -> Answer {
    const EXCHANGES: u64 = 8;
    let link = open(choice, 1, sites())?;
    let listener = link
        .server_namespace()
        .run(|| TcpListener::bind(("0.0.0.0", link.listen_port(443))))??;
    let mut answer = json!({});
    for (name, key, direction, acks) in [
        ("server_delays", 100, LinkDirection::Up, Acks::Delayed),
        ("server_at_once", 200, LinkDirection::Up, Acks::AtOnce),
        // The client's route has the kernel acknowledge everything at once.
        ("client", 300, LinkDirection::Down, Acks::Delayed),
    ] {
        let exchanges = (key..key + EXCHANGES).map(|key| {
            link.begin_trial(0, TrialKey(key));
            packets_of_exchange(&link, &listener, direction, acks)
        });
        answer[name] = exchanges.collect::<Answer>()?;
    }
    Ok(answer)
}

fn packets_of_exchange(
    link: &Link,
    listener: &TcpListener,
    direction: LinkDirection,
    acks: Acks,
) -> Answer {
    let client = link
        .client_namespace()
        .run(|| TcpStream::connect((link.address(0), 443)))??;
    let (server, _) = listener.accept()?;
    let (mut from, mut to) = match direction {
        LinkDirection::Up => (client, server),
        LinkDirection::Down => (server, client),
    };
    to.set_read_timeout(Some(Duration::from_secs(30)))?;
    set_acks(&to, acks)?;
    from.write_all(&[1; 100])?;
    from.write_all(&[2; 100])?;
    to.read_exact(&mut [0; 200])?;
    Ok(json!(link.packets(0)))
}

fn set_acks(stream: &TcpStream, acks: Acks) -> std::io::Result<()> {
    let quick: libc::c_int = match acks {
        Acks::AtOnce => 1,
        Acks::Delayed => 0,
    };
    // SAFETY: the pointer is to an integer of the length given, and the socket is open.
    let result = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_QUICKACK,
            (&raw const quick).cast(),
            size_of_val(&quick) as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

/// Gives the initial congestion windows of the servers of four sites, two of which have the same.
fn windows(choice: LinkChoice) -> Answer {
    let windows = [None, Some(32), Some(20), Some(32)];
    let sites = windows.iter().enumerate().map(|(index, window)| LinkSite {
        name: format!("site{index}.test"),
        profile: LinkProfile {
            rtt_ns: 5_000_000,
            window: window.map(|segments| Window { segments }),
            ..LinkProfile::default()
        },
    });
    let link = open(choice, 1, sites.collect())?;
    let listener = link
        .server_namespace()
        .run(|| TcpListener::bind(("0.0.0.0", link.listen_port(443))))??;
    let accepted = (0..windows.len()).map(|site| -> Result<u32, Box<dyn Error>> {
        let client = link
            .client_namespace()
            .run(|| TcpStream::connect((link.address(site), 443)))??;
        let (server, _) = listener.accept()?;
        let segments = congestion_window(&server)?;
        drop(client);
        Ok(segments)
    });
    Ok(json!({ "segments": accepted.collect::<Result<Vec<_>, _>>()? }))
}

/// Returns the congestion window of a connection, in segments (`TCP_INFO` of tcp(7)).
fn congestion_window(stream: &TcpStream) -> std::io::Result<u32> {
    // SAFETY: every value of the structure, which has integers alone, is valid.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the pointers are to a structure and its length, and the socket is open.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    match result {
        0 => Ok(info.tcpi_snd_cwnd),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Opens a link too late: when there is a second thread.
fn threads(choice: LinkChoice) -> Answer {
    thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || stopped.recv());
        let link = open(choice, 1, sites());
        drop(stop);
        Ok(json!({ "why": link?.why() }))
    })
}

/// Returns the network namespace of the calling thread, as `/proc` names it.
fn namespace() -> std::io::Result<String> {
    Ok(std::fs::read_link("/proc/thread-self/ns/net")?
        .to_string_lossy()
        .into_owned())
}
