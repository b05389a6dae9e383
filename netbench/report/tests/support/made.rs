//! Artificial evaluations: the fate of each site is drawn from a seed, and samples and losses are made to match.

use std::{collections::BTreeSet, sync::Arc};

use netbench_model::{
    CertificateFault, Condition, ConnectManifest, ConnectPlan, EvaluationManifest, EvaluationPlan,
    FailureClass, Group, LinkKind, Losses, LostSite, Outcome, PartState, Profile, Sample,
    StackName, compat::Judgement, parse_sites,
};
use netbench_report::{EvaluationReport, Found, SuiteSummary, evaluation, summarize};
use netbench_stats::{Rng, UndecidedReason};

use super::{
    fixture::{Fixture, failed, measured, samples_of},
    made_parts::{chains, compat, stores},
    manifest::manifest_of,
    whole::{self, MadeCase},
};

pub(crate) const OLD: &str = "old";
pub(crate) const NEW: &str = "new";
/// The reason why a stack has no suite.
pub(crate) const NO_SUITE: &str = "it is not supported by the worker of new";
const CONDITIONS: [Condition; 2] = [Condition::Clean, Condition::Resumed];

/// The fate of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Both stacks reach it.
    Works,
    /// Both stacks reach it, and agree on different groups.
    WorksOtherwise,
    /// The new stack cannot agree with it, and no connection of that stack succeeds.
    Lost,
    /// The scan reports the site as lost, and connections show that it is not.
    LostByTheScanAlone,
    /// Both stacks can agree with it, and a connection of the new stack fails.
    FlakyWithTheNew,
    /// Both stacks can agree with it, and a connection of the stack in use fails.
    FlakyWithTheOld,
    /// No connection succeeds, with either stack.
    Dead,
    /// Only the new stack reaches it.
    Gained,
    /// The scan finds no problem, and only the new stack refuses its expired certificate.
    RefusedByTheNew,
}

impl Fate {
    const ALL: [Self; 9] = [
        Self::Works,
        Self::WorksOtherwise,
        Self::Lost,
        Self::LostByTheScanAlone,
        Self::FlakyWithTheNew,
        Self::FlakyWithTheOld,
        Self::Dead,
        Self::Gained,
        Self::RefusedByTheNew,
    ];
}

/// An evaluation as it was drawn.
#[derive(Debug)]
pub(crate) struct Made {
    seed: u64,
    fates: Vec<Fate>,
    rounds: u32,
    /// The profiles of the scan and of the connections.
    profiles: [Profile; 2],
    link: LinkKind,
    /// The new stack's computing time as a multiple of the old one's.
    compute: f64,
    /// Whether the multiple applies in every condition, or only without resumption.
    evenly: bool,
    /// The round-trip time of sites, in milliseconds.
    rtt_ms: u64,
    scanned: bool,
    /// The reason why there are no connections.
    pub(crate) missing: Option<String>,
    /// The new stack's results with servers that the old one handles correctly; `None` if none was tested.
    pub(crate) servers: Option<Vec<Judgement>>,
    /// Certificate chains and trust stores: whether the new stack is wrong, where the old one is right.
    pub(crate) chains: Option<Vec<bool>>,
    pub(crate) stores: Option<Vec<bool>>,
    /// Whether the protocol tests were run.
    pub(crate) features: bool,
    /// The runs of the suite.
    pub(crate) suite: MadeSuite,
}

/// A run of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MadeSuite {
    LeftOut,
    /// The worker of the new stack has no suite.
    Unsupported,
    Fast,
    Slow,
    /// The suite ran on a machine that was never quiet.
    NeverQuiet,
}

