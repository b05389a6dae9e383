use netbench_scan::codec::{put_u16, put_vec8};

use super::*;
use crate::ech::{ConfigKind, EchClientSpec, ListFlaw};

const SESSION: &[u8] = &[9; 32];

/// Returns the body of a hello with these extensions.
fn hello_body(random: u8, session: &[u8], extensions: &[(u16, &[u8])]) -> Vec<u8> {
    let mut all = Vec::new();
    for (number, body) in extensions {
        put_extension(&mut all, *number, body);
    }
    let mut body = vec![3, 3];
    body.extend([random; 32]);
    put_vec8(&mut body, session);
    put_vec16(&mut body, &[0x13, 1]);
    put_vec8(&mut body, &[0]);
    put_vec16(&mut body, &all);
    body
}

fn hello(body: &[u8]) -> Hello {
    let message = Message {
        kind: 1,
        whole: message(1, body),
    };
    Hello::of_message(message).ok().unwrap()
}

fn extension(payload: &[u8]) -> Vec<u8> {
    let mut body = vec![0, 0, 1, 0, 1, 7];
    put_vec16(&mut body, &[5; 32]);
    put_vec16(&mut body, payload);
    body
}

fn outer() -> Hello {
    let ech = extension(&[6; 100]);
    let extensions: [(u16, &[u8]); 4] = [
        (10, b"groups"),
        (ENCRYPTED_CLIENT_HELLO, &ech),
        (13, b"schemes"),
        (51, b"shares"),
    ];
    hello(&hello_body(1, SESSION, &extensions))
}

/// Returns an encoded hello that refers to these extensions, with padding.
fn encoded(named: &[u16], padding: &[u8]) -> Vec<u8> {
    let mut list = Vec::new();
    for number in named {
        put_u16(&mut list, *number);
    }
    let mut body = Vec::new();
    put_vec8(&mut body, &list);
    let extensions: [(u16, &[u8]); 3] = [
        (0, b"name"),
        (OUTER_EXTENSIONS, &body),
        (ENCRYPTED_CLIENT_HELLO, &[1]),
    ];
    [hello_body(2, &[], &extensions).as_slice(), padding].concat()
}

#[test]
fn references_to_the_outer_hello_are_replaced() {
    let (inner, padding) = decoded(&encoded(&[10, 51], &[0; 9]), &outer())
        .ok()
        .unwrap();
    let due: [(u16, &[u8]); 4] = [
        (0, b"name"),
        (10, b"groups"),
        (51, b"shares"),
        (ENCRYPTED_CLIENT_HELLO, &[1]),
    ];
    assert_eq!(inner.message, message(1, &hello_body(2, SESSION, &due)));
    assert_eq!(padding, 9);
}

#[test]
fn wrong_references_and_wrong_padding_are_refused() {
    use EchViolation::{OuterExtensions, Padding, Unreadable};
    for (bytes, violation) in [
        (encoded(&[10, 43], &[]), OuterExtensions),
        (encoded(&[10, 10], &[]), OuterExtensions),
        (encoded(&[51, 10], &[]), OuterExtensions),
        (encoded(&[ENCRYPTED_CLIENT_HELLO], &[]), OuterExtensions),
        (encoded(&[10], &[0, 0, 1]), Padding),
        (hello_body(2, SESSION, &[]), Unreadable),
    ] {
        let decoded = decoded(&bytes, &outer()).map(|_| ());
        assert_eq!(decoded, Err(violation), "{bytes:?}");
    }
}

#[test]
fn the_associated_data_have_zeros_for_the_payload_and_nothing_else_changed() {
    let outer = outer();
    let associated = associated(&outer).unwrap();
    let sent = &outer.message[4..];
    assert_eq!(associated.len(), sent.len());
    let changed = (0..sent.len()).filter(|at| associated[*at] != sent[*at]);
    let changed: Vec<usize> = changed.collect();
    assert_eq!(changed.len(), 100);
    assert!(
        changed
            .iter()
            .all(|at| associated[*at] == 0 && sent[*at] == 6)
    );
}

