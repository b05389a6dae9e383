//! The breakages of a switch by netbench's own catalogues: servers, certificate chains and trust stores that are
//! right, wrong, old or odd. Results of real sites are stronger evidence where they show an effect; these cover
//! cases that no list of sites has.

use itertools::Itertools;
use netbench_model::{ClientUse, SwitchEffect, Weight, compat::Judgement};

use super::{Evidence, Question};
use crate::{ChainDifference, ChainsSummary, CompatSummary, RootsSummary, Switch, text::count};

/// Number of cases of each catalogue that are named.
const NAMED: usize = 20;

/// The effect that a user of the client meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meets {
    /// The client crashes or hangs.
    Ends,
    /// A loss, with this weight.
    Loss(SwitchEffect, Weight),
    /// Further losses that are not named.
    More,
}

impl Meets {
    fn of(switch: &Switch, client: ClientUse) -> Self {
        let effect = switch.effect.unwrap_or(SwitchEffect::LossOfReach);
        Self::Loss(effect, client.weight(effect, switch.standing))
    }

    /// Returns whether the effect makes the answer worse.
    fn counts(self) -> bool {
        !matches!(self, Self::Loss(_, Weight::Listed))
    }

    /// Returns the place in the list: crashes of the client first, then the losses that weigh most for the client's
    /// use, and last those that do not count.
    fn rank(self, client: ClientUse) -> u8 {
        match self {
            Self::Ends => 0,
            Self::Loss(effect, Weight::Counted) if effect == client.first_loss() => 1,
            Self::Loss(_, Weight::Counted) => 2,
            Self::More => 3,
            Self::Loss(_, Weight::Listed) => 4,
        }
    }
}

/// A deterioration, in the words of the client's user.
struct Worse {
    meets: Meets,
    words: String,
}

/// Records the deteriorations with the new stack, and returns a sentence on the result of each catalogue.
pub(super) fn foretell(question: &mut Question, evidence: &Evidence<'_>) -> Vec<String> {
    let mut worse = Vec::new();
    let mut reasons = Vec::new();
    match evidence.compat {
        Some(compat) => reasons.extend(servers(question, compat, evidence, &mut worse)),
        None => {
            let what = "a catalogue of right, wrong, old and odd servers, certificate chains and trust stores";
            question.missing.extend(evidence.missing("compat", what));
        }
    }
    if let Some(summary) = evidence.chains {
        reasons.extend(chains(question, summary, evidence, &mut worse));
    }
    if let Some(summary) = evidence.roots {
        reasons.extend(stores(question, summary, evidence, &mut worse));
    }
    if worse.iter().any(|it| it.meets.counts()) {
        question.answer = question.answer.at_best_with_losses();
    }
    if !worse.is_empty() {
        reasons.push(evidence.client_use.rule().to_owned());
    }
    // A stable sort: among equally bad effects, servers come before chains, and chains before stores.
    worse.sort_by_key(|it| it.meets.rank(evidence.client_use));
    let ends = worse.partition_point(|it| it.meets == Meets::Ends);
    let rest = worse.split_off(ends);
    // A crash of the client is worse than a site that does not load.
    question
        .breaks
        .splice(0..0, worse.into_iter().map(|it| it.words));
    question.breaks.extend(rest.into_iter().map(|it| it.words));
    reasons
}

fn servers(
    question: &mut Question,
    compat: &CompatSummary,
    evidence: &Evidence<'_>,
    all: &mut Vec<Worse>,
) -> Option<String> {
    let (from, to) = (evidence.from, evidence.to);
    let (worse, told) = (compat.worse(), compat.told_of_both());
    if told == 0 {
        return None;
    }
    question.figure(
        format!("{} of {told}", worse.len()),
        format!("test servers with which {to} does worse than {from}"),
    );
    let security = compat.gains(SwitchEffect::GainInSecurity);
    if !security.is_empty() {
        let names = security.iter().take(NAMED).map(|found| &found.case);
        question.gains.push(format!(
            "gain in security with {}: {}{}",
            count(security.len(), "test server", "test servers"),
            names.format(", "),
            if security.len() > NAMED { ", …" } else { "" }
        ));
    }
    let reach = compat.gains(SwitchEffect::GainOfReach).len();
    if reach > 0 {
        let servers = count(reach, "test server", "test servers");
        question.gains.push(format!("gain of reach with {servers}"));
    }
    if worse.is_empty() {
        return Some(format!(
            "With none of {} does {to} do worse than {from}.",
            count(told, "test server", "test servers")
        ));
    }
    all.extend(worse.iter().take(NAMED).map(|found| Worse {
        meets: match found.judgement {
            Judgement::Crashed | Judgement::Hung => Meets::Ends,
            _ => Meets::of(&found.switch, evidence.client_use),
        },
        words: format!(
            "{} (a server that {}): {}",
            found.case,
            found.about,
            seen(&found.switch)
        ),
    }));
    if worse.len() > NAMED {
        let more = count(worse.len() - NAMED, "more test server", "more test servers");
        all.push(Worse {
            meets: Meets::More,
            words: format!("and {more}"),
        });
    }
    Some(format!(
        "With {} of {} {to} does worse than {from}.",
        worse.len(),
        count(told, "test server", "test servers")
    ))
}

