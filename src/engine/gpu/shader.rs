//! Kernel variants, and their WGSL text from the templates in `shaders/`.
//!
//! A template line that begins with `//!` is a directive:
//! `insert NAME` puts a slot of the kernel in; `guarded` says that some lane may have no column; `if FLAG`, `else`, `end`
//! choose; `for k` repeats for each row of a lane (`for k descending` from the last one), `for w words` for each direction word, `for each trace`
//! for each kind of lanes that trace, whose cells are the rows,
//! `for c columns` for the columns that the loop over steps does in one go, `$c`; `first N`, inside a row
//! loop, keeps its lines for every N-th row only. In a loop `$k` is the row, `$4` and `$16` the first
//! row of its group of four or sixteen, `$8` the word of its group of eight, `$next` the next row, `$w`
//! the word, `$after` the next word. Everywhere `$last` is the last row, `$end` and `$rows` the number of
//! rows, `$words` that of words and `$lanes` that of lanes; `$kind` is the place of a kind of lanes.

use crate::batch::STRETCH;
use crate::engine::directions::{
    CELL_BITS, CELL_MASK, CELLS_PER_WORD, EXTEND_DELETION, EXTEND_INSERTION, SOURCE_BITS, SOURCE_MASK, Source,
};
use crate::engine::gpu::layout::{self, Letters, ROW_KEYS, THREADS};
use crate::engine::gpu::tasks::{
    BandGroups, BandTask, ChainTask, FillTask, JoinedTask, KeptTile, LinedTask, Recorded, ScoreTask,
    TaskRecord, TracebackTask,
};
use crate::scoring::{Scoring, Substitution};
use std::collections::{HashMap, HashSet};

const TILE: &str = include_str!("../../../shaders/tile.wgsl");
const STEP: &str = include_str!("../../../shaders/step.wgsl");
const SCORE: &str = include_str!("../../../shaders/score.wgsl");
const FILL: &str = include_str!("../../../shaders/fill.wgsl");
const TRACE: &str = include_str!("../../../shaders/trace.wgsl");
const CHAIN: &str = include_str!("../../../shaders/chain.wgsl");
const BAND: &str = include_str!("../../../shaders/band.wgsl");
const TRACEBACK: &str = include_str!("../../../shaders/traceback.wgsl");
const PATH: &str = include_str!("../../../shaders/path.wgsl");

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    Score,
    Fill,
    /// All of [`TRACES`] in one.
    Trace,
    /// Back over filled directions, whatever the scores.
    Traceback,
}

/// Where a kernel finds `s(q, t)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scores {
    /// Match or mismatch, as bytes of a word for each row: its scores against A, C, G and T. A dot
    /// product with the target's one-hot word adds one to the diagonal in a single instruction.
    Packed,
    /// Match or mismatch of any size, by comparison; scores of any size.
    Compared,
    /// A matrix, as a profile in workgroup memory.
    Profile,
    /// A matrix and scores of any size.
    WideProfile,
}

impl Scores {
    const ALL: [Scores; 4] = [Scores::Packed, Scores::Compared, Scores::Profile, Scores::WideProfile];

    /// The way that suits a scoring and queries of `longest` residues at most.
    pub fn of(scoring: &Scoring, longest: usize) -> Scores {
        let most = longest as i64 * i64::from(scoring.max_potential());
        let most = most.max(i64::from(scoring.gap_open) + 2 * i64::from(scoring.gap_extend));
        let keyed = most < i64::from(i32::MAX) / i64::from(ROW_KEYS);
        match scoring.substitution {
            Substitution::Equal { match_, mismatch } if match_ < 128 && mismatch <= 128 && keyed => {
                Scores::Packed
            }
            Substitution::Equal { .. } => Scores::Compared,
            Substitution::Matrix(_) if keyed => Scores::Profile,
            Substitution::Matrix(_) => Scores::WideProfile,
        }
    }

    /// How residues are packed for it.
    pub fn letters(self) -> Letters {
        match self {
            Scores::Packed | Scores::Compared => Letters::Nucleotides,
            Scores::Profile | Scores::WideProfile => Letters::Codes,
        }
    }

    fn is_profile(self) -> bool {
        self.letters() == Letters::Codes
    }

