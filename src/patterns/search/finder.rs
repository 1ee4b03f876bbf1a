//! Searches all targets for seeds of queries with edits, for the filter.

use super::pattern::{ANY, BaseClass};
use super::room::EndCapacity;
use super::stream::{Seams, Stream};
use super::{EndScan, MatchRule, PatternEnd};
use crate::align::candidates::by_scan::{SeedEnd, SeedEnds, SeedScan};
use crate::terms::alphabet::is_base;
use crate::terms::batch::Sequences;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Minimum and maximum number of bases per scan, and maximum number of seeds.
const LEAST_LETTERS: usize = 1 << 18;
const LETTERS: usize = 1 << 25;
const SEEDS: usize = 1 << 12;
/// Maximum number of bases per scan and core: a stream holds a copy of them.
const CORE_LETTERS: usize = 1 << 21;
/// Maximum number of bases times seeds per scan, on the CPU or on a device. The CPU stops earlier if there are too many
/// ends.
const CORE_CELLS: usize = 1 << 29;
const DEVICE_CELLS: usize = LETTERS.saturating_mul(SEEDS);
/// Maximum number of ends accepted from one scan.
const ENDS: usize = 1 << 21;

/// Scans the targets of a run.
pub struct PatternFinder {
    targets: Arc<Sequences>,
    scan: Box<dyn EndScan + Send>,
    /// Maximum number of bases times seeds, and of bases, per scan.
    cells: usize,
    letters: usize,
}

/// Seeds to scan for, and the receiver of their ends.
struct SeedQuery<'a> {
    classes: &'a [Vec<BaseClass>],
    rule: MatchRule,
    ends: &'a mut dyn SeedEnds,
}

impl SeedQuery<'_> {
    /// Seeds whose ends are still wanted.
    fn wanted(&self) -> Vec<u32> {
        (0..to_u32(self.classes.len())).filter(|&seed| self.ends.wants(seed)).collect()
    }

    /// Passes on the ends in a stream. `some` maps the patterns of the scan to seeds.
    fn give(&mut self, stream: &Stream, some: &[u32], patterns: &[Vec<BaseClass>], found: &[PatternEnd]) {
        let placed = stream.place(found, patterns, &self.rule).into_iter().map(|end| SeedEnd {
            seed: some[end.pattern as usize],
            target: to_u32(end.text),
            end: to_u32(end.end),
        });
        self.ends.take(&placed.collect::<Vec<_>>());
    }
}

impl PatternFinder {
    /// Scans with `scan`, which runs on a device if `on_device`, otherwise on the CPU.
    pub fn new(targets: &Arc<Sequences>, scan: Box<dyn EndScan + Send>, on_device: bool) -> PatternFinder {
        let (cells, letters) = match on_device {
            true => (DEVICE_CELLS, LETTERS),
            false => (CORE_CELLS, LETTERS.min(CORE_LETTERS * rayon::current_num_threads())),
        };
        PatternFinder { targets: Arc::clone(targets), scan, cells, letters }
    }

    /// Calls `call` with streams of up to `letters` bases, one after the other, until it breaks.
    fn for_each_stream<E>(
        &self,
        seams: &Seams,
        letters: usize,
        mut call: impl FnMut(&Stream) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let (mut target, mut after) = (0, 0);
        while target < self.targets.len() {
            let mut stream = Stream::default();
            while target < self.targets.len() && stream.codes.len() < letters {
                let codes = self.targets.get(target);
                let to = codes.len().min(after + letters - stream.codes.len());
                stream.push(seams, target, codes, after..to);
                (target, after) = if to == codes.len() { (target + 1, 0) } else { (target, to) };
            }
            if call(&stream)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Scans a stream for the seeds `some`. If they have too many ends, each half of the seeds is scanned alone; a
    /// single seed with too many ends is given up.
    fn scan_stream(&self, seeds: &mut SeedQuery, stream: &Stream, some: &[u32]) -> Result<(), EngineError> {
        let own: Vec<Vec<BaseClass>> =
            some.iter().map(|&seed| seeds.classes[seed as usize].clone()).collect();
        let room = EndCapacity::of(ENDS);
        let found = self.scan.scan_within(&stream.codes, &own, &seeds.rule, &room)?;
        if !room.is_over() {
            seeds.give(stream, some, &own, &found);
            return Ok(());
        }
        drop(found);
        if let [seed] = some {
            seeds.ends.too_many(*seed);
            return Ok(());
        }
        let (front, behind) = some.split_at(some.len() / 2);
        self.scan_stream(seeds, stream, front)?;
        self.scan_stream(seeds, stream, behind)
    }
}

impl SeedScan for PatternFinder {
    fn scan(&self, seeds: &[&[u8]], edits: usize, ends: &mut dyn SeedEnds) -> Result<(), EngineError> {
        let rule = MatchRule { max_edits: to_u32(edits), indels: edits > 0 };
        let class = |&code: &u8| if is_base(code) { 1 << code } else { ANY };
        let classes: Vec<Vec<BaseClass>> =
            seeds.iter().map(|codes| codes.iter().map(class).collect()).collect();
        let seams = Seams::new(seeds.iter().map(|seed| seed.len()), &rule);
        let mut seeds = SeedQuery { classes: &classes, rule, ends };
        let letters = (self.cells / classes.len().clamp(1, SEEDS)).clamp(LEAST_LETTERS, self.letters);
        self.for_each_stream(&seams, letters, |stream| {
            let wanted = seeds.wanted();
            for some in wanted.chunks((self.cells / letters).clamp(1, SEEDS)) {
                self.scan_stream(&mut seeds, stream, some)?;
            }
            Ok(if wanted.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }
}
