//! The few messages of rtnetlink(7) that a link needs, sent one at a time and acknowledged.

use std::{
    io, iter,
    net::Ipv4Addr,
    os::fd::{AsRawFd, BorrowedFd},
    time::Duration,
};

use netbench_model::Window;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader,
    NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage,
    address::{AddressAttribute, AddressMessage, AddressScope},
    link::{
        InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkHeader, LinkInfo, LinkMessage,
    },
    neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState},
    route::{
        RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
        RouteScope, RouteType,
    },
    rule::{RuleAction, RuleAttribute, RuleMessage},
};
use netlink_sys::{Socket, protocols::NETLINK_ROUTE};
use rustix::net::sockopt::{Timeout, set_socket_timeout};

pub(crate) type Mac = [u8; 6];

/// One end of a veth pair.
pub(crate) struct VethEnd {
    /// The interface's name.
    pub(crate) name: &'static str,
    /// The interface's hardware address.
    pub(crate) mac: Mac,
}

/// A connection to the kernel about the network namespace of the thread that opened it.
pub(crate) struct Netlink {
    socket: Socket,
    sequence: u32,
}

const MTU: u32 = 1500;
/// The maximum length of the packet queue where a queueing discipline is set.
const QUEUE_PACKETS: u32 = 10_000;
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// The buffer for an answer, larger than an acknowledgement.
const ANSWER_BYTES: usize = 4096;

