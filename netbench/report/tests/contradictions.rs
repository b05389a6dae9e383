//! Consistency of an evaluation's answers, for any findings of its parts.
//!
//! 1,000 evaluations are made from seeds: sites of every fate, stacks of any speed, missing parts, no network. They
//! are checked against the conclusions of a reader who reads one part of the report after another.

mod forms;
mod sentence;

use std::collections::BTreeSet;

use netbench_model::{Outside, Phase, compat::Judgement};
use netbench_report::{Answer, Evaluation, EvaluationReport};
use netbench_stats::Interval;

use self::{
    forms::forms_agree,
    sentence::{Clause, agrees, sentence},
};
use crate::support::made::{self, Fate, Made, MadeSuite};

/// Number of evaluations that are made.
const EVALUATIONS: u64 = 1000;

/// Number of failing sites that are named on the second card.
const NAMED: usize = 20;

/// The number of lost sites in a million from which a switch is no replacement.
const LOST_OF_A_MILLION: f64 = 50_000.0;

/// The ratio up to which a connection is still fast enough.
const NO_MORE_THAN: f64 = 1.05;

#[test]
fn answers_follow_from_one_another() {
    let mut seen = BTreeSet::new();
    for seed in 0..EVALUATIONS {
        let made = Made::of(seed);
        let report = made.report();
        let evaluation = &report.evaluation;
        for (card, question) in evaluation.questions.iter().enumerate() {
            seen.insert((card, question.answer.words()));
        }
        let why = wrong(&made, &report);
        assert_eq!(why, Vec::<String>::new(), "seed {seed}: {made:#?}");
    }
    // Every answer of every card must have occurred for the checks to be meaningful.
    assert_eq!(seen.len(), 3 * 4, "{seen:?}");
}

/// Returns the contradictions.
fn wrong(made: &Made, report: &EvaluationReport) -> Vec<String> {
    let mut wrong = Vec::new();
    check(made, report, &mut |holds, what| {
        if !holds {
            wrong.push(what.to_owned());
        }
    });
    wrong
}

fn check(made: &Made, report: &EvaluationReport, hold: &mut Hold<'_>) {
    let evaluation = &report.evaluation;
    sites(made, evaluation, hold);
    parts(made, evaluation, hold);
    glitches(made, evaluation, hold);
    servers(made, evaluation, hold);
    chains_and_stores(made, evaluation, hold);
    times(made, evaluation, hold);
    sentence(made, evaluation, hold);
    forms_agree(report, hold);
}

type Hold<'a> = dyn FnMut(bool, &str) + 'a;

/// Returns, for each card in order, whether the parts that it names were tested.
fn tested(made: &Made, evaluation: &Evaluation) -> [bool; 3] {
    let found = &evaluation.found;
    let connected = found.connections.is_some();
    [
        found.losses.is_some() && made.features,
        connected && made.servers.is_some() && made.features,
        // The question excludes a part that the worker of a stack does not support.
        connected && made.suite != MadeSuite::LeftOut,
    ]
}

/// Checks each card by the parts that it names.
fn parts(made: &Made, evaluation: &Evaluation, hold: &mut Hold<'_>) {
    for (card, tested) in evaluation.questions.iter().zip(tested(made, evaluation)) {
        hold(
            tested || card.answer != Answer::Yes,
            "yes, and a part that the question names was not tested",
        );
        let said = card.because.contains("was not tested")
            || card.because.contains("were not tested")
            || ["No connections were made", "No connections could be"]
                .iter()
                .any(|begin| card.because.starts_with(begin));
        hold(
            tested || said,
            "a part that was not tested is not in the reason",
        );
        hold(
            !(tested && card.because.contains("Not decided: ")),
            "all parts were tested, and the reason says otherwise",
        );
    }
    let excluded = made.suite == MadeSuite::Unsupported;
    let fast = &evaluation.questions[2];
    hold(
        fast.question.contains("(speed in memory not included)") == excluded
            && fast.because.contains(made::NO_SUITE) == excluded,
        "a part that a stack does not have is not named, or one that it has",
    );
    let in_memory = fast.because.contains("In memory: ");
    hold(
        in_memory == matches!(made.suite, MadeSuite::Slow | MadeSuite::NeverQuiet),
        "the suite and the card do not say the same",
    );
    hold(
        !(in_memory && fast.answer == Answer::Yes),
        "yes, and the suite says otherwise",
    );
}

