use std::fs;

use netbench_protocol::Clocks;
use netbench_tls::{FailureWord, HeapUse, Held, HeldAfter, Timing};

use super::{
    HandshakeState, Session, SessionError, failed,
    handshake::Handshakes,
    pair::{Pair, Wires},
};
use crate::heap;

/// One pair in the course of its handshake, with data that one side has written and the other has not read.
struct Held1 {
    client: Box<dyn Session>,
    server: Box<dyn Session>,
    states: [HandshakeState; 2],
    wires: Wires,
    /// The bytes that the client received after its handshake.
    ticket_bytes: u64,
}

/// Takes half as many pairs as `sessions` through the handshake in lock step (every client's flight,
/// then every server's, and so on) to the state in which they are to be held, and returns what holding them takes.
pub(crate) fn hold(
    handshakes: &Handshakes,
    sessions: u32,
    after: HeldAfter,
) -> Result<Held, SessionError> {
    // Buffers of the harness that came and went with each pair would leave holes in the heap.
    let data = vec![0x2e; HeldAfter::DATA_BYTES];
    let mut plaintext = vec![1; HeldAfter::DATA_BYTES];
    let mut wires = Wires::default();
    let (client, server) = (handshakes.client.as_ref(), handshakes.server.as_ref());
    // The first handshake causes the library's one-time allocations.
    drop(Pair::handshake(
        client,
        server,
        &mut Wires::default(),
        Clocks::Wall,
        Timing::Whole,
    )?);
    let before_bytes = resident()?;
    heap::reset_peak();
    let heap_before = heap::counts();
    let mut pairs: Vec<Held1> = Vec::with_capacity(sessions as usize / 2);
    for _ in 0..sessions / 2 {
        pairs.push(Held1 {
            client: client.session()?,
            server: server.session()?,
            states: [HandshakeState::Going; 2],
            wires: Wires::default(),
            ticket_bytes: 0,
        });
    }
    while pairs
        .iter()
        .any(|pair| pair.states != [HandshakeState::Done; 2] || !pair.wires.to_client.is_empty())
    {
        let mut moved = false;
        for pair in &mut pairs {
            moved |= pair.client_step()?;
        }
        for pair in &mut pairs {
            moved |= pair.server_step()?;
            // Tickets are read at once: a buffer of tickets for each pair would leave a hole in the heap for each.
            if pair.states[0] == HandshakeState::Done {
                moved |= pair.client_step()?;
            }
        }
        if !moved {
            let why = "the two sides wait for one another";
            return Err(SessionError::new(FailureWord::Handshake, why));
        }
    }
    let mut received_bytes = [0; 2];
    for pair in &mut pairs {
        pair.wires = Wires::default();
        if matches!(after, HeldAfter::Data | HeldAfter::Idle) {
            let received = pair.exchange(&data, &mut plaintext, &mut wires)?;
            for (all, of_side) in received_bytes.iter_mut().zip(received) {
                *all += of_side;
            }
        }
    }
    let mut released_by = None;
    if after == HeldAfter::Idle {
        for pair in &mut pairs {
            for side in [&mut pair.client, &mut pair.server] {
                released_by = side.release_buffers()?;
            }
        }
    }
    let [client_data_bytes, server_data_bytes] = received_bytes;
    let ticket_bytes = pairs.iter().map(|pair| pair.ticket_bytes).sum();
    let heap_after = heap::counts();
    let after_bytes = resident()?;
    // The kernel computes the peak from counters that lag slightly.
    let peak_bytes = peak()?.max(after_bytes);
    let [client_bytes, server_bytes] = drop_by_side(pairs);
    let heap = heap_before.zip(heap_after).map(|(before, after)| HeapUse {
        allocations: after.allocations.saturating_sub(before.allocations),
        held_bytes: after.bytes_in_use.saturating_sub(before.bytes_in_use),
        peak_bytes: after.peak_bytes.saturating_sub(before.bytes_in_use),
        client_bytes,
        server_bytes,
    });
    Ok(Held {
        sessions: sessions / 2 * 2,
        peak_bytes,
        before_bytes,
        after_bytes,
        ticket_bytes,
        client_data_bytes,
        server_data_bytes,
        released_by: released_by.map(str::to_owned),
        heap,
    })
}

/// Drops all clients, then all servers, and returns the bytes that each group returned to the heap, or `None` if
/// allocations are not counted.
fn drop_by_side(pairs: Vec<Held1>) -> [Option<u64>; 2] {
    let sides = pairs.into_iter().map(|pair| (pair.client, pair.server));
    let (clients, servers): (Vec<_>, Vec<_>) = sides.unzip();
    [clients, servers].map(|mut sessions: Vec<Box<dyn Session>>| {
        let before = heap::counts();
        // The list of the harness is kept.
        sessions.clear();
        let freed = before
            .zip(heap::counts())
            .map(|(before, after)| before.bytes_in_use.saturating_sub(after.bytes_in_use));
        drop(sessions);
        freed
    })
}

impl Held1 {
    fn client_step(&mut self) -> Result<bool, SessionError> {
        let Wires {
            to_server,
            to_client,
        } = &mut self.wires;
        let begun = to_client.is_empty();
        if begun && self.states != [HandshakeState::Going; 2] || !to_server.is_empty() {
            return Ok(false);
        }
        if self.states[0] == HandshakeState::Done {
            self.ticket_bytes += to_client.len() as u64;
            self.client.receive(to_client, &mut [0; 64])?;
        } else {
            self.states[0] = self.client.handshake(to_client, to_server)?;
        }
        *to_client = Vec::new();
        to_server.shrink_to_fit();
        Ok(true)
    }

    /// Sends data from the client to the server and from there back, and returns the bytes that client and server received.
    fn exchange(
        &mut self,
        data: &[u8],
        plaintext: &mut [u8],
        wires: &mut Wires,
    ) -> Result<[u64; 2], SessionError> {
        self.client.send(data, &mut wires.to_server)?;
        let at_server = self.server.receive(&mut wires.to_server, plaintext)?;
        self.server.send(data, &mut wires.to_client)?;
        let at_client = self.client.receive(&mut wires.to_client, plaintext)?;
        Ok([at_client as u64, at_server as u64])
    }

    fn server_step(&mut self) -> Result<bool, SessionError> {
        let Wires {
            to_server,
            to_client,
        } = &mut self.wires;
        if to_server.is_empty() {
            return Ok(false);
        }
        self.states[1] = self.server.handshake(to_server, to_client)?;
        *to_server = Vec::new();
        to_client.shrink_to_fit();
        Ok(true)
    }
}

/// Returns the size in `smaps_rollup`, which the kernel sums page by page. Counters per thread may be wrong by a quarter
/// of a megabyte.
fn resident() -> Result<u64, SessionError> {
    kib("/proc/self/smaps_rollup", "Rss:")
        .or_else(|| kib("/proc/self/status", "VmRSS:"))
        .ok_or("the kernel does not tell the resident size")
        .map_err(failed(FailureWord::Memory))
}

fn peak() -> Result<u64, SessionError> {
    kib("/proc/self/status", "VmHWM:")
        .ok_or("the kernel does not tell the peak size")
        .map_err(failed(FailureWord::Memory))
}

fn kib(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
