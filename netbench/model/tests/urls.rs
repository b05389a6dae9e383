//! The names of servers that users give, and rules that redirect connections.

use netbench_model::{ConnectTo, destination, parse_target};

#[test]
fn servers_are_named_by_urls_and_by_hosts() {
    // The given text; the name of the site; host, port and path.
    let cases = [
        ("https://a.example", "a.example", "a.example", 443, "/"),
        ("https://a.example:443/", "a.example", "a.example", 443, "/"),
        (
            "HTTPS://A.Example:8443",
            "a.example:8443",
            "a.example",
            8443,
            "/",
        ),
        (
            "https://a.example/y?q=1",
            "a.example/y?q=1",
            "a.example",
            443,
            "/y?q=1",
        ),
        (
            "https://a.example?q",
            "a.example/?q",
            "a.example",
            443,
            "/?q",
        ),
        (
            "https://a.example/ä",
            "a.example/%C3%A4",
            "a.example",
            443,
            "/%C3%A4",
        ),
        (
            "https://127.0.0.1:8443/",
            "127.0.0.1:8443",
            "127.0.0.1",
            8443,
            "/",
        ),
        ("https://[::1]:8443/p", "[::1]:8443/p", "::1", 8443, "/p"),
        ("https://[0:0:0:0:0:0:0:1]", "[::1]", "::1", 443, "/"),
        ("::1", "[::1]", "::1", 443, "/"),
        ("[::1]:444", "[::1]:444", "::1", 444, "/"),
        ("localhost", "localhost", "localhost", 443, "/"),
        (
            "https://Bücher.example:444/ä",
            "bücher.example:444/%C3%A4",
            "xn--bcher-kva.example",
            444,
            "/%C3%A4",
        ),
        (
            "例え。テスト",
            "例え.テスト",
            "xn--r8jz45g.xn--zckzah",
            443,
            "/",
        ),
        ("ｌｏｃａｌｈｏｓｔ", "localhost", "localhost", 443, "/"),
        (
            "xn--bcher-kva.example",
            "xn--bcher-kva.example",
            "xn--bcher-kva.example",
            443,
            "/",
        ),
        ("a.example:444", "a.example:444", "a.example", 444, "/"),
        ("a.example:444/x", "a.example:444/x", "a.example", 444, "/x"),
    ];
    for (text, name, host, port, path) in cases {
        let site = parse_target(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(site.name(), name, "{text}");
        assert_eq!(
            (site.host.as_str(), site.port, &*site.path),
            (host, port, path),
            "{text}"
        );
        // The name of the site parses to the same site.
        assert_eq!(parse_target(name).as_ref(), Ok(&site), "{text}");
    }
}

#[test]
fn what_names_no_server_is_refused_and_the_message_says_why() {
    let long = format!("https://a.example/{}", "x".repeat(5000));
    let cases = [
        ("", "no host"),
        ("https://", "no host"),
        ("https:///path", "no host"),
        ("https://:443/", "no host"),
        ("https://?q", "no host"),
        ("http://a.example/", "write https://"),
        ("ftp://a.example/", "begins with https://"),
        ("https://me:secret@a.example/", "leave the user name"),
        ("https://me@a.example/", "leave the user name"),
        ("https://a.example/#top", "never sent"),
        ("https://a.example:0/", "from 1 to 65535"),
        ("https://a.example:65536/", "from 1 to 65535"),
        ("https://a.example:http/", "from 1 to 65535"),
        ("a.example:+1", "from 1 to 65535"),
        ("https://::1/", "in brackets"),
        ("https://[fe80::1%25eth0]/", "with a zone"),
        ("https://[::1", "IPv6"),
        ("https://a b.example/", "no white space"),
        ("https://a\u{1b}[31m.example/", "control characters"),
        ("https:\\\\a.example", "backslashes"),
        ("https://a..example/", "not a host name"),
        ("https://-a.example/", "not a host name"),
        ("https://a.example./", "not a host name"),
        ("https://1.2.3.4.5/", "not a host name"),
        (
            "https://bü\u{200b}\u{378}cher.example/",
            "not a label of a host name",
        ),
        ("https://例え.-ü.example/", "\"-ü\" is not a label"),
        ("https://a.example:/", "from 1 to 65535"),
        (&long, "at most 4096 bytes"),
    ];
    for (text, part) in cases {
        let why = parse_target(text).expect_err(text);
        assert!(why.contains(part), "{text}: {why}");
        assert!(!why.contains(|c: char| c.is_control()), "{why:?}");
    }
}

#[test]
fn the_first_rule_about_a_host_decides() {
    let rules: Vec<ConnectTo> = [
        "a.example:443:127.0.0.1:8443",
        "a.example::127.0.0.2:",
        "b.example:443:[::1]:",
        ":9:nine.example:",
        "a.example:443:127.0.0.9:9",
    ]
    .map(|text| {
        let rule: ConnectTo = text.parse().unwrap();
        assert_eq!(rule.to_string(), text);
        rule
    })
    .into();
    let cases = [
        ("a.example", 443, Some(("127.0.0.1", 8443))),
        ("a.example", 444, Some(("127.0.0.2", 444))),
        ("b.example", 443, Some(("::1", 443))),
        ("b.example", 444, None),
        ("c.example", 9, Some(("nine.example", 9))),
    ];
    for (host, port, due) in cases {
        let found = destination(&rules, &host.parse().unwrap(), port);
        let found = found.as_ref().map(|(host, port)| (host.as_str(), *port));
        assert_eq!(found, due, "{host}:{port}");
    }
    for text in [
        "",
        "a.example",
        "a:1:b",
        "a:1:b:2:3",
        "::1:443:a:1",
        "a:0:b:1",
        "a:+1:b:1",
        "a b:1:c:1",
    ] {
        text.parse::<ConnectTo>().expect_err(text);
    }
}
