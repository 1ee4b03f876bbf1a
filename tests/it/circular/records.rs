//! Checks SAM records by recomputing them from the bases of the reads and the references.

use crate::common::sam::{Record, Sam};
use std::collections::BTreeMap;
use swalign::terms::alphabet::reverse_complement;

/// The scores of a run: match, mismatch, gap open and gap extension.
pub type Scores = (i64, i64, i64, i64);
pub const SHORT: Scores = (1, 4, 6, 1);
/// Maximum gap length at an origin in these reads.
const LONGEST_GAP: u64 = 30;

pub type Sequences = BTreeMap<String, Vec<u8>>;

/// The operations of a CIGAR.
pub fn operations(cigar: &str) -> Vec<(usize, u8)> {
    let mut operations = Vec::new();
    let mut len = 0;
    for letter in cigar.bytes() {
        match letter {
            b'0'..=b'9' => len = 10 * len + usize::from(letter - b'0'),
            _ => operations.push((std::mem::take(&mut len), letter)),
        }
    }
    operations
}

/// NM, MD and AS of a record. `read` is in the orientation of the record.
fn counted(record: &Record, read: &[u8], target: &[u8], scores: Scores) -> (i64, String, i64) {
    let (match_, mismatch, open, extend) = scores;
    let (mut i, mut j) = (0, record.position() as usize - 1);
    let (mut edits, mut score, mut equal, mut md) = (0, 0, 0, String::new());
    for (len, operation) in operations(record.cigar()) {
        match operation {
            b'S' | b'H' => i += len,
            b'I' => {
                (i, edits) = (i + len, edits + len as i64);
                score -= open + extend * len as i64;
            }
            b'D' => {
                md += &format!("{equal}^{}", std::str::from_utf8(&target[j..j + len]).unwrap());
                (j, edits, equal) = (j + len, edits + len as i64, 0);
                score -= open + extend * len as i64;
            }
            _ => {
                for (own, there) in read[i..i + len].iter().zip(&target[j..j + len]) {
                    if own == there {
                        (equal, score) = (equal + 1, score + match_);
                    } else {
                        md += &format!("{equal}{}", char::from(*there));
                        (equal, edits, score) = (0, edits + 1, score - mismatch);
                    }
                }
                (i, j) = (i + len, j + len);
            }
        }
    }
    assert_eq!(i, read.len(), "{}", record.cigar());
    assert!(j <= target.len());
    (edits, format!("{md}{equal}"), score)
}

/// The element of SA for a record. SA has soft clips even if the record has hard clips.
fn element(record: &Record) -> String {
    let strand = if record.flag() & 16 == 0 { '+' } else { '-' };
    let cigar = record.cigar().replace('H', "S");
    let (quality, edits) = (&record.fields[4], record.tag("NM").unwrap());
    format!("{},{},{strand},{cigar},{quality},{edits};", record.target(), record.position())
}

/// The range of read bases that a record aligns, in the orientation of the read.
fn letters_taken(record: &Record, len: usize) -> (usize, usize) {
    let operations = operations(record.cigar());
    let clip = |end: Option<&(usize, u8)>| end.filter(|end| b"SH".contains(&end.1)).map_or(0, |end| end.0);
    let (before, behind) = (clip(operations.first()), clip(operations.last()));
    if record.flag() & 16 == 0 { (before, len - behind) } else { (behind, len - before) }
}

/// Checks all records. Returns the number of reads that have a supplementary record.
pub fn check(sam: &Sam, reads: &Sequences, targets: &Sequences, scores: Scores) -> usize {
    let mut split = 0;
    for lines in sam.records.chunk_by(|one, next| one.name() == next.name() && next.flag() & 0x900 != 0) {
        let as_read = &reads[lines[0].name()];
        for record in lines.iter().filter(|record| record.flag() & 4 == 0) {
            let read = if record.flag() & 16 == 0 { as_read.clone() } else { reverse_complement(as_read) };
            let (edits, md, score) = counted(record, &read, &targets[record.target()], scores);
            let place = format!("{:?}", record.fields);
            assert_eq!(record.tag("NM").unwrap().parse::<i64>().unwrap(), edits, "{place}");
            assert_eq!(record.tag("MD").unwrap(), md, "{place}");
            assert!(score > 0);
            // A piece of a hit across an origin has the score of the whole hit. It ends at the origin, or at a gap
            // there.
            let len = targets[record.target()].len() as u64;
            let at_origin = record.position() <= LONGEST_GAP || record.target_end() + LONGEST_GAP > len;
            assert!(record.score() == score || at_origin, "{place}");
            let kinds = operations(record.cigar());
            let inner: Vec<u8> =
                kinds.iter().map(|kind| kind.1).filter(|kind| !b"SH".contains(kind)).collect();
            assert!(
                [inner.first(), inner.last()].iter().all(|kind| b"M=X".contains(kind.unwrap())),
                "{place}"
            );
            let is_hard = kinds.iter().any(|kind| kind.1 == b'H');
            assert!(!is_hard || record.flag() & 2048 != 0);
            let (start, end) = match (record.flag() & 256 != 0, is_hard) {
                (true, _) => {
                    assert_eq!(record.sequence(), "*");
                    continue;
                }
                (false, false) => (0, read.len()),
                (false, true) => {
                    let (start, end) = letters_taken(record, read.len());
                    if record.flag() & 16 == 0 {
                        (start, end)
                    } else {
                        (read.len() - end, read.len() - start)
                    }
                }
            };
            assert_eq!(record.sequence().as_bytes(), &read[start..end], "{place}");
        }
        let parts: Vec<&Record> = lines.iter().filter(|record| record.flag() & 256 == 0).collect();
        assert_eq!(parts[0].flag() & 0x900, 0, "the primary one first");
        split += usize::from(parts.len() > 1);
        for (own, record) in parts.iter().enumerate() {
            let others = parts.iter().enumerate().filter(|(other, _)| *other != own);
            let others: String = others.map(|(_, other)| element(other)).collect();
            assert_eq!(record.tag("SA").unwrap_or_default(), others, "{:?}", record.fields);
        }
        let mut taken: Vec<_> = parts
            .iter()
            .filter(|record| record.flag() & 4 == 0)
            .map(|part| letters_taken(part, as_read.len()))
            .collect();
        taken.sort_unstable();
        assert!(taken.windows(2).all(|two| two[0].1 <= two[1].0), "two parts take one letter: {taken:?}");
        assert!(parts.iter().skip(1).all(|part| part.flag() & 2048 != 0));
    }
    split
}
