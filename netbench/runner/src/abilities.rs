//! The reasons why a stack cannot make the connections of a unit.

use netbench_model::Condition;
use netbench_protocol::Operation;

use crate::{Unit, execute::Shared};

impl Shared<'_> {
    /// Returns the reason why the stack sends no request as early data, where the unit's condition requires that.
    pub(crate) fn sends_none_early(&self, unit: &Unit, stack: usize) -> Option<String> {
        if unit.condition != Condition::EarlyData || self.can(stack, Operation::EarlyRequest) {
            return None;
        }
        Some(format!("{} sends no early data", self.connector_of(stack)))
    }

    /// Returns the reason why the stack does not offer the Encrypted ClientHello of the site's clients.
    pub(crate) fn offers_no_ech(&self, site: usize, stack: usize) -> Option<String> {
        let ech = self.trials.own_client(site).ech()?;
        let lacks = !self.can(stack, ech.operation());
        lacks.then(|| format!("{} offers no {}", self.connector_of(stack), ech.name()))
    }

    /// Returns whether the stack's worker lists `operation` among its operations.
    pub(crate) fn can(&self, stack: usize, operation: Operation) -> bool {
        let stack = self.trials.plan.stacks[stack].stack();
        self.workers.does(stack, operation)
    }

    /// Returns the words for a stack's connector in a reason.
    fn connector_of(&self, stack: usize) -> String {
        let name = self.trials.plan.stacks[stack].stack();
        let known = self.workers.description(name);
        let connector = known.map_or("", |known| known.record.connector.as_str());
        format!("the connector of {name} ({connector})")
    }
}
