//! Words of patterns, and the tables in which they are looked up.
//!
//! A pattern of at least `letters + step - 1` bases has `step` consecutive words of `letters` bases. In each occurrence
//! exactly one of these words begins at a multiple of `step` in the text, so only every `step`-th word of the text is
//! looked up (Sutinen and Tarhio 1996). For an IUPAC code, all words that it stands for are entered. N would also stand
//! for characters that are no base, so no word contains it.

use crate::patterns::search::pattern::ANY;
use crate::patterns::tables::{BucketTable, HashBits};
use crate::terms::casts::to_u32;
use bytemuck::{Pod, Zeroable};

/// Words of `letters` bases, looked up at multiples of `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordShape {
    pub letters: usize,
    pub step: usize,
}

/// The shapes in which patterns are entered: each pattern in the first shape for which it is long enough. Each shape in
/// use costs a pass over the text that reads one of `step` positions. Measured with patterns of 20 bases
/// (docs/ideas.md).
pub const SHAPES: [WordShape; 5] = [shape(14, 7), shape(12, 4), shape(12, 1), shape(8, 1), shape(6, 1)];
/// Maximum length of a word in bases.
pub const MOST_LETTERS: usize = 14;
/// A pattern that needs more words than this is not entered.
const MOST_WORDS: usize = 64;

/// Minimum number of bits of the first level per word, unless `MOST_BITS` limits it; the largest first level still fits
/// in a core's second-level cache.
const BITS_OF_WORD: usize = 32;
const MOST_BITS: u32 = 23;

const fn shape(letters: usize, step: usize) -> WordShape {
    WordShape { letters, step }
}

impl WordShape {
    /// Number of pattern bases that the words of a shape cover.
    fn span(self) -> usize {
        self.letters + self.step - 1
    }

    /// Offset in a pattern of the span with the fewest words, if they are few enough.
    fn place(self, classes: &[u8]) -> Option<usize> {
        let mut best = (MOST_WORDS + 1, 0);
        for (place, classes) in classes.windows(self.span()).enumerate() {
            best = best.min((self.words(classes), place));
            if best.0 == self.step {
                break;
            }
        }
        (best.0 <= MOST_WORDS).then_some(best.1)
    }

    /// Number of words that a span stands for; the count may stop above [`MOST_WORDS`].
    fn words(self, classes: &[u8]) -> usize {
        let bases = |class: &u8| if *class == ANY { MOST_WORDS + 1 } else { class.count_ones() as usize };
        let of_word = |classes: &[u8]| classes.iter().map(bases).fold(1, usize::saturating_mul);
        classes.windows(self.letters).map(of_word).fold(0, usize::saturating_add)
    }

    /// Calls `call` with the offset and the bits of each word of a span.
    fn for_each_word(self, classes: &[u8], mut call: impl FnMut(usize, u32)) {
        let mut words: Vec<u32> = Vec::new();
        for (place, classes) in classes.windows(self.letters).enumerate() {
            words.clear();
            words.push(0);
            for (at, &class) in classes.iter().enumerate() {
                let mut bases = (0..4).filter(|base| class >> base & 1 == 1);
                let bits = |base: u32| (base & 1) << at | (base >> 1) << (self.letters + at);
                let (count, first) = (words.len(), bases.next().map_or(0, bits));
                for base in bases {
                    words.extend_from_within(..count);
                    let copies = words.len() - count;
                    words[copies..].iter_mut().for_each(|word| *word |= bits(base));
                }
                words[..count].iter_mut().for_each(|word| *word |= first);
            }
            words.iter().for_each(|&word| call(place, word));
        }
    }
}

/// The shape in which a pattern is entered, and the offset of its words.
pub fn shape_of(classes: &[u8]) -> Option<(usize, usize)> {
    SHAPES.iter().enumerate().find_map(|(number, shape)| Some((number, shape.place(classes)?)))
}

/// Hash of a word, which holds the low bits of its bases below their high bits. No two words have the same hash (Knuth
/// 1998, 6.4); its upper bits index the tables.
#[inline(always)]
pub fn hash(word: u32) -> u32 {
    word.wrapping_mul(0x9e37_79b1)
}

/// A word of a pattern.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct WordEntry {
    pub hash: u32,
    pub pattern: u32,
    /// Bases of the pattern before the word.
    pub before: u32,
}

/// The words of all patterns of one shape.
#[derive(Debug)]
pub struct PatternWordTable {
    pub shape: WordShape,
    bits: HashBits,
    shift: u32,
    entries: BucketTable<WordEntry>,
}

