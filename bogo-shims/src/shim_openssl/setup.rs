//! The conversion of options to the settings of one connection.

use std::ffi::c_uint;

use netbench_tls::TlsVersion;
use openssl::{
    ssl::{Ssl, SslContextRef, SslRef, SslSession, SslVerifyMode, StatusType},
    stack::Stack,
    x509::X509Name,
};
use openssl_sys::SSL;

use crate::{Failure, Options, exchange::Material, options::hex_list};

use super::{
    callbacks::on_cert,
    certs, ech,
    errors::library,
    ffi::{self, control, mode, option},
    names,
    state::state,
};

pub(crate) fn ssl(
    ctx: &SslContextRef,
    options: &Options,
    session: Option<&SslSession>,
) -> Result<Ssl, Failure> {
    if options.number("-quic-use-legacy-codepoint") == Some(1) {
        return Err(Failure::unsupported(
            "transport parameters of QUIC's drafts",
        ));
    }
    let mut ssl = Ssl::new(ctx).map_err(library)?;
    versions(&mut ssl, options)?;
    set_switches(&mut ssl, options);
    algorithms(&mut ssl, options)?;
    peers(&mut ssl, options)?;
    if options.on("-dtls") {
        datagrams(&mut ssl, options)?;
    }
    if let Some(name) = options.text("-host-name") {
        ssl.set_hostname(&name).map_err(library)?;
    }
    if let Some(list) = options.bytes("-advertise-alpn") {
        ssl.set_alpn_protos(list)
            .map_err(|_| Failure::unsupported("this list of protocols"))?;
    }
    if let Some(profiles) = options.text("-srtp-profiles") {
        ssl.set_tlsext_use_srtp(&profiles).map_err(library)?;
    }
    if options.on("-enable-ocsp-stapling") {
        ssl.set_status_type(StatusType::OCSP).map_err(library)?;
    }
    if let Some(hint) = options.bytes("-psk-identity") {
        ffi::set_psk_hint(&mut ssl, hint)?;
    }
    ech::set(&mut ssl, options)?;
    let elsewhere = [
        "-use-early-callback",
        "-use-old-client-cert-callback",
        "-async",
    ];
    if !elsewhere.into_iter().any(|flag| options.on(flag)) {
        certs::give(&mut ssl, options)?;
    }
    if let (Some(session), false) = (session, options.on("-server")) {
        // SAFETY: the session was made with this context.
        unsafe { ssl.set_session(session) }.map_err(library)?;
    }
    if options.on("-server") {
        ssl.set_accept_state();
    } else {
        ssl.set_connect_state();
    }
    Ok(ssl)
}

fn versions(ssl: &mut SslRef, options: &Options) -> Result<(), Failure> {
    let dtls = options.on("-dtls");
    let (first, dtls13) = if dtls {
        (0xfeff, 0xfefc)
    } else {
        (i64::from(TlsVersion::Tls10.code()), 0)
    };
    // Zero is no limit.
    let least = options.number("-min-version").filter(|least| *least != 0);
    let least = least.unwrap_or(first);
    let most = options.number("-max-version").unwrap_or(0);
    // libssl would fall back to DTLS 1.2 where the maximum is 1.3, and the test is about 1.3.
    let only_dtls13 = ["-no-tls1", "-no-tls12"]
        .iter()
        .all(|flag| options.on(flag))
        && !options.on("-no-tls13");
    if dtls && ([least, most].contains(&dtls13) || only_dtls13) {
        return Err(Failure::unsupported("DTLS 1.3"));
    }
    for (control, version) in [
        (control::SET_MIN_VERSION, least),
        (control::SET_MAX_VERSION, most),
    ] {
        if ffi::control(ssl, control, version) != 1 {
            return Err(Failure::unsupported(format!("version {version:#06x}")));
        }
    }
    Ok(())
}

