use netbench_model::{Condition, LinkKind, Origin, Target};
use netbench_stats::{MIN_ROUNDS, SAME_MARGIN};

use crate::{
    Comparison, ConnectSummary,
    block::{Block, Document, Table, left, right},
    connect_rows,
    rows::Rows,
    text::{begun, change, interval, machine, percent, plain, shorten, stacks_with, time, verdict},
};

impl Document for ConnectSummary {
    fn blocks(&self) -> Vec<Block> {
        document(self)
    }

    fn rows(&self, rows: &mut Rows) {
        connect_rows::rows(self, rows);
    }
}

fn document(summary: &ConnectSummary) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(format!(
        "netbench connect: {}",
        plain(&summary.run.name)
    ))];
    blocks.push(Block::Text(about(summary)));
    blocks.extend(
        summary
            .comparisons
            .iter()
            .map(|c| Block::Headline(headline(c))),
    );
    blocks.extend(Block::warnings(&summary.warnings));
    for comparison in &summary.comparisons {
        phases(&mut blocks, comparison, summary.run.target);
    }
    for comparison in &summary.comparisons {
        sites(&mut blocks, comparison);
    }
    blocks.extend(rest(summary));
    blocks
}

/// What follows the comparisons.
pub(crate) fn rest(summary: &ConnectSummary) -> Vec<Block> {
    let mut blocks = Vec::new();
    for comparison in &summary.comparisons {
        shares(&mut blocks, comparison);
    }
    failures(&mut blocks, summary);
    left_out(&mut blocks, summary);
    negotiated(&mut blocks, summary);
    how(&mut blocks, summary);
    blocks
}

/// What was compared with what, and how much of it.
pub(crate) fn about(summary: &ConnectSummary) -> String {
    let run = &summary.run;
    let place = match run.target {
        Target::Lab => "emulated sites",
        Target::Live => "real sites, over the real network",
    };
    format!(
        "{} {place}, {} rounds, {} of {} samples. {}.{}",
        run.sites,
        run.rounds,
        run.samples,
        run.planned,
        stacks_with(&run.stacks),
        origin(&run.origin).map_or_else(String::new, |words| format!(" {words}"))
    )
}

/// Which part of the sites it is, or of which runs it was joined.
pub(crate) fn origin(origin: &Origin) -> Option<String> {
    if let Some(part) = origin.shard {
        return Some(format!(
            "Shard {} of {} sites; `netbench merge` joins it with the others.",
            part.shard, part.whole_sites
        ));
    }
    let runs = origin.merged.len();
    let vantages: Vec<String> = origin.vantages().into_iter().map(plain).collect();
    (runs > 0).then(|| {
        let shards = origin
            .merged
            .iter()
            .filter(|run| run.shard.is_some())
            .count();
        format!(
            "Joined of {runs} runs, {shards} of them shards, from {}.",
            vantages.join(", ")
        )
    })
}

/// What a comparison says, in a sentence.
pub(crate) fn headline(comparison: &Comparison) -> String {
    let (first, other) = (comparison.first.as_str(), comparison.other.as_str());
    let total = comparison
        .phases
        .iter()
        .find(|row| row.phase == netbench_model::Phase::Total);
    let Some(total) = total else {
        return format!(
            "{}: {other} and {first} cannot be compared: no pair of samples did the same work",
            comparison.condition
        );
    };
    let by_site = match tally_words(comparison) {
        Some(words) => format!("Site by site, {words}."),
        None => too_few_rounds(),
    };
    format!(
        "{}: by total time, {}: {} ({}). {by_site}",
        comparison.condition,
        verdict(total.paired.verdict, first, other),
        change(total.paired.ratio),
        interval(total.paired.interval),
    )
}

/// On how many sites which stack is faster; none where no site had rounds enough to tell.
pub(crate) fn tally_words(comparison: &Comparison) -> Option<String> {
    let tally = &comparison.sites;
    let any = tally.rows.iter().any(|row| row.paired.interval.is_some());
    any.then(|| {
        format!(
            "{} is faster on {}, slower on {}, the same on {}, undecided on {}",
            comparison.other, tally.other_faster, tally.first_faster, tally.same, tally.undecided,
        )
    })
}

/// Why no site has a verdict.
pub(crate) fn too_few_rounds() -> String {
    format!("A site needs {MIN_ROUNDS} rounds for a verdict of its own.")
}

fn title(what: &str, comparison: &Comparison) -> String {
    format!(
        "{what}, {}: {} against {}",
        comparison.condition, comparison.other, comparison.first
    )
}

