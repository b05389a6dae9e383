use std::{cmp::Reverse, collections::BTreeMap};

use netbench_interop::{Population, PopulationKind, ProfileRow, Profiles};
use netbench_model::{
    ScanPlace,
    scan::{NamedCode, Observed, Order, ScanOutcome, SiteScan, SuiteScan, Tolerance, VersionScan},
    tls::TlsVersion,
};

use super::{ScanSummary, loss, rows};
use crate::{
    block::{Block, Document, Table},
    connect_document::origin,
    rows::Rows,
    text::{percent, plain, shorten},
};

/// With so few sites, each is shown in full.
const IN_FULL: usize = 3;

impl Document for ScanSummary {
    fn blocks(&self) -> Vec<Block> {
        let mut blocks = vec![Block::Heading(format!(
            "netbench scan: {}",
            plain(&self.run.name)
        ))];
        blocks.push(Block::Text(about(self)));
        if let Some(loss) = &self.loss {
            loss::headlines(&mut blocks, loss);
        }
        blocks.extend(Block::warnings(&self.warnings));
        if let Some(loss) = &self.loss {
            loss::tables(&mut blocks, loss);
        }
        if self.sites.len() <= IN_FULL {
            for site in &self.sites {
                in_full(&mut blocks, site);
            }
        } else {
            sites(&mut blocks, &self.sites);
        }
        if let Some(population) = &self.population {
            population_table(&mut blocks, population);
        }
        if let Some(profiles) = &self.profiles {
            profile_table(&mut blocks, profiles);
        }
        blocks
    }

    fn rows(&self, table: &mut Rows) {
        rows::rows(self, table);
    }
}

fn about(summary: &ScanSummary) -> String {
    let run = &summary.run;
    let place = match run.place {
        ScanPlace::Lab => "emulated sites",
        ScanPlace::Loopback => "servers of this machine",
        ScanPlace::Live => "real sites, over the real network",
    };
    let failed: Vec<String> = run
        .failed
        .iter()
        .map(|(class, count)| format!("{count} {class}"))
        .collect();
    let failed = if failed.is_empty() {
        String::new()
    } else {
        format!(", not scanned: {}", failed.join(", "))
    };
    let each = run.enumeration_connections as f64 / f64::from((run.scanned + run.partial).max(1));
    format!(
        "{} {place}: {} scanned, {} in part{failed}. {} connections, {each:.1} a site for versions, suites \
         with their order, and groups; {} tried again; {} kB.{}",
        run.planned,
        run.scanned,
        run.partial,
        run.connections,
        run.retries,
        run.bytes / 1000,
        origin(&run.origin).map_or_else(String::new, |words| format!(" {words}"))
    )
}

pub(super) fn order(order: Order) -> &'static str {
    match order {
        Order::Server => "server",
        Order::Client => "client",
        Order::Mixed => "mixed",
        Order::Single => "one",
        Order::Stated => "stated",
        Order::Unknown => "unknown",
    }
}

pub(super) fn outcome(site: &SiteScan) -> String {
    match &site.outcome {
        ScanOutcome::Scanned => "scanned".to_owned(),
        ScanOutcome::Partial { why } => format!("in part: {why}"),
        ScanOutcome::Failed { class, detail } => format!("{}: {detail}", class.name()),
    }
}

fn spoken(site: &SiteScan) -> impl Iterator<Item = &VersionScan> {
    site.versions.iter().filter(|v| v.supported)
}

fn names(codes: &[NamedCode]) -> String {
    let names: Vec<&str> = codes.iter().map(|code| code.name.as_str()).collect();
    names.join(" ")
}

pub(super) fn versions(site: &SiteScan) -> String {
    let mut versions: Vec<TlsVersion> = spoken(site).map(|v| v.version).collect();
    versions.sort_unstable();
    let names: Vec<&str> = versions.iter().map(|v| v.name()).collect();
    names.join(" ")
}

fn key(site: &SiteScan) -> String {
    let leaves = site.chains.iter().filter_map(|c| c.certificates.first());
    let mut keys: Vec<String> = leaves
        .map(|leaf| format!("{}-{}", leaf.key, leaf.key_bits))
        .collect();
    keys.dedup();
    keys.join(" ")
}

