//! A liar's reports of the suite, and the outcomes of its samples.

use netbench_model::{
    Aead, ClientAuth,
    FailureClass::{Setup, Worker, WrongWork},
    HandshakeKind, HeldAfter, KeyType, ParallelWork, Scenario, SessionSettings, Timing, TlsVersion,
    Work,
};
use serde_json::json;

use super::End::{self, Failed, Unsupported};
use crate::fake::What;

pub(super) fn settings() -> SessionSettings {
    SessionSettings::usual(TlsVersion::Tls13, KeyType::EcdsaP256, Aead::Aes128Gcm)
}

pub(super) fn handshake(kind: HandshakeKind) -> Scenario {
    let settings = settings();
    Scenario::timed(Work::Handshake { kind, settings })
}

pub(super) fn full() -> Scenario {
    handshake(HandshakeKind::Full)
}

pub(super) fn ticket() -> Scenario {
    handshake(HandshakeKind::Ticket)
}

pub(super) fn client_auth() -> Scenario {
    let settings = SessionSettings {
        client_auth: ClientAuth::On,
        ..settings()
    };
    let kind = HandshakeKind::Full;
    Scenario::timed(Work::Handshake { kind, settings })
}

pub(super) fn memory() -> Scenario {
    held_after(HeldAfter::Handshake)
}

pub(super) fn held_after(after: HeldAfter) -> Scenario {
    Scenario::timed(Work::Memory {
        settings: settings(),
        sessions: 10,
        after,
    })
}

pub(super) fn threads() -> Scenario {
    Scenario::timed(Work::Threads {
        threads: 2,
        work: ParallelWork::Handshake(HandshakeKind::Full),
        settings: settings(),
    })
}

/// Returns a scenario that no lie concerns.
pub(super) fn other() -> Scenario {
    let settings = SessionSettings::usual(TlsVersion::Tls12, KeyType::Rsa2048, Aead::Aes256Gcm);
    let kind = HandshakeKind::Full;
    Scenario::timed(Work::Handshake { kind, settings })
}

/// The request that a lie answers.
#[derive(Clone, Copy)]
pub(super) enum In {
    Prepare,
    Slice,
    Hold,
}

