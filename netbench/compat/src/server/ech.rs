//! The server's side of Encrypted ClientHello (RFC 9849 section 7).

use netbench_scan::{
    codec::{
        ClientHello, Message, Reader, extension as code, message, put_extension, put_vec8,
        put_vec16,
    },
    crypto::{Hash, Series},
};

use super::{
    hello::{Hello, alert},
    wire::Broken,
};
use crate::{
    client::ClientSpec,
    ech::{
        ENCRYPTED_CLIENT_HELLO, EchConfig, EchFlaw, EchServerSpec, LONGEST_NAME, OUTER_EXTENSIONS,
        list, receiver,
    },
};

/// The length of a confirmation.
const CONFIRMATION: usize = 8;

/// The end of the random in a ServerHello message, after its type, length and version.
const RANDOM_END: usize = 4 + 2 + 32;

/// A violation of RFC 9849 by a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EchViolation {
    /// It connects without the extension, though it was given a configuration that it should use.
    #[error("it does not use the ECH configuration that it was given")]
    NotOffered,
    /// It uses a configuration that it should ignore.
    #[error("it uses an ECH configuration that it should ignore")]
    Unusable,
    /// The extension or the inner hello does not have its form.
    #[error("its extension encrypted_client_hello or its inner hello cannot be read")]
    Unreadable,
    /// The padding has bytes other than zero.
    #[error("its inner hello is padded with bytes that are not zero")]
    Padding,
    /// The inner hello refers to extensions that are not in the outer hello in this order.
    #[error(
        "its inner hello refers to extensions that its outer hello does not have in this order"
    )]
    OuterExtensions,
    /// The inner hello offers a version before TLS 1.3.
    #[error("its inner hello offers TLS 1.2 or older")]
    OldVersion,
    /// The inner hello has no extension of the type `inner`.
    #[error("its inner hello lacks the extension encrypted_client_hello")]
    NotInner,
    /// The outer hello contains the hidden name.
    #[error("its outer hello contains the name that it should hide")]
    NameExposed,
    /// Both hellos have the same random.
    #[error("its outer hello has the random of the inner one")]
    RandomExposed,
    /// The outer hello has a ticket of the inner one.
    #[error("its outer hello has a ticket of the inner one")]
    TicketExposed,
    /// The length of the inner hello depends on that of the name.
    #[error("its inner hello is not padded to hide the length of the name")]
    Unpadded,
    /// The second hello after a HelloRetryRequest does not belong to the first.
    #[error("its second hello after a HelloRetryRequest does not continue the first")]
    RetryChanged,
    /// The client showed its certificate to a server that rejected ECH.
    #[error("it shows its certificate to a server that rejected ECH")]
    CertificateShown,
}

impl EchViolation {
    /// Returns the alert of a server that meets the violation, if it must refuse.
    fn alert(self) -> u8 {
        match self {
            Self::RetryChanged => alert::DECRYPT_ERROR,
            _ => alert::ILLEGAL_PARAMETER,
        }
    }

    pub(super) fn refused(self) -> Broken {
        Broken::Refused(self.alert())
    }
}

/// The Encrypted ClientHello of a case's server.
pub(super) struct EchServer {
    spec: EchServerSpec,
    /// The configurations of the case's client, and those for a second visit.
    configs: Vec<EchConfig>,
    host: String,
    /// Whether the client has configurations; otherwise the extension is GREASE.
    is_given: bool,
    /// Whether every hello of the client must have the extension.
    must_offer: bool,
}

/// A decrypted hello.
pub(super) struct Accepted {
    /// The inner hello, as a message.
    pub(super) inner: Hello,
    receiver: Series,
    id: u8,
    suite: (u16, u16),
}

/// The extension of an outer hello.
struct Outer<'a> {
    suite: (u16, u16),
    id: u8,
    encapsulated: &'a [u8],
    payload: &'a [u8],
}

impl EchServer {
    /// Creates the server of a case; without a description of ECH, it knows no configuration.
    pub(super) fn new(spec: &EchServerSpec, client: &ClientSpec, host: &str) -> Self {
        let given = client.ech.iter().flat_map(|ech| &ech.configs);
        let kinds = given.chain(&spec.retry);
        Self {
            spec: spec.clone(),
            configs: kinds.map(|kind| kind.config()).collect(),
            host: host.to_owned(),
            is_given: client.ech.as_ref().is_some_and(|ech| !ech.grease),
            must_offer: client.ech.as_ref().is_some_and(|ech| ech.must_offer()),
        }
    }

