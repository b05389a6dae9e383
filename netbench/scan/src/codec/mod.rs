//! Encoding and decoding of messages. Memory is allocated only for arrived bytes: every length is checked against
//! the available bytes before they are read, and lists have a limit.

mod client_hello;
pub(crate) mod compression;
pub mod dns;
mod ech;
mod flight;
mod handshake;
mod hello;
mod https_record;
pub(crate) mod messages;
mod reader;
mod records;
mod start_tls;
pub(crate) mod writer;

pub use client_hello::{ClientHello, ParseHelloError};
pub use compression::{CompressedCertificate, DecompressError};
pub use ech::{EchConfig, EchContents, ech_configs};
pub use flight::{Flight, FlightReader, Step};
pub use handshake::{Message, Messages};
pub use hello::{Extension, HelloSpec, KeyShare};
pub use https_record::{HttpsAnswer, HttpsRecord, https_answer};
pub use messages::{Alert, CertificateRequest, RETRY_RANDOM, ServerHello, ServerKeyExchange};
pub use netbench_model::tls::wire::{content, extension, handshake as message_type};
pub use reader::Reader;
pub use records::{MAX_MESSAGE, NotTls, ReadError, Record, Records};
pub use start_tls::{StartTlsDialogue, StartTlsStep};
pub use writer::{
    certificate_verify, certificate12, certificate13, list16, message, protocol_list,
    put_extension, put_records, put_u16, put_vec8, put_vec16, put_vec24, vec8, vec16,
};
