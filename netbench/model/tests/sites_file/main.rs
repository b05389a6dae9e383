//! The syntax of a sites file, and the errors of a wrong file.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod any_text;

use netbench_model::{
    Alpn, BitRate, ChainProfile, CipherSuite, ClientChain, EarlyDataPolicy, Fault, Group, KeyType,
    LabProfile, LinkProfile, LossRate, Queue, Site, Switch, TlsVersion, Window, parse_sites,
};

fn one(text: &str) -> Site {
    let mut sites = parse_sites(text).unwrap();
    assert_eq!(sites.len(), 1, "{text:?}");
    sites.remove(0)
}

fn errors(text: &str) -> Vec<String> {
    parse_sites(text)
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_bare_host_has_the_defaults() {
    let site = one("Example.COM");
    assert_eq!(site.name(), "example.com");
    assert_eq!(
        (site.port, (*site.lab).clone()),
        (443, LabProfile::default())
    );
}

#[test]
fn every_field_is_read() {
    let site = one(
        "example.com:8443 server=rustls-aws-lc tls=1.3 suites=TLS_AES_256_GCM_SHA384 \
         groups=X25519MLKEM768,x25519 key=ecdsa-p384 ca-key=mldsa-65 chain=3/4032 client-cert=ed25519/9000 alpn=http/1.1 tickets=4 early-data=reject ocsp=on \
         rtt=20ms jitter=1.5ms loss=0.5% rate=1.6mbit rate-up=768kbit queue=50 window=32 window-up=20 body=30k fault=silent # why",
    );
    assert_eq!((site.host.as_str(), site.port), ("example.com", 8443));
    let expected = LabProfile {
        server: "rustls-aws-lc".to_owned(),
        tls: vec![TlsVersion::Tls13],
        suites: vec![CipherSuite::TLS_AES_256_GCM_SHA384],
        groups: vec![Group::X25519MLKEM768, Group::X25519],
        key: KeyType::EcdsaP384,
        ca_key: Some(KeyType::MlDsa65),
        chain: ChainProfile {
            length: 3,
            bytes: 4032,
        },
        client_chain: Some(ClientChain {
            key: KeyType::Ed25519,
            bytes: 9000,
        }),
        alpn: vec![Alpn::Http11],
        tickets: 4,
        early_data: Some(EarlyDataPolicy::Reject),
        ech: None,
        ocsp: Switch::On,
        link: LinkProfile {
            rtt_ns: 20_000_000,
            jitter_ns: 1_500_000,
            loss: LossRate {
                parts_per_million: 5000,
            },
            rate: Some(BitRate {
                bits_per_second: 1_600_000,
            }),
            rate_up: Some(BitRate {
                bits_per_second: 768_000,
            }),
            queue: Queue { packets: 50 },
            window: Some(Window { segments: 32 }),
            window_up: Some(Window { segments: 20 }),
        },
        body_bytes: 30 * 1024,
        fault: Some(Fault::Silent),
    };
    assert_eq!(*site.lab, expected);
}

#[test]
fn lines_that_are_no_sites_are_passed_over() {
    let text = "\u{feff}# first\r\n\r\n  \t\n10.0.0.1\trtt=5ms  # said so\r\na.example#b=c\n";
    let found = parse_sites(text).unwrap_err();
    assert_eq!(found.len(), 1, "a # inside a word is no comment: {found:?}");
    let sites = parse_sites(&text.replace("a.example#", "# ")).unwrap();
    assert_eq!(sites[0].to_line(), "10.0.0.1 rtt=5ms");
}

#[test]
fn a_star_sets_defaults_for_the_lines_below() {
    let text = "a.example\n* rtt=9ms groups=x25519\nb.example\n* body=1k rate=1mbit\nc.example rtt=4ms\nd.example groups=default rate=none";
    let lines: Vec<_> = parse_sites(text)
        .unwrap()
        .iter()
        .map(Site::to_line)
        .collect();
    assert_eq!(
        lines,
        [
            "a.example",
            "b.example groups=x25519 rtt=9ms",
            "c.example groups=x25519 rtt=4ms rate=1mbit body=1k",
            "d.example rtt=9ms body=1k",
        ]
    );
}

#[test]
fn a_wrong_line_says_line_field_and_what_was_expected() {
    for (text, expected) in [
        ("", "line 1: no sites in this file"),
        ("# nothing\n\n", "line 1: no sites in this file"),
        ("* rtt=20ms", "line 1: no sites in this file"),
        (
            "a.example\n b..example",
            "line 2: host: expected a host name",
        ),
        ("-a.example", "line 1: host: expected a host name"),
        ("1.2.3.4.5", "line 1: host: expected a host name"),
        ("999.1.1.1", "line 1: host: expected a host name"),
        ("a.example/path", "line 1: host: expected a host name"),
        (
            "rtt=20ms a.example",
            "line 1: host: expected host[:port] before the fields",
        ),
        (
            "[::1:443",
            "line 1: host: \"[::1:443\": an IPv6 address stands in brackets",
        ),
        (
            "a.example\n::1\n[::1]:443",
            "line 3: host: [::1] is already on line 2",
        ),
        (
            "a.example:0",
            "line 1: host: expected a port, 1 to 65535; found \"0\"",
        ),
        ("a.example:65536", "line 1: host: expected a port"),
        ("a.example:+1", "line 1: host: expected a port"),
        (
            "a.example\nbüch\u{378}er.example",
            "line 2: host: \"büch\\u{378}er\" is not a label of a host name (UTS #46)",
        ),
        (
            "xn--bcher-kva.example\nbücher.example rtt=5ms",
            "line 2: host: bücher.example is already on line 1",
        ),
        (
            "a.example\nA.EXAMPLE:443",
            "line 2: host: a.example is already on line 1",
        ),
        ("a.example rtt", "line 1: expected key=value, found \"rtt\""),
        (
            "a.example rtr=20ms",
            "line 1: unknown field \"rtr\"; did you mean \"rtt\"?",
        ),
        (
            "a.example bodi=1k",
            "line 1: unknown field \"bodi\"; did you mean \"body\"?",
        ),
        (
            "a.example colour=red",
            "line 1: unknown field \"colour\"; expected one of server, tls,",
        ),
        (
            "a.example rtt=20ms rtt=20ms",
            "line 1: rtt: given twice on this line",
        ),
        (
            "a.example rtt=20",
            "line 1: rtt: expected a time with its unit, such as 20ms; found \"20\"",
        ),
        ("a.example jitter=-1ms", "line 1: jitter: expected a time"),
        (
            "a.example loss=101%",
            "line 1: loss: expected a share of packets",
        ),
        ("a.example rate=fast", "line 1: rate: expected a rate"),
        (
            "a.example queue=0",
            "line 1: queue: expected a number of packets, 1 to 1000000; found \"0\"",
        ),
        (
            "a.example window=200",
            "line 1: window: expected a number of segments, 1 to 100; found \"200\"",
        ),
        (
            "a.example body=+5",
            "line 1: body: expected a number of bytes",
        ),
        (
            "a.example body=",
            "line 1: body: expected values of 1 to 64 bytes, between commas, found an empty one",
        ),
        (
            "a.example tickets=17",
            "line 1: tickets: expected a number of tickets, 0 to 16",
        ),
        (
            "a.example\nb.example early-data=maybe",
            "line 2: early-data: unknown treatment of early data \"maybe\"; expected one of accept, accept-again, reject, retry; or none",
        ),
        (
            "a.example early-data=accept tls=1.2",
            "line 1: early-data: TLS before 1.3 has no early data; expected tls=1.3",
        ),
        (
            "a.example early-data=reject tickets=0",
            "line 1: early-data: a client sends early data with a ticket alone; expected tickets=1",
        ),
        (
            "a.example early-data=retry groups=x25519",
            "line 1: early-data: a HelloRetryRequest needs a group of which the client sends no share; expected groups=x25519,secp384r1",
        ),
        (
            "example.com tls=1.2 ech=accepted",
            "line 1: ech: TLS before 1.3 has no Encrypted ClientHello; expected tls=1.3",
        ),
        (
            "example.com ech=grease early-data=accept",
            "line 1: ech: a site has Encrypted ClientHello or early data; expected one of",
        ),
        ("a.example ocsp=yes", "line 1: ocsp: expected on or off"),
        (
            "a.example chain=0",
            "line 1: chain: expected a number of certificates",
        ),
        (
            "a.example chain=7",
            "line 1: chain: expected a number of certificates",
        ),
        (
            "a.example chain=2/61000",
            "line 1: chain: expected at most 60000 bytes",
        ),
        (
            "a.example chain=2/",
            "line 1: chain: expected at most 60000 bytes",
        ),
        (
            "a.example tls=ssl3",
            "line 1: tls: unknown TLS version \"ssl3\"; expected one of 1.0, 1.1, 1.2, 1.3",
        ),
        ("a.example tls=1.2,1.2", "line 1: tls: 1.2 is listed twice"),
        (
            "a.example tls=1.2,",
            "line 1: tls: expected values of 1 to 64 bytes",
        ),
        (
            "a.example suites=AES",
            "line 1: suites: unknown cipher suite \"AES\"; expected one of",
        ),
        (
            "a.example groups=p256",
            "line 1: groups: unknown group \"p256\"",
        ),
        ("a.example key=dsa", "line 1: key: unknown key type \"dsa\""),
        (
            "a.example ca-key=dsa",
            "line 1: ca-key: unknown key type \"dsa\"; expected one of rsa-2048,",
        ),
        (
            "a.example key=slh-dsa-sha2-128s",
            "line 1: key: no stack serves \"slh-dsa-sha2-128s\": none has a signature scheme of SLH-DSA for TLS",
        ),
        (
            "a.example key=SLHDSA_SHAKE_128F",
            "line 1: key: no stack serves \"SLHDSA_SHAKE_128F\"",
        ),
        (
            "a.example key=mldsa-65 ca-key=sphincs+",
            "line 1: ca-key: no stack serves \"sphincs+\"",
        ),
        (
            "a.example tls=1.2 key=mldsa-44",
            "line 1: key: TLS 1.2 has no signatures with mldsa-44; expected tls=1.3 or tls=1.2,1.3",
        ),
        (
            "b.example\n* key=mldsa-87\na.example tls=1.2",
            "line 3: key: TLS 1.2 has no signatures with mldsa-87",
        ),
        (
            "a.example tls=1.2 ca-key=mldsa-65",
            "line 1: ca-key: TLS 1.2 has no signatures with mldsa-65",
        ),
        (
            "a.example alpn=h3",
            "line 1: alpn: unknown application protocol \"h3\"",
        ),
        (
            "a.example fault=flood",
            "line 1: fault: unknown fault \"flood\"",
        ),
        (
            "a.example server=../openssl",
            "line 1: server: expected a stack",
        ),
        (
            "a.example \u{1b}[31m",
            "line 1: expected plain text, found the control character '\\u{1b}'",
        ),
        (
            "a.example\rb.example",
            "line 1: expected plain text, found the control character '\\r'",
        ),
        (
            "a.example \u{202e}=1",
            "line 1: unknown field \"\\u{202e}\"",
        ),
        (
            "a.example tls=1.3 suites=EC_RSA,AES13",
            "line 1: suites: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 belongs to TLS 1.2",
        ),
        (
            "a.example suites=AES13",
            "line 1: suites: none of them serves TLS 1.2 with key=rsa-2048; expected one such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        ),
        (
            "a.example tls=1.2 key=ed25519 suites=EC_RSA",
            "line 1: suites: none of them serves TLS 1.2 with key=ed25519; expected one such as TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        ),
        (
            "a.example tls=1.2 key=ecdsa-p256 suites=EC_RSA",
            "line 1: suites: none of them serves TLS 1.2 with key=ecdsa-p256",
        ),
        (
            "a.example tls=1.2 suites=TLS_RSA_WITH_AES_128_CBC_SHA",
            "line 1: suites: TLS_RSA_WITH_AES_128_CBC_SHA is served with TLS 1.0 and 1.1",
        ),
        (
            "a.example tls=1.0,1.2 suites=EC_RSA",
            "line 1: suites: none of them serves TLS 1.0 with key=rsa-2048; expected one such as TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
        ),
        (
            "a.example tls=1.1 suites=EC_RSA",
            "line 1: suites: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 belongs to TLS 1.2",
        ),
        (
            "a.example groups=X25519MLKEM768",
            "line 1: groups: TLS 1.2 has no hybrid group",
        ),
    ] {
        let text = text
            .replace("EC_RSA", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
            .replace("AES13", "TLS_AES_128_GCM_SHA256");
        let found = errors(&text);
        assert!(
            found.iter().any(|error| error.starts_with(expected)),
            "{text:?} gave {found:#?}"
        );
        assert!(
            !found
                .iter()
                .any(|error| error.chars().any(char::is_control)),
            "{found:?}"
        );
    }
}

#[test]
fn what_can_be_served_is_no_error() {
    for text in [
        "a.example tls=1.2 suites=TLS_DHE_RSA_WITH_AES_128_GCM_SHA256 groups=X25519MLKEM768",
        "a.example tls=1.2 suites=TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
        "a.example tls=1.0",
        "a.example tls=1.0,1.2 suites=TLS_RSA_WITH_AES_128_CBC_SHA",
        "a.example tls=1.1 key=ecdsa-p256 suites=TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
        "a.example tls=1.3 groups=X25519MLKEM768",
        "a.example tls=1.2 key=ed25519 suites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "a.example tls=1.3 key=ecdsa-p256 suites=TLS_AES_128_GCM_SHA256",
        "a.example key=mldsa-44",
        "a.example key=ed25519 ca-key=mldsa-87",
        "a.example key=mldsa-65 suites=TLS_AES_128_GCM_SHA256",
        "a.example key=mldsa-65 groups=X25519MLKEM768",
        "* ca-key=rsa-4096\na.example tls=1.2 ca-key=default",
        "a.example alpn=none",
        "_a.x-y.example:1",
        "bücher.example:444 rtt=5ms",
    ] {
        assert_eq!(parse_sites(text).map(|sites| sites.len()), Ok(1), "{text}");
    }
}

#[test]
fn all_errors_come_at_once() {
    let found = parse_sites("a.example rtt=1 body=x\nb.example\nc..d foo=1\n").unwrap_err();
    let places: Vec<_> = found.iter().map(|e| (e.line, e.field.as_deref())).collect();
    assert_eq!(
        places,
        [
            (1, Some("rtt")),
            (1, Some("body")),
            (3, Some("host")),
            (3, None)
        ]
    );
}

#[test]
fn sizes_are_bounded() {
    let long = format!("a.example {}", "x".repeat(5000));
    assert_eq!(
        errors(&long),
        ["line 1: expected at most 4096 bytes a line, found 5010"]
    );

    let found = errors(&"!\n".repeat(100_000));
    assert_eq!(found.len(), 1001);
    assert!(
        found[1000].ends_with("the rest was not read"),
        "{}",
        found[1000]
    );
}