    /// The same scores where no row has to fit below them.
    fn unkeyed(self) -> Scores {
        if self == Scores::WideProfile { Scores::Profile } else { self }
    }

    /// Lanes and rows of a lane, by capacity. Measured on an H200: docs/benchmarks.md.
    fn shapes(self, kernel: Kernel, shared: bool) -> &'static [(u32, u32)] {
        match (self, kernel) {
            (Scores::Compared, Kernel::Trace) => &[(1, TRACES[0].cells)],
            (Scores::Compared, Kernel::Traceback) => &[(1, 1)],
            (_, Kernel::Trace | Kernel::Traceback) => &[],
            _ if shared => &[(4, 16), (8, 16), (8, 32), (8, 64)],
            (Scores::Profile | Scores::WideProfile, _) => &[(8, 8), (8, 16), (16, 16), (32, 16)],
            (_, Kernel::Score) => {
                &[(8, 4), (8, 8), (8, 13), (8, 16), (4, 38), (8, 25), (8, 32), (8, 38), (16, 24), (16, 32)]
            }
            (_, Kernel::Fill) => &[(8, 8), (8, 16), (8, 20), (8, 24), (16, 16), (32, 16)],
        }
    }
}

/// One compiled shape of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    pub kernel: Kernel,
    pub scores: Scores,
    /// Lanes of a task.
    pub lanes: u32,
    /// Query rows of a lane.
    pub rows: u32,
    /// Whether the tile takes edges in and leaves them behind.
    pub edges: bool,
    /// Whether lanes exchange values inside their subgroup, not through workgroup memory.
    pub shuffle: bool,
    /// Whether all tasks of a workgroup have one query, and share its profile.
    pub shared: bool,
    /// Whether few tiles run side by side: then the operations that wait for each other count, not all of them.
    pub few: bool,
    /// Whether a tile waits for the one above while both run: see [`Variant::chained`].
    pub chained: bool,
    /// Whether it leaves edges on the lines of checkpoints.
    pub lined: bool,
    /// Whether there may be a result for each stretch of a task.
    pub stretched: bool,
    /// Set while steps are written out in which some lane may have no column.
    guarded: bool,
}

/// Query rows of the largest tile, the strips of longer queries.
pub const STRIP_ROWS: u32 = crate::engine::BLOCK_ROWS;

/// Rows of a lane of chained tiles.
pub const CHAINED_ROWS: [u32; 5] = [4, 5, 6, 7, 8];

/// Lanes that trace a band, and how many of its cells in a row each has: a multiple of those of a direction word.
#[derive(Clone, Copy, Debug)]
pub struct Trace {
    pub lanes: u32,
    pub cells: u32,
}

/// The kinds of lanes that trace, those of the narrowest bands first.
pub const TRACES: [Trace; 4] = [
    Trace { lanes: 1, cells: 16 },
    Trace { lanes: 1, cells: 32 },
    Trace { lanes: 8, cells: 8 },
    Trace { lanes: 16, cells: 8 },
];

impl Trace {
    /// Cells in a row of the widest band that they trace.
    pub fn width(&self) -> u32 {
        self.lanes * self.cells
    }

    /// Windows of a workgroup.
    pub fn windows(&self) -> usize {
        (THREADS / self.lanes) as usize
    }

    /// Direction words of a workgroup for each row of its windows.
    pub fn words(&self) -> u32 {
        self.cells / CELLS_PER_WORD * THREADS
    }
}

/// Threads of a workgroup that shares a profile: enough to hide the memory that it takes.
const SHARING_THREADS: u32 = 256;

impl Variant {
    fn new(kernel: Kernel, scores: Scores, (lanes, rows): (u32, u32), edges: bool) -> Variant {
        let scores = if kernel == Kernel::Score { scores } else { scores.unkeyed() };
        Variant {
            kernel,
            scores,
            lanes,
            rows,
            edges,
            shuffle: false,
            shared: false,
            few: false,
            chained: false,
            lined: false,
            stretched: false,
            guarded: false,
        }
    }

    /// The variants without edges, by capacity.
    pub fn tiles(kernel: Kernel, scores: Scores) -> Vec<Variant> {
        let shapes = scores.shapes(kernel, false).iter();
        shapes.map(|&shape| Variant::new(kernel, scores, shape, false)).collect()
    }