fn phases(blocks: &mut Vec<Block>, comparison: &Comparison, target: Target) {
    let (first, other) = (comparison.first.as_str(), comparison.other.as_str());
    blocks.push(Block::Heading(title(
        "Which is faster, by phase",
        comparison,
    )));
    let Some(level) = comparison.phases.iter().find_map(|row| row.paired.interval) else {
        blocks.push(Block::Text(
            "There are too few pairs for a verdict.".to_owned(),
        ));
        if comparison.phases.is_empty() {
            return;
        }
        return phase_table(blocks, comparison, first, other);
    };
    blocks.push(Block::Text(format!(
        "Medians; the change is the median over pairs of {other}'s time against {first}'s, so that \
         less than 0 % means that {other} is faster. Intervals hold for all phases together (each \
         at {:.2} %). “same” needs the interval within ±{:.0} %.{}",
        level.level * 100.0,
        SAME_MARGIN * 100.0,
        if comparison.condition == Condition::Resumed {
            " The connector was made by the connection before, and a resumed handshake verifies no chain."
        } else {
            " The connector is made before a connection and is not part of its total."
        },
    )));
    phase_table(blocks, comparison, first, other);
    if target == Target::Lab {
        blocks.push(Block::Text(
            "Emulated sites resolve inside the worker, by one look at a table: dns is in the samples \
             and not compared."
                .to_owned(),
        ));
    }
}

fn phase_table(blocks: &mut Vec<Block>, comparison: &Comparison, first: &str, other: &str) {
    blocks.push(
        Table::of(&comparison.phases)
            .left("phase", 0, |row| row.phase.to_string())
            .right(first, 1, |row| time(row.first.p50_ns))
            .right(other, 1, |row| time(row.other.p50_ns))
            .right("change", 0, |row| change(row.paired.ratio))
            .right("interval", 2, |row| interval(row.paired.interval))
            .left("verdict", 0, |row| row.paired.verdict.name().to_owned())
            .right(&format!("{first} p95"), 4, |row| time(row.first.p95_ns))
            .right(&format!("{other} p95"), 4, |row| time(row.other.p95_ns))
            .right("pairs", 3, |row| row.paired.pairs.to_string())
            .right("blocks", 5, |row| row.paired.blocks.to_string())
            .block(),
    );
}

fn sites(blocks: &mut Vec<Block>, comparison: &Comparison) {
    const SHOWN: usize = 8;
    let tally = &comparison.sites;
    let (first, other) = (comparison.first.as_str(), comparison.other.as_str());
    blocks.push(Block::Heading(title("By site, total time", comparison)));
    let all = tally.rows.len() as u64 + tally.not_compared;
    let missing = tally.not_compared;
    blocks.push(Block::Text(match tally_words(comparison) {
        Some(words) => format!(
            "{words} of {all} sites; {missing} could not be compared. If the stacks were equal, \
             about {:.1} would be faster or slower by chance.",
            tally.expected_by_chance,
        ),
        None => format!(
            "{} {missing} of {all} sites could not be compared.",
            too_few_rounds()
        ),
    }));
    if tally.rows.is_empty() {
        return;
    }
    let all: Vec<Vec<String>> = tally
        .rows
        .iter()
        .map(|row| {
            vec![
                plain(&row.site),
                time(row.rtt_ns as f64),
                time(row.first_total_ns),
                time(row.other_total_ns),
                change(row.paired.ratio),
                interval(row.paired.interval),
                row.paired.verdict.name().to_owned(),
            ]
        })
        .collect();
    let hidden = all.len().saturating_sub(2 * SHOWN);
    let rows = if hidden <= 2 {
        all
    } else {
        let mut rows = all[..SHOWN].to_vec();
        let mut gap = vec![String::new(); 7];
        gap[0] = format!("… {hidden} more");
        rows.push(gap);
        rows.extend_from_slice(&all[all.len() - SHOWN..]);
        rows
    };
    blocks.push(Block::Table(Table {
        columns: vec![
            left("site", 0),
            right("RTT", 3),
            right(first, 1),
            right(other, 1),
            right("change", 0),
            right("interval", 2),
            left("verdict", 0),
        ],
        rows,
    }));
}

