//! `netbench stacks`: lists the stacks, builds and checks their workers, and shows their ClientHellos.

pub(crate) mod args;
mod build;
mod check;
mod clean;
pub(crate) mod hello;
mod list;

use self::args::{Stacks, StacksCommand};
use crate::{
    exit::Ended,
    workers::{Program, known},
};

pub(crate) fn stacks(options: &Stacks) -> anyhow::Result<Ended> {
    match &options.command {
        None => list::list(&options.output),
        Some(StacksCommand::List(output)) => list::list(output),
        Some(StacksCommand::Build(options)) => build::build(options),
        Some(StacksCommand::Check(options)) => check::check(options),
        Some(StacksCommand::Clean(options)) => clean::clean(options),
        Some(StacksCommand::Hello(options)) => hello::hello(options),
    }
}

/// Returns the worker of a stack, or the programs of Servo.
fn programs_of(name: &str) -> anyhow::Result<Vec<Program>> {
    Ok(match name {
        Program::SERVO => vec![Program::servo(), Program::servo_openssl()],
        stack => vec![known(stack)?.program()],
    })
}

/// Returns the workers of `stacks` without repetitions. If `stacks` is empty, returns all workers
/// and the library that counts allocations.
fn programs(stacks: &[String]) -> anyhow::Result<Vec<Program>> {
    let wanted: Vec<Program> = if stacks.is_empty() {
        netbench_stacks::stacks()?.iter().map(Program::of).collect()
    } else {
        let programs = stacks.iter().map(|stack| programs_of(stack));
        let programs: Vec<Vec<Program>> = programs.collect::<anyhow::Result<_>>()?;
        programs.concat()
    };
    let library = stacks.is_empty().then(Program::heap_library);
    let mut programs: Vec<Program> = Vec::new();
    for program in wanted.into_iter().chain(library) {
        if !programs.iter().any(|other| other.is_built_with(&program)) {
            programs.push(program);
        }
    }
    Ok(programs)
}
