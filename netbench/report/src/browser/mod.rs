//! Reports of a run of `browser`: the times of visits, the outcomes of failed visits, the departure of the
//! browsers' times from those of their packets, and other destinations that the browsers tried to reach.

mod document;
mod summarize;
mod summary;

pub use summarize::summarize_browser;
pub use summary::*;
