//! The outcomes of clients in cases: the one matrix of the reports about servers, certificate chains and trust stores.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::{self, Display},
    hash::Hash,
};

use itertools::Itertools;
use netbench_model::{Manifest, StackName, Standing, SwitchEffect, compat::Judgement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cell::Cell,
    document::{Check, CheckSuite, Checked, Filling},
    text::count,
};

/// The outcomes of clients in cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Matrix<C, K, A> {
    /// The clients, in the order of the cells.
    pub clients: Vec<K>,
    /// The cases.
    pub cases: Vec<MatrixCase<C, A>>,
}

/// A case, with the outcome of each client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CaseOf{C}")]
pub struct MatrixCase<C, A> {
    /// The case.
    #[serde(flatten)]
    pub case: C,
    /// One cell for each client, in their order; absent if the client was not tested.
    #[schemars(extend("x-names" = "/clients"))]
    pub cells: Vec<Option<A>>,
}

/// The outcome of a client in a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AttemptOf{R}")]
pub struct Attempt<R> {
    /// The outcome, with further results.
    #[serde(flatten)]
    pub result: R,
    /// The outcome compared with the correct one.
    pub judgement: Judgement,
}

/// Number of cases by judgement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Judgements(BTreeMap<Judgement, u32>);

/// The change for the user of a client with one stack in place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Switch {
    /// The stack.
    #[schemars(extend("x-key" = "other"))]
    pub stack: StackName,
    /// The first stack.
    pub in_place_of: StackName,
    /// The effect on a user; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<SwitchEffect>,
    /// The effect of a refusal.
    #[serde(default = "sound")]
    pub standing: Standing,
    /// The effect that the client's user sees.
    pub seen: String,
    /// The advice; absent if the change is an improvement.
    pub advice: Option<String>,
}

fn sound() -> Standing {
    Standing::Sound
}

/// A compared stack, and its library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedStack {
    /// The stack.
    pub stack: StackName,
    /// Its library.
    pub library: String,
}

impl<C, K, A> Matrix<C, K, A> {
    /// Returns the matrix of samples, each with its case and its client. If a client was tested twice in a case, the
    /// last sample counts.
    pub(crate) fn of<'a, S>(
        cases: impl IntoIterator<Item = C>,
        clients: &'a [K],
        samples: impl IntoIterator<Item = (&'a str, &'a K, S)>,
        name: impl Fn(&C) -> &str,
        cell: impl Fn(&C, &K, &S) -> A,
    ) -> Self
    where
        K: Clone + Eq + Hash,
    {
        let samples = samples.into_iter();
        let samples: HashMap<(&str, &K), S> = samples
            .map(|(case, client, sample)| ((case, client), sample))
            .collect();
        let cases = cases.into_iter().map(|case| MatrixCase {
            cells: clients
                .iter()
                .map(|client| {
                    let sample = samples.get(&(name(&case), client))?;
                    Some(cell(&case, client, sample))
                })
                .collect(),
            case,
        });
        Self {
            cases: cases.collect(),
            clients: clients.to_vec(),
        }
    }

    /// Returns every cell of a client that was tested.
    pub fn cells(&self) -> impl Iterator<Item = &A> {
        self.cases.iter().flat_map(|row| &row.cells).flatten()
    }

    /// Returns the warning about clients that were not tested: `3 tries were not made`.
    pub(crate) fn ended_early(&self, one: &str, more: &str, done: &str) -> Option<String> {
        let missing = self.cases.len() * self.clients.len() - self.cells().count();
        let cells = count(missing, one, more);
        (missing > 0).then(|| format!("{cells} not {done}: the run was ended early"))
    }

    /// Returns the outcome of each of the first clients in each case, after that of the very first one.
    pub(crate) fn beside_first(
        &self,
        clients: usize,
    ) -> impl Iterator<Item = (&C, [&K; 2], [&A; 2])> {
        self.cases.iter().flat_map(move |row| {
            let first = self.clients.first().zip(row.cell(0));
            let others = self.clients.iter().zip(&row.cells).take(clients).skip(1);
            others.filter_map(move |(client, cell)| {
                let (first, before) = first?;
                Some((&row.case, [first, client], [before, cell.as_ref()?]))
            })
        })
    }

    /// Returns the cases in which a client was tested, each with the outcome.
    pub fn column(&self, client: usize) -> impl Iterator<Item = (&C, &A)> {
        let cases = self.cases.iter();
        cases.filter_map(move |row| Some((&row.case, row.cell(client)?)))
    }

    /// Builds a suite for each of the first clients, with a check for each case.
    pub(crate) fn suites(
        &self,
        clients: usize,
        check: impl Fn(&C, &K, &A) -> Check,
    ) -> Vec<CheckSuite>
    where
        K: Display,
    {
        let clients = self.clients.iter().take(clients).enumerate();
        clients
            .map(|(number, client)| {
                let column = self.column(number);
                let checks = column.map(|(case, cell)| check(case, client, cell));
                CheckSuite::new(client.to_string(), checks)
            })
            .collect()
    }
}

