//! Turns the end positions of hits into lines.

use super::NEWLINE;
use memchr::{memchr, memchr_iter, memrchr};

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
