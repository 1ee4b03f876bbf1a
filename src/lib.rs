//! Exact Smith-Waterman alignment, and search with edits, on the CPU and on GPUs with Vulkan, Metal or DX12.
//!
//! ```
//! use swalign::{Aligner, Device, Scoring, Targets};
//!
//! let targets = Targets::from_dna([("chr1", "GGACGTTGCATTCAAGCCATGGATCCAA")])?;
//! let aligner = Aligner::builder(Scoring::dna(2, 4, 4, 2)).device(Device::Cpu).min_score(20).build(&targets)?;
//! let hits = aligner.align("ACGTTGCATTAGCCATGGATCC")?;
//! let hit = &hits[0];
//! assert_eq!((hit.target_name(), hit.target_range(), hit.score()), ("chr1", 2..26, 36));
//! assert_eq!(hit.cigar().to_string(), "10M2D12M");
//! # Ok::<(), swalign::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | align one sequence with another | [`align_pair`], or [`PairAligner`] for many pairs |
//! | find where queries align in references | [`Targets`], then [`Aligner::align`], or [`Aligner::align_all`] for an iterator of them |
//! | know the scores alone, of all with all | [`Aligner::score_all`] |
//! | know how likely a score is by chance | [`Significance`] |
//! | find where short patterns occur with few edits | [`Searcher::search`], [`Searcher::search_all`] |
//! | find amplicons of primer pairs | [`Searcher::amplicons`] |
//! | read a file's sequences | [`Records`], [`Targets::open`] |
//! | choose scores and gap costs | [`Scoring::builder`], [`Scoring::preset`], [`Scoring::dna`], [`Scoring::matrix`] with [`Matrix::named`] or [`Matrix::from_text`] |
//! | choose what computes | [`Device`] |
//! | tell errors apart | [`Error::kind`] |
//!
//! docs/guide/rust.md in the repository is a guide with longer examples.
//!
//! Sequences go in as letters. A [`Hit`] and a [`Match`] say where, on which [`Strand`], how well, and by which [`Cigar`].
//! Aligners and searchers are `Send` and `Sync`: build one, and let threads share it by reference.
//!
//! # What is found
//!
//! A local alignment pairs letters of an interval of the query with letters of an interval of the target, in order. Letters
//! left over between two pairs form gaps: an *insertion* consumes the query, a *deletion* the target. Each pair scores
//! `s(q_i, t_j)`, and a gap of `k` letters costs `gap_open + k * gap_extend`, both positive numbers, as in minimap2, bwa
//! and BLAST: with `gap_open` 4 and `gap_extend` 2, length 1 costs 6 and length 2 costs 8.
//!
//! What is reported has the highest score that any alignment has. No heuristic stands in the way: the filter that narrows
//! down where a query is scored loses nothing, and [`AlignerBuilder::filter`] turns it off. The answer does not depend on
//! the device or the number of threads. Equal scores are decided in this order: forward strand, earlier target, smaller
//! target end, smaller query end; along a path diagonal before deletion before insertion, from its end.
//!
//! ```text
//! query   0 ACGTTGCATT--AGCCATGGATCC 22
//!           ||||||||||  ||||||||||||
//! target  2 ACGTTGCATTCAAGCCATGGATCC 26        22 matches of 2, a gap of 4 + 2 * 2: 36
//! ```
//!
//! ```
//! use swalign::{Scoring, align_pair};
//!
//! let hit = align_pair("ACGTTGCATTAGCCATGGATCC", "GGACGTTGCATTCAAGCCATGGATCCAA", &Scoring::dna(2, 4, 4, 2))?;
//! let hit = hit.expect("they have letters in common");
//! assert_eq!((hit.score(), hit.target_range(), hit.query_range()), (36, 2..26, 0..22));
//! assert_eq!(hit.cigar().to_string(), "10M2D12M");
//! # Ok::<(), swalign::Error>(())
//! ```
//!
//! A search computes the fewest edits of every pattern at every end (Sellers 1980) and reports the local minima: see
//! [`Searcher`].
//!
//! # Letters
//!
//! Lower case is upper case. DNA: A, C, G and T match themselves, and U is T. N and the other IUPAC codes match nothing,
//! themselves included, unless a matrix says so; in the patterns of a search they match the bases that they stand for.
//! Proteins are scored by a matrix; the built-in ones are NCBI's classic 24-letter edition, in which U scores as C, O as
//! K, and J as the mean of I and L.
//!
//! # Edge cases
//!
//! - An empty query, and one without a letter in common with the targets, has no hits; that is no error.
//! - A byte that is no letter of the alphabet is an error of that query, text, target or pattern, which names the place.
//! - Scores are `i32`. What could overflow is an error.
//! - Queries and targets of any length are aligned in bounded memory: 3 million letters with 3 million take minutes, and
//!   not gigabytes.
//! - If a GPU fails, [`Device::Auto`] goes on with the CPU; other devices return the error.
//! - Functions of this page do not panic, whatever they are given. One that does has a fault: please report it.
//!
//! # Features
//!
//! - `gpu`: engines on GPUs, through wgpu. Without it [`Device::Auto`] is the CPU.
//! - `database`: [`Targets::open`] takes databases that `swalign index` made.
//! - `cli` (default, brings both): what the command `swalign` is made from. A library needs it not:
//!   `default-features = false, features = ["gpu"]`.
//!
//! # Stability
//!
//! What this page lists changes as semantic versioning has it. The crate's other modules are its engine room: they are
//! hidden here, may change with any version, and are described in `docs/ARCHITECTURE.md`; `docs/algorithm.md` has the
//! recurrence and the proofs.

