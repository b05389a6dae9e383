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
    row::counted,
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
    let matrix = Matrix::of(
        plan.layouts.iter().cloned(),
        &plan.clients,
        samples
            .iter()
            .map(|it| (it.layout.as_str(), &it.client, &it.outcome)),
        |layout| &layout.name,
        |layout, client, outcome| Attempt {
            judgement: judgement(layout, client, outcome),
            result: (*outcome).clone(),
        },
    );
    let mut warnings = manifest.warnings.clone();
    warnings.extend(matrix.ended_early("layout was", "layouts were", "tried"));
    let reasons = matrix.cells().filter_map(|cell| match &cell.result {
        RootsOutcome::Unsupported { reason } => Some(reason),
        _ => None,
    });
    let unsupported = counted(reasons).map(|(reason, tries)| {
        let tries = count(tries, "try is", "tries are");
        format!("{tries} unsupported: {reason}")
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

fn judgement(layout: &StoreLayout, client: &RootsClient, outcome: &RootsOutcome) -> Judgement {
    let differences = of_layout(layout, client, outcome).into_iter();
    let worst = differences.map(|found| found.judgement).min();
    match outcome {
        RootsOutcome::Unsupported { .. } => Judgement::Unsupported,
        _ => worst.unwrap_or(Judgement::Right),
    }
}

fn wrong(matrix: &Matrix<StoreLayout, RootsClient, RootsCell>) -> Vec<WrongTrust> {
    let mut all: Vec<WrongTrust> = Vec::new();
    for row in &matrix.cases {
        let cells = matrix.clients.iter().zip(&row.cells);
        let cells = cells.filter_map(|(client, cell)| Some((client, cell.as_ref()?)));
        for found in cells.flat_map(|(client, cell)| of_layout(&row.case, client, &cell.result)) {
            match all.iter_mut().find(|earlier| earlier.is_like(&found)) {
                Some(earlier) => earlier.layouts.extend(found.layouts),
                None => all.push(found),
            }
        }
    }
    all.sort_by_key(|found| found.judgement);
    all
}

impl WrongTrust {
    fn is_like(&self, other: &Self) -> bool {
        (self.judgement, &self.client, &self.seen) == (other.judgement, &other.client, &other.seen)
    }
}

/// Returns the differences between the outcome with one layout and a user's expectation.
fn of_layout(
    layout: &StoreLayout,
    client: &RootsClient,
    outcome: &RootsOutcome,
) -> Vec<WrongTrust> {
    let not_started = WrongTrust {
        judgement: Judgement::Crashed,
        client: client.clone(),
        sites: layout.trusts.clone(),
        layouts: vec![layout.name.clone()],
        seen: "Nothing loads: the client does not start.".to_owned(),
        detail: None,
        advice: "Install a store that the client can read, or have it start without one."
            .to_owned(),
    };
    let (origin, sites) = match outcome {
        RootsOutcome::Unsupported { .. } => return Vec::new(),
        // Without a store, no site should load.
        RootsOutcome::Refused { .. } if layout.trusts.is_empty() => return Vec::new(),
        RootsOutcome::Refused { detail } | RootsOutcome::Broken { detail } => {
            return vec![WrongTrust {
                judgement: match outcome {
                    RootsOutcome::Broken { .. } => Judgement::Crashed,
                    _ => Judgement::FalseReject,
                },
                detail: Some(detail.clone()),
                ..not_started
            }];
        }
        RootsOutcome::Made { origin, sites, .. } => (*origin, sites),
    };
    let (mut lost, mut loaded, mut detail) = (Vec::new(), Vec::new(), None);
    for (name, said) in sites.iter().filter(|(name, _)| is_known(origin, name)) {
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
    let due = layout
        .trusts
        .iter()
        .filter(|name| is_known(origin, name))
        .count();
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
        WrongTrust {
            judgement: Judgement::FalseReject,
            seen: format!("Does not load: {}.", lost.join(", ")),
            sites: lost,
            advice: lost_advice.to_owned(),
            detail,
            ..not_started.clone()
        },
        WrongTrust {
            judgement: Judgement::FalseAccept,
            seen: format!("Loads without a warning: {}.", loaded.join(", ")),
            sites: loaded,
            advice: "Take such roots out of every file and folder that the client reads: it may heed neither dates, nor marks beside them, nor SSL_CERT_FILE alone.".to_owned(),
            ..not_started
        },
    ];
    found
        .into_iter()
        .filter(|found| !found.sites.is_empty())
        .collect()
}

/// Returns whether the trust in a site is known: the lab's public root is in no bundle.
fn is_known(origin: TrustOrigin, site: &str) -> bool {
    origin == TrustOrigin::System || site != PUBLIC
}
