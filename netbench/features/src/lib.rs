//! Crates from elsewhere with the same features in every build.
//!
//! Cargo compiles a crate again for each set of features that is asked for, with everything that depends on it. The command, each worker and
//! each test binary are built by commands of their own, and asked for slightly different sets. This crate asks for the union, and has no code. It must never turn on
//! a feature of a TLS library or of its cryptography. `check` compares the sets.
