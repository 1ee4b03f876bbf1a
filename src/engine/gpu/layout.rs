//! Constants that host and kernels share, and the packing of residues.

use crate::engine::cpu::simd::{InstructionSet, Kernel, Simd};
use crate::gpu::template::constants;
use crate::terms::alphabet::{BASES, END, SCORED, scored_code};
use crate::terms::casts::{low_u8, to_u8};
use crate::terms::scoring::Scoring;
use std::ops::Range;

/// Threads of a workgroup: one subgroup on most cards, and several pairs if pairs use fewer lanes.
pub const THREADS: u32 = 32;
/// Maximum number of rows of a lane if a row is stored in the low bits of a score. Such scores are less than 2^31
/// divided by this number.
pub const ROW_KEYS: u32 = 64;
/// Tasks of a dispatch are padded with empty tasks to a multiple of this number. So they fill its workgroups and,
/// whatever the size of a task, the next dispatch's tasks begin at a binding offset that every adapter accepts (256
/// bytes).
pub const TASK_ALIGNMENT: usize = 64;
/// Target columns of a tile in a grid: short, so that many tiles soon run concurrently, but long compared with the
/// steps in which a tile's lanes begin and end.
pub const TILE_COLS: u32 = 512;
/// The same if few tiles run concurrently: shorter tiles release the next ones sooner.
pub const FEW_TILE_COLS: u32 = 256;
/// Words of the header of a chain.
pub const CHAIN_HEAD: u32 = 6;
/// Columns before and after those of a grid's strips in a chain, which are also written.
pub const CHAIN_APART: u32 = 8;
/// Marks the absence of edge values on a side of a chained strip.
pub const NOWHERE: u32 = u32::MAX;

/// Packed values of nucleotide codes that match nothing. band.wgsl knows them by their bits.
const AMBIGUOUS_QUERY: u8 = 4;
const AMBIGUOUS_TARGET: u8 = 5;
/// The bit of a packed nucleotide that is an end of a query.
const QUERY_END: u8 = 8;

/// How residues are packed in a word, and their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResiduePacking {
    /// 4 bits: 0 to 3 are A, C, G, T. All other query codes are 4 and all other target codes 5, so that they never
    /// equal each other.
    Nucleotides,
    /// 8 bits: the codes by which the alphabet is scored.
    Codes,
}

/// Codes of a substitution table in the kernels: the codes of the larger alphabet that scores distinguish, then one for
/// "no target residue". (The alphabets' own tables have more slots. With those, the profile of 512 rows and the lanes'
/// best cells would not fit the 16 KiB of workgroup memory that every adapter has.)
pub const CODES: u32 = SCORED as u32 + 1;
const NO_TARGET_CODE: u32 = CODES - 1;
/// Words of the scores of a position of a profile in the kernels.
pub const POSITION_WORDS: u32 = CODES.div_ceil(4);
/// The same if positions have gap costs, which are the last word.
pub const GAPPED_POSITION_WORDS: u32 = POSITION_WORDS + 1;
/// Words of a substitution table in the kernels.
pub const TABLE_WORDS: u32 = (CODES * CODES).div_ceil(4);

impl ResiduePacking {
    pub fn bits(self) -> u32 {
        match self {
            ResiduePacking::Nucleotides => 4,
            ResiduePacking::Codes => 8,
        }
    }

    fn no_query(self) -> u32 {
        match self {
            ResiduePacking::Nucleotides => 6,
            ResiduePacking::Codes => 255,
        }
    }

    fn no_target(self) -> u32 {
        match self {
            ResiduePacking::Nucleotides => 7,
            ResiduePacking::Codes => NO_TARGET_CODE,
        }
    }

    /// The constants in WGSL.
    pub fn wgsl(self) -> String {
        let bits = self.bits();
        constants([
            ("BASES", u32::from(BASES)),
            ("CODES", CODES),
            ("LETTER_BITS", bits),
            ("LETTERS_PER_WORD", 32 / bits),
            ("LETTER_MASK", (1 << bits) - 1),
            ("NO_QUERY", self.no_query()),
            ("NO_TARGET", self.no_target()),
            ("AMBIGUOUS_QUERY", u32::from(AMBIGUOUS_QUERY)),
            ("AMBIGUOUS_TARGET", u32::from(AMBIGUOUS_TARGET)),
            ("QUERY_END", u32::from(QUERY_END)),
            // A word without residues.
            ("NO_LETTERS", (0..32 / bits).map(|letter| self.no_target() << (letter * bits)).sum()),
            // A one for each residue of a word.
            ("EACH_LETTER", (0..32 / bits).map(|letter| 1 << (letter * bits)).sum()),
        ])
    }

    /// Number of words for `residues` residues, and one more, because kernels read ahead.
    pub fn words(self, residues: usize) -> usize {
        residues.div_ceil((32 / self.bits()) as usize) + 1
    }

    /// Index of the word that holds a residue.
    pub fn word_of(self, residue: usize) -> usize {
        residue / (32 / self.bits()) as usize
    }

