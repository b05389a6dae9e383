use std::collections::{BTreeMap, HashMap};

use netbench_model::{
    chains::ChainOutcome,
    compat::Judgement,
    roots::{
        RootsClient, RootsManifest, RootsOutcome, RootsSample, RootsSite, StoreLayout, TrustOrigin,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    matrix::{Attempt, Matrix},
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
    pub wrong: Vec<WrongTrust>,
    /// The result of each client with each layout.
    #[serde(flatten)]
    pub matrix: Matrix<StoreLayout, RootsClient, RootsCell>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsHead {
    /// The fields that all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// The sites.
    pub sites: Vec<RootsSite>,
}

/// The result of a client with a layout. The judgement is that of the worst difference from a user's expectation.
pub type RootsCell = Attempt<RootsOutcome>;

/// A difference between a client's trust and a user's expectation of the system, with the layouts in which it
/// occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrongTrust {
    /// The judgement of the client's trust in the sites. A client without a connector rejects them.
    #[schemars(extend("x-key" = "item"))]
    pub judgement: Judgement,
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

/// Summarizes a run.
pub fn summarize_roots(manifest: &RootsManifest, samples: Vec<RootsSample>) -> RootsSummary {
    let plan = &manifest.plan;
    let outcomes: HashMap<(&str, &RootsClient), &RootsOutcome> = samples
        .iter()
        .map(|sample| ((sample.layout.as_str(), &sample.client), &sample.outcome))
        .collect();
    let matrix = Matrix::new(
        plan.layouts.iter().cloned(),
        plan.clients.clone(),
        |layout, client| {
            let outcome = *outcomes.get(&(layout.name.as_str(), client))?;
            Some(Attempt {
                judgement: judgement(layout, outcome),
                result: outcome.clone(),
            })
        },
    );
    let mut warnings = manifest.warnings.clone();
    let missing = matrix.missing();
    if missing > 0 {
        let tried = count(missing, "layout was", "layouts were");
        warnings.push(format!("{tried} not tried: the run was ended early"));
    }
    let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
    for cell in matrix.cells() {
        if let RootsOutcome::Unsupported { reason } = &cell.result {
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
            sites: plan.sites.clone(),
        },
        wrong: wrong(&matrix),
        matrix,
        warnings,
    }
}

fn judgement(layout: &StoreLayout, outcome: &RootsOutcome) -> Judgement {
    let differences = of_layout(layout, outcome).into_iter();
    let worst = differences.map(|found| found.judgement).min();
    match outcome {
        RootsOutcome::Unsupported { .. } => Judgement::Unsupported,
        _ => worst.unwrap_or(Judgement::Right),
    }
}

fn wrong(matrix: &Matrix<StoreLayout, RootsClient, RootsCell>) -> Vec<WrongTrust> {
    let mut all: Vec<WrongTrust> = Vec::new();
    for row in &matrix.cases {
        for (client, cell) in matrix.clients.iter().zip(&row.cells) {
            let Some(cell) = cell else { continue };
            for found in of_layout(&row.case, &cell.result) {
                let same = |earlier: &&mut WrongTrust| {
                    (earlier.judgement, &earlier.client, &earlier.seen)
                        == (found.judgement, client, &found.seen)
                };
                match all.iter_mut().find(same) {
                    Some(earlier) => earlier.layouts.push(row.case.name.clone()),
                    None => all.push(WrongTrust {
                        judgement: found.judgement,
                        client: client.clone(),
                        layouts: vec![row.case.name.clone()],
                        seen: found.seen,
                        advice: found.advice.to_owned(),
                        detail: found.detail,
                        sites: found.sites,
                    }),
                }
            }
        }
    }
    all.sort_by_key(|found| found.judgement);
    all
}

/// One client's unexpected behaviour with one layout.
struct Unexpected {
    judgement: Judgement,
    sites: Vec<String>,
    seen: String,
    advice: &'static str,
    detail: Option<String>,
}

impl Unexpected {
    /// Returns the result of a client that has no connector.
    fn not_started(judgement: Judgement, layout: &StoreLayout, detail: &str) -> Self {
        Self {
            judgement,
            sites: layout.trusts.clone(),
            seen: "Nothing loads: the client does not start.".to_owned(),
            advice: "Install a store that the client can read, or have it start without one.",
            detail: Some(detail.to_owned()),
        }
    }
}

/// Returns the differences between the outcome and a user's expectation.
fn of_layout(layout: &StoreLayout, outcome: &RootsOutcome) -> Vec<Unexpected> {
    let (origin, sites) = match outcome {
        RootsOutcome::Unsupported { .. } => return Vec::new(),
        // Without a store, no site should load.
        RootsOutcome::Refused { .. } if layout.trusts.is_empty() => return Vec::new(),
        RootsOutcome::Refused { detail } => {
            let refused = Unexpected::not_started(Judgement::FalseReject, layout, detail);
            return vec![refused];
        }
        RootsOutcome::Broken { detail } => {
            return vec![Unexpected::not_started(Judgement::Crashed, layout, detail)];
        }
        RootsOutcome::Made { origin, sites, .. } => (*origin, sites),
    };
    let is_known = |name: &str| origin == TrustOrigin::System || name != PUBLIC;
    let (mut lost, mut loaded, mut detail) = (Vec::new(), Vec::new(), None);
    for (name, said) in sites.iter().filter(|(name, _)| is_known(name)) {
        let is_due = layout.trusts.contains(name);
        match said {
            ChainOutcome::Rejected { detail: words, .. } if is_due => {
                lost.push(name.clone());
                detail = detail.or(Some(words.clone()));
            }
            ChainOutcome::Accepted if !is_due => loaded.push(name.clone()),
            _ => {}
        }
    }
    let due = layout.trusts.iter().filter(|name| is_known(name)).count();
    let lost_advice = match origin {
        TrustOrigin::Bundled => {
            "Build the client with the system's roots: those that it brings along have none that a company adds."
        }
        TrustOrigin::System if lost.len() == due => {
            "Name a bundle or a hashed folder to the client with SSL_CERT_FILE or SSL_CERT_DIR."
        }
        TrustOrigin::System => {
            "Have update-ca-certificates or update-ca-trust make the bundle and the folder again: clients read one or the other."
        }
    };
    let found = [
        Unexpected {
            judgement: Judgement::FalseReject,
            seen: format!("Does not load: {}.", lost.join(", ")),
            sites: lost,
            advice: lost_advice,
            detail,
        },
        Unexpected {
            judgement: Judgement::FalseAccept,
            seen: format!("Loads without a warning: {}.", loaded.join(", ")),
            sites: loaded,
            advice: "Take such roots out of every file and folder that the client reads: it may heed neither dates, nor marks beside them, nor SSL_CERT_FILE alone.",
            detail: None,
        },
    ];
    found
        .into_iter()
        .filter(|found| !found.sites.is_empty())
        .collect()
}
