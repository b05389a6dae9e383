//! Differences between two runs other than their figures.

use netbench_model::Manifest;

use crate::Difference;

/// A known property of a run.
pub(crate) struct Fact {
    what: String,
    value: String,
    /// Whether figures may be compared if the fact differs.
    harmless: bool,
}

impl Fact {
    /// Returns a fact that changes the meaning of figures.
    pub(crate) fn decisive(what: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            value: value.into(),
            harmless: false,
        }
    }

    /// Returns a fact that a reader must know of.
    pub(crate) fn harmless(what: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            harmless: true,
            ..Self::decisive(what, value)
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
    let fact = |name: &str| machine.facts.get(name).cloned().unwrap_or_default();
    let mut facts = Vec::new();
    facts.extend(["cpu_model", "cores", "cpu_flags"].map(|name| Fact::decisive(name, fact(name))));
    facts.extend(["kernel", "governor"].map(|name| Fact::harmless(name, fact(name))));
    facts.push(Fact::harmless("netbench", run.netbench.clone()));
    facts.push(Fact::harmless(
        "variables",
        format!("{:?}", machine.variables),
    ));
    for worker in &run.workers {
        let library = format!("{} {:?}", worker.library, worker.provider);
        facts.push(Fact::harmless(worker.stack.clone(), library));
        let build = worker.build.iter();
        facts.extend(build.map(|(name, value)| {
            Fact::harmless(format!("{}, {name}", worker.stack), value.clone())
        }));
    }
    facts
}
