//! A simulated server, without sockets, whose support enumeration must find.

use std::cell::{Cell, RefCell};

use netbench_model::{
    scan::{Learned, Order},
    tls::{Authentication, CipherSuite, KeyExchange, TlsVersion},
};
use proptest::{prelude::*, sample::subsequence};

use super::{
    Choice, Dress, Enumeration, Limit, ProbeAnswer, ProbeHello, Refusal, Responder, Shares, Stop,
    enumerate, find_hidden,
    rank::{offered_groups, offered_suites},
};

#[derive(Debug, Clone)]
struct Server {
    versions: Vec<TlsVersion>,
    /// The suites of all versions, in the server's order.
    suites: Vec<u16>,
    /// Those of the suites that the server chooses and cannot use.
    unusable: Vec<u16>,
    groups: Vec<u16>,
    own_order: bool,
    states_groups: bool,
    answered: Cell<u32>,
    notes: RefCell<Vec<String>>,
}

impl Server {
    /// Picks one of `mine` that `usable` accepts.
    fn pick(&self, mine: &[u16], offered: &[u16], usable: impl Fn(u16) -> bool) -> Option<u16> {
        let (first, second) = if self.own_order {
            (mine, offered)
        } else {
            (offered, mine)
        };
        let mut first = first.iter().copied();
        first.find(|code| second.contains(code) && usable(*code))
    }
}

impl Responder for Server {
    async fn answer(&self, hello: ProbeHello) -> Result<ProbeAnswer, Stop> {
        self.answered.set(self.answered.get() + 1);
        assert!(self.answered.get() < 600, "no end");
        let newest = hello
            .versions
            .iter()
            .max()
            .copied()
            .unwrap_or(TlsVersion::Ssl3);
        let fit = self.versions.iter().copied().filter(|version| {
            hello.versions.contains(version) || newest < TlsVersion::Tls13 && *version <= newest
        });
        let Some(version) = fit.max() else {
            return Ok(Err(Refusal::Alert(70)));
        };
        let of_version = offered_groups(version);
        let group = self.pick(&self.groups, &hello.groups, |code| {
            of_version.contains(&code)
        });
        let chosen = self.pick(&self.suites, &hello.suites, |code| {
            let known = CipherSuite(code).facts().filter(|s| s.fits(version));
            known.is_some_and(|s| {
                group.is_some() || !matches!(s.key_exchange, KeyExchange::Ecdhe | KeyExchange::Any)
            })
        });
        let Some(chosen) = chosen else {
            return Ok(Err(Refusal::Alert(40)));
        };
        if self.unusable.contains(&chosen) {
            return Ok(Err(Refusal::Alert(80)));
        }
        let exchange = CipherSuite(chosen).facts().map(|s| s.key_exchange);
        let grouped = matches!(exchange, Some(KeyExchange::Ecdhe | KeyExchange::Any));
        let group = group.filter(|_| grouped);
        let shared = matches!(&hello.shares, Shares::Of(groups) if !groups.is_empty());
        Ok(Ok(Choice {
            version: version.code(),
            suite: chosen,
            group,
            prime: None,
            stated_groups: (self.states_groups
                && version == TlsVersion::Tls13
                && shared
                && group != self.groups.first().copied())
            .then(|| self.groups.clone()),
        }))
    }

    fn wear(&self, _dress: Dress) {}

    fn cannot_read(&self, limit: Limit, how: Refusal) {
        self.note(format!("cannot read {limit:?}: {how}"));
    }

    fn note(&self, what: String) {
        self.notes.borrow_mut().push(what);
    }
}

fn run(server: &Server) -> Enumeration {
    wait_for(enumerate(server))
}

fn wait_for<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(work)
}