/// Checks the first card by the lost sites.
fn sites(made: &Made, evaluation: &Evaluation, hold: &mut Hold<'_>) {
    let card = &evaluation.questions[0];
    let Some(losses) = &evaluation.found.losses else {
        hold(card.answer == Answer::Open, "an answer without a scan");
        hold(
            card.because.contains("left out"),
            "no reason why there is no scan",
        );
        return;
    };
    let lost: BTreeSet<&str> = losses.lost.iter().map(|site| site.site.as_str()).collect();
    let reached = losses.both + lost.len() as u64;
    hold(
        reached == made.counted(),
        "the denominator is not the sites that the old stack reaches",
    );
    // A site that is removed because of connections of the old stack is one that both can agree with by the
    // scan.
    let taken_out = losses.outside.iter();
    let taken_out: Vec<&str> = taken_out
        .filter(|site| site.because == Outside::FailedBefore)
        .map(|site| site.site.as_str())
        .collect();
    let flaky = made.sites_with(Fate::FlakyWithTheOld);
    hold(
        taken_out.len() == if made.connected() { flaky.len() } else { 0 }
            && taken_out.iter().all(|site| flaky.contains(*site)),
        "a site is taken out that the old stack reaches, or the other way round",
    );
    let counted = reached
        + losses.neither
        + losses.gained.len() as u64
        + losses.refused.len() as u64
        + taken_out.len() as u64;
    hold(losses.scanned == counted, "sites are not counted once each");
    let named = losses.outside.iter().map(|site| site.site.as_str());
    let gained = losses.gained.iter().map(|site| site.site.as_str());
    let named: Vec<&str> = named.chain(gained).chain(lost.iter().copied()).collect();
    let once: BTreeSet<&str> = named.iter().copied().collect();
    hold(named.len() == once.len(), "a site is named twice");
    let given = evaluation.run.plan.sites_file.is_some();
    let web = evaluation.found.web.as_ref();
    let web_is_lost = web.is_some_and(|web| web.high > 0.0);
    let all = reached > 0 && lost.is_empty() && (given || (web.is_some() && !web_is_lost));
    hold(
        (card.answer == Answer::Yes) == (all && made.features),
        "yes with lost sites, or no yes without",
    );
    let across = web.is_none_or(|web| web.low < LOST_OF_A_MILLION && web.high >= LOST_OF_A_MILLION);
    hold(
        (card.answer == Answer::Open)
            == (reached == 0 || (!given && across) || (all && !made.features)),
        "open, or not, without a site",
    );
    hold(
        given || reached == 0 || card.because.contains("Your own sites were not given."),
        "the built-in list is taken for the user's sites",
    );
    let said = &evaluation.sentence;
    hold(
        given || reached == 0 || said.contains("built-in"),
        "the sentence takes the built-in list for the user's sites",
    );
    hold(
        agrees(
            said,
            Clause("web: ", 16),
            !given && reached > 0 && web_is_lost,
        ),
        "the sentence leaves out the sites of the web that decide, or names them where they do not",
    );
    if made.connected() {
        let worked = made.sites_with(Fate::LostByTheScanAlone);
        hold(
            lost.iter().all(|site| !worked.contains(*site)),
            "a site is lost to which connections were finished",
        );
    }
}

