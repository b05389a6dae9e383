//! The settings: each is a server with a list of suites, in that server's notation.

use netbench_model::tls::TlsVersion::{self, Tls10, Tls11, Tls12, Tls13};

use crate::support::Key;

/// A server program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Openssl,
    Nginx,
    Apache,
    Haproxy,
    Stunnel,
    Node,
    Gnutls,
    Nss,
    Go,
}

/// A setting of a program.
pub(crate) struct Setting {
    pub(crate) program: Program,
    pub(crate) key: Key,
    /// The oldest version and the newest.
    pub(crate) versions: (TlsVersion, TlsVersion),
    /// The suites below TLS 1.3: a list of OpenSSL; a priority string of GnuTLS, which includes TLS 1.3; codes for
    /// NSS and Go.
    pub(crate) list: &'static str,
    /// The suites of TLS 1.3, if OpenSSL serves; empty for its default.
    pub(crate) newest: &'static [&'static str],
}

impl Setting {
    pub(crate) fn name(&self) -> String {
        let Self {
            program,
            key,
            versions: (oldest, newest),
            list,
            ..
        } = self;
        let start: String = list.chars().take(60).collect();
        let program = format!("{program:?}").to_lowercase();
        let more = match self.newest {
            [] => String::new(),
            suites => format!(" {}", suites.join(":")),
        };
        format!("{program} {key:?} TLS {oldest} to {newest} {start}{more}")
    }
}

const ALL: &str = "ALL:@SECLEVEL=0";
const INTERMEDIATE: &str = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:\
    ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES128-GCM-SHA256:\
    DHE-RSA-AES256-GCM-SHA384:DHE-RSA-CHACHA20-POLY1305";
const MODERN: &str = "ECDHE+AESGCM:ECDHE+CHACHA20";
const CBC: &str =
    "ECDHE+AES+SHA1:ECDHE+AES+SHA256:ECDHE+AES+SHA384:AES128-SHA:AES256-SHA:@SECLEVEL=0";
const KEY_EXCHANGE_BY_RSA: &str = "kRSA+AES:@SECLEVEL=0";
const ONE: &str = "ECDHE-RSA-AES256-GCM-SHA384";
const AES128_ALONE: &[&str] = &["TLS_AES_128_GCM_SHA256"];
const CCM: &[&str] = &["TLS_AES_128_CCM_SHA256", "TLS_AES_256_GCM_SHA384"];

/// The fields of a [`Setting`], in their order.
type Row = (
    Program,
    Key,
    (TlsVersion, TlsVersion),
    &'static str,
    &'static [&'static str],
);

pub(crate) fn settings() -> Vec<Setting> {
    use Key::{EcdsaP256 as Ec, Rsa};
    use Program::{Apache, Gnutls, Go, Haproxy, Nginx, Node, Nss, Openssl, Stunnel};
    let new = (Tls12, Tls13);
    let every = (Tls10, Tls13);
    let rows: &[Row] = &[
        (Openssl, Rsa, every, ALL, &[]),
        (Openssl, Ec, every, ALL, &[]),
        (Openssl, Rsa, (Tls10, Tls11), ALL, &[]),
        (Openssl, Rsa, new, CBC, CCM),
        (Openssl, Ec, (Tls13, Tls13), "", AES128_ALONE),
        (Openssl, Rsa, (Tls12, Tls12), KEY_EXCHANGE_BY_RSA, &[]),
        (Nginx, Rsa, new, INTERMEDIATE, &[]),
        (Nginx, Ec, new, INTERMEDIATE, &[]),
        (Nginx, Rsa, every, CBC, &[]),
        (Nginx, Rsa, (Tls12, Tls12), ONE, &[]),
        (Nginx, Ec, (Tls13, Tls13), MODERN, AES128_ALONE),
        (Nginx, Rsa, every, ALL, &[]),
        (Apache, Rsa, new, INTERMEDIATE, &[]),
        (Apache, Ec, new, MODERN, &[]),
        (Apache, Rsa, every, CBC, &[]),
        (Apache, Rsa, (Tls12, Tls12), KEY_EXCHANGE_BY_RSA, &[]),
        (Apache, Rsa, (Tls13, Tls13), MODERN, CCM),
        (Haproxy, Rsa, new, INTERMEDIATE, &[]),
        (Haproxy, Ec, new, MODERN, &[]),
        (Haproxy, Rsa, every, CBC, &[]),
        (Haproxy, Rsa, (Tls12, Tls12), ONE, &[]),
        (
            Haproxy,
            Rsa,
            (Tls12, Tls13),
            KEY_EXCHANGE_BY_RSA,
            AES128_ALONE,
        ),
        (Haproxy, Ec, (Tls13, Tls13), MODERN, &[]),
        (Stunnel, Rsa, new, MODERN, &[]),
        (Stunnel, Ec, new, MODERN, AES128_ALONE),
        (Stunnel, Rsa, (Tls12, Tls12), CBC, &[]),
        (Stunnel, Rsa, every, KEY_EXCHANGE_BY_RSA, &[]),
        (Node, Rsa, new, MODERN, &[]),
        (Node, Ec, new, MODERN, &[]),
        (Node, Rsa, (Tls12, Tls12), CBC, &[]),
        (Node, Rsa, (Tls13, Tls13), MODERN, &[]),
        (Gnutls, Rsa, every, "NORMAL:+VERS-TLS1.0:+VERS-TLS1.1", &[]),
        (Gnutls, Ec, every, "NORMAL", &[]),
        (Gnutls, Rsa, new, "SECURE256", &[]),
        (Gnutls, Rsa, every, "PFS:-CHACHA20-POLY1305", &[]),
        (
            Gnutls,
            Rsa,
            (Tls12, Tls12),
            "NORMAL:-VERS-ALL:+VERS-TLS1.2:-ECDHE-RSA:-ECDHE-ECDSA:-DHE-RSA",
            &[],
        ),
        (
            Gnutls,
            Ec,
            (Tls13, Tls13),
            "NORMAL:-VERS-ALL:+VERS-TLS1.3",
            &[],
        ),
        (
            Nss,
            Rsa,
            every,
            "1301 1302 1303 c02f c030 cca8 c013 c014 9c 9d 2f 35",
            &[],
        ),
        (Nss, Ec, new, "1301 1303 c02b c02c cca9 c009 c00a", &[]),
        (Nss, Rsa, (Tls12, Tls12), "c02f 9c 3c 2f", &[]),
        (Nss, Rsa, (Tls13, Tls13), "1301", &[]),
        (
            Go,
            Rsa,
            every,
            "5 a 2f 35 3c 9c 9d c011 c012 c013 c014 c027 c02f c030 cca8",
            &[],
        ),
        (Go, Ec, new, "c007 c009 c00a c023 c02b c02c cca9", &[]),
        (Go, Rsa, (Tls12, Tls12), "9c c02f", &[]),
        (Go, Ec, (Tls13, Tls13), "c02b", &[]),
    ];
    let settings = rows.iter().map(|row| Setting {
        program: row.0,
        key: row.1,
        versions: row.2,
        list: row.3,
        newest: row.4,
    });
    settings.collect()
}
