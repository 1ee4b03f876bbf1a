//! PAMs: bases that must flank a hit without edits, and are not part of it.
//!
//! A PAM flanks the 3' or the 5' end of the *pattern*. In the text it therefore follows or precedes a hit, depending on
//! the strand:
//!
//! ```text
//!            side 3                       side 5
//! forward    PATTERN PAM                  PAM PATTERN
//! reverse    revcomp(PAM) revcomp(PATTERN)    revcomp(PATTERN) revcomp(PAM)
//! ```
//!
//! A PAM is tested at the edge of the hit beside it: at *ends* if it follows hits, and at *starts* if it precedes them.
//! [`super::anchors`] finds these edges. An edge is the number of text bases before it.

use super::pattern::{BaseClass, class_of, matches};
use crate::terms::alignment::Strand;
use crate::terms::alphabet::{Alphabet, reverse_complement_codes};
use crate::terms::options::PamSide;
use std::ops::Range;

/// A PAM in both orientations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pam {
    forward: Vec<BaseClass>,
    reverse: Vec<BaseClass>,
    side: PamSide,
}

impl Pam {
    /// Parses a nonempty PAM. The error is the 0-based position of the first character that is no IUPAC code.
    pub fn new(letters: &[u8], side: PamSide) -> Result<Pam, usize> {
        let mut codes = Vec::with_capacity(letters.len());
        Alphabet::Dna.encode(letters, &mut codes)?;
        let forward = codes.iter().map(|&code| class_of(code)).collect();
        let reverse = reverse_complement_codes(&codes).map(class_of).collect();
        Ok(Pam { forward, reverse, side })
    }

    /// Length of the PAM in bases.
    pub fn letters(&self) -> usize {
        self.forward.len()
    }

    /// Whether the PAM follows hits of this strand in the text; otherwise it precedes them.
    pub fn is_behind(&self, strand: Strand) -> bool {
        (self.side == PamSide::Three) == (strand == Strand::Forward)
    }

    /// The classes of the PAM in text order.
    pub fn classes(&self, strand: Strand) -> &[BaseClass] {
        match strand {
            Strand::Reverse => &self.reverse,
            _ => &self.forward,
        }
    }

    /// Interval of the PAM beside an edge of a hit; `None` if it extends past the text. The edge is the hit's end if
    /// the PAM follows hits of this strand, otherwise the hit's start.
    pub fn place(&self, strand: Strand, letters: usize, edge: usize) -> Option<Range<usize>> {
        let len = self.forward.len();
        let place = match self.is_behind(strand) {
            true => edge..edge + len,
            false => edge.checked_sub(len)?..edge,
        };
        (place.end <= letters).then_some(place)
    }

    /// Whether the PAM is present beside this edge of a hit in `text`.
    pub fn passes(&self, strand: Strand, text: &[u8], edge: usize) -> bool {
        self.place(strand, text.len(), edge).is_some_and(|place| {
            let mut letters = self.classes(strand).iter().zip(&text[place]);
            letters.all(|(&class, &letter)| matches(class, letter))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::search::OTHER;

    /// The accepted edges of TCCANGGT, where N is no base.
    fn edges(letters: &[u8], side: PamSide, strand: Strand) -> Vec<usize> {
        let text = [3, 1, 1, 0, OTHER, 2, 2, 3];
        let pam = Pam::new(letters, side).unwrap();
        (0..=text.len()).filter(|&edge| pam.passes(strand, &text, edge)).collect()
    }

    #[test]
    fn by_hand() {
        let (forward, reverse) = (Strand::Forward, Strand::Reverse);
        assert_eq!(edges(b"NGG", PamSide::Three, forward), [4]);
        // CCN before the hit.
        assert_eq!(edges(b"NGG", PamSide::Three, reverse), [4]);
        assert_eq!(edges(b"NGG", PamSide::Five, forward), [7]);
        assert_eq!(edges(b"NGG", PamSide::Five, reverse), [1]);
        assert_eq!(edges(b"ggu", PamSide::Three, forward), [5]);
        // Truncated by the ends of the text.
        assert_eq!(edges(b"GGTN", PamSide::Three, forward), []);
        assert_eq!(edges(b"NTCC", PamSide::Five, forward), []);
        // Only N matches a character that is no base.
        assert_eq!(edges(b"AVG", PamSide::Three, forward), []);
        assert_eq!(edges(b"ANG", PamSide::Three, forward), [3]);
        assert_eq!(Pam::new(b"NG-", PamSide::Five), Err(2));
    }
}
