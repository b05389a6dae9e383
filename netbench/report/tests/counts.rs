//! Counts of an evaluation: one denominator, connections that were made, and losses together with gains.

use std::sync::Arc;

use netbench_model::{
    ClientUse, Condition, FailureClass, Losses, LostSite, Outside, OutsideSite, Profile, StackName,
    Standing, SwitchEffect,
    chains::ReasonSpec,
    compat::{CompatCase, Judgement},
};
use netbench_report::{
    Answer, CompatSummary, ConnectSummary, Evaluation, FailureRow, Found, Question, UnsupportedRow,
    evaluation, summarize_compat,
};

use crate::support::{
    formats::{assert_has, assert_lacks, terminal},
    made::Made,
    made_parts::{
        self, ACCEPTED, compat_case, compat_plan, compat_sample, reason, refused, rejected,
    },
    manifest::manifest_of,
    whole::{connected, failure, report, scanned},
};

/// Returns an evaluation without losses, to be modified.
fn well() -> Evaluation {
    let all = (0..1000).map(|seed| Made::of(seed).report().evaluation);
    let mut scanned = all.filter(|evaluation| evaluation.found.losses.is_some());
    let well = scanned.find(|evaluation| {
        let mut questions = evaluation.questions.iter();
        questions.all(|question| question.answer == Answer::Yes)
    });
    well.unwrap()
}

fn connections(evaluation: &Evaluation) -> ConnectSummary {
    let mut connections = evaluation.found.connections.as_deref().unwrap().clone();
    // Each test sets the results of the sites.
    connections.comparisons.clear();
    connections.left_out.clear();
    connections
}

/// Returns the sites of `old-sites.txt`, and the fate of each.
fn old_sites() -> (Losses, Vec<FailureRow>) {
    let lost = ["dhe.example", "rsa.example", "mixed.example", "cbc.example"];
    let lost_sites = lost.map(|site| LostSite {
        site: site.to_owned(),
        reason: "dhe-only".to_owned(),
        detail: String::new(),
        confirmed: Some(true),
    });
    let outside = [
        (
            "name.example",
            Outside::Neither,
            "the certificate is for another name",
        ),
        (
            "silent.example",
            Outside::Unknown,
            "the site was not scanned",
        ),
    ];
    let outside = outside.map(|(site, because, detail)| OutsideSite {
        site: site.to_owned(),
        because,
        detail: detail.to_owned(),
    });
    let losses = Losses {
        client_profile: Some(Profile::Library),
        scanned: 7,
        not_scanned: 1,
        both: 2,
        neither: 1,
        lost: lost_sites.into(),
        outside: outside.to_vec(),
        confirmed: 14,
        ..Losses::default()
    };
    let mut failures: Vec<FailureRow> = lost
        .iter()
        .map(|site| failure(site, "new", "alert"))
        .collect();
    for stack in ["old", "new"] {
        failures.push(failure("name.example", stack, "wrong-name"));
        failures.push(failure("silent.example", stack, "timed out"));
    }
    (losses, failures)
}

/// Returns the figure of lost sites on the first card.
fn lost(question: &Question) -> &str {
    let mut figures = question.figures.iter();
    let found = figures.find(|figure| figure.label.starts_with("lost of the "));
    &found.unwrap().value
}

#[test]
fn sites_have_one_denominator_and_those_outside_it_are_named() {
    let well = well();
    let (losses, failures) = old_sites();
    let mut connections = connections(&well);
    connections.run.sites = 8;
    connections.failures = failures;
    let found = Found {
        losses: Some(losses),
        ..connected(connections)
    };
    let evaluation = evaluation(well.run, found);
    let [first, second, ..] = evaluation.questions.as_slice() else {
        panic!("three questions");
    };
    assert_eq!(lost(first), "4 of 6");
    assert_eq!(second.figures[0].value, "4 of 6");
    assert_has(&evaluation.sentence, "4 of 6 built-in sites are lost");
    for (site, why) in [
        ("name.example", "neither"),
        ("silent.example", "the scan cannot tell"),
    ] {
        let named = first.missing.iter().find(|line| line.contains(site));
        assert!(named.unwrap().contains(why), "{named:?}");
    }
    let shown = terminal(&report(evaluation), 200);
    assert_has(
        &shown,
        "Of 6 sites that old can agree with, new can agree with 2 and loses 4.",
    );
    for other in ["of 7 sites", "Of 7 sites", "of 8 sites", "4 of 8"] {
        assert_lacks(&shown, other);
    }
}