/// A client under test can send anything.
#[test]
fn hellos_that_are_cut_or_changed_anywhere_are_an_error_and_no_panic() {
    let outer = outer();
    let body = extension(&[6; 100]);
    for end in 0..body.len() {
        assert!(Outer::parse(&body[..end]).is_none(), "{end}");
    }
    let whole = encoded(&[10, 13, 51], &[]);
    for end in 0..whole.len() {
        assert!(decoded(&whole[..end], &outer).is_err(), "{end}");
    }
    let mut refused = 0;
    for at in 0..whole.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            refused += usize::from(decoded(&bytes, &outer).is_err());
        }
    }
    assert!(refused > 20, "{refused}");
    let mut client = ClientSpec::default();
    client.ech = Some(EchClientSpec {
        configs: vec![ConfigKind::Right],
        ..EchClientSpec::default()
    });
    let server = EchServer::new(&EchServerSpec::default(), &client, "case.netbench.test");
    for end in 0..body.len() {
        let cut: [(u16, &[u8]); 1] = [(ENCRYPTED_CLIENT_HELLO, &body[..end])];
        let opened = server.open(&hello(&hello_body(1, SESSION, &cut)));
        assert_eq!(opened.map(|_| ()), Err(EchViolation::Unreadable), "{end}");
    }
    // The payload is GREASE, or is encrypted to a key that the server does not have.
    assert!(server.open(&outer).unwrap().is_none());
}

#[test]
fn the_extension_is_removed_only_from_a_hello_that_has_it() {
    let sent = outer().message;
    let rest = outer().without(ENCRYPTED_CLIENT_HELLO).ok().unwrap();
    assert_eq!(rest.offer.extensions.len(), 3);
    assert_eq!(
        rest.message.len(),
        sent.len() - 4 - extension(&[6; 100]).len()
    );
    // A hello of an old client ends before the extensions.
    let mut body = hello_body(1, SESSION, &[]);
    body.truncate(body.len() - 2);
    let rest = hello(&body).without(ENCRYPTED_CLIENT_HELLO).ok().unwrap();
    assert_eq!(rest.message, message(1, &body));
}

#[test]
fn a_hello_with_the_extension_twice_or_with_bytes_after_its_extensions_is_refused() {
    let ech = extension(&[6; 100]);
    let extensions: [(u16, &[u8]); 2] = [
        (ENCRYPTED_CLIENT_HELLO, &ech),
        (ENCRYPTED_CLIENT_HELLO, &ech),
    ];
    assert_eq!(
        associated(&hello(&hello_body(1, SESSION, &extensions))),
        None
    );
    assert!(associated(&hello(&hello_body(1, SESSION, &extensions[1..]))).is_some());
    let whole = message(
        1,
        &[hello_body(1, SESSION, &extensions[1..]), vec![0]].concat(),
    );
    assert!(Hello::of_message(Message { kind: 1, whole }).is_err());
}

/// The inner hello is shorter than 64 KiB only before references are replaced.
#[test]
fn an_inner_hello_that_has_no_room_for_its_extensions_is_refused() {
    for (length, due) in [(30_000, true), (40_000, false)] {
        let long = vec![5; length];
        let outer = hello(&hello_body(1, SESSION, &[(51, &long)]));
        let inner: [(u16, &[u8]); 2] = [(13, &long), (OUTER_EXTENSIONS, &[2, 0, 51])];
        let decoded = decoded(&hello_body(2, &[], &inner), &outer);
        assert_eq!(decoded.is_ok(), due, "{length} bytes");
    }
}

#[test]
fn a_list_is_as_long_as_it_says_unless_it_has_a_flaw() {
    let kinds = [ConfigKind::LongUnknownVersion, ConfigKind::Right];
    for kinds in [&kinds[..], &kinds[1..]] {
        for (flaw, more) in [
            (None, 0),
            (Some(ListFlaw::Cut), -1),
            (Some(ListFlaw::CutInside), 0),
            (Some(ListFlaw::Empty), 0),
        ] {
            let list = list(kinds, flaw);
            let length = isize::try_from(list.len()).unwrap() - 2 - more;
            let said = u16::from_be_bytes([list[0], list[1]]);
            assert_eq!(isize::try_from(said), Ok(length), "{flaw:?}");
        }
    }
    assert_eq!(list(&kinds, None).len(), 65_085);
}