    pub(super) fn has(&self, flaw: EchFlaw) -> bool {
        self.spec.flaw == Some(flaw)
    }

    /// Returns whether the case is for clients that send no extension, and this one does.
    pub(super) fn is_unsuited(&self, hello: &Hello) -> bool {
        self.spec.flaw.is_some_and(EchFlaw::is_unasked) && is_offered(hello)
    }

    /// Returns the hello as it is after a device on the way.
    pub(super) fn received(&self, hello: Hello) -> Result<Hello, Broken> {
        match self.has(EchFlaw::Dropped) {
            true => hello.without(ENCRYPTED_CLIENT_HELLO),
            false => Ok(hello),
        }
    }

    /// Decrypts a first hello. Returns `None` if no configuration fits, as with GREASE.
    pub(super) fn open(&self, outer: &Hello) -> Result<Option<Accepted>, EchViolation> {
        let Some(body) = outer.extension(ENCRYPTED_CLIENT_HELLO) else {
            let is_missing = self.must_offer && !self.has(EchFlaw::Dropped);
            return match is_missing {
                true => Err(EchViolation::NotOffered),
                false => Ok(None),
            };
        };
        let offered = Outer::parse(body).ok_or(EchViolation::Unreadable)?;
        let associated = associated(outer).ok_or(EchViolation::Unreadable)?;
        for config in self.configs.iter().filter(|config| config.id == offered.id) {
            let Some(private) = &config.private else {
                continue;
            };
            let info = [b"tls ech\0", config.encoded.as_slice()].concat();
            let (_, aead) = offered.suite;
            let Some(mut receiver) = receiver(aead, private, offered.encapsulated, &info) else {
                continue;
            };
            if let Some(encoded) = receiver.open(&associated, offered.payload) {
                if !config.is_usable {
                    return Err(EchViolation::Unusable);
                }
                let inner = self.inner(&encoded, outer)?;
                return Ok(Some(Accepted {
                    inner,
                    receiver,
                    id: offered.id,
                    suite: offered.suite,
                }));
            }
        }
        Ok(None)
    }

    /// Decrypts the hello after a HelloRetryRequest.
    pub(super) fn open_second(
        &self,
        accepted: &mut Accepted,
        outer: &Hello,
    ) -> Result<(), EchViolation> {
        let body = outer.extension(ENCRYPTED_CLIENT_HELLO);
        let offered = body.and_then(Outer::parse).filter(|offered| {
            (offered.id, offered.suite) == (accepted.id, accepted.suite)
                && offered.encapsulated.is_empty()
        });
        let offered = offered.ok_or(EchViolation::RetryChanged)?;
        let associated = associated(outer).ok_or(EchViolation::Unreadable)?;
        let opened = accepted.receiver.open(&associated, offered.payload);
        accepted.inner = self.inner(&opened.ok_or(EchViolation::RetryChanged)?, outer)?;
        Ok(())
    }

    /// Returns whether the client must not show its certificate (RFC 9849 section 6.1.7).
    pub(super) fn forbids_certificate(&self, outcome: EchOutcome) -> bool {
        self.is_given && outcome == EchOutcome::Rejected
    }

    /// Returns the configurations that EncryptedExtensions contain.
    pub(super) fn retry_configs(&self, outcome: EchOutcome) -> Option<Vec<u8>> {
        let has = match outcome {
            EchOutcome::NotOffered => self.has(EchFlaw::RetryConfigsUnasked),
            EchOutcome::Rejected => true,
            EchOutcome::Accepted => self.has(EchFlaw::RetryConfigsAfterAcceptance),
        };
        let configs = &self.spec.retry;
        (has && !configs.is_empty()).then(|| list(configs, self.spec.retry_flaw))
    }

    /// Returns the body of the extension in a HelloRetryRequest, before a confirmation is written into it.
    pub(super) fn retry_signal(&self, outcome: EchOutcome) -> Option<Vec<u8>> {
        match outcome {
            EchOutcome::NotOffered if self.has(EchFlaw::RetrySignalUnasked) => {
                Some(vec![7; CONFIRMATION])
            }
            EchOutcome::Rejected if self.has(EchFlaw::RetrySignalRandom) => {
                Some(vec![7; CONFIRMATION])
            }
            EchOutcome::Rejected if self.has(EchFlaw::RetrySignalShort) => {
                Some(vec![7; CONFIRMATION - 1])
            }
            EchOutcome::Accepted => Some(vec![0; CONFIRMATION]),
            EchOutcome::NotOffered | EchOutcome::Rejected => None,
        }
    }

