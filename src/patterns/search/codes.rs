//! The input of scans: the codes of a text, and their bit planes.

use super::NOTHING;
use crate::patterns::sliced::packed::{PackedText, RUN};
use crate::patterns::sliced::transpose::BLOCK;
use rayon::prelude::*;
use std::ops::Deref;

/// Codes of a text: 0 to 3, [`super::OTHER`] and [`super::NOTHING`].
#[derive(Clone, Debug, Default)]
pub struct TextCodes {
    /// The codes, padded with [`super::NOTHING`].
    blocks: Vec<[u8; BLOCK]>,
    letters: usize,
    planes: PackedText,
}

impl TextCodes {
    pub fn of(codes: &[u8]) -> TextCodes {
        let mut text = TextCodes::default();
        text.append(codes, u8::MAX);
        text
    }

    /// Appends codes; codes above `most` become `most`. Long inputs are copied and packed on all threads.
    pub fn append(&mut self, codes: &[u8], most: u8) {
        let at = self.letters % BLOCK;
        let room = if at == 0 { 0 } else { BLOCK - at };
        let (first, rest) = codes.split_at(room.min(codes.len()));
        if let Some(last) = self.blocks.last_mut() {
            last[at..].iter_mut().zip(first).for_each(|(own, &code)| *own = code.min(most));
        }
        let (whole, rest) = rest.as_chunks::<BLOCK>();
        let plain = |block: &[u8; BLOCK]| block.map(|code| code.min(most));
        match whole.len() > RUN {
            true => self.blocks.par_extend(whole.par_iter().with_min_len(RUN).map(plain)),
            false => self.blocks.extend(whole.iter().map(plain)),
        }
        if !rest.is_empty() {
            let mut last = [NOTHING; BLOCK];
            last.iter_mut().zip(rest).for_each(|(own, &code)| *own = code.min(most));
            self.blocks.push(last);
        }
        // An incomplete last block is packed again each time.
        let packed = self.letters / BLOCK;
        self.letters += codes.len();
        self.planes.extend(&self.blocks, packed, self.letters);
    }

    /// The same text as bit planes.
    pub fn planes(&self) -> &PackedText {
        &self.planes
    }
}

impl Deref for TextCodes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.blocks.as_flattened()[..self.letters]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::search::OTHER;

    #[test]
    fn bits_are_those_of_the_codes() {
        let code = |k: usize| match k % 301 {
            77 => OTHER,
            200 => NOTHING,
            other => (other * other % 7 % 4) as u8,
        };
        let codes: Vec<u8> = (0..300_000).map(code).collect();
        // Input in pieces of several lengths.
        let mut text = TextCodes::default();
        for len in [0, 1, 63, 64, 65, 128, 3, 4000, 60, 70_001, 65_536, 8000, 131_000, 300_000] {
            let from = text.len();
            text.append(&codes[from..codes.len().min(from + len)], u8::MAX);
            assert_eq!(*text, codes[..text.len()]);
            let whole = TextCodes::of(&codes[..text.len()]).planes;
            for at in (0..text.len()).step_by(if text.len() < 9000 { 1 } else { 37 }) {
                assert_eq!(text.planes().window(at), whole.window(at), "{at} of {}", text.len());
            }
        }
        assert_eq!(text.len(), codes.len());
    }
}
