//! The tests of the command that need no tool.

#[path = "support/checkout.rs"]
mod checkout;
#[path = "support/evidence.rs"]
mod evidence;
#[path = "../../report/tests/support/mod.rs"]
mod report_support;
mod support;

mod archive_readme;
mod bogo;
mod client_certificates;
mod command_line;
mod compare;
mod completion;
mod config;
mod connect;
mod cost;
mod documents;
mod evaluate;
mod merge;
mod post_quantum;
mod recovery;
mod report;
mod runs;
mod scan_shards;
mod stack_variants;
mod stack_versions;
mod stacks;
mod stored_verdicts;
mod studies;
mod suite;
mod wrong_input;
