use netbench_model::{Condition, KeyType, Role, SetUpStep, StepCost};
use netbench_protocol::ResponseBody;
use netbench_runner::WorkerProgram;

use crate::{
    bench::{configure, connect, describe, start},
    cases,
    site::{HOST, OnlySite},
};

/// Makes `stack` execute the steps of its set-up before a connection to a separate site, and returns the errors.
pub(crate) fn run(program: &WorkerProgram, stack: &str) -> Result<Vec<String>, String> {
    let site = OnlySite::with_key(stack, KeyType::EcdsaP256)?;
    let mut server = start(program)?;
    let address = site.serve(&mut server, stack)?;
    let mut case = cases::good("");
    HOST.clone_into(&mut case.name);
    let mut client = start(program)?;
    let can = describe(&mut client, stack)?;
    cases::offer_only(&can, &mut case.client);
    configure(&mut client, stack, &case, &site.roots_pem)?;
    match connect(&mut client, &case, address, Condition::Cold, Role::Stepped)? {
        ResponseBody::Connected(measured) => {
            let steps = measured.process.map(|process| process.steps);
            Ok(judge(&steps.unwrap_or_default()))
        }
        other => Err(format!("a connection was due, not {other:?}")),
    }
}

fn judge(steps: &[StepCost]) -> Vec<String> {
    let mut wrong = Vec::new();
    let names: Vec<_> = steps.iter().map(|cost| cost.step).collect();
    // The step that is independent of the stack comes last, so the stack must have another step.
    if names.len() < 2 || names.last() != Some(&SetUpStep::Http) {
        wrong.push(format!(
            "steps with HTTP as the last were due, not {names:?}"
        ));
    }
    let untimed = steps
        .iter()
        .filter(|cost| cost.first.wall_ns == 0 || cost.again.wall_ns == 0);
    wrong.extend(untimed.map(|cost| format!("a step without its time: {cost:?}")));
    wrong
}
