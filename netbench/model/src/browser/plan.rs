use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ClientSettings, Condition, Kind, Manifest, Plan, Recorded, RootsRecord, SampleKey, Site,
    StackName,
};

use super::{ObjectsPage, VisitSample};

/// The plan of a run of `browser`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserPlan {
    /// The seed of every random choice: the order of visits, the losses on a link.
    pub seed: u64,
    /// The browsers, followed by the stacks. Each client is compared with the first.
    pub clients: Vec<StackName>,
    /// The browsers, and how each is started.
    pub browsers: Vec<BrowserRecord>,
    /// The conditions: `clean` is a fresh profile, `resumed` is the second visit of a profile.
    pub conditions: Vec<Condition>,
    /// Number of rounds.
    pub rounds: u32,
    /// The sites file as given, or `built-in`.
    pub sites_file: String,
    /// SHA-256 of the sites file, in hexadecimal.
    pub sites_sha256: String,
    /// The sites, in the file's order.
    pub sites: Vec<Site>,
    /// The trust roots of the stacks. A browser has its own roots and the lab's.
    pub roots: RootsRecord,
    /// The client settings of the stacks; `None` if the run has no stacks. Browsers keep their own settings.
    pub client: Option<ClientSettings>,
    /// The page that is visited; `None` for a site's own page, which is one request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<ObjectsPage>,
    /// The time limit of one visit, including the browser's start, in milliseconds.
    pub limit_ms: u64,
    /// The link to emulated sites that the user requested, by its name; `None` if netbench chooses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl BrowserPlan {
    /// Returns the indices, among the lab's sites, of the other origins of a site's page. They follow all sites of the
    /// plan.
    pub fn other_origins(&self, site: usize) -> impl Iterator<Item = usize> + use<> {
        let others = self
            .page
            .as_ref()
            .map_or(0, |page| page.origins as usize - 1);
        let first = self.sites.len() + site * others;
        first..first + others
    }

    /// Returns the sites that the lab serves: the sites of the plan, followed by the other origins of each site's page.
    ///
    /// # Errors
    /// A site whose host is an address, which cannot have subdomains.
    pub fn served_sites(&self) -> Result<Vec<Site>, String> {
        let mut served = self.sites.clone();
        let origins = self.page.as_ref().map_or(1, |page| page.origins);
        for site in self.sites.iter().filter(|_| origins > 1) {
            if site.host.address().is_some() {
                return Err(format!(
                    "{} is an address, and has no other origins",
                    site.host
                ));
            }
            for origin in 1..origins {
                let host = ObjectsPage::host(site.host.as_str(), origin).parse()?;
                served.push(Site {
                    host,
                    unicode: None,
                    ..site.clone()
                });
            }
        }
        let mut names: Vec<String> = served.iter().map(Site::name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(served),
            Some(pair) => Err(format!("{} is a site and another's origin", pair[0])),
        }
    }
}

impl Plan for BrowserPlan {
    const KIND: Kind = Kind::new("browser");

    fn random_seed(&self) -> Option<u64> {
        Some(self.seed)
    }
}

/// The manifest of a run of `browser`.
pub type BrowserManifest = Manifest<BrowserPlan>;

/// A browser, and how it is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserRecord {
    /// The name of the browser in the run: `chromium`.
    #[schemars(extend("x-key" = "first"))]
    pub name: String,
    /// The version that the browser reports.
    pub version: String,
    /// The TLS library of the browser.
    pub library: String,
    /// Whether the browser's sandbox is on.
    pub sandbox: Sandbox,
    /// The user that the browser runs as, if not the user who measures: a browser's sandbox does not work as root.
    pub user: Option<String>,
    /// The settings of every visit other than those needed to control the browser.
    pub settings: Vec<String>,
}

/// The state of a browser's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// On, as is the default.
    On,
    /// Off, as the command line requested.
    Off,
}

impl Recorded for BrowserPlan {
    type Record = VisitSample;
    type Counted = VisitSample;

    type Key<'a> = SampleKey<'a>;

    fn key(sample: &VisitSample) -> Self::Key<'_> {
        sample.key()
    }

    fn planned(&self) -> u64 {
        let each_round = self.sites.len() * self.clients.len() * self.conditions.len();
        each_round as u64 * u64::from(self.rounds)
    }

    fn requires(&self) -> impl Fn(&VisitSample) -> bool {
        let sites: HashSet<String> = self.sites.iter().map(Site::name).collect();
        move |sample| {
            sample.round < self.rounds
                && self.conditions.contains(&sample.condition)
                && self.clients.contains(&sample.client)
                && sites.contains(&sample.site)
        }
    }

    fn counts(sample: &VisitSample) -> bool {
        sample.outcome.counts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RootsSource, parse_sites};

    fn plan(sites: &str, page: Option<ObjectsPage>) -> BrowserPlan {
        BrowserPlan {
            seed: 1,
            clients: Vec::new(),
            browsers: Vec::new(),
            conditions: Vec::new(),
            rounds: 1,
            sites_file: String::new(),
            sites_sha256: String::new(),
            sites: parse_sites(sites).expect("sites"),
            roots: RootsRecord {
                source: RootsSource::Mozilla,
                count: 0,
                sha256: String::new(),
            },
            client: None,
            page,
            limit_ms: 1,
            link: None,
        }
    }

    #[test]
    fn other_origins_are_served_after_all_sites() {
        let page = ObjectsPage::new(24, 3).ok();
        let plan = plan("a.example rtt=5ms\nb.example:8443\n", page);
        let served = plan.served_sites().expect("sites");
        let names: Vec<String> = served.iter().map(Site::name).collect();
        let due = [
            "a.example",
            "b.example:8443",
            "o1.a.example",
            "o2.a.example",
            "o1.b.example:8443",
            "o2.b.example:8443",
        ];
        assert_eq!(names, due);
        assert_eq!(served[3].lab, served[0].lab);
        assert_eq!(plan.other_origins(0).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(plan.other_origins(1).collect::<Vec<_>>(), [4, 5]);
    }

    #[test]
    fn sites_that_cannot_have_other_origins_are_refused() {
        for (sites, why) in [
            ("192.0.2.1\n", "192.0.2.1 is an address"),
            (
                "a.example\no1.a.example\n",
                "o1.a.example is a site and another's origin",
            ),
        ] {
            let several = plan(sites, ObjectsPage::new(24, 2).ok());
            let error = several.served_sites().expect_err(sites);
            assert!(error.contains(why), "{error}");
            let alone = plan(sites, ObjectsPage::new(24, 1).ok());
            assert_eq!(alone.served_sites().as_ref(), Ok(&alone.sites));
            assert_eq!(plan(sites, None).other_origins(0).count(), 0);
        }
    }
}
