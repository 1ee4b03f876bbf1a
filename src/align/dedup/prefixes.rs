//! Distinct sequences that are prefixes of others.
//!
//! A sequence that is a prefix of longer sequences joins the shortest of them. Among equally short sequences, it joins
//! that of the lowest rank. That sequence may join a longer one in turn, so the sets are those of
//! `vsearch --derep_prefix`.

use super::DistinctSequences;
use rayon::prelude::*;

/// The longest sequence of each sequence's set, by number. It is the sequence itself if it is not a prefix of a longer
/// one. `ranks` has a number for each sequence, and no two numbers are equal.
///
/// In sorted order, the sequences that begin with a prefix directly follow it. The sequence to join has none of the
/// others as a prefix, since that one would be shorter. So each sequence is compared only with its longest prefix,
/// which is found on a stack of candidates.
pub fn longest<S: Sync>(distinct: &DistinctSequences<S>, ranks: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..distinct.len()).collect();
    order.par_sort_unstable_by_key(|&number| distinct.get(number));
    let key = |number: usize| (distinct.get(number).len(), ranks[number]);
    let mut joined: Vec<Option<usize>> = vec![None; order.len()];
    let mut stack: Vec<usize> = Vec::new();
    for number in order.iter().copied() {
        let letters = distinct.get(number);
        while stack.pop_if(|begun| !letters.starts_with(distinct.get(*begun))).is_some() {}
        if let Some(&begins) = stack.last() {
            let best = joined[begins].into_iter().chain([number]).min_by_key(|&other| key(other));
            joined[begins] = best;
        }
        stack.push(number);
    }
    // A sequence precedes the one that it joins. So in reverse order, the longest sequence of its set is already known.
    let mut longest: Vec<usize> = (0..order.len()).collect();
    for number in order.into_iter().rev() {
        if let Some(other) = joined[number] {
            longest[number] = longest[other];
        }
    }
    longest
}
