//! The parsers of a client's Encrypted ClientHello, for [`crate::parsers`].

use netbench_scan::codec::{ClientHello, EchConfig, Message, Reader, ech_configs, message};

use super::{super::hello::Hello, EchOutcome, EchServer, Outer, associated, decoded};
use crate::{
    client::ClientSpec,
    ech::{ConfigKind, ENCRYPTED_CLIENT_HELLO, EchClientSpec, EchServerSpec},
};

/// The name that clients hide from these servers.
pub const HIDDEN_NAME: &str = "hidden.netbench.test";

/// Parses the outer hellos of a client: the body of the first after its length in two bytes, and that of the second.
pub fn outer(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let body = reader.vec16().unwrap_or_default();
    let Some(first) = hello(body) else {
        return;
    };
    associated_data_differ_in_the_payload(&first);
    if let Some(again) = hello(body) {
        the_extension_can_be_removed(again);
    }
    let second = hello(reader.rest());
    for server in servers() {
        let Ok(mut accepted) = server.open(&first) else {
            continue;
        };
        let outcome = EchOutcome::of(&first, accepted.as_ref());
        assert_eq!(outcome == EchOutcome::Accepted, accepted.is_some());
        if let (Some(accepted), Some(second)) = (&mut accepted, &second) {
            let _ = server.open_second(accepted, second);
        }
    }
}

/// Parses the encoded inner hello of a client, which is after the body of its outer hello.
pub fn inner(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let Some(outer) = reader.vec16().and_then(hello) else {
        return;
    };
    let encoded = reader.rest();
    if let Ok((inner, padding)) = decoded(encoded, &outer) {
        assert!(padding < encoded.len());
        assert_eq!(inner.offer.session_id, outer.offer.session_id);
        // References do not multiply the extensions of the outer hello.
        assert!(inner.message.len() <= encoded.len() + outer.message.len());
        assert_eq!(encoded.get(2..34), Some(inner.offer.random.as_slice()));
    }
    for server in servers() {
        if let Ok(inner) = server.inner(encoded, &outer) {
            assert_eq!(
                inner.extension(ENCRYPTED_CLIENT_HELLO),
                Some([1].as_slice())
            );
        }
    }
}

/// Compares the records of a library's hello to [`HIDDEN_NAME`] with the list of configurations that the library was given: it
/// hides the name, and has the public name of a configuration that the scan knows.
pub fn sent(list: &[u8], records: &[u8]) {
    let hello = ClientHello::of_records(records);
    let hello = hello.expect("records").expect("a whole hello");
    assert!(hello.extension(ENCRYPTED_CLIENT_HELLO).is_some());
    let name = hello.server_name().expect("a name");
    let mut parts = records.windows(HIDDEN_NAME.len());
    let is_hidden = !parts.any(|part| part == HIDDEN_NAME.as_bytes());
    assert!(is_hidden || name == HIDDEN_NAME);
    // Only the first 32 configurations are read.
    if let Some(configs) = ech_configs(list) {
        assert!(configs.len() == 32 || configs.iter().any(|config| has_name(config, &name)));
    }
    // The only record, without its header and the message's: the whole hello is shorter than a record.
    let body = &records[5 + 4..];
    let length = u16::try_from(body.len()).expect("a length");
    outer(&[&length.to_be_bytes(), body].concat());
}

fn has_name(config: &EchConfig, name: &str) -> bool {
    let Some(contents) = &config.contents else {
        return false;
    };
    let public_name = contents.public_name.strip_suffix(b".");
    let public_name = public_name.unwrap_or(&contents.public_name);
    public_name.eq_ignore_ascii_case(name.as_bytes())
}

/// Returns servers with one key, which demand little and much of a client.
fn servers() -> [EchServer; 2] {
    let mut client = ClientSpec::default();
    client.ech = Some(EchClientSpec {
        configs: vec![ConfigKind::Right],
        ..EchClientSpec::default()
    });
    let strict = EchServerSpec {
        checks_versions: true,
        asks_for_padding: true,
        ..EchServerSpec::default()
    };
    [EchServerSpec::default(), strict].map(|spec| EchServer::new(&spec, &client, HIDDEN_NAME))
}

fn hello(body: &[u8]) -> Option<Hello> {
    let whole = message(1, body);
    Hello::of_message(Message { kind: 1, whole }).ok()
}

fn associated_data_differ_in_the_payload(outer: &Hello) {
    let Some(associated) = associated(outer) else {
        return;
    };
    let body = outer.extension(ENCRYPTED_CLIENT_HELLO);
    let payload = body.map_or(0, |body| {
        Outer::parse(body).map_or(usize::MAX, |outer| outer.payload.len())
    });
    let sent = &outer.message[4..];
    assert_eq!(associated.len(), sent.len());
    let changed = associated.iter().zip(sent).filter(|(to, from)| to != from);
    assert!(changed.clone().count() <= payload);
    assert!(changed.map(|(to, _)| to).all(|to| *to == 0));
}

fn the_extension_can_be_removed(outer: Hello) {
    let count = outer.offer.extensions.len();
    let of_ech = outer.offer.extensions.iter();
    let of_ech = of_ech.filter(|(number, _)| *number == ENCRYPTED_CLIENT_HELLO);
    let due = count - of_ech.count();
    let rest = outer.without(ENCRYPTED_CLIENT_HELLO).ok();
    let rest = rest.expect("a hello without the extension");
    assert_eq!(rest.offer.extensions.len(), due);
    assert_eq!(rest.extension(ENCRYPTED_CLIENT_HELLO), None);
}
