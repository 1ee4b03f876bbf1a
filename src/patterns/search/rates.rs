//! Maximum edits by pattern length.

use super::MatchRule;
use super::hits::HitOptions;
use crate::terms::casts::to_u32;
use std::collections::BTreeMap;

impl HitOptions {
    /// The rule for a pattern of `len` bases: the common rule, unless a rate sets the edits by length.
    pub fn rule_of(&self, len: usize) -> MatchRule {
        let max_edits = self.rate.map_or(self.rule.max_edits, |rate| rate.edits_of(len));
        MatchRule { max_edits, ..self.rule }
    }

    /// The chosen patterns, or all if `None`, grouped by the rules with which they are scanned.
    pub fn by_rule(
        &self,
        patterns: &[Vec<u8>],
        chosen: Option<Vec<u32>>,
    ) -> Vec<(MatchRule, Option<Vec<u32>>)> {
        if self.rate.is_none() {
            return vec![(self.rule, chosen)];
        }
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for pattern in chosen.unwrap_or_else(|| (0..to_u32(patterns.len())).collect()) {
            let rule = self.rule_of(patterns[pattern as usize].len());
            groups.entry(rule.max_edits).or_default().push(pattern);
        }
        let rule = |max_edits| MatchRule { max_edits, ..self.rule };
        groups.into_iter().map(|(edits, some)| (rule(edits), Some(some))).collect()
    }
}
