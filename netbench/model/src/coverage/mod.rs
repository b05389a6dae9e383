//! Records of protocol coverage: the results of BoringSSL's tests for each shim, summed by feature, and the differences
//! between two shims. `netbench-bogo` makes these records; reports read them.

mod about;
mod defects;
mod difference;
mod matrix;
mod summary;
mod test;

pub use about::{Protocol, Role, Transport};
pub use defects::{DefectTest, Defects};
pub use difference::{Difference, DifferenceGroup};
pub use matrix::{HANDSHAKE, Matrix, MatrixCell, StackSupport, Support};
pub use summary::{Coverage, FeatureRow, Half, ShimSummary, Tally};
pub use test::{Category, Ending, RunnerId, TestOutcome};
