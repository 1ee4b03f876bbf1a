//! Amplicons: pairs of primer hits that face each other.
//!
//! A *site* is the interval of a hit. A site on the forward strand and a site on the reverse strand of one text face
//! each other if the forward site neither begins nor ends after the reverse site. Both sites and the bases between them
//! form an amplicon: it begins where the forward site begins, ends where the reverse site ends, and its length must be
//! in the requested range. `pairs` defines which two patterns form a pair.
//!
//! Amplicons of a text are ordered by start, end, index of the forward primer's pattern, index of the reverse primer's
//! pattern, end of the forward site, and start of the reverse site.
//!
//! # Joining
//!
//! Hits come ordered by start. A forward site waits until no further reverse site can be within reach, and is then
//! joined with the stored reverse sites. Reverse sites are stored in lanes, one per class of equivalent patterns, in
//! the order of amplicons. So the amplicons of a start are a merge of ranges of lanes, reported one by one. Memory
//! holds the sites within the maximum length, and for the forward sites of one start a cursor for each lane that they
//! join.

mod mates;
mod pairs;

pub use mates::{MatePart, MateParts, MateSites, parts};
pub use pairs::{NamedPair, NoPair, PatternPairs};

use super::hits::PatternHit;
use crate::terms::alignment::Strand;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque, btree_set};
use std::mem;
use std::ops::{Range, RangeInclusive};

/// If the lanes hold fewer sites than this, sites out of reach are not removed.
const LEAST_HELD: usize = 1 << 10;

/// Interval of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// 0-based, half-open interval in the text.
    pub start: usize,
    pub end: usize,
    /// Index of the pattern.
    pub pattern: u32,
    pub edits: u32,
}

/// An interval of a text between two sites that face each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmpliconSpan {
    /// On the forward strand; the amplicon starts at its start.
    pub forward: Site,
    /// On the reverse strand; the amplicon ends at its end.
    pub reverse: Site,
    /// Index of the pair, if pairs have names.
    pub pair: Option<u32>,
    /// Forward if the forward site is the pair's first primer.
    pub strand: Strand,
}

/// Joins the hits of a text into amplicons; reusable for further texts.
#[derive(Debug)]
pub struct Joiner<'a> {
    pairs: &'a PatternPairs,
    lengths: RangeInclusive<usize>,
    /// Forward sites that wait for reverse sites, by start.
    waiting: VecDeque<Site>,
    /// Reverse sites, lane by lane.
    lanes: Vec<BTreeSet<ReverseSite>>,
    /// Lanes that have sites.
    used: Vec<u32>,
    /// Number of sites in all lanes, now and after the last removal of sites out of reach.
    held: usize,
    after_sweep: usize,
    /// Number of amplicons of the text so far.
    given: u64,
    /// Length of the text in bases if it is circular.
    circle: Option<usize>,
    /// Reverse sites at the start of a circular text, which forward sites at its end join across the origin.
    across: Vec<Site>,
}

/// A reverse site in a lane. The field order is the order of the amplicons of one forward site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ReverseSite {
    end: usize,
    pattern: u32,
    start: usize,
    edits: u32,
}

/// Role of a forward-strand pattern in a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Role {
    pair: Option<u32>,
    strand: Strand,
    /// Lane with the reverse sites of its partner.
    lane: u32,
}

/// A forward site and its current position in a lane.
struct Cursor<'a> {
    forward: Site,
    role: Role,
    rest: btree_set::Range<'a, ReverseSite>,
    current: Option<AmpliconSpan>,
}

impl Role {
    /// The strand of an amplicon between these patterns.
    fn strand_of(&self, forward: u32, reverse: u32) -> Strand {
        match self.pair {
            None if reverse < forward => Strand::Reverse,
            _ => self.strand,
        }
    }
}

impl Site {
    fn of(hit: &PatternHit) -> Site {
        Site { start: hit.start, end: hit.end, pattern: hit.pattern, edits: hit.edits }
    }
}

impl AmpliconSpan {
    pub fn start(&self) -> usize {
        self.forward.start
    }

