//! Files of the user: sites, trust roots, workers, and destinations of results.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::support::{Place, cases};

/// A private key, which is not a certificate.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
    MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
    -----END PRIVATE KEY-----\n";

fn place() -> Place {
    let place = Place::new();
    let long = "x".repeat(5000);
    for (name, bytes) in [
        ("good.txt", &b"one.example rtt=20ms\n"[..]),
        ("empty.txt", b""),
        ("comments.txt", b"# nothing\n\n"),
        ("nul.txt", b"one.example\0\n"),
        ("latin1.txt", b"one.example\ncaf\xe9.example\n"),
        ("utf16.txt", b"\xff\xfeo\0n\0e\0.\0e\0x\0\n\0"),
        ("escape.txt", b"one.example\x1b[2J\n"),
        ("twice.txt", b"one.example\none.example\n"),
        ("idn.txt", "one.example\nb\u{378}.example\n".as_bytes()),
        (
            "idn-twice.txt",
            "xn--bcher-kva.example\nbücher.example\n".as_bytes(),
        ),
        ("unit.txt", b"one.example rtt=20\n"),
        ("field.txt", b"one.example color=red\n"),
        ("typo.txt", b"one.example rtr=20ms\n"),
        ("server.txt", b"one.example server=opensll\n"),
        ("suite.txt", b"one.example suites=TLS_AES_128_GCM_SHA255\n"),
        ("fault.txt", b"one.example fault=silnt\n"),
        ("loss.txt", b"one.example loss=150%\n"),
        ("chain.txt", b"one.example chain=9\n"),
        (
            "client.txt",
            b"one.example\ntwo.example client-cert=ecdsa/9000\n",
        ),
        (
            "slh-dsa.txt",
            b"one.example\ntwo.example key=slh-dsa-sha2-128f\n",
        ),
        ("early.txt", b"one.example\ntwo.example early-data=maybe\n"),
        ("ech.txt", b"one.example\ntwo.example ech=rejected\n"),
        ("ipv6.txt", b"good.example\n[2001:db8::1]:443 rtt=5ms\n"),
        ("port.txt", b"one.example:99999\n"),
        ("groups.txt", b"one.example tls=1.2 groups=X25519MLKEM768\n"),
        ("long.txt", long.as_bytes()),
        ("words.txt", b"one.example one two\n"),
        ("json.txt", b"{\"sites\": [\"one.example\"]}\n"),
        ("empty.pem", b""),
        ("garbage.pem", b"not a certificate\n"),
        ("key.pem", KEY.as_bytes()),
        (
            "der.crt",
            b"\x30\x82\x01\x0a\x30\x81\xf4\xa0\x03\x02\x01\x02\xff\xfe\x00",
        ),
        ("cut.pem", b"-----BEGIN CERTIFICATE-----\nMIIB\n"),
        (
            "base64.pem",
            b"-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
        ),
        (
            "inside.pem",
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ),
        ("binary.pem", &[0, 1, 2, 255, 254]),
        ("plain-file", b"text\n"),
    ] {
        fs::write(place.path().join(name), bytes).unwrap();
    }
    fs::create_dir(place.path().join("folder")).unwrap();
    place.script("dies", "echo broken >&2; exit 3");
    place.script("babbles", "cat > /dev/null & echo hello; sleep 1");
    place.write("not-executable", "#!/bin/sh\n");
    place
}