impl<C, K, R> Matrix<C, K, Attempt<R>> {
    /// Returns the judgements of each client's outcomes.
    pub(crate) fn totals(&self) -> Vec<Judgements> {
        (0..self.clients.len())
            .map(|client| self.column(client).map(|(_, it)| it.judgement).collect())
            .collect()
    }
}

impl<C, A> MatrixCase<C, A> {
    /// Returns the outcome of a client.
    pub fn cell(&self, client: usize) -> Option<&A> {
        self.cells.get(client)?.as_ref()
    }
}

impl<R> Attempt<R> {
    /// Returns whether the client has a result.
    pub(crate) fn is_told(&self) -> bool {
        self.judgement != Judgement::Unsupported
    }

    /// Returns the outcome of the check; `why` gives the reason why it fails, or was not run.
    pub(crate) fn checked(&self, why: impl FnOnce() -> String) -> Checked {
        match self.judgement {
            Judgement::Right => Checked::Passed,
            Judgement::Unsupported => Checked::skipped(why()),
            judgement => Checked::failed(why(), judgement.name()),
        }
    }
}

impl<R: Display> Display for Attempt<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.result.fmt(f)
    }
}

impl Judgements {
    /// Returns the number of cases with a judgement.
    pub fn of(&self, judgement: Judgement) -> u32 {
        self.0.get(&judgement).copied().unwrap_or_default()
    }

    /// Returns the number of cases with a result.
    pub fn reported(&self) -> u32 {
        self.0.values().sum::<u32>() - self.of(Judgement::Unsupported)
    }

    /// Returns the number of cases with a result that is not right.
    pub fn wrong(&self) -> u32 {
        self.reported() - self.of(Judgement::Right)
    }

    /// Returns the number of cases that were accepted or rejected wrongly.
    pub(crate) fn misjudged(&self) -> u32 {
        self.of(Judgement::FalseAccept) + self.of(Judgement::FalseReject)
    }

    pub(crate) fn add(&mut self, judgement: Judgement) {
        *self.0.entry(judgement).or_default() += 1;
    }
}

impl FromIterator<Judgement> for Judgements {
    fn from_iter<T: IntoIterator<Item = Judgement>>(all: T) -> Self {
        let mut found = Self::default();
        for judgement in all {
            found.add(judgement);
        }
        found
    }
}

/// Returns the differences of the second stack with some effects.
pub(crate) fn of_second<'a, T: AsRef<Switch>>(
    differences: &'a [T],
    stacks: &[ComparedStack],
    is_wanted: impl Fn(SwitchEffect) -> bool,
) -> Vec<&'a T> {
    let second = stacks.get(1).map(|of| &of.stack);
    let differences = differences.iter();
    differences
        .filter(|found| Some(&found.as_ref().stack) == second)
        .filter(|found| found.as_ref().effect.is_some_and(&is_wanted))
        .collect()
}

impl ComparedStack {
    pub(crate) fn all<P>(stacks: &[StackName], run: &Manifest<P>) -> Vec<Self> {
        let stacks = stacks.iter().map(|stack| {
            let mut workers = run.workers.iter();
            let worker = workers.find(|worker| worker.stack == stack.stack());
            Self {
                stack: stack.clone(),
                library: worker.map_or_else(String::new, |worker| worker.library.clone()),
            }
        });
        stacks.collect()
    }

    pub(crate) fn libraries(stacks: &[Self]) -> String {
        let stacks = stacks.iter();
        stacks
            .map(|of| format!("{} is {}", of.stack, of.library))
            .join(", ")
    }
}

impl<C, A> Filling<&MatrixCase<C, A>> {
    pub(crate) fn clients<K: Display>(self, clients: &[K], cell: impl Fn(&A) -> Cell) -> Self {
        self.cols(clients, |row, client| row.cell(client).map(&cell))
    }
}
