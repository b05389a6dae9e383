//! The question whether browsers behave like the new stack on these sites.

use itertools::Itertools;
use netbench_model::{Condition, StackName, SwitchEffect};
use netbench_stats::Verdict;

use super::{
    evidence::Evidence,
    question::{Answer, Question},
};
use crate::{
    BrowserSummary, ClientRow, CompatSummary, VisitPhase,
    row::in_words,
    text::{count, some_of, time},
};

/// Number of cases that are named.
const NAMED: usize = 8;

pub(super) fn answer(evidence: &Evidence<'_>) -> Question {
    let (to, found) = (evidence.to, evidence.found);
    let mut question = Question::open(format!(
        "And what do browsers do on these sites: the same as {to}?"
    ));
    let visits = found.visits.as_deref();
    let of_visits = visits.and_then(|visits| sites(&mut question, visits, to));
    let clients = found.clients.as_deref();
    let of_loads = visits.and_then(|visits| page_loads(&mut question, visits));
    let of_servers = clients.and_then(|clients| servers(&mut question, clients, evidence));
    let mut because = Vec::new();
    for (found, what) in [
        (of_visits, "what browsers do on the sites"),
        (of_servers, "what browsers do with odd servers"),
    ] {
        match found {
            None => question.missing.extend(evidence.missing("browsers", what)),
            Some((answer, why)) => {
                question.answer = question.answer.worse_of(answer);
                because.push(why);
            }
        }
    }
    if let Some((answer, why)) = of_loads {
        question.answer = question.answer.worse_of(answer);
        because.push(why);
    }
    question.because = because.join(" ");
    if question.because.is_empty() {
        question.because = format!("No browser was asked{}", evidence.because_of("browsers"));
    }
    question
}

/// Compares the sites that browsers and the new stack load. Returns `None` if no browser has visited any.
fn sites(
    question: &mut Question,
    visits: &BrowserSummary,
    to: &StackName,
) -> Option<(Answer, String)> {
    let browsers = visits.run.browsers.iter();
    let browsers = browsers.filter_map(|browser| loaded(visits, &browser.name));
    let browsers = browsers.collect_vec();
    if browsers.is_empty() {
        return None;
    }
    let all = browsers.iter().copied().chain(loaded(visits, to.as_str()));
    for row in all.clone() {
        question.figure(
            format!("{} of {}", row.loaded, row.visits),
            format!("sites that {} loads", row.client),
        );
    }
    let same = all.clone().map(|row| (row.loaded, row.visits)).all_equal();
    let words = all.map(|row| format!("{} loads {} of {}", row.client, row.loaded, row.visits));
    let because = format!("Of the sites that were visited, {}.", words.format(", "));
    Some((yes_if(same), because))
}

/// Compares the page loads of browsers that differ in their TLS library alone, such as `servo` and `servo+openssl`.
/// Returns `None` if there are no two of them.
fn page_loads(question: &mut Question, visits: &BrowserSummary) -> Option<(Answer, String)> {
    let names = visits
        .run
        .browsers
        .iter()
        .map(|browser| browser.name.as_str());
    let (first, others) = names.clone().next().map(|first| (first, names.skip(1)))?;
    let mut words = Vec::new();
    let mut is_slower = false;
    for other in others.filter(|other| family(other) == family(first)) {
        let pairs = visits.comparisons.iter().find(|row| {
            let key = &row.key;
            (key.first_client.as_str(), key.other_client.as_str()) == (first, other)
                && (key.condition, key.phase) == (Condition::Clean, VisitPhase::Total)
        });
        words.push(match pairs {
            None => {
                question
                    .missing
                    .push(format!("page loads of {other} and {first}: their handshakes differ"));
                format!(
                    "Pages of {other} and {first} were not compared, because their handshakes differ: {} with {other}, \
                     {} with {first}.",
                    not_compared(visits, other),
                    not_compared(visits, first),
                )
            }
            Some(row) => {
                let (change, verdict) = (in_words(&row.change), row.change.verdict);
                question.figure(&change, format!("time of a page of {other} beside {first}"));
                is_slower |= verdict == Verdict::Slower;
                format!("A page of {other} beside {first}: {verdict}, {change}.")
            }
        });
    }
    (!words.is_empty()).then(|| (yes_if(!is_slower), words.join(" ")))
}

/// Returns the name of a browser without its TLS library.
fn family(browser: &str) -> &str {
    browser.split('+').next().unwrap_or_default()
}