const CASES: &str = r#"
# Sites.
connect --sites missing.txt => missing.txt & No such file
connect --sites folder => folder & directory
connect --sites plain-file/x => plain-file/x & Not a directory
connect --sites /dev/null => /dev/null
setup sites check /dev/zero => /dev/zero: a device
scan --policy /dev/zero => /dev/zero: a device
compat --catalogue /dev/zero => /dev/zero: a device
ship --lock /dev/zero => /dev/zero
connect --roots /dev/zero => /dev/zero
connect https://localhost --client-cert /dev/zero => /dev/zero
connect --sites empty.txt => empty.txt & no sites in this file
connect --sites comments.txt => comments.txt & no sites in this file
connect --sites nul.txt => nul.txt: line 1 & control character
connect --sites latin1.txt => latin1.txt: line 2 & not UTF-8
connect --sites utf16.txt => utf16.txt: line 1 & not UTF-8
scan --sites escape.txt => escape.txt: line 1 & control character
connect --sites twice.txt => twice.txt: line 2 & already on line 1
scan --sites idn.txt => idn.txt: line 2: host & not a label of a host name
scan --sites idn-twice.txt => idn-twice.txt: line 2 & bücher.example is already on line 1
connect --sites unit.txt => line 1: rtt & 20ms & "20"
connect --sites field.txt => unknown field "color"
connect --sites typo.txt => unknown field "rtr" & did you mean "rtt"?
connect --sites server.txt => opensll & did you mean "openssl"?
connect --sites suite.txt => did you mean "TLS_AES_128_GCM_SHA256"?
connect --sites fault.txt => did you mean "silent"?
connect --sites loss.txt => loss & 150%
connect --sites chain.txt => chain & 1 to 6
connect --sites client.txt => client.txt: line 2: client-cert & unknown key type "ecdsa" & ecdsa-p256
setup sites check slh-dsa.txt => slh-dsa.txt & line 2: key & no stack serves "slh-dsa-sha2-128f"
connect --sites slh-dsa.txt => slh-dsa.txt: line 2: key & no stack serves
setup sites check early.txt => early.txt & line 2: early-data & "maybe" & accept, accept-again, reject, retry
connect --sites early.txt => early.txt: line 2: early-data & "maybe"
setup sites check ech.txt => ech.txt & line 2: ech & "rejected" & accepted, rejected-retry, rejected-no-keys, grease, outer-only; or none
evaluate --sites missing.txt => missing.txt & No such file
evaluate --sites ipv6.txt => ipv6.txt: line 2: [2001:db8::1] & IPv6 is not emulated; give the site a host name
scan --sites ipv6.txt => ipv6.txt: line 2: [2001:db8::1]: IPv6 is not emulated
connect --sites ipv6.txt => ipv6.txt: line 2: [2001:db8::1]: IPv6 is not emulated
setup sites check ipv6.txt => ipv6.txt: line 2: [2001:db8::1] & IPv6 is not emulated; give the site a host name
connect --sites port.txt => port & 1 to 65535
connect --sites groups.txt => groups & hybrid
connect --sites long.txt => long.txt: line 1 & 4096 bytes
setup sites check json.txt => json.txt: line 1
setup sites check missing.txt => missing.txt & No such file
setup sites record missing => missing
setup sites record folder => folder & run.json
setup sites record good.txt => good.txt
# Trust roots.
connect --roots missing.pem => missing.pem & No such file
connect --roots mozila => mozila & mozilla
connect --roots folder => folder & regular file
connect --roots /dev/zero => /dev/zero & regular file
connect --roots empty.pem => empty.pem & no certificate
connect --roots garbage.pem => garbage.pem & no certificate
connect --roots key.pem => key.pem & private key
connect --roots der.crt => der.crt & DER & openssl x509
connect --roots cut.pem => cut.pem
connect --roots base64.pem => base64.pem & base64
connect --roots inside.pem => inside.pem & certificate
connect https://localhost --client-cert missing.pem => missing.pem & cannot read
connect https://localhost --client-cert garbage.pem => garbage.pem & no certificate in it
scan --roots binary.pem => binary.pem & no certificate
# Destinations of results.
runs list plain-file => plain-file & no such folder of runs
runs list missing => missing & no such folder of runs
runs prune missing --keep 1 => missing & no such folder of runs
"#;

const FAILURES: &str = r"
# Workers.
stacks hello --worker mine=./missing --stack mine => missing & No such file
stacks hello --worker mine=not-executable --stack mine => ./not-executable & Permission denied
stacks hello --worker mine=./not-executable --stack mine => not-executable & ermission
stacks hello --worker mine=./folder --stack mine => folder & ermission
stacks hello --worker mine=./dies --stack mine => dies & broken
stacks hello --worker mine=./babbles --stack mine => babbles
stacks hello --worker mine=./good.txt --stack mine => good.txt
# Destinations of results.
setup man plain-file/pages => plain-file/pages & Not a directory
setup man /proc/nowhere => /proc/nowhere
";

#[test]
fn files() {
    let place = place();
    place.refuses(2, CASES);
    place.refuses(1, FAILURES);
}

#[test]
fn a_file_of_garbage_has_ten_errors_and_a_count() {
    let place = place();
    let garbage = "<html><body bgcolor=white>\n".repeat(3000);
    place.write("page.html", &garbage);
    place.write(
        "bad.txt",
        "one.example\nt\x1bwo.example\nthree.example rtt=20 colour=red\none.example\n",
    );
    place.write("three.txt", "a b\na.example rtt=1\n-\n");
    let table = "
        setup sites check page.html => page.html: line 1: & page.html: line 5: & more errors
        connect --sites page.html => page.html: line 1: & page.html: line 5: & more errors
        setup sites check three.txt => line 1 & line 2 & line 3
        connect --sites bad.txt => bad.txt: line 2 & bad.txt: line 3 & rtt & colour & bad.txt: line 4
    ";
    place.refuses_within(12, 2, &cases(table));
    let said = place.netbench_line("setup sites check page.html").stderr;
    assert_eq!(said.lines().count(), 12, "{said}");
}

#[test]
fn a_folder_that_cannot_be_written_to() {
    let place = place();
    let locked = place.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(locked.join("probe"), "").is_ok() {
        // Permissions do not restrict root, so that a file replaces the folder.
        fs::remove_dir_all(&locked).unwrap();
        fs::write(&locked, "").unwrap();
    }
    place.refuses(1, "setup man locked/pages => locked/pages");
}