fn set_switches(ssl: &mut SslRef, options: &Options) {
    let dtls = options.on("-dtls");
    let mut set = option::ALLOW_CLIENT_RENEGOTIATION;
    let switches = [
        ("-no-tls1", option::NO_TLS1),
        ("-no-tls12", option::NO_TLS1_2),
        ("-no-ticket", option::NO_TICKET),
        ("-server-preference", option::CIPHER_SERVER_PREFERENCE),
        ("-cipher", option::CIPHER_SERVER_PREFERENCE),
        ("-tls13-ciphers", option::CIPHER_SERVER_PREFERENCE),
        // Sessions may be offered twice in tests.
        ("-enable-early-data", option::NO_ANTI_REPLAY),
    ];
    let of_tls = [
        ("-no-tls11", option::NO_TLS1_1),
        ("-no-tls13", option::NO_TLS1_3),
    ];
    for (flag, switch) in switches
        .into_iter()
        .chain(of_tls.into_iter().filter(|_| !dtls))
    {
        if options.on(flag) {
            set |= switch;
        }
    }
    if !options.on("-no-legacy-server-connect") {
        set |= option::LEGACY_SERVER_CONNECT;
    }
    if !options.on("-renegotiate-freely") {
        set |= option::NO_RENEGOTIATION;
    }
    ffi::set_options(ssl, set);
    let mut modes = mode::MOVING_WRITE_BUFFER;
    if options.on("-partial-write") {
        modes |= mode::PARTIAL_WRITE;
    }
    if options.on("-fallback-scsv") {
        modes |= mode::SEND_FALLBACK_SCSV;
    }
    ffi::control(ssl, control::MODE, modes);
    for (flag, control) in [
        ("-max-cert-list", control::MAX_CERT_LIST),
        ("-max-send-fragment", control::MAX_SEND_FRAGMENT),
    ] {
        if let Some(value) = options.number(flag) {
            ffi::control(ssl, control, value);
        }
    }
    if !options.on("-check-close-notify") {
        ffi::set_quiet_shutdown(ssl);
    }
}

fn algorithms(ssl: &mut SslRef, options: &Options) -> Result<(), Failure> {
    let suites = match options.text("-cipher") {
        // Groups of equal preference exist only in BoringSSL.
        Some(suites) if suites.contains(['[', '|']) => {
            return Err(Failure::unsupported("cipher suites of equal preference"));
        }
        Some(suites) => suites,
        None => "ALL:!aNULL:!eNULL".to_owned(),
    };
    ssl.set_cipher_list(&format!("{suites}:@SECLEVEL=0"))
        .map_err(|_| {
            Failure::unsupported(format!("cipher suites of {}", ffi::in_words(&suites)))
        })?;
    if let Some(suites) = names_of(options.codes("-tls13-ciphers"), names::tls13_suite)? {
        ssl.set_ciphersuites(&suites).map_err(library)?;
    }
    groups(ssl, options)?;
    let signing = names_of(certs::signing_prefs(options), names::signature)?;
    let verifying = names_of(options.codes("-verify-prefs"), names::signature)?;
    let (servers, clients) = if options.on("-server") {
        (signing, verifying)
    } else {
        (verifying, signing)
    };
    if let Some(list) = servers {
        ffi::set_list(ssl, control::SIGALGS_LIST, &list)?;
    }
    if let Some(list) = clients {
        ffi::set_list(ssl, control::CLIENT_SIGALGS_LIST, &list)?;
    }
    Ok(())
}

