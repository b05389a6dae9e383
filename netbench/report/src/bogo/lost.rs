use itertools::Itertools;
use netbench_model::coverage::{HANDSHAKE, Matrix, MatrixCell, Protocol, Role, Support};

use super::matrix::SHOWN;

/// The features and versions that the first stack of a matrix has and the second does not, by feature, role and
/// version.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost<'a> {
    /// Versions that the second stack lacks, with all features over them.
    pub(crate) versions: Vec<LostVersions>,
    /// Features, in the versions that both stacks have, that the second stack lacks, has in part, or cannot show.
    pub(crate) features: Vec<LostFeature<'a>>,
    /// Number of features that the first stack has in the versions that both have, counted by role and version.
    pub(crate) had: usize,
    /// Number of those features that the second stack lacks.
    pub(crate) absent: usize,
}

/// Versions that are lost in one role or in both.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LostVersions {
    pub(crate) roles: &'static str,
    pub(crate) versions: Vec<Protocol>,
    /// The first stack's support for the versions.
    pub(crate) before: Support,
}

/// A feature that is lost in one role or in both.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LostFeature<'a> {
    pub(crate) feature: &'a str,
    pub(crate) roles: &'static str,
    pub(crate) versions: Vec<Protocol>,
    /// The first stack's support for the feature, in the first of these versions.
    pub(crate) before: Support,
    /// The second stack's support for the feature.
    pub(crate) now: Support,
    /// The reason, in the first of these versions.
    pub(crate) why: Option<&'a str>,
}

const BOTH: &str = "client and server";

const ROLES: [Role; 2] = [Role::Client, Role::Server];

impl<'a> Lost<'a> {
    /// Collects the losses of a matrix whose first column is the stack in use. The result is empty if the matrix
    /// does not have two columns.
    pub(crate) fn of(matrix: &'a Matrix) -> Self {
        let mut lost = Self::default();
        let shown = |cell: &&MatrixCell| SHOWN.contains(&cell.protocol);
        let cells: Vec<&MatrixCell> = matrix.cells.iter().filter(shown).collect();
        let handshakes = || cells.iter().filter(|cell| cell.feature == HANDSHAKE);
        for before in [Support::Works, Support::Partly, Support::OffByDefault] {
            let versions = ROLES.map(|role| {
                let gone =
                    handshakes().filter(|cell| cell.role == role && change(cell) == Change::Absent);
                let gone = gone.filter(|cell| had(cell) == Some(before));
                gone.map(|cell| cell.protocol).collect_vec()
            });
            lost.versions
                .extend(by_role(&versions).map(|(roles, versions)| LostVersions {
                    roles,
                    versions,
                    before,
                }));
        }
        let there = |cell: &&&MatrixCell| {
            let mut same = handshakes();
            let same = same.find(|h| (h.role, h.protocol) == (cell.role, cell.protocol));
            same.is_none_or(|h| change(h) != Change::Absent && change(h) != Change::NeverThere)
        };
        let cells = cells.iter().filter(there).copied().collect_vec();
        for cell in &cells {
            lost.had += usize::from(change(cell) != Change::NeverThere);
            lost.absent += usize::from(change(cell) == Change::Absent);
        }
        for (feature, cells) in &cells.iter().chunk_by(|cell| cell.feature.as_str()) {
            let cells = cells.copied().collect_vec();
            for (wanted, now) in [
                (Change::Absent, Support::Absent),
                (Change::Partly, Support::Partly),
                (Change::NotTestable, Support::NotTestable),
            ] {
                let of = |role: Role| {
                    let those = cells.iter().filter(move |cell| cell.role == role);
                    those.filter(|cell| change(cell) == wanted)
                };
                let versions = ROLES.map(|role| of(role).map(|cell| cell.protocol).collect_vec());
                for (roles, versions) in by_role(&versions) {
                    let mut first = cells.iter().filter(|cell| change(cell) == wanted);
                    let first = first.find(|cell| {
                        cell.protocol == versions[0] && (roles == BOTH || roles == cell.role.name())
                    });
                    lost.features.push(LostFeature {
                        feature,
                        roles,
                        versions,
                        before: first.and_then(|cell| had(cell)).unwrap_or(Support::Works),
                        now,
                        why: first.and_then(|cell| cell.stacks.get(1)?.why.as_deref()),
                    });
                }
            }
        }
        lost
    }

    /// Returns the features with this support by the second stack.
    pub(crate) fn with(&self, now: Support) -> impl Iterator<Item = &LostFeature<'a>> {
        self.features
            .iter()
            .filter(move |feature| feature.now == now)
    }
}

impl LostVersions {
    /// Formats the loss: `TLS 1.0, TLS 1.1 (client and server)`.
    pub(crate) fn in_words(&self) -> String {
        let off = off(self.before);
        format!("{} ({}{off})", self.versions.iter().join(", "), self.roles)
    }
}

impl LostFeature<'_> {
    /// Formats the loss: `Renegotiation (client, TLS 1.2)`.
    pub(crate) fn in_words(&self) -> String {
        let versions = self.versions.iter().join(", ");
        let off = off(self.before);
        format!("{} ({}, {versions}{off})", self.feature, self.roles)
    }
}

/// Returns the first stack's support.
fn had(cell: &MatrixCell) -> Option<Support> {
    cell.stacks.first().map(|stack| stack.support)
}

/// Returns the words for a feature that the first stack has off by default.
fn off(before: Support) -> &'static str {
    match before {
        Support::OffByDefault => "; off by default",
        Support::Works | Support::Partly | Support::Absent | Support::NotTestable => "",
    }
}

/// The change to a feature from the first stack to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// The first stack does not have the feature, or cannot show it.
    NeverThere,
    Kept,
    Partly,
    Absent,
    NotTestable,
}

fn change(cell: &MatrixCell) -> Change {
    let [first, second, ..] = cell.stacks.as_slice() else {
        return Change::NeverThere;
    };
    match (first.support, second.support) {
        (Support::Absent | Support::NotTestable, _) => Change::NeverThere,
        (_, Support::Absent) => Change::Absent,
        (_, Support::NotTestable) => Change::NotTestable,
        (Support::Works | Support::OffByDefault, Support::Partly) => Change::Partly,
        (
            Support::Works | Support::OffByDefault | Support::Partly,
            Support::Works | Support::OffByDefault | Support::Partly,
        ) => Change::Kept,
    }
}

/// Returns the versions of the client and of the server, as one row if they are alike.
fn by_role(
    [client, server]: &[Vec<Protocol>; 2],
) -> impl Iterator<Item = (&'static str, Vec<Protocol>)> + use<> {
    let rows = if client == server {
        vec![(BOTH, client.clone())]
    } else {
        vec![
            (Role::Client.name(), client.clone()),
            (Role::Server.name(), server.clone()),
        ]
    };
    rows.into_iter()
        .filter(|(_, versions)| !versions.is_empty())
}
