//! An artificial run: figures drawn from a seed, with every kind of content that a report must handle.

use std::collections::BTreeMap;

use netbench_model::{
    CipherSuite, Condition, ConnectManifest, ConnectPlan, EarlyDataStatus, Environment, Failure,
    FailureClass, Group, LinkCheck, LinkKind, LinkRecord, Measured, Negotiated, Outcome, Phase,
    Phases, ProcessCost, Profile, Role, RootsRecord, RootsSource, Sample, ServerCount, ServerView,
    Session, SignatureScheme, Site, StackName, Sweep, Target, TcpInfo, TlsVersion, Transfer,
    WorkerRecord, parse_sites,
};
use netbench_report::{ConnectReport, ConnectSummary, summarize};
use netbench_stats::Rng;

use super::manifest::{manifest_of, session};

/// Text of a malicious server with sequences that readers of a report might obey.
pub const HOSTILE: &str = "=cmd()\x1b[2J\x07|a*b_`c`<script>\u{202e}\nend";

/// A run of `rounds` rounds in which `other` takes `factor` of the first stack's computing time.
pub struct Fixture {
    pub rounds: u32,
    pub factor: f64,
    pub conditions: Vec<Condition>,
    /// The sweep at whose points the first sites are measured.
    pub sweep: Option<Sweep>,
    /// Number of swept sites.
    pub swept: usize,
}

impl Default for Fixture {
    fn default() -> Self {
        Self {
            rounds: 10,
            factor: 0.6,
            conditions: vec![Condition::Clean, Condition::Resumed],
            sweep: None,
            swept: 1,
        }
    }
}

const SITES: &str = "\
near.example rtt=4ms
middle.example rtt=22ms
far.example rtt=57ms
further.example rtt=88ms
furthest.example rtt=175ms
broken.example rtt=22ms fault=expired
plain.example rtt=22ms tickets=0
different.example rtt=57ms
hostile.example rtt=22ms fault=bad-http
port.example:8443 rtt=57ms
";

impl Fixture {
    /// Returns the fixture with clean connections alone.
    pub fn clean() -> Self {
        Self {
            conditions: vec![Condition::Clean],
            ..Self::default()
        }
    }

    pub fn summary(&self) -> ConnectSummary {
        summarize(&self.manifest(), &self.samples())
    }

    pub fn report(&self) -> ConnectReport {
        ConnectReport::new(self.manifest(), self.samples())
    }

    pub fn manifest(&self) -> ConnectManifest {
        let stacks = [StackName::new("openssl"), StackName::new("rustls-ring")];
        let workers = [
            ("openssl", "OpenSSL 3.5.5", None),
            ("rustls-ring", "rustls 0.23.0", Some("ring 0.17.0")),
        ];
        let workers = workers.map(|(stack, library, provider)| WorkerRecord {
            executable: format!("netbench-worker-{stack}"),
            stack: stack.to_owned(),
            library: library.to_owned(),
            provider: provider.map(str::to_owned),
            connector: "hyper-connector 1.2.3".to_owned(),
            build: [("profile".to_owned(), "release".to_owned())].into(),
        });
        ConnectManifest {
            name: "2026-01-02-030405-host-fixture".to_owned(),
            finished: Some("2026-01-02T03:06:05Z".to_owned()),
            workers: workers.into(),
            link: Some(LinkRecord {
                kind: LinkKind::User,
                why: "auto: a fixture".to_owned(),
                checks: vec![
                    LinkCheck {
                        rtt_ns: 4_000_000,
                        connect_ns: 4_090_000,
                        kernel_rtt_ns: None,
                    },
                    LinkCheck {
                        rtt_ns: 22_000_000,
                        connect_ns: 29_000_000,
                        kernel_rtt_ns: None,
                    },
                ],
                lateness_ns: [("p50".to_owned(), 400), ("p99".to_owned(), 250_000)].into(),
                packets: BTreeMap::new(),
                losses_sha256: Some("22".repeat(32)),
                settings: BTreeMap::new(),
            }),
            environment: Environment {
                facts: [("cpu_model".to_owned(), "A Processor".to_owned())].into(),
                variables: BTreeMap::new(),
            },
            sessions: vec![Session {
                finished: Some("2026-01-02T03:06:05Z".to_owned()),
                served: vec![ServerCount {
                    site: "near.example".to_owned(),
                    accepted: 1000,
                    handshakes: 20,
                    resumed: 0,
                    responses: 20,
                }],
                ..session("/usr/bin/netbench connect --seed 42 --rounds 10")
            }],
            ..manifest_of(ConnectPlan {
                seed: 42,
                stacks: stacks.to_vec(),
                conditions: self.conditions.clone(),
                rounds: self.rounds,
                jobs: 2,
                cpu_percent: None,
                target: Target::Lab,
                sites_file: "sites.txt".to_owned(),
                sites_sha256: "00".repeat(32),
                sites: self.sites(),
                sweep: self.sweep.clone(),
                client: netbench_model::ClientSettings {
                    profile: Profile::Default,
                    versions: vec![],
                    suites: vec![],
                    groups: vec![],
                    signatures: vec![],
                    alpn: vec![],
                },
                roots: RootsRecord {
                    source: RootsSource::Mozilla,
                    count: 118,
                    sha256: "11".repeat(32),
                },
                timeout_ms: 10_000,
                pause_ms: None,
                connect_to: Vec::new(),
                request: netbench_model::RequestRecord::default(),
                client_certificate: None,
                compression: None,
                link: None,
            })
        }
    }

    fn sites(&self) -> Vec<Site> {
        let sites = parse_sites(SITES).unwrap();
        match &self.sweep {
            Some(sweep) => sweep.expand(&sites[..self.swept]).unwrap(),
            None => sites,
        }
    }

