use std::error::Error;

use http::Uri;
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::Connection;
use netbench_protocol::{ClientIdentity, Configure, Ech};
use netbench_tls::{ClientSettings, Negotiated};
use tower_service::Service;

use crate::{Converted, Fetch, Probe, SetupError, TimedTcp, client::HyperClient, of_base64};

/// The settings of a client's connector.
#[derive(Clone, Copy)]
pub struct ClientSetup<'a> {
    /// The offered parameters.
    pub settings: &'a ClientSettings,
    /// The trust roots.
    pub roots_pem: &'a str,
    /// The certificate for a server that requests one.
    pub identity: Option<&'a ClientIdentity>,
    /// Whether the client offers early data if a ticket allows it. Only for a stack with `early-data` among its
    /// operations, or with `early-request`, whose client then sends its request in it.
    pub early_data: bool,
    /// The Encrypted ClientHello of the client. Only for a stack with its operation.
    pub ech: Option<&'a Ech>,
    /// The probe that records the figures of connections, to which the adapter reports its chain verification.
    pub probe: &'a Probe,
}

impl<'a> ClientSetup<'a> {
    /// Creates the set-up of a client without a certificate, early data and Encrypted ClientHello.
    pub fn new(settings: &'a ClientSettings, roots_pem: &'a str, probe: &'a Probe) -> Self {
        Self {
            settings,
            roots_pem,
            identity: None,
            early_data: false,
            ech: None,
            probe,
        }
    }

    pub(crate) fn of(configured: &'a Configure, probe: &'a Probe) -> Self {
        Self {
            identity: configured.identity.as_ref(),
            early_data: configured.early_data,
            ech: configured.ech.as_ref(),
            ..Self::new(&configured.client, &configured.roots_pem, probe)
        }
    }

    /// Refuses a certificate, in the words that `client` shows none.
    ///
    /// # Errors
    /// There is a certificate.
    pub fn without_identity(&self, client: &str) -> Result<(), SetupError> {
        match self.identity {
            None => Ok(()),
            Some(_) => Err(SetupError::Unsupported(format!(
                "{client} shows no client certificate"
            ))),
        }
    }

    /// Returns the list of configurations for Encrypted ClientHello, if the client is given one.
    ///
    /// # Errors
    /// The list is not in base64.
    pub fn ech_configs(&self) -> Result<Option<Vec<u8>>, SetupError> {
        match self.ech {
            Some(Ech::Configs(text)) => of_base64("ECH configurations", text).map(Some),
            Some(Ech::Grease) | None => Ok(None),
        }
    }

    /// Makes the connector for TCP, over which a stack's own connector is made.
    pub fn tcp(&self) -> TimedTcp {
        TimedTcp::new(self.settings.profile, self.probe)
    }

    /// Makes hyper's client over a stack's `connector`, and marks the end of each handshake unless the request is part of it.
    /// `inspect` returns the negotiated parameters of a finished connection.
    pub fn hyper_client<C>(
        &self,
        connector: C,
        inspect: fn(&C::Response) -> Negotiated,
    ) -> impl Fetch + Sync + use<C>
    where
        C: Service<Uri> + Clone + Send + Sync + 'static,
        C::Response: Read + Write + Connection + Unpin + Send + 'static,
        C::Error: Into<Box<dyn Error + Send + Sync>>,
        C::Future: Send + 'static,
    {
        let probe = self.probe.clone();
        let connector = Converted::new(
            connector,
            move |connected: Result<C::Response, C::Error>| {
                let stream = connected.map_err(Into::into)?;
                if !probe.marks().requests_early {
                    probe.agreed(|| inspect(&stream));
                }
                Ok(stream)
            },
        );
        HyperClient::new(connector, self.settings.profile, self.probe)
    }
}