/// Returns the groups and the median time of the pages of a client that was not compared.
fn not_compared(visits: &BrowserSummary, client: &str) -> String {
    let clean = visits.clients.iter().find(|row| {
        (row.client.as_str(), row.condition) == (client, Condition::Clean) && row.loaded > 0
    });
    let mut phases = clean.into_iter().flat_map(|row| &row.phases);
    let total = phases.find(|row| row.phase == VisitPhase::Total);
    let median = total.map(|row| format!(", a page in {}", time(row.figures.p50_ns)));
    let median = median.unwrap_or_default();
    format!("{}{median}", groups(visits, client))
}

/// Returns the browsers of an evaluation if there are two that differ in their TLS library alone: of the first, users
/// would switch to the second.
pub(super) fn switched(browsers: &[String]) -> Option<(&str, &str)> {
    match browsers {
        [from, to] if family(from) == family(to) => Some((from, to)),
        _ => None,
    }
}

fn groups(visits: &BrowserSummary, client: &str) -> String {
    let rows = visits.negotiated.iter();
    let own = rows.filter(|row| row.client.as_str() == client);
    let groups = own.map(|row| row.group.as_deref().unwrap_or("none"));
    groups.unique().join(", ")
}

/// Returns the visits of a client; `None` if there are none.
fn loaded<'a>(visits: &'a BrowserSummary, client: &str) -> Option<&'a ClientRow> {
    let mut rows = visits.clients.iter();
    rows.find(|row| row.client.as_str() == client && row.visits > 0)
}

/// Compares the servers of the catalogue that browsers treat differently. Returns `None` if no browser was tested.
fn servers(
    question: &mut Question,
    clients: &CompatSummary,
    evidence: &Evidence<'_>,
) -> Option<(Answer, String)> {
    let stacks = clients.run.stacks.len();
    let tried = (stacks..clients.matrix.clients.len())
        .any(|client| clients.matrix.column(client).next().is_some());
    if !tried {
        return None;
    }
    let (from, to) = (evidence.from, evidence.to);
    let servers = clients.matrix.cases.len();
    for stack in [to, from] {
        for effect in SwitchEffect::ALL {
            question.figure(
                format!("{} of {servers}", cases(clients, stack, *effect).len()),
                format!("servers: {effect} of {stack} beside a browser"),
            );
        }
    }
    for (effect, words, does) in [
        (
            SwitchEffect::LossOfReach,
            "a browser accepts and",
            "refuses",
        ),
        (
            SwitchEffect::LossInSecurity,
            "a browser refuses to protect the user and",
            "accepts",
        ),
    ] {
        let lost = cases(clients, to, effect);
        if !lost.is_empty() {
            let servers = count(lost.len(), "server", "servers");
            let names = some_of(NAMED, lost);
            let line = format!("{servers} that {words} {to} {does}: {names}");
            question.breaks.push(line);
        }
    }
    let [worse, better] = worse_and_better(clients, to);
    let [worse_before, better_before] = worse_and_better(clients, from);
    if better > 0 {
        let servers = count(better, "server", "servers");
        question.gains.push(format!(
            "{servers} with which {to} does better than a browser"
        ));
    }
    let because = format!(
        "With {worse} of {} that are odd, {to} does worse than a browser, and with {better} better; with {from} it is {worse_before} and {better_before}.",
        count(servers, "server", "servers"),
    );
    Some((yes_if(worse == 0), because))
}

/// Returns the cases with an effect of a stack beside a browser.
fn cases<'a>(clients: &'a CompatSummary, stack: &StackName, effect: SwitchEffect) -> Vec<&'a str> {
    let rows = clients.disagreements.iter();
    let rows = rows.filter(|row| row.stack == *stack && row.effect == Some(effect));
    rows.map(|row| row.case.as_str()).collect()
}

/// Returns the number of servers with which a stack does worse than a browser, and of those with which it does better.
fn worse_and_better(clients: &CompatSummary, stack: &StackName) -> [usize; 2] {
    let rows = clients.disagreements.iter();
    let effects = rows
        .filter(|row| row.stack == *stack)
        .filter_map(|row| row.effect);
    let (worse, better): (Vec<_>, Vec<_>) = effects.partition(|effect| effect.is_loss());
    [worse.len(), better.len()]
}

fn yes_if(same: bool) -> Answer {
    if same {
        Answer::Yes
    } else {
        Answer::WithLosses
    }
}