fn sites(blocks: &mut Vec<Block>, sites: &[SiteScan]) {
    blocks.push(Block::Heading("What each site speaks".to_owned()));
    blocks.push(Block::Text(
        "Order: who chooses the suite. Connections: for versions, suites with their order and groups, and \
         in all. Everything that was found is in summary.json."
            .to_owned(),
    ));
    let said = |text: Option<String>| plain(&shorten(&text.unwrap_or_default()));
    blocks.push(
        Table::of(
            sites
                .iter()
                .map(|site| (site, spoken(site).max_by_key(|v| v.version))),
        )
        .left("site", 0, |(site, _)| plain(&site.site))
        .left("versions", 0, |(site, _)| {
            if site.is_scanned() {
                versions(site)
            } else {
                said(Some(outcome(site)))
            }
        })
        .right("suites", 0, |(site, _)| {
            let suites: usize = spoken(site).map(|v| v.suites.len()).sum();
            suites.to_string()
        })
        .left("order", 2, |(_, newest)| {
            newest.map_or("", |v| order(v.suite_order)).to_owned()
        })
        .left("groups", 4, |(_, newest)| {
            said(newest.map(|v| names(&v.groups)))
        })
        .left("key", 1, |(site, _)| said(Some(key(site))))
        .right("connections", 3, |(site, _)| {
            let effort = &site.effort;
            format!("{}/{}", effort.enumeration_connections, effort.connections)
        })
        .right("time", 5, |(site, _)| {
            format!("{} ms", site.effort.elapsed_ms)
        })
        .left("first choice", 6, |(_, newest)| {
            let first = newest.and_then(|v| v.suites.first());
            said(first.map(|suite| suite.name.clone()))
        })
        .block(),
    );
}

fn in_full(blocks: &mut Vec<Block>, site: &SiteScan) {
    blocks.push(Block::Heading(plain(&site.site)));
    let address = site.address.map(|a| format!(" at {a}")).unwrap_or_default();
    blocks.push(Block::Text(plain(&format!(
        "{}{address}: {} connections, {} of them for versions, suites and groups; {} ms.",
        shorten(&outcome(site)),
        site.effort.connections,
        site.effort.enumeration_connections,
        site.effort.elapsed_ms
    ))));
    for note in &site.notes {
        blocks.push(Block::Text(plain(&format!("Note: {note}"))));
    }
    if !site.is_scanned() {
        return;
    }
    blocks.push(
        Table::of(&site.versions)
            .left("version", 0, |v| v.version.name().to_owned())
            .left("spoken", 0, |v| {
                if v.supported { "yes" } else { "no" }.to_owned()
            })
            .right("suites", 0, |v| v.suites.len().to_string())
            .left("order", 1, |v| order(v.suite_order).to_owned())
            .left("groups", 0, |v| plain(&names(&v.groups)))
            .left("refused with", 2, |v| {
                plain(&v.refusal.clone().unwrap_or_default())
            })
            .block(),
    );
    let suites = spoken(site).flat_map(|v| v.suites.iter().map(move |s| (v, s)));
    let exchange = |s: &SuiteScan| {
        let dh = s.dh.as_ref();
        let dh = dh.map(|dh| format!("{} bits, {}", dh.bits, dh.origin));
        dh.or_else(|| s.group.clone()).unwrap_or_default()
    };
    blocks.push(
        Table::of(suites)
            .left("version", 0, |(v, _)| v.version.name().to_owned())
            .left("suite", 0, |(_, s)| s.name.clone())
            .left("key exchange", 1, |(_, s)| plain(&exchange(s)))
            .block(),
    );
    certificates(blocks, site);
    blocks.push(
        Table::of(features(site))
            .left("feature", 0, |(name, _)| (*name).to_owned())
            .left("", 0, |(_, value)| plain(value))
            .block(),
    );
    let intolerant: Vec<String> = site
        .intolerance
        .iter()
        .filter_map(|(what, tolerance)| match tolerance {
            Tolerance::Tolerant => None,
            Tolerance::Intolerant { how } => Some(format!("{what} ({how})")),
        })
        .collect();
    if !intolerant.is_empty() {
        blocks.push(Block::Warning(plain(&format!(
            "it cannot bear: {}",
            intolerant.join(", ")
        ))));
    }
}

fn certificates(blocks: &mut Vec<Block>, site: &SiteScan) {
    let all = site.chains.iter().enumerate();
    let all = all.flat_map(|(i, chain)| chain.certificates.iter().map(move |c| (i, chain, c)));
    let all: Vec<_> = all.collect();
    if all.is_empty() {
        return;
    }
    blocks.push(
        Table::of(all)
            .right("chain", 0, |(i, ..)| (i + 1).to_string())
            .left("certificate", 0, |(.., c)| plain(&shorten(&c.subject)))
            .left("key", 1, |(.., c)| {
                let curve = c.curve.clone();
                plain(&curve.unwrap_or_else(|| format!("{}-{}", c.key, c.key_bits)))
            })
            .left("signed by", 2, |(.., c)| plain(&c.signature))
            .left("valid until", 3, |(.., c)| plain(&c.not_after))
            .left("ends at", 4, |(_, chain, _)| {
                format!("{:?}", chain.anchor).to_lowercase()
            })
            .block(),
    );
}

