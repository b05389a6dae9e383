use std::{collections::BTreeMap, path::PathBuf};

use netbench_model::{
    ScanManifest, ScanPlan, Site,
    scan::{AgainstRecord, Offer, SiteOutcome},
};
use netbench_store::{Index, RunFolder, StoreError};

use super::{Merged, Merging, Part, Whole, groups::groups, name, parts, settings::text, write};
use crate::{
    exit::{WrongInput, bail_input},
    kinds, stored,
};

/// The file of the data that a scan stores about the stacks of `--against`.
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
    let scans = joined.scans.iter().filter_map(|(site, records)| {
        let scan = joined.records[*records].index.read(site);
        scan.map_err(stored::wrong).transpose()
    });
    write(merging.out, joined.manifest, scans, |folder| {
        if let Some(against) = &joined.against {
            folder.write_file(AGAINST, &serde_json::to_vec_pretty(against)?)?;
        }
        Ok(())
    })
}

/// The scans of a run, which stay in its folder, because the scans of many sites may exceed the memory.
pub(super) struct Scans {
    index: Index,
    missing: u64,
}

impl Merged for ScanPlan {
    type Records = Scans;
    type Extra = Option<AgainstRecord>;

    fn seed(&self) -> u64 {
        self.seed
    }

    fn sites(&self) -> &[Site] {
        &self.sites
    }

    fn records(folder: &RunFolder, manifest: &ScanManifest) -> Result<Scans, StoreError> {
        let outcomes: Vec<SiteOutcome> = folder.records()?;
        Ok(Scans {
            index: kinds::scan::index(folder)?,
            missing: manifest.missing(&outcomes),
        })
    }

    fn extra(folder: &RunFolder) -> Result<Self::Extra, StoreError> {
        folder.read_json(AGAINST)
    }

    fn missing(part: &Part<Self>) -> u64 {
        part.records.missing
    }

    fn lacks(part: &Part<Self>) -> Option<&'static str> {
        match &part.extra {
            _ if part.records.index.names() == 0 => Some("scans"),
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
            ("--starttls", text(&self.start_tls)),
        ]
    }
}

struct Joined {
    manifest: ScanManifest,
    /// The sites, each with the index of its records.
    scans: Vec<(String, usize)>,
    records: Vec<Scans>,
    against: Option<AgainstRecord>,
}

/// Joins sites and their scans in the order of the whole list.
fn join(
    parts: Vec<Part<ScanPlan>>,
    name: String,
    missing: &[String],
) -> Result<Joined, WrongInput> {
    let mut whole = Whole::new();
    let mut against: Option<(String, AgainstRecord)> = None;
    let mut found: BTreeMap<usize, (Site, usize)> = BTreeMap::new();
    let mut records = Vec::new();
    for mut part in parts {
        let places = part.places()?;
        let sites = part.manifest.plan.sites.iter();
        let index = &part.records.index;
        if sites.clone().filter(|site| index.has(&site.name())).count() < index.names() {
            return Err(part.wrong("it has a site that is not of its plan"));
        }
        for (place, site) in places.sites.into_iter().zip(sites) {
            found.insert(place, (site.clone(), records.len()));
        }
        if let Some(record) = part.extra.take() {
            join_against(&mut against, &part.path, record)?;
        }
        let run = part.merged_run(whole.merged.last());
        whole
            .merged
            .push(run.ok_or_else(|| part.wrong("too many sessions"))?);
        whole.add(part.manifest);
        records.push(part.records);
    }
    let scans = found.values().map(|(site, at)| (site.name(), *at));
    let scans = scans.collect();
    let mut manifest = whole.manifest(name, missing)?;
    let sites: Vec<Site> = found.into_values().map(|(site, _)| site).collect();
    manifest.plan.sites = sites.into();
    Ok(Joined {
        manifest,
        scans,
        records,
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

/// Returns an offer without the properties that a stack randomizes in each hello: the order of extensions, and GREASE.
/// JA4 uses the sorted extensions, and is kept.
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
