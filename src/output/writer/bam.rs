//! BAM: a line in binary (SAMv1 specification, 4.2), with the same fields that `sam` writes as text.
//!
//! The bytes equal those that samtools makes from our SAM. BAM can only hold nucleotides, so protein runs are rejected
//! earlier.

use super::NamedTargets;
use super::line::{AlignedLine, BamOp, MateOf, OutputLine, RecordRefusal};
use super::sam;
use crate::terms::bam::{BASE_CODES, MAGIC, NO_QUALITY, QUALITY_OFFSET};
use crate::terms::casts::{const_u8, low_u16, nearest_f32, to_i32, to_i64, to_u8, to_u16, to_u32};

/// The 4-bit code of each character.
const CODES: [u8; 256] = codes();
/// Exclusive limit of an operation's length, which has 28 bits.
const OPERATION: u32 = 1 << 28;
/// Maximum number of operations that their count field can hold. A longer CIGAR is stored in the tag CG.
const MAX_OPERATIONS: usize = u16::MAX as usize;
/// The CIGAR operation N, which skips target residues. It is part of the placeholder for a CIGAR in the tag CG.
const SKIP: u32 = 3;
/// Target and position of a read without them, or without a mate.
const NOWHERE: i32 = -1;
/// The bin of a read without a position, as the specification computes it.
const NO_BIN: u16 = 4680;

const fn codes() -> [u8; 256] {
    let mut codes = [15; 256];
    let mut code = 0;
    while code < BASE_CODES.len() {
        codes[BASE_CODES[code].to_ascii_lowercase() as usize] = const_u8(code);
        codes[BASE_CODES[code] as usize] = const_u8(code);
        code += 1;
    }
    codes
}

/// The header: its text, followed by the references in binary. `None` if the text is too long.
pub fn header(text: &[Vec<u8>], targets: &NamedTargets) -> Option<Vec<u8>> {
    let bytes: usize = text.iter().map(Vec::len).sum();
    let references = i32::try_from(targets.names.len()).ok()?;
    let mut out = Vec::with_capacity(2 * bytes);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&i32::try_from(bytes).ok()?.to_le_bytes());
    text.iter().for_each(|part| out.extend_from_slice(part));
    out.extend_from_slice(&references.to_le_bytes());
    for (name, len) in targets.names.iter().zip(&targets.lengths) {
        out.extend_from_slice(&(to_u32(name.len()) + 1).to_le_bytes());
        out.extend_from_slice(name.as_bytes());
        out.push(0);
        out.extend_from_slice(&len.to_le_bytes());
    }
    Some(out)
}

/// Appends a record. The last tags are the read group, if there is one, and copied tags, followed only by CG.
pub fn push(out: &mut Vec<u8>, line: &OutputLine, read_group: Option<&str>) -> Result<(), RecordRefusal> {
    let start = out.len();
    // Reserves the record's size, which is filled in later.
    out.extend_from_slice(&[0; 4]);
    let letters = if line.is_secondary() { &[][..] } else { line.letters };
    let cigar = line.aligned.as_ref().map_or(&[][..], |aligned| aligned.cigar);
    let long = cigar.len() > MAX_OPERATIONS;
    push_place(out, line, if long { 2 } else { to_u16(cigar.len()) }, letters.len());
    out.extend_from_slice(line.name.as_bytes());
    out.push(0);
    match &line.aligned {
        Some(aligned) if long => push_placeholder(out, aligned, letters.len())?,
        _ => push_cigar(out, cigar)?,
    }
    push_letters(out, letters);
    push_qualities(out, line, letters.len());
    if let Some(aligned) = &line.aligned {
        push_tags(out, aligned);
    }
    if let Some(mate) = line.mate.as_ref().filter(|_| line.is_primary()) {
        push_mate_tags(out, mate);
    }
    if let Some(group) = read_group {
        push_text(out, b"RG", group.as_bytes());
    }
    line.copied.split(|&byte| byte == b'\t').skip(1).for_each(|tag| push_copied(out, tag));
    if long {
        out.extend_from_slice(b"CGBI");
        out.extend_from_slice(&to_u32(cigar.len()).to_le_bytes());
        push_cigar(out, cigar)?;
    }
    let size = i32::try_from(out.len() - start - 4)
        .map_err(|_| too_long(format!("its {} residues exceed 2 GiB", letters.len())))?;
    out[start..start + 4].copy_from_slice(&size.to_le_bytes());
    Ok(())
}

