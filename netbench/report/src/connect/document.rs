use std::sync::Arc;

use netbench_model::{
    Condition, ConnectManifest, LinkKind, Phase, Recorded, Sample, StackName, Target,
};
use netbench_stats::{MIN_ROUNDS, SAME_MARGIN};

use super::{
    Comparison, ConnectSummary, LossSummary, charts, checks, cold_items, cold_sentence,
    differences::differences,
    early_data, ech, latest, match_up, site_phases, summarize, sweep,
    tables::{self, by},
    warnings::of_times,
};
use crate::{
    Asked,
    cell::Cell,
    document::{Document, Excerpt, Extent, Item, Machine, Place, Report, Section, Table},
    evaluation::{Evidence, Subject, fast, none_is_no, works},
    explain::explain_section,
    row::in_words,
    run::origin,
    text::{count, in_place_of, machine, profile_in_words, shorten, stacks_with, time, verdict},
};

/// The id of the section with the run's figures.
const SECTION: &str = "connect";

/// A run of `connect` with the data of its report.
#[derive(Debug, Clone)]
pub struct ConnectReport {
    /// The run's manifest.
    pub manifest: ConnectManifest,
    /// The samples of the run that its plan asks for.
    pub samples: Vec<Sample>,
    /// The summary of the samples.
    pub summary: Arc<ConnectSummary>,
}

impl ConnectReport {
    /// Returns the report of a run's manifest and all of its samples, in the order in which they were taken.
    /// Samples that the plan does not ask for are dropped.
    pub fn new(manifest: ConnectManifest, mut samples: Vec<Sample>) -> Self {
        let summary = Arc::new(summarize(&manifest, &samples));
        samples.retain(manifest.plan.requires());
        Self {
            summary,
            manifest,
            samples,
        }
    }
}

impl Report for ConnectReport {
    fn tells(&self) -> bool {
        self.summary.compares()
    }

    fn passes(&self) -> bool {
        self.summary.head.thresholds.are_usual() || none_is_no(&questions(self))
    }

    fn document(&self, extent: Extent) -> Document<'_> {
        let (summary, manifest) = (&*self.summary, &self.manifest);
        let run = &summary.run;
        let stacks: Vec<&str> = manifest.plan.stacks.iter().map(StackName::as_str).collect();
        let mut sections: Vec<Section> = summary.sweep.iter().map(sweep::section).collect();
        sections.push(section(self, extent));
        if extent == Extent::Full {
            sections.extend(explain_section(manifest, &self.samples));
        }
        Document {
            place: Place::Connections,
            about: in_place_of(&stacks),
            lead: format!(
                "{} to {}: how long each takes{}, from nothing to the last byte of a page.",
                count(run.samples, "connection", "connections"),
                summary.places(),
                summary.over()
            ),
            questions: questions(self),
            differences: differences(&self.summary),
            sections,
            machines: vec![Machine::of(manifest)],
            checks: checks::checks(summary),
            sites: Some(summary.run.target),
            ..Document::of_run("connect", &summary.run.head, summary)
        }
    }
}

/// Returns, for each stack in place of the first, whether it works and whether it is fast enough.
fn questions(report: &ConnectReport) -> Vec<Asked> {
    let summary = &*report.summary;
    let of_times = of_times(&report.manifest);
    let others = summary.warnings.iter();
    let others: Vec<String> = others.filter(|w| !of_times.contains(w)).cloned().collect();
    let mut questions = Vec::new();
    for (from, to) in summary.switches() {
        let evidence = Evidence {
            connections: Some(summary),
            ..Evidence::of([from, to], summary.run.target, &summary.head.thresholds)
        };
        let answers = [
            (Subject::Works, works::answer(&evidence), &others),
            (Subject::Fast, fast::answer(&evidence), &of_times),
        ];
        questions.extend(answers.map(|(subject, question, warnings)| Asked {
            subject,
            question,
            about: in_place_of(&[from.as_str(), to.as_str()]),
            section: Some(SECTION.to_owned()),
            warnings: warnings.clone(),
            ..Asked::default()
        }));
    }
    questions
}

/// Returns the way the run was made and the command that repeats it. The client profile is added if the command
/// line names none, because the default depends on the version and on a configuration file.
fn again(summary: &ConnectSummary) -> String {
    const OPTION: &str = "--client-profile";
    let run = &summary.run;
    let again = run.head.again(summary.head.seed);
    let mut words = run.head.command.iter();
    match run.client_profile {
        Some(profile) if !words.any(|word| word.starts_with(OPTION)) => {
            format!("{again} {OPTION} {}", profile.name())
        }
        _ => again,
    }
}