/// The stack in use reaches both sites with the same trust anchors: one refusal is a limit of the new stack, and the other
/// protects the user.
#[test]
fn a_site_whose_issuer_the_new_stack_does_not_find_is_lost() {
    let well = well();
    let mut connections = connections(&well);
    connections.run.sites = 8;
    let refusals = [
        ("deep.example", "unknown-issuer"),
        ("expired.example", "expired"),
    ];
    let refusals = refusals.map(|(site, fault)| FailureRow {
        class: FailureClass::Certificate,
        ..failure(site, "new", fault)
    });
    connections.failures = refusals.into();
    let found = connected(connections);
    let evaluation = evaluation(well.run, found);
    let second = &evaluation.questions[1];
    assert_eq!(second.figures[0].value, "1 of 7");
    assert!(
        second
            .breaks
            .iter()
            .any(|line| line.contains("deep.example (emulated): unknown-issuer")),
        "{:?}",
        second.breaks
    );
}

#[test]
fn a_site_that_only_connections_can_tell_of_is_counted_once() {
    let well = well();
    let (losses, _) = old_sites();
    let mut connections = connections(&well);
    connections.run.sites = 8;
    // The old stack reaches a site that could not be scanned, and fails on one that both can agree with.
    connections.failures = vec![
        failure("silent.example", "new", "timed out"),
        failure("modern.example", "old", "closed"),
    ];
    let found = Found {
        losses: Some(losses),
        ..connected(connections)
    };
    let evaluation = evaluation(well.run, found);
    assert_eq!(lost(&evaluation.questions[0]), "5 of 6");
    assert_eq!(evaluation.questions[1].figures[0].value, "5 of 6");
    let named = evaluation.questions[0]
        .missing
        .iter()
        .find(|line| line.contains("modern.example"));
    assert!(
        named
            .unwrap()
            .contains("it fails with the stack in use too"),
        "{named:?}"
    );
}

#[test]
fn connections_that_were_not_made_are_not_finished() {
    let well = well();
    let mut connections = connections(&well);
    connections.failures.clear();
    connections.run.sites = 51;
    connections.run.samples = 1224;
    let sites = (0..5).map(|number| format!("site-{number}"));
    connections.unsupported = vec![UnsupportedRow {
        condition: Condition::Resumed,
        stack: StackName::new("new"),
        reason: "the server does not resume".to_owned(),
        sites: sites.collect(),
        samples: 60,
    }];
    let found = connected(connections);
    let because = &evaluation(well.run, found).questions[1].because;
    assert!(
        because.starts_with("Not decided: ") && because.contains(". 1,164 connections to 51 sites"),
        "{because}"
    );
}

#[test]
fn without_data_nothing_is_said_to_be_lost() {
    let well = well();
    let found = scanned(Losses::default());
    let evaluation = evaluation(well.run, found);
    let question = &evaluation.questions[0];
    assert_eq!(question.answer, Answer::Open);
    let mut labels = question.figures.iter().map(|figure| &figure.label);
    assert!(labels.all(|label| !label.starts_with("lost of ")));
    assert_has(&question.because, "None of the emulated sites was compared");
    let shown = terminal(&report(evaluation), 200);
    assert!(
        !shown.contains("0 of 0") && !shown.contains("Of 0 sites"),
        "{shown}"
    );
}

#[test]
fn a_ca_that_is_not_trusted_is_named_first() {
    let well = well();
    for (untrusted, both, is_named) in [(3, 0, true), (3, 2, true), (1, 9, false)] {
        let outside = (0..untrusted).map(|number| OutsideSite {
            site: format!("s{number}.internal"),
            because: Outside::Untrusted,
            detail: "the chain ends at an unknown root".to_owned(),
        });
        let losses = Losses {
            scanned: untrusted + both,
            both,
            neither: untrusted,
            outside: outside.collect(),
            ..Losses::default()
        };
        let found = scanned(losses);
        let because = &evaluation(well.run.clone(), found).questions[0].because;
        let begins = because.starts_with("The certificates of 3 of ");
        assert_eq!(begins, is_named, "{because}");
        let options = because.matches("--roots").count();
        assert_eq!(options, usize::from(is_named), "{because}");
        assert_eq!(because.contains("--roots my-ca.pem"), is_named, "{because}");
    }
}

/// Returns the summary of two stacks and one server.
fn server(reasons: &str, standing: Option<Standing>, accepted: [bool; 2]) -> CompatSummary {
    let case = CompatCase {
        standing,
        ..compat_case("a/server", refused(reasons))
    };
    let samples = ["old", "new"].iter().zip(accepted);
    let samples = samples.map(|(stack, accepted)| {
        let outcome = match accepted {
            true => ACCEPTED,
            false => rejected(reasons),
        };
        compat_sample(&case.name, stack, outcome)
    });
    let samples = samples.collect();
    let plan = compat_plan(["old", "new"].map(StackName::new).into(), vec![case]);
    summarize_compat(&manifest_of(plan), samples)
}

