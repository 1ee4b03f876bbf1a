//! PAF, minimap2's format: twelve columns and tags, no header.
//!
//! Coordinates are 0-based and half-open. Those of the query are on its original strand, those of the target on the
//! forward strand. The columns of matches and of the block's length, NM, de and tp are computed as in minimap2 (Li
//! 2018): an ambiguous column (N and the other IUPAC codes on either side) is an edit, and counts neither as a match
//! nor in the block.

use super::line::{AlignedLine, BamOp, LineRank, OutputLine};
use super::sam::push_cs;
use super::tags::{Residues, push_number};
use crate::terms::alignment::ColumnCounts;
use crate::terms::casts::to_i64;
use std::io::Write;

/// The tag that marks a supplementary line, for which PAF has no standard tag.
pub(super) const SUPPLEMENTARY_LINE: &[u8] = b"\tsu:i:1";

/// The columns after name and length of a query without hits.
const UNALIGNED: &[u8] = b"\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0";

/// Appends a line with its newline.
pub fn push(text: &mut Vec<u8>, line: &OutputLine, residues: &Residues) {
    push_columns(text, line, residues);
    text.extend_from_slice(line.copied);
    text.push(b'\n');
}

/// Appends the columns, and the tags of the alignment.
fn push_columns(text: &mut Vec<u8>, line: &OutputLine, residues: &Residues) {
    let len = to_i64(line.letters.len());
    text.extend_from_slice(line.name.as_bytes());
    if let Some(mate) = &line.mate {
        text.extend_from_slice(if mate.is_first { b"/1" } else { b"/2" });
    }
    push_column(text, len);
    let Some(aligned) = &line.aligned else {
        text.extend_from_slice(UNALIGNED);
        return;
    };
    let alignment = aligned.alignment;
    let (start, end) = (i64::from(alignment.query_start), i64::from(alignment.query_end));
    let (start, end, strand) = match line.is_reverse() {
        false => (start, end, b"\t+\t"),
        true => (len - end, len - start, b"\t-\t"),
    };
    push_column(text, start);
    push_column(text, end);
    text.extend_from_slice(strand);
    text.extend_from_slice(aligned.target.name.as_bytes());
    push_column(text, aligned.target.len);
    push_column(text, alignment.target_start);
    push_column(text, alignment.target_end);
    let counts = &aligned.differences.counts;
    let ambiguous = residues.ambiguous((line.letters, aligned.target.aligned), alignment);
    push_column(text, to_i64(counts.matches));
    push_column(text, to_i64(counts.columns() - ambiguous));
    push_column(text, aligned.quality);
    push_tags(text, aligned);
    if aligned.is_anchored {
        text.extend_from_slice(b"\tya:i:1");
    }
    if aligned.rank == LineRank::Supplementary {
        text.extend_from_slice(SUPPLEMENTARY_LINE);
    }
}

/// Appends the tags from NM to cg, and cs if requested, in minimap2's order.
fn push_tags(text: &mut Vec<u8>, aligned: &AlignedLine) {
    text.extend_from_slice(b"\tNM:i:");
    push_number(text, to_i64(aligned.differences.counts.edits()));
    text.extend_from_slice(b"\tAS:i:");
    push_number(text, aligned.alignment.score);
    text.extend_from_slice(if aligned.rank == LineRank::Secondary { b"\ttp:A:S" } else { b"\ttp:A:P" });
    text.extend_from_slice(b"\tde:f:");
    push_divergence(text, &aligned.differences.counts);
    text.extend_from_slice(b"\tcg:Z:");
    for &(len, kind) in aligned.cigar.iter().filter(|(_, kind)| *kind != BamOp::Clip) {
        push_number(text, len);
        text.push(kind.letter());
    }
    push_cs(text, aligned);
}

/// Appends de, the gap-compressed divergence: the share of columns that do not match, where each gap counts as one
/// column. It is rounded as in minimap2, so that lines of both programs can be compared as text.
fn push_divergence(text: &mut Vec<u8>, counts: &ColumnCounts) {
    let columns = counts.matches + counts.mismatches + counts.gaps();
    let divergence = 1.0 - counts.matches as f64 / columns as f64;
    if divergence == 0.0 {
        text.push(b'0');
    } else {
        // Writing to memory cannot fail.
        let _ = write!(text, "{divergence:.4}");
    }
}

/// A tab and a number.
fn push_column(text: &mut Vec<u8>, number: impl Into<i64>) {
    text.push(b'\t');
    push_number(text, number);
}