#![cfg_attr(not(engine_room), warn(missing_docs))]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]
// A number that is too large, or negative, must not become another one in silence: see `casts`.
#![cfg_attr(
    not(test),
    warn(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        clippy::cast_lossless,
        clippy::ptr_as_ptr
    )
)]

mod api;

pub use api::{
    AlignAll, AlignPairs, Aligner, AlignerBuilder, Amplicon, AmpliconSearcher, AmpliconsAll, Cigar, Device,
    Hit, Match, Op, PairAligner, PairAlignerBuilder, PamSide, PrimerPairs, PrimerSite, Record, Records,
    ScoreAll, ScoringBuilder, SearchAll, Searcher, SearcherBuilder, Significance, Targets, align_pair,
};
pub use terms::alignment::Strand;
pub use terms::alphabet::Alphabet;
pub use terms::error::{EngineError, Error, ErrorKind, Place, Result};
pub use terms::scoring::{AlignmentMode, GapPiece, Matrix, Scoring};

// The engine room, for the command, the tests and the benchmarks; `RUSTDOCFLAGS="--cfg engine_room" cargo doc` shows it.

#[cfg_attr(not(engine_room), doc(hidden))]
pub mod align;
#[cfg(feature = "cli")]
#[cfg_attr(not(engine_room), doc(hidden))]
pub mod cli;
#[cfg_attr(not(engine_room), doc(hidden))]
pub mod engine;
#[cfg(feature = "gpu")]
#[cfg_attr(not(engine_room), doc(hidden))]
pub mod gpu;
#[cfg_attr(not(engine_room), doc(hidden))]
pub mod input;
#[cfg(feature = "cli")]
#[cfg_attr(not(engine_room), doc(hidden))]
pub mod output;
#[cfg_attr(not(engine_room), doc(hidden))]
pub mod patterns;
#[cfg(feature = "cli")]
#[cfg_attr(not(engine_room), doc(hidden))]
pub mod pipeline;
#[cfg_attr(not(engine_room), doc(hidden))]
pub mod terms;

/// Compiles and runs the examples of README.md with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Compiles and runs the examples of the guide with the tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide/rust.md")]
struct RustGuide;
