//! SAM: the text of a line (SAMv1 specification, 2024).
//!
//! SEQ is in the target's orientation and soft-clipped; secondary records have none. Proteins keep their residues,
//! except that a stop `*`, which SAM forbids there, becomes X.
//!
//! A run may have millions of records, so this module writes their text itself, column by column. The tests compare it
//! with noodles.

use super::line::{AlignedLine, BamOp, MateOf, OutputLine};
use super::tags::{push_number, sam_letter};
use crate::terms::casts::to_i64;

/// RNEXT, PNEXT and TLEN without a mate's position, with the tabs around them.
const NO_MATE: &[u8] = b"\t*\t0\t0\t";

/// Appends a line with its newline. The read group, if there is one, and copied tags come last.
pub fn push(text: &mut Vec<u8>, line: &OutputLine, read_group: Option<&str>) {
    text.extend_from_slice(line.name.as_bytes());
    push_column(text, line.flags());
    push_place(text, line);
    push_mate(text, line);
    match line.is_secondary() {
        // The primary record has them already.
        true => text.extend_from_slice(b"*\t*"),
        false => push_sequence(text, line),
    }
    if let Some(aligned) = &line.aligned {
        push_tags(text, aligned);
    }
    if let Some(mate) = line.mate.as_ref().filter(|_| line.is_primary()) {
        push_mate_tags(text, mate);
    }
    if let Some(group) = read_group {
        text.extend_from_slice(b"\tRG:Z:");
        text.extend_from_slice(group.as_bytes());
    }
    text.extend_from_slice(line.copied);
    text.push(b'\n');
}

/// Appends the columns from RNAME to CIGAR, with the tab before them.
fn push_place(text: &mut Vec<u8>, line: &OutputLine) {
    text.push(b'\t');
    match line.place() {
        None => text.extend_from_slice(b"*\t0"),
        Some((_, name, start)) => {
            text.extend_from_slice(name.as_bytes());
            push_column(text, start + 1);
        }
    }
    match &line.aligned {
        None => text.extend_from_slice(b"\t0\t*"),
        Some(aligned) => {
            push_column(text, aligned.quality);
            text.push(b'\t');
            push_cigar(text, aligned.cigar);
        }
    }
}

pub(super) fn push_cigar(text: &mut Vec<u8>, cigar: &[(u32, BamOp)]) {
    for &(len, kind) in cigar {
        push_number(text, len);
        text.push(kind.letter());
    }
}

/// Appends RNEXT, PNEXT and TLEN, with the tabs around them.
fn push_mate(text: &mut Vec<u8>, line: &OutputLine) {
    let Some((number, name, start)) = line.mate_place() else { return text.extend_from_slice(NO_MATE) };
    let is_same = line.place().is_some_and(|(own, _, _)| own == number);
    text.push(b'\t');
    text.extend_from_slice(if is_same { b"=" } else { name.as_bytes() });
    push_column(text, start + 1);
    push_column(text, line.template_length());
    text.push(b'\t');
}

/// Appends MC, MQ and ms of a primary record, which `samtools fixmate -m` would add.
fn push_mate_tags(text: &mut Vec<u8>, mate: &MateOf) {
    if let Some(place) = mate.place {
        text.extend_from_slice(b"\tMC:Z:");
        push_cigar(text, &place.cigar);
        text.extend_from_slice(b"\tMQ:i:");
        push_number(text, place.quality);
    }
    if let Some(sum) = mate.base_qualities {
        text.extend_from_slice(b"\tms:i:");
        push_number(text, sum);
    }
}

/// Appends SEQ and QUAL.
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

/// Appends NM, MD, cs if requested, and AS; also XS except for secondary records, and SA for split queries.
fn push_tags(text: &mut Vec<u8>, aligned: &AlignedLine) {
    text.extend_from_slice(b"\tNM:i:");
    push_number(text, to_i64(aligned.differences.counts.edits()));
    text.extend_from_slice(b"\tMD:Z:");
    text.extend_from_slice(&aligned.differences.md);
    push_cs(text, aligned);
    text.extend_from_slice(b"\tAS:i:");
    push_number(text, aligned.alignment.score);
    if let Some(second) = aligned.second {
        // XS is no tag of the specification, which leaves X? to programs; bwa and bowtie2 use it in this way.
        text.extend_from_slice(b"\tXS:i:");
        push_number(text, second);
    }
    if aligned.is_anchored {
        text.extend_from_slice(b"\tya:i:1");
    }
    if !aligned.others.is_empty() {
        text.extend_from_slice(b"\tSA:Z:");
        text.extend_from_slice(aligned.others);
    }
}

/// Appends the tag cs, if it was requested.
pub(super) fn push_cs(text: &mut Vec<u8>, aligned: &AlignedLine) {
    if !aligned.differences.cs.is_empty() {
        text.extend_from_slice(b"\tcs:Z:");
        text.extend_from_slice(&aligned.differences.cs);
    }
}

/// Appends a tab and a number.
fn push_column(text: &mut Vec<u8>, number: impl Into<i64>) {
    text.push(b'\t');
    push_number(text, number);
}
