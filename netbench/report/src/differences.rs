//! The sides of a comparison of runs, and their differences other than figures.

use std::iter::{once, repeat};

use itertools::Itertools;
use netbench_model::{Manifest, StackName, WorkerRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    document::{Item, Table},
    run::{about_stack, about_worker},
};

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// The run's name.
    #[schemars(extend("x-key" = "item"))]
    pub run: String,
    /// The stacks, with library and provider.
    pub stacks: Vec<(StackName, String)>,
}

/// A setting or a fact that differs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The name of the setting or fact.
    #[schemars(extend("x-key" = "item"))]
    pub what: String,
    /// The first side's value.
    pub first: String,
    /// The other side's value.
    pub other: String,
    /// Whether figures under both values may still be compared.
    pub harmless: bool,
}

impl Compared {
    /// Returns a run with some of its stacks, each with the additional property of its worker.
    pub(crate) fn of<'a, P>(
        run: &Manifest<P>,
        stacks: impl IntoIterator<Item = &'a StackName>,
        more: fn(&WorkerRecord) -> Option<&String>,
    ) -> Self {
        let stacks = stacks.into_iter();
        Self {
            run: run.name.clone(),
            stacks: stacks
                .map(|stack| (stack.clone(), about_stack(&run.workers, stack, more)))
                .collect(),
        }
    }
}

/// Returns the stacks that two runs are compared by: those that are named, or each that both have.
pub(crate) fn compared_stacks(
    first: &[StackName],
    other: &[StackName],
    named: Option<(&StackName, &StackName)>,
) -> Vec<(StackName, StackName)> {
    match named {
        Some((a, b)) => vec![(a.clone(), b.clone())],
        None => both(first, other)
            .map(|stack| (stack.clone(), stack.clone()))
            .collect(),
    }
}

/// Returns the first of some stacks with each of the others, which are compared with it.
pub(crate) fn against_first(
    stacks: &[StackName],
) -> impl Iterator<Item = (&StackName, &StackName)> {
    let first = stacks.first().into_iter();
    first.cartesian_product(stacks.iter().skip(1))
}

/// Returns the values that both have, in the order of the first.
pub(crate) fn both<'a, T: PartialEq>(
    first: &'a [T],
    other: &'a [T],
) -> impl Iterator<Item = &'a T> {
    first.iter().filter(|value| other.contains(value))
}

pub(crate) fn only<T: PartialEq + ToString>(these: &[T], those: &[T]) -> Vec<String> {
    let alone = these.iter().filter(|value| !those.contains(value));
    alone.map(ToString::to_string).collect()
}

/// Returns the values that only one has, those of the first before those of the other.
pub(crate) fn alone<T: PartialEq + ToString>(first: &[T], other: &[T]) -> Vec<String> {
    [only(first, other), only(other, first)].concat()
}

pub(crate) fn difference_items(heading: &str, differences: &[Difference]) -> Vec<Item> {
    Table::of(differences)
        .text("what", 0, |row| &row.what)
        .text("first", 0, |row| &row.first)
        .text("other", 0, |row| &row.other)
        .text(
            "",
            0,
            |row| if row.harmless { "" } else { "not comparable" },
        )
        .under(heading)
}

/// A known property of a run.
pub(crate) struct Fact {
    what: String,
    value: String,
    /// Whether figures may be compared if the fact differs.
    harmless: bool,
}

impl Fact {
    /// Returns facts by their names: those that change the meaning of figures, and those that a reader must know of.
    pub(crate) fn list<const D: usize, const H: usize, T: ToString>(
        decisive: [(T, String); D],
        harmless: [(T, String); H],
    ) -> impl Iterator<Item = Self> {
        let decisive = decisive.into_iter().zip(repeat(false));
        let harmless = harmless.into_iter().zip(repeat(true));
        decisive
            .chain(harmless)
            .map(|((what, value), harmless)| Self {
                what: what.to_string(),
                value,
                harmless,
            })
    }

    pub(crate) fn made_harmless(self) -> Self {
        Self {
            harmless: true,
            ..self
        }
    }
}

/// Returns the facts that differ. Facts that only one run has are left out: a stack that only one of them has is
/// not compared.
pub(crate) fn differing(firsts: Vec<Fact>, others: &[Fact]) -> Vec<Difference> {
    let differing = firsts.into_iter().filter_map(|first| {
        let other = others.iter().find(|other| other.what == first.what)?;
        (first.value != other.value).then(|| Difference {
            what: first.what,
            first: first.value,
            other: other.value.clone(),
            harmless: first.harmless,
        })
    });
    differing.collect()
}

/// Returns the facts of every kind of run: the machine, netbench itself, and the workers.
pub(crate) fn of_machine<P>(run: &Manifest<P>) -> Vec<Fact> {
    let machine = &run.environment;
    let [kernel, governor, cpu_model, cores, cpu_flags] =
        ["kernel", "governor", "cpu_model", "cores", "cpu_flags"]
            .map(|name| (name, machine.facts.get(name).cloned().unwrap_or_default()));
    let harmless = [
        kernel,
        governor,
        ("netbench", run.netbench.clone()),
        ("variables", format!("{:?}", machine.variables)),
    ];
    let facts = Fact::list([cpu_model, cores, cpu_flags], harmless);
    let workers = run.workers.iter().flat_map(|worker| {
        let library = about_worker(worker, None);
        let build = worker.build.iter();
        let build = build.map(|(name, value)| (format!("{}, {name}", worker.stack), value.clone()));
        once((worker.stack.clone(), library)).chain(build)
    });
    let workers = workers.flat_map(|fact| Fact::list([], [fact]));
    facts.chain(workers).collect()
}
