//! Wrong inputs, as users give them: each ends with its exit code and a message that names the error, in at most three
//! lines, before anything is measured.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod arguments;
mod files;
mod numbers;
mod pipes;
mod stored;
