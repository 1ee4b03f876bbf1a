//! The WGSL of the kernels, from the templates in `shaders/` (the language: [`template`](crate::gpu::template)).
//!
//! | loop | rounds | names of a round |
//! |---|---|---|
//! | `rows`, `rows_descending` | the rows of a lane | `$k` the row, `$next` the next one, `$w` its direction word, `$4` and `$16` the first row of its four and sixteen |
//! | `words` | the direction words of a lane's rows | `$w` the word, `$after` the next one |
//! | `columns` | the columns of one iteration of the loop over steps | `$c` |
//! | `traces` | the lane kinds that trace; a row is a cell | `$kind` the index of the kind, `$lanes` |
//!
//! A row also has flags: `FIRST_OF_4`, `FIRST_OF_8` and `FIRST_OF_16`, set in every 4th, 8th and 16th row.
//! Everywhere `$last` is the last row of a lane, `$rows` and `$end` the number of rows, `$words` that of words.

use crate::engine::directions::{
    CELL_BITS, CELL_MASK, CELLS_PER_WORD, CellSource, EXTEND_DELETION, EXTEND_INSERTION, SOURCE_BITS,
    SOURCE_MASK,
};
use crate::engine::gpu::layout::{self, ResiduePacking, THREADS};
use crate::engine::gpu::variant::{
    Exchange, KernelResults, Scores, TRACES, TileNeighbors, TileVariant, TraceLanes, Variant,
};
use crate::gpu::template::{Meaning, TemplateError, constants, expand};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::STRETCH;
use crate::terms::scoring::AlignmentMode;

/// Defines each file of `shaders/` as a constant.
macro_rules! files {
    ($($name:ident: $file:literal,)*) => {
        $(const $name: &str = include_str!(concat!("../../../shaders/", $file, ".wgsl"));)*
    };
}
files! {
    ALONE: "alone",
    BAND: "band",
    BEST: "best",
    BLOCKS: "blocks",
    BORDERS: "borders",
    BY_PLACE: "by_place",
    CHAINED: "chained",
    CODES: "codes",
    COMPARED: "compared",
    DATABASE: "database",
    EDGES: "edges",
    ENDS: "ends",
    FEW: "few",
    FILL: "fill",
    GUARDED: "guarded",
    JOINED: "joined",
    KEYED: "keyed",
    LINED: "lined",
    NUCLEOTIDES: "nucleotides",
    PACKED: "packed",
    PATH: "path",
    PROFILE: "profile",
    RECURRENCE: "recurrence",
    SCORE: "score",
    SEARCHED: "searched",
    SHARED_PROFILE: "shared_profile",
    STEP: "step",
    STRIPS: "strips",
    SUBGROUP: "subgroup",
    TILE: "tile",
    TRACE: "trace",
    TRACEBACK: "traceback",
    UNLINED: "unlined",
    WAITING: "waiting",
    WORKGROUP: "workgroup",
}

impl Variant {
    /// The kernel's WGSL.
    pub fn wgsl(&self) -> Result<String, TemplateError> {
        let text = match self {
            Variant::Tile(tile) => tile.wgsl()?,
            Variant::Trace(mode) => {
                let constants = ResiduePacking::Nucleotides.wgsl() + &constants([("THREADS", THREADS)]);
                constants + &direction_codes() + &expand(TRACE, &[BAND, PATH], &modes(*mode, traces()))?
            }
            Variant::Traceback => {
                let constants = constants([("THREADS", THREADS), ("NOWHERE", layout::NOWHERE)]);
                constants + &direction_codes() + &expand(TRACEBACK, &[PATH], &Meaning::default())?
            }
        };
        Ok(self.records() + &text)
    }

    /// The records of tasks and of their table, with `Task` as an alias of the task's record.
    fn records(&self) -> String {
        let (task, table) = (self.task(), self.table().map(|table| (table.wgsl)()));
        (task.wgsl)() + &format!("alias Task = {};\n", task.name) + &table.unwrap_or_default()
    }
}

impl TileVariant {
    fn wgsl(&self) -> Result<String, TemplateError> {
        let codes = match self.kernel {
            KernelResults::Score => String::new(),
            KernelResults::Fill => direction_codes(),
        };
        let numbers = constants([
            ("THREADS", self.threads()),
            ("LANES", self.lanes),
            ("ROWS", self.rows),
            ("PAIRS", self.pairs()),
            ("COLUMNS", self.columns()),
            ("WORDS", self.words()),
            ("PROFILE_WORDS", self.profile_words()),
            ("CHAIN_HEAD", layout::CHAIN_HEAD),
            ("NOWHERE", layout::NOWHERE),
            ("STRETCH", STRETCH),
        ]);
        let scale = format!("const SCALE = {};\n", self.scale());
        let none = match self.mode.is_local() {
            true => String::new(),
            false => format!("const NONE = i32({});\n", HitEnd::NONE.score),
        };
        let frame = if self.is_of_database() { DATABASE } else { TILE };
        let text = expand(frame, &self.parts(), &self.meaning())?;
        Ok(self.scores.letters().wgsl() + &scale + &none + &numbers + &codes + &text)
    }

