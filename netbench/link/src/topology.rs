//! Namespaces and the devices between them. The client is 10.0.0.1 in one namespace, the server 10.0.0.2 in
//! another with all of 10.1.0.0/16 as local addresses, and each is the other's only peer.

use std::{collections::BTreeMap, io, net::Ipv4Addr, os::fd::OwnedFd};

use crate::{
    LinkError, LinkSite, Namespace,
    device::{Device, PacketDevice, TunDevice},
    interface,
    netlink::{Mac, Netlink, VethEnd},
    settings, sites,
};

/// The name of the interface in the namespace of the client, and in that of the servers.
pub(crate) const INTERFACE: &str = "link0";

const CLIENT_MAC: Mac = [2, 0, 0, 0, 0, 1];
const SERVER_MAC: Mac = [2, 0, 0, 0, 0, 2];

/// The namespaces in which clients and servers run; by default, both are the host's own.
#[derive(Default)]
pub(crate) struct Ends {
    pub(crate) client: Namespace,
    pub(crate) server: Namespace,
    /// The kernel settings of both namespaces.
    pub(crate) settings: BTreeMap<String, String>,
    /// The first port that servers may listen on, in a namespace that is not the host's.
    pub(crate) first_port: u16,
}

/// The ends and the forwarder's devices between them.
pub(crate) struct Forwarded {
    pub(crate) ends: Ends,
    /// The device towards the client.
    pub(crate) client: Box<dyn Device>,
    /// The device towards the servers.
    pub(crate) server: Box<dyn Device>,
    /// The sockets of packet devices, for their count of dropped frames.
    pub(crate) sockets: Vec<OwnedFd>,
}

