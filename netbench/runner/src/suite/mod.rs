//! The in-memory suite: every round runs every scenario on every stack, in separate processes that alternate in
//! turns with equal numbers of operations.

mod execute;
mod held;
mod instructions;
mod material;
mod plan;
mod proof;
mod system_calls;
mod timed;
mod trace;
mod turn;
mod workers;

pub use execute::execute_suite;
pub use material::{MaterialError, Materials};
pub use plan::{SuiteEvent, SuiteFeedback, SuiteListener, SuiteTrials};
pub use proof::{prove_held, prove_prepared, prove_slice};
pub use system_calls::COUNTED_ROUNDS;
pub use timed::{MIN_TURNS, THREADS_TURN};
pub use turn::WARM_UP;
