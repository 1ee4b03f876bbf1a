//! Templates: the error-free bases of reads, and the reference positions that they come from.

use std::collections::VecDeque;
use std::ops::Range;

use crate::donor::{Donor, DonorBlock, Piece};
use crate::numbers::{to_u64, to_usize};

/// Bases in the order of their 2-bit codes.
const BASES: [u8; 4] = *b"ACTG";
const BASES_PER_BYTE: usize = 4;

/// Stretch of the reference that a template comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Index of the sequence.
    pub sequence: usize,
    /// Whether the template is the reverse complement of the stretch.
    pub inverted: bool,
    /// Sequence positions.
    pub start: u64,
    pub end: u64,
}

/// Part of a template that corresponds to one stretch of the reference without large variants.
struct Part {
    origin: Origin,
    bases: u64,
}

/// Reads templates from donor blocks, which it generates once if templates come in the order of their position.
pub struct TemplateReader<'a> {
    donor: &'a Donor<'a>,
    /// Generated blocks that later templates may need.
    blocks: VecDeque<DonorBlock>,
}

impl<'a> TemplateReader<'a> {
    pub fn new(donor: &'a Donor<'a>) -> Self {
        Self { donor, blocks: VecDeque::new() }
    }

    /// Forgets the blocks before a donor position.
    pub fn forget_before(&mut self, position: u64) {
        let first = self.donor.block_at(position);
        self.blocks.retain(|block| block.reference.number >= first);
    }

    /// Copies a template and finds its origin.
    pub fn read(&mut self, template: Range<u64>, bases: &mut Vec<u8>) -> Origin {
        bases.clear();
        let mut parts = Parts::new(template.end - template.start);
        let mut start = template.start;
        while start < template.end {
            let number = self.donor.block_at(start);
            let block_start = self.donor.block_start(number);
            let end = template.end.min(self.donor.block_start(number + 1));
            let block = self.block(number);
            let within = to_usize(start - block_start)..to_usize(end - block_start);
            bases.extend_from_slice(&block.bases[within.clone()]);
            parts.add(block, within);
            start = end;
        }
        parts.longest().unwrap_or_else(|| self.next_base(template.start))
    }

    fn block(&mut self, number: u64) -> &DonorBlock {
        let known = self.blocks.iter().position(|block| block.reference.number == number);
        let index = known.unwrap_or_else(|| {
            self.blocks.push_back(self.donor.block(number));
            self.blocks.len() - 1
        });
        &self.blocks[index]
    }

    /// The first reference base after an inserted donor base.
    fn next_base(&mut self, position: u64) -> Origin {
        let number = self.donor.block_at(position);
        let offset = to_usize(position - self.donor.block_start(number));
        let block = self.block(number);
        let piece = block.pieces.iter().find(|piece| piece.donor >= offset);
        let start = block.reference.sequence_start + to_u64(piece.map_or(0, |piece| piece.reference));
        Origin { sequence: block.reference.sequence, inverted: false, start, end: start + 1 }
    }
}

/// Parts of a template.
struct Parts {
    parts: Vec<Part>,
    /// Largest deletion within a part.
    largest_deletion: u64,
}

impl Parts {
    fn new(template_bases: u64) -> Self {
        Self { parts: Vec::new(), largest_deletion: (template_bases / 10).max(50) }
    }

    /// Adds the origins of a range of a block.
    fn add(&mut self, block: &DonorBlock, within: Range<usize>) {
        let first = block.pieces.partition_point(|piece| piece.donor + piece.length <= within.start);
        for piece in block.pieces[first..].iter().take_while(|piece| piece.donor < within.end) {
            let stretch = reference_stretch(piece, &within);
            let bases = to_u64(stretch.len());
            let start = block.reference.sequence_start + to_u64(stretch.start);
            let sequence = block.reference.sequence;
            let origin = Origin { sequence, inverted: piece.inverted, start, end: start + bases };
            self.add_part(Part { origin, bases });
        }
    }

    /// Adds a part, or extends the last part of the forward strand.
    fn add_part(&mut self, part: Part) {
        let extended = self.parts.iter_mut().rev().find(|last| {
            let distance = part.origin.start.saturating_sub(last.origin.end);
            !last.origin.inverted && !part.origin.inverted && distance <= self.largest_deletion
        });
        if let Some(last) = extended {
            last.origin.end = part.origin.end;
            last.bases += part.bases;
        } else {
            self.parts.push(part);
        }
    }