    /// The one that traces narrow bands.
    pub fn tracing() -> Variant {
        Variant::new(Kernel::Trace, Scores::Compared, (1, TRACES[0].cells), false)
    }

    /// The one that traces back through directions.
    pub fn tracing_back() -> Variant {
        Variant::new(Kernel::Traceback, Scores::Compared, (1, 1), false)
    }

    /// The smallest variant that holds `rows` query rows without edges.
    pub fn holding(kernel: Kernel, scores: Scores, rows: u32) -> Option<Variant> {
        let fits = scores.shapes(kernel, false).iter().find(|(lanes, each)| lanes * each >= rows);
        fits.map(|&shape| Variant::new(kernel, scores, shape, false))
    }

    /// The variant whose tiles, of [`STRIP_ROWS`] rows, are joined by edges.
    pub fn joined(kernel: Kernel, scores: Scores) -> Variant {
        let strip = scores.shapes(kernel, false).iter().find(|(lanes, rows)| lanes * rows == STRIP_ROWS);
        strip.map_or(Variant::thin(kernel, scores), |&shape| Variant::new(kernel, scores, shape, true))
    }

    /// Joined tiles of as many lanes as there can be, where there are too few tiles to fill the device.
    pub fn thin(kernel: Kernel, scores: Scores) -> Variant {
        Variant { few: true, ..Variant::new(kernel, scores, (THREADS, STRIP_ROWS / THREADS), true) }
    }

    /// Tiles of [`CHAINED_ROWS`] that run side by side in one dispatch, each as many columns behind the one
    /// above as it has lanes and a few more. They are asked for where scores fit beside a mark.
    pub fn chained(scores: Scores, rows: u32) -> Option<Variant> {
        let variant = Variant::new(Kernel::Score, scores, (THREADS, rows), true);
        let possible = variant.keyed() && (rows.is_multiple_of(4) || !scores.is_profile());
        possible.then_some(Variant { few: true, chained: true, ..variant })
    }

    /// The same tiles where they leave edges on lines; `None` where lines don't fall on the borders of strips.
    pub fn with_lines(self) -> Option<Variant> {
        STRIP_ROWS.is_multiple_of(self.capacity()).then_some(Variant { lined: true, ..self })
    }

    /// The variant as it suits a device whose subgroups have a fixed size, `None` where they don't.
    pub fn on(self, subgroup: Option<u32>) -> Variant {
        let fits = |size: u32| size >= self.lanes && size.is_multiple_of(self.lanes);
        Variant { shuffle: self.lanes > 1 && subgroup.is_some_and(fits), ..self }
    }

    /// The variant for tasks of which some have a result for each stretch.
    pub fn in_stretches(self) -> Variant {
        Variant { stretched: self.kernel == Kernel::Score && !self.edges, ..self }
    }

    /// The variant of the same capacity at least whose workgroups have one query each; `None` where
    /// there is none: it takes a profile and subgroups.
    pub fn sharing(self, subgroup: Option<u32>) -> Option<Variant> {
        let possible = self.scores == Scores::Profile && self.kernel == Kernel::Score && !self.chained;
        let mut shapes = self.scores.shapes(self.kernel, true).iter();
        let &(lanes, rows) = shapes.find(|(lanes, rows)| lanes * rows >= self.capacity())?;
        let shared = Variant { lanes, rows, shared: true, ..self }.on(subgroup);
        (possible && shared.shuffle).then_some(shared)
    }

    /// Every variant there is.
    pub fn all() -> Vec<Variant> {
        let mut all: Vec<Variant> = Vec::new();
        for kernel in [Kernel::Score, Kernel::Fill, Kernel::Trace, Kernel::Traceback] {
            for scores in Scores::ALL {
                let tiles = Variant::tiles(kernel, scores);
                let joined = [Variant::joined(kernel, scores), Variant::thin(kernel, scores)];
                let joined = joined.into_iter().filter(|_| matches!(kernel, Kernel::Score | Kernel::Fill));
                let chained = CHAINED_ROWS.into_iter().filter(|_| kernel == Kernel::Score);
                let chained = chained.filter_map(|rows| Variant::chained(scores, rows));
                let chained =
                    chained.flat_map(|variant| std::iter::once(variant).chain(variant.with_lines()));
                for variant in tiles.into_iter().chain(joined).chain(chained) {
                    let size = Some(variant.lanes);
                    let on_devices =
                        [Some(variant), Some(variant.on(size)), variant.sharing(Some(THREADS))].into_iter();
                    all.extend(on_devices.flatten().flat_map(|variant| [variant, variant.in_stretches()]));
                }
            }
        }
        let mut seen = HashSet::new();
        all.retain(|variant| seen.insert(*variant));
        all
    }

