use std::sync::LazyLock;

use serde::Deserialize;

/// A stack that a client can depend on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShipStack {
    /// The stack's name.
    pub name: String,
    /// A description of the stack's validated (FIPS 140) variant, or of its absence.
    pub fips: String,
    /// Lines of a Cargo.toml.
    pub dependencies: String,
    /// An expression of Rust that makes the connector.
    pub connector: String,
}

#[derive(Deserialize)]
struct Catalogue {
    stack: Vec<ShipStack>,
}

static STACKS: LazyLock<Catalogue> = LazyLock::new(|| {
    let text = include_str!("../../catalogue/ship/stacks.toml");
    toml::from_str(text).expect("the catalogue is part of this source")
});

/// Returns the stacks that clients can be built with.
pub fn ship_stacks() -> &'static [ShipStack] {
    &STACKS.stack
}
