use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use netbench_report::{FORMS, Form, form};

/// Reads a form of a report, as `--format` takes it.
pub(crate) fn format() -> impl TypedValueParser<Value = &'static Form> {
    let value = |form: &Form| PossibleValue::new(form.name).help(form.about);
    PossibleValuesParser::new(FORMS.iter().map(value)).map(|name| named(&name))
}

/// The form of this name.
///
/// # Panics
/// Where there is none.
pub(crate) fn named(name: &str) -> &'static Form {
    #[expect(clippy::expect_used, reason = "the names are in the source")]
    form(name).expect("a form of this name")
}
