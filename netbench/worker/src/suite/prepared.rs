use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use netbench_model::{
    FailureWord, HandshakeKind, Held, Measure, Negotiated, ParallelWork, RootsForm, Work,
};
use netbench_protocol::{Hold, Material, Prepare, Prepared, Slice, SliceLimit, Sliced};

use super::{
    EndpointSetup, EndpointSide, InMemory, SessionError, alone::Alone, bulk::Bulk,
    handshake::Handshakes, hold, threads::Threads,
};
use crate::{SetupError, Stack};

/// The most sessions that are held at once.
const MOST_SESSIONS: u32 = 1_000_000;

/// The most bytes of one write.
const MOST_WRITE: u32 = 64 << 20;

/// The most threads.
const MOST_THREADS: u16 = 1_024;

/// A scenario that works.
pub(crate) struct PreparedScenario {
    running: Running,
}

enum Running {
    Handshakes(Handshakes),
    Bulk(Bulk),
    Alone(Alone),
    Threads(Threads),
}

/// A scenario that does not.
#[derive(Debug)]
pub(crate) enum PrepareError {
    Setup(SetupError),
    Session(SessionError),
}

impl From<SetupError> for PrepareError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl From<SessionError> for PrepareError {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

impl PreparedScenario {
    /// Makes configurations and runs the scenario once.
    pub(crate) fn prepare(
        holder: &Arc<dyn Stack>,
        request: &Prepare,
    ) -> Result<(Self, Prepared), PrepareError> {
        let stack: &dyn InMemory = holder
            .in_memory()
            .ok_or_else(|| not_in_memory(holder.name()))?;
        let material = &request.material;
        let handshakes = |settings, kind, fragment| {
            let setup = |side| EndpointSetup {
                side,
                settings,
                kind,
                max_fragment_bytes: fragment,
                material,
            };
            let client = stack.endpoint(&setup(EndpointSide::Client))?;
            let server = stack.endpoint(&setup(EndpointSide::Server))?;
            Ok::<_, PrepareError>(Handshakes::new(client, server))
        };
        within_bounds(&request.scenario.work)?;
        let mut prepared = Prepared::default();
        let running = match &request.scenario.work {
            Work::Handshake { kind, settings } => {
                let mut made = handshakes(settings, *kind, None)?;
                prepared = agreed(&mut made, *kind)?;
                Running::Handshakes(made)
            }
            Work::Memory { settings, .. } => {
                let mut made = handshakes(settings, HandshakeKind::Full, None)?;
                prepared = agreed(&mut made, HandshakeKind::Full)?;
                Running::Handshakes(made)
            }
            Work::Bulk {
                settings,
                write_bytes,
                amount_bytes,
                max_fragment_bytes,
            } => {
                let mut made = handshakes(settings, HandshakeKind::Full, *max_fragment_bytes)?;
                prepared = agreed(&mut made, HandshakeKind::Full)?;
                Running::Bulk(Bulk::new(made, *write_bytes, *amount_bytes)?)
            }
            Work::Threads {
                threads,
                work,
                settings,
            } => {
                let kind = match work {
                    ParallelWork::Handshake(kind) => *kind,
                    ParallelWork::Bulk => HandshakeKind::Full,
                };
                let mut made = handshakes(settings, kind, None)?;
                prepared = agreed(&mut made, kind)?;
                Running::Threads(Threads::new(made, *threads, *work))
            }
            Work::Verify { .. } => Running::Alone(Alone::verify(stack, material)?),
            Work::Connector { form, .. } => {
                Running::Alone(Alone::connector(holder, *form, material)?)
            }
        };
        Ok((Self { running }, prepared))
    }

    /// Runs it for one turn.
    pub(crate) fn slice(&mut self, slice: Slice) -> Result<Sliced, SessionError> {
        let mut turn = Turn::new(slice);
        match &mut self.running {
            Running::Handshakes(handshakes) => handshakes.slice(&mut turn)?,
            Running::Bulk(bulk) => bulk.slice(&mut turn)?,
            Running::Alone(alone) => alone.slice(&mut turn)?,
            Running::Threads(threads) => return threads.slice(slice),
        }
        Ok(turn.sliced)
    }

    /// Makes many sessions and holds them.
    pub(crate) fn hold(&mut self, hold: Hold) -> Result<Held, SessionError> {
        match &self.running {
            Running::Handshakes(_) if hold.sessions > MOST_SESSIONS => Err(SessionError::new(
                FailureWord::Hold,
                format!("at most {MOST_SESSIONS} sessions"),
            )),
            Running::Handshakes(handshakes) => hold::hold(handshakes, hold.sessions),
            _ => Err(SessionError::new(
                FailureWord::Hold,
                "the scenario has no sessions",
            )),
        }
    }
}

/// Refuses what would take all of a machine's memory or threads.
fn within_bounds(work: &Work) -> Result<(), SetupError> {
    let refused = |most: &str| Err(SetupError::Refused(format!("at most {most}")));
    match work {
        Work::Bulk { write_bytes, .. } if *write_bytes > MOST_WRITE => {
            refused(&format!("{MOST_WRITE} bytes in a write"))
        }
        Work::Threads { threads, .. } if *threads > MOST_THREADS => {
            refused(&format!("{MOST_THREADS} threads"))
        }
        _ => Ok(()),
    }
}

/// The first handshake, and what was agreed in it. Where later ones are to be resumed, one of those
/// is made as well, and what it agreed is given.
fn agreed(handshakes: &mut Handshakes, kind: HandshakeKind) -> Result<Prepared, SessionError> {
    let mut pair = handshakes.one()?;
    if kind != HandshakeKind::Full {
        pair = handshakes.one()?;
    }
    let both: [Negotiated; 2] = [pair.client.negotiated(), pair.server.negotiated()];
    let [client, server] = both.map(Some);
    Ok(Prepared { client, server })
}

/// A turn that is under way.
pub(crate) struct Turn {
    pub(crate) slice: Slice,
    pub(crate) sliced: Sliced,
    begun: Instant,
}

impl Turn {
    fn new(slice: Slice) -> Self {
        Self {
            slice,
            sliced: Sliced::default(),
            begun: Instant::now(),
        }
    }

    /// Whether another operation belongs to it. There is always a first.
    pub(crate) fn goes_on(&self) -> bool {
        let done = self.sliced.operations;
        match self.slice.limit {
            SliceLimit::Operations(wanted) => done < wanted,
            SliceLimit::Microseconds(us) => {
                done == 0 || self.begun.elapsed() < Duration::from_micros(us)
            }
        }
    }

    /// Keeps the timings of one operation.
    pub(crate) fn keep<const N: usize>(&mut self, timings: [(Measure, u64); N]) {
        self.sliced.operations += 1;
        keep(&mut self.sliced.timings_ns, timings);
    }
}

pub(crate) fn keep<const N: usize>(
    kept: &mut BTreeMap<Measure, Vec<u64>>,
    timings: [(Measure, u64); N],
) {
    for (measure, ns) in timings {
        kept.entry(measure).or_default().push(ns);
    }
}

pub(crate) fn not_in_memory(stack: &str) -> SetupError {
    SetupError::Unsupported(format!("the worker of {stack} has no sessions in memory"))
}

/// The form of roots that a material holds.
pub(crate) fn needs_file(form: RootsForm, material: &Material) -> Result<&str, SetupError> {
    match (&material.native_path, form) {
        (Some(path), RootsForm::Native) => Ok(path),
        _ => Err(SetupError::Unsupported(
            "this system has no bundle of trust roots".to_owned(),
        )),
    }
}
