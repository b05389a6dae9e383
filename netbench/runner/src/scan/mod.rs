//! The requests of a scan to stacks: their ClientHellos, and the handshakes that confirm predictions.

mod confirm;
mod offers;

pub use confirm::{Chosen, Clients, Most, Reached, choose, confirm};
pub use offers::{EXAMPLE_HOST, OfferError, client_settings, offers};