/// Returns the effect that a user sees, with its kind.
fn seen(switch: &Switch) -> String {
    let seen = switch.seen.trim_end_matches('.');
    match switch.effect {
        Some(effect) => format!("{seen} [{effect}]"),
        None => seen.to_owned(),
    }
}

/// Number of chains of a group that are named.
const EXAMPLES: usize = 2;

fn chains(
    question: &mut Question,
    chains: &ChainsSummary,
    evidence: &Evidence<'_>,
    all: &mut Vec<Worse>,
) -> Option<String> {
    let (from, to) = (evidence.from, evidence.to);
    let (worse, ended, told) = (chains.worse(), chains.ended(), chains.told_of_both());
    if told == 0 {
        return None;
    }
    let number = worse.iter().map(|group| group.cases.len()).sum::<usize>() + ended.len();
    question.figure(
        format!("{number} of {told}"),
        format!("certificate chains with which {to} does worse than {from}"),
    );
    for effect in [SwitchEffect::GainInSecurity, SwitchEffect::GainOfReach] {
        let gained = chains.gains(effect);
        if gained > 0 {
            let chains = count(gained, "certificate chain", "certificate chains");
            question.gains.push(format!("{effect} with {chains}"));
        }
    }
    let of_all = count(told, "certificate chain", "certificate chains");
    if number == 0 {
        return Some(format!("With none of {of_all} does {to} do worse."));
    }
    all.extend(ended.iter().take(NAMED).map(|chain| Worse {
        meets: Meets::Ends,
        words: format!("{}: the verifier ends in a {}", chain.case, chain.outcome),
    }));
    all.extend(worse.iter().take(NAMED).map(|group: &&ChainDifference| {
        let chains = count(group.cases.len(), "certificate chain", "certificate chains");
        let named = group.cases.iter().take(EXAMPLES).join(", ");
        let more = if group.cases.len() > EXAMPLES {
            ", …"
        } else {
            ""
        };
        Worse {
            meets: Meets::of(&group.switch, evidence.client_use),
            words: format!("{chains} ({named}{more}): {}", seen(&group.switch)),
        }
    }));
    Some(format!(
        "With {number} of {of_all} {to} does worse than {from}."
    ))
}

fn stores(
    question: &mut Question,
    roots: &RootsSummary,
    evidence: &Evidence<'_>,
    all: &mut Vec<Worse>,
) -> Option<String> {
    let (from, to) = (evidence.from, evidence.to);
    let changes = roots.changes(from, to);
    let least = changes.iter().min_by_key(|change| change.weight())?;
    let layouts = roots.matrix.cases.len();
    let source = least.source;
    question.figure(
        format!("{} of {layouts}", least.layouts()),
        format!("trust stores with which {to} ({source}) trusts otherwise than {from}, and worse"),
    );
    let about = |site: &str| {
        let mut sites = roots.run.sites.iter();
        let found = sites.find(|found| found.name == site);
        found.map_or_else(|| site.to_owned(), |found| found.about.clone())
    };
    let worse = [
        (
            &least.lost,
            SwitchEffect::LossOfReach,
            "does not load any more",
        ),
        (
            &least.accepted,
            SwitchEffect::LossInSecurity,
            "loads without a warning",
        ),
    ];
    if !least.refused.is_empty() {
        let sites = least.refused.keys().map(|site| about(site)).join(", ");
        question.gains.push(format!(
            "gain in security with trust stores: refused are sites {sites}"
        ));
    }
    for (sites, effect, what) in worse {
        let meets = Meets::Loss(effect, Weight::Counted);
        all.extend(sites.iter().map(|(site, layouts)| Worse {
            meets,
            words: format!(
                "a site {} {what} with roots from {source}, where the system's store is {} [{effect}]",
                about(site),
                layouts.iter().join(", ")
            ),
        }));
    }
    let others = changes.iter().filter(|change| change.source != source);
    let others = others.filter(|change| change.weight() > least.weight());
    let others = others
        .map(|change| format!("{} for {}", change.layouts(), change.source))
        .join(", ");
    let others = match others.as_str() {
        "" => String::new(),
        others => format!(" ({others})"),
    };
    Some(format!(
        "With {} of {} it trusts less, or too much, where its roots are from {source}{others}.",
        least.layouts(),
        count(layouts, "trust store", "trust stores")
    ))
}
