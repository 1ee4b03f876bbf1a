//! The table of hits: BLAST's `-outfmt 6`, with any of its columns and our own.

use super::numbers::{bits_text, evalue_text};
use super::shown::{QueryTold, ShownHit};
use crate::terms::alignment::{ColumnOp, ColumnShown};
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::whole_u32;
use crate::terms::options::{Column, IdentityDefinition};
use std::io::Write;

/// Placeholder for E-value and bit score if the scores have none, and for masked residues if masking is off. It is not
/// a number, since any number would pass some filter.
const NOT_AVAILABLE: &str = "NA";

/// The last comment before the hits.
const HITS_FOLLOW: &str = "# The hits found, a line each:\n";

/// Comments: the program, the command, the comments on the run, and the columns by their long names, as in BLAST's
/// comments, and by the names that `--columns` accepts. Biopython treats the last line as the end of the comments.
pub fn header(command_line: &str, comments: &[String], columns: &[Column]) -> Vec<u8> {
    let named =
        |name: fn(Column) -> &'static str| columns.iter().map(|&column| name(column)).collect::<Vec<_>>();
    let mut text = format!("# swalign {}\n# Command: {command_line}\n", env!("CARGO_PKG_VERSION"));
    comments.iter().for_each(|comment| text += &format!("# {comment}\n"));
    text += &format!("# Fields: {}\n", named(Column::long_name).join(", "));
    text += &format!("# Columns: {}\n", named(Column::name).join("\t"));
    text += HITS_FOLLOW;
    text.into_bytes()
}

/// Converts the header of a table with hits to that of a table without hits. It has no line of fields, so Biopython
/// does not expect hits.
pub fn header_without_hits(header: &[u8]) -> Vec<u8> {
    let lines = header.split_inclusive(|&byte| byte == b'\n');
    let shown = lines.filter(|line| !line.starts_with(b"# Fields: "));
    let shown = shown.map(|line| if line == HITS_FOLLOW.as_bytes() { b"# 0 hits found\n" } else { line });
    shown.collect::<Vec<_>>().concat()
}

/// Appends a line.
pub fn push(out: &mut Vec<u8>, columns: &[Column], query: &QueryTold, hit: &ShownHit) {
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        push_column(out, *column, query, hit);
    }
    out.push(b'\n');
}

fn push_column(out: &mut Vec<u8>, column: Column, query: &QueryTold, hit: &ShownHit) {
    let (kinds, counts) = (&hit.kinds, &hit.kinds.counts);
    let identity = |number| {
        let definition = IdentityDefinition::numbered(number).unwrap_or_default();
        kinds.identity(definition, query.residues, hit.target_len).percent()
    };
    let is_reverse = hit.strand.is_reverse();
    match column {
        Column::Qseqid | Column::Qaccver | Column::Qacc => {
            out.extend_from_slice(query.shown_name().as_bytes())
        }
        Column::Sseqid | Column::Saccver | Column::Sacc => out.extend_from_slice(hit.name.as_bytes()),
        Column::Stitle | Column::Salltitles => out.extend_from_slice(hit.title.as_bytes()),
        Column::Qlen => put(out, query.len),
        Column::Slen => put(out, hit.target_len),
        Column::Qstart => put(out, hit.query_ends().0),
        Column::Qend => put(out, hit.query_ends().1),
        Column::Sstart => put(out, hit.target_ends().0),
        Column::Send => put(out, hit.target_ends().1),
        Column::Qseq => out.extend(hit.columns.iter().map(|column| column.query)),
        Column::Sseq => out.extend(hit.columns.iter().map(|column| column.target)),
        Column::Evalue => {
            put(out, hit.significance.map_or(NOT_AVAILABLE.to_string(), |(_, evalue)| evalue_text(evalue)))
        }
        Column::Bitscore => {
            put(out, hit.significance.map_or(NOT_AVAILABLE.to_string(), |(bits, _)| bits_text(bits)))
        }
        Column::Score => put(out, hit.score),
        Column::Length => put(out, counts.columns()),
        Column::Pident => put(out, format_args!("{:.3}", hit.identity.percent())),
        Column::Nident => put(out, counts.matches),
        Column::Mismatch => put(out, counts.mismatches),
        Column::Positive => put(out, kinds.positives),
        Column::Gapopen => put(out, counts.gaps()),
        Column::Gaps => put(out, counts.gapped()),
        Column::Ppos => {
            let share = 100.0 * kinds.positives as f64 / counts.columns().max(1) as f64;
            put(out, format_args!("{share:.2}"));
        }
        // BLAST shows the target's reverse complement beside the query. For proteins it has no frames.
        Column::Qframe => put(out, hit.frame.map_or(frame(hit, false), i32::from)),
        Column::Frameshifts => put(out, hit.shifts.len()),
        Column::Sframe => {
            let translated = hit.target_frame.and_then(|frame| frame.frame_from(0));
            put(out, translated.map_or(frame(hit, is_reverse), i32::from));
        }
        Column::Btop => push_btop(out, &hit.columns_and_shifts()),
        Column::Sstrand => put(
            out,
            match (hit.alphabet, is_reverse) {
                (Alphabet::Protein, _) => "N/A",
                (Alphabet::Dna, false) => "plus",
                (Alphabet::Dna, true) => "minus",
            },
        ),
        Column::Strand => put(out, if hit.is_minus() { '-' } else { '+' }),
        Column::Qcovs => put(out, whole_percent(hit.covered_by_target)),
        Column::Qcovhsp => put(out, whole_percent(hit.covered(query.len))),
        Column::Cigar => put(out, hit.cigar()),
        Column::Id0 => put(out, format_args!("{:.1}", identity(0))),
        Column::Id1 => put(out, format_args!("{:.1}", identity(1))),
        Column::Id2 => put(out, format_args!("{:.1}", identity(2))),
        Column::Id3 => put(out, format_args!("{:.1}", identity(3))),
        Column::Id4 => put(out, format_args!("{:.1}", identity(4))),
        Column::Mate => put(
            out,
            match query.is_first {
                None => 0,
                Some(true) => 1,
                Some(false) => 2,
            },
        ),
        Column::Masked => match hit.masked {
            Some(masked) => put(out, masked),
            None => put(out, NOT_AVAILABLE),
        },
    }
}

/// Rounded to an integer, but 100 only for a share of 100 percent.
fn whole_percent(share: f64) -> u32 {
    let rounded = whole_u32(share + 0.5);
    if share < 100.0 { rounded.min(99) } else { rounded }
}

fn frame(hit: &ShownHit, is_reverse: bool) -> i32 {
    match (hit.alphabet, is_reverse) {
        (Alphabet::Protein, _) => 0,
        (Alphabet::Dna, false) => 1,
        (Alphabet::Dna, true) => -1,
    }
}

/// BLAST's trace-back operations: numbers of equal columns, and the two residues of each other column.
fn push_btop(out: &mut Vec<u8>, columns: &[ColumnShown]) {
    let mut equal = 0;
    for column in columns {
        if column.op == ColumnOp::Equal {
            equal += 1;
            continue;
        }
        if equal > 0 {
            put(out, equal);
        }
        equal = 0;
        out.extend([column.query, column.target]);
    }
    if equal > 0 {
        put(out, equal);
    }
}

fn put(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{value}");
}
