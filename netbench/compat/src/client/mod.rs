//! The settings that a case gives its client in addition to a URL, and the actions of the client.

use std::{collections::BTreeMap, fmt};

use aws_lc_rs::{
    rsa,
    signature::{
        self, ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _, UnparsedPublicKey,
        VerificationAlgorithm,
    },
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use netbench_model::{SignatureScheme, tls::one_of};
use netbench_protocol::{ClientIdentity, Ech, HttpRequest};
use serde::Deserialize;

use crate::{
    certificates::{kebab_words, pem_body},
    ech::EchClientSpec,
};

const ECDSA_CERTIFICATE: &str = include_str!("ecdsa-certificate.pem");
const VERSION_1_CERTIFICATE: &str = include_str!("ecdsa-version-1.pem");
const ECDSA_KEY: &str = include_str!("ecdsa-pkcs8.pem");
const RSA_CERTIFICATE: &str = include_str!("rsa-certificate.pem");
const RSA_KEY: &str = include_str!("../certificates/keys/rsa-2048.pem");

/// The password of the encrypted files.
const PASSWORD: &str = "netbench";

/// The client of a case.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct ClientSpec {
    /// The file with its certificate and key.
    pub(crate) certificate: Option<ClientFile>,
    /// The password that the client is given, if it is a wrong one.
    password: Option<String>,
    /// Headers of its request.
    headers: BTreeMap<String, String>,
    pub(crate) visits: Visits,
    pub(crate) ech: Option<EchClientSpec>,
}

/// The number of a client's visits to the server of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Visits {
    /// One visit.
    #[default]
    Once,
    /// A second visit with the same connector; its outcome counts.
    Twice,
    /// The same, with a client that is set up to offer early data.
    TwiceWithEarlyData,
    /// If the server rejects Encrypted ClientHello, a second visit with the configurations that it sent, as RFC 9849 section
    /// 6.1.6 has it of applications; its outcome counts.
    WithRetryConfigs,
}

impl Visits {
    /// Returns whether the last visit offers a ticket of the first.
    pub fn resumes(self) -> bool {
        matches!(self, Self::Twice | Self::TwiceWithEarlyData)
    }
}

kebab_words!(ClientFile, "certificate of the client", {
    Pkcs8 = "pkcs8",
    Version1 = "version-1",
    Pkcs1 = "pkcs1",
    Sec1 = "sec1",
    EncryptedPkcs8 = "encrypted-pkcs8",
    EncryptedSec1 = "encrypted-sec1",
    Pkcs12 = "pkcs12",
    Pkcs12Rc2 = "pkcs12-rc2",
    Pkcs12Cut = "pkcs12-cut",
});

impl ClientSpec {
    /// Returns the certificate and key for a server that requests them.
    pub(crate) fn identity(&self) -> Option<ClientIdentity> {
        const PKCS12: &[u8] = include_bytes!("ecdsa.p12");
        let file = self.certificate?;
        let identity = match file {
            ClientFile::Pkcs8 => of_ecdsa(ECDSA_KEY),
            ClientFile::Version1 => ClientIdentity::of_pem(VERSION_1_CERTIFICATE, ECDSA_KEY),
            ClientFile::Pkcs1 => ClientIdentity::of_pem(RSA_CERTIFICATE, RSA_KEY),
            ClientFile::Sec1 => of_ecdsa(include_str!("ecdsa-sec1.pem")),
            ClientFile::EncryptedPkcs8 => of_ecdsa(include_str!("ecdsa-pkcs8-encrypted.pem")),
            ClientFile::EncryptedSec1 => of_ecdsa(include_str!("ecdsa-sec1-encrypted.pem")),
            ClientFile::Pkcs12 => of_pkcs12(PKCS12),
            ClientFile::Pkcs12Rc2 => of_pkcs12(include_bytes!("ecdsa-rc2.p12")),
            ClientFile::Pkcs12Cut => of_pkcs12(&PKCS12[..PKCS12.len() / 2]),
        };
        use ClientFile::{Pkcs1, Pkcs8, Sec1, Version1};
        let password = match file {
            Pkcs8 | Version1 | Pkcs1 | Sec1 => None,
            _ => Some(self.password.as_deref().unwrap_or(PASSWORD).to_owned()),
        };
        Some(ClientIdentity {
            password,
            ..identity
        })
    }

