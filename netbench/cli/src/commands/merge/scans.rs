use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use anyhow::Context;
use netbench_model::{
    MergedRun, Origin, ScanManifest, Site,
    scan::{AgainstRecord, Offer, SiteScan},
};
use netbench_store::RunFolder;

use super::{
    args::Merge,
    create,
    groups::{Facts, Gaps, Run, missing, overlap, refuse_gaps, refuse_twice},
    join::{add_new, join_links, places},
    name, refuse_joined,
    settings::{Settled, refuse_mixed, text, workers},
};
use crate::{
    commands::scan::{AGAINST, summary},
    exit::{Ended, WrongInput},
    kept::wrong,
    output,
};

/// One of the shards to be joined, as it was read.
struct Part {
    path: String,
    manifest: ScanManifest,
    scans: Vec<SiteScan>,
    against: Option<AgainstRecord>,
}

/// Joins the shards of a scan, which have the same seed: a scan has each site once.
pub(super) fn merge(options: &Merge, gaps: Gaps) -> anyhow::Result<Ended> {
    let mut parts: Vec<Part> = options
        .runs
        .iter()
        .map(|path| read(path))
        .collect::<anyhow::Result<_>>()?;
    refuse_mixed(&parts)?;
    refuse_twice(&parts)?;
    let whole = parts.iter().find(|p| p.manifest.origin.shard.is_none());
    if let (Some(whole), 2..) = (whole, parts.len()) {
        let why = format!(
            "{} has all sites: only shards of a scan are joined",
            whole.path
        );
        return Err(WrongInput(why).into());
    }
    if let Some(why) = overlap(&parts) {
        return Err(WrongInput(why).into());
    }
    let missing = missing(&parts);
    let words: Vec<&str> = missing.iter().map(String::as_str).collect();
    refuse_gaps(&words, gaps)?;
    parts.sort_by_key(|part| part.manifest.origin.shard.map(|part| part.shard.index()));
    let joined = join(parts, name(&options.out)?, &missing)?;

    // Until the last site is in it, the new run says that it is not finished.
    let unfinished = ScanManifest {
        finished: None,
        ..joined.manifest.clone()
    };
    let folder = create(&options.out, &unfinished)?;
    let mut appender = folder.scan_appender()?;
    for scan in &joined.scans {
        appender
            .append(scan)
            .context("the joined run is not complete; make it again")?;
    }
    if let Some(against) = &joined.against {
        folder.write_file(AGAINST, &serde_json::to_vec_pretty(against)?)?;
    }
    folder.write_manifest(&joined.manifest)?;
    let summary = summary(&folder, &joined.manifest)?;
    output::publish(&folder, &summary, &options.output)?;
    Ok(Ended::Well)
}

fn read(path: &Path) -> anyhow::Result<Part> {
    let folder = RunFolder::open(path).map_err(wrong)?;
    let manifest: ScanManifest = folder.manifest().map_err(wrong)?;
    let scans = folder.scans().map_err(wrong)?;
    let against = folder.read_json(AGAINST).map_err(wrong)?;
    let path = path.display().to_string();
    refuse_joined(&path, &manifest.origin)?;
    Ok(Part {
        path,
        manifest,
        scans,
        against,
    })
}

impl Run for Part {
    fn facts(&self) -> Facts<'_> {
        let manifest = &self.manifest;
        let lacks = match &self.against {
            _ if self.scans.is_empty() => Some("scans"),
            None if !manifest.scan.against.is_empty() => Some(AGAINST),
            _ => None,
        };
        Facts {
            path: &self.path,
            name: &manifest.name,
            started: &manifest.started,
            finished: manifest.finished.as_deref(),
            seed: manifest.scan.seed,
            origin: &manifest.origin,
            lacks,
        }
    }
}

impl Settled for Part {
    fn settings(&self) -> Vec<(&'static str, String)> {
        let (manifest, plan) = (&self.manifest, &self.manifest.scan);
        let whole_sites = manifest
            .origin
            .shard
            .map_or(plan.sites.len() as u64, |part| u64::from(part.whole_sites));
        let link = manifest.link.as_ref().map(|link| link.kind);
        vec![
            ("the version of netbench", text(&manifest.netbench)),
            ("lab or --live", text(&plan.place)),
            ("the sites file", text(&plan.sites_sha256)),
            ("the number of sites", text(&whole_sites)),
            ("the seed", text(&plan.seed)),
            ("the parts", text(&plan.parts)),
            ("the sites at one time (--jobs)", text(&plan.jobs)),
            ("the rate", text(&plan.rate)),
            ("the time limit", text(&plan.timeout_ms)),
            ("the retries", text(&plan.retries)),
            ("the trust roots", text(&plan.roots.sha256)),
            ("the stacks", text(&plan.against)),
            ("the client profile", text(&plan.client_profile)),
            ("the sites to confirm", text(&plan.confirm)),
            ("--summary", text(&plan.summary)),
            ("the link", text(&link)),
            (
                "the workers of the stacks",
                text(&workers(&manifest.workers, &plan.against)),
            ),
        ]
    }
}

