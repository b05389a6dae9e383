use std::collections::{BTreeMap, HashMap};

use netbench_model::{
    chains::ChainOutcome,
    roots::{
        RootsClient, RootsManifest, RootsOutcome, RootsSample, RootsSite, StoreLayout, TrustOrigin,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    run::{RunHead, SummaryHead},
    text::count,
};

/// The site that is ignored for a client with bundled roots: the lab's public root is in no bundle.
pub(super) const PUBLIC: &str = "public";

/// The findings of a run of `compat roots`: its `summary.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The run's settings.
    pub run: RootsHead,
    /// The cases in which a client's trust differs from a user's expectation of the system, the worst first.
    pub surprises: Vec<RootsSurprise>,
    /// The result of each client with each layout.
    pub layouts: Vec<RootsRow>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsHead {
    /// The fields that all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// The clients.
    pub clients: Vec<RootsClient>,
    /// The sites.
    pub sites: Vec<RootsSite>,
}

/// The effect of a difference from the system's store that a user sees. The worst comes first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-key" = "item"))]
pub enum Surprise {
    /// The client cannot be started, or its process ends.
    NoClient,
    /// A site that should load does not.
    Lost,
    /// A site that should not load does.
    Unwarned,
}

/// A difference between a client's trust and a user's expectation of the system, with the layouts in which it
/// occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsSurprise {
    /// The kind of effect that a user sees.
    pub surprise: Surprise,
    /// The client.
    #[serde(flatten)]
    pub client: RootsClient,
    /// The sites.
    pub sites: Vec<String>,
    /// The layouts.
    pub layouts: Vec<String>,
    /// The effect that a user sees.
    pub seen: String,
    /// The library's own words in the first of these layouts, if it has any.
    pub detail: Option<String>,
    /// The advice.
    pub advice: String,
}

/// A layout, with the result of every client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsRow {
    /// The layout.
    #[serde(flatten)]
    pub layout: StoreLayout,
    /// One for each client, in their order; absent if the client was not tested.
    #[schemars(extend("x-names" = "/run/clients"))]
    pub clients: Vec<Option<RootsOutcome>>,
}