    /// Returns the hello that the encoded one stands for (RFC 9849 section 5.1), after the checks of section 7.1, and of what
    /// the outer hello must hide.
    fn inner(&self, encoded: &[u8], outer: &Hello) -> Result<Hello, EchViolation> {
        let (inner, padding) = decoded(encoded, outer)?;
        if inner.extension(ENCRYPTED_CLIENT_HELLO) != Some(&[1]) {
            return Err(EchViolation::NotInner);
        }
        if self.spec.checks_versions
            && inner
                .offer
                .versions()
                .iter()
                .any(|version| *version < 0x0304)
        {
            return Err(EchViolation::OldVersion);
        }
        self.exposes(&inner, outer)?;
        let due = usize::from(LONGEST_NAME).saturating_sub(self.host.len());
        // NSS rounds up to one byte less than a multiple of 32, which hides as much.
        let is_rounded = [encoded.len(), encoded.len() + 1]
            .iter()
            .any(|length| length.is_multiple_of(32));
        if self.spec.asks_for_padding && (padding < due || !is_rounded) {
            return Err(EchViolation::Unpadded);
        }
        Ok(inner)
    }

    fn exposes(&self, inner: &Hello, outer: &Hello) -> Result<(), EchViolation> {
        let host = self.host.as_bytes();
        if outer.message.windows(host.len()).any(|part| part == host) {
            return Err(EchViolation::NameExposed);
        }
        if inner.offer.random == outer.offer.random {
            return Err(EchViolation::RandomExposed);
        }
        let shown = ticket_identities(outer).unwrap_or_default();
        let own = ticket_identities(inner).unwrap_or_default();
        if own.iter().any(|ticket| shown.contains(ticket)) {
            return Err(EchViolation::TicketExposed);
        }
        Ok(())
    }
}

/// The server's treatment of a client's extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EchOutcome {
    NotOffered,
    Rejected,
    Accepted,
}

impl EchOutcome {
    pub(super) fn of(outer: &Hello, accepted: Option<&Accepted>) -> Self {
        match accepted {
            Some(_) => Self::Accepted,
            None if is_offered(outer) => Self::Rejected,
            None => Self::NotOffered,
        }
    }
}

impl Accepted {
    /// Writes the confirmation into the random of a ServerHello that follows this transcript.
    pub(super) fn confirm(&self, hash: Hash, transcript: &[u8], server_hello: &mut [u8]) {
        let place = RANDOM_END - CONFIRMATION..RANDOM_END;
        server_hello[place.clone()].fill(0);
        let confirmation =
            self.confirmation(hash, "ech accept confirmation", transcript, server_hello);
        server_hello[place].copy_from_slice(&confirmation);
    }

    /// Writes the confirmation into the last extension of a HelloRetryRequest that follows this transcript.
    pub(super) fn confirm_retry(&self, hash: Hash, transcript: &[u8], request: &mut [u8]) {
        let label = "hrr ech accept confirmation";
        let confirmation = self.confirmation(hash, label, transcript, request);
        let end = request.len() - CONFIRMATION;
        request[end..].copy_from_slice(&confirmation);
    }

    fn confirmation(&self, hash: Hash, label: &str, transcript: &[u8], last: &[u8]) -> Vec<u8> {
        let secret = hash.extract(&[], &self.inner.offer.random);
        let digest = hash.of_bytes(&[transcript, last].concat());
        hash.expand_label(&secret, label, &digest, CONFIRMATION)
    }
}

impl<'a> Outer<'a> {
    fn parse(body: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        let kind = reader.u8()?;
        let outer = Self {
            suite: (reader.u16()?, reader.u16()?),
            id: reader.u8()?,
            encapsulated: reader.vec16()?,
            payload: reader.vec16()?,
        };
        (kind == 0 && reader.is_empty() && !outer.payload.is_empty()).then_some(outer)
    }
}

/// Returns whether a hello has the extension.
pub(super) fn is_offered(hello: &Hello) -> bool {
    hello.extension(ENCRYPTED_CLIENT_HELLO).is_some()
}

