//! Imperfect copies of sequences, on either strand.

use crate::numbers::to_usize;
use crate::random::{Geometric, Random};

/// Of 20 mutations of a copy, 1 is a deletion, 1 is an insertion, and 18 are substitutions.
const MUTATION_KINDS: u64 = 20;
/// Largest number of bases that one mutation inserts or deletes.
const LONGEST_INDEL: u64 = 3;

/// Appends a mutated copy until `output` has `end` bases or the source ends.
///
/// The bases that a smaller `end` yields are a prefix of those that a larger `end` yields.
pub fn append_copy(
    source: &[u8],
    mutations: &Geometric,
    random: &mut Random,
    output: &mut Vec<u8>,
    end: usize,
) {
    let mut rest = source;
    while output.len() < end {
        let (kept, after) = rest.split_at(mutations.draw_up_to(rest.len(), random));
        output.extend_from_slice(kept);
        let Some((base, after)) = after.split_first() else { break };
        rest = after;
        match random.below(MUTATION_KINDS) {
            0 => {
                let deleted = to_usize(random.below(LONGEST_INDEL)).min(after.len());
                rest = &after[deleted..];
            }
            1 => {
                output.extend((0..random.between(1, LONGEST_INDEL)).map(|_| random.base()));
                output.push(*base);
            }
            _ => output.push(random.other_base(*base)),
        }
    }
    output.truncate(end);
}

/// Complement of a base; N for N.
pub const fn complement(base: u8) -> u8 {
    match base {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        other => other,
    }
}

/// Reverses and complements a sequence in place.
pub fn reverse_complement(bases: &mut [u8]) {
    bases.reverse();
    for base in bases {
        *base = complement(*base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn copies_have_their_divergence() {
        let mut random = Random::new(1, Purpose::Content, 0);
        let source: Vec<u8> = (0..50_000).map(|_| random.base()).collect();
        let mut exact = Vec::new();
        append_copy(&source, &Geometric::new(0.0), &mut random, &mut exact, usize::MAX);
        assert!(exact == source);
        for percent in [1, 5, 20] {
            let mut copy = Vec::new();
            let mutations = Geometric::new(f64::from(percent) / 100.0);
            append_copy(&source, &mutations, &mut random, &mut copy, usize::MAX);
            // Indels of the copy cancel out on average.
            assert!(copy.len().abs_diff(source.len()) < 500, "{percent}: {}", copy.len());
            // A 16-mer survives if none of its bases is mutated.
            let kmers: std::collections::HashSet<&[u8]> = source.windows(16).collect();
            let shared = copy.windows(16).filter(|kmer| kmers.contains(kmer)).count();
            let expected = 50_000.0 * (1.0 - f64::from(percent) / 100.0).powi(16);
            let shared = f64::from(u32::try_from(shared).unwrap());
            assert!((0.9..1.1).contains(&(shared / expected)), "{percent}: {shared}, not {expected}");
        }
    }

    #[test]
    fn a_limit_yields_a_prefix() {
        let source = b"ACGTTGCATTAGCCATGGATCC".repeat(20);
        let copy = |end| {
            let (mut random, mut output) = (Random::new(2, Purpose::Content, 9), b"AA".to_vec());
            append_copy(&source, &Geometric::new(0.2), &mut random, &mut output, end);
            output
        };
        let whole = copy(usize::MAX);
        for end in [2, 3, 50, 200] {
            assert_eq!(copy(end), whole[..end]);
        }
    }
}
