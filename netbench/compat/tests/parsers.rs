//! Each parser has a fuzz target, whose corpus runs through the same function.

use netbench_compat::parsers;

/// Every file of the corpus is passed to the function that its fuzz target calls.
#[test]
fn the_corpus_is_read_without_harm() {
    netbench_testing::read_corpora(env!("CARGO_MANIFEST_DIR"), &parsers::ALL, |_, _, _| ());
}
