//! The parsers of the bytes that a client under test sends for Encrypted ClientHello, each as one function: the fuzz targets in
//! `fuzz/` call them, and the tests that run their corpus.
//!
//! A function panics if the parser breaks its contract, and returns no value.

use netbench_scan::{
    codec::{Reader, dns::MAX_UDP_BYTES, https_answer},
    parsers::Parser,
};

use crate::name_server::{Transport, Zone};
pub use crate::server::ech::parsers::{
    HIDDEN_NAME, inner as ech_inner, outer as ech_outer, sent as ech_sent,
};

/// All of them.
pub const ALL: [Parser; 3] = [
    ("ech_outer", ech_outer),
    ("ech_inner", ech_inner),
    ("dns_question", dns_question),
];

/// Parses a question to the DNS server, after the list of configurations in its record, with the list's length in two bytes.
/// The scan's parser reads every answer, and finds the same list in it.
pub fn dns_question(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let Some(list) = reader.vec16() else {
        return;
    };
    let question = reader.rest();
    let mut zone = Zone::default();
    zone.add(HIDDEN_NAME, 20_000, list);
    for (transport, most) in [
        (Transport::Udp, MAX_UDP_BYTES.max(question.len())),
        (Transport::Tcp, usize::from(u16::MAX).max(question.len())),
    ] {
        let Some(answer) = zone.answer(question, transport) else {
            continue;
        };
        assert!(answer.message.len() <= most);
        assert_eq!(answer.message[..2], question[..2]);
        let read = https_answer(&answer.message).expect("an answer");
        let lists = read.records.iter().map(|record| record.ech.as_deref());
        let due = answer.service.map(|_| Some(list));
        assert!(lists.eq(due));
    }
}
