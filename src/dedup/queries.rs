//! Queries that are equal, as groups.

use super::Distinct;
use crate::batch::Sequences;

/// The distinct ones of some units of queries (a query in its orientations, or two mates), and which of them each unit
/// equals.
#[derive(Debug)]
pub struct Grouped {
    /// The distinct units that are not known, in the order of their first ones.
    pub queries: Sequences,
    /// The same as the letters that tell them from others.
    pub units: Distinct,
    /// Which of these each unit equals; `None` if it is known.
    pub groups: Vec<Option<u32>>,
}

impl Grouped {
    /// Groups units of `each` sequences side by side, of which every `strands`-th, from the first on, tells the others;
    /// `None` where a larger share than `most` is distinct and not known.
    pub fn of(
        queries: &Sequences,
        (each, strands): (usize, usize),
        most: f64,
        mut is_known: impl FnMut(&[u8]) -> bool,
    ) -> Option<Grouped> {
        let count = queries.len() / each;
        let most = (count as f64 * most) as usize;
        let (mut units, mut firsts) = (<Distinct>::default(), Vec::new());
        let mut groups = Vec::with_capacity(count);
        let mut letters = Vec::new();
        for unit in 0..count {
            letters.clear();
            for k in (0..each).step_by(strands) {
                let codes = queries.get(unit * each + k);
                // Lengths come first, so that units of several sequences differ where these are cut elsewhere.
                letters.extend_from_slice(&(codes.len() as u64).to_le_bytes());
                letters.extend_from_slice(codes);
            }
            if is_known(&letters) {
                groups.push(None);
                continue;
            }
            let inserted = units.insert(&letters);
            groups.push(Some(inserted.number as u32));
            if inserted.is_new {
                firsts.push(unit);
            }
            if firsts.len() > most {
                return None;
            }
        }
        let mut distinct = Sequences::default();
        firsts.iter().for_each(|&unit| distinct.append(queries, unit * each..(unit + 1) * each));
        Some(Grouped { queries: distinct, units, groups })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequences(all: &[&[u8]]) -> Sequences {
        all.iter().copied().collect()
    }

    fn grouped(queries: &Sequences, each: usize, strands: usize) -> Grouped {
        Grouped::of(queries, (each, strands), 1.0, |_| false).unwrap()
    }

    #[test]
    fn equal_units_are_one() {
        // Two strands: the second of each pair follows from the first.
        let queries = sequences(&[&[0, 1], &[2, 3], &[], &[], &[0, 1], &[2, 3], &[1], &[2], &[], &[]]);
        let of_strands = grouped(&queries, 2, 2);
        assert_eq!(of_strands.groups, [0, 1, 0, 2, 1].map(Some));
        assert!(of_strands.queries.iter().eq(sequences(&[&[0, 1], &[2, 3], &[], &[], &[1], &[2]]).iter()));
        assert_eq!(grouped(&queries, 1, 1).groups, [0, 1, 2, 2, 0, 1, 3, 4, 2, 2].map(Some));
    }

    #[test]
    fn mates_are_equal_as_pairs() {
        let queries = sequences(&[&[0, 1], &[2], &[0], &[1, 2], &[0, 1], &[2], &[0, 1], &[3]]);
        let pairs = grouped(&queries, 2, 1);
        assert_eq!(pairs.groups, [0, 1, 0, 2].map(Some), "the letters of the first two are the same");
        let known = Grouped::of(&queries, (2, 1), 1.0, |unit| unit == pairs.units.get(0)).unwrap();
        assert_eq!(known.groups, [None, Some(0), None, Some(1)]);
        assert!(known.queries.iter().eq(sequences(&[&[0], &[1, 2], &[0, 1], &[3]]).iter()));
    }

    #[test]
    fn queries_that_differ_are_left_alone() {
        let all: Vec<[u8; 2]> = (0..=9u8).map(|k| [k, k]).collect();
        let mut all: Vec<&[u8]> = all.iter().map(|codes| &codes[..]).collect();
        let of = |all: &[&[u8]]| Grouped::of(&sequences(all), (1, 1), 0.9, |_| false);
        assert!(of(&all).is_none());
        all[9] = all[0];
        assert!(of(&all).is_some());
        assert!(of(&[]).is_some_and(|grouped| grouped.groups.is_empty()));
    }
}