    /// Returns its Encrypted ClientHello.
    pub(crate) fn ech(&self) -> Option<Ech> {
        let ech = self.ech.as_ref()?;
        Some(match ech.grease {
            true => Ech::Grease,
            false => Ech::Configs(BASE64_STANDARD.encode(ech.list())),
        })
    }

    /// Returns its request.
    pub(crate) fn request(&self) -> HttpRequest {
        HttpRequest {
            headers: self.headers.clone().into_iter().collect(),
            ..HttpRequest::default()
        }
    }

    /// Returns the first invalid header.
    pub(crate) fn wrong_header(&self) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(name, value)| {
                name.is_empty()
                    || !name
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                    || !value
                        .bytes()
                        .all(|byte| byte == b' ' || byte.is_ascii_graphic())
            })
            .map(|(name, _)| name.as_str())
    }
}

impl ClientFile {
    /// Returns the file's certificate, as DER.
    pub(crate) fn certificate(self) -> Vec<u8> {
        let pem = match self {
            Self::Pkcs1 => RSA_CERTIFICATE,
            Self::Version1 => VERSION_1_CERTIFICATE,
            _ => ECDSA_CERTIFICATE,
        };
        der(pem)
    }

    /// Returns whether a signature over `message` was made with the file's key.
    pub(crate) fn has_signed(
        self,
        scheme: SignatureScheme,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        use SignatureScheme as S;
        let is_rsa = self == Self::Pkcs1;
        let algorithm: &'static dyn VerificationAlgorithm = match (is_rsa, scheme) {
            (true, S::RSA_PSS_RSAE_SHA256) => &signature::RSA_PSS_2048_8192_SHA256,
            (true, S::RSA_PSS_RSAE_SHA384) => &signature::RSA_PSS_2048_8192_SHA384,
            (true, S::RSA_PSS_RSAE_SHA512) => &signature::RSA_PSS_2048_8192_SHA512,
            (true, S::RSA_PKCS1_SHA256) => &signature::RSA_PKCS1_2048_8192_SHA256,
            (true, S::RSA_PKCS1_SHA384) => &signature::RSA_PKCS1_2048_8192_SHA384,
            (true, S::RSA_PKCS1_SHA512) => &signature::RSA_PKCS1_2048_8192_SHA512,
            (false, S::ECDSA_SECP256R1_SHA256) => &signature::ECDSA_P256_SHA256_ASN1,
            // In TLS 1.2 a scheme does not determine the curve (RFC 8446 section 4.2.3).
            (false, S::ECDSA_SECP384R1_SHA384) => &signature::ECDSA_P256_SHA384_ASN1,
            _ => return false,
        };
        let public = if is_rsa {
            let key = rsa::KeyPair::from_der(&der(RSA_KEY));
            key.map(|key| key.public_key().as_ref().to_vec())
        } else {
            let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &der(ECDSA_KEY));
            key.map(|key| key.public_key().as_ref().to_vec())
        };
        let public = public.map(|public| UnparsedPublicKey::new(algorithm, public));
        public.is_ok_and(|public| public.verify(message, signature).is_ok())
    }
}

fn of_ecdsa(key: &str) -> ClientIdentity {
    ClientIdentity::of_pem(ECDSA_CERTIFICATE, key)
}

fn of_pkcs12(file: &[u8]) -> ClientIdentity {
    ClientIdentity {
        pkcs12_base64: Some(BASE64_STANDARD.encode(file)),
        ..ClientIdentity::of_pem("", "")
    }
}

fn der(pem: &str) -> Vec<u8> {
    pem_body(pem).unwrap_or_default()
}