/// Checks the second card by the fate of each site and by the first card.
fn glitches(made: &Made, evaluation: &Evaluation, hold: &mut Hold<'_>) {
    let [first, card, _] = evaluation.questions.as_slice() else {
        hold(false, "not three questions");
        return;
    };
    if !made.connected() {
        hold(
            card.answer == Answer::Open,
            "an answer without a connection",
        );
        let why = made.missing.as_ref().unwrap();
        hold(
            card.because.starts_with("No connections were made") && card.because.contains(why),
            "the reason why there are no connections does not come first",
        );
        return;
    }
    let lost = evaluation.found.losses.as_ref().map_or(0, |l| l.lost.len());
    let least = match lost {
        0 => 0,
        _ => rank(first.answer).max(1),
    };
    hold(
        rank(card.answer) >= least,
        "better than the first card, and sites are lost",
    );
    let alone = made.fail_with_the_new_alone();
    // The built-in list is judged as on the first card: not by its share of lost sites.
    let are_lost = evaluation.found.losses.iter().flat_map(|l| &l.lost);
    let are_lost: BTreeSet<&str> = are_lost.map(|site| site.site.as_str()).collect();
    let fails_otherwise = alone.iter().any(|site| !are_lost.contains(site.as_str()));
    hold(
        card.answer != Answer::No
            || first.answer == Answer::No
            || evaluation.run.plan.sites_file.is_some()
            || fails_otherwise,
        "no for sites of the built-in list, which the first card judges otherwise",
    );
    let refused = made.sites_with(Fate::RefusedByTheNew);
    let protected = card.gains.iter().any(|gain| {
        gain.starts_with("gain in security") && refused.iter().any(|site| gain.contains(site))
    });
    hold(
        protected != refused.is_empty(),
        "refusals that protect the user are not named as a gain, or there are none",
    );
    let none_failed = card.because.contains("none failed with new");
    hold(
        none_failed == (lost == 0 && alone.is_empty()),
        "\"none failed\", or not, and sites failed, or not",
    );
    hold(
        card.answer != Answer::Yes || none_failed,
        "yes, and sites failed with the new stack alone",
    );
    let finished = card.because.contains("all finished");
    hold(
        finished != made.any_failed(),
        "all finished, and some failed, or neither",
    );
    for site in alone.iter().filter(|_| alone.len() <= NAMED) {
        let named = card.breaks.iter().any(|text| text.starts_with(site));
        let lost = evaluation.found.losses.iter().flat_map(|l| &l.lost);
        let lost = lost.into_iter().any(|lost| lost.site == *site);
        hold(named != lost, "a site that fails is not named once");
    }
    let mut figures = card.figures.iter();
    let of_sites = figures.find(|figure| figure.label.starts_with("sites that fail with"));
    let figure = &of_sites.unwrap().value;
    let counted = evaluation.found.losses.as_ref().map(|l| l.counted());
    if counted.unwrap_or(made.counted()) == 0 {
        hold(
            figure == "none compared",
            "sites are counted, and none was compared",
        );
        return;
    }
    let failing = figure.split(' ').next().unwrap().parse::<usize>().unwrap();
    hold(
        (failing == 0) == none_failed,
        "the figure says other than the sentence",
    );
}

/// Checks the second card and the sentence by the results with the servers of the catalogue.
fn servers(made: &Made, evaluation: &Evaluation, hold: &mut Hold<'_>) {
    let card = &evaluation.questions[1];
    let missing = card
        .missing
        .iter()
        .any(|text| text.starts_with("a catalogue"));
    hold(
        missing == made.servers.is_none(),
        "servers that were not tried, and are not missing, or the other way round",
    );
    let said = &evaluation.sentence;
    let clause = " test servers fare worse";
    let Some(judged) = &made.servers else {
        hold(
            !said.contains(clause),
            "servers fare worse that were not tried",
        );
        return;
    };
    let worse: Vec<usize> = (0..judged.len())
        .filter(|server| judged[*server] <= Judgement::FalseAccept)
        .collect();
    hold(
        agrees(said, Clause(clause, 7), !worse.is_empty()),
        "the sentence says other than the servers",
    );
    hold(
        worse.is_empty() || card.answer != Answer::Yes,
        "yes, and servers fare worse",
    );
    let places = worse.iter().map(|server| {
        let name = made::server(*server);
        let mut findings = card.findings.iter();
        findings.position(|found| found.evidence.contains(&name))
    });
    let places: Vec<_> = places.collect();
    let named = places.iter().flatten().count();
    hold(
        named == worse.len(),
        "a server that fares worse is not named, or another one",
    );
    let mut by_place: Vec<_> = worse
        .iter()
        .zip(&places)
        .filter(|(_, at)| at.is_some())
        .collect();
    by_place.sort_by_key(|(_, at)| **at);
    // A client that hangs is as bad as one that crashes.
    let order = by_place.iter().map(|(server, _)| match judged[**server] {
        Judgement::Hung => Judgement::Crashed,
        judgement => judgement,
    });
    hold(order.is_sorted(), "what is worse comes later");
}