fn section(report: &ConnectReport, extent: Extent) -> Section {
    let summary = &*report.summary;
    let all: Vec<&Comparison> = summary.comparisons.iter().collect();
    let headlines = all.iter();
    let headlines = headlines.map(|comparison| Item::Headline(headline(summary, comparison)));
    let mut items: Vec<Item> = headlines.collect();
    items.extend(Item::warnings(&summary.warnings));
    items.extend(charts::conditions(summary));
    items.extend(cold_items(&summary.cold));
    items.extend(early_data::items(&summary.early_data));
    items.extend(ech::items(&summary.ech));
    let measured = latest(&report.samples);
    // A page has one joined table; a terminal, which is read from top to bottom, has one for each condition.
    let is_joined = extent == Extent::Full && all.len() > 1 && summary.switches().count() == 1;
    if is_joined {
        items.push(Item::heading("By phase"));
        items.extend(tables::phases(&all));
        items.extend(tables::shares("Where the total goes".to_owned(), &all));
    }
    for comparison in &summary.comparisons {
        phases(&mut items, comparison, summary.run.target);
        if !is_joined && !comparison.phases.is_empty() {
            items.extend(tables::phases(&[comparison]));
        }
        sites(&mut items, comparison, summary);
        items.extend(site_phases::items(comparison, summary));
        if !is_joined {
            let heading = title("Where the total goes", comparison);
            items.extend(tables::shares(heading, &[comparison]));
        }
        if !comparison.phases.is_empty() {
            let (first, other) = (&comparison.first, &comparison.other);
            let pairs = match_up(&measured, comparison.condition, first, other);
            items.extend(charts::parts(comparison, &pairs.matched));
            items.push(charts::against_rtt(comparison, summary));
            items.push(Item::Heading(title("Distributions", comparison)));
            items.push(charts::distributions(comparison, &pairs.matched));
        }
    }
    items.extend(failures(summary));
    items.extend(left_out(summary));
    items.extend(negotiated(summary));
    items.extend(how(summary));
    let missing = "No figures: there is no pair of samples in which both stacks did the same work.";
    Section::new(SECTION, "Connection time", items)
        .explained(explanation(summary))
        .missing((!summary.compares()).then_some(missing))
}

fn explanation(summary: &ConnectSummary) -> String {
    let run = &summary.run;
    let mut parts = vec![format!(
        "{}, {}, {} of {} samples. {}. In every round each stack connects once to each site, one right \
         after the other; a ratio is always of such a pair, the other stack's time over the first one's.",
        summary.places(),
        count(run.rounds, "round", "rounds"),
        run.samples,
        run.planned,
        stacks_with(&run.stacks),
    )];
    if let Some(profile) = run.client_profile {
        parts.push(profile_in_words(profile));
    }
    if run.target == Target::Lab && run.samples > 0 {
        parts.push(
            "The sites are emulated on one machine: their servers, certificates and links are those of the list of \
             sites, and are not those of the hosts whose names they have."
                .to_owned(),
        );
    }
    parts.extend(origin(&run.origin));
    parts.join(" ")
}

fn headline(summary: &ConnectSummary, comparison: &Comparison) -> String {
    if comparison.condition == Condition::Cold
        && let Some(cost) = cold_sentence(
            &summary.cold,
            [&comparison.first, &comparison.other],
            &summary.head.thresholds,
        )
    {
        return format!("cold: {cost}.");
    }
    let (first, other) = (comparison.first.as_str(), comparison.other.as_str());
    let Some(total) = comparison.phase(Phase::Total) else {
        return format!(
            "{}: {other} and {first} cannot be compared: no pair of samples did the same work",
            comparison.condition
        );
    };
    let (condition, over) = (comparison.condition, summary.over());
    if total.change.interval.is_none() {
        return format!(
            "{condition}: there are too few rounds for a verdict on the total time{over}."
        );
    }
    format!(
        "{condition}: by total time{over}, {}: {}. {}",
        verdict(total.change.verdict, first, other),
        in_words(&total.change),
        tally(comparison, summary),
    )
}

/// Returns the number of sites on which each stack is faster, or the reason why no site has a verdict.
fn tally(comparison: &Comparison, summary: &ConnectSummary) -> String {
    let tally = &comparison.sites;
    if !tally.has_intervals() {
        return format!("A site needs {MIN_ROUNDS} rounds for a verdict of its own.");
    }
    tally.in_words(&comparison.other, &summary.count_rows(tally.other_faster))
}

/// Returns a title: `By phase: clean connections, rustls-ring against openssl`.
fn title(what: &str, comparison: &Comparison) -> String {
    format!("{what}: {}", comparison.about())
}

fn phases(items: &mut Vec<Item>, comparison: &Comparison, target: Target) {
    items.push(Item::Heading(title("By phase", comparison)));
    let (first, other) = (comparison.first.as_str(), comparison.other.as_str());
    let level = comparison.phases.iter().find_map(|row| row.change.interval);
    items.push(Item::Text(match level {
        None => "There are too few rounds for a verdict.".to_owned(),
        Some(level) => format!(
            "Medians; the change is the median over pairs of {other}'s time against {first}'s: less than 0 % means that \
             {other} is faster. Intervals hold for all phases together (each at {:.2} %). “same” needs the interval \
             within ±{:.0} %. {} Client CPU is within the total.{}",
            level.level * 100.0,
            SAME_MARGIN * 100.0,
            match comparison.condition {
                Condition::Resumed =>
                    "A resumed handshake makes no connector and verifies no chain.",
                Condition::EarlyData =>
                    "A resumed handshake makes no connector and verifies no chain. This one contains the request, and the \
                     round trip of an accepted one.",
                _ => "The connector is made before a connection and is not part of its total.",
            },
            match target {
                Target::Lab =>
                    " Emulated sites resolve inside the worker, by one look at a table: the name lookup is in the \
                     samples and not compared.",
                Target::Loopback | Target::Live => "",
            }
        ),
    }));
    if !comparison.phases.is_empty() {
        items.push(charts::phases(comparison));
    }
}

