use netbench_model::sanitize_prefix;

/// Returns at most 200 characters of a text that a server sent, safe to store and to show.
pub(crate) fn clean(text: &str) -> String {
    sanitize_prefix(text, 200)
}
