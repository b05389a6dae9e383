use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use netbench_report::{FORMATS, Format, format as report_format};

/// Parses the name of a report format, the value of `--format`.
pub(crate) fn format() -> impl TypedValueParser<Value = &'static Format> {
    PossibleValuesParser::new(
        FORMATS
            .iter()
            .map(|format| PossibleValue::new(format.name).help(format.about)),
    )
    .map(|name| named(&name))
}

/// Returns the format with this name, which exists.
pub(crate) fn named(name: &str) -> &'static Format {
    #[expect(clippy::expect_used, reason = "the names are in the source")]
    report_format(name).expect("a format of this name")
}
