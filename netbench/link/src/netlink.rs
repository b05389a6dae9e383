//! The few messages of rtnetlink(7) that a link needs, sent one at a time and acknowledged.

use std::{
    io,
    net::Ipv4Addr,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

use crate::capability::check;

/// A hardware address.
pub(crate) type Mac = [u8; 6];

/// One end of a veth pair.
pub(crate) struct VethEnd {
    /// The interface's name.
    pub(crate) name: &'static str,
    /// Its hardware address.
    pub(crate) mac: Mac,
}

/// A connection to the kernel about the network namespace of the thread that opened it.
pub(crate) struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

const MTU: u32 = 1500;
/// Packets that may wait where a queueing discipline is set.
const QUEUE_PACKETS: u32 = 10_000;

// linux/if_link.h, linux/veth.h; not in libc.
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;

impl Netlink {
    /// Connects.
    pub(crate) fn open() -> io::Result<Self> {
        // SAFETY: makes a descriptor, or returns −1.
        let socket = unsafe {
            libc::socket(
                libc::AF_NETLINK,
                libc::SOCK_RAW | libc::SOCK_CLOEXEC,
                libc::NETLINK_ROUTE,
            )
        };
        check(socket)?;
        // SAFETY: the descriptor is open and nobody else's.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        let limit = libc::timeval {
            tv_sec: 5,
            tv_usec: 0,
        };
        // SAFETY: the pointer is to a value of the length given.
        check(unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVTIMEO,
                (&raw const limit).cast(),
                size_of_val(&limit) as libc::socklen_t,
            )
        })?;
        Ok(Self {
            socket,
            sequence: 0,
        })
    }

    /// Makes a veth pair: one end here, the other in `namespace`.
    pub(crate) fn add_veth(
        &mut self,
        here: &VethEnd,
        there: &VethEnd,
        namespace: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        message.interface_header(0, 0);
        message.veth_end(here);
        message.nested(libc::IFLA_LINKINFO, |info| {
            info.attribute(IFLA_INFO_KIND, b"veth");
            info.nested(IFLA_INFO_DATA, |data| {
                data.nested(VETH_INFO_PEER, |peer| {
                    peer.interface_header(0, 0);
                    peer.veth_end(there);
                    let namespace = namespace.as_raw_fd();
                    peer.attribute(libc::IFLA_NET_NS_FD, &namespace.to_ne_bytes());
                });
            });
        });
        self.ask(message)
    }

    /// Sets an interface up, with this crate's MTU and queue length.
    pub(crate) fn set_up(&mut self, index: u32) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWLINK, 0);
        let up = libc::IFF_UP as u32;
        message.interface_header(index, up);
        message.attribute(libc::IFLA_MTU, &MTU.to_ne_bytes());
        message.attribute(libc::IFLA_TXQLEN, &QUEUE_PACKETS.to_ne_bytes());
        self.ask(message)
    }

    /// Sets the loopback interface up.
    pub(crate) fn set_loopback_up(&mut self) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWLINK, 0);
        message.interface_header(crate::interface::index("lo")?, libc::IFF_UP as u32);
        self.ask(message)
    }

    /// Gives an interface its address.
    pub(crate) fn add_address(
        &mut self,
        index: u32,
        address: Ipv4Addr,
        prefix: u8,
    ) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        // struct ifaddrmsg: family, prefix length, flags, scope, index.
        message
            .bytes
            .extend([libc::AF_INET as u8, prefix, 0, libc::RT_SCOPE_UNIVERSE]);
        message.bytes.extend(index.to_ne_bytes());
        message.attribute(libc::IFA_LOCAL, &address.octets());
        message.attribute(libc::IFA_ADDRESS, &address.octets());
        self.ask(message)
    }

    /// Routes a network through `gateway`.
    pub(crate) fn add_route(
        &mut self,
        index: u32,
        (network, prefix): (Ipv4Addr, u8),
        gateway: Ipv4Addr,
    ) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        message.route_header(
            prefix,
            libc::RT_TABLE_MAIN,
            libc::RT_SCOPE_UNIVERSE,
            libc::RTN_UNICAST,
        );
        message.attribute(libc::RTA_DST, &network.octets());
        message.attribute(libc::RTA_GATEWAY, &gateway.octets());
        message.attribute(libc::RTA_OIF, &index.to_ne_bytes());
        self.ask(message)
    }

    /// Makes every address of a network this namespace's own ("AnyIP").
    pub(crate) fn add_local_network(
        &mut self,
        (network, prefix): (Ipv4Addr, u8),
    ) -> io::Result<()> {
        let mut message = Message::new(libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        message.route_header(
            prefix,
            libc::RT_TABLE_LOCAL,
            libc::RT_SCOPE_HOST,
            libc::RTN_LOCAL,
        );
        message.attribute(libc::RTA_DST, &network.octets());
        message.attribute(libc::RTA_OIF, &crate::interface::index("lo")?.to_ne_bytes());
        self.ask(message)
    }

    /// Enters a neighbour for good: the first packet would else wait for ARP.
    pub(crate) fn add_neighbour(
        &mut self,
        index: u32,
        address: Ipv4Addr,
        mac: Mac,
    ) -> io::Result<()> {
        let mut message =
            Message::new(libc::RTM_NEWNEIGH, libc::NLM_F_CREATE | libc::NLM_F_REPLACE);
        // struct ndmsg: family, padding, index, state, flags, type.
        message.bytes.extend([libc::AF_INET as u8, 0, 0, 0]);
        message.bytes.extend(index.to_ne_bytes());
        message.bytes.extend(libc::NUD_PERMANENT.to_ne_bytes());
        message.bytes.extend([0, libc::RTN_UNICAST]);
        message.attribute(libc::NDA_DST, &address.octets());
        message.attribute(libc::NDA_LLADDR, &mac);
        self.ask(message)
    }

    /// Sends a message and waits for its acknowledgement.
    fn ask(&mut self, message: Message) -> io::Result<()> {
        self.sequence += 1;
        let bytes = message.finish(self.sequence);
        // SAFETY: the pointer and length are of one live buffer.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                0,
            )
        };
        check(sent as i32)?;
        let mut answer = [0_u8; 4096];
        // SAFETY: as above.
        let length = unsafe {
            libc::recv(
                self.socket.as_raw_fd(),
                answer.as_mut_ptr().cast(),
                answer.len(),
                0,
            )
        };
        check(length as i32)?;
        acknowledged(&answer[..length.unsigned_abs()])
    }
}

