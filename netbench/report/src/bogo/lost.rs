use itertools::Itertools;
use netbench_model::coverage::{HANDSHAKE, Matrix, MatrixCell, Protocol, Role, Support};

use super::matrix::SHOWN;

/// The features and versions that the first stack of a matrix has and the second does not, by feature, role and
/// version.
#[derive(Default)]
pub(crate) struct Lost<'a> {
    /// Versions that the second stack lacks, with all features over them.
    pub(crate) versions: Vec<LostFeature<'a>>,
    /// Features, in the versions that both stacks have, that the second stack lacks, has in part, or cannot show.
    pub(crate) features: Vec<LostFeature<'a>>,
    /// Number of features that the first stack has in the versions that both have, counted by role and version.
    pub(crate) had: usize,
    /// Number of those features that the second stack lacks.
    pub(crate) absent: usize,
}

/// A feature, or all features of some versions, that is lost in one role or in both.
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

const ALL_FEATURES: &str = "all features";

impl<'a> Lost<'a> {
    /// Collects the losses of a matrix whose first column is the stack in use. The result is empty if the matrix
    /// does not have two columns.
    pub(crate) fn of(matrix: &'a Matrix) -> Self {
        let cells = matrix.cells.iter();
        let cells = cells.filter(|cell| SHOWN.contains(&cell.protocol));
        let cells: Vec<&MatrixCell> = cells.collect();
        let handshakes = cells.iter().copied();
        let handshakes: Vec<&MatrixCell> = handshakes
            .filter(|cell| cell.feature == HANDSHAKE)
            .collect();
        let mut lost = Self::default();
        for before in [Support::Works, Support::Partly, Support::OffByDefault] {
            let gone = handshakes.iter().copied();
            let gone =
                gone.filter(|cell| now(cell) == Some(Support::Absent) && had(cell) == Some(before));
            lost.versions.extend(by_role(ALL_FEATURES, gone));
        }
        let cells = cells.into_iter().filter(|cell| {
            let mut same = handshakes.iter();
            let same = same.find(|it| (it.role, it.protocol) == (cell.role, cell.protocol));
            same.is_none_or(|it| had(it).is_some() && now(it) != Some(Support::Absent))
        });
        for (feature, cells) in &cells.chunk_by(|cell| cell.feature.as_str()) {
            let cells = cells.collect_vec();
            lost.had += cells.iter().filter(|cell| had(cell).is_some()).count();
            for support in [Support::Absent, Support::Partly, Support::NotTestable] {
                let those = cells.iter().copied();
                let those = those
                    .filter(|cell| now(cell) == Some(support))
                    .collect_vec();
                if support == Support::Absent {
                    lost.absent += those.len();
                }
                lost.features.extend(by_role(feature, those));
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

impl LostFeature<'_> {
    /// Formats the loss: `Renegotiation (client, TLS 1.2)`, or `TLS 1.0, TLS 1.1 (client and server)` for all features.
    pub(crate) fn in_words(&self) -> String {
        let versions = self.versions.iter().join(", ");
        let (feature, roles) = (self.feature, self.roles);
        let off = match self.before {
            Support::OffByDefault => "; off by default",
            Support::Works | Support::Partly | Support::Absent | Support::NotTestable => "",
        };
        match feature {
            ALL_FEATURES => format!("{versions} ({roles}{off})"),
            _ => format!("{feature} ({roles}, {versions}{off})"),
        }
    }
}

/// Returns the first stack's support for a feature; `None` if it does not have it, or cannot show it.
fn had(cell: &MatrixCell) -> Option<Support> {
    let [first, _, ..] = cell.stacks.as_slice() else {
        return None;
    };
    match first.support {
        Support::Absent | Support::NotTestable => None,
        support => Some(support),
    }
}

/// Returns the second stack's support for a feature that is lost; `None` if it is not.
fn now(cell: &MatrixCell) -> Option<Support> {
    let now = cell.stacks.get(1)?.support;
    match (had(cell)?, now) {
        (_, Support::Absent | Support::NotTestable)
        | (Support::Works | Support::OffByDefault, Support::Partly) => Some(now),
        _ => None,
    }
}

/// Returns the loss of a feature in these cells: once if client and server are alike, otherwise for each of them.
fn by_role<'a>(
    feature: &'a str,
    cells: impl IntoIterator<Item = &'a MatrixCell>,
) -> impl Iterator<Item = LostFeature<'a>> {
    let cells = cells.into_iter();
    let (client, server): (Vec<_>, Vec<_>) = cells.partition(|cell| cell.role == Role::Client);
    let versions = [&client, &server].map(|cells| cells.iter().map(|it| it.protocol).collect_vec());
    let rows = if versions[0] == versions[1] {
        vec![("client and server", client)]
    } else {
        vec![(Role::Client.name(), client), (Role::Server.name(), server)]
    };
    rows.into_iter().filter_map(move |(roles, cells)| {
        let first = cells.first()?;
        let why = first.stacks.get(1)?.why.as_deref();
        Some(LostFeature {
            feature,
            roles,
            versions: cells.iter().map(|cell| cell.protocol).collect(),
            before: had(first)?,
            now: now(first)?,
            why: why.filter(|_| feature != ALL_FEATURES),
        })
    })
}