    /// Query rows of a tile.
    pub fn capacity(&self) -> u32 {
        self.lanes * self.rows
    }

    /// Threads of a workgroup.
    pub fn threads(&self) -> u32 {
        if self.shared { SHARING_THREADS } else { THREADS }
    }

    /// Tasks of a workgroup.
    pub fn pairs(&self) -> u32 {
        self.threads() / self.lanes
    }

    /// Whether the row of a best score is kept below it.
    fn keyed(&self) -> bool {
        self.kernel == Kernel::Score && matches!(self.scores, Scores::Packed | Scores::Profile)
    }

    /// What the kernel multiplies scores by.
    pub fn scale(&self) -> u32 {
        if self.keyed() { ROW_KEYS } else { 1 }
    }

    /// Columns that the loop over steps does in one go: the scores' loop is short. Chained strips read and leave
    /// as many at a time as a word has letters.
    fn columns(&self) -> u32 {
        match self.kernel {
            Kernel::Score if self.chained => 32 / self.scores.letters().bits(),
            Kernel::Score => 4,
            Kernel::Fill | Kernel::Trace | Kernel::Traceback => 1,
        }
    }

    /// Workgroup memory in bytes.
    pub fn workgroup_bytes(&self) -> u32 {
        match self.kernel {
            Kernel::Trace => return 2 * (THREADS + 2) * 8,
            Kernel::Traceback => return THREADS * 4,
            Kernel::Score | Kernel::Fill => {}
        }
        let exchange = 2 * (self.threads() + 1) * 8;
        let between_lanes = if self.shuffle || self.lanes == 1 { 0 } else { exchange };
        let finals = if self.keeps_finals() { self.threads() * 12 } else { 0 };
        between_lanes + finals + self.profile_words() * 4
    }

    /// Whether lanes keep their best cells in workgroup memory.
    fn keeps_finals(&self) -> bool {
        self.kernel == Kernel::Score && (!self.shuffle || self.stretched)
    }

    fn profile_words(&self) -> u32 {
        let rows = if self.shared { self.capacity() } else { self.rows * self.threads() };
        if self.scores.is_profile() { rows / 4 * layout::CODES } else { 0 }
    }

    /// Direction words of a lane's rows.
    pub fn words(&self) -> u32 {
        self.rows.div_ceil(CELLS_PER_WORD)
    }

    /// The record of its tasks.
    pub fn task(&self) -> TaskRecord {
        match self.kernel {
            Kernel::Score if self.lined => LinedTask::RECORD,
            Kernel::Score if self.chained => ChainTask::RECORD,
            Kernel::Score if self.edges => JoinedTask::RECORD,
            Kernel::Score => ScoreTask::RECORD,
            Kernel::Fill => FillTask::RECORD,
            Kernel::Trace => BandTask::RECORD,
            Kernel::Traceback => TracebackTask::RECORD,
        }
    }

    /// The record of the table that its tasks share, if they have one.
    pub fn table(&self) -> Option<TaskRecord> {
        match self.kernel {
            Kernel::Trace => Some(BandGroups::RECORD),
            Kernel::Traceback => Some(KeptTile::RECORD),
            Kernel::Score | Kernel::Fill => None,
        }
    }

    /// Both in WGSL, where a task is a `Task`.
    fn records(&self) -> String {
        let (task, table) = (self.task(), self.table().map(|table| (table.wgsl)()));
        (task.wgsl)() + &format!("alias Task = {};\n", task.name) + &table.unwrap_or_default()
    }

