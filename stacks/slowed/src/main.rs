//! The worker of `slowed`: rustls-ring with every step in memory prolonged by a given share, by
//! spinning. It tests whether netbench detects the difference: `NETBENCH_SLOWED_PERCENT` is the
//! share (2 by default; 0 makes it rustls-ring).
//!
//! It must never be compared with other stacks for its own sake. Start reading at [`Slowed`].

mod slow;

use std::{env, process::ExitCode, sync::Arc};

use netbench_stack_rustls::{Ring, Rustls};
use slow::{Slowed, Slowness};

fn main() -> ExitCode {
    let percent = env::var("NETBENCH_SLOWED_PERCENT").map_or(Ok(2.0), |text| text.parse());
    let Ok(percent) = percent else {
        eprintln!("NETBENCH_SLOWED_PERCENT is not a number");
        return ExitCode::FAILURE;
    };
    let inner = Rustls::new(&Ring, env!("CARGO_BIN_NAME"));
    netbench_worker::run(vec![Arc::new(Slowed::new(
        inner,
        Slowness::percent(percent),
    ))])
}
