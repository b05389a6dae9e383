use serde_json::Value;

/// The keyword of a field that identifies the element of a list that has it; its value is a column.
pub(super) const KEY: &str = "x-key";

/// The keyword of a figure's unit.
pub(super) const UNIT: &str = "x-unit";

/// The keyword of figures whose unit is in another field of the same value, or of one around it.
pub(super) const UNIT_IN: &str = "x-unit-in";

/// The keyword of a list without names: a JSON pointer to the list of their names, from the value or one around it.
pub(super) const NAMES: &str = "x-names";

/// A part of a JSON schema, beside the value that it describes. No part describes a value that the schema leaves
/// open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'a> {
    root: &'a Value,
    part: Option<&'a Value>,
}

impl<'a> Shape<'a> {
    pub(super) fn of(schema: &'a Value) -> Self {
        Self {
            root: schema,
            part: Some(schema),
        }
    }

    /// Returns the part that describes a field, or the entry of a map.
    pub(super) fn field(self, name: &str) -> Self {
        let layers = self.layers();
        let own = layers
            .iter()
            .find_map(|layer| layer.get("properties")?.get(name));
        let part = own.or_else(|| find(&layers, "additionalProperties"));
        Self { part, ..self }
    }

    /// Returns the part that describes the element of a list.
    pub(super) fn element(self, number: usize) -> Self {
        let layers = self.layers();
        let own = layers
            .iter()
            .find_map(|layer| layer.get("prefixItems")?.get(number));
        let part = own.or_else(|| find(&layers, "items"));
        Self { part, ..self }
    }

    /// Returns whether the names of the value's fields are data.
    pub(super) fn is_map(self) -> bool {
        let layers = self.layers();
        find(&layers, "properties").is_none() && find(&layers, "additionalProperties").is_some()
    }

    pub(super) fn keyword(self, keyword: &str) -> Option<&'a str> {
        find(&self.layers(), keyword)?.as_str()
    }

    /// Returns the part, and all parts that describe the same value: those that it refers to, and its alternatives.
    fn layers(self) -> Vec<&'a Value> {
        let mut layers: Vec<&Value> = self.part.into_iter().collect();
        let mut next = 0;
        while let Some(layer) = layers.get(next).copied() {
            next += 1;
            let target = layer.get("$ref").and_then(Value::as_str);
            let target = target.and_then(|target| self.root.pointer(target.strip_prefix('#')?));
            layers.extend(target);
            for alternatives in ["anyOf", "oneOf", "allOf"] {
                let these = layer.get(alternatives).and_then(Value::as_array);
                layers.extend(these.into_iter().flatten());
            }
        }
        layers
    }
}

fn find<'a>(layers: &[&'a Value], keyword: &str) -> Option<&'a Value> {
    layers.iter().find_map(|layer| layer.get(keyword))
}