impl Netlink {
    pub(crate) fn open() -> io::Result<Self> {
        let socket = Socket::new(NETLINK_ROUTE)?;
        set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_LIMIT))?;
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
        let mut peer = veth_end(there);
        let namespace = namespace.as_raw_fd();
        peer.attributes.push(LinkAttribute::NetNsFd(namespace));
        let mut link = veth_end(here);
        link.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
        ]));
        self.ask(
            RouteNetlinkMessage::NewLink(link),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Sets an interface up, with this crate's MTU and queue length.
    pub(crate) fn set_up(&mut self, index: u32) -> io::Result<()> {
        let mut link = link_up(index);
        link.attributes = vec![
            LinkAttribute::Mtu(MTU),
            LinkAttribute::TxQueueLen(QUEUE_PACKETS),
        ];
        self.ask(RouteNetlinkMessage::NewLink(link), 0)
    }

    pub(crate) fn set_loopback_up(&mut self) -> io::Result<()> {
        let link = link_up(crate::interface::index("lo")?);
        self.ask(RouteNetlinkMessage::NewLink(link), 0)
    }

    pub(crate) fn add_address(
        &mut self,
        index: u32,
        address: Ipv4Addr,
        prefix: u8,
    ) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = prefix;
        message.header.scope = AddressScope::Universe;
        message.header.index = index;
        message.attributes = vec![
            AddressAttribute::Local(address.into()),
            AddressAttribute::Address(address.into()),
        ];
        self.ask(
            RouteNetlinkMessage::NewAddress(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Routes a network through `gateway`. TCP acknowledges every segment from there at once
    /// (`quickack` in ip-route(8)). The initial congestion window towards the network is `window`, or the kernel's default.
    pub(crate) fn add_route(
        &mut self,
        index: u32,
        network: (Ipv4Addr, u8),
        gateway: Ipv4Addr,
        window: Option<Window>,
    ) -> io::Result<()> {
        let mut message = route(network, index);
        let window = window.map(|window| RouteMetric::InitCwnd(window.segments));
        let metrics = iter::once(RouteMetric::QuickAck(1)).chain(window);
        message
            .attributes
            .push(RouteAttribute::Metrics(metrics.collect()));
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.scope = RouteScope::Universe;
        message.header.kind = RouteType::Unicast;
        message
            .attributes
            .push(RouteAttribute::Gateway(RouteAddress::Inet(gateway)));
        self.add(message)
    }

    /// Routes packets from `source` to a neighbour through a table, whose route sets the initial congestion window of TCP
    /// (`initcwnd` in ip-route(8)).
    pub(crate) fn add_window(
        &mut self,
        index: u32,
        source: Ipv4Addr,
        neighbour: Ipv4Addr,
        window: Window,
    ) -> io::Result<()> {
        // The numbers of windows are below those of the kernel's own tables.
        let table = u8::try_from(window.segments).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut message = route((neighbour, 32), index);
        message
            .attributes
            .push(RouteAttribute::Metrics(vec![RouteMetric::InitCwnd(
                window.segments,
            )]));
        message.header.table = table;
        message.header.scope = RouteScope::Link;
        message.header.kind = RouteType::Unicast;
        // Another site with this window has added the route already.
        let route = RouteNetlinkMessage::NewRoute(message);
        self.ask(route, NLM_F_CREATE | NLM_F_REPLACE)?;
        let mut rule = RuleMessage::default();
        rule.header.family = AddressFamily::Inet;
        rule.header.src_len = 32;
        rule.header.table = table;
        rule.header.action = RuleAction::ToTable;
        rule.attributes = vec![RuleAttribute::Source(source.into())];
        let rule = RouteNetlinkMessage::NewRule(rule);
        self.ask(rule, NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Makes every address of a network local to this namespace ("AnyIP").
    pub(crate) fn add_local_network(&mut self, network: (Ipv4Addr, u8)) -> io::Result<()> {
        let mut message = route(network, crate::interface::index("lo")?);
        message.header.table = RT_TABLE_LOCAL;
        message.header.scope = RouteScope::Host;
        message.header.kind = RouteType::Local;
        self.add(message)
    }

    /// Enters a permanent neighbour: otherwise, the first packet would wait for ARP.
    pub(crate) fn add_neighbour(
        &mut self,
        index: u32,
        address: Ipv4Addr,
        mac: Mac,
    ) -> io::Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.ifindex = index;
        message.header.state = NeighbourState::Permanent;
        message.header.kind = RouteType::Unicast;
        message.attributes = vec![
            NeighbourAttribute::Destination(NeighbourAddress::Inet(address)),
            NeighbourAttribute::LinkLayerAddress(mac.to_vec()),
        ];
        self.ask(
            RouteNetlinkMessage::NewNeighbour(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    fn add(&mut self, route: RouteMessage) -> io::Result<()> {
        self.ask(
            RouteNetlinkMessage::NewRoute(route),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Sends a message and waits for its acknowledgement.
    fn ask(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, message.into());
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let mut answer = Vec::with_capacity(ANSWER_BYTES);
        self.socket.recv(&mut answer, 0)?;
        acknowledged(&answer)
    }
}

/// The table of addresses local to a namespace (linux/rtnetlink.h).
const RT_TABLE_LOCAL: u8 = 255;

fn veth_end(end: &VethEnd) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.attributes = vec![
        LinkAttribute::IfName(end.name.to_owned()),
        LinkAttribute::Address(end.mac.to_vec()),
        LinkAttribute::Mtu(MTU),
        LinkAttribute::TxQueueLen(QUEUE_PACKETS),
    ];
    message
}

fn link_up(index: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header = LinkHeader {
        index,
        flags: LinkFlags::Up,
        change_mask: LinkFlags::Up,
        ..LinkHeader::default()
    };
    message
}

fn route((network, prefix): (Ipv4Addr, u8), index: u32) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.destination_prefix_length = prefix;
    message.header.protocol = RouteProtocol::Boot;
    message.attributes = vec![
        RouteAttribute::Destination(RouteAddress::Inet(network)),
        RouteAttribute::Oif(index),
    ];
    message
}

/// Parses the answer to a request that requires an acknowledgement.
fn acknowledged(answer: &[u8]) -> io::Result<()> {
    let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(answer);
    match message.map(|message| message.payload) {
        Ok(NetlinkPayload::Error(error)) if error.code.is_none() => Ok(()),
        Ok(NetlinkPayload::Error(error)) => Err(error.to_io()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a struct nlmsghdr, the negative error number, and the header of the request.
    fn answer(kind: u16, code: i32) -> Vec<u8> {
        let mut bytes = vec![0_u8; 36];
        bytes[..4].copy_from_slice(&36_u32.to_ne_bytes());
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[16..20].copy_from_slice(&code.to_ne_bytes());
        bytes
    }

    #[test]
    fn answers_are_read() {
        assert!(acknowledged(&answer(2, 0)).is_ok());
        let refused = acknowledged(&answer(2, -libc::EPERM)).expect_err("refused");
        assert_eq!(refused.raw_os_error(), Some(libc::EPERM));
        for nonsense in [&[][..], &[1; 7], &answer(3, 0)] {
            let error = acknowledged(nonsense).expect_err("no answer");
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
    }
}