/// Checks the second card by certificate chains and trust stores.
fn chains_and_stores(made: &Made, evaluation: &Evaluation, hold: &mut Hold<'_>) {
    let card = &evaluation.questions[1];
    let [chains, stores] = [&made.chains, &made.stores].map(|wrong| {
        let wrong = wrong.as_ref()?.iter();
        Some(wrong.filter(|is_wrong| **is_wrong).count())
    });
    for (due, label) in [
        (chains, "certificate chains with which"),
        (stores, "trust stores with which"),
    ] {
        let mut figures = card.figures.iter();
        let found = figures.find(|figure| figure.label.starts_with(label));
        let count = found.map(|figure| figure.value.split(' ').next().unwrap());
        let count = count.map(|count| count.parse::<usize>().unwrap());
        hold(count == due, "a figure that is not what was found");
        hold(
            due.unwrap_or_default() == 0 || card.answer != Answer::Yes,
            "yes, and chains or stores fare worse",
        );
    }
    let words = ["does not load any more", "loads without", "own/made/"];
    let [lost, without_warning, chain] = words.map(|words| {
        let mut findings = card.findings.iter();
        findings.position(|found| found.evidence.iter().any(|text| text.contains(words)))
    });
    hold(
        lost.is_some() == (stores > Some(0)),
        "a site that is lost is not named, or one that is not",
    );
    hold(
        lost.zip(without_warning)
            .is_none_or(|(lost, without_warning)| lost < without_warning),
        "what is worse comes later",
    );
    hold(
        chain.is_some() == (chains > Some(0)),
        "a chain that is judged wrongly is not named, or one that is not",
    );
}

/// Checks the third card by the intervals of whole connections.
fn times(made: &Made, evaluation: &Evaluation, hold: &mut Hold<'_>) {
    let card = &evaluation.questions[2];
    let decided = card.answer != Answer::Open;
    let Some(connections) = &evaluation.found.connections else {
        hold(!decided, "times without a connection");
        hold(
            card.because.contains(made.missing.as_ref().unwrap()),
            "the reason why there are no times is missing",
        );
        return;
    };
    let loopback = connections.is_loopback();
    hold(!(loopback && decided), "a verdict on a network without one");
    hold(
        loopback == card.because.contains("over loopback"),
        "loopback is not said first, or said of a network",
    );
    let whole: Vec<_> = card
        .figures
        .iter()
        .filter(|figure| figure.label.starts_with("whole connection"))
        .collect();
    hold(
        whole
            .iter()
            .all(|f| f.label.contains("over loopback") == loopback),
        "a time does not say that it is of loopback",
    );
    let totals = connections.comparisons.iter().filter_map(|comparison| {
        let mut rows = comparison.phases.iter();
        let total = rows.find(|row| row.key.phase == Phase::Total)?;
        Some(total.change.interval)
    });
    let totals: Vec<_> = totals.collect();
    let known: Vec<Interval> = totals.iter().flatten().copied().collect();
    hold(
        whole.len() == known.len(),
        "a figure without an interval, or an interval without a figure",
    );
    let all_known = !totals.is_empty() && known.len() == totals.len();
    let fast = all_known && known.iter().all(|ends| ends.high <= NO_MORE_THAN);
    let slow = all_known && known.iter().all(|ends| ends.low > NO_MORE_THAN);
    let in_memory = matches!(made.suite, MadeSuite::Fast | MadeSuite::Unsupported);
    hold(
        (card.answer == Answer::Yes) == (fast && in_memory && !loopback),
        "fast enough, or not, against the intervals",
    );
    hold(
        (card.answer == Answer::No) == (slow && !loopback),
        "too slow, or not, against the intervals",
    );
    if loopback {
        let rtts = connections.comparisons.iter().flat_map(|c| &c.sites.rows);
        hold(
            rtts.into_iter().all(|row| row.key.rtt_ns == 0),
            "a round-trip time that was not emulated",
        );
    }
}

/// Returns the severity of an answer; an open answer has none.
fn rank(answer: Answer) -> u8 {
    match answer {
        Answer::Open | Answer::Yes => 0,
        Answer::WithLosses => 1,
        Answer::No => 2,
    }
}
