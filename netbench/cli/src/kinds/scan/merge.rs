use std::{collections::BTreeMap, path::PathBuf};

use netbench_model::{
    ScanManifest, ScanPlan, Site,
    scan::{AgainstRecord, Offer, SiteOutcome},
};
use netbench_store::{Index, RunFolder, StoreError};

use super::{AGAINST, index};
use crate::{
    exit::{WrongInput, bail_input},
    merge::{Merged, Part, Read, Whole, groups, name, parts, write},
    options::Merging,
    stored,
};

/// Merges the shards of a scan, which have the same seed: a scan has each site once.
pub(super) fn merge(paths: &[PathBuf], merging: &Merging<'_>) -> anyhow::Result<RunFolder> {
    let parts = parts::<ScanPlan>(paths)?;
    let whole = parts.iter().find(|p| p.manifest.origin.shard.is_none());
    if let (Some(whole), 2..) = (whole, parts.len()) {
        bail_input!(
            "{} has all sites: only shards of a scan can be merged",
            whole.path
        );
    }
    let mut groups = groups(parts, merging.gaps)?;
    let (Some(group), true) = (groups.pop(), groups.is_empty()) else {
        bail_input!("these are shards of several scans; only shards of one can be merged");
    };
    let joined = join(group.parts, name(merging.out)?, &group.missing)?;
    let scans = joined.scans.iter().filter_map(|(site, records)| {
        let scan = joined.indices[*records].read(site);
        scan.map_err(stored::wrong).transpose()
    });
    write(merging.out, joined.manifest, scans, |folder| {
        if let Some(against) = &joined.against {
            folder.write_file(AGAINST, &serde_json::to_vec_pretty(against)?)?;
        }
        Ok(())
    })
}

impl Merged for ScanPlan {
    /// The scans, which stay in the run's folder because those of many sites may exceed the memory, and the facts about
    /// the stacks of `--against`.
    type Records = (Index, Option<AgainstRecord>);

    const MAY_DIFFER: &'static [&'static str] =
        &["/sites", "/sites_file", "/link", "/roots/source"];

    fn sites(&self) -> &[Site] {
        &self.sites
    }

    fn read(folder: &RunFolder, manifest: &ScanManifest) -> Result<Read<Self>, StoreError> {
        let outcomes: Vec<SiteOutcome> = folder.records()?;
        let (index, against) = (index(folder)?, folder.read_json(AGAINST)?);
        Ok(Read {
            missing: manifest.missing(&outcomes),
            lacks: match &against {
                _ if index.names() == 0 => Some("scans"),
                None if !manifest.plan.against.is_empty() => Some(AGAINST),
                _ => None,
            },
            records: (index, against),
        })
    }
}

struct Joined {
    manifest: ScanManifest,
    /// The sites, each with the index of its records.
    scans: Vec<(String, usize)>,
    indices: Vec<Index>,
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
    let mut indices = Vec::new();
    for part in parts {
        let places = part.places()?;
        let sites = part.manifest.plan.sites.iter();
        let (index, _) = &part.read.records;
        if sites.clone().filter(|site| index.has(&site.name())).count() < index.names() {
            return Err(part.wrong("it has a site that is not of its plan"));
        }
        for (place, site) in places.sites.into_iter().zip(sites) {
            found.insert(place, (site.clone(), indices.len()));
        }
        let run = part.merged_run(whole.merged.last());
        whole
            .merged
            .push(run.ok_or_else(|| part.wrong("too many sessions"))?);
        whole.add(part.manifest);
        let (index, record) = part.read.records;
        indices.push(index);
        if let Some(record) = record {
            join_against(&mut against, &part.path, record)?;
        }
    }
    let scans = found.values().map(|(site, at)| (site.name(), *at));
    let scans = scans.collect();
    let mut manifest = whole.manifest(name, missing)?;
    let sites: Vec<Site> = found.into_values().map(|(site, _)| site).collect();
    manifest.plan.sites = sites.into();
    Ok(Joined {
        manifest,
        scans,
        indices,
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
    let offers = part.offers.iter().map(without_chance);
    if !record.offers.iter().map(without_chance).eq(offers) {
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
