use super::{code_point::code_point, is_grease};

code_point!(
    /// A signature scheme (RFC 8446 section 4.2.3).
    SignatureScheme(u16), "signature scheme", "signature-schemes.tsv", "0x{:04X}", {
        ECDSA_SECP256R1_SHA256 = 0x0403,
        ECDSA_SECP384R1_SHA384 = 0x0503,
        ECDSA_SECP521R1_SHA512 = 0x0603,
        ED25519 = 0x0807,
        ED448 = 0x0808,
        RSA_PSS_RSAE_SHA256 = 0x0804,
        RSA_PSS_RSAE_SHA384 = 0x0805,
        RSA_PSS_RSAE_SHA512 = 0x0806,
        RSA_PKCS1_SHA1 = 0x0201,
        RSA_PKCS1_SHA256 = 0x0401,
        RSA_PKCS1_SHA384 = 0x0501,
        RSA_PKCS1_SHA512 = 0x0601,
        MLDSA44 = 0x0904,
        MLDSA65 = 0x0905,
        MLDSA87 = 0x0906,
    }
);

impl SignatureScheme {
    /// The schemes that clients offer, which every stack verifies, in the order of preference of browsers. The schemes
    /// of RSASSA-PKCS1-v1_5 are for certificates and TLS 1.2.
    pub const OFFERED: &'static [Self] = &[
        Self::ECDSA_SECP256R1_SHA256,
        Self::ECDSA_SECP384R1_SHA384,
        Self::ED25519,
        Self::RSA_PSS_RSAE_SHA256,
        Self::RSA_PSS_RSAE_SHA384,
        Self::RSA_PSS_RSAE_SHA512,
        Self::RSA_PKCS1_SHA256,
        Self::RSA_PKCS1_SHA384,
        Self::RSA_PKCS1_SHA512,
    ];

    /// The schemes of ML-DSA (FIPS 204), which are for TLS 1.3 alone. Clients offer those that a site's chain needs, in addition
    /// to [`SignatureScheme::OFFERED`].
    pub const ML_DSA: &'static [Self] = &[Self::MLDSA44, Self::MLDSA65, Self::MLDSA87];

    /// Returns the schemes that a client may have to verify.
    pub fn known() -> Vec<Self> {
        [Self::OFFERED, Self::ML_DSA].concat()
    }
}

code_point!(
    /// An extension of a hello (RFC 8446 section 4.2). IANA lists them in decimal.
    ExtensionType(u16), "extension", "extensions.tsv", "{}", {
        SERVER_NAME = 0,
        STATUS_REQUEST = 5,
        SUPPORTED_GROUPS = 10,
        SIGNATURE_ALGORITHMS = 13,
        SUPPORTED_VERSIONS = 43,
        KEY_SHARE = 51,
    }
);

impl ExtensionType {
    /// Returns the name, `GREASE` (RFC 8701), or the number.
    pub fn shown(self) -> String {
        if is_grease(self.0) {
            "GREASE".to_owned()
        } else {
            self.to_string()
        }
    }
}

code_point!(
    /// An alert (RFC 8446 section 6; RFC 5246 section 7.2 and RFC 6101 for the alerts that RFC 8446 dropped).
    Alert(u8), "alert", "alerts.tsv", "0x{:02X}", {
        CLOSE_NOTIFY = 0,
        UNEXPECTED_MESSAGE = 10,
        HANDSHAKE_FAILURE = 40,
        ILLEGAL_PARAMETER = 47,
        PROTOCOL_VERSION = 70,
        INTERNAL_ERROR = 80,
        NO_APPLICATION_PROTOCOL = 120,
    }
);
