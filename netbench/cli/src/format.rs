use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use netbench_report::{FORMS, Form, form};

/// Parses the name of a report format, the value of `--format`.
pub(crate) fn format() -> impl TypedValueParser<Value = &'static Form> {
    let value = |form: &Form| PossibleValue::new(form.name).help(form.about);
    PossibleValuesParser::new(FORMS.iter().map(value)).map(|name| named(&name))
}

/// Returns the format with this name.
///
/// # Panics
/// There is no such format.
pub(crate) fn named(name: &str) -> &'static Form {
    #[expect(clippy::expect_used, reason = "the names are in the source")]
    form(name).expect("a form of this name")
}
