//! Words stored back to back.

use crate::terms::casts::to_u32;

/// Words in the order in which they were given, duplicates included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenWords {
    bytes: Vec<u8>,
    /// Offset of each word's first byte, then the total number of bytes.
    starts: Vec<u32>,
}

/// More words, or more bytes in total, than 32 bits can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl Default for GivenWords {
    fn default() -> GivenWords {
        GivenWords { bytes: Vec::new(), starts: vec![0] }
    }
}

impl GivenWords {
    pub fn push(&mut self, word: &[u8]) -> Result<(), Full> {
        let is_full = u32::try_from(self.bytes.len() + word.len()).is_err();
        if is_full || self.starts.len() >= u32::MAX as usize {
            return Err(Full);
        }
        self.put(word);
        Ok(())
    }

    /// Appends a word, for which there must be room.
    pub(super) fn put(&mut self, word: &[u8]) {
        self.bytes.extend_from_slice(word);
        self.starts.push(to_u32(self.bytes.len()));
    }

    /// Appends words, for which there must be room.
    pub fn append(&mut self, words: &GivenWords) {
        let before = to_u32(self.bytes.len());
        self.bytes.extend_from_slice(&words.bytes);
        self.starts.extend(words.starts[1..].iter().map(|start| before + start));
    }

    /// Stores all given words.
    pub fn of(words: &[&[u8]]) -> Result<GivenWords, Full> {
        let mut all = GivenWords::default();
        words.iter().try_for_each(|word| all.push(word))?;
        Ok(all)
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    pub fn get(&self, word: usize) -> &[u8] {
        &self.bytes[self.starts[word] as usize..self.starts[word + 1] as usize]
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.starts.windows(2).map(|ends| &self.bytes[ends[0] as usize..ends[1] as usize])
    }

    /// The bytes of all words, back to back.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Offset of each word's first byte, then the total number of bytes.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The words in ASCII lower case.
    #[must_use]
    pub fn folded(mut self) -> GivenWords {
        self.bytes.make_ascii_lowercase();
        self
    }
}
