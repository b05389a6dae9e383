use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{Condition, StackName, SweepAxis, Target};
use netbench_stats::RoundsDifference;

use super::{
    Fit, SweepDifference, SweepStep, SweepSummary, SweepTime, charts,
    compressed::{self, Compressed},
    flights,
};
use crate::{
    Row,
    cell::{Cell, Digits},
    document::{Filling, Item, Section, Table},
    row::tally,
    text::{alike, change, count, interval_of_difference, named_site, some_of},
};

pub(crate) fn section(sweep: &SweepSummary) -> Section {
    let mut items = whole(sweep, "");
    for of_site in &sweep.each_site {
        let site = named_site(Target::Lab, &of_site.sites.join(", "));
        items.push(Item::Heading(format!("{site} by itself")));
        items.extend(whole(of_site, &format!("{site}, ")));
    }
    Section::new("sweep", "Over networks", items).explained(explanation(sweep))
}

/// Builds the whole report of some sites, which `place` names in titles.
fn whole(sweep: &SweepSummary, place: &str) -> Vec<Item> {
    let mut items: Vec<Item> = headlines(sweep).map(Item::Headline).collect();
    items.extend(fit(sweep));
    let differences = sweep.differences.iter();
    let by_stacks = alike(differences.map(|row| (row.key.stacks(), row)));
    for ((condition, first, other), rows) in by_stacks {
        let about = format!("{place}{condition} connections, {other} against {first}");
        items.push(Item::Heading(format!("Point by point: {about}")));
        items.push(Item::text(
            "Medians of the total time. The difference and its interval are of the rounds, each pair side by side \
             (Hodges and Lehmann; Wilcoxon's signed ranks, at least 95 % for each point by itself).",
        ));
        let axes: Vec<&SweepAxis> = axes(sweep).collect();
        items.extend(charts::heat_maps(&axes, &rows, &about));
        items.push(charts::differences(&rows, [first, other], &about));
        items.push(
            Table::of(rows.iter().copied())
                .caption(format!("points, {about}"))
                .axes(sweep, "", |row| &row.key.settings)
                .differences([first.as_str(), other.as_str()], |key| &key.difference)
                .count("rounds", 4, |row| row.change.pairs())
                .item(),
        );
        items.push(turns(sweep, condition, other, &about));
        items.extend(parts(sweep, &rows, &about));
    }
    items.extend(steps(sweep, place));
    items.extend(flights(sweep, place));
    items.extend(compressed::sizes(sweep, place));
    for (condition, rows) in alike(sweep.times.iter().map(|row| (row.condition, row))) {
        let about = format!("{place}{condition} connections");
        items.extend(times(sweep, &rows, &about));
        items.extend(savings(sweep, &rows, &about));
    }
    items
}

fn explanation(sweep: &SweepSummary) -> String {
    let axes = sweep.axes.axes.iter();
    let axes = axes.map(|axis| format!("{} {}", axis.name, axis.values.join(", ")));
    let sites = sweep.sites.iter();
    let sites = some_of(3, sites.map(|site| named_site(Target::Lab, site)));
    let points = count(sweep.axes.points(), "point", "points");
    let pooled = if sweep.each_site.is_empty() {
        ""
    } else {
        " All sites together come first, and then each by itself: what only one of them has can look like half of it, or like nothing, when they are pooled."
    };
    format!("{sites} at {points}: {}.{pooled}", axes.format("; "))
}

