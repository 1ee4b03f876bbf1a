//! Which ends are reported, as which hits.
//!
//! Ends of one pattern on one strand of one text that stand side by side form a cluster. Of a cluster the
//! end with the fewest edits is reported, of several the leftmost; or all ends are. A hit is an end with the
//! path of [`super::align`]. Hits of a text are ordered by start, end, pattern, and strand. With a PAM, ends stand for
//! anchors ([`super::anchors`]), and of starts with equal edits the rightmost is reported: what reading backwards does.
//!
//! A long text comes in parts. What can't change any more is given out at the end of each: not the cluster
//! that touches the end, unless it has an end without edits, and nothing that a hit of a later part might
//! stand before. Ends are a few bytes and paths many, so hits are aligned in the order of their ends, portion by
//! portion, and not before they can be given out.

use super::Rule;
use super::align::{self, Cells, Path};
use super::anchors::Tried;
use super::limits::Limits;
use super::pam::Pam;
use super::rates::Rate;
use super::stream::TextEnd;
use crate::alignment::Strand;
use crate::error::EngineError;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem;

/// Hits that a thread aligns in one go, where patterns are short.
const RUN: usize = 64;
/// Letters of the patterns of the hits that are aligned before any of them is given out: they bound what paths take.
pub const PORTION: usize = 1 << 22;
/// What a hit counts beside the letters of its pattern.
const OF_HIT: usize = 32;

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
    /// Of a rate, with the edits of the longest pattern.
    pub rule: Rule,
    /// Edits by the length of each pattern.
    pub rate: Option<Rate>,
    pub limits: Option<Limits>,
    pub pam: Option<Pam>,
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

/// The hits of one text, part by part: [`Gatherer::put`] takes the ends of a part, and [`Gatherer::next`] gives the
/// hits out, portion by portion.
#[derive(Clone, Debug, Default)]
pub struct Gatherer {
    /// The starts that were tried where PAMs lie in front.
    tried: Tried,
    /// The clusters that may go on, by pattern.
    open: BTreeMap<u32, Cluster>,
    /// Ends whose hits can't be given out before others that are not known yet.
    pending: Vec<Chosen>,
    /// Ends whose hits come next, the last one first.
    ready: Vec<Chosen>,
    /// Hits that may not be given out yet.
    waiting: Vec<Hit>,
    /// No end before this one will be chosen any more.
    until: usize,
    /// So many were given out.
    given: u64,
}

