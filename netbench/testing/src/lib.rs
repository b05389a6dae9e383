//! A harness for tests that require a facility of the machine: a program, a permission, a kernel feature.
//!
//! Where a requirement is missing, the test is ignored, which the closing count shows; a test never passes
//! without having run. With `NETBENCH_REQUIRE=all`, or a list such as `NETBENCH_REQUIRE=go,nginx`, the test
//! fails instead.
//!
//! For tests only; this crate must never depend on another of the workspace. A test target that uses it
//! has `harness = false` in its `Cargo.toml` and calls [`tests!`]. Start reading at [`Tool`], then [`Test`].

mod corpus;
mod script;
mod source;
mod test;
mod tool;

pub use corpus::read_corpora;
pub use script::script;
pub use source::no_lost_tests;
pub use test::{Failed, Test, run};
pub use tool::{Tool, program, worker};

/// Defines the `main` of a test target from its tests, each with the tools that it needs.
///
/// ```no_run
/// netbench_testing::tests! {
///     it_adds;
///     it_serves: Nginx, OpensslCommand;
/// }
///
/// fn it_adds() {
///     assert_eq!(1 + 1, 2);
/// }
///
/// fn it_serves() {}
/// ```
///
/// A function that is not in the list is dead code, which the lints report; a function that has `#[test]`,
/// which the compiler would drop without the standard harness, makes `main` panic ([`no_lost_tests`]).
#[macro_export]
macro_rules! tests {
    ($($function:ident $(::$rest:ident)* $(: $($tool:ident),+)?;)+) => {
        fn main() -> ::std::process::ExitCode {
            $crate::no_lost_tests(file!());
            $crate::run($crate::list! { $($function $(::$rest)* $(: $($tool),+)?;)+ })
        }
    };
}

/// Defines the `tests` of a module of a test target, in the format of [`tests!`]. [`modules!`] collects them.
#[macro_export]
macro_rules! module_tests {
    ($($list:tt)+) => {
        pub(crate) fn tests() -> ::std::vec::Vec<$crate::Test> {
            $crate::list!($($list)+).into()
        }
    };
}

/// Defines the `main` of a test target from modules with [`module_tests!`]. A test has its module in its name.
#[macro_export]
macro_rules! modules {
    ($($module:ident),+ $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::no_lost_tests(file!());
            let modules = [$((stringify!($module), $module::tests())),+];
            $crate::run(modules.into_iter().flat_map(|(module, tests)| {
                tests.into_iter().map(move |test| test.in_module(module))
            }))
        }
    };
}

/// Makes an array of tests, each with the tools that it needs.
#[doc(hidden)]
#[macro_export]
macro_rules! list {
    ($($function:ident $(::$rest:ident)* $(: $($tool:ident),+)?;)+) => {
        [
            $($crate::Test::of(
                concat!(stringify!($function) $(, "::", stringify!($rest))*),
                $function$(::$rest)*,
            )$($(.needs($crate::Tool::$tool))+)?,)+
        ]
    };
}
