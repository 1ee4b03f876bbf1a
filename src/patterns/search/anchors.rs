//! Anchors: the edges of hits at which edits are compared.
//!
//! The anchor of a hit is its last base, where a scan finds it. If a PAM precedes the hit, the anchor is its first
//! base. Anchor positions are 1-based: the anchor at an end equals the exclusive end, and the anchor at a start is the
//! 0-based start plus one.
//!
//! A hit with its anchor at its start is a hit of the reversed pattern in the reversed text. `D'(s)`, the minimum
//! number of edits of the pattern in any stretch of the text that begins after `s` bases, is `D(m, n - s)` of the
//! reversed pattern and text. If it is at most `k`, a stretch from `s` to some `e` has the same number of edits, so
//! `D(m,e) <= k` too: `e` is an end, and `s` is within the span of a hit before it. So the ends of a scan lead to all
//! starts: for each end, every base at which a hit may begin is tried, once each, and edits are counted only if a PAM
//! precedes it.

use super::align::{self, Aligned, PatternCells, PatternPath};
use super::hits::HitOptions;
use super::limits;
use super::pam::Pam;
use super::stream::TextEnd;
use crate::terms::alignment::Strand;
use crate::terms::casts::to_u32;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Positions that a thread tries per task.
const RUN: usize = 64;

/// For each pattern, the first start of a text that was not tried yet.
pub type Tried = BTreeMap<u32, usize>;

impl HitOptions {
    /// The strand that the oriented pattern with this index searches.
    pub fn strand(&self, pattern: u32) -> Strand {
        self.strands.of_number(pattern)
    }

    /// The indices of a pattern's orientations.
    pub(super) fn oriented(&self, pattern: u32) -> Range<u32> {
        pattern * self.strands.count()..(pattern + 1) * self.strands.count()
    }

    /// Whether the oriented pattern with this index has its anchors at starts.
    pub fn anchors_at_starts(&self, pattern: u32) -> bool {
        self.pam.as_ref().is_some_and(|pam| !pam.is_behind(self.strand(pattern)))
    }

    /// Maximum number of text bases that a hit of a pattern of `len` bases spans. With limits on single kinds of edits,
    /// the minimum number of edits may exceed the length of the pattern.
    pub fn span_of(&self, len: usize) -> usize {
        match self.limits {
            Some(_) if self.rule.indels => len + self.rule_of(len).max_edits as usize,
            _ => self.rule_of(len).span_of(len),
        }
    }

    /// Sets `before` for patterns of these lengths.
    pub fn reaching(self, lengths: impl Iterator<Item = usize>) -> HitOptions {
        let before = lengths.map(|len| self.span_of(len)).max().unwrap_or(0).saturating_sub(1);
        HitOptions { before, ..self }
    }

    /// The anchors that these ends lead to, sorted by pattern and end, in the next part of a text.
    pub(super) fn anchors(
        &self,
        patterns: &[Vec<u8>],
        text: &[u8],
        ends: &[TextEnd],
        tried: &mut Tried,
    ) -> Vec<TextEnd> {
        let mut anchors = Vec::new();
        for ends in ends.chunk_by(|a, b| a.pattern == b.pattern) {
            let place = ends[0].pattern;
            let pattern = &patterns[place as usize];
            let sought = StrandPattern { wanted: self, pattern, strand: self.strand(place), text };
            match &self.pam {
                Some(pam) if self.anchors_at_starts(place) => {
                    anchors.extend(sought.starts(pam, ends, tried.entry(place).or_default()));
                }
                _ => anchors.extend(sought.ends(ends)),
            }
        }
        anchors
    }

    /// Anchors of a text with their edits within the limits of single kinds; anchors with too many edits are left out.
    pub(super) fn within_limits(
        &self,
        patterns: &[Vec<u8>],
        text: &[u8],
        anchors: Vec<TextEnd>,
    ) -> Vec<TextEnd> {
        if self.limits.is_none() {
            return anchors;
        }
        let limited = |cells: &mut PatternCells, anchor: &TextEnd| {
            let pattern = &patterns[anchor.pattern as usize];
            let edits = if self.anchors_at_starts(anchor.pattern) {
                let Turned { pattern, text } = Turned::new(self, pattern, text, anchor.end - 1);
                self.edits(cells, &pattern, &text, text.len(), anchor.edits)?
            } else {
                self.edits(cells, pattern, text, anchor.end, anchor.edits)?
            };
            Some(TextEnd { edits, ..*anchor })
        };
        anchors.par_iter().with_min_len(RUN).map_init(PatternCells::default, limited).flatten_iter().collect()
    }

