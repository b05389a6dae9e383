//! Conformance tests of the worker of `rustls-ring` and `rustls-aws-lc`.

use std::path::Path;

use netbench_worker_test::{
    conformance, documented, nginx, openssl_command, protocol, set_up, suite, verify,
};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-rustls");

const STACKS: [&str; 2] = ["rustls-ring", "rustls-aws-lc"];

netbench_testing::tests! {
    ring_serves_and_connects_to_itself;
    aws_lc_serves_and_connects_to_itself;
    they_keep_to_the_protocol;
    ring_answers_as_documented;
    they_take_the_steps_of_their_set_up;
    they_get_on_with_the_openssl_command: OpensslCommand;
    they_get_on_with_nginx: Nginx;
    they_do_the_suite;
    they_verify_chains;
}

fn ring_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), "rustls-ring");
}

fn aws_lc_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), "rustls-aws-lc");
}

fn they_keep_to_the_protocol() {
    for stack in STACKS {
        protocol(Path::new(WORKER), stack);
    }
}

fn ring_answers_as_documented() {
    documented(Path::new(WORKER), "rustls-ring");
}

fn they_take_the_steps_of_their_set_up() {
    for stack in STACKS {
        set_up(Path::new(WORKER), stack);
    }
}

fn they_get_on_with_the_openssl_command() {
    for stack in STACKS {
        openssl_command(Path::new(WORKER), stack);
    }
}

fn they_verify_chains() {
    for stack in STACKS {
        verify(Path::new(WORKER), stack);
    }
}

fn they_get_on_with_nginx() {
    for stack in STACKS {
        nginx(Path::new(WORKER), stack);
    }
}

fn they_do_the_suite() {
    for stack in STACKS.into_iter().chain(["rustls-aws-lc+unbuffered"]) {
        suite(Path::new(WORKER), stack);
    }
}
