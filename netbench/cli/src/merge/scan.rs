use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};

use netbench_model::{
    ScanManifest, ScanPlan, Site,
    scan::{AgainstRecord, Offer, SiteOutcome, SiteScan},
};
use netbench_store::{RunFolder, StoreError};

use super::{Merged, Merging, Part, Whole, groups::groups, name, parts, settings::text, write};
use crate::exit::{WrongInput, bail_input};

/// What a scan stores of the stacks that it was made against.
pub(crate) const AGAINST: &str = "against.json";

/// Merges the shards of a scan, which have the same seed: a scan has each site once.
pub(crate) fn merge(paths: &[PathBuf], merging: &Merging<'_>) -> anyhow::Result<RunFolder> {
    let parts = parts::<ScanPlan>(paths)?;
    let whole = parts.iter().find(|p| p.manifest.origin.shard.is_none());
    if let (Some(whole), 2..) = (whole, parts.len()) {
        let why = format!(
            "{} has all sites: only shards of a scan can be merged",
            whole.path
        );
        bail_input!("{why}");
    }
    let mut groups = groups(parts, merging.gaps)?;
    let (Some(group), true) = (groups.pop(), groups.is_empty()) else {
        let why = "these are shards of several scans; only shards of one can be merged";
        bail_input!("{why}");
    };
    let joined = join(group.parts, name(merging.out)?, &group.missing)?;
    write(merging.out, joined.manifest, &joined.scans, |folder| {
        if let Some(against) = &joined.against {
            folder.write_file(AGAINST, &serde_json::to_vec_pretty(against)?)?;
        }
        Ok(())
    })
}

impl Merged for ScanPlan {
    type Extra = Option<AgainstRecord>;

    fn seed(&self) -> u64 {
        self.seed
    }

    fn sites(&self) -> &[Site] {
        &self.sites
    }

    fn extra(folder: &RunFolder) -> Result<Self::Extra, StoreError> {
        folder.read_json(AGAINST)
    }

    fn missing(part: &Part<Self>) -> u64 {
        let outcomes: Vec<SiteOutcome> = part.records.iter().map(SiteOutcome::from).collect();
        part.manifest.missing(&outcomes)
    }

    fn lacks(part: &Part<Self>) -> Option<&'static str> {
        match &part.extra {
            _ if part.records.is_empty() => Some("scans"),
            None if !part.manifest.plan.against.is_empty() => Some(AGAINST),
            _ => None,
        }
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("lab or --live", text(&self.place)),
            ("the sites file", text(&self.sites_sha256)),
            ("the seed", text(&self.seed)),
            ("the parts", text(&self.parts)),
            ("the sites at one time (--jobs)", text(&self.jobs)),
            ("the rate", text(&self.rate)),
            ("the time limit", text(&self.timeout_ms)),
            ("the time limit of a site", text(&self.site_timeout_ms)),
            ("the retries", text(&self.retries)),
            ("the trust roots", text(&self.roots.sha256)),
            ("the client profile", text(&self.client_profile)),
            (
                "the sites to confirm",
                text(&(self.confirm, self.confirm_reached)),
            ),
            ("--summary", text(&self.summary)),
            ("--sni", text(&self.sni)),
            ("the policy", text(&self.policy)),
            ("the client certificate", text(&self.client_certificate)),
            ("the sample", text(&self.sampled_of)),
        ]
    }
}

struct Joined {
    manifest: ScanManifest,
    scans: Vec<SiteScan>,
    against: Option<AgainstRecord>,
}

/// Sites and what was found of them in the order of the whole list.
fn join(
    parts: Vec<Part<ScanPlan>>,
    name: String,
    missing: &[String],
) -> Result<Joined, WrongInput> {
    let mut whole = Whole::new();
    let mut against: Option<(String, AgainstRecord)> = None;
    let mut found: BTreeMap<usize, (Site, Option<SiteScan>)> = BTreeMap::new();
    for mut part in parts {
        let places = part.places()?;
        // Of a site that was scanned twice the last counts.
        let mut scans: HashMap<String, SiteScan> = std::mem::take(&mut part.records)
            .into_iter()
            .map(|scan| (scan.site.clone(), scan))
            .collect();
        for (place, site) in places
            .sites
            .into_iter()
            .zip(part.manifest.plan.sites.iter())
        {
            found.insert(place, (site.clone(), scans.remove(&site.name())));
        }
        if !scans.is_empty() {
            return Err(part.wrong("it has a site that is not of its plan"));
        }
        if let Some(record) = part.extra.take() {
            join_against(&mut against, &part.path, record)?;
        }
        let run = part.merged_run(whole.merged.last());
        whole
            .merged
            .push(run.ok_or_else(|| part.wrong("too many sessions"))?);
        whole.add(part.manifest);
    }
    let (sites, scans): (Vec<Site>, Vec<Option<SiteScan>>) = found.into_values().unzip();
    let mut manifest = whole.manifest(name, missing)?;
    manifest.plan.sites = sites.into();
    Ok(Joined {
        manifest,
        scans: scans.into_iter().flatten().collect(),
        against: against.map(|(_, mut record)| {
            record.confirmed.sort_by(|a, b| a.site.cmp(&b.site));
            record
        }),
    })
}

fn join_against(
    whole: &mut Option<(String, AgainstRecord)>,
    path: &str,
    part: AgainstRecord,
) -> Result<(), WrongInput> {
    let Some((first, record)) = whole else {
        *whole = Some((path.to_owned(), part));
        return Ok(());
    };
    let offers = |record: &AgainstRecord| -> Vec<Offer> {
        record.offers.iter().map(without_chance).collect()
    };
    if offers(record) != offers(&part) {
        bail_input!("{first} and {path} differ in what the stacks offer: they cannot be merged");
    }
    record.confirmed.extend(part.confirmed);
    Ok(())
}

/// An offer without what a stack draws afresh for each hello: the order of extensions, and GREASE. JA4 is
/// of the sorted extensions, and stays.
fn without_chance(offer: &Offer) -> Offer {
    Offer {
        wire_bytes: 0,
        message_bytes: 0,
        shares: Vec::new(),
        extensions: Vec::new(),
        ja3: String::new(),
        ja3_text: String::new(),
        ..offer.clone()
    }
}