/// The fixed-size fields from refID to tlen.
fn push_place(out: &mut Vec<u8>, line: &OutputLine, operations: u16, letters: usize) {
    let at = |place: Option<(usize, &str, u32)>| {
        place.map_or((NOWHERE, NOWHERE), |(target, _, start)| (to_i32(target), to_i32(start)))
    };
    let (target, start) = at(line.place());
    let (quality, bin) = match (&line.aligned, line.place()) {
        (Some(AlignedLine { alignment, quality, .. }), _) => {
            (*quality, bin(alignment.target_start, alignment.target_end))
        }
        (None, Some((_, _, start))) => (0, bin(start, start + 1)),
        (None, None) => (0, NO_BIN),
    };
    out.extend_from_slice(&target.to_le_bytes());
    out.extend_from_slice(&start.to_le_bytes());
    out.push(to_u8(line.name.len()) + 1);
    out.push(quality);
    out.extend_from_slice(&bin.to_le_bytes());
    out.extend_from_slice(&operations.to_le_bytes());
    out.extend_from_slice(&line.flags().to_le_bytes());
    out.extend_from_slice(&to_u32(letters).to_le_bytes());
    let (mate_target, mate_start) = at(line.mate_place());
    out.extend_from_slice(&mate_target.to_le_bytes());
    out.extend_from_slice(&mate_start.to_le_bytes());
    out.extend_from_slice(&to_i32(line.template_length()).to_le_bytes());
}

/// The smallest bin that contains a target interval, for indices: `reg2bin` of the specification (5.3). Beyond 2^29
/// there are no bins, and no indices of this kind are built. The field then has the low bits of the number, as in
/// samtools.
fn bin(start: u32, end: u32) -> u16 {
    let last = end.max(start + 1) - 1;
    let levels = [(14, 4681), (17, 585), (20, 73), (23, 9), (26, 1)];
    let level = levels.into_iter().find(|(shift, _)| start >> shift == last >> shift);
    level.map_or(0, |(shift, first)| low_u16(first + (start >> shift)))
}

fn push_cigar(out: &mut Vec<u8>, cigar: &[(u32, BamOp)]) -> Result<(), RecordRefusal> {
    for &(len, kind) in cigar {
        if len >= OPERATION {
            return Err(too_long(format!("its CIGAR has an operation of length {len}")));
        }
        out.extend_from_slice(&(len << 4 | kind as u32).to_le_bytes());
    }
    Ok(())
}

/// Placeholder for a CIGAR in the tag CG: it clips all bases of SEQ and skips the target interval of the alignment.
fn push_placeholder(out: &mut Vec<u8>, aligned: &AlignedLine, letters: usize) -> Result<(), RecordRefusal> {
    let span = aligned.alignment.target_end - aligned.alignment.target_start;
    if letters.max(span as usize) >= OPERATION as usize {
        return Err(too_long(format!(
            "its CIGAR has {} operations over {letters} bases of the query and {span} of the reference",
            aligned.cigar.len()
        )));
    }
    out.extend_from_slice(&(to_u32(letters) << 4 | BamOp::Clip as u32).to_le_bytes());
    out.extend_from_slice(&(span << 4 | SKIP).to_le_bytes());
    Ok(())
}

/// SEQ, two bases per byte.
fn push_letters(out: &mut Vec<u8>, letters: &[u8]) {
    let code = |letter: u8| CODES[usize::from(letter)];
    let (pairs, last) = letters.as_chunks::<2>();
    out.extend(pairs.iter().map(|&[first, second]| code(first) << 4 | code(second)));
    out.extend(last.iter().map(|&letter| code(letter) << 4));
}

/// QUAL, of the same length as SEQ.
fn push_qualities(out: &mut Vec<u8>, line: &OutputLine, letters: usize) {
    let known = line.qualities.iter().map(|quality| quality - QUALITY_OFFSET);
    match line.is_reverse() {
        _ if letters == 0 => {}
        _ if line.qualities.is_empty() => out.resize(out.len() + letters, NO_QUALITY),
        false => out.extend(known),
        true => out.extend(known.rev()),
    }
}

/// Appends NM, MD, cs if requested, and AS; also XS except for secondary records, and SA for split queries.
fn push_tags(out: &mut Vec<u8>, aligned: &AlignedLine) {
    push_number(out, b"NM", to_i64(aligned.differences.counts.edits()));
    push_text(out, b"MD", &aligned.differences.md);
    if !aligned.differences.cs.is_empty() {
        push_text(out, b"cs", &aligned.differences.cs);
    }
    push_number(out, b"AS", i64::from(aligned.alignment.score));
    if let Some(second) = aligned.second {
        push_number(out, b"XS", i64::from(second));
    }
    if aligned.is_anchored {
        push_number(out, b"ya", 1);
    }
    if !aligned.others.is_empty() {
        push_text(out, b"SA", aligned.others);
    }
}

/// Appends MC, MQ and ms of a primary record, which `samtools fixmate -m` would add.
fn push_mate_tags(out: &mut Vec<u8>, mate: &MateOf) {
    if let Some(place) = mate.place {
        let mut cigar = Vec::new();
        sam::push_cigar(&mut cigar, &place.cigar);
        push_text(out, b"MC", &cigar);
        push_number(out, b"MQ", i64::from(place.quality));
    }
    if let Some(sum) = mate.base_qualities {
        push_number(out, b"ms", sum);
    }
}