/// Reads the answer to a request that asked for an acknowledgement: struct nlmsghdr, then the
/// negative error number.
fn acknowledged(answer: &[u8]) -> io::Result<()> {
    let nonsense = || io::Error::from(io::ErrorKind::InvalidData);
    let kind = answer.get(4..6).ok_or_else(nonsense)?;
    let code = answer.get(16..20).ok_or_else(nonsense)?;
    if u16::from_ne_bytes([kind[0], kind[1]]) != libc::NLMSG_ERROR as u16 {
        return Err(nonsense());
    }
    match i32::from_ne_bytes([code[0], code[1], code[2], code[3]]) {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code.saturating_neg())),
    }
}

/// A message under construction. Everything in it is aligned to 4 bytes.
struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn new(kind: u16, flags: i32) -> Self {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
        let mut bytes = vec![0; 16];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        Self { bytes }
    }

    /// struct ifinfomsg: family, padding, type, index, flags, which flags change.
    fn interface_header(&mut self, index: u32, flags: u32) {
        self.bytes.extend([0; 4]);
        self.bytes.extend(index.to_ne_bytes());
        self.bytes.extend(flags.to_ne_bytes());
        self.bytes.extend(flags.to_ne_bytes());
    }

    /// struct rtmsg: family, prefix lengths, tos, table, protocol, scope, type, flags.
    fn route_header(&mut self, prefix: u8, table: u8, scope: u8, kind: u8) {
        let family = libc::AF_INET as u8;
        self.bytes.extend([
            family,
            prefix,
            0,
            0,
            table,
            libc::RTPROT_BOOT,
            scope,
            kind,
            0,
            0,
            0,
            0,
        ]);
    }

    fn veth_end(&mut self, end: &VethEnd) {
        self.attribute(libc::IFLA_IFNAME, end.name.as_bytes());
        self.attribute(libc::IFLA_ADDRESS, &end.mac);
        self.attribute(libc::IFLA_MTU, &MTU.to_ne_bytes());
        self.attribute(libc::IFLA_TXQLEN, &QUEUE_PACKETS.to_ne_bytes());
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.nested(kind, |message| message.bytes.extend(value));
    }

    fn nested(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.bytes.extend([0; 2]);
        self.bytes.extend(kind.to_ne_bytes());
        fill(self);
        // The length counts no padding.
        let length = (self.bytes.len() - start) as u16;
        self.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn finish(mut self, sequence: u32) -> Vec<u8> {
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        let answer = |kind: u16, code: i32| {
            let mut bytes = vec![0_u8; 20];
            bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
            bytes[16..20].copy_from_slice(&code.to_ne_bytes());
            bytes
        };
        assert!(acknowledged(&answer(2, 0)).is_ok());
        let refused = acknowledged(&answer(2, -libc::EPERM)).expect_err("refused");
        assert_eq!(refused.raw_os_error(), Some(libc::EPERM));
        for nonsense in [&[][..], &[1; 7], &answer(3, 0)] {
            let error = acknowledged(nonsense).expect_err("no answer");
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn attributes_are_aligned_and_know_their_length() {
        let mut message = Message::new(libc::RTM_NEWLINK, 0);
        message.nested(1, |inner| inner.attribute(2, b"abc"));
        let bytes = message.finish(7);
        assert_eq!(bytes.len(), 28);
        assert_eq!(bytes[..4], 28_u32.to_ne_bytes());
        assert_eq!(bytes[16..18], 12_u16.to_ne_bytes());
        assert_eq!(bytes[20..22], 7_u16.to_ne_bytes());
        assert_eq!(&bytes[24..], b"abc\0");
    }
}
