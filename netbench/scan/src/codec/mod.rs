//! Encoding and decoding of messages. Memory is allocated only for arrived bytes: every length is checked against
//! the available bytes before they are read, and lists have a limit.

mod client_hello;
pub(crate) mod compression;
mod flight;
mod hello;
pub(crate) mod messages;
mod reader;
mod records;
mod start_tls;

pub use client_hello::{ClientHello, ParseHelloError};
pub use flight::{Flight, FlightReader, ReadError, Step};
pub use hello::{Extension, HelloSpec, KeyShare, extension};
pub(crate) use hello::{vec8 as put_vec8, vec16 as put_vec16, vec24 as put_vec24};
pub use messages::{Alert, CertificateRequest, ServerHello, ServerKeyExchange};
pub use reader::Reader;
pub use records::{MAX_MESSAGE, NotTls, Record, Records, TextProtocol, content};
pub use start_tls::{StartTlsDialogue, StartTlsStep};