/// Appends a copied tag, which is already validated.
fn push_copied(out: &mut Vec<u8>, tag: &[u8]) {
    let &[first, second, _, kind, _, ref value @ ..] = tag else { return };
    let text = str::from_utf8(value).unwrap_or_default();
    match kind {
        b'i' => push_number(out, &[first, second], text.parse().unwrap_or(0)),
        b'B' => {
            let mut entries = text.split(',');
            let kind = entries.next().and_then(|kind| kind.bytes().next()).unwrap_or(b'c');
            out.extend_from_slice(&[first, second, b'B', kind]);
            out.extend_from_slice(&to_u32(entries.clone().count()).to_le_bytes());
            entries.for_each(|entry| push_entry(out, kind, entry));
        }
        _ => {
            out.extend_from_slice(&[first, second, kind]);
            match kind {
                b'f' => push_entry(out, kind, text),
                b'A' => out.extend_from_slice(value),
                _ => {
                    out.extend_from_slice(value);
                    out.push(0);
                }
            }
        }
    }
}

/// Appends a number of the given type.
fn push_entry(out: &mut Vec<u8>, kind: u8, text: &str) {
    if kind == b'f' {
        // Converted by way of 64 bits, as in samtools.
        let number = nearest_f32(text.parse().unwrap_or(0.0));
        return out.extend_from_slice(&number.to_le_bytes());
    }
    let bytes = match kind {
        b'c' | b'C' => 1,
        b's' | b'S' => 2,
        _ => 4,
    };
    out.extend_from_slice(&text.parse::<i64>().unwrap_or(0).to_le_bytes()[..bytes]);
}

fn push_text(out: &mut Vec<u8>, tag: &[u8; 2], text: &[u8]) {
    out.extend_from_slice(tag);
    out.push(b'Z');
    out.extend_from_slice(text);
    out.push(0);
}

/// Appends a 32-bit number in the smallest type that holds it, as samtools does.
pub(super) fn push_number(out: &mut Vec<u8>, tag: &[u8; 2], number: i64) {
    let (kind, bytes) = match number {
        0..0x100 => (b'C', 1),
        0x100..0x1_0000 => (b'S', 2),
        0x1_0000.. => (b'I', 4),
        -0x80..0 => (b'c', 1),
        -0x8000..-0x80 => (b's', 2),
        _ => (b'i', 4),
    };
    out.extend_from_slice(tag);
    out.push(kind);
    out.extend_from_slice(&number.to_le_bytes()[..bytes]);
}

fn too_long(problem: String) -> RecordRefusal {
    RecordRefusal { format: "BAM", problem, remedy: "write SAM or PAF (--format), which have no such limit" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bins of the specification's own tree: each level has 8 times as many, down to windows of 16 KiB.
    #[test]
    fn bins() {
        assert_eq!(bin(0, 1), 4681);
        assert_eq!(bin(0, 1 << 14), 4681);
        assert_eq!(bin(0, (1 << 14) + 1), 585);
        assert_eq!(bin((1 << 14) - 1, 1 << 14), 4681);
        assert_eq!(bin(1 << 14, (1 << 14) + 1), 4682);
        assert_eq!(bin((1 << 17) - 1, (1 << 17) + 1), 73);
        assert_eq!(bin(1 << 17, 1 << 18), 586);
        assert_eq!(bin(0, (1 << 20) + 1), 9);
        assert_eq!(bin(0, (1 << 23) + 1), 1);
        assert_eq!(bin(0, (1 << 26) + 1), 0);
        assert_eq!(bin(1 << 26, (1 << 26) + (1 << 23) + 1), 2);
        assert_eq!(bin((1 << 29) - 1, 1 << 29), 37_448);
        // This number has more than 16 bits.
        assert_eq!(bin(1_500_000_000, 1_500_000_001), 30_697);
    }

    #[test]
    fn numbers_take_the_smallest_type() {
        let bytes = |number| {
            let mut out = Vec::new();
            push_number(&mut out, b"AS", number);
            assert_eq!(&out[..2], b"AS");
            out.split_off(2)
        };
        for (number, expected) in [
            (0, &b"C\0"[..]),
            (255, b"C\xff"),
            (256, b"S\0\x01"),
            (65_535, b"S\xff\xff"),
            (65_536, b"I\0\0\x01\0"),
            (-1, b"c\xff"),
            (-128, b"c\x80"),
            (-129, b"s\x7f\xff"),
            (-32_769, b"i\xff\x7f\xff\xff"),
        ] {
            assert_eq!(bytes(number), expected, "{number}");
        }
    }

    /// If the number of bases is odd, the last 4 bits are 0.
    #[test]
    fn letters_by_four_bits() {
        let mut out = Vec::new();
        push_letters(&mut out, b"=ACMGRSVTWYHKDBNacgtnU.zA");
        assert_eq!(out, b"\x01\x23\x45\x67\x89\xab\xcd\xef\x12\x48\xff\xff\x10");
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let mut out = Vec::new();
        assert!(push_cigar(&mut out, &[((1 << 28) - 1, BamOp::Match)]).is_ok());
        assert_eq!(out, b"\xf0\xff\xff\xff");
        let refused = push_cigar(&mut out, &[(1 << 28, BamOp::Deletion)]).err().unwrap();
        assert!(refused.problem.contains("268435456") && refused.remedy.contains("--format"));
    }
}
