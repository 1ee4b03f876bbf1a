//! Decides which patterns can occur in which texts. A pattern that is longer than a text by more than the edits cannot
//! occur, and is not searched in it.

use super::MatchRule;
use super::batch::{SearchedText, TextBatch};
use super::stream::{Seams, Stream, TextStretch};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Patterns by the length of the shortest text in which they can occur.
pub struct Needs {
    /// Length of that text for each pattern.
    least: Vec<usize>,
    most: usize,
    classes: Vec<LengthClass>,
}

/// Patterns whose needs are within a factor of two.
struct LengthClass {
    /// The minimum of its patterns.
    least: usize,
    patterns: Vec<u32>,
}

/// Texts, and the patterns that are searched in them; `None` for all.
pub struct ScanRound<'a> {
    pub stream: Cow<'a, Stream>,
    pub patterns: Option<Vec<u32>>,
}

impl Needs {
    pub fn new(patterns: &[Vec<u8>], rule: &MatchRule) -> Needs {
        let least: Vec<usize> = patterns.iter().map(|pattern| rule.least_end(pattern.len())).collect();
        let mut classes: BTreeMap<u32, LengthClass> = BTreeMap::new();
        for (pattern, &least) in (0..).zip(&least) {
            let class = classes
                .entry(usize::BITS - least.leading_zeros())
                .or_insert_with(|| LengthClass { least, patterns: Vec::new() });
            class.least = class.least.min(least);
            class.patterns.push(pattern);
        }
        let most = least.iter().copied().max().unwrap_or(0);
        Needs { least, most, classes: classes.into_values().collect() }
    }

    /// The scans of a batch. Patterns that can occur in at least half of its bases are searched in all texts, other
    /// patterns only in the texts that are long enough.
    pub fn rounds<'a, T: SearchedText>(&self, batch: &'a TextBatch<T>, seams: &Seams) -> Vec<ScanRound<'a>> {
        let TextBatch { stream, .. } = batch;
        let long_enough = |stretch: &&TextStretch, least: usize| stretch.to >= least;
        if stream.stretches.iter().all(|stretch| long_enough(&stretch, self.most)) {
            return vec![ScanRound { stream: Cow::Borrowed(stream), patterns: None }];
        }
        let longest = stream.stretches.iter().map(|stretch| stretch.to).max().unwrap_or(0);
        let letters = batch.letters();
        let (mut everywhere, mut rounds) = (Vec::new(), Vec::new());
        for class in &self.classes {
            let fitting = || stream.stretches.iter().filter(|stretch| long_enough(stretch, class.least));
            let own: usize = fitting().map(TextStretch::own).sum();
            let patterns = class.patterns.iter().copied();
            let patterns = patterns.filter(|&pattern| self.least[pattern as usize] <= longest);
            if own == 0 {
                continue;
            } else if own * 2 >= letters {
                everywhere.extend(patterns);
                continue;
            }
            let mut some = Stream::default();
            for stretch in fitting() {
                let codes = batch.texts[stretch.text].codes();
                some.push(seams, stretch.text, codes, stretch.after..stretch.to);
            }
            rounds.push(ScanRound { stream: Cow::Owned(some), patterns: Some(patterns.collect()) });
        }
        if !everywhere.is_empty() {
            everywhere.sort_unstable();
            let patterns = (everywhere.len() < self.least.len()).then_some(everywhere);
            rounds.push(ScanRound { stream: Cow::Borrowed(stream), patterns });
        }
        rounds
    }
}
