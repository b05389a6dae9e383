//! The preferences of Firefox for measurements.

use std::fmt::Write;

/// Preferences that disable its own traffic, its caches, and the rounding of its times.
const PREFERENCES: [(&str, &str); 49] = [
    ("marionette.port", "0"),
    ("remote.prefs.recommended", "false"),
    ("privacy.reduceTimerPrecision", "false"),
    // There is no OCSP responder for the lab's certificates, and each visit would wait two seconds for one.
    ("security.OCSP.enabled", "0"),
    // Firefox would request a page's icon during the load, over the same connection.
    ("browser.chrome.site_icons", "false"),
    ("browser.cache.disk.enable", "false"),
    ("browser.cache.memory.enable", "false"),
    ("network.http.http3.enable", "false"),
    ("network.http.speculative-parallel-limit", "0"),
    ("network.prefetch-next", "false"),
    ("network.dns.disablePrefetch", "true"),
    ("network.dns.native_https_query", "false"),
    ("network.trr.mode", "5"),
    ("network.captive-portal-service.enabled", "false"),
    ("network.connectivity-service.enabled", "false"),
    ("dom.security.https_first", "false"),
    ("dom.push.enabled", "false"),
    ("geo.enabled", "false"),
    ("app.update.enabled", "false"),
    ("app.update.auto", "false"),
    ("app.normandy.enabled", "false"),
    ("browser.shell.checkDefaultBrowser", "false"),
    ("browser.startup.page", "0"),
    ("browser.startup.homepage", "\"about:blank\""),
    ("startup.homepage_welcome_url", "\"about:blank\""),
    ("browser.newtabpage.enabled", "false"),
    ("browser.discovery.enabled", "false"),
    ("browser.region.network.url", "\"\""),
    ("browser.region.update.enabled", "false"),
    ("browser.safebrowsing.malware.enabled", "false"),
    ("browser.safebrowsing.phishing.enabled", "false"),
    ("browser.safebrowsing.downloads.enabled", "false"),
    ("browser.safebrowsing.update.enabled", "false"),
    ("browser.search.update", "false"),
    ("datareporting.healthreport.uploadEnabled", "false"),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    ("extensions.getAddons.cache.enabled", "false"),
    ("extensions.update.enabled", "false"),
    (
        "services.settings.server",
        "\"data:,#remote-settings-dummy/v1\"",
    ),
    ("toolkit.telemetry.enabled", "false"),
    ("toolkit.telemetry.server", "\"\""),
    ("toolkit.telemetry.reportingpolicy.firstRun", "false"),
    ("media.gmp-manager.updateEnabled", "false"),
    ("telemetry.fog.test.localhost_port", "-1"),
    (
        "browser.newtabpage.activity-stream.unifiedAds.spocs.enabled",
        "false",
    ),
    (
        "browser.newtabpage.activity-stream.unifiedAds.tiles.enabled",
        "false",
    ),
    (
        "browser.newtabpage.activity-stream.unifiedAds.adsFeed.enabled",
        "false",
    ),
    (
        "browser.newtabpage.activity-stream.feeds.system.topsites",
        "false",
    ),
    ("browser.topsites.contile.enabled", "false"),
];

/// Returns the preferences for the record, as `name=value`.
pub(super) fn settings() -> Vec<String> {
    PREFERENCES
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

/// Returns the content of the profile's `user.js`.
pub(super) fn user_js() -> String {
    let mut text = String::new();
    for (name, value) in PREFERENCES {
        let _ = writeln!(text, "user_pref(\"{name}\", {value});");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_are_lines_of_javascript() {
        let text = user_js();
        assert_eq!(text.lines().count(), PREFERENCES.len());
        assert!(text.contains("user_pref(\"browser.startup.homepage\", \"about:blank\");\n"));
    }
}