fn server() -> impl Strategy<Value = Server> {
    let all: Vec<u16> = [
        offered_suites(TlsVersion::Tls13),
        offered_suites(TlsVersion::Tls12)
            .into_iter()
            .filter(|code| {
                CipherSuite(*code)
                    .facts()
                    .is_some_and(|s| s.authentication != Authentication::Ecdsa)
            })
            .collect(),
    ]
    .concat();
    (
        subsequence(TlsVersion::ALL.to_vec(), 1..=5),
        subsequence(all, 1..40).prop_shuffle(),
        subsequence(offered_groups(TlsVersion::Tls13), 0..12).prop_shuffle(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(versions, suites, groups, own_order, states_groups)| Server {
                versions,
                suites,
                unusable: Vec::new(),
                groups,
                own_order,
                states_groups,
                answered: Cell::new(0),
                notes: RefCell::default(),
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    /// Enumeration finds exactly the support of any server.
    #[test]
    fn enumeration_finds_what_the_server_has(server in server()) {
        let found = run(&server);
        for version in &found.versions {
            let v = version.version;
            let groups: Vec<u16> = server
                .groups
                .iter()
                .copied()
                .filter(|code| offered_groups(v).contains(code))
                .collect();
            let mut due: Vec<u16> = server
                .suites
                .iter()
                .copied()
                .filter(|code| server.versions.contains(&v) && CipherSuite(*code).facts().is_some_and(|s| {
                    s.fits(v) && (!groups.is_empty()
                        || !matches!(s.key_exchange, KeyExchange::Ecdhe | KeyExchange::Any))
                }))
                .collect();
            let mut suites: Vec<u16> = version.suites.iter().map(|s| s.code).collect();
            // A version without a usable suite hides the older ones: the server chooses the newest.
            let newer_is_mute = server.versions.iter().any(|newer| {
                *newer >= v && !server.suites.iter().any(|code| CipherSuite(*code).facts().is_some_and(|s| {
                    let groups = server.groups.iter().any(|g| offered_groups(*newer).contains(g));
                    s.fits(*newer) && (groups
                        || !matches!(s.key_exchange, KeyExchange::Ecdhe | KeyExchange::Any))
                }))
            });
            if newer_is_mute {
                continue;
            }
            if server.own_order && version.suite_order == Order::Server {
                prop_assert_eq!(&suites, &due, "order of {}", v);
            }
            suites.sort_unstable();
            due.sort_unstable();
            prop_assert_eq!(&suites, &due, "suites of {}", v);
            prop_assert!(version.complete);
            if suites.len() > 1 {
                let due = if server.own_order { Order::Server } else { Order::Client };
                // A server's own order can agree by chance with the offered one for four suites.
                let chance = server.own_order && version.suite_order == Order::Client;
                prop_assert!(version.suite_order == due || chance, "{:?}", version);
            }
            if v == TlsVersion::Tls13 && !suites.is_empty() {
                let mut found = version.group_codes();
                if server.own_order && version.groups_learned == Learned::Chosen {
                    prop_assert_eq!(&found, &groups);
                }
                let mut due = groups.clone();
                found.sort_unstable();
                due.sort_unstable();
                prop_assert_eq!(found, due, "groups of {}", v);
            }
        }
    }
}

fn named(own_order: bool, suites: &[u16], versions: &[TlsVersion]) -> Server {
    Server {
        versions: versions.to_vec(),
        suites: suites.to_vec(),
        unusable: Vec::new(),
        groups: vec![
            0x1d, 0x17, 0x1e, 0x19, 0x18, 0x100, 0x101, 0x102, 0x103, 0x104,
        ],
        own_order,
        states_groups: true,
        answered: Cell::new(0),
        notes: RefCell::default(),
    }
}

/// Servers whose own order agrees with the client's in its first choices, and which support only one group. The first
/// has an ECDHE suite behind these choices, the other an anonymous one.
#[test]
fn servers_that_seem_to_follow_the_client_have_their_own_order() {
    let cases: [(u16, &[u16]); 2] = [
        (
            10,
            &[
                0x002c, 0x0023, 0xd001, 0x0033, 0xc028, 0xc011, 0x009b, 0xc070, 0x0016, 0xc0a4,
                0x009c, 0x0029, 0xc058, 0x0037,
            ],
        ),
        (
            38,
            &[
                0x001e, 0x00b2, 0xc04f, 0x002f, 0xc04d, 0xc017, 0x0029, 0x0023, 0xc00d, 0xc07f,
                0x00b1, 0xc082, 0xc052, 0x0033, 0x00bf, 0x0068, 0x0069, 0xc0b1, 0x0009, 0x0015,
                0xc084, 0xccad, 0xc01f, 0x00a7, 0x009c, 0x002b, 0xc069,
            ],
        ),
    ];
    for (group, suites) in cases {
        let server = Server {
            groups: vec![group],
            ..named(true, suites, &[TlsVersion::Tls12])
        };
        let found = run(&server);
        let version = found.versions.iter().find(|v| !v.suites.is_empty());
        let version = version.unwrap();
        let codes: Vec<u16> = version.suites.iter().map(|suite| suite.code).collect();
        assert_eq!((&codes[..], version.suite_order), (suites, Order::Server));
    }
}

/// Counts the connections that enumeration needs, on servers like those used to compare scanners.
#[test]
fn few_connections_settle_everything() {
    use TlsVersion::{Tls10, Tls11, Tls12, Tls13};
    let intermediate = [
        0x1302, 0x1303, 0x1301, 0xc02f, 0xc030, 0xcca8, 0x009e, 0x009f, 0xccaa,
    ];
    // The offer of `openssl s_server`: 56 suites below TLS 1.3, 16 of which are older than TLS 1.2.
    let old: Vec<u16> = offered_suites(Tls11)
        .into_iter()
        .filter(|c| matches!(c, 0xc010..=0xc019 | 0x002f..=0x0039 | 0x0041..=0x0046))
        .take(16)
        .collect();
    let newer = offered_suites(Tls12).into_iter().filter(|c| {
        CipherSuite(*c)
            .facts()
            .is_some_and(|s| !s.fits(Tls11) && !s.name.contains("ECDSA"))
    });
    let many: Vec<u16> = [0x1302, 0x1303, 0x1301]
        .into_iter()
        .chain(old.iter().copied())
        .chain(newer.take(40))
        .collect();
    let cases = [
        (named(true, &intermediate, &[Tls12, Tls13]), 16),
        (named(false, &intermediate, &[Tls12, Tls13]), 16),
        (named(false, &many, &[Tls10, Tls11, Tls12, Tls13]), 100),
    ];
    for (server, most) in cases {
        let found = run(&server);
        let answered = server.answered.get();
        assert!(answered <= most, "{answered} of {most}: {found:?}");
    }
}

#[test]
fn suites_behind_one_that_the_server_cannot_use_are_found() {
    // ChaCha20, AES-256, Camellia-256, ARIA-256, AES-128, Camellia-128, ARIA-128; then the same with RSA key exchange.
    let suites = [
        0xcca8, 0xc030, 0xc028, 0xc08b, 0xc061, 0xc02f, 0xc027, 0xc08a, 0xc060, 0x009d, 0x003d,
        0x00c0, 0xc051, 0x009c, 0x003c, 0x00ba, 0xc050,
    ];
    let aria = [0xc061, 0xc060, 0xc051, 0xc050];
    // With one that is preferred least, nothing is hidden.
    for unusable in [&[][..], &aria, &[0xc061], &[0xc050]] {
        let server = Server {
            unusable: unusable.to_vec(),
            ..named(true, &suites, &[TlsVersion::Tls12])
        };
        let mut found = run(&server);
        let newest = found.versions.iter_mut().find(|v| v.refusal.is_none());
        let newest = newest.expect("TLS 1.2");
        assert_eq!(wait_for(find_hidden(&server, newest)), Ok(true));
        let mut due = suites.to_vec();
        due.retain(|code| !unusable.contains(code));
        let codes: Vec<u16> = newest.suites.iter().map(|suite| suite.code).collect();
        assert_eq!(codes, due, "{unusable:x?}");
        let answered = server.answered.get();
        assert!(answered < 300, "{unusable:x?}: {answered}");
    }
}
