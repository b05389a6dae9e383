//! Pages that test a browser's features: a catalogue of them as data.

use std::{
    collections::{BTreeMap, HashSet},
    sync::LazyLock,
};

use netbench_model::{
    features::{
        ExpectedConnections, ExpectedRequests, FeatureCase, Guards, WebCase, WebContent,
        WebResource,
    },
    suggestion,
};
use serde::Deserialize;

use crate::catalogue::{LineError, is_of_name, tables};

/// Defines the groups of the built-in catalogue, each with the file of its name.
macro_rules! files {
    ($($group:literal),+ $(,)?) => {
        [$(($group, include_str!(concat!("../../catalogue/features/", $group, ".toml")))),+]
    };
}

/// The files of the built-in catalogue.
const FILES: [(&str, &str); 14] = files![
    "fetch",
    "xhr",
    "mixed-content",
    "hsts",
    "websocket",
    "cookie",
    "redirect",
    "connection",
    "worker",
    "integrity",
    "referrer",
    "secure-context",
    "certificate",
    "restart",
];

/// The groups of the built-in catalogue, in its order.
pub const GROUPS: [&str; FILES.len()] = {
    let mut groups = [""; FILES.len()];
    let mut at = 0;
    while at < FILES.len() {
        groups[at] = FILES[at].0;
        at += 1;
    }
    groups
};

/// The longest label of a host's name (RFC 1035 section 2.3.4).
const LONGEST_LABEL: usize = 63;

/// The name of the case's host in texts.
const OWN: &str = "{own}";

/// A case, with its pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// The case, as runs record it.
    pub record: FeatureCase,
    /// The pages and files.
    pub served: WebCase,
}

