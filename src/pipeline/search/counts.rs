//! The summary of a search: a row for each pattern.

use crate::patterns::search::hits::PatternHit;
use crate::patterns::search::pattern::SearchPattern;
use std::fmt::Write;

/// Maximum number of edits that a summary has columns for.
pub const MOST_EDITS: u32 = 64;

/// Counts of the reported hits of each pattern.
pub struct PatternCounts {
    /// Hits with each number of edits.
    by_edits: Vec<Vec<u64>>,
    /// Number of texts with a hit, and the number of the last such text, from 1.
    texts: Vec<(u64, u64)>,
}

impl PatternCounts {
    pub fn new(patterns: usize, most: u32) -> PatternCounts {
        PatternCounts { by_edits: vec![vec![0; most as usize + 1]; patterns], texts: vec![(0, 0); patterns] }
    }

    /// Counts hits of the text with this number, from 1.
    pub fn add(&mut self, text: u64, hits: &[PatternHit]) {
        for hit in hits {
            let pattern = hit.pattern as usize;
            if let Some(count) = self.by_edits[pattern].get_mut(hit.edits as usize) {
                *count += 1;
            }
            let (count, last) = &mut self.texts[pattern];
            *count += u64::from(*last != text);
            *last = text;
        }
    }

    /// The table, for `texts` texts in all.
    pub fn table(&self, patterns: &[SearchPattern], texts: u64) -> String {
        let mut table =
            "pattern\tlength\thits\tbest\tbest_hits\tunique\ttexts_with\ttexts_without".to_string();
        for edits in 0..self.by_edits.first().map_or(0, Vec::len) {
            // Writing to a string cannot fail.
            let _ = write!(table, "\tedits_{edits}");
        }
        table.push('\n');
        for ((pattern, by_edits), (found, _)) in patterns.iter().zip(&self.by_edits).zip(&self.texts) {
            let hits: u64 = by_edits.iter().sum();
            let best = by_edits.iter().position(|&count| count > 0);
            let best_hits = best.map_or(0, |best| by_edits[best]);
            let best = best.map_or("*".to_string(), |best| best.to_string());
            let unique = match best_hits {
                0 => "*",
                1 => "yes",
                _ => "no",
            };
            let (name, len, without) = (&pattern.name, pattern.letters.len(), texts - found);
            let _ = write!(table, "{name}\t{len}\t{hits}\t{best}\t{best_hits}\t{unique}\t{found}\t{without}");
            by_edits.iter().for_each(|count| {
                let _ = write!(table, "\t{count}");
            });
            table.push('\n');
        }
        table
    }
}
