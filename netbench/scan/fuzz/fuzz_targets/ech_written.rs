#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netbench_scan::parsers::ech_written(bytes));
