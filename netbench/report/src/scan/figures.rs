use netbench_model::scan::Confirmed;

use super::{
    ScanSummary,
    document::{features, order, outcome, versions},
    loss::{predicted, seen, verdict},
};
use crate::figures::Rows;

pub(super) fn rows(summary: &ScanSummary, rows: &mut Rows) {
    for site in &summary.sites {
        rows.about("site", "", "", "");
        rows.text(&site.site, "outcome", &outcome(site));
        rows.text(&site.site, "versions", &versions(site));
        for found in site.versions.iter().filter(|v| v.supported) {
            rows.about("version", found.version.name(), "", "");
            rows.text(&site.site, "suite_order", order(found.suite_order));
            for suite in &found.suites {
                rows.text(&site.site, "suite", &suite.name);
            }
            for group in &found.groups {
                rows.text(&site.site, "group", &group.name);
            }
        }
        rows.about("site", "", "", "");
        for (name, value) in features(site) {
            rows.text(&site.site, name, &value);
        }
        let effort = &site.effort;
        rows.value(&site.site, "connections", f64::from(effort.connections), "");
        let enumeration = f64::from(effort.enumeration_connections);
        rows.value(&site.site, "enumeration_connections", enumeration, "");
        rows.value(&site.site, "elapsed", effort.elapsed_ms as f64, "ms");
    }
    if let Some(loss) = &summary.loss {
        for site in &loss.sites {
            for (offer, agreement) in loss.offers.iter().zip(&site.agreements) {
                rows.about("agreement", "", &offer.stack, "");
                rows.text(&site.site, "predicted", &predicted(agreement));
            }
        }
        for group in &loss.lost {
            rows.about("lost", group.reason.name(), &group.stack, "");
            for (site, detail) in &group.sites {
                rows.text(site, "why", detail);
            }
        }
        for confirmation in &loss.confirmed {
            rows.about("handshake", "", &confirmation.stack, "");
            rows.text(&confirmation.site, "seen", &seen(&confirmation.seen));
            let as_predicted = confirmation.verdict != Confirmed::Mismatch;
            let word = verdict(confirmation.verdict);
            rows.text(&confirmation.site, "verdict", word);
            rows.value(
                &confirmation.site,
                "mismatch",
                f64::from(u8::from(!as_predicted)),
                "",
            );
        }
    }
    if let Some(population) = &summary.population {
        for row in &population.rows {
            rows.about("population", row.kind.name(), "", "");
            rows.value(&row.name, "supports", f64::from(row.supports), "sites");
            rows.value(&row.name, "prefers", f64::from(row.prefers), "sites");
            rows.value(&row.name, "only", f64::from(row.only), "sites");
        }
    }
    if let Some(profiles) = &summary.profiles {
        for row in &profiles.rows {
            rows.about("profile", &profiles.guideline, "", "");
            rows.value(&row.profile, "comply", row.sites.len() as f64, "sites");
        }
    }
}