    /// Packs the residues of a range of words into `packed`; `ambiguous` is the packed value of nucleotide codes that
    /// match nothing.
    fn pack(self, codes: &[u8], words: Range<usize>, packed: &mut [u32], ambiguous: u8) {
        let each = (32 / self.bits()) as usize;
        let codes = &codes[codes.len().min(words.start * each)..codes.len().min(words.end * each)];
        let packed: &mut [u8] = bytemuck::cast_slice_mut(packed);
        let used = match self {
            ResiduePacking::Nucleotides => {
                InstructionSet::best().run(Nucleotides { codes, packed, ambiguous })
            }
            ResiduePacking::Codes => {
                // Kernels index their tables with codes, without a check. If another program changes a file, its codes
                // may be any bytes.
                let known = |code: u8| scored_code(code).min(to_u8(NO_TARGET_CODE));
                packed.iter_mut().zip(codes).for_each(|(byte, &code)| *byte = known(code));
                codes.len()
            }
        };
        packed[used..].fill(0);
    }

    /// A substitution table in the kernels' form: `[query code][target code]`, one byte each. Of a profile, its positions in the
    /// place of query codes, each in [`POSITION_WORDS`] or [`GAPPED_POSITION_WORDS`]. The gap costs of a position are the bytes of
    /// the last word: the first and each further residue of the deletion that leaves it, and of the insertion.
    pub fn pack_scores(scoring: &Scoring) -> Vec<u32> {
        if let Some(profile) = &scoring.profile {
            let row_words = match profile.gaps.is_empty() {
                true => POSITION_WORDS as usize,
                false => GAPPED_POSITION_WORDS as usize,
            };
            let mut words = vec![0; profile.rows.len() * row_words];
            let rows = words.chunks_exact_mut(row_words).zip(&profile.rows);
            for (position, (words, row)) in rows.enumerate() {
                let (scores, costs) = words.split_at_mut(POSITION_WORDS as usize);
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(scores);
                let (known, none) = bytes.split_at_mut(NO_TARGET_CODE as usize);
                known.iter_mut().zip(row).for_each(|(byte, score)| *byte = score.cast_unsigned());
                none.fill(i8::MIN.cast_unsigned());
                let [deletion, insertion] = profile.gaps_after(position);
                let of_gaps = [deletion.first(), deletion.extend, insertion.first(), insertion.extend];
                costs.fill(u32::from_le_bytes(of_gaps.map(to_u8)));
            }
            return words;
        }
        let scores = scoring.table();
        let row = |q: usize| {
            let mut row = [i8::MIN; CODES as usize];
            row[..NO_TARGET_CODE as usize].copy_from_slice(&scores[q][..NO_TARGET_CODE as usize]);
            row
        };
        let bytes: Vec<u8> = (0..CODES as usize).flat_map(row).map(|score| score.cast_unsigned()).collect();
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        bytes.chunks(4).map(word).collect()
    }

    /// Packs queries: the words `words` of the packed form of all `codes`.
    pub fn pack_queries(self, codes: &[u8], words: Range<usize>, packed: &mut [u32]) {
        self.pack(codes, words, packed, AMBIGUOUS_QUERY);
    }

    /// Packs targets in the same way.
    pub fn pack_targets(self, codes: &[u8], words: Range<usize>, packed: &mut [u32]) {
        self.pack(codes, words, packed, AMBIGUOUS_TARGET);
    }
}

/// Packs two nucleotide codes into each byte, those above 3 as `ambiguous`. Returns the number of bytes.
struct Nucleotides<'a> {
    codes: &'a [u8],
    packed: &'a mut [u8],
    ambiguous: u8,
}

impl Kernel for Nucleotides<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> usize {
        let ambiguous = u16::from(self.ambiguous) * 0x101;
        // Works on two halves of a number, so that the compiler vectorizes the loop.
        let pack = |pair: [u8; 2]| {
            let pair = u16::from_le_bytes(pair);
            let above = ((pair >> 2 | pair >> 3) & 0x101) * 15;
            let ends = (pair & (u16::from(END) * 0x101)) / u16::from(END) * u16::from(QUERY_END);
            let pair = pair & 0x0f0f & !above | ambiguous & above | ends;
            low_u8(pair | pair >> 4)
        };
        let (pairs, last) = self.codes.as_chunks();
        self.packed.iter_mut().zip(pairs).for_each(|(byte, &pair)| *byte = pack(pair));
        if let [last] = last {
            self.packed[pairs.len()] = pack([*last, 0]);
        }
        pairs.len() + last.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing() {
        let pack = |letters: ResiduePacking, codes: &[u8], words: Range<usize>| {
            let mut packed = vec![77; words.len()];
            letters.pack(codes, words, &mut packed, 5);
            packed
        };
        let codes = [0, 1, 2, 3, 14, 4, 8, 1, 3];
        assert_eq!(pack(ResiduePacking::Nucleotides, &codes, 0..3), [0x1555_3210, 3, 0]);
        assert_eq!(pack(ResiduePacking::Nucleotides, &codes, 1..3), [3, 0]);
        // Ends of queries.
        assert_eq!(pack(ResiduePacking::Nucleotides, &[16, 1, 30, 17, 14, 19], 0..1), [0x00b5_9d18]);
        assert_eq!(pack(ResiduePacking::Nucleotides, &[], 0..1), [0]);
        assert_eq!(pack(ResiduePacking::Codes, &[1, 2, 3, 4, 23], 0..3), [0x0403_0201, 23, 0]);
        // U and O are packed as C and K, and codes beyond the tables as no residue.
        let codes = [24, 25, 26, 27, 0x80, 255];
        assert_eq!(pack(ResiduePacking::Codes, &codes, 0..2), [0x190b_0418, 0x1919]);
        assert_eq!((ResiduePacking::Nucleotides.words(9), ResiduePacking::Codes.words(4)), (3, 2));
    }
}
