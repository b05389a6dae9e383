//! `--live`, tested without the internet: a network namespace with a name server that is slow, fails and lies, and
//! with web servers at addresses other than loopback.

use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket},
    process::Command,
    thread,
    time::Duration,
};

use netbench_lab::Lab;
use netbench_link::Namespace;
use netbench_model::{
    KeyType, LabProfile, Site,
    scan::{ScanOutcome, SiteScan},
};

use crate::{
    servers::{Server, nginx_command},
    support::{Done, Place, failure, figures, finish, json, measured, starting, text, until},
};

netbench_testing::module_tests! {
    names_and_addresses_of_the_outside_world_are_met: Nginx, Root, UserMounts;
    the_outside_world_is_scanned_and_recorded: Nginx, Root, UserMounts;
}

/// The server's addresses, in both families.
const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const SERVER_6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);

/// An address of the network at which no server listens.
const DEAD: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 9);

/// The delay of the slow name server.
const LATE: Duration = Duration::from_millis(600);

/// The names that have a certificate.
const NAMES: [&str; 4] = ["good.test", "several.test", "slow.test", "six.test"];

/// The answer of a name server.
struct Answer {
    /// The response code: 0, or 2 for a server that failed (RFC 1035 section 4.1.1).
    code: u8,
    v4: &'static [Ipv4Addr],
    v6: &'static [Ipv6Addr],
    late: Duration,
}

fn answer(name: &str) -> Answer {
    Answer {
        code: if name == "failing.test" { 2 } else { 0 },
        v4: match name {
            // `lied.test` leads to a server that has no certificate for it.
            "good.test" | "lied.test" | "slow.test" => &[SERVER],
            "several.test" => &[DEAD, SERVER],
            _ => &[],
        },
        v6: if name == "six.test" { &[SERVER_6] } else { &[] },
        late: if name == "slow.test" {
            LATE
        } else {
            Duration::ZERO
        },
    }
}

/// Answers queries until the test ends.
fn serve_names(socket: UdpSocket) {
    let mut question = [0; 512];
    while let Ok((length, from)) = socket.recv_from(&mut question) {
        let question = question[..length].to_vec();
        let socket = socket.try_clone().unwrap();
        thread::spawn(move || {
            if let Some((reply, late)) = reply(&question) {
                thread::sleep(late);
                let _ = socket.send_to(&reply, from);
            }
        });
    }
}

fn reply(question: &[u8]) -> Option<(Vec<u8>, Duration)> {
    let mut labels = Vec::new();
    let mut at = 12;
    while *question.get(at)? > 0 {
        let end = at + 1 + usize::from(question[at]);
        labels.push(String::from_utf8_lossy(question.get(at + 1..end)?).into_owned());
        at = end;
    }
    let kind = u16::from_be_bytes([*question.get(at + 1)?, *question.get(at + 2)?]);
    let answer = answer(&labels.join("."));
    let records: Vec<Vec<u8>> = match kind {
        1 => answer.v4.iter().map(|ip| ip.octets().to_vec()).collect(),
        28 => answer.v6.iter().map(|ip| ip.octets().to_vec()).collect(),
        _ => Vec::new(),
    };
    // A response to a query that requests recursion; one question, and the answers.
    let mut reply = question[..2].to_vec();
    let answers = u8::try_from(records.len()).unwrap();
    reply.extend([0x81, 0x80 | answer.code, 0, 1, 0, answers, 0, 0, 0, 0]);
    reply.extend(&question[12..at + 5]);
    for record in records {
        reply.extend([0xc0, 12]);
        reply.extend(kind.to_be_bytes());
        reply.extend([0, 1, 0, 0, 0, 60, 0, u8::try_from(record.len()).unwrap()]);
        reply.extend(record);
    }
    Some((reply, answer.late))
}

/// A network with a name server and nginx.
struct World {
    place: Place,
    network: Namespace,
    _nginx: Server,
}

impl World {
    fn new() -> Self {
        let place = Place::new();
        let network = Namespace::isolated().unwrap();
        for address in [
            format!("{SERVER}/32"),
            format!("{DEAD}/32"),
            format!("{SERVER_6}/128"),
        ] {
            let mut command = Command::new("ip");
            command.args(["address", "add", &address, "dev", "lo"]);
            network.enter(&mut command);
            finish(&mut command).expect(0);
        }
        let names = network.run(|| UdpSocket::bind((Ipv4Addr::LOCALHOST, 53)));
        let names = names.unwrap().unwrap();
        thread::spawn(move || serve_names(names));
        place.write(
            "resolv.conf",
            "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n",
        );
        place.write("nsswitch.conf", "hosts: files dns\n");
        let nginx = nginx(&place, &network);
        Self {
            place,
            network,
            _nginx: nginx,
        }
    }