pub(super) type Case = (&'static str, Scenario, In, What, End);

/// Returns lies about the negotiated parameters of the first handshake.
pub(super) fn lies_of_agreement() -> Vec<Case> {
    let lies = [
        (
            "no_client",
            full(),
            json!({"client": null}),
            "agreement",
            "the client does not report",
        ),
        (
            "no_server",
            full(),
            json!({"server": null}),
            "agreement",
            "the server does not report",
        ),
        (
            "clients_version",
            full(),
            json!({"client": {"version": "1.2"}}),
            "version",
            "client: ",
        ),
        (
            "servers_version",
            full(),
            json!({"server": {"version": "1.2"}}),
            "version",
            "server: ",
        ),
        (
            "clients_suite",
            full(),
            json!({"client": {"suite": "0x5678"}}),
            "suite",
            "client: ",
        ),
        (
            "servers_suite",
            full(),
            json!({"server": {"suite": "0x5678"}}),
            "suite",
            "server: ",
        ),
        (
            "clients_group",
            full(),
            json!({"client": {"group": "0x5678"}}),
            "group",
            "client: ",
        ),
        (
            "servers_group",
            full(),
            json!({"server": {"group": "0x5678"}}),
            "group",
            "server: ",
        ),
        (
            "client_resumed",
            full(),
            json!({"client": {"resumed": true}}),
            "handshake",
            "client: ",
        ),
        (
            "server_resumed",
            full(),
            json!({"server": {"resumed": true}}),
            "handshake",
            "server: ",
        ),
        (
            "client_not_resumed",
            ticket(),
            json!({"client": {"resumed": false}}),
            "handshake",
            "client: ",
        ),
        (
            "server_not_resumed",
            ticket(),
            json!({"server": {"resumed": false}}),
            "handshake",
            "server: ",
        ),
        (
            "short_chain",
            full(),
            json!({"client": {"chain_bytes": [900]}}),
            "chain",
            "sent 1 certificates",
        ),
        (
            "long_chain",
            full(),
            json!({"client": {"chain_bytes": [9, 9, 9]}}),
            "chain",
            "sent 3 certificates",
        ),
        (
            "client_certificates_unasked",
            full(),
            json!({"server": {"chain_bytes": [900]}}),
            "client authentication",
            "client sent 1 certificates",
        ),
        (
            "no_client_certificates",
            client_auth(),
            json!({"server": {"chain_bytes": []}}),
            "client authentication",
            "client sent 0 certificates",
        ),
        (
            "sessions_of_memory",
            memory(),
            json!({"client": {"version": "1.2"}}),
            "version",
            "client: ",
        ),
        (
            "sessions_of_threads",
            threads(),
            json!({"server": {"suite": "0x5678"}}),
            "suite",
            "server: ",
        ),
    ];
    let cases = lies.map(|(name, scenario, patch, reason, detail)| {
        let end = Failed(WrongWork, reason, detail);
        (name, scenario, In::Prepare, What::Changed(patch), end)
    });
    cases.into()
}

/// Returns lies about turns, and about held sessions.
pub(super) fn lies_of_work() -> Vec<Case> {
    let timings = "one timing for each operation";
    let sliced = [
        (
            "clients_resumed",
            full(),
            json!({"client_resumed": 1}),
            "resumption",
            "1 resumed as the clients",
        ),
        (
            "servers_resumed",
            full(),
            json!({"server_resumed": 1}),
            "resumption",
            "1 as the servers",
        ),
        (
            "one_client_not_resumed",
            ticket(),
            json!({"client_resumed": 2}),
            "resumption",
            "2 resumed as the clients",
        ),
        (
            "one_server_not_resumed",
            ticket(),
            json!({"server_resumed": 2}),
            "resumption",
            "2 as the servers",
        ),
        (
            "resumed_on_threads",
            threads(),
            json!({"client_resumed": 3}),
            "resumption",
            "3 resumed as the clients",
        ),
        (
            "no_timings_of_a_side",
            full(),
            json!({"timings_ns": {"server": []}}),
            "timings",
            timings,
        ),
        (
            "a_timing_less",
            full(),
            json!({"timings_ns": {"client": [1, 2]}}),
            "timings",
            timings,
        ),
        (
            "a_timing_more",
            full(),
            json!({"timings_ns": {"client": [1, 2, 3, 4]}}),
            "timings",
            timings,
        ),
        (
            "no_operations",
            full(),
            json!({"operations": 0, "timings_ns": {"client": [], "server": []}}),
            "timings",
            timings,
        ),
        (
            "no_operations_on_threads",
            threads(),
            json!({"operations": 0}),
            "timings",
            timings,
        ),
        (
            "a_part_of_the_timings_of_threads",
            threads(),
            json!({"timings_ns": {"client": [1], "server": [1]}}),
            "timings",
            timings,
        ),
        (
            "fewer_operations",
            full(),
            json!({"operations": 2, "timings_ns": {"client": [1, 2], "server": [1, 2]}}),
            "timings",
            "2 operations were done, where",
        ),
        (
            "a_batch_of_another_size",
            full(),
            json!({"batch": 7}),
            "timings",
            "batches of 7 operations were timed, where 1 were asked for",
        ),
    ];
    let sliced = sliced.map(|(name, scenario, patch, reason, detail)| {
        let end = Failed(WrongWork, reason, detail);
        (name, scenario, In::Slice, What::Changed(patch), end)
    });
    let held = [
        (
            "fewer_sessions",
            HeldAfter::Handshake,
            json!({"sessions": 8}),
            "sessions",
            "8 sessions",
        ),
        (
            "no_sessions",
            HeldAfter::Handshake,
            json!({"sessions": 0}),
            "sessions",
            "0 sessions",
        ),
        (
            "no_tickets",
            HeldAfter::Tickets,
            json!({"ticket_bytes": 0}),
            "bytes",
            "0 bytes of tickets",
        ),
        (
            "tickets_where_none_are_due",
            HeldAfter::Handshake,
            json!({"ticket_bytes": 500}),
            "bytes",
            "500 bytes of tickets",
        ),
        (
            "data_that_clients_did_not_receive",
            HeldAfter::Data,
            json!({"client_data_bytes": 16_384}),
            "bytes",
            "clients received 16384 bytes of data, where 81920 were due",
        ),
        (
            "data_that_servers_did_not_receive",
            HeldAfter::Data,
            json!({"server_data_bytes": 0}),
            "bytes",
            "servers received 0 bytes",
        ),
    ];
    let held = held.map(|(name, after, patch, reason, detail)| {
        let end = Failed(WrongWork, reason, detail);
        (name, held_after(after), In::Hold, What::Changed(patch), end)
    });
    sliced.into_iter().chain(held).collect()
}

/// Returns invalid responses, and honest failures.
pub(super) fn lies_of_any_kind() -> Vec<Case> {
    let another = What::Instead(json!({"type": "configured"}));
    let kind = Failed(Worker, "refused", "an answer of another kind");
    let died = Failed(
        Worker,
        "died",
        "exited with 9; it said: the fake worker dies",
    );
    let nonsense = Failed(Worker, "nonsense", "");
    let error = What::Instead(json!({"type": "error", "message": "no"}));
    let failed = What::Instead(
        json!({"type": "failed", "class": "setup", "reason": "key", "detail": "no such key",
                                         "phase": null, "after_ns": null}),
    );
    let unsupported = What::Instead(json!({"type": "unsupported", "reason": "no such group"}));
    vec![
        (
            "another_timing",
            full().with_timing(Timing::Bench),
            In::Prepare,
            What::Changed(json!({"timing": "whole"})),
            Unsupported("its worker has no bench timing"),
        ),
        (
            "prepared_with_another_kind",
            full(),
            In::Prepare,
            another.clone(),
            kind,
        ),
        (
            "a_turn_of_another_kind",
            full(),
            In::Slice,
            another.clone(),
            kind,
        ),
        ("held_with_another_kind", memory(), In::Hold, another, kind),
        (
            "death_while_preparing",
            full(),
            In::Prepare,
            What::Death,
            died,
        ),
        ("death_in_a_turn", full(), In::Slice, What::Death, died),
        ("death_while_holding", memory(), In::Hold, What::Death, died),
        ("another_id", full(), In::Slice, What::OtherId, nonsense),
        (
            "garbage",
            full(),
            In::Prepare,
            What::Line("{".to_owned()),
            nonsense,
        ),
        (
            "an_error",
            full(),
            In::Slice,
            error,
            Failed(Worker, "refused", "refused: no"),
        ),
        (
            "a_failure_stays_as_it_is",
            full(),
            In::Prepare,
            failed,
            Failed(Setup, "key", "no such key"),
        ),
        (
            "unsupported_stays_as_it_is",
            full(),
            In::Prepare,
            unsupported,
            Unsupported("no such group"),
        ),
    ]
}
