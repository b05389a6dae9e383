//! Sites as text and back, and text that may be a sites file.

use netbench_model::{
    Alpn, BitRate, ChainProfile, CipherSuite, ClientChain, EarlyDataPolicy, EchPolicy, Fault,
    Group, KeyType, LabProfile, LinkProfile, LossRate, Queue, Site, SiteError, Switch, TlsVersion,
    Window, parse_sites,
};
use proptest::prelude::*;

fn sites() -> impl Strategy<Value = Site> {
    let host = "[a-z][a-z0-9]{0,9}(\\.[a-z]{2,5}){1,2}|10\\.[1-9]\\.0\\.[1-9]";
    let tls = prop::sample::select(vec![
        vec![TlsVersion::Tls12],
        vec![TlsVersion::Tls13],
        TlsVersion::OFFERED.to_vec(),
    ]);
    let groups = prop::sample::select(vec![
        vec![],
        vec![Group::X25519],
        vec![Group::X25519MLKEM768, Group::SECP256R1],
        Group::OFFERED.to_vec(),
    ]);
    let suites = (
        any::<bool>(),
        Just(CipherSuite::OFFERED.to_vec()).prop_shuffle(),
    );
    let identity = (
        host,
        1u16..,
        prop::sample::select(vec!["/", "/a/b?c=d"]),
        prop::sample::select(vec!["openssl", "rustls-ring", "openssl@3.0.19"]),
    );
    let handshake = (
        tls,
        suites,
        groups,
        (
            prop::sample::select(KeyType::ALL.to_vec()),
            prop::option::of(prop::sample::select(KeyType::ALL.to_vec())),
        ),
        (1u8..=6, 0u32..=60_000),
        (
            0u8..=16,
            prop::option::of(prop::sample::select(EarlyDataPolicy::ALL.to_vec())),
            prop::option::of(prop::sample::select(EchPolicy::ALL.to_vec())),
        ),
    );
    let alpn = prop::sample::subsequence(Alpn::ALL.to_vec(), 0..=2);
    let fault = prop::option::of(prop::sample::select(Fault::ALL.to_vec()));
    let ocsp = prop::sample::select(vec![Switch::On, Switch::Off]);
    let hour = 3_600_000_000_000_u64;
    let link = (
        0..=hour,
        0..=hour,
        0u32..=1_000_000,
        prop::option::of(1000u64..=100_000_000_000),
        1u32..=1_000_000,
        prop::option::of(11u32..=100),
    );
    (identity, handshake, alpn, ocsp, link, 0u64..=1 << 30, fault).prop_map(
        |(
            (host, port, path, server),
            (
                tls,
                (own, suites),
                groups,
                (key, ca_key),
                (length, bytes),
                (tickets, early_data, ech),
            ),
            alpn,
            ocsp,
            link,
            body_bytes,
            fault,
        )| {
            let mut keys = [Some(key), ca_key].into_iter().flatten();
            let needs_new = keys.any(|key| key.oldest_version() == TlsVersion::Tls13);
            let tls = Some(tls)
                .filter(|_| !needs_new)
                .unwrap_or(vec![TlsVersion::Tls13]);
            let suites = suites
                .into_iter()
                .filter(|s| own && tls.contains(&s.version()))
                .collect();
            let can_retry = groups.len() != 1;
            let has_newest = tls.contains(&TlsVersion::Tls13);
            let (rtt_ns, jitter_ns, parts_per_million, rate, packets, window) = link;
            let rate = rate.map(|bits_per_second| BitRate { bits_per_second });
            Site {
                host: host.parse().unwrap(),
                unicode: None,
                port,
                path: path.to_owned(),
                point: None,
                lab: LabProfile {
                    server: server.to_owned(),
                    tls,
                    suites,
                    groups,
                    key,
                    ca_key,
                    chain: ChainProfile { length, bytes },
                    client_chain: ca_key.filter(|_| own).map(|key| ClientChain { key, bytes }),
                    alpn,
                    tickets,
                    early_data: early_data.filter(|policy| {
                        let is_possible = can_retry || *policy != EarlyDataPolicy::Retry;
                        tickets > 0 && has_newest && is_possible
                    }),
                    ech: ech.filter(|_| early_data.is_none() && has_newest),
                    ocsp,
                    link: LinkProfile {
                        rtt_ns,
                        jitter_ns,
                        loss: LossRate { parts_per_million },
                        rate,
                        rate_up: rate.filter(|_| own),
                        queue: Queue { packets },
                        window: window.map(|segments| Window { segments }),
                        window_up: window
                            .filter(|segments| segments % 2 == 0)
                            .map(|segments| Window { segments }),
                    },
                    body_bytes,
                    fault,
                }
                .into(),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_site_written_as_a_line_reads_back_as_itself(site in sites()) {
        let line = site.to_line();
        prop_assert_eq!(parse_sites(&line), Ok(vec![site]), "{}", line);
    }

    #[test]
    fn any_text_gives_sites_or_errors(text in "\\PC*|(.|\\n)*") {
        check(parse_sites(&text))?;
    }

    #[test]
    fn nearly_right_text_gives_sites_or_errors(
        words in prop::collection::vec(prop::sample::select(vec![
            "a.example", "b.example:1", "*", "#", " ", "\n", "\r\n", "\t", "=", ",", "rtt=", "20ms", "tls=1.2", "suites=",
            "TLS_AES_128_GCM_SHA256", "loss=1e9%", "chain=", "3/4032", "99999999999999999999", "body=1m", "rate=1..2mbit", "\u{0}", "é", "\u{202e}",
        ]), 0..40)
    ) {
        check(parse_sites(&words.concat()))?;
    }
}

fn check(result: Result<Vec<Site>, Vec<SiteError>>) -> Result<(), TestCaseError> {
    match result {
        Ok(sites) => prop_assert!(!sites.is_empty()),
        Err(errors) => {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert!(error.line > 0);
                prop_assert!(
                    !error.to_string().chars().any(char::is_control),
                    "{:?}",
                    error
                );
            }
        }
    }
    Ok(())
}
