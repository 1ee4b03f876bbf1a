//! Exact Smith-Waterman on any GPU, and on the CPU.
//!
//! ```
//! use swalign::{Aligner, Device, Scoring, Targets};
//!
//! let targets = Targets::from_dna([("chr1", "GGACGTTGCATTCAAGCCATGGATCCAA")])?;
//! let aligner = Aligner::builder(Scoring::dna(2, 4, 4, 2)).device(Device::Cpu).max_hits(5).build(&targets)?;
//! for hit in aligner.align("ACGTTGCATTAGCCATGGATCC")? {
//!     println!("{} {:?} {} {}", hit.target_name(), hit.target_range(), hit.score(), hit.cigar());
//! }
//! # Ok::<(), swalign::Error>(())
//! ```
//!
//! [`Targets`] hold the sequences to align with, from a FASTA file or from memory. An [`Aligner`] is built for them once, on
//! a [`Device`], and threads share it: [`Aligner::align`] takes one query, [`Aligner::align_all`] an iterator of them.
//! [`align_pair`] aligns two sequences. A [`Hit`] has its score, its places, its strand and its [`Cigar`].
//!
//! The modules below are the engine room. Their items may change with any version; those named here change as semantic
//! versioning has it.
//!
//! # The problem
//!
//! A query is a sequence of residues `q_i`, a target one of residues `t_j`; `i` runs over the query, `j`
//! over the target, both from 0. A local alignment pairs residues of an interval of the query with
//! residues of an interval of the target, in order. Residues left over between two pairs form gaps: an
//! *insertion* consumes the query, a *deletion* the target. Each pair scores `s(q_i, t_j)`, each gap
//! costs. The crate finds the alignments of the highest score. No heuristic stands in the way: what is
//! reported is the optimum under the scoring.
//!
//! A gap of `k` residues costs `gap_open + k * gap_extend`, both positive numbers, as in minimap2, bwa
//! and BLAST. With `gap_open` 4 and `gap_extend` 2, length 1 costs 6 and length 2 costs 8. With
//! `gap_open` 0 gaps are linear. (Other programs count the first residue as `open` alone.)
//!
//! # The recurrence
//!
//! Gotoh 1982, in the letters that stand in every engine and kernel:
//!
//! ```text
//! E(i,j) = max(E(i,j-1), H(i,j-1) - open) - ext        a deletion ends at (i,j)
//! F(i,j) = max(F(i-1,j), H(i-1,j) - open) - ext        an insertion ends at (i,j)
//! H(i,j) = max(0, H(i-1,j-1) + s(q_i,t_j), E(i,j), F(i,j))
//! ```
//!
//! Outside the matrix H is 0, and E and F are minus infinity. H(i,j) is the best score of an alignment
//! whose last residues are at `i` and `j`; 0 means that there is none worth starting. Scores are `i32`.
//! What could overflow is refused ([`scoring::Scoring::fits`]).
//!
//! # Ties
//!
//! Equal scores are decided the same way everywhere, so that every engine gives the same bytes:
//!
//! - Between hits: higher score, forward strand, earlier target, smaller target end, smaller query end
//!   ([`alignment::Locus::order`]).
//! - Along the path, which is walked from its end: diagonal before deletion before insertion; a gap
//!   closes as soon as it can; the path stops at the first cell whose H is 0
//!   ([`engine::Source`]).
//!
//! # Letters
//!
//! DNA: A, C, G and T match themselves, and U is T. N and the other IUPAC codes match nothing,
//! themselves included, unless a matrix says so. Proteins are scored by a matrix; the built-in ones are
//! NCBI's classic 24-letter edition. Lower case is upper case.
//!
//! # Data flow
//!
//! ```text
//! reader --Record--> pipeline --Batch--> candidates --Pair--> engine.score --Hit--> hits
//!     --Window--> engine.paths --Paths--> backtrace --Alignment--> writer
//! ```
//!
//! - [`reader`] gives records, [`batch`] lays their codes one behind the other. [`groups`] says which records stay
//!   together in parts and in blocks of BAM.
//! - [`candidates`] says which stretches of which targets a query meets.
//! - An [`engine::Engine`] scores pairs and finds paths: [`engine::plain`] is the
//!   specification, [`engine::cpu`] uses the machine's cores, [`engine::gpu`] runs WGSL kernels.
//! - [`hits`] decides which alignments a query has, [`bounds`] how far each can stray, and
//!   [`backtrace`] makes them of their paths.
//! - [`writer`] makes SAM, BAM or PAF of it. [`pipeline`] runs all of this side by side for the command, whose
//!   arguments [`cli`] resolves into [`options`].
//!
//! Coordinates are 0-based and half-open everywhere but in SAM. The proofs are in `docs/algorithm.md`,
//! the layers in `docs/ARCHITECTURE.md`.
//!
//! # Example
//!
//! Two bases of the target have no partner in the query:
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

pub mod aligner;
pub mod alignment;
pub mod alphabet;
pub mod backtrace;
pub mod batch;
pub mod bounds;
pub mod candidates;
#[cfg(feature = "cli")]
pub mod cli;
pub mod engine;
pub mod error;
#[cfg(feature = "cli")]
pub mod grep;
pub mod groups;
pub mod hits;
pub mod memory;
pub mod options;
#[cfg(feature = "cli")]
pub mod pipeline;
pub mod reader;
pub mod scoring;
pub mod search;
#[cfg(feature = "cli")]
pub mod writer;

pub use aligner::{AlignAll, Aligner, Builder, Cigar, Device, Hit, Targets, align_pair};
pub use alignment::{Op, Strand};
pub use alphabet::Alphabet;
pub use error::Error;
pub use scoring::{Matrix, Scoring};

/// Compiles and runs the examples of README.md with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
