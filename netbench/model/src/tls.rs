use crate::named::named;

named!(
    /// A TLS version that both sides of a comparison can be held to.
    TlsVersion, "TLS version", {
        /// RFC 5246.
        Tls12 = "1.2",
        /// RFC 8446.
        Tls13 = "1.3",
    }
);

named!(
    /// A cipher suite, by its IANA name. In the order browsers prefer.
    Suite, "cipher suite", {
        /// RFC 8446.
        Aes128Gcm13 = "TLS_AES_128_GCM_SHA256",
        /// RFC 8446.
        ChaCha13 = "TLS_CHACHA20_POLY1305_SHA256",
        /// RFC 8446.
        Aes256Gcm13 = "TLS_AES_256_GCM_SHA384",
        /// RFC 5289.
        EcdsaAes128Gcm = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        /// RFC 5289.
        RsaAes128Gcm = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        /// RFC 7905.
        EcdsaChaCha = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        /// RFC 7905.
        RsaChaCha = "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        /// RFC 5289.
        EcdsaAes256Gcm = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        /// RFC 5289.
        RsaAes256Gcm = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        /// RFC 5289; a legacy suite that only some stacks speak, for sites of the lab.
        RsaAes128Cbc = "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
        /// RFC 5288; finite-field Diffie-Hellman, for sites of the lab.
        DheRsaAes128Gcm = "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256",
        /// RFC 5288; RSA key exchange, for sites of the lab.
        PlainRsaAes128Gcm = "TLS_RSA_WITH_AES_128_GCM_SHA256",
    }
);

impl Suite {
    /// The suites that every stack offers by default: AEAD with forward secrecy.
    pub const MODERN: &'static [Self] = &[
        Self::Aes128Gcm13,
        Self::ChaCha13,
        Self::Aes256Gcm13,
        Self::EcdsaAes128Gcm,
        Self::RsaAes128Gcm,
        Self::EcdsaChaCha,
        Self::RsaChaCha,
        Self::EcdsaAes256Gcm,
        Self::RsaAes256Gcm,
    ];

    /// The version that the suite belongs to.
    pub fn version(self) -> TlsVersion {
        match self {
            Self::Aes128Gcm13 | Self::ChaCha13 | Self::Aes256Gcm13 => TlsVersion::Tls13,
            _ => TlsVersion::Tls12,
        }
    }
}

named!(
    /// A key-exchange group, by its IANA name. In the order browsers prefer.
    Group, "group", {
        /// The hybrid of draft-ietf-tls-ecdhe-mlkem.
        X25519MlKem768 = "X25519MLKEM768",
        /// RFC 7748.
        X25519 = "x25519",
        /// NIST P-256.
        Secp256r1 = "secp256r1",
        /// NIST P-384.
        Secp384r1 = "secp384r1",
    }
);

named!(
    /// A signature scheme, by its name in RFC 8446 section 4.2.3.
    SignatureScheme, "signature scheme", {
        /// ECDSA on P-256.
        EcdsaSecp256r1Sha256 = "ecdsa_secp256r1_sha256",
        /// ECDSA on P-384.
        EcdsaSecp384r1Sha384 = "ecdsa_secp384r1_sha384",
        /// EdDSA on edwards25519.
        Ed25519 = "ed25519",
        /// RSASSA-PSS, SHA-256.
        RsaPssRsaeSha256 = "rsa_pss_rsae_sha256",
        /// RSASSA-PSS, SHA-384.
        RsaPssRsaeSha384 = "rsa_pss_rsae_sha384",
        /// RSASSA-PSS, SHA-512.
        RsaPssRsaeSha512 = "rsa_pss_rsae_sha512",
        /// RSASSA-PKCS1-v1_5, SHA-256: certificates and TLS 1.2.
        RsaPkcs1Sha256 = "rsa_pkcs1_sha256",
        /// RSASSA-PKCS1-v1_5, SHA-384: certificates and TLS 1.2.
        RsaPkcs1Sha384 = "rsa_pkcs1_sha384",
        /// RSASSA-PKCS1-v1_5, SHA-512: certificates and TLS 1.2.
        RsaPkcs1Sha512 = "rsa_pkcs1_sha512",
    }
);

named!(
    /// An application protocol (RFC 7301).
    Alpn, "application protocol", {
        /// HTTP/2.
        H2 = "h2",
        /// HTTP/1.1.
        Http11 = "http/1.1",
    }
);