/// States at how many points each stack is faster, and the range of the difference.
fn headlines(sweep: &SweepSummary) -> impl Iterator<Item = String> {
    let by_stacks = sweep
        .differences
        .iter()
        .into_group_map_by(|row| row.key.stacks());
    let by_stacks = by_stacks.into_iter().sorted_by_key(|(key, _)| *key);
    by_stacks.filter_map(|((condition, first, other), rows)| {
        let [faster, slower, same, ..] = tally(rows.iter().map(|row| row.change.verdict));
        let ends = rows.iter().minmax_by(|a, b| {
            let [a, b] = [a, b].map(|row| row.change.ratio.ln().abs());
            a.total_cmp(&b)
        });
        let (least, most) = ends.into_option()?;
        Some(format!(
            "{condition}: {other} is faster than {first} at {faster} of {}, slower at {slower}, the same within 1 % at \
             {same}. It is furthest away at {} ({}) and nearest at {} ({}).",
            count(rows.len(), "point", "points"),
            most.key.point,
            change(most.change.ratio),
            least.key.point,
            change(least.change.ratio),
        ))
    })
}

/// States how many times agree with the prediction.
fn fit(sweep: &SweepSummary) -> Option<Item> {
    let fits = sweep.times.iter().map(|row| row.fit).counts();
    let [holds, off] = [Fit::Holds, Fit::Off].map(|fit| fits.get(&fit).copied().unwrap_or(0));
    if holds + off == 0 {
        return None;
    }
    let failing = sweep.times.iter().filter(|row| row.fit == Fit::Off);
    let failing = failing.map(|row| format!("{} ({})", row.point, row.stack));
    let text = format!(
        "Where nothing is lost, {holds} of {} are within 3 % or 0.5 ms of round trips × RTT + CPU + bytes / rate − overlap.",
        count(holds + off, "median time", "median times"),
    );
    Some(match off {
        0 => Item::Text(text),
        _ => Item::Warning(format!("{text} Not so: {}.", some_of(3, failing))),
    })
}

/// Returns the axes that have more than one value: the others are the same at every point.
fn axes(sweep: &SweepSummary) -> impl Iterator<Item = &SweepAxis> {
    sweep.axes.axes.iter().filter(|axis| axis.values.len() > 1)
}

impl<T> Filling<T> {
    /// Adds a column for each axis except `without`. Its cells are the values of the axis in the settings of the rows.
    fn axes(
        self,
        sweep: &SweepSummary,
        without: &str,
        settings: impl Fn(&T) -> &BTreeMap<String, String>,
    ) -> Self {
        let axes = axes(sweep).filter(|axis| axis.name != without);
        axes.fold(self, |table, axis| {
            table.col(&axis.name, 0, |row| {
                settings(row).get(&axis.name).map(Cell::text)
            })
        })
    }
}

impl<K> Filling<&Row<K>> {
    /// Adds the columns of both figures, of their difference in time, and of the change.
    fn differences(
        self,
        [first, other]: [&str; 2],
        difference: fn(&K) -> &RoundsDifference,
    ) -> Self {
        self.time(first, 1, |row| row.first)
            .time(other, 1, |row| row.other)
            .of_stack(other, |table| {
                table
                    .difference("by", 0, |row| difference(&row.key).middle_ns)
                    .text("interval", 2, |row| {
                        interval_of_difference(difference(&row.key))
                    })
                    .ratio("change", 0, |row| row.change.ratio)
                    .col("verdict", 0, |row| row.verdict())
            })
    }
}

/// Tabulates the values from which the verdict changes.
fn turns(sweep: &SweepSummary, condition: Condition, other: &StackName, about: &str) -> Item {
    let rows = sweep.turns.iter();
    let rows = rows.filter(|turn| turn.condition == condition && turn.other == *other);
    let table = Table::of(rows)
        .caption(format!("where the verdict changes, {about}"))
        .text("along", 0, |turn| &turn.axis);
    axes(sweep)
        .fold(table, |table, axis| {
            table.col(&axis.name, 0, |turn| {
                if axis.name == turn.axis {
                    return Cell::text(format!("{} → {}", turn.from, turn.to));
                }
                Cell::maybe(turn.settings.get(&axis.name))
            })
        })
        .col("verdict", 0, |turn| Cell::verdict(turn.from_verdict))
        .col("becomes", 0, |turn| Cell::verdict(turn.to_verdict))
        .count("undecided between", 2, |turn| turn.undecided)
        .item_or("The verdict does not change between any two points that are decided.")
}