    /// The parts that fill the slots of a tile.
    fn parts(&self) -> Vec<&'static str> {
        let recurrence = if self.is_few() { FEW } else { RECURRENCE };
        let substitution = match self.scores {
            // Chained strips have few rows, for which creating one-hot words takes longer than it saves.
            Scores::Packed if !self.is_chained() => [NUCLEOTIDES, PACKED],
            Scores::Packed | Scores::Compared => [NUCLEOTIDES, COMPARED],
            Scores::Profile | Scores::WideProfile => [CODES, PROFILE],
            Scores::SharedProfile => [CODES, SHARED_PROFILE],
        };
        let exchange = match self.exchange {
            Exchange::Subgroup => SUBGROUP,
            Exchange::Workgroup => WORKGROUP,
        };
        let joint = match (self.joint, self.exchange) {
            (TileNeighbors::Alone { .. }, _) if self.mode.is_local() => &[BY_PLACE, ALONE][..],
            (TileNeighbors::Alone { .. }, _) => &[BY_PLACE, BORDERS],
            (TileNeighbors::Database { .. }, _) => &[ALONE, STRIPS],
            (TileNeighbors::Joined { .. }, _) => &[BY_PLACE, JOINED, EDGES, GUARDED],
            (TileNeighbors::Chained { .. }, Exchange::Subgroup) => &[CHAINED, EDGES, BLOCKS],
            (TileNeighbors::Chained { .. }, Exchange::Workgroup) => &[CHAINED, EDGES, WAITING, GUARDED],
        };
        let lines = match self.joint {
            TileNeighbors::Chained { lined: true } => Some(LINED),
            TileNeighbors::Chained { lined: false } => Some(UNLINED),
            TileNeighbors::Alone { .. } | TileNeighbors::Database { .. } | TileNeighbors::Joined { .. } => {
                None
            }
        };
        let kept = match self.kernel {
            KernelResults::Fill => &[FILL][..],
            KernelResults::Score if self.is_of_database() => &[BEST],
            KernelResults::Score if !self.mode.is_local() => &[SCORE, ENDS],
            // Blocks keep the best cell in their own way.
            KernelResults::Score if self.goes_in_blocks() => &[SCORE],
            KernelResults::Score if self.keyed() => &[SCORE, KEYED],
            KernelResults::Score => &[SCORE, SEARCHED],
        };
        let mut parts = vec![STEP, recurrence, exchange];
        parts.extend(substitution.iter().chain(joint).chain(&lines).chain(kept));
        parts
    }

    /// Whether lanes process as many columns per iteration as a word has residues.
    fn goes_in_blocks(&self) -> bool {
        self.is_chained() && self.exchange == Exchange::Subgroup
    }

    fn meaning(&self) -> Meaning {
        let columns = (0..self.columns()).map(|column| Meaning::default().name("c", column));
        modes(self.mode, cells(self.rows))
            .rounds("columns", columns)
            .flag("SUBGROUP", self.exchange == Exchange::Subgroup)
            .flag("CHAINED", self.is_chained())
            .flag("LINED", self.joint == TileNeighbors::Chained { lined: true })
            .flag("KEYED", self.keyed())
            .flag("STRETCHED", self.is_stretched())
            .flag("STRIPS", self.joint == TileNeighbors::Database { strips: true })
            .flag("FINALS", self.keeps_finals())
            .name("none", if self.mode.is_local() { "0" } else { "NONE" })
            // Set if some lane may have no column.
            .flag("GUARDED", false)
    }
}

/// Adds the flags of a mode.
fn modes(mode: AlignmentMode, meaning: Meaning) -> Meaning {
    meaning
        .flag("LOCAL", mode.is_local())
        .flag("WHOLE_QUERIES", mode.takes_whole_queries())
        .flag("WHOLE_TARGETS", mode == AlignmentMode::Global)
        .flag("OVERLAP", mode == AlignmentMode::Overlap)
}

/// The names and flags of a lane's rows.
fn cells(rows: u32) -> Meaning {
    let row = |k: u32| {
        let names =
            [("k", k), ("next", k + 1), ("16", k / 16 * 16), ("4", k / 4 * 4), ("w", k / CELLS_PER_WORD)];
        let is_first = |every: u32| k.is_multiple_of(every);
        Meaning::default()
            .names(names)
            .flag("FIRST_OF_4", is_first(4))
            .flag("FIRST_OF_8", is_first(8))
            .flag("FIRST_OF_16", is_first(16))
    };
    let words = rows.div_ceil(CELLS_PER_WORD);
    let word = |word: u32| Meaning::default().names([("w", word), ("after", word + 1)]);
    Meaning::default()
        .names([("last", rows - 1), ("rows", rows), ("end", rows), ("words", words)])
        .rounds("rows", (0..rows).map(row))
        .rounds("rows_descending", (0..rows).rev().map(row))
        .rounds("words", (0..words).map(word))
}

/// The names of the lane kinds that trace. Kinds for the widest bands, which take longest, begin first.
fn traces() -> Meaning {
    let trace = |(kind, trace): (usize, &TraceLanes)| {
        cells(trace.cells).name("kind", kind).name("lanes", trace.lanes).flag("APART", trace.lanes > 1)
    };
    Meaning::default().rounds("traces", TRACES.iter().enumerate().rev().map(trace))
}

/// The constants of a cell's direction bits, in WGSL.
fn direction_codes() -> String {
    constants([
        ("STOP", CellSource::Stop as u32),
        ("DIAGONAL", CellSource::Diagonal as u32),
        ("DELETION", CellSource::Deletion as u32),
        ("INSERTION", CellSource::Insertion as u32),
        ("SOURCE_BITS", SOURCE_BITS),
        ("SOURCE_MASK", u32::from(SOURCE_MASK)),
        ("EXTEND_DELETION", u32::from(EXTEND_DELETION)),
        ("EXTEND_INSERTION", u32::from(EXTEND_INSERTION)),
        ("CELL_BITS", CELL_BITS),
        ("CELL_MASK", u32::from(CELL_MASK)),
        ("CELLS_PER_WORD", CELLS_PER_WORD),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_a_text_without_directives() {
        for variant in Variant::all() {
            let text = variant.wgsl().unwrap_or_else(|error| panic!("{variant:?}: {error}"));
            assert!(!text.contains("//!") && !text.contains('$'), "{variant:?}: {text}");
        }
    }
}
