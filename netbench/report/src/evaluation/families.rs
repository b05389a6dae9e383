//! Families of differences between two stacks, as data: who meets them, how many they are, and what helps.

use std::{collections::BTreeMap, fmt, ops::Range, sync::LazyLock};

use netbench_interop::WebModel;
use netbench_model::named::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// The place of the built-in families in the source.
const FILE: &str = "netbench/catalogue/families.toml";

static FAMILIES: LazyLock<Families> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "it is in the source, and tested")]
    Families::read(FILE, include_str!("../../../catalogue/families.toml"))
        .expect("the families can be read")
});

/// The families of a file.
#[derive(Debug)]
pub struct Families {
    /// The families, in the order of the file.
    pub all: Vec<Family>,
}

/// A family of differences.
#[derive(Debug, Deserialize)]
pub struct Family {
    /// The name, a plural such as `servers that offer only CBC suites`.
    pub name: String,
    /// The users who meet it.
    pub meets: String,
    /// The advice in a sentence.
    pub advice: String,
    /// The share, if a publication has it.
    #[serde(skip)]
    pub share: Option<PublishedShare>,
    #[serde(flatten)]
    members: BTreeMap<Member, Vec<String>>,
}

/// A share that a publication states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedShare {
    /// The lowest share that the source allows for, in parts per million.
    pub low_ppm: u32,
    /// The highest share that the source allows for, in parts per million.
    pub high_ppm: u32,
    /// The set that the source counts.
    #[serde(default)]
    pub counted: Counted,
    /// The unit of the share.
    pub of: ShareOf,
    /// The year of the count.
    pub year: u16,
    /// The publications.
    pub source: String,
}

/// The set that a source of a share counts.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// The members of the family.
    #[default]
    Family,
    /// A larger set: the share is at most that of the set.
    LargerSet,
}

words!(
    /// The unit of a share.
    ShareOf, {
        /// Sites of a list such as Tranco's.
        Sites = "sites",
        /// TLS connections.
        Connections = "connections",
        /// Certificates.
        Certificates = "certificates",
    }
);

/// A kind of the members of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Member {
    /// A case of the catalogue of servers.
    #[serde(rename = "cases")]
    Case,
    /// A reason why verifiers disagree about a chain.
    #[serde(rename = "chains")]
    Chain,
    /// A layout of a trust store.
    #[serde(rename = "stores")]
    Store,
    /// A feature of the protocol tests.
    #[serde(rename = "features")]
    Feature,
    /// A protocol test in which a stack has a defect.
    #[serde(rename = "defects")]
    Defect,
    /// A reason for which a site is lost.
    #[serde(rename = "losses")]
    Loss,
}

/// An error in a file of families, or in a catalogue that does not fit them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct FamilyError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The error, with the name of the field.
    pub what: String,
}

/// Maximum number of characters of a name. A longer name would not fit in the line of a finding.
const LONGEST_NAME: usize = 50;

impl Families {
    /// Returns the built-in families.
    pub fn built_in() -> &'static Self {
        &FAMILIES
    }

    /// Reads the families of a file.
    ///
    /// # Errors
    /// Returns the first error in the text.
    pub fn read(file: &str, text: &str) -> Result<Self, FamilyError> {
        let at = At { file, text };
        let spec: File = toml::from_str(text)
            .map_err(|error| at.error(error.span(), error.message().trim().replace('\n', " ")))?;
        let web = WebModel::of_2026().map_err(|error| at.error(None, error.to_string()))?;
        let mut all: Vec<Family> = Vec::new();
        for entry in spec.family {
            let span = Some(entry.span());
            let FamilySpec { share, mut family } = entry.into_inner();
            let name = &family.name;
            if name.is_empty() || name.chars().count() > LONGEST_NAME {
                let what = format!("name: 1 to {LONGEST_NAME} characters, and {name:?} has others");
                return Err(at.error(span, what));
            }
            if all.iter().any(|other| other.name == *name) {
                return Err(at.error(span, format!("name: there is another family {name:?}")));
            }
            if let Some(share) = share {
                let place = share.span();
                let share = published(share.into_inner(), &spec.sources, &web);
                let share = share.map_err(|what| at.error(Some(place), format!("share: {what}")));
                family.share = Some(share?);
            }
            all.push(family);
        }
        Ok(Self { all })
    }

    /// Returns the family of a member, or `None` for one that the built-in catalogues do not have.
    pub fn of(&self, kind: Member, name: &str) -> Option<&Family> {
        self.all.iter().find(|family| family.has(kind, name))
    }

    /// Tests whether a name belongs to exactly one family.
    ///
    /// # Errors
    /// Returns the reason if it does not.
    pub fn check(&self, kind: Member, name: &str) -> Result<(), String> {
        let those: Vec<&str> = self
            .all
            .iter()
            .filter(|family| family.has(kind, name))
            .map(|family| family.name.as_str())
            .collect();
        match those[..] {
            [_] => Ok(()),
            [] => Err(format!("the {kind} {name:?} belongs to no family")),
            _ => Err(format!(
                "the {kind} {name:?} belongs to several families: {}",
                those.join(", ")
            )),
        }
    }
}

