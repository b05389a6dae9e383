//! A liar's reports of a connection, and the outcomes of its samples.

use netbench_model::FailureClass::{Alert, Worker, WrongWork};
use serde_json::json;

use super::End::{self, Failed, Unsupported};
use crate::fake::What;

/// Returns lies about a measured connection to one site, in the condition `clean`.
pub(super) fn lies() -> Vec<(&'static str, What, End)> {
    vec![
        (
            "no_version",
            What::Changed(json!({"client": {"version": null}})),
            Failed(WrongWork, "no handshake", "client.version is null"),
        ),
        (
            "no_suite",
            What::Changed(json!({"client": {"suite": null}})),
            Failed(WrongWork, "no handshake", "client.suite is null"),
        ),
        (
            "no_time_in_the_handshake",
            What::Changed(json!({"phases": {"tls_ns": 0}})),
            Failed(WrongWork, "no figure", "phases.tls_ns is 0"),
        ),
        (
            "no_time_before_the_client_hello",
            What::Changed(json!({"phases": {"client_hello_ns": 0}})),
            Failed(WrongWork, "no figure", "phases.client_hello_ns is 0"),
        ),
        (
            "no_bytes_in",
            What::Changed(json!({"transfer": {"handshake_bytes_in": 0}})),
            Failed(WrongWork, "no figure", "transfer.handshake_bytes_in is 0"),
        ),
        (
            "no_bytes_out",
            What::Changed(json!({"transfer": {"handshake_bytes_out": 0}})),
            Failed(WrongWork, "no figure", "transfer.handshake_bytes_out is 0"),
        ),
        (
            "fewer_bytes_than_the_body_has",
            What::Changed(json!({"transfer": {"bytes_in": 3_999}})),
            Failed(WrongWork, "bytes", "transfer.bytes_in is 3999"),
        ),
        (
            "no_bytes_of_a_request",
            What::Changed(json!({"transfer": {"bytes_out": 500}})),
            Failed(WrongWork, "bytes", "transfer.bytes_out is 500"),
        ),
        (
            "verified_in_no_time",
            What::Changed(json!({"phases": {"verify_ns": 1}})),
            Failed(WrongWork, "verification time", "phases.verify_ns is 1:"),
        ),
        (
            "verified_for_longer_than_the_handshake",
            What::Changed(json!({"phases": {"verify_ns": 180_001}})),
            Failed(
                WrongWork,
                "verification time",
                "phases.verify_ns is 180001, more than the 180000 ns",
            ),
        ),
        (
            "resumed_on_both_sides",
            What::Changed(
                json!({"client": {"resumed": true}, "server": {"negotiated": {"resumed": true}}}),
            ),
            Failed(WrongWork, "resumed", "resumed is true"),
        ),
        (
            "early_data_that_was_not_due",
            What::Changed(json!({"client": {"early_data": "accepted"}})),
            Failed(WrongWork, "early data", "the client sent early data"),
        ),
        (
            "ech_that_was_not_due",
            What::Changed(json!({"client": {"ech": "accepted"}})),
            Failed(
                WrongWork,
                "Encrypted ClientHello",
                "the client reports accepted, where none was due",
            ),
        ),
        (
            "not_verified",
            What::Changed(json!({"phases": {"verify_ns": null}})),
            Failed(WrongWork, "no verification", "phases.verify_ns is null"),
        ),
        (
            "no_view_of_the_server",
            What::Changed(json!({"server": null})),
            Failed(WrongWork, "no server's view", "did not report"),
        ),
        (
            "another_version",
            What::Changed(json!({"server": {"negotiated": {"version": "1.2"}}})),
            Failed(WrongWork, "sides disagree", "version: "),
        ),
        (
            "another_suite",
            What::Changed(json!({"server": {"negotiated": {"suite": "TLS_AES_256_GCM_SHA384"}}})),
            Failed(WrongWork, "sides disagree", "suite: "),
        ),
        (
            "another_protocol",
            What::Changed(json!({"server": {"negotiated": {"alpn": "http/1.1"}}})),
            Failed(WrongWork, "sides disagree", "protocol: "),
        ),
        (
            "no_protocol",
            What::Changed(json!({"server": {"negotiated": {"alpn": null}}})),
            Failed(WrongWork, "sides disagree", "protocol: "),
        ),
        (
            "resumed_on_one_side",
            What::Changed(json!({"server": {"negotiated": {"resumed": true}}})),
            Failed(WrongWork, "sides disagree", "resumed: "),
        ),
        (
            "another_group",
            What::Changed(json!({"server": {"negotiated": {"group": "secp256r1"}}})),
            Failed(WrongWork, "sides disagree", "group: "),
        ),
        (
            "another_status",
            What::Changed(json!({"http_status": 404})),
            Failed(WrongWork, "another response", "status 404"),
        ),
        (
            "a_byte_less",
            What::Changed(json!({"body_bytes": 999})),
            Failed(WrongWork, "another response", "999 bytes"),
        ),
        (
            "a_byte_more",
            What::Changed(json!({"body_bytes": 1001})),
            Failed(WrongWork, "another response", "1001 bytes"),
        ),
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
        (
            "another_id",
            What::OtherId,
            Failed(Worker, "nonsense", "an answer to request 1"),
        ),
        (
            "a_line_of_garbage",
            What::Line("{\"id\":\u{7}".to_owned()),
            Failed(Worker, "nonsense", "{\"id\":\u{fffd}"),
        ),
        (
            "an_empty_line",
            What::Line(String::new()),
            Failed(Worker, "nonsense", "not an answer"),
        ),
        (
            "a_line_that_does_not_end",
            What::LongLine(65),
            Failed(Worker, "nonsense", "xxxx"),
        ),
        (
            "an_answer_of_no_known_kind",
            What::Instead(json!({"type": "gone-fishing"})),
            Failed(Worker, "nonsense", "gone-fishing"),
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

/// Returns reports of a connection with early data to a site that accepts it.
pub(super) fn lies_about_early_data() -> Vec<(&'static str, What, End)> {
    vec![
        (
            "early_data_on_no_side",
            What::Changed(
                json!({"client": {"early_data": null}, "server": {"negotiated": {"early_data": null}}}),
            ),
            Failed(WrongWork, "early data", "the client sent no early data"),
        ),
        (
            "early_data_that_the_server_did_not_see",
            What::Changed(json!({"server": {"negotiated": {"early_data": null}}})),
            Failed(WrongWork, "early data", "accepted, the server none"),
        ),
        (
            "early_data_rejected_on_one_side",
            What::Changed(json!({"server": {"negotiated": {"early_data": "rejected"}}})),
            Failed(WrongWork, "early data", "accepted, the server rejected"),
        ),
        // As after a HelloRetryRequest.
        (
            "early_data_rejected_on_both_sides",
            What::Changed(
                json!({"client": {"early_data": "hello-retry-request"}, "server": {"negotiated": {"early_data": "hello-retry-request"}}}),
            ),
            End::Ok,
        ),
        (
            "early_data_with_a_retry_that_the_server_did_not_ask_for",
            What::Changed(
                json!({"client": {"early_data": "hello-retry-request"}, "server": {"negotiated": {"early_data": "rejected"}}}),
            ),
            Failed(
                WrongWork,
                "early data",
                "hello-retry-request, the server rejected",
            ),
        ),
        (
            "early_data_without_resumption",
            What::Changed(
                json!({"client": {"resumed": false}, "server": {"negotiated": {"resumed": false}}}),
            ),
            Failed(WrongWork, "not resumed", "resumed is false"),
        ),
        // A part of an answer may come with the handshake, but not more than all of it.
        (
            "early_data_answered_within_the_handshake",
            What::Changed(
                json!({"transfer": {"handshake_bytes_in": 4_100, "handshake_bytes_out": 700}}),
            ),
            End::Ok,
        ),
        (
            "early_data_answered_with_too_few_bytes",
            What::Changed(json!({"transfer": {"bytes_in": 900}})),
            Failed(WrongWork, "bytes", "transfer.bytes_in is 900"),
        ),
    ]
}
