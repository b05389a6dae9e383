//! The devices from which the forwarder receives packets and to which it sends them: one device
//! towards the client, one towards the servers.

mod packet;
mod tun;

use std::{io, os::fd::BorrowedFd};

pub(crate) use packet::{PacketDevice, take_drops};
pub(crate) use tun::TunDevice;

/// An MTU of 1500 and an Ethernet header, rounded up.
pub(crate) const FRAME_BYTES: usize = 1600;
/// Number of frames received or sent at a time.
pub(crate) const BATCH: usize = 64;

/// A packet with the device's own header, if it has one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Frame {
    buffer: Box<[u8; FRAME_BYTES]>,
    length: usize,
}

impl Frame {
    /// Returns the bytes as they were received.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// A frame and its arrival time, by the monotonic clock.
pub(crate) struct Arrival {
    pub(crate) frame: Frame,
    pub(crate) arrived_ns: u64,
}

/// A pool of frames for reuse.
#[derive(Default)]
pub(crate) struct Pool {
    free: Vec<Frame>,
}

impl Pool {
    /// The maximum number of frames that are kept, enough for a busy second; the rest is returned
    /// to the allocator.
    const KEPT: usize = 4096;

    /// Returns an empty frame.
    fn take(&mut self) -> Frame {
        let mut frame = self.free.pop().unwrap_or_else(|| Frame {
            buffer: Box::new([0; FRAME_BYTES]),
            length: 0,
        });
        frame.length = 0;
        frame
    }

    pub(crate) fn give(&mut self, frame: Frame) {
        if self.free.len() < Self::KEPT {
            self.free.push(frame);
        }
    }
}

/// A network device that transfers whole packets.
pub(crate) trait Device: Send {
    /// Returns the descriptor that becomes readable when a frame has arrived.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// Returns the number of bytes before the IP header.
    fn header_bytes(&self) -> usize;

    /// Receives up to [`BATCH`] frames that have arrived, without waiting.
    fn receive(&mut self, pool: &mut Pool, arrivals: &mut Vec<Arrival>) -> io::Result<()>;

    /// Sends frames, at most [`BATCH`], without waiting; returns the number of frames that the
    /// kernel refused.
    fn send(&mut self, frames: &[Frame]) -> u64;
}
