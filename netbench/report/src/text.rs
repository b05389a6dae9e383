use std::{collections::BTreeMap, fmt::Display};

use itertools::Itertools;
pub(crate) use netbench_model::sanitize as plain;
use netbench_model::{Profile, StackName, Target, hides_its_processor};
use netbench_stats::{RoundsDifference, RoundsNeeded, Verdict};
use unicode_width::UnicodeWidthStr;

/// Returns the number of sites, with their kind and place.
pub(crate) fn places(target: Target, sites: impl TryInto<u64>) -> String {
    match target {
        Target::Lab => count(sites, "emulated site", "emulated sites"),
        Target::Loopback => count(sites, "server of this machine", "servers of this machine"),
        Target::Live => {
            let sites = count(sites, "real site", "real sites");
            format!("{sites}, over the real network")
        }
    }
}

/// Returns the words for one site of a target and for several. The names of emulated sites are those of hosts whose
/// servers, certificates and networks they do not have, so that no figure appears with such a name without this
/// word.
pub(crate) fn site_words(target: Target) -> [&'static str; 2] {
    match target {
        Target::Lab => ["emulated site", "emulated sites"],
        Target::Loopback | Target::Live => ["site", "sites"],
    }
}

/// Returns the name of a site of a target, for text without a heading that states the kind of sites: `example.com
/// (emulated)`.
pub(crate) fn named_site(target: Target, site: &str) -> String {
    match target {
        Target::Lab => format!("{site} (emulated)"),
        Target::Loopback | Target::Live => site.to_owned(),
    }
}

/// The word for the sites of a target in a column of their own.
pub(crate) fn sites_word(target: Target) -> &'static str {
    match target {
        Target::Lab => "emulated",
        Target::Loopback => "of this machine",
        Target::Live => "real",
    }
}

pub(crate) fn sites_of(target: Target, sites: impl TryInto<u64>) -> String {
    let [one, more] = site_words(target);
    count(sites, one, more)
}

/// Returns the cause and the remedy, if the certificates of half of the sites or more lead to no trusted root.
pub(crate) fn missing_root(untrusted: u64, all: u64) -> Option<String> {
    (untrusted > 0 && 2 * untrusted >= all).then(|| {
        format!(
            "The certificates of {untrusted} of {} lead to no trusted root: if your own CA issued them, give it with \
             `--roots my-ca.pem`.",
            count(all, "site", "sites")
        )
    })
}