fn parts(sweep: &SweepSummary, rows: &[&SweepDifference], about: &str) -> Option<Item> {
    let rows = rows.iter();
    let rows = rows.filter_map(|row| Some((*row, row.key.parts?)));
    let (any, _) = rows.clone().next()?;
    let other = any.key.other_stack.as_str();
    Table::of(rows)
        .caption(format!("what the difference is made of, {about}"))
        .axes(sweep, "", |(row, _)| &row.key.settings)
        .of_stack(other, |table| {
            table
                .difference("by", 0, |(row, _)| row.key.difference.middle_ns)
                .difference("CPU", 0, |(_, parts)| parts.cpu_ns)
                .difference("round trips", 0, |(_, parts)| parts.waiting_ns)
                .difference("bytes", 0, |(_, parts)| parts.bytes_ns)
                .difference("losses and the rest", 0, |(_, parts)| parts.rest_ns)
        })
        .if_any()
}

/// Tabulates the additional time of the second value of an axis over the first.
fn steps(sweep: &SweepSummary, place: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let by_axis = sweep.steps.iter().chunk_by(|row| &row.key.axis);
    for (axis, rows) in &by_axis {
        let rows: Vec<&SweepStep> = rows.collect();
        let Some(&one) = rows.first() else { continue };
        let [from, to] = [&one.key.from, &one.key.to].map(|value| format!("{axis}={value}"));
        let about = format!("{place}{to} against {from}");
        items.push(Item::Heading(format!("Point by point: {about}")));
        items.extend(round_trips(&rows, &to));
        let table = Table::of(rows)
            .caption(format!("points, {about}"))
            .axes(sweep, axis, |row| &row.key.settings)
            .text("condition", 1, |row| row.key.condition)
            .text("stack", 0, |row| &row.key.stack)
            .differences([&from, &to], |key| &key.difference)
            .of_stack(&to, |table| {
                table.optional("round trips", 0, |row| {
                    let more = row.key.more_round_trips;
                    more.map(|more| format!("{more:+}"))
                })
            })
            .count("rounds", 4, |row| row.change.pairs());
        items.push(table.item());
    }
    items
}

/// Tabulates the sizes of a flight at which another round trip is needed.
fn flights(sweep: &SweepSummary, place: &str) -> Vec<Item> {
    let Some(axis) = flights::axis(&sweep.axes).filter(|_| !sweep.flights.is_empty()) else {
        return Vec::new();
    };
    let agreeing = sweep.flights.iter().filter(|step| step.agrees()).count();
    let (whose, what, received) = match axis.is_of_client_chains() {
        true => (
            "client's certificates",
            "A client waits for acknowledgements when its ClientHello with a ticket, or its certificates and its request, exceed",
            "sent",
        ),
        false => (
            "server's first flight",
            "A server waits for acknowledgements when its first flight exceeds",
            "received",
        ),
    };
    let about = format!("{place}steps of the {whose}");
    let text = format!(
        "{what} the congestion window: {agreeing} of {} are measured between the two sizes for which they are predicted.",
        count(sweep.flights.len(), "step", "steps"),
    );
    Table::of(&sweep.flights)
        .caption(&about)
        .axes(sweep, &axis.name, |step| &step.settings)
        .text("condition", 1, |step| step.condition)
        .text("stack", 0, |step| &step.stack)
        .text(&axis.name, 0, |step| format!("{} → {}", step.from, step.to))
        .text(received, 1, |step| {
            format!("{:.0} → {:.0} B", step.from_bytes, step.to_bytes)
        })
        .col("predicted", 0, |step| {
            let hundredths = (100.0 * step.predicted_round_trips).round();
            // Adding zero leaves no negative zero.
            Cell::text(format!("{:+}", hundredths / 100.0 + 0.0))
        })
        .text("measured", 0, |step| {
            format!("{:+.2}", step.measured_round_trips)
        })
        .text("agree", 0, |step| if step.agrees() { "yes" } else { "NO" })
        .explained(format!("Round trips: {about}"), text)
}

