//! Instructions, counted by valgrind.

use netbench_model::SuiteSample;

use crate::support::{Place, samples_of};

netbench_testing::module_tests! {
    instructions_are_the_same_twice: Valgrind;
}

const TICKET: &str = "handshake-ticket_1.2_ECDHE_RSA_AES256-GCM_SHA384";

fn instructions_are_the_same_twice() {
    let place = Place::new();
    let line = format!("--case instructions_{TICKET} --stack rustls-ring --rounds 2");
    place.succeeds(&format!("suite {line}"));
    let counts: Vec<_> = samples_of::<SuiteSample>(&place.run())
        .iter()
        .map(|sample| sample.outcome.ok().unwrap().instructions.clone())
        .collect();
    let [first, second] = counts.as_slice() else {
        panic!("{counts:?}")
    };
    for (measure, count) in first {
        let ratio = second[measure] / count;
        assert!(
            *count > 10_000.0 && (0.99..1.01).contains(&ratio),
            "{measure}: {ratio}"
        );
    }
}