fn sites(items: &mut Vec<Item>, comparison: &Comparison, summary: &ConnectSummary) {
    const SHOWN: usize = 8;
    let tally = &comparison.sites;
    let loopback = summary.is_loopback();
    let (first, other) = (comparison.first.as_str(), comparison.other.as_str());
    items.push(Item::Heading(title("Site by site, total time", comparison)));
    let compared = tally.rows.len() as u64;
    let left_out = format!(
        "Of {} {} could not be compared.",
        summary.count_rows(compared + tally.not_compared),
        tally.not_compared
    );
    if compared == 0 {
        items.push(Item::Text(left_out));
        return;
    }
    items.push(Item::Text(format!(
        "{left_out} {} If the two were equal, about {:.1} of them would be called faster or slower by chance.",
        self::tally(comparison, summary),
        tally.expected_by_chance,
    )));
    // A table without a single verdict would only cost reading time.
    if !tally.has_intervals() {
        return;
    }
    items.push(charts::sites(comparison, summary));
    items.push(
        Table::of(&tally.rows)
            .caption(format!("sites, {}", comparison.about()))
            .excerpt(Excerpt::Ends(SHOWN))
            .site(summary.run.target, |row| &row.key.site)
            .col("RTT", 3, |row| match loopback {
                true => Cell::Missing,
                false => Cell::Time(row.key.rtt_ns as f64),
            })
            .time(first, 1, |row| row.first)
            .time(other, 1, |row| row.other)
            .of_stack(other, |table| {
                table.col("by", 5, |row| by(row.first, row.change.ratio))
            })
            .changed(other, |row| row)
            .count("rounds", 4, |row| row.change.pairs())
            .item(),
    );
}

fn failures(summary: &ConnectSummary) -> Vec<Item> {
    let table = Table::of(&summary.failures)
        .site(summary.run.target, |row| &row.site)
        .text("stack", 0, |row| &row.stack)
        .text("condition", 2, |row| row.condition)
        .text("why", 0, |row| format!("{}: {}", row.class, row.reason))
        .col("trials", 1, |row| Cell::Of(row.failed, row.trials))
        .text("error message", 3, |row| shorten(&row.detail))
        .item_or("None.");
    let unsupported = summary.unsupported.iter().map(|row| {
        let sites = summary.count_rows(row.sites.len());
        Item::Text(format!(
            "Not tried, {} on {}: {} ({sites})",
            row.condition, row.stack, row.reason
        ))
    });
    let heading = Item::heading("Which sites failed, on which stack, and why");
    [heading, table].into_iter().chain(unsupported).collect()
}

fn left_out(summary: &ConnectSummary) -> Vec<Item> {
    Table::of(&summary.left_out)
        .site(summary.run.target, |row| &row.site)
        .text("condition", 2, |row| row.condition)
        .text("stack", 0, |row| &row.other)
        .text("what differed", 0, |row| &row.why)
        .count("pairs", 0, |row| row.pairs)
        .under("Pairs left out: the two sides did different work")
}

fn negotiated(summary: &ConnectSummary) -> [Item; 2] {
    let rows = &summary.negotiated;
    let early_data = rows.iter().any(|row| row.early_data.is_some());
    let early_data = early_data.then_some("early data");
    let ech = rows.iter().any(|row| row.ech.is_some()).then_some("ECH");
    let table = Table::of(&summary.negotiated)
        .text("condition", 3, |row| row.condition)
        .text("stack", 0, |row| &row.stack)
        .text("TLS", 0, |row| &row.version)
        .text("suite", 1, |row| &row.suite)
        .optional("group", 0, |row| row.group.as_ref())
        .optional("protocol", 2, |row| row.alpn.as_ref())
        .col_if(early_data, 2, |row| Cell::maybe(row.early_data))
        .col_if(ech, 2, |row| Cell::maybe(row.ech))
        .count("connections", 0, |row| row.connections);
    [Item::heading("What was negotiated"), table.item()]
}

fn how(summary: &ConnectSummary) -> [Item; 4] {
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
        .map(|check| check.packets_ns().abs_diff(check.rtt_ns));
    let mut parts = vec![format!("Link: {kind} ({}).", link.why)];
    if let Some(off) = off.max() {
        parts.push(format!(
            "Checked by idle TCP connects for {}, at most {} off.",
            count(link.checks.len(), "round-trip time", "round-trip times"),
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
        parts.push(format!("Digest of the packets lost: {digest}."));
    }
    parts.extend(summary.losses.as_ref().map(LossSummary::sentence));
    [
        Item::heading("How it was measured"),
        Item::Text(parts.join(" ")),
        Item::Text(machine(&summary.environment)),
        Item::Text(again(summary)),
    ]
}
