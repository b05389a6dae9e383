use std::sync::Arc;

use netbench_protocol::{Hold, Material, Prepare, Prepared, Slice, Sliced};
use netbench_tls::{
    FailureWord, HandshakeKind, HeapState, Held, HeldAfter, Negotiated, ParallelWork, Primitive,
    SessionSettings, SignatureScheme, Work,
};

use super::{
    EndpointSetup, EndpointSide, InMemory, SessionError,
    alone::{Alone, VerifiedChain},
    bulk::Bulk,
    error::{PrepareError, not_in_memory},
    handshake::Handshakes,
    hold,
    meter::netbench_turn,
    reference::Reference,
    threads::{ThreadWork, Threads},
    turn::Turn,
};
use crate::{
    SetupError, Stack,
    layout::{self, settle_heap},
};

/// Maximum number of sessions that are held at once.
const MOST_SESSIONS: u32 = 1_000_000;

/// Maximum size of one write, in bytes.
const MOST_WRITE: u32 = 64 << 20;

/// Maximum number of threads.
const MOST_THREADS: u16 = 1_024;

/// A scenario that has run once.
pub(crate) struct PreparedScenario {
    running: Running,
    reference: Reference,
}

enum Running {
    Handshakes(Handshakes),
    Held(Handshakes, HeldAfter),
    Bulk(Bulk),
    Alone(Alone),
    Threads(Threads),
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
        let sides = Sides { stack, material };
        within_bounds(&request.scenario.work)?;
        has_key(holder.as_ref(), &request.scenario.work)?;
        // A measurement of memory would count the memory that the allocator keeps.
        let wants_new_heap = matches!(
            request.scenario.work,
            Work::Memory { .. }
                | Work::Bulk {
                    heap: HeapState::Young,
                    ..
                }
        );
        if !wants_new_heap {
            settle_heap(layout::seed());
        }
        let mut prepared = Prepared::default();
        let timing = request.scenario.timing;
        let running = match &request.scenario.work {
            Work::Handshake { kind, settings } => {
                let mut made = sides.handshakes(settings, [*kind; 2], None)?;
                prepared = agreed(&mut made, *kind)?;
                made.timing = timing;
                Running::Handshakes(made)
            }
            Work::Memory {
                settings, after, ..
            } => {
                // A client that keeps no session takes a full handshake each time, whatever the server gives it.
                let server = if after.has_tickets(settings.version) {
                    HandshakeKind::Ticket
                } else {
                    HandshakeKind::Full
                };
                let mut made = sides.handshakes(settings, [HandshakeKind::Full, server], None)?;
                prepared = agreed(&mut made, HandshakeKind::Full)?;
                if after.has_tickets(settings.version)
                    && hold::hold(&made, 2, *after)?.ticket_bytes == 0
                {
                    let why = "its server gives no ticket to a client that keeps no session";
                    return Err(SetupError::unsupported(why).into());
                }
                Running::Held(made, *after)
            }
            Work::Bulk {
                settings,
                write_bytes,
                amount_bytes,
                max_fragment_bytes,
                heap: _,
            } => {
                let mut made =
                    sides.handshakes(settings, [HandshakeKind::Full; 2], *max_fragment_bytes)?;
                prepared = agreed(&mut made, HandshakeKind::Full)?;
                Running::Bulk(Bulk::new(made, *write_bytes, *amount_bytes, timing)?)
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
                let mut made = sides.handshakes(settings, [kind; 2], None)?;
                prepared = agreed(&mut made, kind)?;
                let work = match work {
                    ParallelWork::Handshake(_) => ThreadWork::Handshakes(made),
                    ParallelWork::Bulk => ThreadWork::Bulk(made),
                };
                Running::Threads(Threads::new(work, *threads))
            }
            Work::ParallelVerify { threads, .. } => {
                let work = ThreadWork::Verify(VerifiedChain::new(stack, material)?);
                Running::Threads(Threads::new(work, *threads))
            }
            Work::Verify { .. } => Running::Alone(Alone::verify(stack, material)?),
            Work::Crypto { primitive } => {
                Running::Alone(Alone::primitive(stack, *primitive, material)?)
            }
            Work::Connector { form, .. } => {
                Running::Alone(Alone::connector(holder, *form, material)?)
            }
        };
        if matches!(running, Running::Handshakes(_) | Running::Bulk(_)) {
            prepared.timing = timing;
        }
        let reference = Reference::new();
        Ok((Self { running, reference }, prepared))
    }

    /// Runs the scenario for one turn.
    pub(crate) fn slice(&mut self, slice: Slice) -> Result<Sliced, SessionError> {
        netbench_turn();
        let mut turn = Turn::new(slice, &mut self.reference);
        match &mut self.running {
            Running::Handshakes(handshakes) | Running::Held(handshakes, _) => {
                handshakes.slice(&mut turn)?;
            }
            Running::Bulk(bulk) => bulk.slice(&mut turn)?,
            Running::Alone(alone) => alone.slice(&mut turn)?,
            Running::Threads(threads) => return threads.slice(slice),
        }
        Ok(turn.end())
    }

    /// Makes many sessions and holds them.
    pub(crate) fn hold(&mut self, hold: Hold) -> Result<Held, SessionError> {
        let (handshakes, after) = match &self.running {
            Running::Handshakes(handshakes) => (handshakes, HeldAfter::Handshake),
            Running::Held(handshakes, after) => (handshakes, *after),
            Running::Bulk(_) | Running::Alone(_) | Running::Threads(_) => {
                let why = "the scenario has no sessions";
                return Err(SessionError::new(FailureWord::Hold, why));
            }
        };
        if hold.sessions > MOST_SESSIONS {
            let why = format!("at most {MOST_SESSIONS} sessions");
            return Err(SessionError::new(FailureWord::Hold, why));
        }
        hold::hold(handshakes, hold.sessions, after)
    }
}

