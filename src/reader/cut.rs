//! Where records begin in bytes that begin with one, exactly where needletail ends the one before.
//!
//! A FASTA record ends where a line begins with '>', and nowhere else. A FASTQ record is four lines,
//! whatever is in them: a line of qualities may begin with '@', so that nothing but a count of lines
//! from a record's start tells the next one. Faulty records are cut in the same places, up to the
//! first fault, which is where reading ends.

use memchr::{memchr, memchr_iter, memrchr};
use needletail::parser::Format;

/// Lines of a FASTQ record.
const FASTQ_LINES: usize = 4;

/// Where to cut `bytes` into pieces of at least `piece` bytes: 0, and the ends of the pieces. At the
/// end of the input the last piece takes what is there; before it, a record whose end is not there is
/// in none, since it may go on. No record begins behind 0 and before `known`.
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

/// The first record that begins at `least` or later, and behind 0.
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
            // The line that ends at `least` or later may be a record's last.
            let mut at = least - 1;
            let before = newlines(&bytes[..at]);
            for _ in 0..FASTQ_LINES - before % FASTQ_LINES {
                at += memchr(b'\n', &bytes[at..])? + 1;
            }
            Some(at)
        }
    }
}

/// The last record that begins behind 0. None but the one at the very end begins before `known`, or
/// at `least` or later.
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

/// Number of line ends.
pub fn newlines(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}
