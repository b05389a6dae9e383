//! The base on which a TLS stack becomes a worker: the [`Stack`] trait, the measured hyper client, the lab's server,
//! and the worker's side of the protocol.
//!
//! This crate must never depend on a TLS library, and must only write protocol lines to stdout. Start reading at
//! [`Stack`]; [`run`] is a worker's whole `main`.

mod adapter;
mod afresh;
mod allocator;
mod answers;
mod body;
mod build;
mod chain;
mod client;
mod client_hello;
mod client_setup;
mod clock;
mod compiler;
mod compute;
mod explain;
mod fault;
mod fetch;
mod heap;
mod hello_retry;
mod layout;
mod load;
mod native;
mod observed;
mod page;
mod probe;
mod random;
mod replay;
mod run;
mod server;
mod set_up;
mod spent;
mod stack;
mod suite;
mod tcp;
mod variant;
mod wire;

pub use adapter::*;
pub use build::{build_facts, build_facts_with, locked_package, locked_version, locked_versions};
pub use chain::{ChainInDer, ChainVerifier, NotVerified, OwnTrust};
pub use client::{client_headers, server_view};
pub use client_hello::{first_record, hello_extensions};
pub use client_setup::ClientSetup;
pub use explain::{Explained, hyphenated, kebab};
pub use fetch::{Fetch, FetchError, Fetched};
pub use layout::settle_heap;
pub use load::PageLoader;
pub use observed::{MessageReader, Observed};
pub use probe::Probe;
pub use run::run;
pub use server::{Accept, AcceptError, Accepted, EarlyReceipt, ServerStream};
pub use set_up::SetUpAction;
pub use stack::{SetupError, Stack, of_base64, refused};
pub use suite::{
    Endpoint, EndpointSetup, EndpointSide, HandshakeState, InMemory, KEPT_SESSIONS, KeptRecords,
    KeyExchange, RECORD_DATA, RecordProtection, SIGNED, Session, SessionError, Signatures, TICKETS,
    TrustRoots, Verifier, failed,
};
pub use tcp::TimedTcp;
pub use wire::Wire;

/// A boxed future, the return type of this crate's traits.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
