//! Scans of servers that are not netbench's: what they are set to is what must be found.
//!
//! A server's program that is missing is a failure; of a scanner, it is said.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends with what is not as it should be"
)]

mod endless;
mod go;
mod hostile;
mod nginx;
mod openssl;
mod programs;
mod replies;
mod scanners;
mod support;
