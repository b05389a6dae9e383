use netbench_model::{Condition, ConnectManifest, Phase, Sample, Target};
use netbench_stats::{Interval, Verdict};

use super::{Cell, Item, PageColumn, PageTable, Section, connect_charts, items_of};
use crate::{
    Comparison, ConnectSummary, connect_document,
    latest::latest,
    pairs::match_up,
    shares::rtts,
    text::{change, interval, time},
};

/// The section of a `connect` run: which stack is faster, at what, on which sites, and how it was
/// measured. `summary` is that of `manifest` and `samples`, which are all of the run's.
pub fn connect_section(
    id: &str,
    heading: &str,
    summary: &ConnectSummary,
    manifest: &ConnectManifest,
    samples: &[Sample],
) -> Section {
    let measured = latest(samples);
    let rtts = rtts(&manifest.plan, &measured);
    let mut items: Vec<Item> = summary
        .comparisons
        .iter()
        .map(|comparison| Item::Headline(connect_document::headline(comparison)))
        .collect();
    items.extend(summary.warnings.iter().cloned().map(Item::Warning));
    if summary.run.target == Target::Lab && summary.run.samples > 0 {
        items.push(Item::Text(
            "The sites are emulated on one machine: their certificates, servers and links are made to be like \
             those of the real ones, and are not those."
                .to_owned(),
        ));
    }
    items.extend(connect_charts::conditions(summary));
    for comparison in &summary.comparisons {
        let pairs = match_up(
            &measured,
            comparison.condition,
            &comparison.first,
            &comparison.other,
        );
        let about = connect_charts::About::of(comparison);
        if comparison.phases.is_empty() {
            continue;
        }
        items.push(Item::Heading(format!("By phase: {about}")));
        items.push(Item::Text(phases_text(comparison)));
        items.push(connect_charts::phases(comparison));
        items.push(Item::Table(phases(comparison)));
        items.push(Item::Heading(format!("Site by site: {about}")));
        items.extend(connect_charts::sites(comparison));
        items.push(Item::Table(sites(comparison)));
        items.push(Item::Heading(format!("Where the time goes: {about}")));
        items.extend(connect_charts::parts(comparison, &pairs.matched));
        items.push(connect_charts::against_rtt(comparison, &rtts));
        items.push(Item::Heading(format!("Distributions: {about}")));
        items.push(connect_charts::distributions(comparison, &pairs.matched));
    }
    items.extend(items_of(connect_document::rest(summary)));
    let missing = summary
        .comparisons
        .iter()
        .all(|comparison| comparison.phases.is_empty())
        .then(|| {
            "No figures: there is no pair of samples in which both stacks did the same work."
                .to_owned()
        });
    Section {
        id: id.to_owned(),
        heading: heading.to_owned(),
        explanation: explanation(summary),
        items,
        missing,
    }
}

fn explanation(summary: &ConnectSummary) -> String {
    format!(
        "How long a connection takes, from nothing to the last byte of a page, with each TLS stack. In every round each \
         stack connects once to each site, one right after the other; a ratio is always of such a pair, the \
         other stack's time over the first one's. {}",
        connect_document::about(summary)
    )
}

fn phases_text(comparison: &Comparison) -> String {
    let other = &comparison.other;
    let more = if comparison.condition == Condition::Resumed {
        "A resumed handshake makes no connector and verifies no chain."
    } else {
        "Connector: reading the trust roots and making the configuration; it comes before a connection and is \
         not part of its total."
    };
    format!(
        "Left of the middle line {other} is faster. {more} CPU: the client's own, within the total."
    )
}

fn phases(comparison: &Comparison) -> PageTable {
    let (first, other) = (comparison.first.as_str(), comparison.other.as_str());
    let columns = vec![
        PageColumn::words("phase"),
        PageColumn::figures(&format!("{first} median"), "ns"),
        PageColumn::figures(&format!("{other} median"), "ns"),
        PageColumn::figures("change", "other/first"),
        PageColumn::figures("from", "other/first"),
        PageColumn::figures("to", "other/first"),
        PageColumn::words("verdict"),
        PageColumn::figures(&format!("{first} p95"), "ns"),
        PageColumn::figures(&format!("{other} p95"), "ns"),
        PageColumn::figures("pairs", ""),
    ];
    let rows = comparison.phases.iter().map(|row| {
        let mut cells = vec![
            Cell::words(words(row.phase)),
            ns(row.first.p50_ns),
            ns(row.other.p50_ns),
        ];
        cells.extend(ratio(
            row.paired.ratio,
            row.paired.interval,
            row.paired.verdict,
        ));
        cells.extend([
            ns(row.first.p95_ns),
            ns(row.other.p95_ns),
            count(row.paired.pairs),
        ]);
        cells
    });
    PageTable {
        caption: format!("phases, {}", connect_charts::About::of(comparison)),
        columns,
        rows: rows.collect(),
    }
}

fn sites(comparison: &Comparison) -> PageTable {
    let (first, other) = (comparison.first.as_str(), comparison.other.as_str());
    let columns = vec![
        PageColumn::words("site"),
        PageColumn::figures("RTT", "ns"),
        PageColumn::figures(&format!("{first} total"), "ns"),
        PageColumn::figures(&format!("{other} total"), "ns"),
        PageColumn::figures("change", "other/first"),
        PageColumn::figures("from", "other/first"),
        PageColumn::figures("to", "other/first"),
        PageColumn::words("verdict"),
        PageColumn::figures("rounds", ""),
    ];
    let rows = comparison.sites.rows.iter().map(|row| {
        let mut cells = vec![
            Cell::words(row.site.clone()),
            ns(row.rtt_ns as f64),
            ns(row.first_total_ns),
            ns(row.other_total_ns),
        ];
        cells.extend(ratio(
            row.paired.ratio,
            row.paired.interval,
            row.paired.verdict,
        ));
        cells.push(count(row.paired.pairs));
        cells
    });
    PageTable {
        caption: format!("sites, {}", connect_charts::About::of(comparison)),
        columns,
        rows: rows.collect(),
    }
}

/// Ratio, the ends of its interval, and the verdict.
fn ratio(ratio: f64, ends: Option<Interval>, verdict: Verdict) -> [Cell; 4] {
    let [from, to] = match ends {
        Some(i) => [i.low, i.high].map(|end| Cell::figure(change(end), end)),
        None => [interval(None), "–".to_owned()].map(Cell::words),
    };
    [
        Cell::figure(change(ratio), ratio),
        from,
        to,
        Cell::words(verdict.name()),
    ]
}

fn ns(ns: f64) -> Cell {
    Cell::figure(time(ns), ns)
}

fn count(count: u64) -> Cell {
    Cell::figure(count.to_string(), count as f64)
}

/// A phase in words for who has not read the manual.
pub(super) fn words(phase: Phase) -> &'static str {
    match phase {
        Phase::Connector => "connector set-up",
        Phase::Dns => "name lookup",
        Phase::Tcp => "TCP connect",
        Phase::Tls => "TLS handshake",
        Phase::Verify => "chain verification",
        Phase::FirstByte => "first byte",
        Phase::Total => "total",
        Phase::Cpu => "client CPU",
    }
}
