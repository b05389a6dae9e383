use std::{error::Error as StdError, ffi::CString, sync::Arc};

use hyper_util::rt::TokioIo;
use netbench_tls::Profile;
use netbench_worker::{
    ClientSetup, Fetch, OwnClient, Probe, SetupError, Socket, TlsStream, Wire, own_client, refused,
};

use crate::{
    certificates::{Identity, Roots},
    config::{Config, Kept},
    ech,
    library::library,
    session::{Session, User},
    settings::{hold_to, set_versions},
    tickets::Tickets,
    verify::KeyUsage,
};

/// Parses the roots and makes NSS' settings, and a connector for hyper: no crate has one.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let settings = setup.settings;
    library().map_err(refused("NSS"))?;
    let roots = Roots::of_pem(setup.roots_pem)?;
    let mut config = Config::client(roots, &Kept::Tickets(0))?;
    match settings.profile {
        Profile::Library => set_versions(config.model(), &settings.versions)?,
        Profile::Default | Profile::Servo => hold_to(config.model(), &settings.into())?,
    }
    config.set_alpn(&settings.alpn)?;
    ech::set(setup, config.model())?;
    if let Some(identity) = setup.identity {
        config.set_identity(Identity::of_pem(&identity.chain_pem, &identity.key_pem)?)?;
    }
    let client = Client {
        config: Arc::new(config),
        tickets: Arc::default(),
        probe: setup.probe.clone(),
    };
    Ok(own_client(client, setup))
}

/// A client's configuration, with the sessions that it keeps.
#[derive(Clone)]
struct Client {
    config: Arc<Config>,
    tickets: Arc<Tickets>,
    probe: Probe,
}

impl OwnClient for Client {
    type Stream = TlsStream<Session<Socket<TokioIo<Wire>>>>;

    fn begin(
        &self,
        host: &str,
        wire: TokioIo<Wire>,
    ) -> Result<Self::Stream, Box<dyn StdError + Send + Sync>> {
        let user = User {
            host: Some(CString::new(host)?),
            probe: Some(self.probe.clone()),
            tickets: Some(Arc::clone(&self.tickets)),
            key_usage: KeyUsage::OfLibrary,
        };
        let session = Session::new(&self.config, Socket::new(wire), user)?;
        Ok(TlsStream::new(session))
    }
}
