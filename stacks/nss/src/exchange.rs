//! Key exchange by libssl's calls for TLS 1.3 (`tls13_CreateKeyShare`, `tls13_HandleKeyShare`).

use std::ptr;

use netbench_tls::Group;
use netbench_worker::{Exchange, ExchangeCalls, KeyExchange, Owned, SetupError, refused};

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

/// Makes a key exchange in a group.
pub(crate) fn exchange(group: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
    library().map_err(refused("NSS"))?;
    let mut known = CURVES.iter();
    let (_, curve) = known.find(|(own, _)| *own == group).ok_or_else(|| {
        SetupError::Unsupported(format!("its worker does not call NSS' {group} by itself"))
    })?;
    let calls = ExchangeCalls {
        start: |curve: &&'static [u8]| Pair::new(curve),
        respond: |curve, client| {
            let server = Pair::new(curve)?;
            let secret = server.agreed(curve, client.share())?;
            Ok((server, secret))
        },
        agree: |curve, client, (server, _)| {
            let secret = client.agreed(curve, server.share())?;
            Ok((Some(client), secret))
        },
        secrets: |client, (_, server)| [bytes(client), bytes(server)],
    };
    Ok(Box::new(Exchange::new(*curve, calls)))
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

    /// Derives the secret of this key and the other side's share.
    fn agreed(&self, curve: &[u8], share: &[u8]) -> Result<Owned<SymKeyStr>, Error> {
        let mut other = PublicKeyStr {
            kind: pk11::EC_KEY,
            parameters: Item::of(curve),
            value: Item::of(share),
            ..PublicKeyStr::default()
        };
        // SAFETY: all arguments live longer than the call, and the library keeps none of them.
        unsafe {
            made(pk11::PK11_PubDeriveWithKDF(
                self.key.pointer(),
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

    /// Returns the public key in the format of a key share.
    fn share(&self) -> &[u8] {
        // SAFETY: the key lives as long as the pair.
        unsafe { (*self.public.pointer()).value.bytes() }
    }
}

/// Returns a secret's bytes, or none if the library does not hand them out.
fn bytes(secret: &Owned<SymKeyStr>) -> &[u8] {
    // SAFETY: the key keeps the bytes as long as it lives.
    unsafe {
        match checked(pk11::PK11_ExtractKeyValue(secret.pointer())) {
            Ok(()) => (*pk11::PK11_GetKeyData(secret.pointer())).bytes(),
            Err(_) => &[],
        }
    }
}
