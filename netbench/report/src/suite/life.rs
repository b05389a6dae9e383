//! Memory over the life of a connection.

use itertools::Itertools;
use netbench_model::{Case, HeldAfter, Measure, Scenario, StackName, SuiteSample, Unit, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CaseRow, SuiteSummary, figures::measured};
use crate::{
    cell::Cell,
    document::{Chart, Drawing, Item, Line, Lines, Table},
    row::Named,
};

/// The memory of one stack's sessions in each state of their life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionLife {
    /// The sessions, by the name of the scenario of the first state.
    #[schemars(extend("x-key" = "item"))]
    pub sessions: String,
    /// The stack.
    #[schemars(extend("x-key" = "first"))]
    pub stack: StackName,
    /// The library's function that released the buffers of idle sessions, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_by: Option<String>,
    /// The states in their order.
    pub states: Vec<StateOfLife>,
}

/// The memory of a session in one state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateOfLife {
    /// The state.
    #[schemars(extend("x-key" = "condition"))]
    pub after: HeldAfter,
    /// Heap that a client's session holds; absent if allocations were not counted.
    pub client_bytes: Option<f64>,
    /// Heap that a server's session holds; absent if allocations were not counted.
    pub server_bytes: Option<f64>,
    /// Resident size that a session adds: half of a client's and a server's together.
    pub resident_bytes: Option<f64>,
}

/// Returns the lives of all sessions that were held in more than one state.
pub(super) fn lives(cases: &[CaseRow], samples: &[SuiteSample]) -> Vec<ConnectionLife> {
    let scenarios = cases.iter().map(|case| case.case.scenario).unique();
    let first = scenarios.filter(|scenario| state(scenario) == Some(HeldAfter::Handshake));
    let lives = first.flat_map(|scenario| {
        let stacks = cases.iter().flat_map(|case| &case.stacks);
        let stacks = stacks.map(|figures| &figures.stack).unique();
        stacks.filter_map(move |stack| life(cases, samples, &scenario, stack))
    });
    lives.collect()
}

fn life(
    cases: &[CaseRow],
    samples: &[SuiteSample],
    first: &Scenario,
    stack: &StackName,
) -> Option<ConnectionLife> {
    let states = HeldAfter::ALL
        .iter()
        .map(|after| (*after, held(first, *after)));
    let found = states.clone().map(|(after, scenario)| StateOfLife {
        after,
        client_bytes: low(cases, scenario, Measure::HeapOfClient, stack),
        server_bytes: low(cases, scenario, Measure::HeapOfServer, stack),
        resident_bytes: low(cases, scenario, Measure::PerSession, stack),
    });
    let found = found.filter(|state| {
        let of_sides = state.client_bytes.or(state.server_bytes);
        of_sides.or(state.resident_bytes).is_some()
    });
    let found = found.collect_vec();
    let released_by = states.clone().find_map(|(_, scenario)| {
        let held = measured(scenario, stack, samples).find_map(|(_, m)| m.held.as_ref());
        held?.released_by.clone()
    });
    (found.len() > 1).then(|| ConnectionLife {
        sessions: first.to_string(),
        stack: stack.clone(),
        released_by,
        states: found,
    })
}

fn state(scenario: &Scenario) -> Option<HeldAfter> {
    match scenario.work {
        Work::Memory { after, .. } => Some(after),
        _ => None,
    }
}

/// Returns the scenario of the same sessions in another state.
fn held(of: &Scenario, in_state: HeldAfter) -> Scenario {
    let mut scenario = *of;
    if let Work::Memory { after, .. } = &mut scenario.work {
        *after = in_state;
    }
    scenario
}

fn low(cases: &[CaseRow], scenario: Scenario, measure: Measure, stack: &StackName) -> Option<f64> {
    let case = Case { scenario, measure };
    let row = cases.iter().find(|row| row.case == case)?;
    Some(row.of(stack)?.low)
}

pub(super) fn items(summary: &SuiteSummary) -> Vec<Item> {
    let lives = &summary.lives;
    let mut items = Vec::new();
    for (sessions, lives) in &lives.iter().chunk_by(|life| &life.sessions) {
        items.extend(chart(sessions, &lives.collect_vec()).map(|chart| Item::Charts(vec![chart])));
    }
    let states = lives
        .iter()
        .flat_map(|life| life.states.iter().map(move |state| (life, state)));
    let table = Table::of(states)
        .text("sessions", 0, |(life, _)| &life.sessions)
        .text("stack", 0, |(life, _)| &life.stack)
        .text("after", 0, |(_, state)| state.after)
        .bytes("client", 0, |(_, state)| state.client_bytes)
        .bytes("server", 0, |(_, state)| state.server_bytes)
        .bytes("resident", 1, |(_, state)| state.resident_bytes)
        .col("released by", 1, |(life, state)| {
            let released_by = life.released_by.as_ref();
            (state.after == HeldAfter::Idle).then(|| Cell::maybe(released_by))
        });
    let title = "Memory over the life of a connection";
    let mut table = table.explained(
        title,
        "Heap of one session of a client and of a server. Handshake: the handshake is done, without tickets. Tickets: the client \
         has read them. Data: 16 KiB have gone in each direction. Idle: the side has then called its library's function \
         that releases buffers; a library without one releases them itself, or keeps them. Resident: what a session adds to the \
         process, half of a client and a server together.",
    );
    table.extend(items);
    table
}

/// Draws the client's and the server's heap of each stack, if allocations were counted.
fn chart(sessions: &str, lives: &[&ConnectionLife]) -> Option<Chart> {
    let states = HeldAfter::ALL.iter().copied();
    let states = states.filter(|after| {
        let mut found = lives.iter().flat_map(|life| &life.states);
        found.any(|state| state.after == *after)
    });
    let states = states.collect_vec();
    let sides: [Named<StateOfLife, Option<f64>>; 2] = [
        ("client", |state| state.client_bytes),
        ("server", |state| state.server_bytes),
    ];
    let lines = lives.iter().cartesian_product(sides);
    let lines = lines.map(|(life, (side, bytes))| {
        let values = states.iter().map(|after| {
            let mut all = life.states.iter();
            bytes(all.find(|state| state.after == *after)?)
        });
        Line {
            name: format!("{} {side}", life.stack),
            values: values.collect(),
        }
    });
    let lines = lines.filter(|line| line.values.iter().flatten().count() > 1);
    let lines = lines.collect_vec();
    (!lines.is_empty()).then(|| Chart {
        title: "Heap of a session over its life: less is better".to_owned(),
        note: format!(
            "{sessions}. Medians over rounds, each in a fresh process that counts allocations."
        ),
        drawing: Drawing::Lines(Lines {
            places: states.iter().map(ToString::to_string).collect(),
            lines,
            unit: Unit::Bytes,
        }),
    })
}