/// States the points at which the second value takes more round trips.
fn round_trips(rows: &[&SweepStep], to: &str) -> Option<Item> {
    let predicted = rows
        .iter()
        .filter_map(|row| Some((row, row.key.more_round_trips?)));
    let more = predicted.clone().filter(|(_, more)| *more > 0.0);
    let more = more.map(|(row, _)| {
        let settings = row.key.settings.iter();
        let settings = settings.map(|(axis, value)| format!("{axis}={value}"));
        format!("{} ({})", settings.format(","), row.key.stack)
    });
    let more: Vec<String> = more.collect();
    let predicted = predicted.count();
    if predicted == 0 {
        return None;
    }
    let of = count(predicted, "comparison", "comparisons");
    Some(Item::Text(match more.is_empty() {
        true => format!("{to} takes no further round trip in any of {of}."),
        false => format!(
            "{to} is predicted to take further round trips in {} of {of}: {}.",
            more.len(),
            some_of(3, &more)
        ),
    }))
}

/// Tabulates the times of connections, together with the predicted times.
fn times(sweep: &SweepSummary, rows: &[&SweepTime], about: &str) -> Vec<Item> {
    let mut items = vec![Item::Heading(format!("What the time is made of: {about}"))];
    items.push(Item::text(
        "Predicted, where nothing is lost: round trips × RTT + CPU of client and server + bytes / rate − overlap: the \
         CPU time that both sides use while the link transmits other packets. It holds within 3 % or 0.5 ms of the median; with \
         loss, the rest is what losses cost.",
    ));
    items.extend(charts::times(rows, about));
    let table = Table::of(rows)
        .caption(format!("predicted and measured, {about}"))
        .axes(sweep, "", |row| &row.settings)
        .text("stack", 0, |row| &row.stack)
        .time("median", 0, |row| row.total_ns)
        .time("predicted", 0, |row| Some(row.predicted?.total_ns))
        .difference("off by", 1, |row| row.off_ns)
        .text("model", 0, |row| row.fit.word())
        .col("round trips", 1, |row| {
            let round_trips = row.predicted?.round_trips;
            Some(Cell::number(round_trips, Digits::All, ""))
        })
        .time("waiting", 3, |row| Some(row.predicted?.waiting_ns))
        .time("CPU", 2, |row| Some(row.predicted?.cpu_ns))
        .time("bytes", 2, |row| Some(row.predicted?.bytes_ns))
        .time("overlap", 2, |row| Some(row.predicted?.overlap_ns))
        .col("failed", 4, |row| {
            Cell::Of(row.failed, row.failed + row.samples)
        });
    items.push(table.item());
    items
}

/// Tabulates the predicted savings of compressed certificates.
fn savings(sweep: &SweepSummary, rows: &[&SweepTime], about: &str) -> Vec<Item> {
    let rows = rows.iter();
    let rows = rows.filter_map(|row| Some((*row, row.compressed.as_ref()?)));
    let rows: Vec<(&SweepTime, &Compressed)> = rows.collect();
    let text = compressed::offers(&rows);
    let about = format!("savings of compressed certificates, {about}");
    Table::of(rows)
        .caption(&about)
        .axes(sweep, "", |(row, _)| &row.settings)
        .text("stack", 0, |(row, _)| &row.stack)
        .text("algorithm", 0, |(_, of)| &of.algorithm)
        .text("bytes", 0, |(_, of)| {
            format!("{:+.0}", 0.0 - of.saved_bytes)
        })
        .text("round trips", 0, |(_, of)| {
            format!("{:+.2}", 0.0 - of.saved_round_trips)
        })
        .difference("time", 0, |(_, of)| 0.0 - of.saved_ns)
        .optional("in the ClientHello", 0, |(_, of)| {
            Some(if of.is_offered? { "yes" } else { "no" })
        })
        .explained(format!("Predicted {about}"), text)
}
