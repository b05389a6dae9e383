use itertools::Itertools;
use netbench_model::{SCHEMA_VERSION, scan::Offer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::many::{names, names_or_none};
use crate::document::{Document, Extent, Item, Report, Section, Table};

/// Parsed ClientHellos: the output of `netbench stacks hello --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloReport {
    /// [`netbench_model::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// One for each stack.
    pub hellos: Vec<Offer>,
}

impl HelloReport {
    /// Returns a report of these hellos.
    pub fn new(hellos: Vec<Offer>) -> Self {
        Self {
            schema: SCHEMA_VERSION,
            hellos,
        }
    }
}

impl Report for HelloReport {
    fn document(&self, _: Extent) -> Document<'_> {
        let mut items = Vec::new();
        for hello in &self.hellos {
            items.push(Item::heading(&hello.stack));
            let fields = fields(hello).into_iter();
            items.extend(fields.map(|(name, value)| Item::Text(format!("{name}: {value}"))));
            items.push(
                Table::of(&hello.extensions)
                    .text("extension", 0, |extension| &extension.name)
                    .count("number", 0, |extension| extension.code)
                    .count("bytes", 0, |extension| extension.bytes)
                    .item(),
            );
        }
        let title = "netbench stacks hello: what each stack offers";
        Document::of_section("hello", title, Section::only(items), self)
    }
}

fn fields(hello: &Offer) -> Vec<(&'static str, String)> {
    let versions = hello.versions.iter().map(|v| v.name()).join(" ");
    let shares = hello.shares.iter();
    let shares = shares.map(|share| format!("{} ({} bytes)", share.group, share.bytes));
    let mut fields = vec![
        (
            "size",
            format!(
                "{} bytes on the wire, {} of them the message",
                hello.wire_bytes, hello.message_bytes
            ),
        ),
        ("versions", versions),
        ("suites", names(&hello.suites)),
        ("groups", names(&hello.groups)),
        ("key shares", shares.format(" ").to_string()),
        ("signature schemes", names(&hello.signatures)),
    ];
    if let Some(codes) = &hello.certificate_signatures {
        fields.push(("for certificates", names(codes)));
    }
    if let Some(codes) = &hello.certificate_compression {
        fields.push(("certificate compression", names_or_none(codes)));
    }
    fields.extend([
        ("application protocols", hello.alpn.join(" ")),
        ("JA3", hello.ja3.clone()),
        ("JA3 text", hello.ja3_text.clone()),
        ("JA4", hello.ja4.clone()),
    ]);
    fields
}
