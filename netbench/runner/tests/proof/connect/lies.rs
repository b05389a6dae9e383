//! A liar's reports of a connection, and the outcomes of its samples.

use netbench_model::FailureClass::{Alert, Worker, WrongWork};
use serde_json::{Value, json};

use super::End::{self, Failed, Unsupported};
use crate::fake::What;

/// Returns lies about a measured connection to one site, in the condition `clean`.
pub(super) fn lies() -> Vec<(&'static str, What, End)> {
    let changed = What::Changed;
    let no_handshake = |what: &'static str, patch: Value, detail: &'static str| {
        (
            what,
            changed(patch),
            Failed(WrongWork, "no handshake", detail),
        )
    };
    let no_figure = |what: &'static str, patch: Value, detail: &'static str| {
        (what, changed(patch), Failed(WrongWork, "no figure", detail))
    };
    let verification = |what: &'static str, verify_ns: u64, detail: &'static str| {
        let patch = json!({"phases": {"verify_ns": verify_ns}});
        let end = Failed(WrongWork, "verification time", detail);
        (what, changed(patch), end)
    };
    let bytes = |what: &'static str, patch: Value, detail: &'static str| {
        let patch = json!({"transfer": patch});
        (what, changed(patch), Failed(WrongWork, "bytes", detail))
    };
    let disagree = |what: &'static str, patch: Value, detail: &'static str| {
        let patch = json!({"server": {"negotiated": patch}});
        (
            what,
            changed(patch),
            Failed(WrongWork, "sides disagree", detail),
        )
    };
    let another_response = |what: &'static str, patch: Value, detail: &'static str| {
        (
            what,
            changed(patch),
            Failed(WrongWork, "another response", detail),
        )
    };
    let nonsense = |what: &'static str, lie: What, detail: &'static str| {
        (what, lie, Failed(Worker, "nonsense", detail))
    };
    vec![
        no_handshake(
            "no_version",
            json!({"client": {"version": null}}),
            "client.version is null",
        ),
        no_handshake(
            "no_suite",
            json!({"client": {"suite": null}}),
            "client.suite is null",
        ),
        no_figure(
            "no_time_in_the_handshake",
            json!({"phases": {"tls_ns": 0}}),
            "phases.tls_ns is 0",
        ),
        no_figure(
            "no_time_before_the_client_hello",
            json!({"phases": {"client_hello_ns": 0}}),
            "phases.client_hello_ns is 0",
        ),
        no_figure(
            "no_bytes_in",
            json!({"transfer": {"handshake_bytes_in": 0}}),
            "transfer.handshake_bytes_in is 0",
        ),
        no_figure(
            "no_bytes_out",
            json!({"transfer": {"handshake_bytes_out": 0}}),
            "transfer.handshake_bytes_out is 0",
        ),
        bytes(
            "fewer_bytes_than_the_body_has",
            json!({"bytes_in": 3_999}),
            "transfer.bytes_in is 3999",
        ),
        bytes(
            "no_bytes_of_a_request",
            json!({"bytes_out": 500}),
            "transfer.bytes_out is 500",
        ),
        verification("verified_in_no_time", 1, "phases.verify_ns is 1:"),
        verification(
            "verified_for_longer_than_the_handshake",
            180_001,
            "phases.verify_ns is 180001, more than the 180000 ns",
        ),
        (
            "resumed_on_both_sides",
            changed(
                json!({"client": {"resumed": true}, "server": {"negotiated": {"resumed": true}}}),
            ),
            Failed(WrongWork, "resumed", "resumed is true"),
        ),
        (
            "not_verified",
            changed(json!({"phases": {"verify_ns": null}})),
            Failed(WrongWork, "no verification", "phases.verify_ns is null"),
        ),
        (
            "no_view_of_the_server",
            changed(json!({"server": null})),
            Failed(WrongWork, "no server's view", "did not report"),
        ),
        disagree("another_version", json!({"version": "1.2"}), "version: "),
        disagree(
            "another_suite",
            json!({"suite": "TLS_AES_256_GCM_SHA384"}),
            "suite: ",
        ),
        disagree(
            "another_protocol",
            json!({"alpn": "http/1.1"}),
            "protocol: ",
        ),
        disagree("no_protocol", json!({"alpn": null}), "protocol: "),
        disagree("resumed_on_one_side", json!({"resumed": true}), "resumed: "),
        disagree("another_group", json!({"group": "secp256r1"}), "group: "),
        another_response("another_status", json!({"http_status": 404}), "status 404"),
        another_response("a_byte_less", json!({"body_bytes": 999}), "999 bytes"),
        another_response("a_byte_more", json!({"body_bytes": 1001}), "1001 bytes"),
        (
            "an_answer_of_another_kind",
            What::Instead(json!({"type": "configured"})),
            Failed(Worker, "refused", "an answer of another kind"),
        ),
        (
            "an_error",
            What::Instead(json!({"type": "error", "message": "not\u{1b}[31m today"})),
            Failed(Worker, "refused", "not\u{fffd}[31m today"),
        ),
        nonsense("another_id", What::OtherId, "an answer to request 1"),
        nonsense(
            "a_line_of_garbage",
            What::Line("{\"id\":\u{7}".to_owned()),
            "{\"id\":\u{fffd}",
        ),
        nonsense("an_empty_line", What::Line(String::new()), "not an answer"),
        nonsense("a_line_that_does_not_end", What::LongLine(65), "xxxx"),
        nonsense(
            "an_answer_of_no_known_kind",
            What::Instead(json!({"type": "gone-fishing"})),
            "gone-fishing",
        ),
        (
            "silence",
            What::Silence,
            Failed(Worker, "hung", "did not answer within"),
        ),
        (
            "death",
            What::Death,
            Failed(
                Worker,
                "died",
                "exited with 9; it said: the fake worker dies",
            ),
        ),
        (
            "a_failure_stays_as_it_is",
            What::Instead(
                json!({"type": "failed", "class": "alert", "reason": "handshake_failure",
                                 "detail": "so it is", "phase": "tls", "after_ns": 5}),
            ),
            Failed(Alert, "handshake_failure", "so it is"),
        ),
        (
            "unsupported_stays_as_it_is",
            What::Instead(json!({"type": "unsupported", "reason": "not this stack"})),
            Unsupported,
        ),
    ]
}