struct Joined {
    manifest: ScanManifest,
    scans: Vec<SiteScan>,
    against: Option<AgainstRecord>,
}

/// Sites and what was found of them in the order of the whole list.
fn join(parts: Vec<Part>, name: String, missing: &[String]) -> Result<Joined, WrongInput> {
    let mut whole: Option<ScanManifest> = None;
    let mut against: Option<(String, AgainstRecord)> = None;
    let mut found: BTreeMap<usize, (Site, Option<SiteScan>)> = BTreeMap::new();
    let mut merged: Vec<MergedRun> = Vec::new();
    for part in parts {
        let path = part.path;
        let wrong = |why: &str| WrongInput(format!("{path}: {why}"));
        let manifest = part.manifest;
        let places = places(&manifest.origin, manifest.scan.sites.len())
            .ok_or_else(|| wrong("its sites are not those of its shard"))?;
        // Of a site that was scanned twice the last counts.
        let mut scans: HashMap<String, SiteScan> = part
            .scans
            .into_iter()
            .map(|scan| (scan.site.clone(), scan))
            .collect();
        for (place, site) in places.sites.into_iter().zip(&manifest.scan.sites) {
            found.insert(place, (site.clone(), scans.remove(&site.name())));
        }
        if !scans.is_empty() {
            return Err(wrong("it has a site that is not of its plan"));
        }
        if let Some(record) = part.against {
            join_against(&mut against, &path, record)?;
        }
        let first_session = merged
            .last()
            .map_or(0, |run| run.first_session + run.sessions);
        merged.push(MergedRun {
            name: manifest.name.clone(),
            vantage: manifest.origin.vantage.clone(),
            seed: manifest.scan.seed,
            started: manifest.started.clone(),
            finished: manifest.finished.clone(),
            shard: manifest.origin.shard,
            first_session,
            sessions: u32::try_from(manifest.sessions.len())
                .ok()
                .filter(|sessions| first_session.checked_add(*sessions).is_some())
                .ok_or_else(|| wrong("too many sessions"))?,
            first_round: 0,
            first_block: 0,
        });
        match &mut whole {
            None => whole = Some(manifest),
            Some(whole) => take_manifest(whole, manifest),
        }
    }
    let Some(mut manifest) = whole else {
        return Err(WrongInput("no runs".to_owned()));
    };
    let (sites, scans): (Vec<Site>, Vec<Option<SiteScan>>) = found.into_values().unzip();
    manifest.name = name;
    manifest.scan.sites = sites;
    manifest.origin = Origin {
        vantage: String::new(),
        shard: None,
        merged,
    };
    let gaps = missing
        .iter()
        .map(|what| format!("joined with gaps: {what}"));
    manifest.warnings.extend(gaps);
    Ok(Joined {
        manifest,
        scans: scans.into_iter().flatten().collect(),
        against: against.map(|(_, mut record)| {
            record.confirmed.sort_by(|a, b| a.site.cmp(&b.site));
            record
        }),
    })
}

fn take_manifest(whole: &mut ScanManifest, part: ScanManifest) {
    let changes = whole.environment.changes(&part.environment);
    add_new(&mut whole.warnings, part.warnings);
    add_new(&mut whole.warnings, changes);
    whole.started = whole.started.clone().min(part.started);
    whole.finished = whole.finished.take().max(part.finished);
    add_new(&mut whole.workers, part.workers);
    whole.sessions.extend(part.sessions);
    if let (Some(whole), Some(part)) = (&mut whole.link, part.link) {
        join_links(whole, part);
    }
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
        return Err(WrongInput(format!(
            "{first} and {path} differ in what the stacks offer: they cannot be joined"
        )));
    }
    record.confirmed.extend(part.confirmed);
    Ok(())
}

/// An offer without what a stack draws anew for each hello: the order of extensions, and GREASE. JA4 is
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
