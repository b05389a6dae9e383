//! Code points of TLS, by OpenSSL's names.

const GROUPS: &[(u16, &str)] = &[
    (23, "secp256r1"),
    (24, "secp384r1"),
    (25, "secp521r1"),
    (29, "x25519"),
    (30, "x448"),
    (512, "MLKEM512"),
    (513, "MLKEM768"),
    (514, "MLKEM1024"),
    (4587, "SecP256r1MLKEM768"),
    (4588, "X25519MLKEM768"),
    (4589, "SecP384r1MLKEM1024"),
];

const SIGNATURES: &[(u16, &str)] = &[
    (0x0201, "rsa_pkcs1_sha1"),
    (0x0203, "ecdsa_sha1"),
    (0x0401, "rsa_pkcs1_sha256"),
    (0x0403, "ecdsa_secp256r1_sha256"),
    (0x0501, "rsa_pkcs1_sha384"),
    (0x0503, "ecdsa_secp384r1_sha384"),
    (0x0601, "rsa_pkcs1_sha512"),
    (0x0603, "ecdsa_secp521r1_sha512"),
    (0x0804, "rsa_pss_rsae_sha256"),
    (0x0805, "rsa_pss_rsae_sha384"),
    (0x0806, "rsa_pss_rsae_sha512"),
    (0x0807, "ed25519"),
    (0x0904, "mldsa44"),
    (0x0905, "mldsa65"),
    (0x0906, "mldsa87"),
];

const TLS13_SUITES: &[(u16, &str)] = &[
    (0x1301, "TLS_AES_128_GCM_SHA256"),
    (0x1302, "TLS_AES_256_GCM_SHA384"),
    (0x1303, "TLS_CHACHA20_POLY1305_SHA256"),
];

pub(crate) fn group(code: u16) -> Option<&'static str> {
    find(GROUPS, code)
}

pub(crate) fn group_code(name: &str) -> Option<u16> {
    let mut groups = GROUPS.iter();
    groups
        .find(|(_, known)| known.eq_ignore_ascii_case(name))
        .map(|(code, _)| *code)
}

pub(crate) fn signature(code: u16) -> Option<&'static str> {
    find(SIGNATURES, code)
}

pub(crate) fn tls13_suite(code: u16) -> Option<&'static str> {
    find(TLS13_SUITES, code)
}

fn find(table: &[(u16, &'static str)], code: u16) -> Option<&'static str> {
    table
        .iter()
        .find(|(known, _)| *known == code)
        .map(|(_, name)| *name)
}