/// Returns the cases of the built-in catalogue, and its text.
///
/// # Errors
/// Returns the first error in the catalogue, which a test would find.
pub fn built_in_features() -> Result<(Vec<Feature>, &'static str), LineError> {
    static TEXT: LazyLock<String> = LazyLock::new(|| FILES.map(|(_, text)| text).concat());
    Ok((features(&TEXT)?, &TEXT))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    name: String,
    about: String,
    standard: String,
    url: String,
    #[serde(default)]
    tests: Vec<String>,
    why: String,
    guards: Guards,
    #[serde(default = "start")]
    start: String,
    restart: Option<String>,
    script: String,
    #[serde(default)]
    head: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    told: BTreeMap<String, toml::Value>,
    #[serde(default)]
    observed: Vec<String>,
    #[serde(default)]
    requests: Vec<ExpectedRequests>,
    #[serde(default)]
    connections: Vec<ExpectedConnections>,
    #[serde(default)]
    page: Vec<PageSpec>,
    #[serde(default)]
    file: Vec<FileSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageSpec {
    path: String,
    script: String,
    #[serde(default)]
    head: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSpec {
    path: String,
    #[serde(rename = "type")]
    media_type: String,
    body: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

fn start() -> String {
    format!("https://{OWN}/")
}

/// Reads a catalogue.
///
/// # Errors
/// Returns the first error in the catalogue.
pub fn features(text: &str) -> Result<Vec<Feature>, LineError> {
    let mut names = HashSet::new();
    let mut hosts = HashSet::new();
    let mut found = Vec::new();
    for (line, spec) in tables::<Spec>(text)? {
        let feature = spec.feature().and_then(|feature| {
            let name = &feature.record.name;
            if !names.insert(name.clone()) {
                return Err(format!("name: there is another case \"{name}\""));
            }
            if !hosts.insert(feature.served.host.clone()) {
                return Err(format!(
                    "name: the host of \"{name}\" is that of another case"
                ));
            }
            Ok(feature)
        });
        found.push(feature.map_err(|what| LineError { line, what })?);
    }
    Ok(found)
}

impl Spec {
    fn feature(self) -> Result<Feature, String> {
        self.check()?;
        let host = WebCase::host_of(&self.name);
        let label = host.trim_end_matches(".test").len() + WebCase::OTHER.len();
        if label > LONGEST_LABEL {
            return Err(format!("name: \"{}\" is too long for a host", self.name));
        }
        let told = self
            .told
            .iter()
            .map(|(name, value)| (name.clone(), with_host(&shown(value), &host)));
        let requests = self.requests.into_iter().map(|due| ExpectedRequests {
            host: due.host.as_deref().map(|text| with_host(text, &host)),
            headers: headers_with_host(due.headers, &host),
            ..due
        });
        let connections = self.connections.into_iter().map(|due| ExpectedConnections {
            host: with_host(&due.host, &host),
            ..due
        });
        let first = PageSpec {
            path: "/".to_owned(),
            script: self.script,
            head: self.head,
            headers: self.headers,
        };
        let pages = std::iter::once(first)
            .chain(self.page)
            .map(|page| WebResource {
                path: page.path,
                headers: headers_with_host(page.headers, &host),
                content: WebContent::Page {
                    head: with_host(&page.head, &host),
                    script: page.script,
                },
            });
        let files = self.file.into_iter().map(|file| WebResource {
            path: file.path,
            headers: headers_with_host(file.headers, &host),
            content: WebContent::File {
                media_type: file.media_type,
                body: with_host(&file.body, &host),
            },
        });
        let resources: Vec<WebResource> = pages.chain(files).collect();
        Ok(Feature {
            record: FeatureCase {
                about: self.about,
                standard: self.standard,
                url: self.url,
                tests: self.tests,
                why: self.why,
                guards: self.guards,
                start: with_host(&self.start, &host),
                restart: self.restart.as_deref().map(|text| with_host(text, &host)),
                told: told.collect(),
                observed: self.observed,
                requests: requests.collect(),
                connections: connections.collect(),
                name: self.name.clone(),
            },
            served: WebCase {
                name: self.name,
                host,
                resources,
            },
        })
    }

    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        let group = name.split_once('/').map_or("", |(group, _)| group);
        if !name.bytes().all(is_of_name) || group.is_empty() || name.ends_with('/') {
            return Err("name: a group and a name of small letters, digits and hyphens, with a slash between them".to_owned());
        }
        if !GROUPS.contains(&group) {
            return Err(format!(
                "name: unknown group \"{group}\"; {}",
                suggestion(group, &GROUPS)
            ));
        }
        for (field, text) in [
            ("about", &self.about),
            ("standard", &self.standard),
            ("why", &self.why),
        ] {
            if text.trim().is_empty() {
                return Err(format!("{field}: it is empty"));
            }
        }
        if !self.url.starts_with("https://") {
            return Err("url: the address of the section is expected".to_owned());
        }
        if self.told.is_empty() {
            return Err("told: a case without an expected value cannot fail".to_owned());
        }
        let restart = self.restart.as_ref();
        for (field, url) in [("start", Some(&self.start)), ("restart", restart)] {
            if url.is_some_and(|url| !is_of_case(url)) {
                return Err(format!("{field}: a URL with {OWN} is expected"));
            }
        }
        let pages = self.page.iter().map(|page| &page.path);
        let mut paths = HashSet::from(["/"]);
        for path in pages.chain(self.file.iter().map(|file| &file.path)) {
            if !path.starts_with('/') || !paths.insert(path) {
                return Err(format!(
                    "path: \"{path}\" is no path, or that of another resource"
                ));
            }
        }
        Ok(())
    }
}

type Headers = BTreeMap<String, String>;

/// Returns the text with the case's host in its place.
fn with_host(text: &str, host: &str) -> String {
    text.replace(OWN, host)
}

fn headers_with_host(mut headers: Headers, host: &str) -> Headers {
    for value in headers.values_mut() {
        *value = with_host(value, host);
    }
    headers
}

/// Returns whether a URL has a host of the case.
fn is_of_case(url: &str) -> bool {
    let schemes = ["https://", "http://"];
    schemes.iter().any(|scheme| url.starts_with(scheme)) && url.contains(OWN)
}

/// Returns the text of a value as a page reports it: JSON, unless it is a text.
fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "[[case]]\nname = 'fetch/a'\nabout = 'a'\nstandard = 'b'\nurl = 'https://c.example/'\nwhy = 'd'\n\
        guards = 'function'\nscript = ''\ntold = { a = 1 }\n";

    #[test]
    fn the_built_in_cases_can_be_read() {
        let (all, _) = built_in_features().unwrap();
        assert!(all.len() >= 60, "{}", all.len());
        for group in GROUPS {
            assert!(all.iter().any(|it| it.record.group() == group), "{group}");
        }
        for feature in all {
            let text = serde_json::to_string(&feature.record).unwrap();
            assert!(!text.contains(OWN), "{text}");
        }
    }

    #[test]
    fn each_file_has_the_cases_of_its_group() {
        for (group, text) in FILES {
            for feature in features(text).unwrap() {
                assert_eq!(feature.record.group(), group, "{}", feature.record.name);
            }
        }
    }

    #[test]
    fn values_and_hosts_are_written_as_a_page_reports_them() {
        let text = CASE.replace(
            "{ a = 1 }",
            "{ a = 1, b = true, c = 'x {own}', d = ['e', 2] }",
        );
        let feature = features(&text).unwrap().remove(0);
        let told: Vec<&str> = feature.record.told.values().map(String::as_str).collect();
        assert_eq!(told, ["1", "true", "x fetch-a.test", r#"["e",2]"#]);
        assert_eq!(feature.record.start, "https://fetch-a.test/");
    }

    #[test]
    fn wrong_entries_are_refused_with_their_line() {
        for (text, why) in [
            (CASE.replace("fetch/a", "fetch"), "line 1: name: a group"),
            (CASE.replace("fetch/a", "fetch/A"), "name: a group"),
            (CASE.replace("fetch/a", "fetsh/a"), "did you mean \"fetch\""),
            (
                CASE.replace("fetch/a", &format!("fetch/{}", "a".repeat(60))),
                "too long for a host",
            ),
            (
                CASE.replace("about = 'a'", "about = ' '"),
                "about: it is empty",
            ),
            (CASE.replace("https://c", "c"), "url: "),
            (CASE.replace("{ a = 1 }", "{}"), "cannot fail"),
            (
                CASE.replace("guards = 'function'\n", ""),
                "missing field `guards`",
            ),
            (
                CASE.replace("'function'", "'functions'"),
                "line 7: guards: ",
            ),
            (CASE.replace("why", "wy"), "unknown field `wy`"),
            (format!("{CASE}start = 'ftp://{{own}}/'\n"), "start: "),
            (format!("{CASE}start = 'https://example/'\n"), "start: "),
            (
                format!("{CASE}restart = '{{own}}/next'\n"),
                "restart: a URL with {own}",
            ),
            (
                format!("{CASE}requests = [{{ path = '/', times = '2-1' }}]\n"),
                "permits no number",
            ),
            (
                format!("{CASE}requests = [{{ times = '1' }}]\n"),
                "missing field `path`",
            ),
            (
                format!("{CASE}[[case.page]]\npath = '/'\nscript = ''\n"),
                "path: \"/\"",
            ),
            (
                format!("{CASE}[[case.file]]\npath = 'a'\ntype = ''\nbody = ''\n"),
                "path: \"a\"",
            ),
            (format!("{CASE}{CASE}"), "line 10: name: there is another"),
            (
                format!(
                    "{CASE}{}",
                    CASE.replace("fetch/a", "fetch/a.b") + &CASE.replace("fetch/a", "fetch/a-b")
                ),
                "that of another case",
            ),
            ("[[case]]\nname = 1\n".to_owned(), "line 2"),
        ] {
            let error = features(&text).unwrap_err().to_string();
            assert!(error.contains(why), "{why}: {error}");
        }
    }
}
