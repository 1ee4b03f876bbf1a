//! The WGSL of the kernels, from the templates in `shaders/` (the language: [`template`](super::template)).
//!
//! | loop | rounds | names of a round |
//! |---|---|---|
//! | `rows`, `rows_descending` | the rows of a lane | `$k` the row, `$next` the next one, `$w` its direction word, `$4` and `$16` the first row of its four and sixteen |
//! | `words` | the direction words of a lane's rows | `$w` the word, `$after` the next one |
//! | `columns` | the columns that the loop over steps does in one go | `$c` |
//! | `traces` | the kinds of lanes that trace; a row is a cell | `$kind` the kind's place, `$lanes` |
//!
//! Everywhere `$last` is the last row of a lane, `$rows` and `$end` the number of rows, `$words` that of words.

use crate::batch::STRETCH;
use crate::engine::directions::{
    CELL_BITS, CELL_MASK, CELLS_PER_WORD, EXTEND_DELETION, EXTEND_INSERTION, SOURCE_BITS, SOURCE_MASK, Source,
};
use crate::engine::gpu::layout::{self, Letters, THREADS};
use crate::engine::gpu::template::{Meaning, TemplateError, constants, expand};
use crate::engine::gpu::variant::{
    Exchange, Joint, Kernel, Scores, TRACES, TileVariant, TraceLanes, Variant,
};

const TILE: &str = include_str!("../../../shaders/tile.wgsl");
const STEP: &str = include_str!("../../../shaders/step.wgsl");
const SCORE: &str = include_str!("../../../shaders/score.wgsl");
const FILL: &str = include_str!("../../../shaders/fill.wgsl");
const TRACE: &str = include_str!("../../../shaders/trace.wgsl");
const CHAIN: &str = include_str!("../../../shaders/chain.wgsl");
const BAND: &str = include_str!("../../../shaders/band.wgsl");
const TRACEBACK: &str = include_str!("../../../shaders/traceback.wgsl");
const PATH: &str = include_str!("../../../shaders/path.wgsl");

impl Variant {
    /// The kernel's WGSL.
    pub fn wgsl(&self) -> Result<String, TemplateError> {
        let text = match self {
            Variant::Tile(tile) => tile.wgsl()?,
            Variant::Trace => {
                let constants = Letters::Nucleotides.wgsl() + &constants([("THREADS", THREADS)]);
                constants + &direction_codes() + &expand(TRACE, &[BAND, PATH], &traces())?
            }
            Variant::Traceback => {
                let constants = constants([("THREADS", THREADS), ("NOWHERE", layout::NOWHERE)]);
                constants + &direction_codes() + &expand(TRACEBACK, &[PATH], &Meaning::default())?
            }
        };
        Ok(self.records() + &text)
    }

    /// The records of tasks and of their table, where a task is a `Task`.
    fn records(&self) -> String {
        let (task, table) = (self.task(), self.table().map(|table| (table.wgsl)()));
        (task.wgsl)() + &format!("alias Task = {};\n", task.name) + &table.unwrap_or_default()
    }
}

impl TileVariant {
    fn wgsl(&self) -> Result<String, TemplateError> {
        let (parts, codes) = match self.kernel {
            Kernel::Score => (&[STEP, SCORE, CHAIN][..], String::new()),
            Kernel::Fill => (&[STEP, FILL][..], direction_codes()),
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
        let text = expand(TILE, parts, &self.meaning())?;
        Ok(self.scores.letters().wgsl() + &scale + &numbers + &codes + &text)
    }

    fn meaning(&self) -> Meaning {
        let columns = (0..self.columns()).map(|column| Meaning::default().name("c", column));
        let chained = self.is_chained();
        let shuffle = self.exchange == Exchange::Subgroup;
        cells(self.rows)
            .rounds("columns", columns)
            .flag("GUARDED", false)
            .flag("EDGES", self.has_edges())
            // Chained strips have few rows, for which making one-hot words takes longer than it saves.
            .flag("PACKED", self.scores == Scores::Packed && !chained)
            .flag("PROFILE", self.scores.is_profile())
            .flag("SHUFFLE", shuffle)
            .flag("SHARED", self.scores == Scores::SharedProfile)
            .flag("KEYED", self.keyed())
            .flag("FEW", self.is_few())
            .flag("CHAINED", chained)
            .flag("LINED", self.joint == Joint::Chained { lined: true })
            .flag("STRETCHED", self.is_stretched())
            .flag("FINALS", self.keeps_finals())
            .flag("BLOCKS", chained && shuffle)
    }
}

/// What the rows of a lane mean.
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

/// What the kinds of lanes that trace mean. The kinds of the widest bands, which take longest, begin first.
fn traces() -> Meaning {
    let trace = |(kind, trace): (usize, &TraceLanes)| {
        cells(trace.cells).name("kind", kind).name("lanes", trace.lanes).flag("APART", trace.lanes > 1)
    };
    Meaning::default().rounds("traces", TRACES.iter().enumerate().rev().map(trace))
}

/// The bits of a cell's directions, in WGSL.
fn direction_codes() -> String {
    constants([
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
    ])
}
