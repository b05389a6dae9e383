use netbench_model::{LinkChoice, LinkProfile};

/// One emulated site with its path.
#[derive(Debug, Clone)]
pub struct LinkSite {
    /// The site's name. Losses are drawn from it, so that a site keeps its losses when others are added.
    pub name: String,
    /// The path to the site.
    pub profile: LinkProfile,
}

/// The specification of a link.
#[derive(Debug, Clone)]
pub struct LinkPlan {
    /// The kind.
    pub choice: LinkChoice,
    /// The sites; elsewhere, they are identified by their index in this list.
    pub sites: Vec<LinkSite>,
    /// The seed of losses and jitter.
    pub seed: u64,
}

/// A key from which a trial's losses and jitter are drawn, beside the run's seed and the site. Trials that
/// are compared with each other have the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TrialKey(pub u64);
