//! The worker of `rustls-ring`, `rustls-aws-lc` and its variants for the suite; or only of another version of rustls or
//! aws-lc-rs, where it is built with one.

use std::{process::ExitCode, sync::Arc};

#[cfg(feature = "aws-lc")]
use netbench_stack_rustls::AwsLc;
use netbench_stack_rustls::{Ring, Rustls, Usage};
use netbench_worker::Stack;

/// The package of which this worker is built with another version.
const VERSION_OF: Option<&str> = option_env!("NETBENCH_VERSION_OF");

fn main() -> ExitCode {
    netbench_worker::run(stacks(env!("CARGO_BIN_NAME")))
}

fn stacks(executable: &'static str) -> Vec<Arc<dyn Stack>> {
    let all = match VERSION_OF {
        #[cfg(feature = "aws-lc")]
        Some("aws-lc-rs") => vec![Rustls::new(&AwsLc, executable).version_of("aws-lc-rs")],
        Some(library) => vec![Rustls::new(&Ring, executable).version_of(library)],
        None => vec![
            Rustls::new(&Ring, executable),
            Rustls::new(&Ring, executable)
                .variant("rustls-ring+no-buffer-limit", Usage::NoBufferLimit),
            Rustls::new(&Ring, executable).variant("rustls-ring+plain", Usage::Plain),
            #[cfg(feature = "aws-lc")]
            Rustls::new(&AwsLc, executable),
            #[cfg(feature = "aws-lc")]
            Rustls::new(&AwsLc, executable).variant("rustls-aws-lc+plain", Usage::Plain),
            #[cfg(feature = "aws-lc")]
            Rustls::new(&AwsLc, executable).variant("rustls-aws-lc+unbuffered", Usage::Unbuffered),
            #[cfg(feature = "aws-lc")]
            Rustls::new(&AwsLc, executable)
                .variant("rustls-aws-lc+no-buffer-limit", Usage::NoBufferLimit),
        ],
    };
    all.into_iter()
        .map(|stack| Arc::new(stack) as Arc<dyn Stack>)
        .collect()
}
