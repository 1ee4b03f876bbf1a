//! Lines as offsets in a text, and from the end positions of hits to lines.

use super::NEWLINE;
use crate::engine::cpu::simd::Bits;
use memchr::{memchr, memchr_iter, memrchr};

/// Bytes per step of [`each_line`].
const BLOCK: usize = 64;

/// A line, as offsets in its text, without its newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// Collects the lines of positions that come in ascending order. Positions in the last line collected may come again.
pub struct LineCollector<'a> {
    text: &'a [u8],
    lines: Vec<Span>,
    /// Positions before this one belong to lines already collected.
    after: usize,
}

impl<'a> LineCollector<'a> {
    pub fn new(text: &'a [u8]) -> LineCollector<'a> {
        LineCollector { text, lines: Vec::new(), after: 0 }
    }

    /// Adds the line that contains the byte at `place`, which is not a newline.
    #[inline]
    pub fn take(&mut self, place: usize) {
        if place >= self.after {
            let start =
                memrchr(NEWLINE, &self.text[self.after..place]).map_or(self.after, |at| self.after + at + 1);
            let end = line_end(self.text, place);
            self.lines.push(Span { start, end });
            self.after = end + 1;
        }
    }

    /// Whether the line of the byte at `place` was already added. Positions must not decrease.
    #[inline]
    pub fn has(&self, place: usize) -> bool {
        place < self.after
    }

    /// Adds the lines of the 32 bytes from `first` on whose bits are set. None of them is a newline.
    #[inline]
    pub fn take_word(&mut self, first: usize, mut bits: u32) {
        while bits != 0 {
            self.take(first + bits.trailing_zeros() as usize);
            // The line was added, so all other bits in it are done.
            let done = self.after.saturating_sub(first);
            bits = if done < 32 { bits >> done << done } else { 0 };
        }
    }

    pub fn lines(self) -> Vec<Span> {
        self.lines
    }
}

/// End of the line that contains the byte at `place`, or of the empty line there.
fn line_end(text: &[u8], place: usize) -> usize {
    memchr(NEWLINE, &text[place..]).map_or(text.len(), |at| place + at)
}

/// All lines of the text.
pub fn every(text: &[u8]) -> Vec<Span> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = line_end(text, start);
        lines.push(Span { start, end });
        start = end + 1;
    }
    lines
}

/// Calls `call` for each line, in order, without a list of them.
#[inline(always)]
pub fn each_line<S: Bits>(simd: S, text: &[u8], mut call: impl FnMut(Span)) {
    let mut start = 0;
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let mut ends = |first: usize, mut newlines: u64| {
        while newlines != 0 {
            let end = first + newlines.trailing_zeros() as usize;
            call(Span { start, end });
            start = end + 1;
            newlines &= newlines - 1;
        }
    };
    for (number, block) in blocks.iter().enumerate() {
        ends(number * BLOCK, newlines(simd, block));
    }
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    ends(blocks.len() * BLOCK, newlines(simd, &last));
    if start < text.len() {
        call(Span { start, end: text.len() });
    }
}

/// One bit for each byte, set for newlines.
#[inline(always)]
fn newlines<S: Bits>(simd: S, bytes: &[u8; BLOCK]) -> u64 {
    const { assert!(NEWLINE == 0b0000_1010) };
    let has = simd.bits_of::<1>(bytes) & simd.bits_of::<3>(bytes);
    // Few blocks lack such a byte, and all other blocks need the other bits.
    let low = simd.bits_of::<0>(bytes) | simd.bits_of::<2>(bytes);
    let high = simd.bits_of::<4>(bytes)
        | simd.bits_of::<5>(bytes)
        | simd.bits_of::<6>(bytes)
        | simd.bits_of::<7>(bytes);
    has & !low & !high
}

/// The lines that are not among `lines`.
pub fn others(text: &[u8], lines: &[Span]) -> Vec<Span> {
    let mut others = Vec::new();
    let mut start = 0;
    let ends = lines.iter().map(|line| (line.start, (line.end + 1).min(text.len())));
    for (until, next) in ends.chain([(text.len(), text.len())]) {
        others.extend(
            every(&text[start..until])
                .iter()
                .map(|line| Span { start: start + line.start, end: start + line.end }),
        );
        start = next;
    }
    others
}

/// The union of two lists of lines, in order.
pub fn union(mut these: Vec<Span>, those: Vec<Span>) -> Vec<Span> {
    if those.is_empty() {
        return these;
    }
    these.extend(those);
    these.sort_by_key(|line| line.start);
    these.dedup();
    these
}

/// Number of lines of the text; the last line may lack its newline.
pub fn count(text: &[u8]) -> u64 {
    let open = text.last().is_some_and(|&byte| byte != NEWLINE);
    memchr_iter(NEWLINE, text).count() as u64 + u64::from(open)
}
