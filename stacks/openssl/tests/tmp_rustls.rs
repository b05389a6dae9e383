//! tmp
use std::path::Path;
use netbench_worker_test::{conformance, foreign_peers};
#[test]
fn a_ring() { conformance(Path::new(&std::env::var("NB_W").unwrap()), "rustls-ring"); }
#[test]
fn a_aws() { conformance(Path::new(&std::env::var("NB_W").unwrap()), "rustls-aws-lc"); }
#[test]
fn f_ring() { foreign_peers(Path::new(&std::env::var("NB_W").unwrap()), "rustls-ring").unwrap(); }
#[test]
fn f_aws() { foreign_peers(Path::new(&std::env::var("NB_W").unwrap()), "rustls-aws-lc").unwrap(); }