impl Family {
    fn has(&self, kind: Member, name: &str) -> bool {
        let mut patterns = self.members.get(&kind).into_iter().flatten();
        patterns.any(|pattern| match pattern.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == pattern,
        })
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Case => "case",
            Self::Chain => "reason",
            Self::Store => "layout",
            Self::Feature => "feature",
            Self::Defect => "protocol test",
            Self::Loss => "reason of a lost site",
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    sources: BTreeMap<String, SourceSpec>,
    family: Vec<Spanned<FamilySpec>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceSpec {
    text: String,
    year: u16,
    url: String,
}

#[derive(Deserialize)]
struct FamilySpec {
    share: Option<Spanned<ShareSpec>>,
    #[serde(flatten)]
    family: Family,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShareSpec {
    population: Option<String>,
    percent: Option<Percent>,
    of: Option<ShareOf>,
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "percent: expected a number or a list of two")]
enum Percent {
    One(f64),
    Range([f64; 2]),
}

/// Returns the share of a kind of the population model, or that of a source of the file.
fn published(
    spec: ShareSpec,
    sources: &BTreeMap<String, SourceSpec>,
    web: &WebModel,
) -> Result<PublishedShare, String> {
    if let Some(kind) = &spec.population {
        let kind = web.kinds.iter().find(|known| known.name == *kind);
        let kind = kind.ok_or("population: there is no such kind")?;
        let first = kind.sources.first().ok_or("population: no source")?;
        let year = first.rsplit('-').next().and_then(|year| year.parse().ok());
        let texts = kind.sources.iter().filter_map(|name| web.sources.get(name));
        let texts: Vec<&str> = texts.map(String::as_str).collect();
        return Ok(PublishedShare {
            low_ppm: ppm(kind.low)?,
            high_ppm: ppm(kind.high)?,
            counted: Counted::Family,
            of: ShareOf::Sites,
            year: year.ok_or_else(|| format!("population: {first} ends in no year"))?,
            source: texts.join("; "),
        });
    }
    let (low, high) = match spec.percent {
        Some(Percent::One(share)) => (share, share),
        Some(Percent::Range([low, high])) if low <= high => (low, high),
        Some(Percent::Range(_)) => return Err("percent: the range ends before it begins".into()),
        None => return Err("percent: missing".into()),
    };
    let source = spec.source.ok_or("source: missing")?;
    let source = sources
        .get(&source)
        .ok_or_else(|| format!("source: there is no {source:?} in this file"))?;
    if source.text.is_empty() || source.url.is_empty() {
        return Err("source: it needs a text and a url".into());
    }
    Ok(PublishedShare {
        low_ppm: ppm(low)?,
        high_ppm: ppm(high)?,
        counted: match low {
            0.0 => Counted::LargerSet,
            _ => Counted::Family,
        },
        of: spec.of.ok_or("of: missing")?,
        year: source.year,
        source: format!("{}, {}", source.text, source.url),
    })
}

fn ppm(percent: f64) -> Result<u32, String> {
    if (0.0..=100.0).contains(&percent) {
        Ok((percent * 10_000.0).round() as u32)
    } else {
        Err(format!("percent: {percent} is not between 0 and 100"))
    }
}

/// A text with its file, for errors.
struct At<'a> {
    file: &'a str,
    text: &'a str,
}

impl At<'_> {
    fn error(&self, span: Option<Range<usize>>, what: String) -> FamilyError {
        let start = span.map_or(0, |span| span.start).min(self.text.len());
        let before = &self.text.as_bytes()[..start];
        FamilyError {
            file: self.file.to_owned(),
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            what,
        }
    }
}