    /// The kernel's WGSL.
    pub fn wgsl(&self) -> String {
        let (frame, slots) = match self.kernel {
            Kernel::Score => (TILE, slots(&[STEP, SCORE, CHAIN])),
            Kernel::Fill => (TILE, slots(&[STEP, FILL])),
            Kernel::Trace => (TRACE, slots(&[BAND, PATH])),
            Kernel::Traceback => (TRACEBACK, slots(&[PATH])),
        };
        let lines: Vec<&str> = frame.lines().flat_map(|line| insert(line, &slots)).collect();
        let mut text = self.records() + &self.scores.letters().wgsl();
        text.push_str(&format!("const SCALE = {};\n", self.scale()));
        for (name, value) in [
            ("THREADS", self.threads()),
            ("LANES", self.lanes),
            ("ROWS", self.rows),
            ("PAIRS", self.pairs()),
            ("COLUMNS", self.columns()),
            ("WORDS", self.words()),
            ("PROFILE_WORDS", self.profile_words().max(1)),
            ("CHAIN_HEAD", layout::CHAIN_HEAD),
            ("NOWHERE", layout::NOWHERE),
            ("STRETCH", STRETCH),
        ] {
            text.push_str(&format!("const {name} = {value}u;\n"));
        }
        if self.kernel != Kernel::Score {
            text.push_str(&direction_codes());
        }
        self.expand(&lines, None, &mut text);
        text
    }

    fn flag(&self, name: &str, row: Option<u32>) -> bool {
        match name.split_once(' ') {
            Some(("first", every)) => {
                row.zip(every.parse().ok()).is_some_and(|(row, every): (u32, u32)| row % every == 0)
            }
            _ => match name {
                "if EDGES" => self.edges,
                "if GUARDED" => self.guarded,
                // Chained strips have few rows, for which making one-hot words takes longer than it saves.
                "if PACKED" => self.scores == Scores::Packed && !self.chained,
                "if PROFILE" => self.scores.is_profile(),
                "if SHUFFLE" => self.shuffle,
                "if SHARED" => self.shared,
                "if KEYED" => self.keyed(),
                "if FEW" => self.few,
                "if CHAINED" => self.chained,
                "if LINED" => self.lined,
                "if STRETCHED" => self.stretched,
                "if FINALS" => self.keeps_finals(),
                "if BLOCKS" => self.chained && self.shuffle,
                "if APART" => self.lanes > 1,
                _ => false,
            },
        }
    }

    /// Expands `lines`; `row` is the row of the loop that they stand in.
    fn expand(&self, lines: &[&str], row: Option<u32>, text: &mut String) {
        let mut next = 0;
        while next < lines.len() {
            let Some(directive) = directive(lines[next]) else {
                self.push_line(lines[next], row, text);
                next += 1;
                continue;
            };
            let (middle, end) = block(lines, next);
            let body = &lines[next + 1..middle];
            match directive {
                "for k" => (0..self.rows).for_each(|k| self.expand(body, Some(k), text)),
                "for k descending" => (0..self.rows).rev().for_each(|k| self.expand(body, Some(k), text)),
                "for c columns" => (0..self.columns()).for_each(|column| {
                    let lines: Vec<String> =
                        body.iter().map(|line| line.replace("$c", &column.to_string())).collect();
                    self.expand(&lines.iter().map(String::as_str).collect::<Vec<_>>(), row, text);
                }),
                // Those of the widest bands, which take longest, begin first.
                "for each trace" => (0..TRACES.len()).rev().for_each(|kind| {
                    let named = |line: &&str| line.replace("$kind", &kind.to_string());
                    let lines: Vec<String> = body.iter().map(named).collect();
                    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
                    let Trace { lanes, cells: rows } = TRACES[kind];
                    Variant { lanes, rows, ..*self }.expand(&lines, None, text);
                }),
                "guarded" => Variant { guarded: true, ..*self }.expand(body, row, text),
                "for w words" => {
                    for word in 0..self.words() {
                        let named = |line: &&str| {
                            line.replace("$words", &self.words().to_string())
                                .replace("$w", &word.to_string())
                                .replace("$after", &(word + 1).to_string())
                        };
                        let lines: Vec<String> = body.iter().map(named).collect();
                        lines.iter().for_each(|line| self.push_line(line, row, text));
                    }
                }
                condition if self.flag(condition, row) => self.expand(body, row, text),
                _ if middle < end => self.expand(&lines[middle + 1..end], row, text),
                _ => {}
            }
            next = end + 1;
        }
    }

