use std::collections::BTreeMap;

use netbench_model::{
    ScanManifest, ScanPlan, Site,
    scan::{AgainstRecord, Offer, SiteOutcome},
};
use netbench_store::{Index, RunFolder, StoreError};

use super::{AGAINST, index};
use crate::{
    exit::{WrongInput, bail_input},
    merge::{Merged, Part, groups, name, parts, whole, write},
    options::Merge,
    stored,
};

/// Merges the shards of a scan, which have the same seed: a scan has each site once.
pub(super) fn merge(options: &Merge) -> anyhow::Result<RunFolder> {
    let parts = parts::<ScanPlan>(&options.runs)?;
    let whole = parts.iter().find(|p| p.manifest.origin.shard.is_none());
    if let (Some(whole), 2..) = (whole, parts.len()) {
        bail_input!(
            "{} has all sites: only shards of a scan can be merged",
            whole.path
        );
    }
    let (mut groups, missing) = groups(parts, options)?;
    let (Some(parts), true) = (groups.pop(), groups.is_empty()) else {
        bail_input!("these are shards of several scans; only shards of one can be merged");
    };
    join(parts, options, &missing)
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

    fn read(
        path: String,
        folder: &RunFolder,
        manifest: ScanManifest,
    ) -> Result<Part<Self>, StoreError> {
        let outcomes: Vec<SiteOutcome> = folder.records()?;
        let (index, against) = (index(folder)?, folder.read_json(AGAINST)?);
        Ok(Part {
            path,
            missing: manifest.missing(&outcomes),
            lacks: match &against {
                _ if index.names() == 0 => Some("scans"),
                None if !manifest.plan.against.is_empty() => Some(AGAINST),
                _ => None,
            },
            records: (index, against),
            manifest,
        })
    }
}

/// Joins sites and their scans in the order of the whole list, and writes the run.
fn join(
    parts: Vec<Part<ScanPlan>>,
    options: &Merge,
    missing: &[String],
) -> anyhow::Result<RunFolder> {
    let name = name(&options.out)?;
    let (mut manifests, mut merged) = (Vec::new(), Vec::new());
    let mut against: Option<(String, AgainstRecord)> = None;
    let mut found: BTreeMap<usize, (Site, usize)> = BTreeMap::new();
    let mut indices = Vec::new();
    for part in parts {
        let places = part.places()?;
        let sites = part.manifest.plan.sites.iter();
        let (index, _) = &part.records;
        if sites.clone().filter(|site| index.has(&site.name())).count() < index.names() {
            return Err(part.wrong("it has a site that is not of its plan").into());
        }
        for (place, site) in places.into_iter().zip(sites) {
            found.insert(place, (site.clone(), indices.len()));
        }
        let run = part.merged_run(merged.last());
        merged.push(run.ok_or_else(|| part.wrong("too many sessions"))?);
        manifests.push(part.manifest);
        let (index, record) = part.records;
        indices.push(index);
        if let Some(record) = record {
            join_against(&mut against, &part.path, record)?;
        }
    }
    let scans: Vec<(String, usize)> = found
        .values()
        .map(|(site, records)| (site.name(), *records))
        .collect();
    let mut manifest = whole(manifests, merged, name, missing)?;
    let sites: Vec<Site> = found.into_values().map(|(site, _)| site).collect();
    manifest.plan.sites = sites.into();
    let scans = scans.iter().filter_map(|(site, records)| {
        let scan = indices[*records].read(site);
        scan.map_err(stored::wrong).transpose()
    });
    write(&options.out, manifest, scans, |folder| {
        if let Some((_, mut record)) = against {
            record.confirmed.sort_by(|a, b| a.site.cmp(&b.site));
            folder.write_file(AGAINST, &serde_json::to_vec_pretty(&record)?)?;
        }
        Ok(())
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
