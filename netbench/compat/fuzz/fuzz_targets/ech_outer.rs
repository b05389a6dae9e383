#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netbench_compat::parsers::ech_outer(bytes));