/// Summarizes a run.
pub fn summarize_roots(manifest: &RootsManifest, samples: Vec<RootsSample>) -> RootsSummary {
    let plan = &manifest.plan;
    let mut found: HashMap<(String, RootsClient), RootsOutcome> = HashMap::new();
    for sample in samples {
        found.insert((sample.layout, sample.client), sample.outcome);
    }
    let outcome = |layout: &StoreLayout, client: &RootsClient| {
        found.get(&(layout.name.clone(), client.clone())).cloned()
    };
    let layouts: Vec<RootsRow> = plan
        .layouts
        .iter()
        .map(|layout| RootsRow {
            layout: layout.clone(),
            clients: plan
                .clients
                .iter()
                .map(|client| outcome(layout, client))
                .collect(),
        })
        .collect();
    let missing = layouts.iter().flat_map(|row| &row.clients);
    let missing = missing.filter(|cell| cell.is_none()).count();
    let mut warnings = manifest.warnings.clone();
    if missing > 0 {
        let tried = count(missing, "layout was", "layouts were");
        warnings.push(format!("{tried} not tried: the run was ended early"));
    }
    let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
    for cell in layouts.iter().flat_map(|row| &row.clients).flatten() {
        if let RootsOutcome::Unsupported { reason } = cell {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    let unsupported = reasons.iter().map(|(reason, tries)| {
        format!(
            "{} unsupported: {reason}",
            count(*tries, "try is", "tries are")
        )
    });
    warnings.extend(unsupported);
    RootsSummary {
        head: SummaryHead::of(manifest),
        run: RootsHead {
            head: RunHead::of(manifest),
            clients: plan.clients.clone(),
            sites: plan.sites.clone(),
        },
        surprises: surprises(&plan.clients, &layouts),
        layouts,
        warnings,
    }
}

fn surprises(clients: &[RootsClient], layouts: &[RootsRow]) -> Vec<RootsSurprise> {
    let mut all: Vec<RootsSurprise> = Vec::new();
    for row in layouts {
        for (client, cell) in clients.iter().zip(&row.clients) {
            let Some(outcome) = cell else { continue };
            for found in of_layout(&row.layout, outcome) {
                let same = |earlier: &&mut RootsSurprise| {
                    (earlier.surprise, &earlier.client, &earlier.sites)
                        == (found.surprise, client, &found.sites)
                };
                match all.iter_mut().find(same) {
                    Some(earlier) => earlier.layouts.push(row.layout.name.clone()),
                    None => all.push(RootsSurprise {
                        surprise: found.surprise,
                        client: client.clone(),
                        layouts: vec![row.layout.name.clone()],
                        seen: found.seen(),
                        advice: found.advice().to_owned(),
                        detail: found.detail,
                        sites: found.sites,
                    }),
                }
            }
        }
    }
    all.sort_by_key(|found| found.surprise);
    all
}

/// One client's unexpected behaviour with one layout.
struct Unexpected {
    surprise: Surprise,
    origin: TrustOrigin,
    sites: Vec<String>,
    /// Whether every site that should load fails.
    is_everything: bool,
    detail: Option<String>,
}

impl Unexpected {
    fn seen(&self) -> String {
        let sites = self.sites.join(", ");
        match self.surprise {
            Surprise::NoClient => "Nothing loads: the client does not start.".to_owned(),
            Surprise::Lost => format!("Does not load: {sites}."),
            Surprise::Unwarned => format!("Loads without a warning: {sites}."),
        }
    }

    fn advice(&self) -> &'static str {
        match (self.surprise, self.origin, self.is_everything) {
            (Surprise::NoClient, _, _) => {
                "Install a store that the client can read, or have it start without one."
            }
            (Surprise::Lost, TrustOrigin::Bundled, _) => {
                "Build the client with the system's roots: those that it brings along have none that a company adds."
            }
            (Surprise::Lost, TrustOrigin::System, true) => {
                "Name a bundle or a hashed folder to the client with SSL_CERT_FILE or SSL_CERT_DIR."
            }
            (Surprise::Lost, TrustOrigin::System, false) => {
                "Have update-ca-certificates or update-ca-trust make the bundle and the folder again: clients read one or the other."
            }
            (Surprise::Unwarned, _, _) => {
                "Take such roots out of every file and folder that the client reads: it may heed neither dates, nor marks beside them, nor SSL_CERT_FILE alone."
            }
        }
    }
}

fn of_layout(layout: &StoreLayout, outcome: &RootsOutcome) -> Vec<Unexpected> {
    let not_started = |sites: &[String], detail: &str| Unexpected {
        surprise: Surprise::NoClient,
        origin: TrustOrigin::System,
        sites: sites.to_vec(),
        is_everything: true,
        detail: Some(detail.to_owned()),
    };
    match outcome {
        RootsOutcome::Unsupported { .. } => Vec::new(),
        // Without a store, no site should load.
        RootsOutcome::Refused { .. } if layout.trusts.is_empty() => Vec::new(),
        RootsOutcome::Refused { detail } | RootsOutcome::Broken { detail } => {
            vec![not_started(&layout.trusts, detail)]
        }
        RootsOutcome::Made { origin, sites, .. } => {
            let is_known = |name: &str| *origin == TrustOrigin::System || name != PUBLIC;
            let (mut lost, mut unwarned, mut detail) = (Vec::new(), Vec::new(), None);
            for (name, said) in sites.iter().filter(|(name, _)| is_known(name)) {
                let is_due = layout.trusts.contains(name);
                match said {
                    ChainOutcome::Rejected { detail: words, .. } if is_due => {
                        lost.push(name.clone());
                        detail = detail.or(Some(words.clone()));
                    }
                    ChainOutcome::Accepted if !is_due => unwarned.push(name.clone()),
                    _ => {}
                }
            }
            let due = layout.trusts.iter().filter(|name| is_known(name)).count();
            let found = [
                (Surprise::Lost, lost, detail),
                (Surprise::Unwarned, unwarned, None),
            ];
            found
                .into_iter()
                .filter(|(_, sites, _)| !sites.is_empty())
                .map(|(surprise, sites, detail)| Unexpected {
                    surprise,
                    origin: *origin,
                    is_everything: sites.len() == due,
                    sites,
                    detail,
                })
                .collect()
        }
    }
}