    pub fn samples(&self) -> Vec<Sample> {
        let plan = self.manifest().plan;
        let mut random = Rng::new(7);
        samples_of(&plan, |_, condition, site, side| {
            let site = &plan.sites[site];
            let compute = if side == 0 { 1.0 } else { self.factor };
            let rtt_ns = site.lab.link.rtt_ns as f64;
            outcome(&site.name(), rtt_ns, condition, compute, side, &mut random)
        })
    }
}

/// Returns the samples of a plan. Their outcomes depend on the round, the condition, and the places of the site and of
/// the stack in the plan.
pub fn samples_of(
    plan: &ConnectPlan,
    mut outcome: impl FnMut(u32, Condition, usize, usize) -> Outcome,
) -> Vec<Sample> {
    let mut samples = Vec::new();
    for round in 0..plan.rounds {
        for condition in &plan.conditions {
            for (index, site) in plan.sites.iter().enumerate() {
                for (side, stack) in plan.stacks.iter().enumerate() {
                    samples.push(Sample {
                        schema: netbench_model::SCHEMA_VERSION,
                        session: 0,
                        trial: samples.len() as u64,
                        site: site.name(),
                        stack: stack.clone(),
                        condition: *condition,
                        round,
                        block: round * 2 + u32::try_from(index % 2).unwrap(),
                        role: Role::Measured,
                        started_unix_ms: 1_767_323_045_000,
                        outcome: outcome(round, *condition, index, side),
                        losses: Vec::new(),
                        packets: None,
                        replay: None,
                    });
                }
            }
        }
    }
    samples
}

fn outcome(
    site: &str,
    rtt_ns: f64,
    condition: Condition,
    compute: f64,
    side: usize,
    random: &mut Rng,
) -> Outcome {
    let (class, reason, detail) = match site {
        "broken.example" => {
            let detail = "certificate has expired";
            (FailureClass::Certificate, "expired", detail)
        }
        "hostile.example" if side == 1 => (FailureClass::Http, HOSTILE, HOSTILE),
        "plain.example" if condition == Condition::Resumed => {
            return Outcome::Unsupported {
                reason: "the site does not resume sessions".to_owned(),
            };
        }
        _ => {
            let group = if site == "different.example" && side == 1 {
                Group::SECP256R1
            } else {
                Group::X25519
            };
            let measured = measured(rtt_ns, condition, compute, group, random);
            return Outcome::Ok(Box::new(measured));
        }
    };
    failed(class, reason, detail)
}

/// Returns the failure of a handshake.
pub fn failed(class: FailureClass, reason: &str, detail: &str) -> Outcome {
    Outcome::Failed(Failure {
        class,
        reason: reason.to_owned().into(),
        detail: detail.to_owned(),
        phase: Some(Phase::Tls),
        after_ns: Some(1_000_000),
    })
}

/// Returns the failure of a TCP connection that a site refuses.
pub fn refused() -> Outcome {
    Outcome::Failed(Failure {
        class: FailureClass::Connect,
        reason: "refused".to_owned().into(),
        detail: "refused".to_owned(),
        phase: Some(Phase::Tcp),
        after_ns: None,
    })
}

/// Returns a successful connection whose computation takes `compute` of the usual time.
pub fn measured(
    rtt_ns: f64,
    condition: Condition,
    compute: f64,
    group: Group,
    random: &mut Rng,
) -> Measured {
    let resumed = condition.resumes();
    let is_early = condition == Condition::EarlyData;
    let cpu = 2e6 * compute * noise(random, 0.1);
    let tcp = rtt_ns * noise(random, 0.002);
    let tls = rtt_ns + cpu * 0.7;
    let first_byte = match is_early {
        true => 0.0,
        false => rtt_ns * noise(random, 0.002),
    };
    let client = Negotiated {
        ech: None,
        early_data: is_early.then_some(EarlyDataStatus::Accepted),
        version: Some(TlsVersion::Tls13),
        suite: Some(CipherSuite::TLS_AES_128_GCM_SHA256),
        group: Some(group),
        signature: (!resumed).then_some(SignatureScheme::RSA_PSS_RSAE_SHA256),
        alpn: Some("h2".to_owned()),
        resumed,
        chain_bytes: if resumed { vec![] } else { vec![1200, 1100] },
    };
    let connector_ns = (!resumed).then(|| (3e6 * compute * noise(random, 0.1)).round() as u64);
    Measured {
        phases: Phases {
            connector_ns,
            dns_ns: (500.0 * noise(random, 0.2)).round() as u64,
            tcp_ns: tcp.round() as u64,
            tls_ns: tls.round() as u64,
            client_hello_ns: 50_000,
            verify_ns: (!resumed).then(|| (2e5 * compute * noise(random, 0.1)).round() as u64),
            first_byte_ns: first_byte.round() as u64,
            rejected_ns: None,
            total_ns: (tcp + tls + first_byte).round() as u64,
            cpu_ns: cpu.round() as u64,
        },
        server: Some(ServerView {
            negotiated: client.clone(),
            compute_ns: 900_000,
        }),
        client,
        transfer: Transfer {
            tcp: Some(TcpInfo {
                rtt_us: 1,
                min_rtt_us: 1,
                retransmits: 0,
            }),
            ..Transfer::default()
        },
        http_status: 200,
        body_bytes: 4096,
        process: Some(ProcessCost {
            connector_cpu_ns: connector_ns.unwrap_or(0) / 10 * 9,
            ..ProcessCost::default()
        }),
    }
}

/// Returns a factor that differs from 1 by at most `spread`.
fn noise(random: &mut Rng, spread: f64) -> f64 {
    1.0 + spread * (random.below(2_001) as f64 / 1_000.0 - 1.0)
}
