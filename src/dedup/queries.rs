//! Queries that are equal, as groups.

use super::Distinct;
use crate::batch::Sequences;

/// Queries are grouped if this share of them or less is distinct: else the copy of the distinct ones takes longer than it
/// saves.
const MOST_DISTINCT: f64 = 0.9;

/// The distinct ones of some units of queries (a query in its orientations, or two mates), and which of them each unit
/// equals.
#[derive(Debug)]
pub struct Grouped {
    /// The distinct units, in the order of their first ones.
    pub queries: Sequences,
    /// The distinct unit that each unit equals.
    pub groups: Vec<u32>,
    /// How many units each distinct one stands for.
    pub counts: Vec<u32>,
}

impl Grouped {
    /// Groups units of `each` sequences side by side, of which every `strands`-th, from the first on, tells the others;
    /// `None` where nearly all units differ.
    pub fn of(queries: &Sequences, each: usize, strands: usize) -> Option<Grouped> {
        let units = queries.len() / each;
        let most = (units as f64 * MOST_DISTINCT) as usize;
        let (mut distinct, mut firsts) = (<Distinct>::default(), Vec::new());
        let (mut groups, mut counts) = (Vec::with_capacity(units), Vec::new());
        let mut letters = Vec::new();
        for unit in 0..units {
            letters.clear();
            for k in (0..each).step_by(strands) {
                let codes = queries.get(unit * each + k);
                // Lengths come first, so that units of several sequences differ where these are cut elsewhere.
                letters.extend_from_slice(&(codes.len() as u64).to_le_bytes());
                letters.extend_from_slice(codes);
            }
            let inserted = distinct.insert(&letters);
            if inserted.is_new {
                firsts.push(unit);
                counts.push(0);
                if firsts.len() > most {
                    return None;
                }
            }
            counts[inserted.number] += 1;
            groups.push(inserted.number as u32);
        }
        let mut all = Sequences::default();
        firsts.iter().for_each(|&unit| all.append(queries, unit * each..(unit + 1) * each));
        Some(Grouped { queries: all, groups, counts })
    }

    /// What each unit has, where each distinct one has `every` values of these.
    pub fn fanned_out<T: Clone>(&self, values: &[T], every: usize) -> Vec<T> {
        let of_group = |&group: &u32| &values[group as usize * every..(group as usize + 1) * every];
        self.groups.iter().flat_map(of_group).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequences(all: &[&[u8]]) -> Sequences {
        all.iter().copied().collect()
    }

    #[test]
    fn equal_units_are_one() {
        // Two strands: the second of each pair follows from the first.
        let queries = sequences(&[&[0, 1], &[2, 3], &[], &[], &[0, 1], &[2, 3], &[1], &[2], &[], &[]]);
        let grouped = Grouped::of(&queries, 2, 2).unwrap();
        assert_eq!((&grouped.groups[..], &grouped.counts[..]), (&[0, 1, 0, 2, 1][..], &[2, 2, 1][..]));
        assert!(grouped.queries.iter().eq(sequences(&[&[0, 1], &[2, 3], &[], &[], &[1], &[2]]).iter()));
        assert_eq!(grouped.fanned_out(&['a', 'b', 'c'], 1), ['a', 'b', 'a', 'c', 'b']);
        assert!(Grouped::of(&queries, 1, 1).is_some_and(|grouped| grouped.counts == [2, 2, 4, 1, 1]));
    }

    #[test]
    fn mates_are_equal_as_pairs() {
        let queries = sequences(&[&[0, 1], &[2], &[0], &[1, 2], &[0, 1], &[2], &[0, 1], &[3]]);
        let grouped = Grouped::of(&queries, 2, 1).unwrap();
        assert_eq!(grouped.groups, [0, 1, 0, 2], "the letters of the first two are the same");
        assert_eq!(grouped.fanned_out(&[1, 2, 3, 4, 5, 6], 2), [1, 2, 3, 4, 1, 2, 5, 6]);
    }

    #[test]
    fn queries_that_differ_are_left_alone() {
        let all: Vec<[u8; 2]> = (0..=9u8).map(|k| [k, k]).collect();
        let mut all: Vec<&[u8]> = all.iter().map(|codes| &codes[..]).collect();
        assert!(Grouped::of(&sequences(&all), 1, 1).is_none());
        all[9] = all[0];
        assert!(Grouped::of(&sequences(&all), 1, 1).is_some());
        assert!(Grouped::of(&Sequences::default(), 1, 1).is_some_and(|grouped| grouped.groups.is_empty()));
    }
}
