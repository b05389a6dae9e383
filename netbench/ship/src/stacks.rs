use std::sync::LazyLock;

use serde::Deserialize;

/// A stack, as a client depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShipStack {
    /// Its name.
    pub name: String,
    /// Whether there is a validated (FIPS 140) form of it, in words.
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

/// The stacks that clients can be built with.
pub fn ship_stacks() -> &'static [ShipStack] {
    &STACKS.stack
}