    pub fn end(&self) -> usize {
        self.reverse.end
    }

    /// Length in bases, including both sites.
    pub fn letters(&self) -> usize {
        self.end() - self.start()
    }

    /// Interval in the text, including both sites.
    pub fn places(&self) -> Range<usize> {
        self.start()..self.end()
    }

    /// Interval between the two sites; empty if they overlap.
    pub fn without_primers(&self) -> Range<usize> {
        self.forward.end..self.reverse.start.max(self.forward.end)
    }

    /// The order of a text's amplicons.
    fn order(&self) -> [usize; 7] {
        let AmpliconSpan { forward, reverse, pair, .. } = self;
        let primers = [forward.pattern, reverse.pattern, pair.unwrap_or(0)].map(|place| place as usize);
        let [first, second, pair] = primers;
        [forward.start, reverse.end, first, second, forward.end, reverse.start, pair]
    }
}

impl<'a> Joiner<'a> {
    /// `lengths` is the range of amplicon lengths.
    pub fn new(pairs: &'a PatternPairs, lengths: RangeInclusive<usize>) -> Joiner<'a> {
        let lanes = vec![BTreeSet::new(); pairs.lanes()];
        Joiner {
            pairs,
            lengths,
            waiting: VecDeque::new(),
            lanes,
            used: Vec::new(),
            held: 0,
            after_sweep: 0,
            given: 0,
            circle: None,
            across: Vec::new(),
        }
    }

    /// Sets the length in bases of a circular text, or `None` for a linear one, before its first hit. Amplicons of a
    /// circular text may span the origin, and are at most as long as the text.
    pub fn set_circle(&mut self, letters: Option<usize>) {
        self.circle = letters;
    }

    /// Maximum length of an amplicon in this text.
    fn most(&self) -> usize {
        self.circle.map_or(*self.lengths.end(), |letters| letters.min(*self.lengths.end()))
    }

    /// Adds the next hit of the text in order of starts, and reports the amplicons that no later hit can precede.
    pub fn put<E>(
        &mut self,
        hit: &PatternHit,
        give: &mut impl FnMut(&AmpliconSpan) -> Result<(), E>,
    ) -> Result<(), E> {
        let site = Site::of(hit);
        self.give_out_before(site.start, give)?;
        match hit.strand {
            Strand::Forward if self.pairs.roles(site.pattern).is_empty() => {}
            Strand::Reverse => {
                self.hold(&site);
                if self.circle.is_some() && site.start < self.most() {
                    self.across.push(site);
                }
            }
            _ => self.waiting.push_back(site),
        }
        Ok(())
    }

    /// Reports the amplicons of forward sites that no reverse site from `start` on can join.
    fn give_out_before<E>(
        &mut self,
        start: usize,
        give: &mut impl FnMut(&AmpliconSpan) -> Result<(), E>,
    ) -> Result<(), E> {
        let most = self.most();
        self.give_out(|site| site.start.saturating_add(most) < start, give)
    }

    /// Reports the remaining amplicons of a text after its last hit, and returns the number of all of its amplicons.
    /// The next hit is one of the next text.
    pub fn finish<E>(&mut self, give: &mut impl FnMut(&AmpliconSpan) -> Result<(), E>) -> Result<u64, E> {
        let letters = self.circle.unwrap_or(0);
        for site in mem::take(&mut self.across) {
            let site = Site { start: site.start + letters, end: site.end + letters, ..site };
            self.give_out_before(site.start, give)?;
            self.hold(&site);
        }
        self.give_out(|_| true, give)?;
        self.used.drain(..).for_each(|lane| self.lanes[lane as usize].clear());
        (self.held, self.after_sweep, self.circle) = (0, 0, None);
        Ok(mem::take(&mut self.given))
    }

    /// Puts a reverse site into its lane.
    fn hold(&mut self, site: &Site) {
        let Some(lane) = self.pairs.lane(site.pattern) else { return };
        if self.held > LEAST_HELD.max(2 * self.after_sweep) {
            self.sweep(self.waiting.front().map_or(site.start, |first| first.start));
        }
        let Site { start, end, pattern, edits } = *site;
        let sites = &mut self.lanes[lane as usize];
        if sites.is_empty() {
            self.used.push(lane);
        }
        self.held += usize::from(sites.insert(ReverseSite { end, pattern, start, edits }));
    }

    /// Removes the sites that start before every site that could join them.
    fn sweep(&mut self, earliest: usize) {
        let lanes = &mut self.lanes;
        self.held = 0;
        self.used.retain(|&lane| {
            let sites = &mut lanes[lane as usize];
            sites.retain(|site| site.start >= earliest);
            self.held += sites.len();
            !sites.is_empty()
        });
        self.after_sweep = self.held;
    }

    /// Reports the amplicons of the first forward sites, as long as `is_sure` says that all their reverse sites are
    /// stored.
    fn give_out<E>(
        &mut self,
        is_sure: impl Fn(&Site) -> bool,
        give: &mut impl FnMut(&AmpliconSpan) -> Result<(), E>,
    ) -> Result<(), E> {
        let lengths = *self.lengths.start()..=self.most();
        while let Some(first) = self.waiting.front().copied().filter(&is_sure) {
            let count = self.waiting.iter().take_while(|site| site.start == first.start).count();
            let sites: Vec<Site> = self.waiting.drain(..count).collect();
            self.given += meet(self.pairs, &self.lanes, &lengths, &sites, give)?;
        }
        Ok(())
    }
}

/// Reports the amplicons of forward sites with the same start, in order, and returns their number.
fn meet<E>(
    pairs: &PatternPairs,
    lanes: &[BTreeSet<ReverseSite>],
    lengths: &RangeInclusive<usize>,
    sites: &[Site],
    give: &mut impl FnMut(&AmpliconSpan) -> Result<(), E>,
) -> Result<u64, E> {
    let mut cursors: Vec<Cursor> = Vec::new();
    for forward in sites {
        let end = |length: &usize| forward.start.saturating_add(*length);
        let from = ReverseSite::first(end(lengths.start()).max(forward.end));
        let to = ReverseSite::last(end(lengths.end()));
        if from > to {
            continue;
        }
        for role in pairs.roles(forward.pattern) {
            let rest = lanes[role.lane as usize].range(from..=to);
            cursors.push(Cursor { forward: *forward, role: *role, rest, current: None });
        }
    }
    let mut next: BinaryHeap<_> = BinaryHeap::with_capacity(cursors.len());
    let enter = |next: &mut BinaryHeap<_>, place: usize, cursor: &mut Cursor| {
        cursor.current = cursor.step();
        next.extend(cursor.current.map(|amplicon| Reverse((amplicon.order(), place))));
    };
    cursors.iter_mut().enumerate().for_each(|(place, cursor)| enter(&mut next, place, cursor));
    let mut given = 0;
    while let Some(Reverse((_, place))) = next.pop() {
        let cursor = &mut cursors[place];
        if let Some(amplicon) = &cursor.current {
            give(amplicon)?;
            given += 1;
        }
        enter(&mut next, place, cursor);
    }
    Ok(given)
}

impl Cursor<'_> {
    fn step(&mut self) -> Option<AmpliconSpan> {
        let forward = self.forward;
        let held = self.rest.find(|held| held.start >= forward.start)?;
        let reverse = Site { start: held.start, end: held.end, pattern: held.pattern, edits: held.edits };
        let strand = self.role.strand_of(forward.pattern, reverse.pattern);
        Some(AmpliconSpan { forward, reverse, pair: self.role.pair, strand })
    }
}

impl ReverseSite {
    fn first(end: usize) -> ReverseSite {
        ReverseSite { end, pattern: 0, start: 0, edits: 0 }
    }

    fn last(end: usize) -> ReverseSite {
        ReverseSite { end, pattern: u32::MAX, start: usize::MAX, edits: u32::MAX }
    }
}

#[cfg(test)]
mod tests;
