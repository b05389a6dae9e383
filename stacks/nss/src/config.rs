//! The common configuration of one client's or server's sessions.

use std::{
    ffi::{CString, c_int, c_void},
    io, ptr,
    sync::OnceLock,
};

use netbench_tls::Alpn;
use netbench_worker::{
    CallbackTransport, KEPT_SESSIONS, Lent, Owned, SetupError, alpn_list, refused,
};

use crate::{
    certificates::{Identity, Roots},
    ffi::{self, DerChain, ExtraServerCert, FileDesc, FileDescStr, Item, ItemArray, length},
    io_layer::socket,
    library::{Error, checked},
};

/// Settings of a client's or a server's sessions: a socket that is their model.
pub(crate) struct Config {
    model: Owned<FileDescStr>,
    /// The number of tickets that a server sends; `None` at a client.
    server_tickets: Option<u8>,
    /// The transport of the model, which it has only because the library requires one.
    #[expect(dead_code, reason = "the library refers to it")]
    end: Lent<CallbackTransport<io::Empty>>,
    /// The roots, which the library trusts while they live.
    roots: Option<Roots>,
    /// The identity, to which the library has a pointer at a client.
    identity: Option<Box<Identity>>,
}

/// The state that is kept of sessions, to resume them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Tickets: a client passes them to the maker of its sessions; a server of TLS 1.3 sends this many.
    pub(crate) tickets: Option<u8>,
    /// The library's cache, which a client uses for its tickets too: its sessions have this name there.
    pub(crate) in_library: Option<CString>,
}

impl Kept {
    /// Keeps tickets alone.
    pub(crate) fn tickets(count: u8) -> Self {
        Self {
            tickets: Some(count),
            in_library: None,
        }
    }
}

impl Config {
    /// Makes a client's configuration, which trusts these roots.
    pub(crate) fn client(roots: Roots, kept: &Kept) -> Result<Self, SetupError> {
        let mut config = Self::new(None).map_err(refused("client"))?;
        config.roots = Some(roots);
        config.option(ffi::SSL_ENABLE_TLS13_COMPAT_MODE, 1)?;
        config.option(ffi::SSL_ENABLE_OCSP_STAPLING, 1)?;
        config.option(
            ffi::SSL_ENABLE_SESSION_TICKETS,
            isize::from(kept.tickets.is_some()),
        )?;
        config.option(ffi::SSL_NO_CACHE, isize::from(*kept == Kept::default()))?;
        if let Some(name) = &kept.in_library {
            // SAFETY: the socket is alive, and the library copies the name.
            let status = unsafe { ffi::SSL_SetSockPeerID(config.model(), name.as_ptr()) };
            checked(status).map_err(refused("sessions"))?;
        }
        Ok(config)
    }

    /// Makes a server's configuration. Its stapled response is DER.
    pub(crate) fn server(
        identity: Identity,
        staple: Option<&[u8]>,
        kept: &Kept,
    ) -> Result<Self, SetupError> {
        let tickets = kept.tickets.unwrap_or(0);
        let mut config = Self::new(Some(tickets)).map_err(refused("server"))?;
        let sends = isize::from(tickets > 0);
        config.option(ffi::SSL_ENABLE_SESSION_TICKETS, sends)?;
        if kept.in_library.is_some() {
            have_cache().map_err(refused("sessions"))?;
        } else {
            config.option(ffi::SSL_NO_CACHE, 1)?;
        }
        config
            .certify(&identity, staple)
            .map_err(refused("chain and key"))?;
        config.identity = Some(Box::new(identity));
        Ok(config)
    }

    fn new(server_tickets: Option<u8>) -> Result<Self, Error> {
        let end = Lent::new(CallbackTransport::new(io::empty()));
        Ok(Self {
            model: socket(ptr::null_mut(), &end)?,
            server_tickets,
            end,
            roots: None,
            identity: None,
        })
    }

    /// Returns the model, for further settings before sessions are made of it.
    pub(crate) fn model(&self) -> FileDesc {
        self.model.pointer()
    }

    pub(crate) fn is_server(&self) -> bool {
        self.server_tickets.is_some()
    }

