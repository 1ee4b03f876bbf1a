//! Which of distinct sequences begin others.
//!
//! A sequence that is the beginning of longer ones joins the shortest of these, and of equally short ones the one of the
//! least rank. That one may join a longer one in its turn, so the sets are those of `vsearch --derep_prefix`.

use super::Distinct;
use rayon::prelude::*;

/// The longest sequence of each sequence's set, by number: its own number where it begins no longer one. `ranks` has a
/// number for each sequence, no two of them equal.
///
/// In the order of their letters, what a sequence begins stands right behind it. Of the sequences that it begins, the one
/// to join is among those that no other of them begins: another one is longer than the one that begins it. So each
/// sequence is looked at once, by the longest one that begins it, which is on a stack of those that may.
pub fn longest<S: Sync>(distinct: &Distinct<S>, ranks: &[usize]) -> Vec<usize> {
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
    // What a sequence joins stands behind it, so the longest one of its set is known before.
    let mut longest: Vec<usize> = (0..order.len()).collect();
    for number in order.into_iter().rev() {
        if let Some(other) = joined[number] {
            longest[number] = longest[other];
        }
    }
    longest
}
