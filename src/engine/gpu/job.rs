//! Jobs: dispatches that share one upload of tasks and one download of output.

use crate::engine::Edge;
use crate::engine::carry::{CARRY_BYTES, GAP_BYTES};
use crate::engine::gpu::layout::{CHAIN_HEAD, ROW_KEYS, TASK_ALIGNMENT};
use crate::engine::gpu::tasks::{Recorded, SpanTask};
use crate::engine::gpu::variant::{TileVariant, Variant};
use crate::gpu::run::Transfer;
use crate::terms::casts::to_u32;
use std::ops::Range;

/// Tasks of one variant that run concurrently.
#[derive(Debug)]
pub struct Dispatch {
    pub variant: Variant,
    /// Words of the tasks, and of the table that they share.
    pub tasks: Vec<u32>,
    pub table: Vec<u32>,
    /// Number of workgroups of each layer.
    pub groups: u32,
    /// Number of layers: more than 1 if each task has workgroups of its own.
    pub layers: u32,
    pub cells: u64,
    /// Whether only later dispatches read its output.
    pub into_scratch: bool,
}

impl Dispatch {
    /// A dispatch of `tasks`, padded with empty tasks.
    pub fn new<T: SpanTask>(variant: impl Into<Variant>, tasks: Vec<T>) -> Dispatch {
        let cells = |task: &T| u64::from(task.span().rows) * u64::from(task.span().cols);
        let cells = tasks.iter().map(cells).sum();
        Dispatch { cells, ..Dispatch::without_cells(variant, tasks) }
    }

    /// A dispatch of tasks that have no cells of their own.
    pub fn without_cells<T: Recorded>(variant: impl Into<Variant>, mut tasks: Vec<T>) -> Dispatch {
        let variant = variant.into();
        debug_assert_eq!(variant.task().name, T::RECORD.name);
        tasks.resize(tasks.len().next_multiple_of(TASK_ALIGNMENT), T::default());
        let groups = to_u32(tasks.len()).div_ceil(variant.pairs());
        let tasks = bytemuck::cast_vec(tasks);
        Dispatch { variant, tasks, table: Vec::new(), groups, layers: 1, cells: 0, into_scratch: false }
    }

    /// Adds a table that its tasks share.
    pub fn with_table<T: Recorded>(self, mut table: Vec<T>) -> Dispatch {
        debug_assert_eq!(self.variant.table().map(|record| record.name), Some(T::RECORD.name));
        table.resize(table.len().max(1).next_multiple_of(TASK_ALIGNMENT), T::default());
        Dispatch { table: bytemuck::cast_vec(table), ..self }
    }

    /// Keeps the output on the device.
    pub fn into_scratch(self) -> Dispatch {
        Dispatch { into_scratch: true, ..self }
    }

    /// Sets the number of workgroups, for a kernel that finds the tasks of each workgroup on its own.
    pub fn in_groups(self, groups: u32) -> Dispatch {
        Dispatch { groups, ..self }
    }

    /// Sets the number of workgroups of each of `layers` tasks.
    pub fn in_layers(self, groups: u32, layers: u32) -> Dispatch {
        Dispatch { groups, layers, ..self }
    }
}

/// Work for the device.
#[derive(Debug, Default)]
pub struct Job {
    pub dispatches: Vec<Dispatch>,
    pub cells: u64,
    /// Bytes of output.
    pub output: u64,
    /// Words that kernels of this job write for their own use.
    pub scratch: u64,
    /// The chain, if strips are chained. Its dispatches share all tasks, which are taken in order.
    pub chain: Option<Chain>,
    /// Number of edge values. At first H and gaps are `blank`, except for `entering`.
    pub edges: u64,
    pub blank: i32,
    /// Edge values that tiles read: their positions and values.
    pub entering: Vec<(u64, Edge)>,
    /// Edge values to read back.
    pub leaving: Vec<Range<u64>>,
}

impl Job {
    /// Adds a dispatch. Later dispatches see the output of earlier ones.
    pub fn push(&mut self, dispatch: Dispatch) {
        self.cells += dispatch.cells;
        self.dispatches.push(dispatch);
    }

    /// Adds chained strips, each after the strips that it waits for, in dispatches of about `cells` cells.
    pub fn push_chain<T: SpanTask>(
        &mut self,
        variant: TileVariant,
        strips: impl Iterator<Item = T>,
        cells: u64,
    ) {
        let (mut tasks, mut planned) = (Vec::new(), 0);
        for task in strips {
            planned += u64::from(task.span().rows) * u64::from(task.span().cols);
            tasks.push(task);
            if planned >= cells {
                self.push(Dispatch::new(variant, std::mem::take(&mut tasks)));
                planned = 0;
            }
        }
        if !tasks.is_empty() {
            self.push(Dispatch::new(variant, tasks));
        }
    }

    /// The first word of each dispatch in the job, and the number of words of the job.
    pub fn places(&self) -> (Vec<usize>, usize) {
        let mut words = 0;
        let first = |dispatch: &Dispatch| {
            let first = words;
            words += dispatch.tasks.len() + dispatch.table.len();
            first
        };
        (self.dispatches.iter().map(first).collect(), words)
    }

    /// Number of pieces of the gap costs after the first one. Its edge values have a gap of each.
    pub fn further_pieces(&self) -> usize {
        let further = self.dispatches.iter().map(|dispatch| dispatch.variant.pieces() - 1);
        if self.edges > 0 { further.max().unwrap_or(0) } else { 0 }
    }

