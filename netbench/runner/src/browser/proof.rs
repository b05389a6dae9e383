use netbench_browser::Loaded;
use netbench_model::{Condition, Failure, FailureWord, Site, browser::ObjectsPage};

use crate::proof::{disagreement, wrong_work};

/// Compares a browser's account of a page with the request and with the server's view.
///
/// # Errors
/// Returns a failure if it was another page, or another connection.
pub(super) fn prove(
    loaded: &Loaded,
    condition: Condition,
    site: &Site,
    page: Option<&ObjectsPage>,
) -> Result<(), Failure> {
    let Some(server) = &loaded.server else {
        let what = "the lab's server did not report its view".to_owned();
        return Err(wrong_work(FailureWord::NoServersView, what));
    };
    let resumes = condition == Condition::Resumed;
    let resumed = loaded.client.resumed;
    if resumed != resumes {
        let reason = if resumes {
            FailureWord::NotResumed
        } else {
            FailureWord::Resumed
        };
        let what = format!("resumed is {resumed}");
        return Err(wrong_work(reason, what));
    }
    if let Some(what) = disagreement(&loaded.client, &server.negotiated) {
        return Err(wrong_work(FailureWord::SidesDisagree, what));
    }
    let due = site.lab.body_bytes;
    // A page of objects has no fewer bytes than due, and more if its own text is longer.
    let has_due = match page {
        None => loaded.body_bytes == due,
        Some(_) => loaded.body_bytes >= due,
    };
    if loaded.http_status != 200 || !has_due {
        let what = format!(
            "status {} and {} bytes, where 200 and {due} were due",
            loaded.http_status, loaded.body_bytes
        );
        return Err(wrong_work(FailureWord::AnotherResponse, what));
    }
    page.map_or(Ok(()), |page| has_objects(loaded, page))
}

/// Checks that all objects of the page were loaded completely.
fn has_objects(loaded: &Loaded, page: &ObjectsPage) -> Result<(), Failure> {
    let due = (page.objects, page.object_bytes.iter().sum::<u64>());
    let found = loaded.objects.map_or((0, 0), |it| (it.loaded, it.bytes));
    if found == due {
        return Ok(());
    }
    let what = format!(
        "{} objects of {} bytes were loaded, where {} of {} were due",
        found.0, found.1, due.0, due.1
    );
    Err(wrong_work(FailureWord::AnotherResponse, what))
}

#[cfg(test)]
mod tests {
    use netbench_model::{
        Negotiated, ServerView, TlsVersion,
        browser::{ObjectsLoad, VisitTimes},
    };

    use super::*;

    fn loaded(version: TlsVersion, body_bytes: u64, resumed: bool) -> Loaded {
        let negotiated = |version| Negotiated {
            version: Some(version),
            resumed,
            ..Negotiated::default()
        };
        Loaded {
            times: VisitTimes {
                dns_ns: 0,
                tcp_ns: 1,
                tls_ns: 1,
                wait_ns: 0,
                first_byte_ns: Some(1),
                total_ns: Some(3),
            },
            client: negotiated(version),
            server: Some(ServerView {
                negotiated: negotiated(TlsVersion::Tls13),
                compute_ns: 0,
            }),
            http_status: 200,
            body_bytes,
            objects: None,
            begun_ns: None,
        }
    }

    #[test]
    fn a_page_counts_where_both_sides_say_the_same_of_it() {
        let site = Site::new("a.example".parse().expect("a name"), 443);
        let due = site.lab.body_bytes;
        let checked = |loaded: &Loaded, condition| {
            prove(loaded, condition, &site, None).map_err(|failure| failure.reason.to_string())
        };
        let (clean, resumed) = (Condition::Clean, Condition::Resumed);
        let good = loaded(TlsVersion::Tls13, due, false);
        assert_eq!(checked(&good, clean), Ok(()));
        let wrong = |reason: &str| Err(reason.to_owned());
        assert_eq!(checked(&good, resumed), wrong("not resumed"));
        let again = loaded(TlsVersion::Tls13, due, true);
        assert_eq!(checked(&again, resumed), Ok(()));
        assert_eq!(checked(&again, clean), wrong("resumed"));
        let other = loaded(TlsVersion::Tls12, due, false);
        assert_eq!(checked(&other, clean), wrong("sides disagree"));
        let short = loaded(TlsVersion::Tls13, due - 1, false);
        assert_eq!(checked(&short, clean), wrong("another response"));
        let silent = Loaded {
            server: None,
            ..good
        };
        assert_eq!(checked(&silent, clean), wrong("no server's view"));
    }

    #[test]
    fn a_page_of_objects_counts_where_all_of_them_are_whole() {
        let site = Site::new("a.example".parse().expect("a name"), 443);
        let page = ObjectsPage::new(3, 1).expect("a page");
        let all: u64 = page.object_bytes.iter().sum();
        let checked = |objects: Option<(u32, u64)>, more: u64| {
            let objects = objects.map(|(loaded, bytes)| ObjectsLoad {
                loaded,
                bytes,
                reused: 0,
                last_object_ns: 1,
                load_ns: 1,
            });
            let loaded = Loaded {
                objects,
                ..loaded(TlsVersion::Tls13, site.lab.body_bytes + more, false)
            };
            prove(&loaded, Condition::Clean, &site, Some(&page)).is_ok()
        };
        assert!(checked(Some((3, all)), 0) && checked(Some((3, all)), 100));
        for wrong in [None, Some((2, all)), Some((3, all - 1))] {
            assert!(!checked(wrong, 0), "{wrong:?}");
        }
    }
}