    /// Origin of the part with the most bases; the first of equal parts.
    fn longest(&self) -> Option<Origin> {
        let longest = self.parts.iter().rev().max_by_key(|part| part.bases);
        longest.map(|part| part.origin)
    }
}

/// Reference positions of the part of a piece that is within a range of its donor block.
fn reference_stretch(piece: &Piece, within: &Range<usize>) -> Range<usize> {
    let start = within.start.max(piece.donor) - piece.donor;
    let end = within.end.min(piece.donor + piece.length) - piece.donor;
    let (start, end) = if piece.inverted { (piece.length - end, piece.length - start) } else { (start, end) };
    piece.reference + start..piece.reference + end
}

/// Bytes of a packed template.
pub const fn packed_bytes(bases: usize) -> usize {
    bases.div_ceil(BASES_PER_BYTE)
}

/// Appends bases with 2 bits each. Bases are A, C, G or T.
pub fn pack(bases: &[u8], packed: &mut Vec<u8>) {
    let code = |base: &u8| (base >> 1) & 3;
    packed.extend(bases.chunks(BASES_PER_BYTE).map(|chunk| {
        let codes = chunk.iter().rev();
        codes.fold(0, |byte, base| byte << 2 | code(base))
    }));
}

/// Unpacks a number of bases.
pub fn unpack(packed: &[u8], bases: usize, output: &mut Vec<u8>) {
    output.clear();
    for byte in packed {
        output.extend([0, 2, 4, 6].map(|shift| BASES[usize::from(byte >> shift & 3)]));
    }
    output.truncate(bases);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Block;

    /// 1,000 reference bases at position 5,000 of a sequence, with an insertion of 10 bases after 100 bases, a deletion of 200
    /// bases after 200 bases, and an inversion of 300 bases after 600 bases.
    fn block() -> DonorBlock {
        let reference = Block { number: 0, sequence: 3, sequence_start: 5_000, start: 9_000, bases: 1_000 };
        let piece = |donor, reference, length| Piece { donor, reference, length, inverted: false };
        let inversion = Piece { inverted: true, ..piece(410, 600, 300) };
        let pieces = vec![
            piece(0, 0, 100),
            piece(110, 100, 100),
            piece(210, 400, 200),
            inversion,
            piece(710, 900, 100),
        ];
        DonorBlock { reference, bases: vec![b'A'; 810], pieces }
    }

    /// Origin of a template: its stretch, counted from the start of the block, and its strand.
    fn origin(template: Range<usize>) -> String {
        let mut parts = Parts::new(to_u64(template.len()));
        parts.add(&block(), template);
        let Some(origin) = parts.longest() else { return "none".into() };
        assert_eq!(origin.sequence, 3);
        let strand = if origin.inverted { '-' } else { '+' };
        format!("{}..{} {strand}", origin.start - 5_000, origin.end - 5_000)
    }

    #[test]
    fn origins_are_the_longest_parts() {
        assert_eq!(origin(0..100), "0..100 +");
        assert_eq!(origin(99..101), "99..100 +");
        // Insertions belong to the part around them.
        assert_eq!(origin(50..150), "50..140 +");
        assert_eq!(origin(105..150), "100..140 +");
        assert_eq!(origin(101..109), "none");
        // Parts on both sides of a large deletion are different parts.
        assert_eq!(origin(150..240), "140..200 +");
        assert_eq!(origin(180..260), "400..450 +");
        assert_eq!(origin(190..230), "180..200 +");
        // The inversion's first donor base is its last reference base.
        assert_eq!(origin(410..710), "600..900 -");
        assert_eq!(origin(420..430), "880..890 -");
        assert_eq!(origin(400..450), "860..900 -");
        assert_eq!(origin(370..420), "560..600 +");
        assert_eq!(origin(700..810), "900..1000 +");
    }

    #[test]
    fn packed_bases_are_the_same() {
        let bases = b"ACGTTGCATTAGC";
        for length in 0..bases.len() {
            let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
            pack(&bases[..length], &mut packed);
            unpack(&packed, length, &mut unpacked);
            assert_eq!(packed.len(), packed_bytes(length));
            assert_eq!(unpacked, bases[..length]);
        }
    }
}
