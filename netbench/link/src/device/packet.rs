//! AF_PACKET on one end of a veth pair: packet(7), and `Documentation/networking/packet_mmap.rst`
//! of Linux for the ring. The ring is not counted against the receive buffer, whose limit an
//! ordinary user cannot raise, and reading it needs no system call.

use std::{
    io, mem,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
    ptr::{self, NonNull},
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::{
    mm::{MapFlags, ProtFlags, mmap, munmap},
    net::{AddressFamily, SocketFlags, SocketType, socket_with},
};

use super::{Arrival, BATCH, Device, FRAME_BYTES, Frame, Pool};
use crate::{
    capability::check,
    clock,
    interface::{self, socket_option},
};

const BLOCK_BYTES: u32 = 128 * 1024;
const SLOT_BYTES: u32 = 2048;
/// Number of the ring's blocks. They hold 4096 frames: 80 ms of 1500-byte packets at 600 Mbit/s.
const BLOCKS: u32 = 64;
const SLOTS: u32 = BLOCKS * (BLOCK_BYTES / SLOT_BYTES);
/// The maximum age of a timestamp. An older one is not the time of arrival.
const OLDEST_STAMP_NS: u64 = 100_000_000;

/// A socket bound to one interface, with its receive ring.
pub(crate) struct PacketDevice {
    socket: OwnedFd,
    ring: Ring,
    next_slot: u32,
}

impl PacketDevice {
    /// Opens interface `name` of this thread's namespace.
    pub(crate) fn open(name: &str) -> io::Result<Self> {
        // Protocol 0: no frame is received before the ring is mapped and the socket is bound.
        let (kind, flags) = (SocketType::RAW, SocketFlags::CLOEXEC);
        let socket = socket_with(AddressFamily::PACKET, kind, flags, None)?;
        set(
            &socket,
            libc::PACKET_VERSION,
            &(libc::tpacket_versions::TPACKET_V2 as i32),
        )?;
        // These two options only save work; kernels before 4.20 lack the first.
        let spared = [libc::PACKET_IGNORE_OUTGOING, libc::PACKET_QDISC_BYPASS];
        for option in spared {
            let _ = set(&socket, option, &1_i32);
        }
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES,
            tp_block_nr: BLOCKS,
            tp_frame_size: SLOT_BYTES,
            tp_frame_nr: SLOTS,
        };
        set(&socket, libc::PACKET_RX_RING, &request)?;
        let ring = Ring::map(&socket)?;
        // SAFETY: `sockaddr_ll` is plain data, for which zeros are valid.
        let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = interface::index(name)?.cast_signed();
        // SAFETY: the pointer is to an address of the given length.
        check(unsafe {
            libc::bind(
                socket.as_raw_fd(),
                (&raw const address).cast(),
                size_of_val(&address) as libc::socklen_t,
            )
        })?;
        Ok(Self {
            socket,
            ring,
            next_slot: 0,
        })
    }
}

/// Returns the number of frames that the kernel could not put into the ring of `socket` since the
/// last call.
pub(crate) fn take_drops(socket: BorrowedFd<'_>) -> u64 {
    // SAFETY: the option's value is plain integers, for which zero is a value.
    let counts: io::Result<libc::tpacket_stats> =
        unsafe { socket_option(socket, libc::SOL_PACKET, libc::PACKET_STATISTICS) };
    counts.map_or(0, |counts| counts.tp_drops.into())
}

impl Device for PacketDevice {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn header_bytes(&self) -> usize {
        14
    }

    fn receive(&mut self, pool: &mut Pool, arrivals: &mut Vec<Arrival>) -> io::Result<()> {
        let mut clocks = None;
        for _ in 0..BATCH {
            let Some(slot) = self.ring.full_slot(self.next_slot) else {
                break;
            };
            // Both clocks, read at the same moment once a batch, convert real-time stamps to
            // monotonic time.
            let (real_ns, now_ns) =
                *clocks.get_or_insert_with(|| (clock::realtime_ns(), clock::monotonic_ns()));
            if let Some(bytes) = slot.bytes() {
                let mut frame = pool.take();
                frame.buffer[..bytes.len()].copy_from_slice(bytes);
                frame.length = bytes.len();
                let age_ns = real_ns.saturating_sub(slot.stamp_ns());
                let age_ns = if age_ns > OLDEST_STAMP_NS { 0 } else { age_ns };
                arrivals.push(Arrival {
                    frame,
                    arrived_ns: now_ns.saturating_sub(age_ns),
                });
            }
            slot.release();
            self.next_slot = (self.next_slot + 1) % SLOTS;
        }
        Ok(())
    }

