//! Impossible requests, which a worker must answer without a change of its state.

use netbench_model::{
    ClientAuth, HandshakeKind, HeapState, KeyType, RootsForm, Scenario, SessionSettings,
    TlsVersion, Work,
};
use netbench_protocol::{
    Clocks, Hold, Material, Prepare, RequestBody, ResponseBody, Slice, SliceLimit,
};
use netbench_runner::WorkerError;

use super::{Bench, OPERATIONS, counted, handshake, material, scenarios::usual};
use crate::findings::error_of;

/// A text with an escape code, which must not reach a terminal.
const NO_PEM: &str = "no PEM \u{1b}[31m";

/// PEM without a valid certificate or key.
const EMPTY_PEM: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

/// The errors that only a client that verifies chains can detect.
const CHAINS_OF_OTHERS: [&str; 3] = ["no PEM as roots", "roots of another chain", "another host"];

/// Tests a turn and a hold before any scenario is prepared, and a scenario of an unknown stack.
pub(super) fn before_prepare(bench: &mut Bench) -> Vec<String> {
    let mut wrong = refuses_turns(bench, "before prepare");
    let scenario = handshake(usual(TlsVersion::Tls13, KeyType::EcdsaP256));
    let answer = bench.ask(RequestBody::Prepare(Box::new(Prepare {
        stack: "no-such-stack".to_owned(),
        scenario,
        material: Material::default(),
    })));
    if !matches!(answer, Err(WorkerError::Refused(_))) {
        wrong.push(format!("a stack that is not there: {answer:?}"));
    }
    wrong
}

/// Tests unusable material: each request must fail and discard the prepared scenario, and usable material must work
/// afterwards.
pub(super) fn settings(bench: &mut Bench) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for version in TlsVersion::OFFERED {
        let Some(plain) = bench.plain(*version)? else {
            continue;
        };
        let good = handshake(plain);
        for (what, scenario, material) in all(plain)? {
            let is_a_chains =
                CHAINS_OF_OTHERS.contains(&what) && !bench.can.record.verifies_chains();
            if (bench.lacks)(&scenario) || is_a_chains {
                continue;
            }
            let name = format!("{version}, {what}");
            wrong.extend(error_of(&name, fails(bench, &scenario, material)));
            wrong.extend(refuses_turns(bench, &name));
            wrong.extend(error_of(format!("after {name}"), works(bench, &good)));
        }
    }
    let connector = Scenario::timed(Work::Connector {
        form: RootsForm::Pem,
        roots: Some(1),
    });
    let prepared = bench
        .prepare(&connector, material(&connector)?)
        .map_err(|e| e.to_string())?;
    if matches!(prepared, ResponseBody::Unsupported { .. }) {
        return Ok(wrong);
    }
    let held = bench.ask(RequestBody::Hold(Hold { sessions: 20 }));
    if !matches!(held, Ok(ResponseBody::Failed(_))) {
        wrong.push(format!("hold without sessions: {held:?}"));
    }
    Ok(wrong)
}

/// A fault of the material of a scenario, and the change that causes it.
type Fault<'a> = (&'static str, Scenario, &'a dyn Fn(&mut Material));

