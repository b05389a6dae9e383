//! Servo without a window: a browser for netbench. It reads commands from stdin, one JSON object a line, and writes one
//! answer a line to stdout. Messages of Servo itself go to stderr.
//!
//! This program must never measure a page, and never open a page that no command names. Start reading at
//! [`browser::Browser`], then [`messages`].

mod browser;
mod connections;
mod events;
mod messages;
mod options;
mod page;

use std::process::ExitCode;

fn main() -> ExitCode {
    match options::Options::parse().and_then(browser::run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("netbench-servo: {error}");
            ExitCode::FAILURE
        }
    }
}
