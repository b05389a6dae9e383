use itertools::Itertools;
use netbench_model::coverage::{Matrix, Protocol, Role, StackSupport, Support};

use crate::{
    cell::Cell,
    document::{
        Chart, Document, Drawing, Extent, Item, Matrix as Picture, MatrixRow, Report, Section,
        Table,
    },
};

/// The protocols that the matrix shows. DTLS 1.0 is only in the data.
pub(super) const SHOWN: [Protocol; 7] = [
    Protocol::Tls10,
    Protocol::Tls11,
    Protocol::Tls12,
    Protocol::Tls13,
    Protocol::Dtls12,
    Protocol::Dtls13,
    Protocol::Quic,
];

impl Report for Matrix {
    fn document(&self, _: Extent) -> Document<'_> {
        let title = "netbench bogo --matrix: what each stack has, by version";
        Document::of_section("bogo", title, matrix_section(self), self)
    }
}

/// Builds the matrix as a picture, for formats that draw, and as a table.
pub(super) fn matrix_section(matrix: &Matrix) -> Section {
    let mut items: Vec<Item> = Item::warnings(&matrix.warnings).collect();
    items.push(chart(matrix));
    let table = Table::of(rows(matrix))
        .text("feature", 0, |row| row.feature)
        .text("role", 0, |row| row.roles)
        .cols(SHOWN, |row, protocol| {
            Cell::text(row.supports[protocol].map(words).unwrap_or_default())
        });
    items.push(table.item());
    items.extend(partly(matrix));
    let (package, version) = (&matrix.runner.package, &matrix.runner.version);
    let order = if matrix.shims.len() > 1 {
        format!(
            " In a cell: {}, in this order.",
            matrix.shims.iter().join("/")
        )
    } else {
        format!(" Stack: {}.", matrix.shims.iter().join(""))
    };
    Section::only(items).explained(
        format!(
            "From the runner's tests that expect success ({package} {version}). yes: works; off: works once an application \
             turns it on, and is off by default; part: its core works, and something else of it does not; no: absent; ?: the shim has no way to ask for it; empty: no such \
             test. A test does not count against a feature where it fails for want of another.{order}"
        ),
    )
}

/// A table of the features that a stack has in part, with the causes.
fn partly(matrix: &Matrix) -> Vec<Item> {
    let cells = matrix.cells.iter();
    let shown = cells.filter(|cell| SHOWN.contains(&cell.protocol));
    let parts = shown.flat_map(|cell| {
        let stacks = matrix.shims.iter().zip(&cell.stacks);
        let parts = stacks.filter(|(_, stack)| stack.support == Support::Partly);
        parts.map(move |(shim, stack)| (shim, cell, stack.why.as_deref()))
    });
    let parts = parts.into_group_map_by(|(shim, cell, why)| (*shim, &cell.feature, *why));
    Table::of(parts.into_iter().sorted_by_key(|(row, _)| *row))
        .text("stack", 0, |((shim, ..), _)| *shim)
        .text("feature", 0, |((_, feature, _), _)| *feature)
        .col("role and version", 0, |(_, parts)| {
            let places = parts
                .iter()
                .map(|(_, cell, _)| format!("{} {}", cell.role, cell.protocol));
            Cell::text(places.sorted().dedup().join(", "))
        })
        .optional("what does not work", 0, |((.., why), _)| *why)
        .under("Features in part")
}

fn chart(matrix: &Matrix) -> Item {
    let rows = rows(matrix).into_iter();
    let rows = rows.map(|row| MatrixRow {
        name: match row.roles {
            BOTH => row.feature.to_owned(),
            role => format!("{}: {role}", row.feature),
        },
        cells: row.supports.map(marks).to_vec(),
    });
    let stacks = matrix.shims.iter().join(", ");
    let order = if matrix.shims.len() > 1 {
        format!(" In a cell, from left to right: {stacks}.")
    } else {
        format!(" Stack: {stacks}.")
    };
    Item::Charts(vec![Chart {
        title: "What each stack has, by feature and version".to_owned(),
        note: format!(
            "+ works, o works and is off by default, ± in part, – absent, ? the shim has no way to ask for it; empty: no such test.{order} A row without \
             a role is alike for clients and servers."
        ),
        drawing: Drawing::Matrix(Picture {
            stacks: matrix.shims.clone(),
            columns: SHOWN.map(|protocol| protocol.name().to_owned()).to_vec(),
            rows: rows.collect(),
        }),
    }])
}

fn marks(stacks: Option<&[StackSupport]>) -> Vec<Support> {
    let stacks = stacks.into_iter().flatten();
    stacks.map(|stack| stack.support).collect()
}

/// The roles of a row that is the same for both.
const BOTH: &str = "both";

/// A row of the table: a feature in one role, or in both if they are alike.
struct Row<'a> {
    feature: &'a str,
    roles: &'static str,
    supports: [Option<&'a [StackSupport]>; 7],
}

fn rows(matrix: &Matrix) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for (feature, cells) in &matrix.cells.iter().chunk_by(|cell| &cell.feature) {
        let cells = cells.collect_vec();
        let [client, server] = [Role::Client, Role::Server].map(|role| Row {
            feature,
            roles: role.name(),
            supports: SHOWN.map(|protocol| {
                let mut cells = cells.iter();
                let cell = cells.find(|cell| (cell.role, cell.protocol) == (role, protocol))?;
                Some(cell.stacks.as_slice())
            }),
        });
        if client.words() == server.words() {
            rows.push(Row {
                roles: BOTH,
                ..client
            });
        } else {
            let both = [client, server].into_iter();
            rows.extend(both.filter(|row| row.supports.iter().any(Option::is_some)));
        }
    }
    rows
}

impl Row<'_> {
    fn words(&self) -> [Option<String>; 7] {
        self.supports.map(|stacks| stacks.map(words))
    }
}

fn words(stacks: &[StackSupport]) -> String {
    let words = stacks.iter().map(|stack| match stack.support {
        Support::Works => "yes",
        Support::OffByDefault => "off",
        Support::Partly => "part",
        Support::Absent => "no",
        Support::NotTestable => "?",
    });
    words.format("/").to_string()
}