#[test]
fn a_loss_of_reach_is_one_also_where_the_refusal_is_right() {
    let well = well();
    // Servers that only the old or only the new stack accepts, and the answer for each use of the client.
    use Answer::{WithLosses, Yes};
    const OLD: [bool; 2] = [true, false];
    const NEW: [bool; 2] = [false, true];
    for (reason, accepted, effect, [browser, others]) in [
        ("alert", OLD, SwitchEffect::LossOfReach, [Yes, WithLosses]),
        ("alert", NEW, SwitchEffect::GainOfReach, [Yes; 2]),
        ("expired", OLD, SwitchEffect::GainInSecurity, [Yes; 2]),
        (
            "expired",
            NEW,
            SwitchEffect::LossInSecurity,
            [WithLosses; 2],
        ),
    ] {
        let compat = server(reason, None, accepted);
        assert_eq!(compat.differences[0].switch.effect, Some(effect));
        for client in ClientUse::ALL {
            let mut run = well.run.clone();
            run.plan.client_use = *client;
            let found = Found {
                compat: Some(Arc::new(compat.clone())),
                chains: None,
                roots: None,
                ..well.found.clone()
            };
            let question = evaluation(run, found).questions.swap_remove(1);
            let expected = if *client == ClientUse::Browser {
                browser
            } else {
                others
            };
            assert_eq!(question.answer, expected, "{effect} for a {client}");
            let listed = question
                .findings
                .iter()
                .any(|found| found.evidence == ["a/server"]);
            assert_eq!(listed, effect.is_loss(), "{effect} for a {client}");
            let gained = question
                .gains
                .iter()
                .any(|line| line.starts_with(effect.name()));
            assert_eq!(
                gained,
                !effect.is_loss(),
                "{effect} for a {client}: {:?}",
                question.gains
            );
            assert_eq!(question.because.contains(client.rule()), effect.is_loss());
        }
    }
}

#[test]
fn a_moot_difference_is_neither_listed_nor_counted() {
    let well = well();
    for accepted in [[true, false], [false, true]] {
        for (standing, is_moot) in [(Standing::Moot, true), (Standing::Unsafe, false)] {
            let compat = server("expired", Some(standing), accepted);
            assert_eq!(compat.differences[0].switch.effect.is_none(), is_moot);
            let found = Found {
                compat: Some(Arc::new(compat)),
                chains: None,
                roots: None,
                ..well.found.clone()
            };
            let question = evaluation(well.run.clone(), found).questions.swap_remove(1);
            let shown = question.findings.iter().flat_map(|found| &found.evidence);
            let lines = shown.chain(&question.gains);
            let listed = lines.filter(|line| line.contains("a/server")).count();
            assert_eq!(listed, usize::from(!is_moot), "{question:?}");
            let is_loss = !is_moot && accepted == [false, true];
            assert_eq!(question.answer == Answer::Yes, !is_loss, "{question:?}");
        }
    }
}

#[test]
fn chains_that_differ_for_a_moot_reason_are_neither_listed_nor_counted() {
    let well = well();
    // A chain that is refused and should not be, and one that is accepted and should not be.
    for wrong in [[true, false], [false, true]] {
        for (standing, is_moot) in [(Some(Standing::Moot), true), (None, false)] {
            let reason = ReasonSpec {
                standing,
                ..reason("of-a-test", "own/made/")
            };
            let chains = made_parts::chains_for(&wrong, &[reason]);
            assert_eq!(chains.differences.len(), 1, "the difference itself is kept");
            let found = Found {
                chains: Some(Arc::new(chains)),
                compat: Some(Arc::new(made_parts::compat(&[Judgement::Right]))),
                roots: None,
                ..well.found.clone()
            };
            let question = evaluation(well.run.clone(), found).questions.swap_remove(1);
            let mut figures = question.figures.iter();
            let worse = figures
                .find(|figure| figure.label.starts_with("certificate chains with which"))
                .unwrap();
            let (counted, answer) = match is_moot {
                true => ("0 of 2", Answer::Yes),
                false => ("1 of 2", Answer::WithLosses),
            };
            assert_eq!(worse.value, counted, "{question:#?}");
            assert_eq!(question.answer, answer, "{question:#?}");
            let listed = question.findings.len() + question.gains.len();
            assert_eq!(listed, usize::from(!is_moot), "{question:#?}");
        }
    }
}
