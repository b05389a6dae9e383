//! The population: kinds of sites with their shares, and sites drawn of them.

use std::collections::BTreeMap;

use netbench_model::{
    CipherSuite, Group, KeyType, LabProfile, Site, TlsVersion, parse_sites,
    scan::{
        Effort, Features, Learned, NamedCode, Order, SCAN_SCHEMA_VERSION, ScanOutcome,
        SignatureScan, SiteScan, SuiteScan, VersionScan,
    },
    tls,
};
use netbench_stats::Rng;
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Population {
    pub(crate) name: String,
    pub(crate) sources: BTreeMap<String, String>,
    pub(crate) assumptions: Vec<String>,
    pub(crate) kinds: Vec<Kind>,
    keys: Vec<KeyShare>,
}

/// Sites that are set alike.
#[derive(Deserialize)]
pub(crate) struct Kind {
    pub(crate) name: String,
    /// The fields of a sites file; none for what the lab cannot be.
    pub(crate) fields: Option<String>,
    /// The kind of key that it needs, where it needs one.
    #[serde(default)]
    key: Option<String>,
    /// Whether it has what the others leave of 100 %.
    #[serde(default)]
    rest: bool,
    pub(crate) percent: f64,
    /// What the sources would allow for at the least, and at the most.
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) sources: Vec<String>,
}

#[derive(Deserialize)]
struct KeyShare {
    key: String,
    percent: f64,
}

/// A site of the population.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Drawn {
    pub(crate) kind: usize,
    key: usize,
}

impl Population {
    pub(crate) fn of_the_web() -> Self {
        let text = include_str!("../../data/population-2026.json");
        let mut population: Self = serde_json::from_str(text).unwrap();
        let sum = |of: fn(&Kind) -> f64| population.kinds.iter().map(of).sum::<f64>();
        let (percent, low, high) = (
            sum(|kind| kind.percent),
            sum(|kind| kind.low),
            sum(|kind| kind.high),
        );
        let rest = population.kinds.iter_mut().find(|kind| kind.rest).unwrap();
        rest.percent = 100.0 - percent;
        rest.low = (100.0 - high).max(0.0);
        rest.high = 100.0 - low;
        population
    }

    pub(crate) fn draw(&self, sites: u32, seed: u64) -> Vec<Drawn> {
        let mut rng = Rng::new(seed);
        let mut draw = || {
            let kind = pick(&mut rng, self.kinds.iter().map(|kind| kind.percent));
            let fits = |key: &KeyShare| match &self.kinds[kind].key {
                Some(needed) => key.key.starts_with(needed.as_str()),
                None => true,
            };
            let shares = self
                .keys
                .iter()
                .map(|key| if fits(key) { key.percent } else { 0.0 });
            let key = pick(&mut rng, shares);
            Drawn { kind, key }
        };
        (0..sites).map(|_| draw()).collect()
    }

    /// The site as a line of a sites file.
    pub(crate) fn line(&self, site: &Drawn, number: usize) -> String {
        let fields = self.kinds[site.kind].fields.as_deref().unwrap_or_default();
        format!("s{number}.example {fields} key={}", self.keys[site.key].key)
    }

    /// What a scan of the site would find, as far as it decides what is agreed on.
    pub(crate) fn scan(&self, site: &Drawn) -> SiteScan {
        if self.kinds[site.kind].fields.is_none() {
            let suites = [CipherSuite(0xc013), CipherSuite(0x002f)];
            let version = spoken(TlsVersion::Tls10, &suites, &[Group(0x17)]);
            return scan_of(vec![version], Vec::new());
        }
        let sites = parse_sites(&self.line(site, 0)).unwrap();
        let [Site { lab, .. }] = &sites[..] else {
            panic!("one site");
        };
        let versions = lab.tls.iter().map(|version| of_profile(lab, *version));
        scan_of(versions.collect(), signatures(lab))
    }
}

/// The place of the share that a draw falls into.
fn pick(rng: &mut Rng, shares: impl Iterator<Item = f64> + Clone) -> usize {
    let mut left = rng.unit() * shares.clone().sum::<f64>();
    let mut place = 0;
    for (at, share) in shares.enumerate() {
        if share > 0.0 {
            place = at;
            if left < share {
                break;
            }
        }
        left -= share;
    }
    place
}

/// What the lab serves by this profile in a version.
fn of_profile(lab: &LabProfile, version: TlsVersion) -> VersionScan {
    let is_rsa = !matches!(
        lab.key,
        KeyType::EcdsaP256 | KeyType::EcdsaP384 | KeyType::Ed25519
    );
    let listed = match lab.suites.as_slice() {
        [] => CipherSuite::OFFERED,
        suites => suites,
    };
    let fits = |suite: &CipherSuite| {
        let facts = suite.facts().unwrap();
        facts.fits(version)
            && match facts.authentication {
                tls::Authentication::Rsa => is_rsa,
                tls::Authentication::Ecdsa => !is_rsa,
                _ => true,
            }
    };
    let mut suites: Vec<CipherSuite> = listed.iter().copied().filter(fits).collect();
    if version == TlsVersion::Tls13 && suites.is_empty() {
        suites = CipherSuite::OFFERED.iter().copied().filter(fits).collect();
    }
    let classical = |group: &Group| version == TlsVersion::Tls13 || *group != Group(0x11ec);
    let groups: Vec<Group> = lab.groups.iter().copied().filter(classical).collect();
    spoken(version, &suites, &groups)
}

fn spoken(version: TlsVersion, suites: &[CipherSuite], groups: &[Group]) -> VersionScan {
    VersionScan {
        version,
        supported: true,
        refusal: None,
        suites: suites
            .iter()
            .map(|suite| SuiteScan {
                name: suite.to_string(),
                code: suite.0,
                group: None,
                dh: None,
            })
            .collect(),
        suite_order: Order::Server,
        groups: groups
            .iter()
            .map(|group| NamedCode {
                name: group.to_string(),
                code: group.0,
            })
            .collect(),
        group_order: Order::Server,
        groups_learned: Learned::Chosen,
        complete: true,
    }
}

fn signatures(lab: &LabProfile) -> Vec<SignatureScan> {
    let (old, new): (&[u16], &[u16]) = match lab.key {
        KeyType::EcdsaP256 => (&[0x0403], &[0x0403]),
        KeyType::EcdsaP384 => (&[0x0503, 0x0403], &[0x0503]),
        KeyType::Ed25519 => (&[0x0807], &[0x0807]),
        _ => (&[0x0804, 0x0401], &[0x0804]),
    };
    let of = |version: TlsVersion, codes: &[u16]| -> Vec<SignatureScan> {
        let scheme = |code: &u16| SignatureScan {
            version,
            name: tls::SignatureScheme(*code).to_string(),
            code: *code,
        };
        codes.iter().map(scheme).collect()
    };
    [of(TlsVersion::Tls12, old), of(TlsVersion::Tls13, new)].concat()
}

fn scan_of(versions: Vec<VersionScan>, signatures: Vec<SignatureScan>) -> SiteScan {
    SiteScan {
        schema: SCAN_SCHEMA_VERSION,
        site: String::new(),
        host: String::new(),
        port: 443,
        address: None,
        addresses: Vec::new(),
        outcome: ScanOutcome::Scanned,
        versions,
        signatures,
        chains: Vec::new(),
        features: Features::default(),
        intolerance: BTreeMap::new(),
        notes: Vec::new(),
        effort: Effort::default(),
    }
}
