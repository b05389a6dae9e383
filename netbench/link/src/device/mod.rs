//! Where the forwarder gets packets from and puts them: one device towards the client, one
//! towards the servers.

mod packet;
mod tun;

use std::{io, os::fd::BorrowedFd};

pub(crate) use packet::{PacketDevice, take_drops};
pub(crate) use tun::TunDevice;

/// An MTU of 1500 and an Ethernet header, rounded up.
pub(crate) const FRAME_BYTES: usize = 1600;
/// Frames received or sent at one go.
pub(crate) const BATCH: usize = 64;

/// A packet with the device's own header, if it has one.
pub(crate) struct Frame {
    buffer: Box<[u8; FRAME_BYTES]>,
    length: usize,
}

impl Frame {
    /// The bytes as they came.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// A frame and when it came, by the monotonic clock.
pub(crate) struct Arrival {
    pub(crate) frame: Frame,
    pub(crate) arrived_ns: u64,
}

/// Frames to use again.
#[derive(Default)]
pub(crate) struct Pool {
    free: Vec<Frame>,
}

impl Pool {
    /// What a busy second leaves lying about; more is given back to the allocator.
    const KEPT: usize = 4096;

    /// A frame of no bytes.
    fn take(&mut self) -> Frame {
        let mut frame = self.free.pop().unwrap_or_else(|| Frame {
            buffer: Box::new([0; FRAME_BYTES]),
            length: 0,
        });
        frame.length = 0;
        frame
    }

    /// Takes a frame back.
    pub(crate) fn give(&mut self, frame: Frame) {
        if self.free.len() < Self::KEPT {
            self.free.push(frame);
        }
    }
}

/// A network device that hands over whole packets.
pub(crate) trait Device: Send {
    /// What becomes readable when a frame has come.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// Bytes before the IP header.
    fn header_bytes(&self) -> usize;

    /// Takes up to [`BATCH`] frames that have come, without waiting.
    fn receive(&mut self, pool: &mut Pool, arrivals: &mut Vec<Arrival>) -> io::Result<()>;

    /// Sends frames, at most [`BATCH`], without waiting; returns how many the kernel refused.
    fn send(&mut self, frames: &[Frame]) -> u64;
}
