//! The WGSL of the kernels, from the templates in `shaders/` (the language: [`template`](crate::gpu::template)).
//!
//! | loop | rounds | names of a round |
//! |---|---|---|
//! | `rows`, `rows_descending` | the rows of a lane | `$k` the row, `$next` the next one, `$w` the word of its base, `$word` its direction word, `$4` and `$16` the first row of its four and sixteen |
//! | `words` | the words of a lane's residues of four bits | `$w` the word, `$after` the next one |
//! | `direction_words` | the direction words of a lane's rows | `$word` the word |
//! | `columns` | the columns of one iteration of the loop over steps | `$c` |
//! | `further`, `further_descending` | the pieces of the gap costs after the first | `$p` the piece, counted from 0, `$before` the piece before it |
//! | `traces` | the lane kinds that trace; a row is a cell | `$kind` the index of the kind, `$lanes` |
//!
//! A row also has flags: `FIRST_OF_4`, `FIRST_OF_8` and `FIRST_OF_16`, set in every 4th, 8th and 16th row.
//! Everywhere `$last` is the last row of a lane, `$rows` and `$end` the number of rows, `$words` that of the words of its
//! residues, `$directions` that of its direction words; `$tasks` and the like are binding numbers
//! ([`KernelBuffer`](crate::engine::gpu::bindings::KernelBuffer)). The flag `SEVERAL_PIECES` says that gap costs have several pieces.

use crate::engine::directions::{
    CellSource, PIECE_MASK, PIECE_SHIFT, SOURCE_BITS, SOURCE_MASK, cell_bits, cells_per_word, extend_bits,
};
use crate::engine::gpu::bindings::binding_names;
use crate::engine::gpu::layout::{self, ResiduePacking, THREADS};
use crate::engine::gpu::variant::{
    Exchange, KernelResults, ROWS_OF_LANE, RowKind, Scores, TRACES, TileNeighbors, TileVariant, TraceLanes,
    Variant,
};
use crate::gpu::template::{Meaning, TemplateError, constants, expand};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::STRETCH;
use crate::terms::casts::to_u32;
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
    FRAMED: "framed",
    ROWS: "rows",
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
            Variant::Trace { mode, pieces } => {
                let constants = ResiduePacking::Nucleotides.wgsl() + &constants([("THREADS", THREADS)]);
                let meaning = binding_names(modes(*mode, in_pieces(*pieces, traces(*pieces))));
                constants + &direction_codes(*pieces) + &expand(TRACE, &[BAND, PATH], &meaning)?
            }
            Variant::Traceback { mode, pieces } => {
                let constants = constants([("THREADS", THREADS), ("NOWHERE", layout::NOWHERE)]);
                let meaning = binding_names(modes(*mode, in_pieces(*pieces, Meaning::default())));
                constants + &direction_codes(*pieces) + &expand(TRACEBACK, &[PATH], &meaning)?
            }
            Variant::Rows { lanes, kind } => {
                let numbers = constants([
                    ("THREADS", self.threads()),
                    ("LANES", *lanes),
                    ("ROWS", ROWS_OF_LANE),
                    ("PAIRS", self.pairs()),
                    ("TABLE_WORDS", layout::TABLE_WORDS),
                    ("POSITION_WORDS", kind.words()),
                    (
                        "NO_ROW",
                        if *kind == RowKind::Codons { layout::CODES * (layout::CODES - 1) } else { u32::MAX },
                    ),
                ]);
                let meaning = cells(ROWS_OF_LANE, 1)
                    .flag("FRAMED", *kind == RowKind::Codons)
                    .flag("PROFILE", *kind != RowKind::Codons)
                    .flag("GAPS", *kind == RowKind::GappedPositions);
                ResiduePacking::Codes.wgsl() + &numbers + &expand(ROWS, &[], &binding_names(meaning))?
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
            KernelResults::Fill => direction_codes(self.pieces),
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
            ("POSITION_WORDS", layout::POSITION_WORDS),
        ]);
        let scale = format!("const SCALE = {};\n", self.scale());
        let none = match self.mode.is_local() {
            true => String::new(),
            false => format!("const NONE = i32({});\n", HitEnd::NONE.score),
        };
        let further = match self.pieces {
            1 => String::new(),
            pieces => constants([("FURTHER", to_u32(pieces) - 1)]),
        };
        let frame = if self.is_of_database() { DATABASE } else { TILE };
        let text = expand(frame, &self.parts(), &self.meaning())?;
        Ok(self.scores.letters().wgsl() + &scale + &none + &numbers + &further + &codes + &text)
    }

    /// The parts that fill the slots of a tile.
    fn parts(&self) -> Vec<&'static str> {
        let recurrence = match self.scores {
            Scores::SharedCodons => FRAMED,
            _ if self.is_few() => FEW,
            _ => RECURRENCE,
        };
        let substitution = match self.scores {
            // Chained strips have few rows, for which creating one-hot words takes longer than it saves.
            Scores::Packed if !self.is_chained() => [NUCLEOTIDES, PACKED],
            Scores::Packed | Scores::Compared => [NUCLEOTIDES, COMPARED],
            Scores::Profile | Scores::WideProfile => [CODES, PROFILE],
            Scores::SharedProfile | Scores::SharedPositions | Scores::SharedCodons => [CODES, SHARED_PROFILE],
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
        binding_names(modes(self.mode, in_pieces(self.pieces, cells(self.rows, self.pieces))))
            .rounds("columns", columns)
            .flag("SUBGROUP", self.exchange == Exchange::Subgroup)
            .flag("CHAINED", self.is_chained())
            .flag("JOINED", matches!(self.joint, TileNeighbors::Joined { .. }))
            .flag("LINED", self.joint == TileNeighbors::Chained { lined: true })
            .flag("KEYED", self.keyed())
            .flag("STRETCHED", self.is_stretched())
            .flag("STRIPS", self.joint == TileNeighbors::Database { strips: true })
            .flag("FINALS", self.keeps_finals())
            .flag("POSITIONS", self.scores == Scores::SharedPositions)
            .flag("FRAMED", self.scores == Scores::SharedCodons)
            .name("none", if self.mode.is_local() { "0" } else { "NONE" })
            // Set if some lane may have no column.
            .flag("GUARDED", false)
    }
}

