use crate::block::Block;

use super::SuiteSummary;

pub(super) fn table(_blocks: &mut Vec<Block>, _summary: &SuiteSummary) {}
