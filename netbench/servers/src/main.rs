//! The worker of servers that are not netbench's own: nginx, Apache, HAProxy, Node.js and `openssl s_server` serve the
//! lab's sites as they are installed on this machine.
//!
//! It speaks the worker protocol and does one operation of it, `serve`. Each server is a child process with a private
//! folder, and both are gone when this process ends. Start reading at [`worker`], then [`program`], where a further
//! server is one entry of a table.

mod program;
mod relay;
mod server;
mod words;
mod worker;

use std::process::ExitCode;

fn main() -> ExitCode {
    worker::run()
}
