//! Windows along diagonals that have enough seeds of one query segment.

use super::ambiguous::QueryShape;
use super::by_index::{ByIndex, QueryBuffers};
use super::levels::{Level, LevelGuarantee};
use super::seed_counts::{BandCount, SeedCounts};
use super::tally::{DiagonalBins, SeedTally};
use super::windows::{CandidateRegion, TargetWindow, join, push_along, push_regions, push_stretches};
use super::{FilterAnswer, FilterRequest, PairLayout};
use crate::align::candidates::kmers::{Kmers, Places};
use crate::terms::alignment::Strand;
use crate::terms::batch::{Batch, Sequences};
use crate::terms::bounds::longest_span;
use crate::terms::casts::to_i32;

/// Context for counting the seeds of one query.
struct Counting<'a> {
    targets: &'a Sequences,
    kmers: &'a Kmers,
    counts: &'a SeedCounts,
    /// [`Level::allowance`].
    allowance: i32,
    len: usize,
    span: u32,
}

impl Counting<'_> {
    /// Appends the windows of one orientation, whose seeds were looked up before.
    fn windows(&self, found: &Places, tally: &mut SeedTally, windows: &mut Vec<TargetWindow>) {
        for seeds in self.counts.segments() {
            let (narrow, wide) = self.counts.bands(seeds.len());
            let bands: Vec<BandCount> = [narrow].into_iter().chain(wide).collect();
            let letters = seeds.start * self.counts.seed()..seeds.end * self.counts.seed();
            let bins = DiagonalBins::new(self.len, self.targets.codes().len(), narrow.band);
            let listed = self.kmers.listed(found, letters.clone());
            // Adjacent bins are merged.
            let mut run: Option<((i64, i64), usize)> = None;
            let mut end = |((first, last), held): ((i64, i64), usize)| {
                let most = self.counts.most_score(seeds.len(), held).saturating_add(self.allowance);
                let bases = (letters.start, letters.end, self.len);
                push_along(windows, self.targets, (first, last), bases, (self.span, most));
            };
            tally.count(listed, (&bins, &bands), |bin, held| {
                let diagonals = bins.diagonals(bin);
                match &mut run {
                    Some(((_, last), most)) if diagonals.0 == *last + 1 => {
                        (*last, *most) = (diagonals.1, held.max(*most));
                    }
                    run => run.replace((diagonals, held)).into_iter().for_each(&mut end),
                }
            });
            run.into_iter().for_each(end);
        }
    }
}

impl ByIndex {
    /// Finds the regions for one record by counting seeds. If the windows cost more than counting shorter seeds would,
    /// counts shorter seeds.
    pub fn count(
        &self,
        (batch, layout): (&Batch, &PairLayout),
        wanted: &FilterRequest,
        work: &mut QueryBuffers,
    ) -> FilterAnswer {
        let query = QueryShape::of(batch.query(layout.query(wanted.record, Strand::Forward)));
        let len = query.len;
        let most = self.levels.most(len, wanted);
        let mut seeding = 0.0;
        let mut best: Option<(f64, Vec<CandidateRegion>)> = None;
        let mut next = Some(wanted.level);
        while let Some(level) = next {
            let limit = best.as_ref().map_or(most, |&(cells, _)| cells.min(most));
            let Some((cells, regions)) =
                self.counted((batch, layout), wanted, (&level, limit), (&mut seeding, work))
            else {
                break;
            };
            if best.as_ref().is_none_or(|&(other, _)| cells < other) {
                best = Some((cells, regions));
            }
            let finer = self.levels.counted(query, level.least, level.seed - 1);
            next = finer.filter(|finer| finer.cells(len) < cells);
        }
        match best {
            Some((cells, regions)) if cells + seeding <= most => {
                FilterAnswer::Regions { regions, held: wanted.least, spent: wanted.spent + seeding }
            }
            _ => FilterAnswer::Dear,
        }
    }

    /// Cells of a level's windows, and their regions. `None` if finding them costs more than the limit.
    fn counted(
        &self,
        (batch, layout): (&Batch, &PairLayout),
        wanted: &FilterRequest,
        (level, limit): (&Level, f64),
        (seeding, work): (&mut f64, &mut QueryBuffers),
    ) -> Option<(f64, Vec<CandidateRegion>)> {
        let LevelGuarantee::Counted(counts) = &level.known else { return None };
        let ByIndex { targets, kmers, levels, .. } = self;
        let costs = &levels.field.costs;
        let strands = || layout.orientations().iter().copied();
        let query = |strand: Strand| layout.query(wanted.record, strand);
        let len = batch.query(query(Strand::Forward)).len();
        let (mut seeds, mut looked_up) = (0, 0);
        for (strand, found) in strands().zip(&mut work.places) {
            looked_up += kmers.look_up(&self.seeds_of(batch.query(query(strand))), level.seed, found);
            seeds += len / level.seed;
        }
        let takes = seeds as f64 * costs.place + looked_up as f64 * costs.counted;
        if *seeding + takes > limit {
            return None;
        }
        *seeding += takes;
        let dense = levels.field.dense_stretches(len, level);
        let (mut columns, mut regions) = (0, Vec::new());
        for (strand, found) in strands().zip(&work.places) {
            let span = longest_span(batch.query(query(strand)), wanted.least, &levels.field.scoring);
            let windows = &mut work.windows;
            windows.clear();
            let counting = Counting { targets, kmers, counts, allowance: level.allowance, len, span };
            counting.windows(found, &mut work.tally, windows);
            push_stretches(windows, targets, &dense, span);
            columns += join(windows, u32::max);
            let most = |most: u32| to_i32(most);
            push_regions(&mut regions, targets, (strand, query(strand)), (span, most), windows);
        }
        let known = wanted.known_columns(&regions, levels.field.scoring.max_potential());
        let columns = columns.saturating_sub(u64::from(known));
        Some((columns as f64 * len as f64, regions))
    }
}
