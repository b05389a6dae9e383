use std::{ffi::CString, sync::Arc};

use netbench_protocol::ClientIdentity;
use netbench_tls::Profile;
use netbench_worker::{ClientSetup, Fetch, SetupError, of_base64, own_client};

use crate::{
    config::{Config, Credentials},
    ffi,
    session::{Session, User},
    settings::Priority,
    tickets::Tickets,
};

/// Parses the roots and makes GnuTLS' credentials and priorities, and a connector for hyper: no crate has
/// one.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let settings = setup.settings;
    let mut credentials = Credentials::new()?;
    credentials.verify_peers(setup.roots_pem)?;
    if let Some(identity) = setup.identity {
        set_identity(&credentials, identity)?;
    }
    let (priority, flags) = match settings.profile {
        Profile::Library => (Priority::of_library(&settings.versions)?, 0),
        // The client sends a key share only for the first group. By default, the library sends two.
        Profile::Default | Profile::Servo => {
            (Priority::exact(&settings.into())?, ffi::KEY_SHARE_TOP)
        }
    };
    let config = Arc::new(Config {
        alpn: settings.alpn.clone(),
        ..Config::client(flags, credentials, priority)
    });
    let probe = setup.probe.clone();
    let tickets: Arc<Tickets> = Arc::default();
    Ok(own_client(setup, move |host, socket| {
        let user = User {
            host: Some(CString::new(host)?),
            probe: Some(probe.clone()),
            tickets: Some(Arc::clone(&tickets)),
        };
        Ok(Session::new(&config, socket, user)?)
    }))
}

fn set_identity(credentials: &Credentials, identity: &ClientIdentity) -> Result<(), SetupError> {
    let password = identity.password.as_deref();
    match &identity.pkcs12_base64 {
        Some(file) => {
            let file = of_base64("PKCS#12 file", file)?;
            credentials.identity_of_pkcs12(&file, password)
        }
        None => credentials.identity(&identity.chain_pem, &identity.key_pem, password),
    }
}
