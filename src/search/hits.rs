//! Which ends are reported, as which hits.
//!
//! Ends of one pattern on one strand of one text that stand side by side form a cluster. Of a cluster the
//! end with the fewest edits is reported, of several the leftmost; or all ends are. A hit is an end with the
//! path of [`super::align`]. Hits of a text are ordered by start, end, pattern, and strand.
//!
//! A long text comes in parts. What can't change any more is given out at the end of each: not the cluster
//! that touches the end, unless it has an end without edits, and nothing that a hit of a later part might
//! stand before.

use super::Rule;
use super::align::{self, Aligned, Path};
use super::limits::{self, Limits};
use super::stream::TextEnd;
use crate::alignment::Strand;
use crate::error::EngineError;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::mem;

/// Hits that a thread aligns in one go.
const RUN: usize = 64;

/// An occurrence of a pattern. The order of the fields is the order of hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Letters of the text before the hit, and before its end.
    pub start: usize,
    pub end: usize,
    /// Place of the pattern among all.
    pub pattern: u32,
    pub strand: Strand,
    pub edits: u32,
    /// In the order of the text, whatever the strand.
    pub path: Path,
}

impl Hit {
    fn order(&self) -> (usize, usize, u32, Strand) {
        (self.start, self.end, self.pattern, self.strand)
    }
}

/// What is asked of the hits of a text.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub rule: Rule,
    pub limits: Option<Limits>,
    /// All ends, and not one of each cluster.
    pub every_end: bool,
    /// Only hits with the fewest edits in the text.
    pub best: bool,
    /// Only the first of them.
    pub first: bool,
    /// Orientations of each pattern: with two, the reverse complement stands behind the pattern.
    pub strands: u32,
    /// Letters before an end that a hit may reach over, but for its last.
    pub before: usize,
}

/// The hits of one text, part by part.
#[derive(Clone, Debug, Default)]
pub struct Gatherer {
    /// The clusters that may go on, by pattern.
    open: BTreeMap<u32, Cluster>,
    /// Hits that may not be given out yet.
    waiting: Vec<Hit>,
    /// So many were given out.
    given: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cluster {
    last: usize,
    end: usize,
    edits: u32,
    /// Its hit is among the waiting or given ones already.
    taken: bool,
}

impl Gatherer {
    /// Hits given out so far.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// Whether no further hit will be given out.
    pub fn is_done(&self, wanted: &Wanted) -> bool {
        wanted.first && self.given > 0
    }

    /// Takes the ends of a part of a text, by pattern and end, and gives out hits. The part ends before
    /// `to`, and the text with its last part.
    pub fn take(
        &mut self,
        wanted: &Wanted,
        patterns: &[Vec<u8>],
        text: &[u8],
        ends: &[TextEnd],
        to: usize,
    ) -> Result<Vec<Hit>, EngineError> {
        if self.is_done(wanted) {
            return Ok(Vec::new());
        }
        let whole = to == text.len();
        let limited = wanted.limits.as_ref().map(|limits| within(wanted, limits, patterns, text, ends));
        let ends = limited.as_deref().unwrap_or(ends);
        let chosen = if wanted.every_end { ends.to_vec() } else { self.choose(ends, to, whole) };
        let hit = |end: &TextEnd| wanted.hit(patterns, text, end);
        let hits: Vec<Hit> =
            chosen.par_iter().with_min_len(RUN).map(hit).collect::<Result<_, EngineError>>()?;
        self.waiting.extend(hits);
        if wanted.best {
            let fewest = self.waiting.iter().map(|hit| hit.edits).min();
            self.waiting.retain(|hit| Some(hit.edits) == fewest);
        }
        self.waiting.par_sort_unstable_by_key(Hit::order);
        let mut out = if whole {
            mem::take(&mut self.waiting)
        } else if wanted.best {
            Vec::new()
        } else {
            let open = self.open.values().filter(|cluster| !cluster.taken).map(|cluster| cluster.end);
            let earliest = open.min().unwrap_or(to + 1).min(to + 1);
            let behind =
                self.waiting.iter().take_while(|hit| hit.start + wanted.before + 1 < earliest).count();
            let rest = self.waiting.split_off(behind);
            mem::replace(&mut self.waiting, rest)
        };
        if wanted.first {
            out.truncate(1);
        }
        self.given += out.len() as u64;
        Ok(out)
    }

    /// One end of each cluster that is at its end.
    fn choose(&mut self, ends: &[TextEnd], to: usize, whole: bool) -> Vec<TextEnd> {
        let mut chosen = Vec::new();
        let mut before = mem::take(&mut self.open);
        let text = ends.first().map_or(0, |end| end.text);
        for ends in ends.chunk_by(|a, b| a.pattern == b.pattern) {
            let pattern = ends[0].pattern;
            let mut take = |cluster: &Cluster| {
                if !cluster.taken {
                    chosen.push(TextEnd { text, pattern, end: cluster.end, edits: cluster.edits });
                }
            };
            let mut current: Option<Cluster> = before.remove(&pattern);
            for found in ends {
                match &mut current {
                    Some(cluster) if cluster.last + 1 == found.end => {
                        cluster.last = found.end;
                        if found.edits < cluster.edits {
                            (cluster.end, cluster.edits) = (found.end, found.edits);
                        }
                    }
                    _ => {
                        current.iter().for_each(&mut take);
                        let (end, edits) = (found.end, found.edits);
                        current = Some(Cluster { last: end, end, edits, taken: false });
                    }
                }
            }
            let Some(mut cluster) = current else { continue };
            let ended = whole || cluster.last < to;
            if ended || cluster.edits == 0 {
                take(&cluster);
                cluster.taken = true;
            }
            if !ended {
                self.open.insert(pattern, cluster);
            }
        }
        for (pattern, cluster) in before {
            if !cluster.taken {
                chosen.push(TextEnd { text, pattern, end: cluster.end, edits: cluster.edits });
            }
        }
        chosen
    }
}

impl Wanted {
    /// Patterns without their orientation.
    fn hit(&self, patterns: &[Vec<u8>], text: &[u8], end: &TextEnd) -> Result<Hit, EngineError> {
        let classes = &patterns[end.pattern as usize];
        let aligned = match &self.limits {
            Some(limits) => {
                limits::align(classes, text, end.end, (end.edits, end.edits), limits).map(|found| found.1)
            }
            None if self.rule.indels => align::align(classes, text, end.end, end.edits),
            None => align::replaced(classes, text, end.end),
        };
        let Some(Aligned { start, path }) = aligned.filter(|found| align::edits(&found.path) == end.edits)
        else {
            let text = format!("there is no hit with {} edits that ends at {}", end.edits, end.end);
            return Err(EngineError::Wrong(text));
        };
        let forward = end.pattern.is_multiple_of(self.strands);
        let strand = if forward { Strand::Forward } else { Strand::Reverse };
        Ok(Hit { start, end: end.end, pattern: end.pattern / self.strands, strand, edits: end.edits, path })
    }
}

/// The ends that have a path within the limits, with its edits.
fn within(
    wanted: &Wanted,
    limits: &Limits,
    patterns: &[Vec<u8>],
    text: &[u8],
    ends: &[TextEnd],
) -> Vec<TextEnd> {
    let edits = |end: &TextEnd| {
        let classes = &patterns[end.pattern as usize];
        let most = wanted.rule.max_edits;
        let (edits, _) = limits::align(classes, text, end.end, (end.edits, most), limits)?;
        Some(TextEnd { edits, ..*end })
    };
    ends.par_iter().with_min_len(RUN).filter_map(edits).collect()
}
