//! Parts of adapters that several libraries share. Each calls its library through a small trait.

mod alpn;
mod buffered;
mod callbacks;
mod converted;
mod driven;
mod ech_key;
mod exchange;
mod offer;
mod once;
mod own_client;
mod owned;
mod pem;
mod piped;
mod plain_client;
mod records;
mod signing;
mod staple;
mod static_text;
mod tickets;
mod tls_stream;
mod told_stream;
mod webpki;

pub use alpn::{alpn_list, alpn_text, preferred_alpn};
pub use buffered::{Buffered, BufferedSession};
pub use callbacks::{CallbackTransport, Lent, NotTransferred};
pub use converted::Converted;
pub use driven::{DrivenSession, SocketSession, polled};
pub use ech_key::{ServerEchKey, ech_keys};
pub use exchange::{Agree, Exchange, ExchangeCalls};
pub use offer::{
    FFDHE2048_PEM, Parameters, all_of, der_length, site_suites, supported, usable_suites,
    usable_versions, version_range,
};
pub use once::made_once;
pub use own_client::{accepted, accepting, own_client, own_server};
pub use owned::{CObject, Owned};
pub use pem::{certificates_of_pem, chain_of_pem, key_of_pem};
pub use piped::{Pipe, Piped};
pub use plain_client::{PlainClient, TokioWire, plain_client};
pub use records::{
    APPLICATION_DATA, AeadKey, AeadRecords, INNER_BYTES, InPlaceKeys, InPlaceRecords, NONCE,
    RECORD_HEADER, SEALED_BYTES, TAG_BYTES,
};
pub use signing::{SigningKey, SigningPair};
pub use staple::stapled_response;
pub use static_text::StaticText;
pub use tickets::{TicketUse, Tickets};
pub use tls_stream::Socket;
pub use told_stream::ToldStream;
pub use webpki::{WebPki, chains_of_server, verify_chain};