impl PatternWordTable {
    /// Builds the table from `count` entries, with which `for_each` calls its argument.
    fn new(shape: WordShape, count: usize, for_each: impl Fn(&mut dyn FnMut(WordEntry))) -> PatternWordTable {
        let shift = u32::BITS - count.next_power_of_two().ilog2().clamp(1, MOST_BITS);
        let mut bits = HashBits::with_room(count, BITS_OF_WORD, MOST_BITS);
        for_each(&mut |entry| bits.insert(entry.hash));
        let entries = BucketTable::new(1 << (u32::BITS - shift), |call| {
            for_each(&mut |entry| call((entry.hash >> shift) as usize, entry));
        });
        PatternWordTable { shape, bits, shift, entries }
    }

    /// 1 if a word with this hash may exist, otherwise 0.
    #[inline(always)]
    pub fn may_have(&self, hash: u32) -> usize {
        self.bits.may_have(hash)
    }

    /// A bucket that contains all entries with this hash.
    #[inline(always)]
    pub fn near(&self, hash: u32) -> &[WordEntry] {
        self.entries.get((hash >> self.shift) as usize)
    }
}

/// Classes of patterns, stored back to back.
#[derive(Debug)]
pub struct Classes {
    classes: Vec<u8>,
    /// Offset of each pattern's classes, then their total number.
    starts: Vec<usize>,
}

impl Classes {
    pub fn of(patterns: &[Vec<u8>]) -> Classes {
        let mut starts = vec![0];
        starts.extend(patterns.iter().scan(0, |sum, classes| {
            *sum += classes.len();
            Some(*sum)
        }));
        Classes { classes: patterns.concat(), starts }
    }

    /// The classes of a pattern.
    #[inline(always)]
    pub fn get(&self, pattern: u32) -> &[u8] {
        &self.classes[self.starts[pattern as usize]..self.starts[pattern as usize + 1]]
    }

    /// Whether these are the classes of `patterns`.
    pub fn are(&self, patterns: &[Vec<u8>]) -> bool {
        self.starts.len() == patterns.len() + 1
            && (0..).zip(patterns).all(|(pattern, classes)| self.get(pattern) == classes)
    }
}

/// A word of a pattern, as defined by its shape.
#[derive(Clone, Copy, Debug)]
pub struct PatternWord {
    pub word: u32,
    pub pattern: u32,
    /// Bases of the pattern before the word.
    pub before: u32,
}

/// Patterns entered in a shape, and the offset of the words in each.
pub struct Entered {
    pub shape: WordShape,
    patterns: Vec<(u32, u32)>,
}

impl Entered {
    /// Calls `call` with all words.
    pub fn for_each(&self, patterns: &[Vec<u8>], mut call: impl FnMut(PatternWord)) {
        for &(pattern, place) in &self.patterns {
            let classes = &patterns[pattern as usize][place as usize..][..self.shape.span()];
            let of_place =
                |at: usize, word: u32| call(PatternWord { word, pattern, before: place + to_u32(at) });
            self.shape.for_each_word(classes, of_place);
        }
    }
}

/// Groups patterns by the shapes in which they are entered, and lists those that fit no shape.
pub fn entered(patterns: &[Vec<u8>]) -> (Vec<Entered>, Vec<u32>) {
    let mut all = SHAPES.map(|shape| Entered { shape, patterns: Vec::new() });
    let mut others = Vec::new();
    for (pattern, classes) in (0..).zip(patterns) {
        match shape_of(classes) {
            Some((number, place)) => all[number].patterns.push((pattern, to_u32(place))),
            None => others.push(pattern),
        }
    }
    (all.into_iter().filter(|own| !own.patterns.is_empty()).collect(), others)
}

/// Patterns indexed by their words.
#[derive(Debug)]
pub struct WordIndex {
    pub classes: Classes,
    pub tables: Vec<PatternWordTable>,
    /// The patterns that are in none of the tables.
    pub others: Vec<u32>,
}

impl WordIndex {
    pub fn new(patterns: &[Vec<u8>]) -> WordIndex {
        let (entered, others) = entered(patterns);
        let table = |own: &Entered| {
            let for_each = |call: &mut dyn FnMut(WordEntry)| {
                own.for_each(patterns, |PatternWord { word, pattern, before }| {
                    call(WordEntry { hash: hash(word), pattern, before });
                });
            };
            let mut count = 0;
            for_each(&mut |_| count += 1);
            PatternWordTable::new(own.shape, count, for_each)
        };
        WordIndex { classes: Classes::of(patterns), tables: entered.iter().map(table).collect(), others }
    }
}
