netbench_tls::words!(
    /// An operation that not every stack supports. A request that needs one is sent only to stacks whose description
    /// lists it.
    Operation, {
        /// The stack makes connections.
        Connect = "connect",
        /// The stack has a server for emulated sites.
        Serve = "serve",
        /// The stack has sessions in memory.
        Suite = "suite",
        /// A connection with the role `stepped` executes the steps of the library's set-up first.
        SetUp = "set-up",
        /// The client sends a given request.
        Request = "request",
        /// The client shows a given certificate.
        ClientCertificate = "client-certificate",
        /// The client also accepts encrypted keys and PKCS#12 files, and reads them as its library does.
        ClientFile = "client-file",
        /// The client can offer early data.
        EarlyData = "early-data",
        /// The stack verifies chains without a connection.
        Verify = "verify",
        /// The client sends its request as early data in the condition
        /// [`EarlyData`](netbench_tls::Condition::EarlyData).
        EarlyRequest = "early-request",
        /// The server serves sites with [`ServeSite::early_data`](crate::ServeSite::early_data).
        ServesEarlyData = "serves-early-data",
        /// The server can require a client certificate.
        RequiresClientCertificate = "requires-client-certificate",
        /// Server and client can be configured for TLS 1.0 and 1.1. Other stacks are asked for TLS 1.2 and 1.3 alone.
        DeprecatedVersions = "deprecated-versions",
        /// The stack loads pages as an embedder of the network stack does.
        Load = "load",
        /// The client accepts a list of configurations for Encrypted ClientHello.
        Ech = "ech",
        /// The client can send GREASE in place of Encrypted ClientHello.
        EchGrease = "ech-grease",
        /// The server serves sites with [`ServeSite::ech_keys`](crate::ServeSite::ech_keys) and reports the outcome in
        /// `ech` of its view of a connection.
        ServesEch = "serves-ech",
        /// The server has the pages of [`netbench_tls::ObjectsPage`].
        Objects = "objects",
        /// The library does not report its verifications: `verify_ns` may be null.
        VerificationUntimed = "verification-untimed",
        /// Sessions are also held after tickets and after data ([`netbench_tls::HeldAfter`]).
        HeldAfter = "held-after",
        /// Idle sessions are held as well ([`netbench_tls::HeldAfter::Idle`]).
        HeldIdle = "held-idle",
    }
);