/// Returns the outer hello without the encrypted bytes, in place of which there are zeros (RFC 9849 section 5.2).
fn associated(outer: &Hello) -> Option<Vec<u8>> {
    let mut extensions = Vec::new();
    let mut is_found = false;
    for (number, body) in &outer.offer.extensions {
        let mut body = body.clone();
        if *number == ENCRYPTED_CLIENT_HELLO {
            // A hello has each extension once (RFC 8446 section 4.2).
            if is_found {
                return None;
            }
            is_found = true;
            let payload = Outer::parse(&body)?.payload.len();
            let start = body.len() - payload;
            body[start..].fill(0);
        }
        put_extension(&mut extensions, *number, &body);
    }
    let body = outer.message.get(4..)?;
    let start = body.len().checked_sub(2 + extensions.len())?;
    let mut whole = body[..start].to_vec();
    put_vec16(&mut whole, &extensions);
    (is_found && whole.len() == body.len()).then_some(whole)
}

/// Returns the inner hello, and the length of its padding.
fn decoded(encoded: &[u8], outer: &Hello) -> Result<(Hello, usize), EchViolation> {
    let mut reader = Reader::new(encoded);
    let parts = parts(&mut reader).ok_or(EchViolation::Unreadable)?;
    let padding = reader.rest();
    if padding.iter().any(|byte| *byte != 0) {
        return Err(EchViolation::Padding);
    }
    let Parts {
        head,
        tail,
        extensions,
    } = parts;
    let mut body = head.to_vec();
    put_vec8(&mut body, &outer.offer.session_id);
    body.extend_from_slice(tail);
    let extensions = expanded(extensions, &outer.offer)?;
    if extensions.len() > usize::from(u16::MAX) {
        return Err(EchViolation::Unreadable);
    }
    put_vec16(&mut body, &extensions);
    let message = Message {
        kind: 1,
        whole: message(1, &body),
    };
    let inner = Hello::of_message(message).map_err(|_| EchViolation::Unreadable)?;
    Ok((inner, padding.len()))
}

/// The parts of an encoded inner hello.
struct Parts<'a> {
    /// The version and the random.
    head: &'a [u8],
    /// The suites and the compression methods, with their lengths.
    tail: &'a [u8],
    extensions: &'a [u8],
}

/// Reads a hello up to its padding. Its session ID is empty.
fn parts<'a>(reader: &mut Reader<'a>) -> Option<Parts<'a>> {
    let head = reader.take(2 + 32)?;
    if !reader.vec8()?.is_empty() {
        return None;
    }
    let rest = reader.rest();
    let mut ahead = Reader::new(rest);
    let lengths = 2 + ahead.vec16()?.len() + 1 + ahead.vec8()?.len();
    let extensions = ahead.vec16()?;
    *reader = ahead;
    Some(Parts {
        head,
        tail: &rest[..lengths],
        extensions,
    })
}

/// Replaces the extension `ech_outer_extensions` with the extensions of the outer hello that it names.
fn expanded(extensions: &[u8], outer: &ClientHello) -> Result<Vec<u8>, EchViolation> {
    let mut expanded = Vec::new();
    let mut reader = Reader::new(extensions);
    // The search for each type continues after the previous one: the order is that of the outer hello, without repetitions.
    let mut left = outer.extensions.iter();
    while !reader.is_empty() {
        let number = reader.u16().ok_or(EchViolation::Unreadable)?;
        let body = reader.vec16().ok_or(EchViolation::Unreadable)?;
        if number != OUTER_EXTENSIONS {
            put_extension(&mut expanded, number, body);
            continue;
        }
        let named = Reader::new(body).vec8().map(Reader::new);
        let named = named.and_then(|mut named| named.u16s());
        for number in named.ok_or(EchViolation::Unreadable)? {
            let found = left.find(|(code, _)| *code == number);
            let found = found.filter(|_| number != ENCRYPTED_CLIENT_HELLO);
            let (code, body) = found.ok_or(EchViolation::OuterExtensions)?;
            put_extension(&mut expanded, *code, body);
        }
    }
    Ok(expanded)
}

/// Returns the identities of the extension `pre_shared_key` (RFC 8446 section 4.2.11).
fn ticket_identities(hello: &Hello) -> Option<Vec<&[u8]>> {
    let body = hello.extension(code::PRE_SHARED_KEY)?;
    let mut reader = Reader::new(Reader::new(body).vec16()?);
    let mut identities = Vec::new();
    while !reader.is_empty() {
        identities.push(reader.vec16()?);
        reader.u32()?;
    }
    Some(identities)
}

pub(crate) mod parsers;

#[cfg(test)]
mod tests;
