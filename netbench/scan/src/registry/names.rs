//! Names of signature schemes (RFC 8446 section 4.2.3), extensions and alerts.

const SIGNATURES: &[(u16, &str)] = &[
    (0x0201, "rsa_pkcs1_sha1"),
    (0x0202, "dsa_sha1"),
    (0x0203, "ecdsa_sha1"),
    (0x0301, "rsa_pkcs1_sha224"),
    (0x0302, "dsa_sha224"),
    (0x0303, "ecdsa_sha224"),
    (0x0401, "rsa_pkcs1_sha256"),
    (0x0402, "dsa_sha256"),
    (0x0403, "ecdsa_secp256r1_sha256"),
    (0x0501, "rsa_pkcs1_sha384"),
    (0x0502, "dsa_sha384"),
    (0x0503, "ecdsa_secp384r1_sha384"),
    (0x0601, "rsa_pkcs1_sha512"),
    (0x0602, "dsa_sha512"),
    (0x0603, "ecdsa_secp521r1_sha512"),
    (0x0708, "sm2sig_sm3"),
    (0x0804, "rsa_pss_rsae_sha256"),
    (0x0805, "rsa_pss_rsae_sha384"),
    (0x0806, "rsa_pss_rsae_sha512"),
    (0x0807, "ed25519"),
    (0x0808, "ed448"),
    (0x0809, "rsa_pss_pss_sha256"),
    (0x080a, "rsa_pss_pss_sha384"),
    (0x080b, "rsa_pss_pss_sha512"),
    (0x081a, "ecdsa_brainpoolP256r1tls13_sha256"),
    (0x081b, "ecdsa_brainpoolP384r1tls13_sha384"),
    (0x081c, "ecdsa_brainpoolP512r1tls13_sha512"),
    (0x0904, "mldsa44"),
    (0x0905, "mldsa65"),
    (0x0906, "mldsa87"),
];

const EXTENSIONS: &[(u16, &str)] = &[
    (0, "server_name"),
    (1, "max_fragment_length"),
    (5, "status_request"),
    (10, "supported_groups"),
    (11, "ec_point_formats"),
    (13, "signature_algorithms"),
    (14, "use_srtp"),
    (15, "heartbeat"),
    (16, "application_layer_protocol_negotiation"),
    (17, "status_request_v2"),
    (18, "signed_certificate_timestamp"),
    (21, "padding"),
    (22, "encrypt_then_mac"),
    (23, "extended_master_secret"),
    (27, "compress_certificate"),
    (28, "record_size_limit"),
    (34, "delegated_credential"),
    (35, "session_ticket"),
    (41, "pre_shared_key"),
    (42, "early_data"),
    (43, "supported_versions"),
    (44, "cookie"),
    (45, "psk_key_exchange_modes"),
    (47, "certificate_authorities"),
    (49, "post_handshake_auth"),
    (50, "signature_algorithms_cert"),
    (51, "key_share"),
    (57, "quic_transport_parameters"),
    (13172, "next_protocol_negotiation"),
    (17513, "application_settings_old"),
    (17613, "application_settings"),
    (0xfe0d, "encrypted_client_hello"),
    (0xff01, "renegotiation_info"),
];

const ALERTS: &[(u8, &str)] = &[
    (0, "close_notify"),
    (10, "unexpected_message"),
    (20, "bad_record_mac"),
    (21, "decryption_failed"),
    (22, "record_overflow"),
    (30, "decompression_failure"),
    (40, "handshake_failure"),
    (41, "no_certificate"),
    (42, "bad_certificate"),
    (43, "unsupported_certificate"),
    (44, "certificate_revoked"),
    (45, "certificate_expired"),
    (46, "certificate_unknown"),
    (47, "illegal_parameter"),
    (48, "unknown_ca"),
    (49, "access_denied"),
    (50, "decode_error"),
    (51, "decrypt_error"),
    (60, "export_restriction"),
    (70, "protocol_version"),
    (71, "insufficient_security"),
    (80, "internal_error"),
    (86, "inappropriate_fallback"),
    (90, "user_canceled"),
    (100, "no_renegotiation"),
    (109, "missing_extension"),
    (110, "unsupported_extension"),
    (111, "certificate_unobtainable"),
    (112, "unrecognized_name"),
    (113, "bad_certificate_status_response"),
    (115, "unknown_psk_identity"),
    (116, "certificate_required"),
    (120, "no_application_protocol"),
    (121, "ech_required"),
];

/// Every signature scheme known here, by code point.
pub fn signature_schemes() -> impl Iterator<Item = u16> + Clone {
    SIGNATURES.iter().map(|(code, _)| *code)
}

/// The scheme's name, or its code point in hexadecimal.
pub fn signature_name(code: u16) -> String {
    name(SIGNATURES, code).map_or_else(|| format!("0x{code:04X}"), str::to_owned)
}

/// The extension's name, `GREASE`, or its number.
pub fn extension_name(code: u16) -> String {
    if is_grease(code) {
        return "GREASE".to_owned();
    }
    name(EXTENSIONS, code).map_or_else(|| code.to_string(), str::to_owned)
}

/// The alert's name (RFC 8446 section 6), or its number.
pub fn alert_name(code: u8) -> String {
    ALERTS
        .iter()
        .find(|(known, _)| *known == code)
        .map_or_else(|| format!("alert {code}"), |(_, name)| (*name).to_owned())
}

/// Whether the value is one of those that RFC 8701 reserves so that servers learn to ignore what
/// they do not know.
pub fn is_grease(code: u16) -> bool {
    code & 0x0f0f == 0x0a0a && code >> 8 == code & 0xff
}

fn name(table: &'static [(u16, &'static str)], code: u16) -> Option<&'static str> {
    table
        .iter()
        .find(|(known, _)| *known == code)
        .map(|(_, name)| *name)
}
