//! A TUN device: packets without an Ethernet header, read and written one at a time
//! (`Documentation/networking/tuntap.rst` of Linux).

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd},
        unix::fs::OpenOptionsExt,
    },
};

use super::{Arrival, BATCH, Device, Frame, Pool};
use crate::{capability::check, clock, interface};

/// A TUN device, which the kernel removes when its descriptor is closed.
pub(crate) struct TunDevice {
    file: File,
}

impl TunDevice {
    /// Makes interface `name` in this thread's namespace.
    pub(crate) fn open(name: &str) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")?;
        let mut request = interface::request(name)?;
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the request is of the type that TUNSETIFF reads.
        check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) })?;
        Ok(Self { file })
    }
}

impl Device for TunDevice {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    fn header_bytes(&self) -> usize {
        0
    }

    fn receive(&mut self, pool: &mut Pool, arrivals: &mut Vec<Arrival>) -> io::Result<()> {
        for _ in 0..BATCH {
            let mut frame = pool.take();
            match self.file.read(&mut frame.buffer[..]) {
                Ok(length) => {
                    frame.length = length;
                    arrivals.push(Arrival {
                        frame,
                        arrived_ns: clock::monotonic_ns(),
                    });
                }
                Err(error) => {
                    pool.give(frame);
                    return match error.kind() {
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
                        _ => Err(error),
                    };
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, frames: &[Frame]) -> u64 {
        frames
            .iter()
            .filter(|frame| self.file.write(frame.bytes()).is_err())
            .count() as u64
    }
}
