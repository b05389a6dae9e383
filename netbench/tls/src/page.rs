use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of objects of a page.
const MOST_OBJECTS: u32 = 100;

/// Maximum number of origins of a page's objects.
const MOST_ORIGINS: u32 = 20;

/// Sizes of the objects in KiB, repeated in this order: from a small icon to a photograph.
const SIZES: [u64; 8] = [2, 40, 8, 16, 4, 64, 24, 1];

/// Prefixes of the paths of such pages and their objects on the lab's servers, independent of the site's own path.
const PAGES: &str = "/.well-known/netbench/page/";
const OBJECTS: &str = "/.well-known/netbench/object/";

/// A page with images from one or several origins, which the browser finds as it reads the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectsPage {
    /// Number of images.
    pub objects: u32,
    /// Number of origins, each of which serves an equal share of the images; the first is the site itself.
    pub origins: u32,
    /// Size of each image, in bytes.
    pub object_bytes: Vec<u64>,
}

/// A request to a server of the lab other than for a site's own page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageRequest {
    /// A page with images.
    Page(ObjectsPage),
    /// An image of a page, named by its size in bytes.
    Object(u64),
}

impl ObjectsPage {
    /// Creates a page with `objects` images from `origins` origins.
    ///
    /// # Errors
    /// A number of images that is 0 or too large, or more origins than images.
    pub fn new(objects: u32, origins: u32) -> Result<Self, String> {
        if !(1..=MOST_OBJECTS).contains(&objects) {
            return Err(format!(
                "objects={objects}: expected from 1 to {MOST_OBJECTS}"
            ));
        }
        if !(1..=MOST_ORIGINS.min(objects)).contains(&origins) {
            let most = MOST_ORIGINS.min(objects);
            return Err(format!("origins={origins}: expected from 1 to {most}"));
        }
        let sizes = SIZES.iter().cycle().map(|kib| kib << 10);
        Ok(Self {
            objects,
            origins,
            object_bytes: sizes.take(objects as usize).collect(),
        })
    }

    /// Returns the path of the page on the lab's servers.
    pub fn path(&self) -> String {
        format!("{PAGES}{}/{}", self.objects, self.origins)
    }

    /// Returns the host of an origin: the site itself, or a subdomain of it.
    pub fn host(site: &str, origin: u32) -> String {
        match origin {
            0 => site.to_owned(),
            other => format!("o{other}.{site}"),
        }
    }

    /// Returns the HTML of the page that the host of a site sends. `port` includes its colon and is empty for port 443.
    pub fn html(&self, site: &str, port: &str) -> String {
        let images: String = self
            .object_bytes
            .iter()
            .zip((0..self.origins).cycle())
            .enumerate()
            .map(|(number, (bytes, origin))| {
                let host = Self::host(site, origin);
                // The number gives each image a distinct address. Browsers report the times and sizes of images from
                // other origins only if CORS allows it.
                format!(
                    "<img crossorigin src=\"https://{host}{port}{OBJECTS}{bytes}?{number}\" alt=\"\">\n"
                )
            })
            .collect();
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <title>A page of netbench</title><link rel=\"icon\" href=\"data:,\"></head>\n<body>\n{images}"
        )
    }
}

impl PageRequest {
    /// Returns the request that a path stands for, or `None` for a path of the site itself.
    pub fn of_path(path: &str) -> Option<Self> {
        if let Some(page) = path.strip_prefix(PAGES) {
            let (objects, origins) = page.split_once('/')?;
            let page = ObjectsPage::new(objects.parse().ok()?, origins.parse().ok()?);
            return Some(Self::Page(page.ok()?));
        }
        let bytes: u64 = path.strip_prefix(OBJECTS)?.parse().ok()?;
        let is_one = SIZES.iter().any(|kib| kib << 10 == bytes);
        is_one.then_some(Self::Object(bytes))
    }
}

impl FromStr for ObjectsPage {
    type Err = String;

    /// Parses `objects=24,origins=6`; the default is one origin.
    fn from_str(text: &str) -> Result<Self, String> {
        let (mut objects, mut origins) = (None, None);
        for part in text.split(',') {
            let (name, value) = part
                .split_once('=')
                .ok_or("expected objects=N,origins=N, such as objects=24,origins=6")?;
            let known = match name {
                "objects" => &mut objects,
                "origins" => &mut origins,
                other => {
                    let other = other.escape_debug();
                    return Err(format!("{other}: a page has objects and origins"));
                }
            };
            let number = value.parse::<u32>();
            let number = number
                .map_err(|_| format!("{name}={}: expected a number", value.escape_debug()))?;
            if known.replace(number).is_some() {
                return Err(format!("{name} is given twice"));
            }
        }
        let objects = objects.ok_or("objects= is missing, such as objects=24")?;
        Self::new(objects, origins.unwrap_or(1))
    }
}

impl fmt::Display for ObjectsPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "objects={},origins={}", self.objects, self.origins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_it_is_written() {
        let page: ObjectsPage = "objects=24,origins=6".parse().unwrap();
        assert_eq!(page.to_string(), "objects=24,origins=6");
        assert_eq!(page.object_bytes.len(), 24);
        assert_eq!("objects=3".parse(), ObjectsPage::new(3, 1));
        for (text, why) in [
            ("24", "expected objects=N"),
            ("objects=x", "expected a number"),
            ("objects=0", "from 1 to 100"),
            ("objects=2,origins=3", "from 1 to 2"),
            ("origins=2", "objects= is missing"),
            ("objects=2,objects=2", "given twice"),
            ("frames=2", "a page has objects and origins"),
        ] {
            let error = text.parse::<ObjectsPage>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn servers_are_asked_for_what_the_page_names() {
        let page = ObjectsPage::new(8, 3).unwrap();
        let asked = PageRequest::of_path(&page.path());
        assert_eq!(asked, Some(PageRequest::Page(page.clone())));
        let html = page.html("a.example", ":8443");
        let images: Vec<&str> = html
            .split("src=\"https://")
            .skip(1)
            .map(|rest| rest.split('?').next().unwrap())
            .collect();
        assert_eq!(images.len(), 8);
        for (image, (number, bytes)) in images.iter().zip(page.object_bytes.iter().enumerate()) {
            let host = match number % 3 {
                0 => "a.example:8443".to_owned(),
                other => format!("o{other}.a.example:8443"),
            };
            let path = image
                .strip_prefix(&host)
                .unwrap_or_else(|| panic!("{image}"));
            assert_eq!(
                PageRequest::of_path(path),
                Some(PageRequest::Object(*bytes))
            );
        }
        for path in [
            "/",
            "/.well-known/netbench/page/0/1",
            "/.well-known/netbench/object/7",
        ] {
            assert_eq!(PageRequest::of_path(path), None, "{path}");
        }
    }
}
