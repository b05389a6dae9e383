use std::{hash::Hasher, sync::Arc};

use netbench_tls::{Profile, SignatureScheme};
use netbench_worker::{ClientSetup, Fetch, Probe, SetupError, TrustRoots, own_client, refused};
use rustls::{
    ClientConfig, Error,
    client::{
        WebPkiServerVerifier,
        danger::{
            HandshakeSignatureValid, ServerIdentity, ServerVerifier, SignatureVerificationInput,
        },
    },
    crypto::VerifiedIdentity,
    enums::ApplicationProtocol,
};
use rustls_pki_types::ServerName;
use rustls_ring::DEFAULT_PROVIDER;

use crate::{
    settings::{held_to, identity as identity_of, mappings, of_versions, roots},
    stream::Session,
};

/// Parses the roots and makes rustls' configuration, and a connector for hyper: no release of hyper-rustls supports this
/// line. As with hyper-rustls, the client writes no early data before the handshake is done.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let mut config = config(setup)?;
    config.enable_early_data = setup.early_data;
    let config = Arc::new(config);
    Ok(own_client(setup, move |host, socket| {
        let name = ServerName::try_from(host.to_owned())?;
        let mut hello = Vec::new();
        let connection = config.connect(name).build(&mut hello)?;
        Ok(Session::new(socket, connection, hello))
    }))
}

fn config(setup: &ClientSetup<'_>) -> Result<ClientConfig, SetupError> {
    let settings = setup.settings;
    let provider = match settings.profile {
        Profile::Library => of_versions(DEFAULT_PROVIDER, &settings.versions)?,
        Profile::Default | Profile::Servo => {
            held_to(&settings.versions, &settings.suites, &settings.groups)?
        }
    };
    let roots = roots(TrustRoots::Pem(setup.roots_pem))?;
    let webpki = WebPkiServerVerifier::builder(roots, &provider).build();
    let webpki = webpki.map_err(refused("verifier"))?;
    let verifier = TimedVerifier {
        schemes: match settings.profile {
            Profile::Library => webpki.supported_verify_schemes(),
            Profile::Default | Profile::Servo => {
                let known = mappings(&settings.signatures)?.into_iter();
                known.map(|(scheme, _)| scheme).collect()
            }
        },
        webpki,
        profile: settings.profile,
        probe: setup.probe.clone(),
    };
    let builder = ClientConfig::builder(Arc::new(provider))
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let config = match setup.identity {
        None => builder.with_no_client_auth(),
        Some(identity) if identity.pkcs12_base64.is_some() => {
            return Err(SetupError::unsupported("rustls reads no PKCS#12"));
        }
        Some(identity) => {
            let (chain, key) = identity_of(&identity.chain_pem, &identity.key_pem)?;
            builder.with_client_auth_cert(chain, key)
        }
    };
    let mut config = config.map_err(refused("client"))?;
    let alpn = settings.alpn.iter().map(|alpn| alpn.name().as_bytes());
    config.alpn_protocols = alpn.map(ApplicationProtocol::from).collect();
    Ok(config)
}

/// rustls' own verifier, with its time measured.
#[derive(Debug)]
struct TimedVerifier {
    webpki: WebPkiServerVerifier,
    schemes: Vec<rustls::crypto::SignatureScheme>,
    profile: Profile,
    probe: Probe,
}

impl ServerVerifier for TimedVerifier {
    fn verify_identity<'a>(
        &self,
        identity: &ServerIdentity<'a, '_>,
    ) -> Result<VerifiedIdentity<'a>, Error> {
        self.probe.verify(|| self.webpki.verify_identity(identity))
    }

    fn verify_tls12_signature(
        &self,
        input: &SignatureVerificationInput<'_>,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.probe
            .signature(SignatureScheme(input.signature.scheme.0));
        self.webpki.verify_tls12_signature(input)
    }

    fn verify_tls13_signature(
        &self,
        input: &SignatureVerificationInput<'_>,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.probe
            .signature(SignatureScheme(input.signature.scheme.0));
        self.webpki.verify_tls13_signature(input)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::crypto::SignatureScheme> {
        self.schemes.clone()
    }

    fn request_ocsp_response(&self) -> bool {
        // By default, rustls requests none, as webpki does not read them.
        self.profile != Profile::Library || self.webpki.request_ocsp_response()
    }

    fn hash_config(&self, hasher: &mut dyn Hasher) {
        self.webpki.hash_config(hasher);
        for scheme in &self.schemes {
            hasher.write_u16(scheme.0);
        }
    }
}