/// Returns scenarios, each with material that has one fault.
fn all(plain: SessionSettings) -> Result<Vec<(&'static str, Scenario, Material)>, String> {
    let full = handshake(plain);
    let good = material(&full)?;
    let foreign = material(&handshake(usual(plain.version, KeyType::Rsa2048)))?;
    let resumed = Scenario::timed(Work::Handshake {
        kind: HandshakeKind::Ticket,
        settings: plain,
    });
    let authenticated = handshake(SessionSettings {
        client_auth: ClientAuth::On,
        ..plain
    });
    let [empty, long] = [0, u16::MAX].map(|max_fragment_bytes| {
        Scenario::timed(Work::Bulk {
            settings: plain,
            write_bytes: 1 << 10,
            amount_bytes: 1 << 20,
            max_fragment_bytes: Some(max_fragment_bytes),
            heap: HeapState::Settled,
        })
    });
    let verify = Scenario::timed(Work::Verify {
        key: plain.key,
        chain_length: plain.chain_length,
        roots: 1,
    });
    let [pem, der, native] = [RootsForm::Pem, RootsForm::Der, RootsForm::Native].map(|form| {
        let roots = (form != RootsForm::Native).then_some(1);
        Scenario::timed(Work::Connector { form, roots })
    });
    let faults: [Fault<'_>; 21] = [
        ("no PEM as chain", full, &|m| {
            m.chain_pem = NO_PEM.to_owned();
        }),
        ("no certificate in the chain", full, &|m| {
            m.chain_pem = EMPTY_PEM.to_owned();
        }),
        ("no PEM as key", full, &|m| m.key_pem = NO_PEM.to_owned()),
        ("no PEM as roots", full, &|m| {
            m.roots_pem = NO_PEM.to_owned();
        }),
        ("a key that does not match", full, &|m| {
            m.key_pem.clone_from(&foreign.client_key_pem);
        }),
        ("a key of the same type that does not match", full, &|m| {
            m.key_pem.clone_from(&m.client_key_pem);
        }),
        ("roots of another chain", full, &|m| {
            m.roots_pem.clone_from(&foreign.roots_pem);
        }),
        ("a chain of another root", full, &|m| {
            m.chain_pem.clone_from(&foreign.chain_pem);
            m.key_pem.clone_from(&foreign.key_pem);
        }),
        ("another host", full, &|m| {
            m.host = "elsewhere.netbench.test".to_owned();
        }),
        ("nothing", full, &|m| *m = Material::default()),
        ("roots of another chain, with tickets", resumed, &|m| {
            m.roots_pem.clone_from(&foreign.roots_pem);
        }),
        ("no PEM as client's chain", authenticated, &|m| {
            m.client_chain_pem = NO_PEM.to_owned();
        }),
        ("a client's key that does not match", authenticated, &|m| {
            m.client_key_pem.clone_from(&m.key_pem);
        }),
        ("a client's chain of another root", authenticated, &|m| {
            m.client_chain_pem.clone_from(&foreign.client_chain_pem);
            m.client_key_pem.clone_from(&foreign.client_key_pem);
        }),
        ("records of nothing", empty, &|_| {}),
        ("records too long", long, &|_| {}),
        ("roots of another chain, to verify", verify, &|m| {
            m.roots_pem.clone_from(&foreign.roots_pem);
        }),
        ("another host, to verify", verify, &|m| {
            m.host = "elsewhere.netbench.test".to_owned();
        }),
        ("no PEM for a connector", pem, &|m| {
            m.roots_pem = NO_PEM.to_owned();
        }),
        ("no PEM where DER is wanted", der, &|m| {
            m.roots_pem = NO_PEM.to_owned();
        }),
        ("no file of roots", native, &|m| {
            m.native_path = Some("/nonexistent/roots\u{1b}.pem".to_owned());
        }),
    ];
    let wrong = faults.map(|(what, scenario, spoil)| {
        let mut material = good.clone();
        spoil(&mut material);
        (what, scenario, material)
    });
    Ok(wrong.to_vec())
}

/// Checks that `prepare` fails, with a message that a terminal can show.
fn fails(bench: &mut Bench, scenario: &Scenario, material: Material) -> Result<(), String> {
    match bench.prepare(scenario, material) {
        Ok(ResponseBody::Unsupported { reason }) => bench.may_lack(scenario, true, &reason),
        Ok(ResponseBody::Failed(failure)) => {
            let shown = !failure.detail.chars().any(char::is_control);
            if shown && !failure.detail.is_empty() && failure.reason.is_of(failure.class) {
                Ok(())
            } else {
                Err(format!("{failure:?}"))
            }
        }
        other => Err(format!("it had to fail: {other:?}")),
    }
}

fn works(bench: &mut Bench, scenario: &Scenario) -> Result<(), String> {
    bench.must_begin(scenario)?;
    let sliced = bench.slice(SliceLimit::Operations(OPERATIONS), Clocks::Wall, 1)?;
    counted(scenario, OPERATIONS, &sliced)
}

/// Checks that no scenario is prepared.
fn refuses_turns(bench: &mut Bench, when: &str) -> Vec<String> {
    let turns = [
        RequestBody::Slice(Slice {
            limit: SliceLimit::Operations(1),
            clocks: Clocks::Wall,
            batch: 1,
        }),
        RequestBody::Hold(Hold { sessions: 2 }),
    ];
    let answers = turns.map(|turn| bench.ask(turn));
    let mut wrong = Vec::new();
    for answer in answers {
        if !matches!(answer, Err(WorkerError::Refused(_))) {
            wrong.push(format!("a turn {when}: {answer:?}"));
        }
    }
    wrong
}
