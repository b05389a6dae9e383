use netbench_model::Alert;

use super::{EchViolation, Unsuited};

/// The server's view of a connection, or of several.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Served {
    /// Whether a ClientHello arrived.
    pub has_hello: bool,
    /// Whether the client's Finished arrived, and is correct.
    pub is_finished: bool,
    /// The status of the response, if it was sent.
    pub http_status: Option<u16>,
    /// Whether the response was a switch to another protocol.
    pub is_switched: bool,
    /// Whether the ClientHello had a ticket of an earlier connection.
    pub is_shown_ticket: bool,
    /// Whether the ClientHello offered early data.
    pub is_offered_early_data: bool,
    /// The server's own certificate as sent, in DER.
    pub certificate: Option<Vec<u8>>,
    /// The first alert that the client sent.
    pub alert: Option<Alert>,
    /// The name in the ClientHello, which with Encrypted ClientHello is the public one.
    pub outer_name: Option<String>,
    /// Whether the ClientHello had the extension of Encrypted ClientHello.
    pub is_offered_ech: bool,
    /// Whether the server decrypted the ClientHello, and confirmed that.
    pub is_ech_accepted: bool,
    /// The configurations that the server sent to a client whose hello it could not decrypt.
    pub retry_configs: Option<Vec<u8>>,
    /// The first violation of RFC 9849 by the client.
    pub ech_violation: Option<EchViolation>,
    /// The reason why the server could not continue, if that is its own fault.
    pub cannot: Option<String>,
    /// The reason why the case does not apply to the client. The server then behaves like any other.
    pub unsuited: Option<Unsuited>,
}

impl Served {
    /// Combines the views of several connections.
    pub fn all(each: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for seen in each {
            all.add(seen);
        }
        all
    }

    fn add(&mut self, next: Self) {
        self.has_hello |= next.has_hello;
        self.is_finished |= next.is_finished;
        self.http_status = self.http_status.or(next.http_status);
        self.is_switched |= next.is_switched;
        self.is_shown_ticket |= next.is_shown_ticket;
        self.is_offered_early_data |= next.is_offered_early_data;
        self.outer_name = self.outer_name.take().or(next.outer_name);
        self.is_offered_ech |= next.is_offered_ech;
        self.is_ech_accepted |= next.is_ech_accepted;
        self.retry_configs = self.retry_configs.take().or(next.retry_configs);
        self.ech_violation = self.ech_violation.or(next.ech_violation);
        self.certificate = self.certificate.take().or(next.certificate);
        self.alert = self.alert.or(next.alert);
        self.cannot = self.cannot.take().or(next.cannot);
        self.unsuited = self.unsuited.or(next.unsuited);
    }
}
