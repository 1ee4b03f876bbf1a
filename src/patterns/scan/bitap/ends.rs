//! The ends of patterns as the device returns them.

use super::shader::UNIT;
use crate::gpu::run::Readback;
use std::ops::Range;

/// The ends of patterns in a text.
#[derive(Default)]
pub struct TextEnds {
    pub(super) parts: Vec<FoundPart>,
}

/// A part of the text, and one bit for each byte uploaded for it.
pub(super) struct FoundPart {
    pub own: Range<usize>,
    /// Words before the first word of the part itself.
    pub lead: usize,
    pub words: Readback,
}

impl TextEnds {
    /// Passes all ends among `bytes` to `take` in order, in groups of 32 positions: the first position, and one bit for
    /// each.
    pub fn each(&self, bytes: Range<usize>, mut take: impl FnMut(usize, u32)) {
        for part in &self.parts {
            let own = part.own.start.max(bytes.start)..part.own.end.min(bytes.end);
            if own.is_empty() {
                continue;
            }
            let unit = |place: usize| (place - part.own.start) / UNIT;
            let units = unit(own.start)..unit(own.end - 1) + 1;
            let words = &part.words.as_ref()[part.lead..][units.clone()];
            for (unit, &bits) in units.zip(words).filter(|&(_, &bits)| bits != 0) {
                let place = part.own.start + unit * UNIT;
                let skipped = own.start.saturating_sub(place);
                let behind = (place + UNIT).saturating_sub(own.end);
                let bits = bits << behind >> behind >> skipped;
                if bits != 0 {
                    take(place + skipped, bits);
                }
            }
        }
    }
}

impl FoundPart {
    /// Whether any end is after the last byte.
    pub fn reaches_over_the_end(&self) -> bool {
        let last = self.words.as_ref().last().copied().unwrap_or(0);
        match self.own.len() % UNIT {
            0 => false,
            used => last >> used != 0,
        }
    }
}