    pub(crate) fn option(&self, option: i32, value: isize) -> Result<(), SetupError> {
        // SAFETY: the socket is alive.
        let status = unsafe { ffi::SSL_OptionSet(self.model(), option, value) };
        checked(status).map_err(refused("option"))
    }

    /// Sets the application protocols, in order of preference.
    pub(crate) fn set_alpn(&self, alpn: &[Alpn]) -> Result<(), SetupError> {
        if alpn.is_empty() {
            // A server with an empty list would end the handshake with an alert.
            return Ok(());
        }
        // The library moves the first protocol to the end.
        let mut protocols = alpn.to_vec();
        protocols.rotate_right(1);
        let names = alpn_list(&protocols);
        // SAFETY: the socket is alive, and the library copies the names.
        let status =
            unsafe { ffi::SSL_SetNextProtoNego(self.model(), names.as_ptr(), length(names.len())) };
        checked(status).map_err(refused("application protocols"))
    }

    /// Sets the certificate that a client sends to a server that requests one.
    pub(crate) fn set_identity(&mut self, identity: Identity) -> Result<(), SetupError> {
        let identity = self.identity.insert(Box::new(identity));
        let user = ptr::from_mut(&mut **identity).cast();
        // SAFETY: sessions keep this configuration, and so the identity, alive.
        let status = unsafe { ffi::SSL_GetClientAuthDataHook(self.model(), show_identity, user) };
        checked(status).map_err(refused("client certificate"))
    }

    /// Makes a server request certificates, and verify them.
    pub(crate) fn require_certificates(&mut self, roots: Roots) -> Result<(), SetupError> {
        self.roots = Some(roots);
        self.option(ffi::SSL_REQUEST_CERTIFICATE, 1)?;
        self.option(ffi::SSL_REQUIRE_CERTIFICATE, 1)
    }

    /// Returns the number of tickets to send after a handshake, beside the one that the library sends by
    /// default. Those of TLS 1.2 are a part of the handshake.
    pub(crate) fn further_tickets(&self, is_tls13: bool) -> u8 {
        let tickets = self.server_tickets.filter(|_| is_tls13);
        tickets.map_or(0, |count| count.saturating_sub(1))
    }

    fn certify(&self, identity: &Identity, staple: Option<&[u8]>) -> Result<(), Error> {
        let mut all: Vec<_> = identity.ders.iter().map(|der| Item::of(der)).collect();
        let chain = DerChain {
            certificates: all.as_mut_ptr(),
            len: c_int::try_from(all.len()).unwrap_or(c_int::MAX),
            ..DerChain::default()
        };
        let mut response = staple.map(Item::of);
        let stapled = response.as_mut().map(|items| ItemArray { items, len: 1 });
        let extra = ExtraServerCert {
            chain: &raw const chain,
            stapled: stapled.as_ref().map_or(ptr::null(), ptr::from_ref),
            ..ExtraServerCert::default()
        };
        // SAFETY: the socket is alive, and the library copies its arguments.
        checked(unsafe {
            ffi::SSL_ConfigServerCert(
                self.model(),
                identity.leaf().raw(),
                identity.key.pointer(),
                &raw const extra,
                length(size_of::<ExtraServerCert>()),
            )
        })
    }
}

/// Makes the library's cache, of which there is one for all servers of a process.
fn have_cache() -> Result<(), Error> {
    static MADE: OnceLock<Result<(), Error>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let entries = c_int::try_from(KEPT_SESSIONS).unwrap_or(c_int::MAX);
        // SAFETY: the function is called once; with 0, the library chooses the lifetime of sessions, and
        // without a folder its own.
        checked(unsafe { ffi::SSL_ConfigServerSessionIDCache(entries, 0, 0, ptr::null()) })
    });
    made.clone()
}

extern "C" fn show_identity(
    user: *mut c_void,
    _: FileDesc,
    _: *mut c_void,
    certificate: *mut ffi::Certificate,
    key: *mut ffi::PrivateKey,
) -> c_int {
    // SAFETY: the pointers are the one that `set_identity` passed, and places for the results, which the library releases.
    unsafe {
        let identity = &*user.cast::<Identity>();
        certificate.write(ffi::CERT_DupCertificate(identity.leaf().raw()));
        key.write(ffi::SECKEY_CopyPrivateKey(identity.key.pointer()));
    }
    ffi::SUCCESS
}