    fn push_line(&self, line: &str, row: Option<u32>, text: &mut String) {
        let mut line = line
            .replace("$last", &(self.rows - 1).to_string())
            .replace("$end", &self.rows.to_string())
            .replace("$rows", &self.rows.to_string())
            .replace("$lanes", &self.lanes.to_string())
            .replace("$words", &self.words().to_string());
        if let Some(k) = row {
            line = line
                .replace("$next", &(k + 1).to_string())
                .replace("$k", &k.to_string())
                .replace("$16", &(k / 16 * 16).to_string())
                .replace("$4", &(k / 4 * 4).to_string())
                .replace("$8", &(k / CELLS_PER_WORD).to_string());
        }
        text.push_str(&line);
        text.push('\n');
    }
}

/// The bits of a cell's directions, in WGSL.
fn direction_codes() -> String {
    let codes = [
        ("STOP", Source::Stop as u32),
        ("DIAGONAL", Source::Diagonal as u32),
        ("DELETION", Source::Deletion as u32),
        ("INSERTION", Source::Insertion as u32),
        ("SOURCE_BITS", SOURCE_BITS),
        ("SOURCE_MASK", u32::from(SOURCE_MASK)),
        ("EXTEND_DELETION", u32::from(EXTEND_DELETION)),
        ("EXTEND_INSERTION", u32::from(EXTEND_INSERTION)),
        ("CELL_BITS", CELL_BITS),
        ("CELL_MASK", u32::from(CELL_MASK)),
        ("CELLS_PER_WORD", CELLS_PER_WORD),
    ];
    codes.map(|(name, value)| format!("const {name} = {value}u;\n")).concat()
}

pub(super) fn directive(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//!").map(str::trim)
}

/// The lines of each slot that the files of a kernel fill.
fn slots(files: &[&'static str]) -> HashMap<&'static str, Vec<&'static str>> {
    let mut slots: HashMap<&str, Vec<&str>> = HashMap::new();
    for file in files {
        let mut name = "";
        for line in file.lines() {
            match directive(line).and_then(|directive| directive.strip_prefix("slot ")) {
                Some(slot) => name = slot,
                None => slots.entry(name).or_default().push(line),
            }
        }
    }
    slots
}

/// A line, or what stands in its slot, slots in slots too.
fn insert<'a>(line: &'a str, slots: &HashMap<&str, Vec<&'a str>>) -> Vec<&'a str> {
    match directive(line).and_then(|directive| directive.strip_prefix("insert ")) {
        Some(slot) => slots.get(slot).into_iter().flatten().flat_map(|line| insert(line, slots)).collect(),
        None => vec![line],
    }
}

/// Where the block that opens at `start` has its `else` (or its end) and its end.
pub(super) fn block(lines: &[&str], start: usize) -> (usize, usize) {
    let (mut depth, mut middle) = (0, None);
    for (index, line) in lines.iter().enumerate().skip(start) {
        match directive(line) {
            Some("end") if depth == 1 => return (middle.unwrap_or(index), index),
            Some("end") => depth -= 1,
            Some("else") if depth == 1 => middle = Some(index),
            Some("else") | None => {}
            Some(_) => depth += 1,
        }
    }
    (lines.len(), lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_tile_is_a_strip() {
        for kernel in [Kernel::Score, Kernel::Fill] {
            for scores in Scores::ALL {
                assert_eq!(Variant::joined(kernel, scores).capacity(), STRIP_ROWS);
                let largest = Variant::holding(kernel, scores, STRIP_ROWS).map(|variant| variant.capacity());
                assert_eq!(largest, Some(STRIP_ROWS), "{kernel:?} {scores:?}");
                assert_eq!(Variant::holding(kernel, scores, STRIP_ROWS + 1), None);
            }
        }
    }

    #[test]
    fn every_variant_fits_the_workgroup_memory_that_every_adapter_has() {
        for variant in Variant::all() {
            assert!(variant.workgroup_bytes() <= 16 << 10, "{variant:?}: {}", variant.workgroup_bytes());
        }
    }

    #[test]
    fn no_directive_is_left_over() {
        for variant in Variant::all() {
            let text = variant.wgsl();
            assert!(!text.contains("//!") && !text.contains('$'), "{variant:?}");
        }
    }
}