/// One side of the link.
struct Side {
    address: Ipv4Addr,
    mac: Mac,
    /// The forwarder's end of the veth pair to this side.
    forwarder: VethEnd,
    /// The address and hardware address of the other side.
    peer: (Ipv4Addr, Mac),
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

const CLIENT: Side = Side {
    address: sites::CLIENT,
    mac: CLIENT_MAC,
    forwarder: VethEnd {
        name: "client",
        mac: [2, 0, 0, 0, 0, 3],
    },
    peer: (sites::SERVER, SERVER_MAC),
    role: Role::Client,
};
const SERVER: Side = Side {
    address: sites::SERVER,
    mac: SERVER_MAC,
    forwarder: VethEnd {
        name: "server",
        mac: [2, 0, 0, 0, 0, 4],
    },
    peer: (sites::CLIENT, CLIENT_MAC),
    role: Role::Server,
};

/// Makes a forwarder between two veth pairs, whose near ends are in a third namespace.
pub(crate) fn over_veth() -> Result<Forwarded, LinkError> {
    let ends = Ends::new()?;
    let middle = Namespace::create()?;
    let client = open_veth(&middle, &ends.client, &CLIENT)?;
    let server = open_veth(&middle, &ends.server, &SERVER)?;
    let sockets = [&client, &server]
        .map(|device| device.descriptor().try_clone_to_owned())
        .into_iter()
        .collect::<io::Result<_>>()
        .map_err(LinkError::device("duplicate a socket"))?;
    Ok(Forwarded {
        ends,
        client: Box::new(client),
        server: Box::new(server),
        sockets,
    })
}

/// Makes a forwarder between two TUN devices.
pub(crate) fn over_tun() -> Result<Forwarded, LinkError> {
    let ends = Ends::new()?;
    let client = open_tun(&ends.client, &CLIENT)?;
    let server = open_tun(&ends.server, &SERVER)?;
    Ok(Forwarded {
        ends,
        client: Box::new(client),
        server: Box::new(server),
        sockets: Vec::new(),
    })
}

/// Joins client and server by one veth pair, for netem on its ends.
pub(crate) fn joined() -> Result<Ends, LinkError> {
    let ends = Ends::new()?;
    add_veth(
        &ends.client,
        &VethEnd {
            name: INTERFACE,
            mac: CLIENT_MAC,
        },
        &ends.server,
        &SERVER,
    )?;
    configure(&ends.client, &CLIENT, Some(CLIENT.peer))?;
    configure(&ends.server, &SERVER, Some(SERVER.peer))?;
    Ok(ends)
}

impl Ends {
    fn new() -> Result<Self, LinkError> {
        let (client, server) = (Namespace::create()?, Namespace::create()?);
        let mut settings = client.run(|| settings::apply("client"))?;
        let (of_server, first_port) = server.run(|| {
            (
                settings::apply("server"),
                settings::first_unprivileged_port(),
            )
        })?;
        settings.extend(of_server);
        settings.insert("client.route.quickack".to_owned(), "1".to_owned());
        Ok(Self {
            client,
            server,
            settings,
            first_port,
        })
    }
}

/// Sets the initial congestion windows of servers and clients of sites that have another than the kernel's.
pub(crate) fn set_windows(ends: &Ends, sites: &[LinkSite]) -> Result<(), LinkError> {
    ends.client
        .run(|| {
            let index = interface::index(INTERFACE)?;
            let mut netlink = Netlink::open()?;
            for (at, site) in sites.iter().enumerate() {
                if site.profile.window_up.is_some() {
                    let only = (sites::address(10, at), 32);
                    let window = site.profile.window_up;
                    netlink.add_route(index, only, sites::SERVER, window)?;
                }
            }
            Ok(())
        })?
        .map_err(failed("set a congestion window"))?;
    ends.server
        .run(|| {
            let index = interface::index(INTERFACE)?;
            let mut netlink = Netlink::open()?;
            for (at, site) in sites.iter().enumerate() {
                if let Some(window) = site.profile.window {
                    netlink.add_window(index, sites::address(10, at), sites::CLIENT, window)?;
                }
            }
            Ok(())
        })?
        .map_err(failed("set a congestion window"))
}

/// Adds a route for every address that is no site's in a client's namespace.
pub(crate) fn lead_everything_to_the_link(client: &Namespace) -> Result<(), LinkError> {
    client
        .run(|| {
            let index = interface::index(INTERFACE)?;
            let everything = (Ipv4Addr::UNSPECIFIED, 0);
            Netlink::open()?.add_route(index, everything, sites::SERVER, None)
        })?
        .map_err(failed("add a default route"))
}

fn open_veth(
    middle: &Namespace,
    namespace: &Namespace,
    side: &Side,
) -> Result<PacketDevice, LinkError> {
    add_veth(middle, &side.forwarder, namespace, side)?;
    let name = side.forwarder.name;
    let device = middle.run(|| {
        // Packets that the kernel sends through the devices of the middle would be forwarded.
        settings::apply("middle");
        Netlink::open()?.set_up(interface::index(name)?)?;
        interface::turn_off_offloads(name)?;
        PacketDevice::open(name)
    })?;
    let device = device.map_err(LinkError::device("open AF_PACKET on a veth pair"))?;
    configure(namespace, side, Some(side.peer))?;
    Ok(device)
}

fn open_tun(namespace: &Namespace, side: &Side) -> Result<TunDevice, LinkError> {
    let device = namespace.run(|| TunDevice::open(INTERFACE))?;
    let device = device.map_err(LinkError::device("make a TUN device from /dev/net/tun"))?;
    configure(namespace, side, None)?;
    Ok(device)
}

fn add_veth(
    here: &Namespace,
    here_end: &VethEnd,
    there: &Namespace,
    there_side: &Side,
) -> Result<(), LinkError> {
    let there_end = VethEnd {
        name: INTERFACE,
        mac: there_side.mac,
    };
    here.run(|| {
        let namespace = there.descriptor().ok_or(io::ErrorKind::NotFound)?;
        Netlink::open()?.add_veth(here_end, &there_end, namespace)
    })?
    .map_err(LinkError::device("make a veth pair"))
}

/// Sets up the side's interface: address, routes, and, where there is a neighbour, its entry and offloads.
fn configure(
    namespace: &Namespace,
    side: &Side,
    neighbour: Option<(Ipv4Addr, Mac)>,
) -> Result<(), LinkError> {
    namespace.run(|| {
        let mut netlink = Netlink::open().map_err(failed("open netlink"))?;
        netlink
            .set_loopback_up()
            .map_err(failed("set the loopback interface up"))?;
        let index = interface::index(INTERFACE).map_err(failed("find the interface"))?;
        if neighbour.is_some() {
            interface::turn_off_offloads(INTERFACE).map_err(failed("turn off offloads"))?;
        }
        netlink
            .set_up(index)
            .map_err(failed("set the interface up"))?;
        netlink
            .add_address(index, side.address, 30)
            .map_err(failed("add an address"))?;
        if let Some((address, mac)) = neighbour {
            netlink
                .add_neighbour(index, address, mac)
                .map_err(failed("add a neighbour"))?;
        }
        match side.role {
            // The link transfers one segment at a time, which no network card's driver merges. The odd
            // segment at the end of a flight would then wait 40 ms for the delayed acknowledgement, as would
            // a server whose congestion window is full: this happened to 23 of 320 pages of 90 KB and more.
            Role::Client => netlink
                .add_route(index, sites::NETWORK, side.peer.0, None)
                .map_err(failed("add the route to the sites")),
            Role::Server => netlink
                .add_local_network(sites::NETWORK)
                .map_err(failed("make the sites' addresses local")),
        }
    })?
}

/// Returns a function for `map_err`, which makes the error of a step in a namespace.
fn failed(step: &str) -> impl FnOnce(io::Error) -> LinkError + use<> {
    LinkError::device(format!("{step} in a namespace"))
}