impl Made {
    pub(crate) fn of(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x6d61_6465);
        // Some evaluations have no problems, and others mostly problems.
        let trouble = [0, 10, 40, 90][rng.below(4) as usize];
        // A lost site is a small loss among thirty, and a large one among three.
        let count = 1 + rng.below(30);
        let fates = (0..count).map(|_| match rng.below(100) < trouble {
            true => Fate::ALL[rng.below(8) as usize],
            false => Fate::Works,
        });
        let fates = fates.collect();
        let missing = [
            "it was left out",
            "no space",
            "the kernel refuses namespaces",
        ];
        let missing = missing[rng.below(3) as usize].to_owned();
        Self {
            seed,
            fates,
            rounds: [1, 2, 6, 8][rng.below(4) as usize],
            profiles: match rng.below(4) {
                0 => [Profile::Library, Profile::Default],
                _ => [Profile::Library, Profile::Library],
            },
            link: match rng.below(6) {
                0 => LinkKind::None,
                _ => LinkKind::User,
            },
            compute: [0.3, 0.9, 1.0, 1.2, 3.0, 9.0][rng.below(6) as usize],
            evenly: rng.below(3) != 0,
            rtt_ms: [1, 20, 100][rng.below(3) as usize],
            scanned: rng.below(8) != 0,
            missing: (rng.below(8) == 0).then_some(missing),
            servers: match rng.below(4) {
                0 => None,
                1 => Some(vec![Judgement::Right; 30]),
                _ => Some((0..30).map(|_| judged(&mut rng, trouble)).collect()),
            },
            chains: wrong_ones(&mut rng, trouble),
            stores: wrong_ones(&mut rng, trouble),
            features: rng.below(8) != 0,
            suite: match rng.below(12) {
                0 => MadeSuite::LeftOut,
                1 => MadeSuite::Unsupported,
                2 => MadeSuite::Slow,
                3 => MadeSuite::NeverQuiet,
                _ => MadeSuite::Fast,
            },
        }
    }

    /// Returns whether connections were made.
    pub(crate) fn connected(&self) -> bool {
        self.missing.is_none()
    }

    pub(crate) fn sites_with(&self, fate: Fate) -> BTreeSet<String> {
        let sites = self.fates.iter().enumerate();
        let sites = sites.filter(|(_, of)| **of == fate);
        sites.map(|(number, _)| name(number)).collect()
    }

    /// Returns the number of sites to which a share of sites refers: those that the old stack reaches.
    pub(crate) fn counted(&self) -> u64 {
        let fates = self.fates.iter();
        let counted = fates.filter(|fate| match fate {
            Fate::Dead | Fate::Gained => false,
            // The scan is made with separate settings, and its result for a lost site stands.
            Fate::Lost if !self.scanned => !self.fails(Fate::Lost, OLD),
            Fate::FlakyWithTheOld | Fate::RefusedByTheNew => !self.connected(),
            _ => true,
        });
        counted.count() as u64
    }

    /// Returns the sites on which a connection of the new stack fails, and no connection of the old one.
    pub(crate) fn fail_with_the_new_alone(&self) -> BTreeSet<String> {
        let sites = self.fates.iter().enumerate();
        let alone = sites
            .filter(|(_, fate)| **fate != Fate::RefusedByTheNew)
            .filter(|(_, fate)| self.fails(**fate, NEW) && !self.fails(**fate, OLD));
        alone.map(|(number, _)| name(number)).collect()
    }

    pub(crate) fn any_failed(&self) -> bool {
        let mut fates = self.fates.iter();
        fates.any(|fate| self.fails(*fate, OLD) || self.fails(*fate, NEW))
    }

    /// Returns whether any connection of a stack to such a site fails.
    fn fails(&self, fate: Fate, stack: &str) -> bool {
        // With the settings that both stacks have, the old one cannot agree either.
        let both_limited = self.profiles[1] == Profile::Default;
        match fate {
            Fate::Works | Fate::WorksOtherwise | Fate::LostByTheScanAlone => false,
            Fate::Lost => stack == NEW || both_limited,
            Fate::Gained => stack == OLD || both_limited,
            Fate::FlakyWithTheNew | Fate::RefusedByTheNew => stack == NEW,
            Fate::FlakyWithTheOld => stack == OLD,
            Fate::Dead => true,
        }
    }

    pub(crate) fn report(&self) -> EvaluationReport {
        let found = Found {
            losses: self.scanned.then(|| self.losses()),
            web: self.web(),
            connections: self.connected().then(|| {
                let manifest = self.connect_manifest();
                let samples = self.samples(&manifest.plan);
                Arc::new(summarize(&manifest, &samples))
            }),
            compat: self.servers.as_deref().map(|of| Arc::new(compat(of))),
            chains: self.chains.as_deref().map(|of| Arc::new(chains(of))),
            roots: self.stores.as_deref().map(|of| Arc::new(stores(of))),
            matrix: self.features.then(whole::matrix),
            suites: self.suites(),
            ..Found::default()
        };
        whole::report(evaluation(self.manifest(), found))
    }

    fn suites(&self) -> Vec<Arc<SuiteSummary>> {
        let cases = match self.suite {
            MadeSuite::LeftOut | MadeSuite::Unsupported => return Vec::new(),
            MadeSuite::Fast => MadeCase::handshake(0.5, 0.52),
            MadeSuite::Slow => MadeCase::handshake(1.2, 1.3),
            MadeSuite::NeverQuiet => {
                MadeCase::handshake(0.5, 0.52).held_back(UndecidedReason::NeverQuiet)
            }
        };
        vec![Arc::new(whole::suite(&[cases]))]
    }

    fn losses(&self) -> Losses {
        let mut losses = Losses {
            client_profile: Some(self.profiles[0]),
            scanned: self.fates.len() as u64,
            ..Losses::default()
        };
        for (number, fate) in self.fates.iter().enumerate() {
            let site = LostSite {
                site: name(number),
                reason: "cbc-only".to_owned(),
                detail: "TLS_RSA_WITH_AES_128_CBC_SHA".to_owned(),
                confirmed: None,
            };
            match fate {
                Fate::Lost | Fate::LostByTheScanAlone => losses.lost.push(site),
                Fate::Gained => losses.gained.push(site),
                Fate::Dead => losses.neither += 1,
                _ => losses.both += 1,
            }
        }
        losses
    }

    fn connect_manifest(&self) -> ConnectManifest {
        let fixture = Fixture {
            rounds: self.rounds,
            conditions: CONDITIONS.to_vec(),
            ..Fixture::default()
        };
        let mut manifest = fixture.manifest();
        let plan = &mut manifest.plan;
        plan.stacks = [OLD, NEW].map(StackName::new).to_vec();
        plan.client.profile = self.profiles[1];
        let lines = (0..self.fates.len()).map(|n| format!("{} rtt={}ms\n", name(n), self.rtt_ms));
        plan.sites = parse_sites(&lines.collect::<String>()).unwrap();
        for session in &mut manifest.sessions {
            session.served.clear();
        }
        manifest.link.as_mut().unwrap().kind = self.link;
        manifest
    }

    fn samples(&self, plan: &ConnectPlan) -> Vec<Sample> {
        let mut rng = Rng::new(self.seed);
        samples_of(plan, |round, condition, site, side| {
            self.outcome(
                self.fates[site],
                [OLD, NEW][side],
                round,
                condition,
                &mut rng,
            )
        })
    }

    fn outcome(
        &self,
        fate: Fate,
        stack: &str,
        round: u32,
        condition: Condition,
        rng: &mut Rng,
    ) -> Outcome {
        let flaky = matches!(fate, Fate::FlakyWithTheNew | Fate::FlakyWithTheOld);
        // A flaky site fails once.
        let now = !flaky || (round == 0 && condition == Condition::Clean);
        if self.fails(fate, stack) && now {
            let (class, reason) = match fate {
                Fate::RefusedByTheNew => {
                    (FailureClass::Certificate, CertificateFault::Expired.name())
                }
                _ => (FailureClass::Alert, "handshake-failure"),
            };
            return failed(class, reason, "");
        }
        let slowed = stack == NEW && (self.evenly || condition == Condition::Clean);
        let compute = if slowed { self.compute } else { 1.0 };
        let group = match (fate, stack) {
            (Fate::WorksOtherwise, NEW) => Group::SECP256R1,
            _ => Group::X25519,
        };
        let rtt_ns = match self.link {
            LinkKind::None => 0.0,
            _ => self.rtt_ms as f64 * 1e6,
        };
        Outcome::Ok(Box::new(measured(rtt_ns, condition, compute, group, rng)))
    }

    fn manifest(&self) -> EvaluationManifest {
        let connections = match self.missing.as_deref() {
            None => PartState::Done,
            Some("it was left out") => PartState::LeftOut,
            Some(why) => PartState::Unsupported {
                why: why.to_owned(),
            },
        };
        let suite = match self.suite {
            MadeSuite::LeftOut => PartState::LeftOut,
            MadeSuite::Unsupported => PartState::Unsupported {
                why: NO_SUITE.to_owned(),
            },
            _ => PartState::Done,
        };
        let parts = [
            ("features", done_or_left_out(self.features)),
            ("compat", done_or_left_out(self.servers.is_some())),
            ("sites", done_or_left_out(self.scanned)),
            ("connections", connections),
            ("suite", suite),
        ];
        manifest_of(EvaluationPlan {
            sites_file: (self.seed.is_multiple_of(2)).then(|| "mine.txt".to_owned()),
            sites: u32::try_from(self.fates.len()).unwrap(),
            seed: self.seed,
            ..whole::run(&parts).plan
        })
    }
}

