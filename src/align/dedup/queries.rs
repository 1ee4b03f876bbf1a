//! Groups of equal queries.

use super::DistinctSequences;
use crate::terms::alignment::Strand;
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_u32, whole_usize};

/// Definition of a unit of queries.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Number of adjacent sequences of a unit: a query in its orientations, or those of two mates.
    pub each: usize,
    /// Number of orientations. Every `strands`-th sequence determines the others.
    pub strands: usize,
    /// Whether a unit of two orientations may represent the unit with the orientations swapped.
    pub mirrors: bool,
}

/// Match of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitMatch {
    /// A known unit.
    Known,
    /// A distinct unit.
    Of(u32),
    /// The reverse complement of a distinct unit.
    Mirrored(u32),
}

/// Distinct units of queries, and the match of each unit.
#[derive(Debug)]
pub struct Grouped {
    /// The distinct units that are not known, in order of first occurrence.
    pub queries: Sequences,
    /// The same units, as their keys.
    pub units: DistinctSequences,
    pub groups: Vec<UnitMatch>,
}

impl Grouped {
    /// Groups units. Returns `None` if a share above `most` is distinct and not known. Calls `is_known` with the key of
    /// each unit, and if that is not known, with the key of its mirror image.
    pub fn of(
        queries: &Sequences,
        unit: Unit,
        most: f64,
        mut is_known: impl FnMut(&[u8], Strand) -> bool,
    ) -> Option<Grouped> {
        let count = queries.len() / unit.each;
        let most = whole_usize(count as f64 * most);
        let (mut units, mut firsts) = (<DistinctSequences>::default(), Vec::new());
        let mut groups = Vec::with_capacity(count);
        let (mut letters, mut mirrored) = (Vec::new(), Vec::new());
        for number in 0..count {
            unit.put_letters(queries, number, Strand::Forward, &mut letters);
            if is_known(&letters, Strand::Forward) {
                groups.push(UnitMatch::Known);
                continue;
            }
            if unit.mirrors {
                unit.put_letters(queries, number, Strand::Reverse, &mut mirrored);
                if is_known(&mirrored, Strand::Reverse) {
                    groups.push(UnitMatch::Known);
                    continue;
                }
                let image = units.find(&mirrored).filter(|_| units.find(&letters).is_none());
                if let Some(image) = image {
                    groups.push(UnitMatch::Mirrored(to_u32(image)));
                    continue;
                }
            }
            let inserted = units.insert(&letters);
            groups.push(UnitMatch::Of(to_u32(inserted.number)));
            if inserted.is_new {
                firsts.push(number);
            }
            if firsts.len() > most {
                return None;
            }
        }
        let mut distinct = Sequences::default();
        firsts.iter().for_each(|&first| distinct.append(queries, first * unit.each..(first + 1) * unit.each));
        Some(Grouped { queries: distinct, units, groups })
    }

    /// Creates groups of their own, after the other groups, for units whose image does not satisfy `mirrored`. Returns
    /// these units.
    pub fn take_apart(
        &mut self,
        queries: &Sequences,
        unit: Unit,
        mirrored: impl Fn(u32) -> bool,
    ) -> Sequences {
        let mut apart = Sequences::default();
        let mut letters = Vec::new();
        for (number, group) in self.groups.iter_mut().enumerate() {
            let UnitMatch::Mirrored(image) = *group else { continue };
            if mirrored(image) {
                continue;
            }
            unit.put_letters(queries, number, Strand::Forward, &mut letters);
            let inserted = self.units.insert(&letters);
            *group = UnitMatch::Of(to_u32(inserted.number));
            if inserted.is_new {
                apart.append(queries, number * unit.each..(number + 1) * unit.each);
            }
        }
        apart
    }
}