/// An end that is reported: an anchor.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    end: usize,
    pattern: u32,
    edits: u32,
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

    /// Takes the ends of a part of a text, by pattern and end, and gives out all hits that it can.
    pub fn take(
        &mut self,
        wanted: &Wanted,
        patterns: &[Vec<u8>],
        text: &[u8],
        ends: &[TextEnd],
        to: usize,
    ) -> Result<Vec<Hit>, EngineError> {
        self.put(wanted, patterns, text, ends, to);
        let mut all = Vec::new();
        loop {
            let hits = self.next(wanted, patterns, text)?;
            if hits.is_empty() {
                return Ok(all);
            }
            all.extend(hits);
        }
    }

    /// Takes the ends of a part of a text, by pattern and end. The part ends before `to`, and the text with its
    /// last part. What the part before could give out was taken.
    pub fn put(&mut self, wanted: &Wanted, patterns: &[Vec<u8>], text: &[u8], ends: &[TextEnd], to: usize) {
        if self.is_done(wanted) {
            return;
        }
        let asks = wanted.limits.is_some() || wanted.pam.is_some();
        let anchors = asks.then(|| wanted.anchors(patterns, text, ends, &mut self.tried));
        self.put_anchors(wanted, text, anchors.as_deref().unwrap_or(ends), to);
    }

    /// The same with the anchors of a part ([`super::sites`]), those at places up to `to`. The parts of a text are all of
    /// ends or all of anchors.
    pub fn put_anchors(&mut self, wanted: &Wanted, text: &[u8], ends: &[TextEnd], to: usize) {
        if self.is_done(wanted) {
            return;
        }
        let whole = to == text.len();
        if wanted.every_end {
            self.pending.extend(ends.iter().map(Chosen::of));
        } else {
            let until = if whole { usize::MAX } else { to };
            self.choose(wanted, ends, until);
        }
        if wanted.best {
            let fewest = self.pending.iter().map(|end| end.edits).min();
            self.pending.retain(|end| Some(end.edits) == fewest);
        }
        self.until = if whole {
            usize::MAX
        } else if wanted.best {
            0
        } else {
            let open = self.open.values().filter(|cluster| !cluster.taken).map(|cluster| cluster.end);
            // A later end tells of starts before it.
            let next = if wanted.pam.is_some() { (to + 1).saturating_sub(wanted.before) } else { to + 1 };
            open.min().unwrap_or(next).min(next)
        };
        let (ready, pending): (Vec<Chosen>, Vec<Chosen>) =
            mem::take(&mut self.pending).into_iter().partition(|end| end.end < self.until);
        self.pending = pending;
        self.ready.extend(ready);
        self.ready.par_sort_unstable_by_key(|end| Reverse((end.end, end.pattern)));
    }

    /// The next hits of the text, in order; none when no more can be given out before the next part.
    pub fn next(
        &mut self,
        wanted: &Wanted,
        patterns: &[Vec<u8>],
        text: &[u8],
    ) -> Result<Vec<Hit>, EngineError> {
        loop {
            if self.is_done(wanted) {
                return Ok(Vec::new());
            }
            let ends = self.portion(patterns);
            self.waiting.extend(wanted.hits(patterns, text, &ends)?);
            self.waiting.par_sort_unstable_by_key(Hit::order);
            // The next hit ends there or behind.
            let earliest = self.ready.last().map_or(self.until, |next| next.end.min(self.until));
            let can_come = |hit: &&Hit| earliest < usize::MAX && hit.start + wanted.before + 1 >= earliest;
            let sure = self.waiting.iter().take_while(|hit| !can_come(hit)).count();
            let rest = self.waiting.split_off(sure);
            let mut out = mem::replace(&mut self.waiting, rest);
            if wanted.first {
                out.truncate(1);
            }
            self.given += out.len() as u64;
            if ends.is_empty() || !out.is_empty() {
                return Ok(out);
            }
        }
    }

    /// The ends that are aligned next.
    fn portion(&mut self, patterns: &[Vec<u8>]) -> Vec<Chosen> {
        let mut weight = 0;
        let fits = |end: &&Chosen| {
            let fits = weight < PORTION;
            weight += OF_HIT + patterns[end.pattern as usize].len();
            fits
        };
        let count = self.ready.iter().rev().take_while(fits).count();
        self.ready.split_off(self.ready.len() - count)
    }

    /// One end of each cluster that is at its end. The ends up to `to` are known, of a text that is whole all.
    fn choose(&mut self, wanted: &Wanted, ends: &[TextEnd], to: usize) {
        let chosen = &mut self.pending;
        let mut before = mem::take(&mut self.open);
        // A start may be told by an end that is as far behind it as a hit is long.
        let ahead = |pattern: u32| if wanted.anchors_at_starts(pattern) { wanted.before } else { 0 };
        for ends in ends.chunk_by(|a, b| a.pattern == b.pattern) {
            let pattern = ends[0].pattern;
            let at_starts = wanted.anchors_at_starts(pattern);
            let mut take = |cluster: &Cluster| {
                if !cluster.taken {
                    chosen.push(Chosen { pattern, end: cluster.end, edits: cluster.edits });
                }
            };
            let mut current: Option<Cluster> = before.remove(&pattern);
            for found in ends {
                match &mut current {
                    Some(cluster) if cluster.last + 1 == found.end => {
                        cluster.last = found.end;
                        if found.edits < cluster.edits || (at_starts && found.edits == cluster.edits) {
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
            let ended = cluster.last + ahead(pattern) < to;
            if ended || (cluster.edits == 0 && !at_starts) {
                take(&cluster);
                cluster.taken = true;
            }
            if !ended {
                self.open.insert(pattern, cluster);
            }
        }
        for (pattern, cluster) in before {
            if cluster.last + ahead(pattern) >= to {
                self.open.insert(pattern, cluster);
            } else if !cluster.taken {
                chosen.push(Chosen { pattern, end: cluster.end, edits: cluster.edits });
            }
        }
    }
}

impl Chosen {
    fn of(end: &TextEnd) -> Chosen {
        Chosen { end: end.end, pattern: end.pattern, edits: end.edits }
    }
}

impl Wanted {
    /// The hits of these ends, in their order.
    fn hits(&self, patterns: &[Vec<u8>], text: &[u8], ends: &[Chosen]) -> Result<Vec<Hit>, EngineError> {
        let letters: usize = ends.iter().map(|end| OF_HIT + patterns[end.pattern as usize].len()).sum();
        let run = (RUN * RUN * ends.len() / letters.max(1)).clamp(1, RUN);
        let hit = |cells: &mut Cells, end: &Chosen| self.hit(cells, patterns, text, end);
        ends.par_iter().with_min_len(run).map_init(Cells::default, hit).collect()
    }

    /// Patterns without their orientation.
    fn hit(
        &self,
        cells: &mut Cells,
        patterns: &[Vec<u8>],
        text: &[u8],
        end: &Chosen,
    ) -> Result<Hit, EngineError> {
        let classes = &patterns[end.pattern as usize];
        let anchor = (end.end, end.edits);
        let found = self.aligned(cells, (end.pattern, classes), text, anchor);
        let Some((place, path)) = found.filter(|(_, path)| align::edits(path) == end.edits) else {
            let text = format!("there is no hit with {} edits at {}", end.edits, end.end);
            return Err(EngineError::Wrong(text));
        };
        let (pattern, strand) = (end.pattern / self.strands, self.strand(end.pattern));
        Ok(Hit { start: place.start, end: place.end, pattern, strand, edits: end.edits, path })
    }
}

/// What the ends count when hits are made of them in portions of about [`PORTION`].
pub fn weight(patterns: &[Vec<u8>], ends: &[TextEnd]) -> usize {
    ends.iter().map(|end| OF_HIT + patterns[end.pattern as usize].len()).sum()
}
