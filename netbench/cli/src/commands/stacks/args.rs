use clap::{Args, Subcommand};

use super::hello;
use crate::options::{Output, OwnWorkers};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench stacks                            what there is, built or not
  netbench stacks --json | jq '.stacks[] | {stack, state, build}'
  netbench stacks build openssl rustls-ring
  netbench stacks build --all
  netbench stacks check go                   does its worker keep every rule?
  netbench stacks check mine --worker mine=./my-worker
  netbench stacks clean
  netbench stacks clean --objects            keep the workers, and little else
  netbench stacks hello https://example.com/ --stack rustls-ring
  netbench stacks build rustls-ring+jemalloc openssl+clang
  netbench stacks build openssl@1.1.1 openssl@3.0 openssl@4.0
  netbench stacks build rustls@0.20 rustls@0.23.31 aws-lc-rs@1.12.0
  netbench stacks build servo-browser        Servo, for `netbench browser --browser servo`
  netbench suite handshake --stack rustls-ring,rustls-ring+jemalloc,openssl,openssl+novaes
  netbench suite handshake --case '*_secp256r1*' --stack go,go+fips,rustls-aws-lc+fips

openssl@3.0 is the last release of that line that crates.io has; its first build
compiles OpenSSL, which takes some minutes. rustls@0.23.31 is rustls-ring with
that version of rustls, rustls@0.20 the last of an older line, for the suite
alone, rustls@0.24-dev a pre-release of the next, and aws-lc-rs@1.12.0 is
rustls-aws-lc with that version of aws-lc-rs; Cargo fetches what the usual lock
file does not have.

A name may end with variants. +jemalloc, +mimalloc, +gcc, +clang, +lto and
+native are other programs: with another allocator, another compiler of the
library's C, fat LTO, or compiled for this processor. +noavx512 and +novaes are
the same programs with part of the processor hidden from the library, and
+malloc says what is so without a variant. +fips, for go, rustls-aws-lc, s2n-tls
and their versions, has a FIPS 140-3 module do the cryptography, and is another
program but for go. The worker checks that it is what its name says; where it is
not or cannot be, its cases are unsupported, with the reason.

Each stack runs in a separate program, its worker. netbench looks for workers
beside the command, in the cache folder and in the source tree. A command that
needs a missing worker builds it from the source tree.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Stacks {
    #[command(subcommand)]
    pub(crate) command: Option<StacksCommand>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StacksCommand {
    /// List the stacks: versions, what each supports and offers, licences, build time [default]
    List(Output),
    /// Build workers from the source tree into the cache folder
    Build(Build),
    /// Check that workers keep the rules that every worker must keep
    #[command(after_help = CHECK)]
    Check(Check),
    /// Delete the workers in the cache folder, or what their builds left behind
    Clean(Clean),
    /// Show the ClientHello of each stack: what it offers, its size, JA3 and JA4
    #[command(after_help = hello::EXAMPLES)]
    Hello(hello::Hello),
}

#[derive(Debug, Args)]
pub(crate) struct Build {
    /// Stacks whose workers to build
    #[arg(value_name = "STACK", required_unless_present = "all")]
    pub(crate) stacks: Vec<String>,
    /// Build every worker but those of several versions (openssl@3.0), and the library that counts allocations
    #[arg(long, conflicts_with = "stacks")]
    pub(crate) all: bool,
}

const CHECK: &str = "\
The checks:
  protocol         requests, errors and the end of stdin, as in
                   docs/WORKER-PROTOCOL.md
  connections      some 200 connections of the worker to sites that it serves
  suite            every kind of case in memory
  set-up           the steps of a first connection
  ech              Encrypted ClientHello of the worker's clients, to sites that it
                   serves
  openssl-command  connections to and from the openssl command
  nginx            connections to nginx

A check that needs a program that is missing, or something that the stack does
not do, is unsupported. With a failed check the exit code is 4.";

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Stacks to check
    #[arg(value_name = "STACK", required = true)]
    pub(crate) stacks: Vec<String>,
    #[command(flatten)]
    pub(crate) own: OwnWorkers,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Delete the workers of these stacks alone
    #[arg(value_name = "STACK", conflicts_with = "objects")]
    pub(crate) stacks: Vec<String>,
    /// Keep the workers, and delete what only another build of them would use: OpenSSL's libraries in
    /// the cache folder, and Cargo's folders of versions and variants in the source tree
    #[arg(long)]
    pub(crate) objects: bool,
}