impl Unit {
    /// Builds the key that distinguishes a unit, or its mirror image, from others.
    fn put_letters(self, queries: &Sequences, number: usize, strand: Strand, letters: &mut Vec<u8>) {
        letters.clear();
        let first = usize::from(strand == Strand::Reverse);
        for k in (first..self.each).step_by(self.strands) {
            let codes = queries.get(number * self.each + k);
            // Lengths come first, so that units of several sequences differ if their boundaries differ.
            letters.extend_from_slice(&(codes.len() as u64).to_le_bytes());
            letters.extend_from_slice(codes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequences(all: &[&[u8]]) -> Sequences {
        all.iter().copied().collect()
    }

    fn unit(each: usize, strands: usize) -> Unit {
        Unit { each, strands, mirrors: false }
    }

    fn grouped(queries: &Sequences, each: usize, strands: usize) -> Grouped {
        Grouped::of(queries, unit(each, strands), 1.0, |_, _| false).unwrap()
    }

    fn of(groups: &[u32]) -> Vec<UnitMatch> {
        groups.iter().map(|&group| UnitMatch::Of(group)).collect()
    }

    #[test]
    fn equal_units_are_one() {
        // Two strands: the second of each pair follows from the first.
        let queries = sequences(&[&[0, 1], &[2, 3], &[], &[], &[0, 1], &[2, 3], &[1], &[2], &[], &[]]);
        let of_strands = grouped(&queries, 2, 2);
        assert_eq!(of_strands.groups, of(&[0, 1, 0, 2, 1]));
        assert!(of_strands.queries.iter().eq(sequences(&[&[0, 1], &[2, 3], &[], &[], &[1], &[2]]).iter()));
        assert_eq!(grouped(&queries, 1, 1).groups, of(&[0, 1, 2, 2, 0, 1, 3, 4, 2, 2]));
    }

    #[test]
    fn mates_are_equal_as_pairs() {
        let queries = sequences(&[&[0, 1], &[2], &[0], &[1, 2], &[0, 1], &[2], &[0, 1], &[3]]);
        let pairs = grouped(&queries, 2, 1);
        assert_eq!(pairs.groups, of(&[0, 1, 0, 2]), "the letters of the first two are the same");
        let known = Grouped::of(&queries, unit(2, 1), 1.0, |own, _| own == pairs.units.get(0)).unwrap();
        assert_eq!(known.groups, [UnitMatch::Known, UnitMatch::Of(0), UnitMatch::Known, UnitMatch::Of(1)]);
        assert!(known.queries.iter().eq(sequences(&[&[0], &[1, 2], &[0, 1], &[3]]).iter()));
    }

    #[test]
    fn mirror_images_are_one_where_they_may() {
        // ac and its reverse complement gt, twice; at, which is its own; a known one, by its image.
        let [ac, gt, at, cc, gg] = [[0u8, 1], [2, 3], [0, 3], [1, 1], [2, 2]];
        let queries = sequences(&[&ac, &gt, &gt, &ac, &at, &at, &cc, &gg, &gt, &ac, &at, &at]);
        let may = Unit { mirrors: true, ..unit(2, 2) };
        let known = [&2u64.to_le_bytes()[..], &gg].concat();
        let is_known = |letters: &[u8], strand| (letters, strand) == (&known[..], Strand::Reverse);
        let mut grouped = Grouped::of(&queries, may, 1.0, is_known).unwrap();
        let (of, mirrored) = (UnitMatch::Of, UnitMatch::Mirrored);
        assert_eq!(grouped.groups, [of(0), mirrored(0), of(1), UnitMatch::Known, mirrored(0), of(1)]);
        assert!(grouped.take_apart(&queries, may, |_| true).is_empty());
        let apart = grouped.take_apart(&queries, may, |image| image != 0);
        assert!(apart.iter().eq([&gt[..], &ac]));
        assert_eq!(grouped.groups, [of(0), of(2), of(1), UnitMatch::Known, of(2), of(1)]);
    }

    #[test]
    fn queries_that_differ_are_left_alone() {
        let all: Vec<[u8; 2]> = (0..=9u8).map(|k| [k, k]).collect();
        let mut all: Vec<&[u8]> = all.iter().map(|codes| &codes[..]).collect();
        let of = |all: &[&[u8]]| Grouped::of(&sequences(all), unit(1, 1), 0.9, |_, _| false);
        assert!(of(&all).is_none());
        all[9] = all[0];
        assert!(of(&all).is_some());
        assert!(of(&[]).is_some_and(|grouped| grouped.groups.is_empty()));
    }
}
