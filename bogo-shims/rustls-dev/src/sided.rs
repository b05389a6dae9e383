//! A connection of either side. rustls has one type for each.

use rustls::{ClientSide, CommonState, Connection, KeyingMaterialExporter, ServerSide, Transport};

use crate::Failure;

use super::config::tag;

pub(crate) enum Sided<T: Transport> {
    Client(Box<Connection<ClientSide, T>>),
    Server(Box<Connection<ServerSide, T>>),
}

impl<T: Transport> Sided<T> {
    pub(crate) fn state(&self) -> &CommonState {
        match self {
            Self::Client(client) => client,
            Self::Server(server) => server,
        }
    }

    /// Returns the name that a client sent to this server.
    pub(crate) fn server_name(&self) -> Option<&str> {
        match self {
            Self::Client(_) => None,
            Self::Server(server) => server.side().server_name().map(AsRef::as_ref),
        }
    }
}

/// The exporter of keys, which rustls gives away once.
#[derive(Default)]
pub(crate) struct Exporter(Option<KeyingMaterialExporter>);

impl Exporter {
    /// Returns exported keying material.
    pub(crate) fn derive<T: Transport>(
        &mut self,
        connection: &mut Sided<T>,
        length: usize,
        label: &[u8],
        context: Option<&[u8]>,
    ) -> Result<Vec<u8>, Failure> {
        let exporter = match (self.0.take(), connection) {
            (Some(exporter), _) => exporter,
            (None, Sided::Client(client)) => client.exporter().map_err(tag)?,
            (None, Sided::Server(server)) => server.exporter().map_err(tag)?,
        };
        let exported = exporter.derive(label, context, vec![0; length]);
        self.0 = Some(exporter);
        exported.map_err(tag)
    }
}