    fn send(&mut self, frames: &[Frame]) -> u64 {
        send_all(self.socket.as_raw_fd(), frames)
    }
}

/// Sends frames with as few system calls as possible; returns the number of refused frames.
fn send_all(socket: RawFd, frames: &[Frame]) -> u64 {
    let mut refused = 0;
    // SAFETY: both are plain data, for which zeros are valid.
    let (mut parts, mut headers): ([libc::iovec; BATCH], [libc::mmsghdr; BATCH]) =
        unsafe { (mem::zeroed(), mem::zeroed()) };
    let count = frames.len().min(BATCH);
    for (index, frame) in frames.iter().take(count).enumerate() {
        let bytes = frame.bytes();
        // The kernel only reads the memory that an iovec of a sent message points to.
        parts[index] = libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        headers[index].msg_hdr.msg_iov = &raw mut parts[index];
        headers[index].msg_hdr.msg_iovlen = 1;
    }
    let mut sent = 0;
    while sent < count {
        let rest = &mut headers[sent..count];
        // SAFETY: every header points to one part, which points to a frame that outlives the call.
        let result = unsafe {
            libc::sendmmsg(
                socket,
                rest.as_mut_ptr(),
                rest.len() as u32,
                libc::MSG_DONTWAIT,
            )
        };
        match result {
            // The first of the remaining frames was refused and is lost.
            ..=0 => {
                if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                refused += 1;
                sent += 1;
            }
            result => sent += result.unsigned_abs() as usize,
        }
    }
    refused
}

/// Memory shared with the kernel: `SLOTS` slots, each a `tpacket2_hdr` and a frame.
struct Ring {
    start: NonNull<u8>,
}

// SAFETY: the mapping belongs only to this value and is not tied to a thread.
unsafe impl Send for Ring {}

impl Ring {
    const BYTES: usize = (BLOCKS * BLOCK_BYTES) as usize;

    fn map(socket: &OwnedFd) -> io::Result<Self> {
        // SAFETY: the call requests a new mapping of the length that the ring was given.
        let start = unsafe {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            mmap(
                ptr::null_mut(),
                Self::BYTES,
                protection,
                MapFlags::SHARED,
                socket,
                0,
            )
        }?;
        NonNull::new(start.cast())
            .map(|start| Self { start })
            .ok_or_else(io::Error::last_os_error)
    }

    /// Returns slot `index`, if the kernel has put a frame into it.
    fn full_slot(&self, index: u32) -> Option<Slot<'_>> {
        // SAFETY: `index` is under SLOTS, so the header lies within the mapping; slots are aligned
        // to 2048 bytes.
        let slot = unsafe { self.start.add((index * SLOT_BYTES) as usize) };
        // SAFETY: the status is the header's first field, and both sides access it atomically.
        let status = unsafe { AtomicU32::from_ptr(slot.as_ptr().cast()) };
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: the status shows that the kernel has finished writing, and it will not write
        // again before the slot is released; the borrow ends before that.
        let header = unsafe { slot.cast::<libc::tpacket2_hdr>().read() };
        // SAFETY: the slot's whole length lies within the mapping, and belongs to this process as
        // the status shows.
        let memory = unsafe { std::slice::from_raw_parts(slot.as_ptr(), SLOT_BYTES as usize) };
        Some(Slot {
            status,
            header,
            memory,
        })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length, and is no longer borrowed.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), Self::BYTES) };
    }
}

/// A slot that the kernel has filled.
struct Slot<'ring> {
    status: &'ring AtomicU32,
    header: libc::tpacket2_hdr,
    memory: &'ring [u8],
}

impl Slot<'_> {
    /// Returns the frame, or `None` where it was too long for the slot or for a buffer.
    fn bytes(&self) -> Option<&[u8]> {
        let start = usize::from(self.header.tp_mac);
        let bytes = self
            .memory
            .get(start..start + self.header.tp_snaplen as usize)?;
        (self.header.tp_len == self.header.tp_snaplen && bytes.len() <= FRAME_BYTES)
            .then_some(bytes)
    }

    fn stamp_ns(&self) -> u64 {
        u64::from(self.header.tp_sec) * 1_000_000_000 + u64::from(self.header.tp_nsec)
    }

    /// Returns the slot to the kernel.
    fn release(self) {
        self.status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }
}

fn set<T>(socket: &OwnedFd, option: i32, value: &T) -> io::Result<()> {
    // SAFETY: the pointer is to a value of the given length.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    })
}