impl Made {
    /// Returns the loss among the sites of the web: unknown, below the limit, across it, or beyond.
    fn web(&self) -> Option<netbench_interop::WebLoss> {
        let range = [
            None,
            Some([0.0, 0.0]),
            Some([0.0, 2_430.0]),
            Some([9.0, 60_000.0]),
            Some([60_000.0, 90_000.0]),
        ];
        let [low, high] = range[(self.seed / 2 % 5) as usize]?;
        Some(netbench_interop::WebLoss {
            model: "web".to_owned(),
            per_million: f64::midpoint(low, high),
            low,
            high,
            sources: Vec::new(),
        })
    }
}

fn done_or_left_out(done: bool) -> PartState {
    match done {
        true => PartState::Done,
        false => PartState::LeftOut,
    }
}

fn wrong_ones(rng: &mut Rng, trouble: u32) -> Option<Vec<bool>> {
    match rng.below(4) {
        0 => None,
        1 => Some(vec![false; 20]),
        _ => Some((0..20).map(|_| rng.below(100) < trouble).collect()),
    }
}

fn judged(rng: &mut Rng, trouble: u32) -> Judgement {
    match rng.below(100) < trouble {
        true => Judgement::ALL[rng.below(Judgement::ALL.len() as u32) as usize],
        false => Judgement::Right,
    }
}

pub(crate) fn server(number: usize) -> String {
    format!("server/{number}")
}

fn name(number: usize) -> String {
    format!("site-{number}.example")
}