    /// Runs `netbench` in this network.
    fn netbench(&self, line: &str) -> Done {
        let inner = self.place.command_line(line);
        let mut command = Command::new("unshare");
        let mounts = "mount --bind resolv.conf /etc/resolv.conf && \
                      mount --bind nsswitch.conf /etc/nsswitch.conf && exec \"$@\"";
        command.args(["--mount", "sh", "-c", mounts, "sh"]);
        starting(&mut command, &inner);
        self.network.enter(&mut command);
        finish(&mut command)
    }
}

fn nginx(place: &Place, network: &Namespace) -> Server {
    let profile = LabProfile {
        key: KeyType::EcdsaP256,
        ..LabProfile::default()
    };
    let sites = NAMES.map(|name| Site {
        lab: profile.clone().into(),
        ..Site::new(name.parse().unwrap(), 443)
    });
    let lab = Lab::new(&sites).unwrap();
    place.write("ca.pem", lab.ca_pem());
    let folder = place.path().display();
    let mut servers = String::new();
    let addresses = [SocketAddr::from((SERVER, 443)), (SERVER_6, 443).into()];
    for served in lab.serve_sites(&sites, |_| addresses[0]).values().flatten() {
        let name = &served.site;
        place.write(&format!("{name}.pem"), &served.chain_pem);
        place.write(&format!("{name}.key"), &served.key_pem);
        let listen = addresses
            .map(|at| format!("listen {at} ssl http2;"))
            .concat();
        servers.push_str(&format!(
            "server {{ {listen} server_name {name}; ssl_certificate {folder}/{name}.pem;\n\
             ssl_certificate_key {folder}/{name}.key; ssl_protocols TLSv1.2 TLSv1.3;\n\
             location / {{ return 200 'a page'; }} }}\n"
        ));
    }
    let mut command = nginx_command(place, &servers);
    network.enter(&mut command);
    let server = Server::begin(&mut command);
    for address in addresses {
        until("nginx", || {
            let connected = network.run(|| TcpStream::connect(address));
            connected.unwrap().is_ok()
        });
    }
    server
}

fn names_and_addresses_of_the_outside_world_are_met() {
    let world = World::new();
    let place = &world.place;
    let names = NAMES
        .iter()
        .chain(&["lied.test", "failing.test", "absent.test"]);
    let sites: String = names.clone().map(|name| format!("{name}\n")).collect();
    place.write("sites.txt", &sites);

    let line = "connect --live --sites sites.txt --roots ca.pem --rounds 1 --stack rustls-ring,openssl \
                --pause 0ms --jobs 4 --name live";
    world.netbench(line).expect(0);
    let samples = measured(&place.run());
    assert_eq!(samples.len(), 14);
    for sample in &samples {
        let why = failure(sample);
        match sample.site.as_str() {
            "lied.test" => assert_eq!(why.as_deref(), Some("certificate: wrong-name")),
            "failing.test" => {
                assert_eq!(
                    why.as_deref(),
                    Some("resolve: DNS server failed"),
                    "{sample:?}"
                );
            }
            "absent.test" => {
                assert_eq!(why.as_deref(), Some("resolve: not found"), "{sample:?}");
            }
            name => {
                let measured = figures(sample);
                assert_eq!(measured.http_status, 200);
                let late = u64::try_from(LATE.as_nanos()).unwrap();
                // Each lookup is timed, even if the address of the name is known.
                assert_eq!(
                    measured.phases.dns_ns >= late,
                    name == "slow.test",
                    "{sample:?}"
                );
            }
        }
    }
}

fn the_outside_world_is_scanned_and_recorded() {
    let world = World::new();
    let place = &world.place;
    place.write(
        "sites.txt",
        "good.test\nsix.test\nseveral.test\nfailing.test\n",
    );
    let line = "scan --live -q --sites sites.txt --roots ca.pem --timeout 5s";
    world.netbench(line).expect(0);
    let run = place.run();
    let scans = text(&run, "scan.jsonl");
    let scans: Vec<SiteScan> = scans.lines().map(json).collect();
    assert_eq!(scans.len(), 4);
    for scan in &scans {
        let is_scanned = scan.outcome == ScanOutcome::Scanned;
        assert_eq!(is_scanned, scan.site != "failing.test", "{scan:?}");
    }
    let recorded = world.netbench("setup sites record RUN").expect(0).stdout;
    let lines: Vec<&str> = recorded
        .lines()
        .filter(|line| line.contains(".test"))
        .collect();
    assert_eq!(lines.len(), 4, "{recorded}");
    for (line, name) in lines.iter().zip(["good.test", "six.test", "several.test"]) {
        let is_recorded = line.starts_with(name) && line.contains(" key=ecdsa-p256 ");
        assert!(is_recorded, "{line}");
    }
    assert_eq!(lines[3], "# failing.test: not scanned");
}