    /// Interval and path of the hit with its anchor at this position of `text`.
    pub(super) fn aligned(
        &self,
        cells: &mut PatternCells,
        (place, pattern): (u32, &[u8]),
        text: &[u8],
        (anchor, edits): (usize, u32),
    ) -> Option<(Range<usize>, PatternPath)> {
        if !self.anchors_at_starts(place) {
            let Aligned { start, path } = self.path(cells, pattern, text, anchor, edits)?;
            return Some((start..anchor, path));
        }
        let start = anchor.checked_sub(1)?;
        let turned = Turned::new(self, pattern, text, start);
        let Aligned { start: behind, mut path } =
            self.path(cells, &turned.pattern, &turned.text, turned.text.len(), edits)?;
        path.reverse();
        Some((start..start + turned.text.len() - behind, path))
    }

    /// The path at an end.
    fn path(
        &self,
        cells: &mut PatternCells,
        pattern: &[u8],
        text: &[u8],
        end: usize,
        edits: u32,
    ) -> Option<Aligned> {
        match &self.limits {
            Some(limits) => {
                limits::align(pattern, text, end, (edits, edits), limits).map(|(_, aligned)| aligned)
            }
            None if self.rule.indels => align::align_in(cells, pattern, text, end, edits),
            None => align::replaced(pattern, text, end),
        }
    }

    /// Number of edits of an end that has at least `least`; `None` if there are too many.
    fn edits(
        &self,
        cells: &mut PatternCells,
        pattern: &[u8],
        text: &[u8],
        end: usize,
        least: u32,
    ) -> Option<u32> {
        let rule = self.rule_of(pattern.len());
        let most = rule.max_edits;
        match &self.limits {
            Some(limits) => limits::align(pattern, text, end, (least, most), limits).map(|(edits, _)| edits),
            None if self.rule.indels => {
                align::fewest_in(cells, pattern, text, end, to_u32(rule.edits_of(pattern.len())))
            }
            None => align::replaced(pattern, text, end).map(|aligned| align::edits(&aligned.path)),
        }
        .filter(|&edits| edits <= most)
    }
}

/// A pattern of one strand whose anchors are searched for.
struct StrandPattern<'a> {
    wanted: &'a HitOptions,
    pattern: &'a [u8],
    strand: Strand,
    text: &'a [u8],
}

impl StrandPattern<'_> {
    /// The given ends that are followed by a PAM, if one is required, with their edits within the limits.
    fn ends(&self, ends: &[TextEnd]) -> Vec<TextEnd> {
        let anchor = |cells: &mut PatternCells, end: &TextEnd| {
            let HitOptions { pam, limits, .. } = self.wanted;
            if pam.as_ref().is_some_and(|pam| !pam.passes(self.strand, self.text, end.end)) {
                return None;
            }
            if limits.is_none() {
                return Some(*end);
            }
            let edits = self.wanted.edits(cells, self.pattern, self.text, end.end, end.edits)?;
            Some(TextEnd { edits, ..*end })
        };
        ends.par_iter().with_min_len(RUN).map_init(PatternCells::default, anchor).flatten_iter().collect()
    }

    /// The starts after a PAM that these ends lead to; `tried` is the first start not tried yet.
    fn starts(&self, pam: &Pam, ends: &[TextEnd], tried: &mut usize) -> Vec<TextEnd> {
        let len = self.pattern.len();
        let (longest, shortest) = (self.wanted.span_of(len), self.wanted.rule_of(len).least_end(len));
        let mut fresh = |end: &TextEnd| {
            let from = end.end.saturating_sub(longest).max(*tried);
            let to = (end.end + 1).saturating_sub(shortest);
            *tried = to.max(*tried);
            from..to
        };
        let stretches: Vec<(TextEnd, Range<usize>)> = ends.iter().map(|end| (*end, fresh(end))).collect();
        let anchor = |cells: &mut PatternCells, (end, starts): &(TextEnd, Range<usize>)| -> Vec<TextEnd> {
            let with_pam = starts.clone().filter(|&start| pam.passes(self.strand, self.text, start));
            let anchor = |start: usize| {
                let turned = Turned::new(self.wanted, self.pattern, self.text, start);
                let Turned { pattern, text } = &turned;
                let edits = self.wanted.edits(cells, pattern, text, text.len(), 0)?;
                Some(TextEnd { end: start + 1, edits, ..*end })
            };
            with_pam.filter_map(anchor).collect()
        };
        stretches
            .par_iter()
            .with_min_len(RUN)
            .map_init(PatternCells::default, anchor)
            .flatten_iter()
            .collect()
    }
}

/// A reversed pattern, and the reversed bases that its hit from a start may span.
struct Turned {
    pattern: Vec<u8>,
    text: Vec<u8>,
}

impl Turned {
    fn new(wanted: &HitOptions, pattern: &[u8], text: &[u8], start: usize) -> Turned {
        let to = text.len().min(start + wanted.span_of(pattern.len()));
        let turned = |codes: &[u8]| codes.iter().rev().copied().collect();
        Turned { pattern: turned(pattern), text: turned(&text[start.min(to)..to]) }
    }
}