/// Adds the flags of a mode.
fn modes(mode: AlignmentMode, meaning: Meaning) -> Meaning {
    meaning
        .flag("LOCAL", mode.is_local())
        .flag("FROM_QUERY_START", !mode.free_starts().query)
        .flag("FROM_TARGET_START", !mode.free_starts().target)
        .flag("FROM_EITHER_START", mode.begins_at_either_start())
        .flag("TO_EITHER_END", mode.ends_at_either_end())
}

/// Adds the pieces of the gap costs.
fn in_pieces(pieces: usize, meaning: Meaning) -> Meaning {
    let further = |piece: usize| Meaning::default().name("p", piece).name("before", piece - 1);
    meaning
        .flag("SEVERAL_PIECES", pieces > 1)
        .rounds("further", (1..pieces).map(further))
        .rounds("further_descending", (1..pieces).rev().map(further))
}

/// The names and flags of a lane's rows.
fn cells(rows: u32, pieces: usize) -> Meaning {
    let (bases, cells) = (u32::BITS / ResiduePacking::Nucleotides.bits(), cells_per_word(pieces));
    let row = |k: u32| {
        let names = [
            ("k", k),
            ("next", k + 1),
            ("16", k / 16 * 16),
            ("4", k / 4 * 4),
            ("w", k / bases),
            ("word", k / cells),
        ];
        let is_first = |every: u32| k.is_multiple_of(every);
        Meaning::default()
            .names(names)
            .flag("FIRST_OF_4", is_first(4))
            .flag("FIRST_OF_8", is_first(8))
            .flag("FIRST_OF_16", is_first(16))
    };
    let (words, directions) = (rows.div_ceil(bases), rows.div_ceil(cells));
    let word = |word: u32| Meaning::default().names([("w", word), ("after", word + 1)]);
    let direction = |word: u32| Meaning::default().names([("word", word)]);
    Meaning::default()
        .names([("last", rows - 1), ("rows", rows), ("end", rows)])
        .names(
            [("second", 2), ("third", 3), ("fourth", 4)]
                .map(|(name, from_end)| (name, rows.saturating_sub(from_end))),
        )
        .names([("words", words), ("directions", directions)])
        .rounds("rows", (0..rows).map(row))
        .rounds("rows_descending", (0..rows).rev().map(row))
        .rounds("words", (0..words).map(word))
        .rounds("direction_words", (0..directions).map(direction))
}

/// The names of the lane kinds that trace. Kinds for the widest bands, which take longest, begin first.
fn traces(pieces: usize) -> Meaning {
    let trace = |(kind, trace): (usize, &TraceLanes)| {
        let meaning = cells(trace.cells, pieces).name("kind", kind);
        meaning.name("lanes", trace.lanes).flag("APART", trace.lanes > 1)
    };
    Meaning::default().rounds("traces", TRACES.iter().enumerate().rev().map(trace))
}

/// The constants of a cell's direction bits, in WGSL.
fn direction_codes(pieces: usize) -> String {
    let of_piece = |piece: usize| {
        let number = if piece == 0 { String::new() } else { piece.to_string() };
        let [deletion, insertion] = extend_bits(piece).map(u32::from);
        constants([
            (format!("EXTEND_DELETION{number}").as_str(), deletion),
            (format!("EXTEND_INSERTION{number}").as_str(), insertion),
            (format!("PIECE{number}").as_str(), to_u32(piece) << PIECE_SHIFT),
        ])
    };
    (0..pieces).map(of_piece).collect::<String>()
        + &constants([
            ("STOP", CellSource::Stop as u32),
            ("DIAGONAL", CellSource::Diagonal as u32),
            ("DELETION", CellSource::Deletion as u32),
            ("INSERTION", CellSource::Insertion as u32),
            ("SOURCE_BITS", SOURCE_BITS),
            ("SOURCE_MASK", u32::from(SOURCE_MASK)),
            ("PIECE_MASK", u32::from(PIECE_MASK)),
            ("CELL_BITS", cell_bits(pieces)),
            ("CELL_MASK", (1 << cell_bits(pieces)) - 1),
            ("CELLS_PER_WORD", cells_per_word(pieces)),
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
