//! The requirements of cases that browsers and other programs do not meet.

use netbench_browser::{OutsideProgram, Product};
use netbench_compat::{Case, Visits};
use netbench_model::{
    FailureClass,
    compat::{Expected, Refusal},
};

/// Returns the reason why a client cannot be tested with a case, if there is one.
pub(super) fn lacking(program: &OutsideProgram, case: &Case) -> Option<&'static str> {
    let product = match program {
        OutsideProgram::Browser(program) => Some(program.product()),
        OutsideProgram::Tool(_) => None,
    };
    if !is_one_visit(case) {
        return Some(
            "it makes one visit, without a client certificate or extra headers, and the case needs more",
        );
    }
    if !is_plain(case) && !product.is_some_and(Product::uses_https_records) {
        return Some("netbench has no way to give it an ECH configuration");
    }
    let needs_no_user = product.is_none_or(Product::needs_no_user);
    if !needs_no_user && case.asks_for_certificate() {
        return Some("it asks its user for a client certificate, and there is none");
    }
    let is_setup = match &case.record.expected {
        Expected::Rejected(due) => due.contains(&Refusal::Class(FailureClass::Setup)),
        Expected::Accepted => false,
    };
    (is_setup && case.ech_configs().is_some()).then_some(
        "the case is about a library's report; a browser ignores a record that it cannot read (RFC 9460 section 2.2)",
    )
}

/// Returns whether the case requires only one plain visit.
pub(super) fn is_plain(case: &Case) -> bool {
    case.ech().is_none() && case.visits() == Visits::Once && is_one_visit(case)
}

/// Returns whether the case requires only one visit of a browser, which connects by itself again after a rejection of
/// Encrypted ClientHello.
fn is_one_visit(case: &Case) -> bool {
    case.identity().is_none()
        && case.request().is_usual()
        && matches!(case.visits(), Visits::Once | Visits::WithRetryConfigs)
}
