//! The choice among equal best hits by the name of the read (`--tie-break hash`).
//!
//! Each equal hit gets a priority: a hash of the names of the read and the reference, and of the hit's position and
//! strand. The hit of the lowest priority is reported first. So a read gets the same one of its equal hits in every
//! run, regardless of the order of the references, and the reads of a repeat are spread evenly over its copies.

use crate::terms::alignment::{Alignment, Strand};

/// Priorities of the hits of some reads.
#[derive(Clone, Copy)]
pub struct TieBreak<'a> {
    /// Name of a read, by its record. Mates have one name.
    pub read: &'a (dyn Fn(u32) -> &'a str + Sync),
    /// Names of the targets.
    pub targets: &'a [String],
}

impl TieBreak<'_> {
    /// Priority of a hit, or of the hits of two mates, of a record.
    pub fn priority(&self, record: u32, hits: &[&Alignment]) -> u64 {
        let mut hash = Fnv::new();
        hash.add((self.read)(record).as_bytes());
        for hit in hits {
            let strand = if hit.strand == Strand::Forward { "+" } else { "-" };
            let position = (hit.target_start + 1).to_string();
            for field in [&*self.targets[hit.target as usize], &*position, strand] {
                hash.add(b"\t");
                hash.add(field.as_bytes());
            }
        }
        hash.finished()
    }

    /// Puts the hit of the lowest priority first among the equal best ones. The others keep their order.
    pub fn choose(&self, record: u32, hits: &mut [Alignment]) {
        let chosen = self.position(record, hits);
        chosen.into_iter().for_each(|at| hits[..=at].rotate_right(1));
    }

    /// The hit of the lowest priority among the equal best ones, which come first.
    pub fn chosen<'a>(&self, record: u32, hits: &'a [Alignment]) -> Option<&'a Alignment> {
        self.position(record, hits).map(|at| &hits[at])
    }

    fn position(&self, record: u32, hits: &[Alignment]) -> Option<usize> {
        let best = hits.first()?.score;
        let tied = hits.iter().take_while(|hit| hit.score == best);
        tied.enumerate().min_by_key(|(_, hit)| self.priority(record, &[hit])).map(|(at, _)| at)
    }
}

/// The hash FNV-1a (Fowler, Noll and Vo) of 64 bits, with a final mix of its bits (`fmix64` of MurmurHash3).
struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finished(self) -> u64 {
        let mut hash = self.0;
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
            hash = (hash ^ (hash >> 33)).wrapping_mul(factor);
        }
        hash ^ (hash >> 33)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::PathRuns;

    /// Equal hits, one on each target.
    fn tied(targets: u32) -> Vec<Alignment> {
        (0..targets).map(|target| at(target, 50)).collect()
    }

    fn at(target: u32, score: i32) -> Alignment {
        let (strand, cigar) = (Strand::Forward, PathRuns::new());
        Alignment {
            strand,
            target,
            score,
            query_start: 0,
            query_end: 9,
            target_start: 0,
            target_end: 9,
            cigar,
            shifts: Box::default(),
        }
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // A test vector of the authors.
        let mut hash = Fnv::new();
        hash.add(b"foobar");
        assert_eq!(hash.0, 0x8594_4171_f739_67e8);
    }

    #[test]
    fn reads_spread_over_equal_hits_whatever_their_order() {
        let names: Vec<String> = (0..4).map(|target| format!("copy{target}")).collect();
        let turned: Vec<String> = names.iter().rev().cloned().collect();
        let mut counts = [0; 4];
        for number in 0..4000 {
            let name = format!("read.{number}");
            let chosen = |targets: &[String]| {
                let mut hits = tied(4);
                TieBreak { read: &|_| &*name, targets }.choose(0, &mut hits);
                targets[hits[0].target as usize].clone()
            };
            assert_eq!(chosen(&names), chosen(&turned));
            counts[names.iter().position(|name| *name == chosen(&names)).unwrap()] += 1;
        }
        // 1000 are expected; the standard deviation is 27.
        assert!(counts.iter().all(|count| (860..1140).contains(count)), "{counts:?}");
    }

    #[test]
    fn other_hits_keep_their_order() {
        let names: Vec<String> = (0..9).map(|target| target.to_string()).collect();
        let mut hits = tied(8);
        hits.push(at(8, 49));
        let tie_break = TieBreak { read: &|_| "r", targets: &names };
        tie_break.choose(0, &mut hits);
        let rest: Vec<u32> = hits[1..].iter().map(|hit| hit.target).collect();
        assert!(rest.is_sorted() && rest.len() == 8 && rest[7] == 8, "{hits:?}");
    }
}
