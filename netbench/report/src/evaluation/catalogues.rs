//! What a switch would break by netbench's own catalogues: servers, certificate chains and trust stores that are right,
//! wrong, old or odd. Real sites say more, where they show anything; these say what no list of sites has.

use itertools::Itertools;
use netbench_model::compat::Judgement;

use super::{Evidence, Question};
use crate::{
    ChainChange, ChainsSummary, CompatDifference, CompatSummary, RootsSummary, text::count,
};

/// How many are named of each catalogue.
const NAMED: usize = 20;

/// What a user of the client meets. The worst comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Meets {
    /// The client ends, or is never done.
    Ends,
    /// A site that does not load.
    Loss,
    /// A site that loads and should not.
    NoWarning,
}

/// What goes worse, in the words of who uses the client.
struct Worse {
    meets: Meets,
    words: String,
}

/// Takes down what goes worse with the new stack, and says of each catalogue how it went.
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
    if !worse.is_empty() {
        question.answer = question.answer.at_best_with_losses();
    }
    // A stable sort: of what is equally bad, servers come before chains, and chains before stores.
    worse.sort_by_key(|it| it.meets);
    let ends = worse.partition_point(|it| it.meets == Meets::Ends);
    let rest = worse.split_off(ends);
    // What ends the client is worse than a site that does not load.
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
    if worse.is_empty() {
        return Some(format!(
            "With none of {} does {to} do worse than {from}.",
            count(told, "test server", "test servers")
        ));
    }
    let in_words = |found: &CompatDifference| {
        let seen = found.seen.trim_end_matches('.');
        format!("{} (a server that {}): {seen}", found.case, found.about)
    };
    all.extend(worse.iter().take(NAMED).map(|found| Worse {
        meets: match found.judgement {
            Judgement::Crashed | Judgement::Hung => Meets::Ends,
            Judgement::Unwarned => Meets::NoWarning,
            _ => Meets::Loss,
        },
        words: in_words(found),
    }));
    if worse.len() > NAMED {
        let more = count(worse.len() - NAMED, "more test server", "more test servers");
        all.push(Worse {
            meets: Meets::NoWarning,
            words: format!("and {more}"),
        });
    }
    Some(format!(
        "With {} of {} {to} does worse than {from}.",
        worse.len(),
        count(told, "test server", "test servers")
    ))
}

/// How many chains of a group are named.
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
        format!("certificate chains that {to} judges wrongly and {from} rightly"),
    );
    let of_all = count(told, "certificate chain", "certificate chains");
    if number == 0 {
        return Some(format!(
            "Of {of_all} it judges none wrongly that {from} judges rightly."
        ));
    }
    all.extend(ended.iter().take(NAMED).map(|chain| Worse {
        meets: Meets::Ends,
        words: format!("{}: the verifier ends in a {}", chain.case, chain.outcome),
    }));
    all.extend(worse.iter().take(NAMED).map(|group| {
        let seen = group.seen.trim_end_matches('.');
        let chains = count(group.cases.len(), "certificate chain", "certificate chains");
        let named = group.cases.iter().take(EXAMPLES).join(", ");
        let more = if group.cases.len() > EXAMPLES {
            ", …"
        } else {
            ""
        };
        Worse {
            meets: match group.change {
                ChainChange::Lost => Meets::Loss,
                _ => Meets::NoWarning,
            },
            words: format!("{chains} ({named}{more}): {seen}"),
        }
    }));
    Some(format!(
        "Of {of_all} it judges {number} wrongly that {from} judges rightly."
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
    let layouts = roots.layouts.len();
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
        (&least.lost, Meets::Loss, "does not load any more"),
        (&least.unwarned, Meets::NoWarning, "loads without a warning"),
    ];
    for (sites, meets, what) in worse {
        all.extend(sites.iter().map(|(site, layouts)| Worse {
            meets,
            words: format!(
                "a site {} {what} with roots from {source}, where the system's store is {}",
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
