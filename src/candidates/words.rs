//! Pieces that stand in the targets as they are, by an index of their words.

use super::index::{Index, LEAST_LETTERS, MOST_LETTERS};
use crate::batch::Sequences;
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, OnceLock};

/// An index of the targets, made when it is first needed.
#[derive(Debug)]
pub struct Words {
    targets: Arc<Sequences>,
    letters: u32,
    /// `None` inside where its threads could not be started.
    index: OnceLock<Option<Index>>,
}

/// Memory to use again.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Where a piece begins in the query, and the word that it begins with.
    words: Vec<(usize, (usize, u32))>,
    /// The same with where the index has the places of the word.
    places: Vec<(usize, Range<usize>)>,
}

/// What is called for each place where a piece stands: where it begins in the query and in the letters of all targets,
/// and which of these are its target's.
pub trait Place: FnMut(usize, usize, &Range<usize>) {}

impl<F: FnMut(usize, usize, &Range<usize>)> Place for F {}

impl Words {
    pub fn new(targets: &Arc<Sequences>) -> Words {
        // About as many words as places.
        let letters = (targets.codes().len().max(1).ilog2() / 2 + 1).clamp(LEAST_LETTERS, MOST_LETTERS);
        Words { targets: Arc::clone(targets), letters, index: OnceLock::new() }
    }

    /// Letters of the shortest pieces that can be looked up.
    pub fn least(&self) -> usize {
        LEAST_LETTERS as usize
    }

    /// Letters of the words that pieces are looked up by, where they have so many.
    pub fn letters(&self) -> u32 {
        self.letters
    }

    /// Whether the index was made, or could not be.
    pub fn are_tried(&self) -> bool {
        self.index.get().is_some()
    }

    /// Whether the index is there.
    pub fn are_ready(&self) -> bool {
        matches!(self.index.get(), Some(Some(_)))
    }

    /// Makes the index, if it is not there yet.
    ///
    /// Whoever comes while it is made waits, without taking up other work of its pool. So the work is done in a pool of
    /// its own: of the caller's, one thread may stand here for the second time, behind work that the index waits for.
    pub fn prepare(&self) {
        self.index.get_or_init(|| {
            let (done, made) = sync_channel(1);
            let (targets, letters) = (Arc::clone(&self.targets), self.letters);
            let threads = rayon::current_num_threads();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
            pool.spawn(move || {
                let _ = done.send(Index::new(&targets, letters));
            });
            made.recv().ok()
        });
    }

    /// Places that the index has for the words of a query's pieces: more than there are of the pieces. 0 where the index
    /// is not ready.
    pub fn count(&self, query: &[u8], piece: usize) -> usize {
        let Some(Some(index)) = self.index.get() else { return 0 };
        query.chunks_exact(piece).filter_map(|codes| Some(index.range(index.word(codes)?).len())).sum()
    }

    /// Calls with each place where a piece stands as it is. `None` if the index is not ready.
    pub fn for_each_place(
        &self,
        query: &[u8],
        piece: usize,
        scratch: &mut Scratch,
        mut call: impl Place,
    ) -> Option<()> {
        let index = self.index.get()?.as_ref()?;
        let Scratch { words, places } = scratch;
        // One loop after the other, so that the processor waits for many places of the memory at a time.
        words.clear();
        places.clear();
        let pieces = query.chunks_exact(piece).enumerate();
        words.extend(pieces.filter_map(|(k, codes)| Some((k * piece, index.word(codes)?))));
        places.extend(words.iter().map(|&(from, word)| (from, index.range(word))));
        for (from, range) in places.drain(..) {
            let codes = &query[from..from + piece];
            // A letter that is no base matches nothing.
            if codes.iter().any(|&code| code >= 4) {
                continue;
            }
            for &place in index.places(range) {
                let place = place as usize;
                if self.targets.codes().get(place..place + piece) != Some(codes) {
                    continue;
                }
                let target = self.targets.holding(place);
                let bounds = self.targets.start(target)..self.targets.start(target + 1);
                // A piece lies in one target.
                if place + piece <= bounds.end {
                    call(from, place, &bounds);
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// Every thread of the pool asks at the same time, and again from inside the loop of another.
    #[test]
    fn an_index_that_all_threads_of_a_pool_ask_for_is_made() {
        let codes: Vec<u8> =
            (0..200_000u32).map(|place| (place.wrapping_mul(2_654_435_761) >> 30) as u8).collect();
        let targets: Arc<Sequences> = Arc::new([&codes[..]].into_iter().collect());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for _ in 0..20 {
            let words = Words::new(&targets);
            let found: Vec<usize> = pool.install(|| {
                let ask = |_| {
                    words.prepare();
                    words.count(&codes[..1000], 20)
                };
                (0..64).into_par_iter().map(ask).collect()
            });
            assert!(found.iter().all(|&count| count == found[0] && count >= 50));
        }
    }
}
