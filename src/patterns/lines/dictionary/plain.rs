//! The specification: tests every word at every position.

use super::Occurrence;
use super::words::GivenWords;
use crate::patterns::lines::select::{self, Span};
use crate::terms::options::OccurrenceRule;

/// All occurrences that count, sorted by position and word.
pub fn occurrences(text: &[u8], words: &GivenWords, rule: &OccurrenceRule) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for line in select::every(text) {
        let own = in_line(&text[line.start..line.end], words, rule);
        found.extend(own.into_iter().map(|Occurrence { start, end, word }| Occurrence {
            start: line.start + start,
            end: line.start + end,
            word,
        }));
    }
    found
}

/// The occurrences in one line.
fn in_line(line: &[u8], words: &GivenWords, rule: &OccurrenceRule) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for start in 0..=line.len() {
        for (word, own) in (0..).zip(words.iter()) {
            let end = start + own.len();
            let has = line.get(start..end).is_some_and(|stretch| are_equal(stretch, own, rule));
            if has && rule.allows(line, start, end) {
                found.push(Occurrence { start, end, word });
            }
        }
    }
    found.sort_unstable();
    found
}

/// The lines in which some word occurs, without their newlines.
pub fn lines(text: &[u8], words: &GivenWords, rule: &OccurrenceRule) -> Vec<Span> {
    let has = |line: &Span| !in_line(&text[line.start..line.end], words, rule).is_empty();
    select::every(text).into_iter().filter(has).collect()
}

/// The matches that `-o` shows, leftmost-longest.
pub fn stretches(text: &[u8], words: &GivenWords, rule: &OccurrenceRule) -> Vec<Span> {
    let mut stretches: Vec<Span> = Vec::new();
    for Occurrence { start, end, .. } in occurrences(text, words, rule) {
        match stretches.last_mut() {
            _ if start == end => {}
            Some(last) if start == last.start => last.end = end,
            Some(last) if start < last.end => {}
            _ => stretches.push(Span { start, end }),
        }
    }
    stretches
}

/// Number of occurrences of each word.
pub fn numbers(text: &[u8], words: &GivenWords, rule: &OccurrenceRule) -> Vec<u64> {
    let mut numbers = vec![0; words.len()];
    occurrences(text, words, rule).iter().for_each(|one| numbers[one.word as usize] += 1);
    numbers
}

fn are_equal(stretch: &[u8], word: &[u8], rule: &OccurrenceRule) -> bool {
    if rule.any_case { stretch.eq_ignore_ascii_case(word) } else { stretch == word }
}
