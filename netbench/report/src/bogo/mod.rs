//! What stacks passed of BoringSSL's tests, and how two of them differ: both are a
//! [`Document`](crate::Document).

mod document;
mod rows;
