//! SAM: the text of a line (SAMv1 specification, 2024).
//!
//! SEQ stands in the target's orientation, soft-clipped; secondary records have none. Proteins keep
//! their letters; only a stop `*`, which SAM forbids there, becomes X.
//!
//! A run may have millions of records, so their text is made here, column by column. The tests hold
//! it against noodles.

use super::line::{AlignedLine, OutputLine};
use super::tags::{push_number, sam_letter};

/// RNEXT, PNEXT and TLEN of a read that has no mate, with the tabs around them.
const NO_MATE: &[u8] = b"\t*\t0\t0\t";

/// Appends a line with its end, and the read group, where there is one, as the last tag.
pub fn push(text: &mut Vec<u8>, line: &OutputLine, read_group: Option<&str>) {
    text.extend_from_slice(line.name.as_bytes());
    push_column(text, line.flags());
    match &line.aligned {
        None => text.extend_from_slice(b"\t*\t0\t0\t*"),
        Some(aligned) => push_place(text, aligned),
    }
    text.extend_from_slice(NO_MATE);
    match line.is_secondary() {
        // The primary record has them already.
        true => text.extend_from_slice(b"*\t*"),
        false => push_sequence(text, line),
    }
    if let Some(aligned) = &line.aligned {
        push_tags(text, aligned);
    }
    if let Some(group) = read_group {
        text.extend_from_slice(b"\tRG:Z:");
        text.extend_from_slice(group.as_bytes());
    }
    text.push(b'\n');
}

/// RNAME to CIGAR, with the tab before them.
fn push_place(text: &mut Vec<u8>, aligned: &AlignedLine) {
    text.push(b'\t');
    text.extend_from_slice(aligned.target_name.as_bytes());
    push_column(text, aligned.alignment.target_start + 1);
    push_column(text, aligned.quality);
    text.push(b'\t');
    for &(len, kind) in aligned.cigar {
        push_number(text, len);
        text.push(kind.letter());
    }
}

/// SEQ and QUAL.
fn push_sequence(text: &mut Vec<u8>, line: &OutputLine) {
    match line.letters.is_empty() {
        true => text.push(b'*'),
        false => text.extend(line.letters.iter().map(|&letter| sam_letter(letter))),
    }
    text.push(b'\t');
    match line.is_reverse() {
        _ if line.qualities.is_empty() => text.push(b'*'),
        false => text.extend_from_slice(line.qualities),
        true => text.extend(line.qualities.iter().rev()),
    }
}

/// NM, MD and AS, and on primary records XS.
fn push_tags(text: &mut Vec<u8>, aligned: &AlignedLine) {
    text.extend_from_slice(b"\tNM:i:");
    push_number(text, aligned.differences.edits);
    text.extend_from_slice(b"\tMD:Z:");
    text.extend_from_slice(&aligned.differences.md);
    text.extend_from_slice(b"\tAS:i:");
    push_number(text, aligned.alignment.score);
    if let Some(second) = aligned.second {
        // No constant of SAM: it leaves X? to programs, and bwa and bowtie2 use XS alike.
        text.extend_from_slice(b"\tXS:i:");
        push_number(text, second);
    }
}

/// A tab and a number.
fn push_column(text: &mut Vec<u8>, number: impl Into<i64>) {
    text.push(b'\t');
    push_number(text, number);
}
