//! Reports of `ship`: the cost of a client that is built with each stack.

mod document;
mod summary;

pub use summary::{ShipHead, ShipRow, ShipSummary, summarize_ship};
