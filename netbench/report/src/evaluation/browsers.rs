//! The question whether browsers behave like the new stack on these sites.

use itertools::Itertools;
use netbench_model::{StackName, SwitchEffect};

use super::{
    evidence::Evidence,
    question::{Answer, Question},
};
use crate::{
    BrowserSummary, CompatDisagreement, CompatSummary,
    text::{count, some_of},
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
    let loaded = |client: &str| {
        let mut rows = visits.clients.iter();
        let row = rows.find(|row| row.client.as_str() == client && row.visits > 0)?;
        Some((row.loaded, row.visits))
    };
    let browsers = visits.run.browsers.iter().map(|browser| &*browser.name);
    let reported: Vec<_> = browsers
        .filter_map(|browser| Some((browser, loaded(browser)?)))
        .collect();
    let of_stack = loaded(to.as_str());
    if reported.is_empty() {
        return None;
    }
    let all = reported
        .iter()
        .copied()
        .chain(of_stack.map(|loaded| (to.as_str(), loaded)));
    for (client, (loaded, visits)) in all.clone() {
        question.figure(
            format!("{loaded} of {visits}"),
            format!("sites that {client} loads"),
        );
    }
    let same = all.clone().map(|(_, loaded)| loaded).all_equal();
    let mut words =
        all.map(|(client, (loaded, visits))| format!("{client} loads {loaded} of {visits}"));
    let because = format!("Of the sites that were visited, {}.", words.join(", "));
    Some((yes_if(same), because))
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
    let of = |stack: &StackName, effects: &[SwitchEffect]| -> Vec<&CompatDisagreement> {
        let rows = clients.disagreements.iter();
        rows.filter(|row| {
            row.stack == *stack && row.effect.is_some_and(|effect| effects.contains(&effect))
        })
        .collect()
    };
    let (from, to) = (evidence.from, evidence.to);
    let (losses, gains): (Vec<SwitchEffect>, Vec<SwitchEffect>) = SwitchEffect::ALL
        .iter()
        .partition(|effect| effect.is_loss());
    for stack in [to, from] {
        for effect in SwitchEffect::ALL {
            let rows = of(stack, &[*effect]);
            question.figure(
                format!("{} of {}", rows.len(), clients.matrix.cases.len()),
                format!("servers: {effect} of {stack} beside a browser"),
            );
        }
    }
    for (effect, words) in [
        (SwitchEffect::LossOfReach, "a browser accepts and"),
        (
            SwitchEffect::LossInSecurity,
            "a browser refuses to protect the user and",
        ),
    ] {
        let lost = of(to, &[effect]);
        if !lost.is_empty() {
            let names = some_of(NAMED, lost.iter().map(|row| &row.case));
            let does = match effect {
                SwitchEffect::LossInSecurity => "accepts",
                _ => "refuses",
            };
            question.breaks.push(format!(
                "{} that {words} {to} {does}: {names}",
                count(lost.len(), "server", "servers")
            ));
        }
    }
    let gained = of(to, &gains).len();
    if gained > 0 {
        let servers = count(gained, "server", "servers");
        question.gains.push(format!(
            "{servers} with which {to} does better than a browser"
        ));
    }
    let because = format!(
        "With {} of {} that are odd, {to} does worse than a browser, and with {} better; with {from} it is {} and {}.",
        of(to, &losses).len(),
        count(clients.matrix.cases.len(), "server", "servers"),
        gained,
        of(from, &losses).len(),
        of(from, &gains).len()
    );
    Some((yes_if(of(to, &losses).is_empty()), because))
}

fn yes_if(same: bool) -> Answer {
    if same {
        Answer::Yes
    } else {
        Answer::WithLosses
    }
}
