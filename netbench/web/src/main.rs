//! The server of the pages that test a browser's features.
//!
//! It serves every host of every case on the ports 80, 443 and 8443 of loopback, in a network namespace that has nothing but
//! a browser, and records what arrives. netbench sends it the cases and reads its records over HTTP, at the address
//! `127.0.0.1` in place of a name. It ends when its stdin closes. Keys are only in its memory.
//!
//! It must never print anything but its error, and never judge a case. Start reading at [`control`], then [`route`].

mod answers;
mod cases;
mod certificates;
mod control;
mod names;
mod page;
mod query;
mod route;
mod serve;
mod socket;

use std::{
    io::{self, Read},
    process::{self, ExitCode},
    sync::Arc,
    thread,
};

use crate::cases::Cases;

fn main() -> ExitCode {
    let ends = thread::Builder::new().spawn(|| {
        // netbench holds the other end for as long as it needs this process.
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let served = ends
        .and(runtime)
        .and_then(|runtime| runtime.block_on(serve::serve(Arc::new(Cases::default()))));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("netbench-worker-web: {error}");
            ExitCode::FAILURE
        }
    }
}