fn shares(blocks: &mut Vec<Block>, comparison: &Comparison) {
    if comparison.shares.is_empty() {
        return;
    }
    blocks.push(Block::Heading(title("Where the total goes", comparison)));
    blocks.push(Block::Text(
        "Means. Client: CPU time of the connection, which is the stack's for the most part. \
         Server: what it computed in its handshake, where it tells. Network: all the rest, waiting."
            .to_owned(),
    ));
    blocks.push(
        Table::of(&comparison.shares)
            .left("RTT", 0, |row| row.class.clone())
            .left("stack", 0, |row| row.stack.to_string())
            .right("total", 1, |row| time(row.total_ns))
            .right("network", 0, |row| percent(row.network_ns, row.total_ns))
            .right("client", 0, |row| {
                format!(
                    "{} ({})",
                    percent(row.client_ns, row.total_ns),
                    time(row.client_ns)
                )
            })
            .right("server", 2, |row| {
                if row.server_ns > 0.0 {
                    percent(row.server_ns, row.total_ns)
                } else {
                    "–".to_owned()
                }
            })
            .right("samples", 3, |row| row.samples.to_string())
            .block(),
    );
}

fn failures(blocks: &mut Vec<Block>, summary: &ConnectSummary) {
    blocks.push(Block::Heading(
        "Which sites failed, on which stack, and why".to_owned(),
    ));
    if summary.failures.is_empty() {
        blocks.push(Block::Text("None.".to_owned()));
    } else {
        blocks.push(
            Table::of(&summary.failures)
                .left("site", 0, |row| plain(&row.site))
                .left("stack", 0, |row| row.stack.to_string())
                .left("condition", 2, |row| row.condition.to_string())
                .left("why", 0, |row| {
                    format!("{}: {}", row.class, plain(&row.reason))
                })
                .right("trials", 1, |row| {
                    format!("{} of {}", row.failed, row.trials)
                })
                .left("the stack's words", 3, |row| shorten(&plain(&row.detail)))
                .block(),
        );
    }
    for row in &summary.unsupported {
        blocks.push(Block::Text(format!(
            "Not tried, {} on {}: {} ({} sites)",
            row.condition,
            row.stack,
            plain(&row.reason),
            row.sites.len()
        )));
    }
}

fn left_out(blocks: &mut Vec<Block>, summary: &ConnectSummary) {
    if summary.left_out.is_empty() {
        return;
    }
    blocks.push(Block::Heading(
        "Pairs left out: the two sides did different work".to_owned(),
    ));
    blocks.push(
        Table::of(&summary.left_out)
            .left("site", 0, |row| plain(&row.site))
            .left("condition", 2, |row| row.condition.to_string())
            .left("stack", 1, |row| row.other.to_string())
            .left("what differed", 0, |row| plain(&row.why))
            .right("pairs", 0, |row| row.pairs.to_string())
            .block(),
    );
}

fn negotiated(blocks: &mut Vec<Block>, summary: &ConnectSummary) {
    blocks.push(Block::Heading("What was negotiated".to_owned()));
    let or_none = |text: &Option<String>| text.as_deref().map_or_else(|| "–".to_owned(), plain);
    blocks.push(
        Table::of(&summary.negotiated)
            .left("condition", 3, |row| row.condition.to_string())
            .left("stack", 0, |row| row.stack.to_string())
            .left("TLS", 0, |row| plain(&row.version))
            .left("suite", 1, |row| plain(&row.suite))
            .left("group", 0, |row| or_none(&row.group))
            .left("protocol", 2, |row| or_none(&row.alpn))
            .right("connections", 0, |row| row.connections.to_string())
            .block(),
    );
}

fn how(blocks: &mut Vec<Block>, summary: &ConnectSummary) {
    blocks.push(Block::Heading("How it was measured".to_owned()));
    let link = &summary.link;
    let kind = match link.kind {
        LinkKind::User => "emulated in user space",
        LinkKind::Netem => "emulated by the kernel's netem",
        LinkKind::None => "none: loopback",
        LinkKind::Live => "the real network",
    };
    let off = link
        .checks
        .iter()
        .map(|check| check.connect_ns.abs_diff(check.rtt_ns))
        .max();
    let mut parts = vec![format!("Link: {kind} ({}).", plain(&link.why))];
    if let Some(off) = off {
        parts.push(format!(
            "Checked by idle TCP connects for {} round-trip times, at most {} off.",
            link.checks.len(),
            time(off as f64)
        ));
    }
    if let (Some(p50), Some(p99)) = (link.lateness_ns.get("p50"), link.lateness_ns.get("p99")) {
        parts.push(format!(
            "Packets were released {} late at the median, {} at the 99th percentile.",
            time(*p50 as f64),
            time(*p99 as f64)
        ));
    }
    if let Some(digest) = &link.losses_sha256 {
        parts.push(format!("Digest of the packets lost: {}.", plain(digest)));
    }
    blocks.push(Block::Text(parts.join(" ")));
    let run = &summary.run;
    blocks.push(Block::Text(machine(&summary.environment)));
    blocks.push(Block::Text(begun(
        &run.netbench,
        run.seed,
        &run.started,
        &run.command,
    )));
}