/// Features by name, as words.
pub(super) fn features(site: &SiteScan) -> Vec<(&'static str, String)> {
    let f = &site.features;
    let answer = |answer: &Observed| {
        let word = match answer {
            Observed::Yes => "yes",
            Observed::No => "no",
            Observed::Unknown => "unknown",
        };
        word.to_owned()
    };
    let number = |n: Option<u64>| n.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let signatures: Vec<String> = site
        .signatures
        .iter()
        .map(|s| format!("{} ({})", s.name, s.version))
        .collect();
    vec![
        ("signature schemes", signatures.join(", ")),
        ("application protocols", f.alpn.join(", ")),
        ("OCSP stapling", answer(&f.ocsp_stapling)),
        ("tickets, TLS 1.2", answer(&f.tickets_tls12)),
        ("session IDs, TLS 1.2", answer(&f.session_ids)),
        ("resumption, TLS 1.2", answer(&f.resumption_tls12)),
        ("tickets, TLS 1.3", number(f.tickets_tls13.map(u64::from))),
        ("resumption, TLS 1.3", answer(&f.resumption_tls13)),
        (
            "bytes of early data",
            number(f.early_data_bytes.map(u64::from)),
        ),
        ("extended master secret", answer(&f.extended_master_secret)),
        ("encrypt-then-MAC", answer(&f.encrypt_then_mac)),
        ("secure renegotiation", answer(&f.secure_renegotiation)),
        ("client renegotiation", answer(&f.client_renegotiation)),
        ("compression", answer(&f.compression)),
        ("heartbeat", answer(&f.heartbeat)),
        ("fallback SCSV", answer(&f.fallback_scsv)),
        (
            "ChaCha20 by the client's wish",
            answer(&f.chacha20_by_client),
        ),
        (
            "asks for a client certificate",
            answer(&f.client_certificate),
        ),
        ("HTTP status", number(f.http_status.map(u64::from))),
        (
            "Strict-Transport-Security",
            text(&f.strict_transport_security),
        ),
        ("Alt-Svc", text(&f.alt_svc)),
    ]
}

fn population_table(blocks: &mut Vec<Block>, population: &Population) {
    blocks.push(Block::Heading(format!(
        "What {} sites support, prefer, and have only",
        population.sites
    )));
    blocks.push(Block::Text(population.definitions.clone()));
    let share = |count: u32| {
        let share = percent(f64::from(count), f64::from(population.sites));
        format!("{count} ({share})")
    };
    for kind in PopulationKind::ALL {
        let rows = population.rows.iter().filter(|row| row.kind == kind);
        let rows: Vec<_> = rows.collect();
        if rows.is_empty() {
            continue;
        }
        blocks.push(
            Table::of(rows)
                .left(kind.name(), 0, |row| plain(&row.name))
                .right("support", 0, |row| share(row.supports))
                .right("prefer", 0, |row| share(row.prefers))
                .right("only", 0, |row| share(row.only))
                .block(),
        );
    }
}

fn profile_table(blocks: &mut Vec<Block>, profiles: &Profiles) {
    blocks.push(Block::Heading(format!(
        "Mozilla's recommended configurations, guideline {}",
        profiles.guideline
    )));
    blocks.push(Block::Text(profiles.compared.clone()));
    blocks.push(
        Table::of(&profiles.rows)
            .left("profile", 0, |row| row.profile.clone())
            .right("comply", 0, |row| row.sites.len().to_string())
            .right("do not", 0, |row| row.others.len().to_string())
            .left("most often", 1, |row| plain(&reasons(row)))
            .block(),
    );
}

/// The three reasons that most sites do not comply for.
fn reasons(row: &ProfileRow) -> String {
    let mut why: BTreeMap<&str, usize> = BTreeMap::new();
    for what in row.others.values() {
        *why.entry(what).or_default() += 1;
    }
    let mut why: Vec<(&str, usize)> = why.into_iter().collect();
    why.sort_by_key(|(_, count)| Reverse(*count));
    let why = why.iter().take(3);
    let why: Vec<String> = why
        .map(|(what, count)| format!("{count} by {what}"))
        .collect();
    why.join("; ")
}