/// Formats nanoseconds with a unit and three digits.
pub(crate) fn time(ns: f64) -> String {
    // Noise can make a difference negative.
    let (value, unit) = match ns.abs() {
        size if size < 1e3 => return format!("{ns:.0} ns"),
        size if size < 1e6 => (ns / 1e3, "µs"),
        size if size < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

fn three_digits(value: f64) -> String {
    let digits = match value.abs() {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}

/// Formats a ratio as a change: `-1.9 %`. Ratios above double are formatted as `3.20×`, which reads better.
pub(crate) fn change(ratio: f64) -> String {
    if ratio >= MOST {
        return "over 99×".to_owned();
    }
    if ratio >= DOUBLE {
        return format!("{ratio:.2}×");
    }
    let percent = (ratio - 1.0) * 100.0;
    let digits = if percent.abs() < 9.95 { 1 } else { 0 };
    let text = format!("{percent:+.digits$} %");
    // A change that is rounded to zero has no minus sign.
    if text == "-0.0 %" {
        "+0.0 %".to_owned()
    } else {
        text
    }
}

/// Formats the two ends of an interval as changes.
pub(crate) fn interval(interval: Option<netbench_stats::Interval>) -> String {
    match interval {
        None => TOO_FEW.to_owned(),
        Some(i) => interval_of(i.low, i.high),
    }
}

/// The text for too few pairs, or too few processes for them: more rounds add to both.
pub(crate) const TOO_FEW: &str = "too few rounds";

pub(crate) fn interval_of_difference(difference: &RoundsDifference) -> String {
    match difference.low_ns.zip(difference.high_ns) {
        Some((low, high)) => format!("{} … {}", signed_time(low), signed_time(high)),
        None => TOO_FEW.to_owned(),
    }
}

/// Formats two ends as changes, or both as factors if one is over double.
pub(crate) fn interval_of(low: f64, high: f64) -> String {
    // Two processes of each stack have an interval from zero to infinity.
    if low < LEAST && high >= MOST {
        return TOO_FEW.to_owned();
    }
    if high < DOUBLE {
        return format!("{} … {}", change(low), change(high));
    }
    let low = match low {
        low if low < LEAST => "under 0.01×".to_owned(),
        low if low < DOUBLE => format!("{low:.2}×"),
        low => change(low),
    };
    format!("{low} … {}", change(high))
}

/// The ratio from which a change is formatted as a factor.
const DOUBLE: f64 = 2.0;

/// The largest factor that is shown.
const MOST: f64 = 99.5;

/// The smallest factor that is shown.
const LEAST: f64 = 0.01;

pub(crate) fn percent(part: f64, whole: f64) -> String {
    if whole <= 0.0 {
        "–".to_owned()
    } else {
        format!("{:.1} %", 100.0 * part / whole)
    }
}

/// Returns the verdict on `other` as the middle of a sentence.
pub(crate) fn verdict(verdict: Verdict, first: &str, other: &str) -> String {
    match verdict {
        Verdict::Faster => format!("{other} is faster than {first}"),
        Verdict::Slower => format!("{other} is slower than {first}"),
        Verdict::Same => format!("{other} and {first} take the same time"),
        Verdict::Undecided => format!("it is undecided whether {other} or {first} is faster"),
        Verdict::NotJudged => format!("{other} and {first} are not judged"),
    }
}

/// Returns the rounds that would decide an undecided row: `about 40 rounds`.
pub(crate) fn would_decide(needed: RoundsNeeded) -> String {
    match needed {
        RoundsNeeded::Rounds(rounds @ ..100) => format!("about {rounds} rounds"),
        RoundsNeeded::Rounds(rounds) => format!("about {} rounds", grouped(rounds as f64)),
        RoundsNeeded::AtTheLimit => "none: it lies at the limit".to_owned(),
    }
}

pub(crate) fn machine(facts: &BTreeMap<String, String>) -> String {
    let virtual_machine = facts.get("virtual_machine").filter(|vm| *vm == "yes");
    let known = [
        facts.get("cpu_model").cloned(),
        facts.get("cores").map(|cores| format!("{cores} cores")),
        virtual_machine.map(|_| "a virtual machine".to_owned()),
        facts.get("kernel").map(|kernel| format!("Linux {kernel}")),
        facts.get("os").cloned(),
    ];
    let hidden = if hides_its_processor(facts) {
        " It shows neither turbo nor the frequency governor, and whether its CPUs share cores with others: these are its host's."
    } else {
        ""
    };
    format!(
        "Machine: {}.{hidden}",
        known.into_iter().flatten().join(", ")
    )
}

pub(crate) fn profile_in_words(profile: Profile) -> String {
    let how = match profile {
        Profile::Default => "every stack offers the same versions, suites, groups and signatures",
        Profile::Servo => {
            "every stack offers the same versions, suites, groups and signatures, and hyper is set up as in Servo"
        }
        Profile::Library => "each stack offers what its library does by itself",
    };
    format!("Client profile {}: {how}.", profile.name())
}

pub(crate) fn stacks_with<'a>(
    stacks: impl IntoIterator<Item = (&'a StackName, &'a String)>,
) -> String {
    let stacks = stacks.into_iter();
    stacks
        .map(|(name, about)| format!("{name} ({about})"))
        .join("; ")
}

/// Formats bytes with a unit and three digits.
pub(crate) fn bytes(bytes: f64) -> String {
    let (value, unit) = match bytes {
        b if b < 999.5 => return format!("{b:.0} B"),
        b if b < 999.5e3 => (b / 1e3, "kB"),
        b if b < 999.5e6 => (b / 1e6, "MB"),
        b => (b / 1e9, "GB"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Formats a number with its thousands separated, and with a decimal only under a hundred.
pub(crate) fn grouped(value: f64) -> String {
    if value < 99.95 {
        return format!("{value:.1}");
    }
    whole(value)
}

/// Formats a number without decimals, with its thousands separated.
pub fn whole(value: impl Display) -> String {
    let digits = format!("{value:.0}");
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(String::from_utf8_lossy).join(",")
}

/// Inverts a ratio of the other's figure over the first one's: above 1, the other is better.
pub(crate) fn factor(ratio: f64) -> String {
    let factor = 1.0 / ratio;
    match factor {
        f if f < 9.995 => format!("{f:.3}×"),
        f if f < 99.95 => format!("{f:.1}×"),
        f => format!("{}×", grouped(f)),
    }
}

/// Formats a difference of times, with its sign.
pub(crate) fn signed_time(ns: f64) -> String {
    let sign = if ns < 0.0 { '-' } else { '+' };
    format!("{sign}{}", time(ns.abs()))
}

/// Formats a change of a time in both units: `+0.74 ms (+0.4 %)`.
pub(crate) fn time_and_change(first_ns: f64, ratio: f64) -> String {
    let difference = signed_time(first_ns * (ratio - 1.0));
    format!("{difference} ({})", change(ratio))
}

/// Formats a number with its noun: `3 sites`, `1,560 samples`.
pub fn count(number: impl TryInto<u64>, one: &str, many: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        number => format!("{} {many}", whole(number)),
    }
}

/// The headline of a run whose only stack has nothing to be compared with.
pub(crate) const ONE_STACK: &str = "The run has one stack alone, and no comparison.";

/// The largest number of stacks that a title names.
const NAMED_STACKS: usize = 4;

/// Returns `a or b in place of c`, for stacks of which the first is the one that the others are compared with, or
/// `20 stacks in place of c`.
pub(crate) fn in_place_of(stacks: &[&str]) -> String {
    match stacks.split_first() {
        Some((first, others)) if others.len() > NAMED_STACKS => {
            format!("{} stacks in place of {first}", others.len())
        }
        Some((first, [])) => format!("{first} alone"),
        Some((first, [others @ .., last])) if !others.is_empty() => {
            format!("{} or {last} in place of {first}", others.join(", "))
        }
        Some((first, others)) => format!("{} in place of {first}", others.join(", ")),
        None => String::new(),
    }
}

/// Groups values by their keys, in the order of each key's first value.
pub(crate) fn alike<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(of, _)| *of == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Returns `a, b and 3 more`: the first `named` by name.
pub(crate) fn some_of(named: usize, all: impl IntoIterator<Item = impl Display>) -> String {
    let mut all = all.into_iter();
    let text = all.by_ref().take(named).join(", ");
    match all.count() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Shortens a text to at most a hundred characters.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 100;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Breaks text at spaces; a word that is longer than a line has a separate line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        let cases = [
            (0.0, "0 ns"),
            (999.0, "999 ns"),
            (1_000.0, "1.00 µs"),
            (12_345.0, "12.3 µs"),
            (123_456.0, "123 µs"),
            (9_996_000.0, "10.0 ms"),
            (57_123_456.0, "57.1 ms"),
            (1_234_000_000.0, "1.23 s"),
            (-1_111_620.0, "-1.11 ms"),
        ];
        for (ns, text) in cases {
            assert_eq!(time(ns), text);
        }
    }

    #[test]
    fn lines_break_between_words() {
        let cases: [(&str, usize, &[&str]); 4] = [
            ("one two three", 7, &["one two", "three"]),
            ("one two three", 13, &["one two three"]),
            ("one two three", usize::MAX, &["one two three"]),
            ("indivisible one", 5, &["indivisible", "one"]),
        ];
        for (text, width, lines) in cases {
            assert_eq!(wrap(text, width), lines);
        }
    }

    #[test]
    fn both_ends_of_an_interval_are_in_one_unit() {
        let cases = [
            (0.5, 0.8, "-50 % … -20 %"),
            (0.9, 1.99, "-10 % … +99 %"),
            (0.011, 13.75, "0.01× … 13.75×"),
            (0.001, 13.75, "under 0.01× … 13.75×"),
            (0.5, 2.0, "0.50× … 2.00×"),
            (3.0, 4.0, "3.00× … 4.00×"),
            (0.5, 1e9, "0.50× … over 99×"),
            (1e-9, 1e9, "too few rounds"),
        ];
        for (low, high, text) in cases {
            assert_eq!(interval_of(low, high), text);
        }
    }

    #[test]
    fn changes_keep_their_sign() {
        let cases = [
            (1.0, "+0.0 %"),
            (0.981, "-1.9 %"),
            (0.99999, "+0.0 %"),
            (1.25, "+25 %"),
            (3.2, "3.20×"),
            (6e10, "over 99×"),
            (0.2, "-80 %"),
        ];
        for (ratio, text) in cases {
            assert_eq!(change(ratio), text);
        }
    }
}
