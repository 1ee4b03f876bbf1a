//! Hash tables of two levels, for lookups that mostly fail: a bitmap that fits in a core's caches ([`HashBits`]), and
//! entries sorted by their hashes ([`BucketTable`]). A lookup tests a bit, and then reads one bucket.

use bytemuck::Zeroable;
use std::ops::Range;

/// Minimum number of bits of a bitmap, as a power of two.
const FEWEST_BITS: u32 = 12;

/// One bit for each prefix of a hash that some entry has.
#[derive(Debug)]
pub struct HashBits {
    pub bits: Vec<u64>,
    /// Right shift that makes a hash a bit's index.
    pub shift: u32,
}

impl HashBits {
    /// Room for `entries` entries: at least `bits` bits for each, but at most `2^most` in total.
    pub fn with_room(entries: usize, bits: usize, most: u32) -> HashBits {
        let wanted = (entries * bits).max(1).next_power_of_two().ilog2();
        let shift = u32::BITS - wanted.clamp(FEWEST_BITS, most);
        HashBits { bits: vec![0; (1 << (u32::BITS - shift)) / 64], shift }
    }

    pub fn insert(&mut self, hash: u32) {
        let bit = hash >> self.shift;
        self.bits[bit as usize / 64] |= 1 << (bit % 64);
    }

    /// 1 if an entry with this hash may exist, otherwise 0.
    #[inline(always)]
    pub fn may_have(&self, hash: u32) -> usize {
        let bit = hash >> self.shift;
        (self.bits[bit as usize / 64] >> (bit % 64) & 1) as usize
    }
}

/// Entries, sorted by the buckets in which they are.
#[derive(Debug)]
pub struct BucketTable<E> {
    /// Offset of each bucket's entries, then their total number.
    pub starts: Vec<u32>,
    pub entries: Vec<E>,
}

impl<E: Copy + Zeroable> BucketTable<E> {
    /// A counting sort. `for_each` calls its argument with the bucket of each entry and the entry. It is called twice,
    /// which avoids a temporary copy of the entries.
    #[inline]
    pub fn new(buckets: usize, for_each: impl Fn(&mut dyn FnMut(usize, E))) -> BucketTable<E> {
        let mut starts = vec![0; buckets + 1];
        for_each(&mut |bucket, _| starts[bucket + 1] += 1);
        for at in 0..buckets {
            starts[at + 1] += starts[at];
        }
        let mut entries = vec![E::zeroed(); starts[buckets] as usize];
        let mut next = starts.clone();
        for_each(&mut |bucket, entry| {
            entries[next[bucket] as usize] = entry;
            next[bucket] += 1;
        });
        BucketTable { starts, entries }
    }
}

impl<E> BucketTable<E> {
    /// Positions of a bucket's entries.
    #[inline(always)]
    pub fn range(&self, bucket: usize) -> Range<usize> {
        self.starts[bucket] as usize..self.starts[bucket + 1] as usize
    }

    /// The entries of a bucket.
    #[inline(always)]
    pub fn get(&self, bucket: usize) -> &[E] {
        &self.entries[self.range(bucket)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_their_buckets_in_the_given_order() {
        let entries = [(3, 'a'), (0, 'b'), (3, 'c'), (4, 'd'), (3, 'e')].map(|(at, name)| (at, name as u32));
        let table = BucketTable::new(5, |call| entries.iter().for_each(|&(at, name)| call(at, name)));
        for bucket in 0..5 {
            let own = entries.iter().filter(|&&(at, _)| at == bucket).map(|&(_, name)| name);
            assert!(table.get(bucket).iter().copied().eq(own), "{bucket}");
        }
        let mut bits = HashBits::with_room(2, 8, 27);
        [7 << 29, 1 << 21].into_iter().for_each(|hash| bits.insert(hash));
        let some = [0, 1, 1 << 20, 1 << 21, 7 << 29, u32::MAX].map(|hash| bits.may_have(hash));
        assert_eq!(some, [0, 0, 0, 1, 1, 0]);
    }
}
