use std::{ffi::CString, sync::Arc};

use netbench_tls::Profile;
use netbench_worker::{ClientSetup, Fetch, SetupError, own_client, refused};

use crate::{
    certificates::{Identity, Roots},
    config::{Config, Kept},
    ech,
    library::library,
    session::{Session, User},
    settings::{hold_to, set_versions},
    tickets::Tickets,
};

/// Parses the roots and makes NSS' settings, and a connector for hyper: no crate has one.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let settings = setup.settings;
    library().map_err(refused("NSS"))?;
    let roots = Roots::of_pem(setup.roots_pem)?;
    let mut config = Config::client(roots, &Kept::tickets(0))?;
    match settings.profile {
        Profile::Library => set_versions(config.model(), &settings.versions)?,
        Profile::Default | Profile::Servo => hold_to(config.model(), &settings.into())?,
    }
    config.set_alpn(&settings.alpn)?;
    ech::set(setup, config.model())?;
    if let Some(identity) = setup.identity {
        config.set_identity(Identity::of_pem(&identity.chain_pem, &identity.key_pem)?)?;
    }
    let (config, probe) = (Arc::new(config), setup.probe.clone());
    let tickets: Arc<Tickets> = Arc::default();
    Ok(own_client(setup, move |host, socket| {
        let user = User {
            host: Some(CString::new(host)?),
            probe: Some(probe.clone()),
            tickets: Some(Arc::clone(&tickets)),
            ..User::default()
        };
        Ok(Session::new(&config, socket, user)?)
    }))
}
