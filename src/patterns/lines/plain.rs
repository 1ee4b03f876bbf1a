//! The specification: the recurrence of Sellers (1980), cell by cell, line by line.

use super::NEWLINE;
use super::pattern::{ByteClass, GrepPattern};
use super::select::Span;
use crate::patterns::search::MatchRule;

/// The lines of `text` that match at least one of the patterns, without their newlines.
pub fn lines(text: &[u8], patterns: &[GrepPattern], rule: &MatchRule) -> Vec<Span> {
    let mut lines = Vec::new();
    let mut begin = 0;
    for line in text.split_inclusive(|&byte| byte == NEWLINE) {
        let letters = line.strip_suffix(&[NEWLINE]).unwrap_or(line);
        if patterns.iter().any(|pattern| matches(letters, &pattern.classes, rule)) {
            lines.push(Span { start: begin, end: begin + letters.len() });
        }
        begin += line.len();
    }
    lines
}

/// Whether some substring of `line` is within the allowed edits of the pattern.
pub fn matches(line: &[u8], pattern: &[ByteClass], rule: &MatchRule) -> bool {
    let most = rule.max_edits as usize;
    if !rule.indels {
        let misses =
            |letters: &[u8]| letters.iter().zip(pattern).filter(|(byte, class)| !class.has(**byte)).count();
        return pattern.is_empty() || line.windows(pattern.len()).any(|letters| misses(letters) <= most);
    }
    // D(i,0) = i; the other columns follow from left to right.
    let mut column: Vec<usize> = (0..=pattern.len()).collect();
    let mut found = column[pattern.len()] <= most;
    for &byte in line {
        let mut before = column[0];
        for (i, class) in (1..).zip(pattern) {
            let replaced = before + usize::from(!class.has(byte));
            before = column[i];
            column[i] = replaced.min(column[i] + 1).min(column[i - 1] + 1);
        }
        found |= column[pattern.len()] <= most;
    }
    found
}