/// Returns the library's names in a list, or `None` for an empty one.
fn names_of(
    codes: Vec<u16>,
    name: fn(u16) -> Option<&'static str>,
) -> Result<Option<String>, Failure> {
    let names = codes
        .into_iter()
        .map(|code| {
            name(code).ok_or_else(|| Failure::unsupported(format!("the algorithm {code:#06x}")))
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Some(names.join(":")).filter(|list| !list.is_empty()))
}

fn groups(ssl: &mut SslRef, options: &Options) -> Result<(), Failure> {
    let curves = options.codes("-curves");
    if curves.is_empty() {
        return if options.on("-key-shares") {
            Err(Failure::unsupported("key shares without groups"))
        } else {
            Ok(())
        };
    }
    let mut shares = options.codes("-key-shares");
    // Marks are supported since 3.5; before that, only the first group has a share.
    if cfg!(before_openssl_3_5) && shares.first() == curves.first() && shares.len() == 1 {
        shares.clear();
    }
    let names = curves.into_iter().map(|code| {
        let name = names::group(code)
            .ok_or_else(|| Failure::unsupported(format!("the group {code:#06x}")))?;
        let mark = if shares.contains(&code) { "*" } else { "" };
        Ok::<_, Failure>(format!("{mark}{name}"))
    });
    let list = names.collect::<Result<Vec<_>, _>>()?.join(":");
    ffi::set_list(ssl, control::GROUPS_LIST, &list)
}

fn peers(ssl: &mut SslRef, options: &Options) -> Result<(), Failure> {
    let mut verify = SslVerifyMode::NONE;
    if options.on("-require-any-client-certificate") {
        verify = SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT;
    }
    if options.on("-verify-peer") {
        verify = SslVerifyMode::PEER;
    }
    ssl.set_verify(verify);
    if !options.on("-use-old-client-cert-callback") {
        ffi::set_cert_callback(ssl, on_cert);
    }
    if let Some(list) = options.text("-use-client-ca-list") {
        let mut stack = Stack::new().map_err(library)?;
        if !matches!(&*list, "<NULL>" | "<EMPTY>") {
            for der in hex_list(&list)? {
                let name = X509Name::from_der(&der).map_err(library)?;
                stack.push(name).map_err(library)?;
            }
        }
        ssl.set_client_ca_list(stack);
    }
    let accepted = types_of(options, "-accepted-peer-cert-types");
    let mut own = types_of(options, "-available-client-cert-types");
    if own.is_empty() && options.has_raw_key() {
        own = vec![RAW];
    }
    // A list with only X.509 is the default without the extension.
    let (accepted, own) = [accepted, own]
        .map(|types| if types == [0] { Vec::new() } else { types })
        .into();
    let set = if options.on("-server") {
        ffi::set_certificate_types(ssl, &accepted, &own)
    } else {
        ffi::set_certificate_types(ssl, &own, &accepted)
    };
    if set {
        Ok(())
    } else {
        Err(Failure::unsupported("this choice of certificate types"))
    }
}

fn types_of(options: &Options, flag: &str) -> Vec<u8> {
    let codes = options.codes(flag).into_iter();
    codes.filter_map(|code| u8::try_from(code).ok()).collect()
}

/// The certificate type of raw public keys (RFC 7250).
const RAW: u8 = 2;

fn datagrams(ssl: &mut SslRef, options: &Options) -> Result<(), Failure> {
    /// The MTU of an Ethernet, without the headers of IP and UDP.
    const MTU: i64 = 1472;
    /// The timeout that the runner expects, in microseconds.
    const TIMEOUT_US: u32 = 400_000;
    ffi::set_options(ssl, option::NO_QUERY_MTU);
    let mtu = u32::try_from(options.number("-mtu").unwrap_or(MTU)).unwrap_or(0);
    ssl.set_mtu(mtu)
        .map_err(|_| Failure::unsupported(format!("an MTU of {mtu}")))?;
    let given = options.number("-initial-timeout-duration-ms");
    let given = given.and_then(|ms| u32::try_from(ms).ok()?.checked_mul(1000));
    state().timeout_us = given.unwrap_or(TIMEOUT_US);
    ffi::set_timer(ssl, on_timer);
    Ok(())
}

/// Returns the next timeout: the first timeout of a flight as the test requires it, and then twice
/// the last one (RFC 6347 section 4.2.4.1).
extern "C" fn on_timer(_: *mut SSL, last_us: c_uint) -> c_uint {
    const LONGEST_US: c_uint = 60_000_000;
    match last_us {
        0 => state().timeout_us,
        last => last.saturating_mul(2).min(LONGEST_US),
    }
}

/// Returns exported keying material.
pub(crate) fn export(ssl: &SslRef, wanted: &Material<'_>) -> Result<Vec<u8>, Failure> {
    let label = std::str::from_utf8(wanted.label)
        .map_err(|_| Failure::unsupported("a label that is no text"))?;
    let mut out = vec![0; wanted.length];
    ssl.export_keying_material(&mut out, label, wanted.context)
        .map_err(library)?;
    Ok(out)
}
