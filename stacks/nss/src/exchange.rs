//! Key exchange by libssl's calls for TLS 1.3 (`tls13_CreateKeyShare`, `tls13_HandleKeyShare`).

use std::ptr;

use netbench_tls::{FailureWord, Group};
use netbench_worker::{KeyExchange, Owned, SessionError, SetupError, failed, refused};

use crate::{
    ffi::{Item, PrivateKeyStr},
    library::{Error, checked, library, made},
    pk11::{self, PublicKeyStr, SymKeyStr},
};

/// The curves' object identifiers in DER, as in the library.
const CURVES: &[(Group, &[u8])] = &[
    (Group::X25519, &[6, 9, 0x2b, 6, 1, 4, 1, 0xda, 0x47, 15, 1]),
    (
        Group::SECP256R1,
        &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7],
    ),
    (Group::SECP384R1, &[6, 5, 0x2b, 0x81, 4, 0, 0x22]),
];

/// Both sides of an exchange.
pub(crate) struct Exchange {
    curve: &'static [u8],
    client: Option<Pair>,
    /// The server's share.
    answer: Vec<u8>,
    client_secret: Option<Owned<SymKeyStr>>,
    server_secret: Option<Owned<SymKeyStr>>,
}

impl Exchange {
    pub(crate) fn new(group: Group) -> Result<Self, SetupError> {
        library().map_err(refused("NSS"))?;
        let mut known = CURVES.iter();
        let (_, curve) = known.find(|(own, _)| *own == group).ok_or_else(|| {
            SetupError::Unsupported(format!("its worker does not call NSS' {group} by itself"))
        })?;
        Ok(Self {
            curve,
            client: None,
            answer: Vec::new(),
            client_secret: None,
            server_secret: None,
        })
    }

    /// Derives the secret of one side's key and the other side's share.
    fn agreed(&self, pair: &Pair, share: &[u8]) -> Result<Owned<SymKeyStr>, Error> {
        let mut other = PublicKeyStr {
            kind: pk11::EC_KEY,
            parameters: Item::of(self.curve),
            value: Item::of(share),
            ..PublicKeyStr::default()
        };
        // SAFETY: all arguments live longer than the call, and the library keeps none of them.
        unsafe {
            made(pk11::PK11_PubDeriveWithKDF(
                pair.key.pointer(),
                &raw mut other,
                0,
                ptr::null_mut(),
                ptr::null_mut(),
                pk11::CKM_ECDH1_DERIVE,
                pk11::CKM_HKDF_DERIVE,
                pk11::CKA_DERIVE,
                0,
                pk11::CKD_NULL,
                ptr::null_mut(),
                ptr::null_mut(),
            ))
        }
    }

    fn client(&self) -> Result<&Pair, SessionError> {
        let client = self.client.as_ref();
        client.ok_or_else(|| SessionError::new(FailureWord::Primitive, "no key share"))
    }
}

impl KeyExchange for Exchange {
    fn key_share(&mut self) -> Result<(), SessionError> {
        let made = Pair::new(self.curve).map_err(failed(FailureWord::Primitive))?;
        self.client = Some(made);
        Ok(())
    }

    fn respond(&mut self) -> Result<(), SessionError> {
        let client = self.client()?;
        let server = Pair::new(self.curve).map_err(failed(FailureWord::Primitive))?;
        let secret = self.agreed(&server, client.share());
        self.server_secret = Some(secret.map_err(failed(FailureWord::Primitive))?);
        self.answer.clear();
        self.answer.extend_from_slice(server.share());
        Ok(())
    }

    fn agree(&mut self) -> Result<(), SessionError> {
        let secret = self.agreed(self.client()?, &self.answer);
        self.client_secret = Some(secret.map_err(failed(FailureWord::Primitive))?);
        Ok(())
    }

    fn secrets(&self) -> Option<[&[u8]; 2]> {
        let (client, server) = (self.client_secret.as_ref()?, self.server_secret.as_ref()?);
        Some([bytes(client)?, bytes(server)?])
    }
}

/// A key pair.
struct Pair {
    key: Owned<PrivateKeyStr>,
    public: Owned<PublicKeyStr>,
}

impl Pair {
    fn new(curve: &[u8]) -> Result<Self, Error> {
        let (mut curve, mut public) = (Item::of(curve), ptr::null_mut());
        // SAFETY: the place for the result lives longer than the call, and the library copies the parameters.
        unsafe {
            let key =
                pk11::SECKEY_CreateECPrivateKey(&raw mut curve, &raw mut public, ptr::null_mut());
            Ok(Self {
                key: made(key)?,
                public: made(public)?,
            })
        }
    }

    /// Returns the public key in the format of a key share.
    fn share(&self) -> &[u8] {
        // SAFETY: the key lives as long as the pair.
        unsafe { (*self.public.pointer()).value.bytes() }
    }
}

fn bytes(secret: &Owned<SymKeyStr>) -> Option<&[u8]> {
    // SAFETY: the key keeps the bytes as long as it lives.
    unsafe {
        checked(pk11::PK11_ExtractKeyValue(secret.pointer())).ok()?;
        Some((*pk11::PK11_GetKeyData(secret.pointer())).bytes())
    }
}