    /// The transfers to the host: the output, followed by the edges that the job leaves, and by their gaps of further
    /// pieces.
    pub fn transfers(
        &self,
        output: &wgpu::Buffer,
        edges: &wgpu::Buffer,
        further_gaps: &wgpu::Buffer,
    ) -> Vec<Transfer> {
        let mut transfers = vec![Transfer { from: output.clone(), start: 0, bytes: self.output }];
        let further = self.further_pieces() as u64 * GAP_BYTES;
        let of_further = (further > 0).then_some((further_gaps, further));
        for (from, bytes) in std::iter::once((edges, CARRY_BYTES)).chain(of_further) {
            // Contiguous edge values are transferred together.
            let ranges = self.leaving.chunk_by(|a, b| a.end == b.start);
            transfers.extend(ranges.map(|ranges| {
                let (start, end) = (ranges[0].start, ranges[ranges.len() - 1].end);
                Transfer { from: from.clone(), start: start * bytes, bytes: (end - start) * bytes }
            }));
        }
        transfers
    }

    /// Copies a range of the words of all dispatches; `firsts` holds the first word of each dispatch.
    pub fn copy_words(&self, firsts: &[usize], range: Range<usize>, copied: &mut [u32]) {
        let begun = firsts.partition_point(|first| *first <= range.start).saturating_sub(1);
        let mut copied = &mut copied[..range.len()];
        let mut skipped = range.start - firsts.get(begun).copied().unwrap_or(0);
        for words in self.dispatches[begun..].iter().flat_map(|dispatch| [&dispatch.tasks, &dispatch.table]) {
            let here = &words[skipped.min(words.len())..];
            skipped = skipped.saturating_sub(words.len());
            let (filled, behind) = copied.split_at_mut(here.len().min(copied.len()));
            filled.copy_from_slice(&here[..filled.len()]);
            copied = behind;
            if copied.is_empty() {
                break;
            }
        }
    }
}

/// The buffer through which chained strips pass values on.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// Total number of columns of all grids.
    pub cols: u32,
    /// Number of strips whose columns are kept at once.
    slots: u32,
    /// Number of polls before a strip gives up.
    patience: u32,
    /// Columns and edge values from one vertical line to the next.
    lines: [u32; 2],
}

impl Chain {
    /// A chain of `cols` columns and at most `strips` strips from top to bottom.
    pub fn new(cols: u32, strips: u32, patience: u32) -> Chain {
        Chain { cols, slots: Chain::slots(strips), patience, lines: [0; 2] }
    }

    /// Number of slots for `strips` strips. When a dispatch begins, the values in a slot have another mark than the
    /// strips that begin then, and one mark belongs to no strip.
    pub fn slots(strips: u32) -> u32 {
        strips.div_ceil(ROW_KEYS - 2).max(2)
    }

    /// The same chain, whose strips store edge values on vertical lines.
    pub fn with_lines(self, side: u32, apart: u32) -> Chain {
        Chain { lines: [side, apart], ..self }
    }

    pub fn bytes(&self) -> u64 {
        (u64::from(CHAIN_HEAD) + u64::from(self.cols) * u64::from(self.slots) * 2) * 4
    }

    /// The header words.
    pub fn head(&self) -> [u32; CHAIN_HEAD as usize] {
        [0, self.patience, self.slots, self.cols, self.lines[0], self.lines[1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::gpu::tasks::{BandGroups, BandTask, ScoreTask};

    /// Strips that use one slot at the same time, including those left by the previous dispatch, have distinct marks.
    #[test]
    fn strips_of_a_chain_can_be_told_apart() {
        for strips in (1..200).chain([781, 782, 1023, 2048]) {
            let slots = Chain::slots(strips);
            assert!(slots >= 2, "a strip must not overwrite what the next one reads");
            for first in [slots, strips.max(slots), 5 * strips + slots] {
                let seen: std::collections::HashSet<(u32, u32)> = (first - slots..first + strips)
                    .map(|strip| (strip % slots, strip / slots % (ROW_KEYS - 1)))
                    .collect();
                assert_eq!(seen.len() as u32, slots + strips, "{strips} strips from {first}");
            }
        }
    }

    #[test]
    fn words_are_copied_from_all_dispatches() {
        use crate::terms::scoring::AlignmentMode;
        let scores = crate::engine::gpu::variant::Scores::Packed;
        let score = TileVariant::tiles(crate::engine::gpu::variant::KernelResults::Score, scores)[0];
        let mut job = Job::default();
        let (mut expected, mut begin): (Vec<u32>, Vec<usize>) = Default::default();
        for count in [0, 1, 64, 0, 65, 3] {
            let task =
                |place: u32| ScoreTask { result: place + 1, in_stretches: count, ..Default::default() };
            job.push(Dispatch::new(score, (0..count).map(task).collect()));
            begin.push(expected.len());
            expected.extend(&job.dispatches[job.dispatches.len() - 1].tasks);
            assert!(expected.len().is_multiple_of(64), "a binding begins at a multiple of 256 bytes");
        }
        let groups = vec![BandGroups { groups: 7 }; 3];
        let trace = Variant::Trace { mode: AlignmentMode::Local, pieces: 1 };
        job.push(Dispatch::without_cells(trace, vec![BandTask::default(); 2]).with_table(groups));
        begin.push(expected.len());
        expected.extend([vec![0; 640], vec![7; 3], vec![0; 61]].concat());
        let (firsts, words) = job.places();
        assert_eq!((&firsts, words), (&begin, expected.len()));
        for len in [1, 12, 100, 1024, expected.len()] {
            for start in (0..expected.len()).step_by(len) {
                let range = start..expected.len().min(start + len);
                let mut copied = vec![7; range.len()];
                job.copy_words(&firsts, range.clone(), &mut copied);
                assert_eq!(copied, expected[range.clone()], "{range:?}");
            }
        }
        Job::default().copy_words(&[], 0..0, &mut []);
    }
}
