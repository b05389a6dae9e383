use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Condition, Failure, LinkPackets, LossLog, Measured, Record, ReplayStatus, Role, StackName,
};

/// The raw figures of one connection: one line of `samples.jsonl`, kept for ever.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The session of the run: 0, incremented by every `netbench run`.
    pub session: u32,
    /// The ordinal of the trial in the plan, which the seed determines.
    pub trial: u64,
    /// The site's name, as [`crate::Site::name`] gives it.
    pub site: String,
    /// The stack that made the connection.
    pub stack: StackName,
    /// The state of the stack.
    pub condition: Condition,
    /// The round, from 0.
    pub round: u32,
    /// The process that made the connection, counted over the run. Samples of one block share its
    /// memory layout and are resampled together.
    pub block: u32,
    /// The purpose of the connection.
    pub role: Role,
    /// Milliseconds since the Unix epoch at the start.
    pub started_unix_ms: u64,
    /// The outcome of the connection.
    pub outcome: Outcome,
    /// The losses of a lossy link in user space during this trial; empty for a link without losses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<LossLog>,
    /// The trial's packets, as a link in user space observed them. Samples of netbench before 2026-11-24 lack the
    /// field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<LinkPackets>,
    /// The treatment of accepted early data that were sent again; `None` where that was not tried, or had no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayStatus>,
}

/// The key of a trial or a visit in a plan: condition, round, site's name, client.
pub type SampleKey<'a> = (Condition, u32, &'a str, &'a StackName);

impl Sample {
    /// Returns the key of the trial in the plan.
    pub fn key(&self) -> SampleKey<'_> {
        (self.condition, self.round, &self.site, &self.stack)
    }
}

impl Record for Sample {
    fn schema(&self) -> u32 {
        self.schema
    }

    fn fault(&self) -> Option<&'static str> {
        let measured = self.outcome.ok()?;
        (measured.phases.total_ns == 0).then_some("total_ns is 0 in a connection that ended well")
    }
}

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// A finished handshake and a response read to its end.
    Ok(Box<Measured>),
    /// An error, with its class. Figures from before the error are kept.
    Failed(Failure),
    /// The stack, site or machine does not support the case.
    Unsupported {
        /// The reason.
        reason: String,
    },
    /// netbench's own lab failed, so the trial gives no information about the stack or the site. The trial does not
    /// count, and `netbench run` repeats it.
    #[serde(alias = "void")]
    Discarded {
        /// A description of the failure.
        reason: String,
    },
}

impl Outcome {
    /// Returns the figures of the trial if it succeeded.
    pub fn ok(&self) -> Option<&Measured> {
        match self {
            Self::Ok(sample) => Some(sample),
            Self::Failed(_) | Self::Unsupported { .. } | Self::Discarded { .. } => None,
        }
    }

    /// Returns whether the trial counts. A trial that the lab failed does not count.
    pub fn counts(&self) -> bool {
        !matches!(self, Self::Discarded { .. })
    }
}
