//! Finds the starts of records in bytes that begin with a record, exactly where needletail ends the previous one, and
//! the positions at which a long FASTA record can be split.
//!
//! A FASTA record ends only before a line that begins with '>'. A FASTQ record is four lines with any content: a line
//! of qualities may begin with '@', so only counting lines from the start of a record finds the next one. Faulty
//! records are split at the same positions, up to the first fault, where reading ends.

use super::source::is_blank;
use memchr::{memchr, memchr_iter, memrchr};
use needletail::parser::Format;

/// Lines per FASTQ record.
const FASTQ_LINES: usize = 4;

/// Cuts `bytes` into pieces of at least `piece` bytes, and returns 0 followed by the end of each piece. At the end of
/// the input, the last piece takes all remaining bytes. Before it, a record without a visible end belongs to no piece,
/// since it may continue. No record begins between 0 and `known`, both excluded.
pub fn cuts(format: Format, bytes: &[u8], piece: usize, at_end: bool, known: usize) -> Vec<usize> {
    let (mut cuts, mut from, mut least) = (vec![0], 0, piece.max(known));
    while let Some(start) = next_start(format, &bytes[from..], least) {
        from += start;
        cuts.push(from);
        least = piece;
    }
    let last = if at_end {
        Some(bytes.len())
    } else {
        let known = if from == 0 { known } else { 0 };
        last_start(format, &bytes[from..], known, least).map(|at| from + at)
    };
    cuts.extend(last.filter(|&last| last > from));
    cuts
}

/// Cuts FASTA into pieces of at least `piece` and at most about `2 * piece` bytes: between records if possible,
/// otherwise inside a record. Returns 0 followed by the end of each piece; `continues` says that the bytes begin inside
/// a record.
///
/// A cut inside a record follows one of its residues and never a line end, so each piece has some of its residues. The
/// byte after it is not '>', which would look like a header. Before the end of the input, at least one byte is left out
/// of the pieces, because the byte after a cut shows whether a record begins there.
pub fn cuts_inside(bytes: &[u8], piece: usize, at_end: bool, continues: bool) -> Vec<usize> {
    let (mut cuts, mut from) = (vec![0], 0);
    loop {
        let inside = if from == 0 { continues } else { !begins_record(bytes, from) };
        let limit = bytes.len().min(from.saturating_add(2 * piece.max(1)));
        let cut = match next_start(Format::Fasta, &bytes[from..limit], piece) {
            Some(start) => Some(from + start),
            None if limit < bytes.len() => cut_inside(bytes, from, limit, inside),
            None if at_end => None,
            // Part of a long record is better than no piece.
            None => last_start(Format::Fasta, &bytes[from..], 0, piece).map(|at| from + at).or_else(|| {
                let last = bytes.len().checked_sub(1).filter(|&last| from == 0 && last > 0)?;
                cut_inside(bytes, from, last, inside)
            }),
        };
        match cut {
            Some(cut) if cut < bytes.len() => cuts.push(cut),
            _ => break,
        }
        from = cuts.last().copied().unwrap_or(0);
    }
    if at_end && from < bytes.len() {
        cuts.push(bytes.len());
    }
    cuts
}

/// A position at which to cut the piece that begins at `from`: `limit`, or an earlier one. `limit` must be inside the
/// bytes.
fn cut_inside(bytes: &[u8], from: usize, limit: usize, inside: bool) -> Option<usize> {
    let is_line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let cut =
        from + bytes[from..limit].iter().rposition(|byte| !is_line_end(byte)).map_or(0, |last| last + 1);
    let line = from + memrchr(b'\n', &bytes[from..cut]).map_or(0, |end| end + 1);
    let is_header = if line == from { !inside } else { begins_record(bytes, line) };
    let after_letter = |at: usize| Some(at + bytes[at..].iter().position(|&byte| byte != b'>')?);
    match (is_header, cut > from) {
        (false, true) => return after_letter(cut),
        (true, true) if line > from => return Some(line),
        _ => {}
    }
    // The header, or a run of line ends, is longer than the range.
    let header = if is_header { memchr(b'\n', &bytes[from..])? } else { 0 };
    let blank = bytes[from + header..].iter().position(|byte| !byte.is_ascii_whitespace())?;
    let letter = from + header + blank;
    if letter > from && begins_record(bytes, letter) { Some(letter) } else { after_letter(letter + 1) }
}

/// Whether a FASTA record begins at `at`, which must not be 0.
pub fn begins_record(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b'>' && bytes[at - 1] == b'\n'
}

/// Length of FASTQ data, which begin with a record, without the empty lines at their end. A line of whitespace counts
/// as empty, unless it is the quality line of a record without bases.
pub fn without_empty_end(bytes: &[u8], at_end: bool) -> usize {
    let Some(last) = bytes.iter().rposition(|&byte| !is_blank(byte)) else { return 0 };
    let line_end = |from: usize| memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |at| from + at + 1);
    let end = line_end(last);
    if !at_end || end == bytes.len() {
        return end;
    }
    match (newlines(&bytes[..end - 1]) + 1) % FASTQ_LINES {
        0 => end,
        3 => line_end(end),
        // The last record is incomplete or none.
        _ => bytes.len(),
    }
}

/// Start of the first record at `least` or later, and after 0.
fn next_start(format: Format, bytes: &[u8], least: usize) -> Option<usize> {
    let least = least.max(1);
    if least >= bytes.len() {
        return None;
    }
    match format {
        Format::Fasta => {
            let mut from = least;
            while let Some(at) = memchr(b'>', &bytes[from..]) {
                if bytes[from + at - 1] == b'\n' {
                    return Some(from + at);
                }
                from += at + 1;
            }
            None
        }
        Format::Fastq => {
            // The line that ends at `least` or later may be the last of a record.
            let mut at = least - 1;
            let before = newlines(&bytes[..at]);
            for _ in 0..FASTQ_LINES - before % FASTQ_LINES {
                at += memchr(b'\n', &bytes[at..])? + 1;
            }
            Some(at)
        }
    }
}

/// Start of the last record after 0. No start except the one at the very end is before `known`, or at `least` or later.
fn last_start(format: Format, bytes: &[u8], known: usize, least: usize) -> Option<usize> {
    match format {
        Format::Fasta => {
            let mut end = bytes.len().min(least);
            while let Some(at) = memrchr(b'>', &bytes[known.min(end)..end]).map(|at| known + at) {
                if at > 0 && bytes[at - 1] == b'\n' {
                    return Some(at);
                }
                end = at;
            }
            None
        }
        Format::Fastq => {
            let lines = newlines(bytes);
            if lines < FASTQ_LINES {
                return None;
            }
            let mut end = bytes.len();
            for _ in 0..lines % FASTQ_LINES {
                end = memrchr(b'\n', &bytes[..end])?;
            }
            memrchr(b'\n', &bytes[..end]).map(|at| at + 1)
        }
    }
}

/// Number of newlines.
pub fn newlines(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}