/// Refuses work with keys of ML-DSA where the stack does not have them.
fn has_key(stack: &dyn Stack, work: &Work) -> Result<(), SetupError> {
    let key = match work {
        Work::Verify { key, .. }
        | Work::ParallelVerify { key, .. }
        | Work::Crypto {
            primitive: Primitive::Sign { key } | Primitive::Verify { key },
        } => *key,
        Work::Handshake { settings, .. }
        | Work::Bulk { settings, .. }
        | Work::Memory { settings, .. }
        | Work::Threads { settings, .. } => settings.key,
        Work::Connector { .. } | Work::Crypto { .. } => return Ok(()),
    };
    let mut schemes = key.schemes().iter();
    let Some(scheme) = schemes.find(|scheme| SignatureScheme::ML_DSA.contains(scheme)) else {
        return Ok(());
    };
    let description = stack.describe();
    if description.signatures.contains(scheme) {
        return Ok(());
    }
    // Either may be what lacks it.
    let record = description.record;
    let library = match record.provider {
        Some(provider) => format!("{} with {provider}", record.library),
        None => record.library,
    };
    Err(SetupError::Unsupported(format!("no {scheme} in {library}")))
}

/// The library of both sides, and their certificates.
struct Sides<'a> {
    stack: &'a dyn InMemory,
    material: &'a Material,
}

impl Sides<'_> {
    /// Makes the configurations of the client and of the server, each with its kind of handshake.
    fn handshakes(
        &self,
        settings: &SessionSettings,
        [client, server]: [HandshakeKind; 2],
        max_fragment_bytes: Option<u16>,
    ) -> Result<Handshakes, SetupError> {
        let client = EndpointSetup {
            side: EndpointSide::Client,
            settings,
            kind: client,
            max_fragment_bytes,
            material: self.material,
        };
        let server = EndpointSetup {
            side: EndpointSide::Server,
            kind: server,
            ..client
        };
        Ok(Handshakes::new(
            self.stack.endpoint(&client)?,
            self.stack.endpoint(&server)?,
        ))
    }
}

/// Refuses work that would use all of a machine's memory or threads.
fn within_bounds(work: &Work) -> Result<(), SetupError> {
    let most = match work {
        Work::Bulk { write_bytes, .. } if *write_bytes > MOST_WRITE => {
            format!("{MOST_WRITE} bytes in a write")
        }
        Work::Threads { threads, .. } | Work::ParallelVerify { threads, .. }
            if *threads > MOST_THREADS =>
        {
            format!("{MOST_THREADS} threads")
        }
        _ => return Ok(()),
    };
    Err(SetupError::Refused(format!("at most {most}")))
}

/// Performs the first handshake and returns its negotiated parameters. For a resumption scenario, performs and returns
/// a resumed handshake too.
fn agreed(handshakes: &mut Handshakes, kind: HandshakeKind) -> Result<Prepared, SessionError> {
    let mut pair = handshakes.one()?;
    if kind != HandshakeKind::Full {
        pair = handshakes.one()?;
    }
    let both: [Negotiated; 2] = [pair.client.negotiated(), pair.server.negotiated()];
    let [client, server] = both.map(Some);
    Ok(Prepared {
        client,
        server,
        ..Prepared::default()
    })
}
