//! The kernels, and their WGSL text from `shaders/prints.wgsl`.

use crate::engine::gpu::layout::ResiduePacking;
use crate::gpu::template::{Meaning, TemplateError, constants, expand};
use crate::patterns::scan::tasks::Printing;
use crate::terms::alphabet::CODES;
use crate::terms::casts::to_u32;

const PRINTS: &str = include_str!("../../../../shaders/prints.wgsl");

/// Residues per unit, each with one bit of a word.
pub const UNIT: usize = 32;
/// Threads per workgroup.
pub const THREADS: u32 = 128;
/// Coefficients per residue in Rabin's fingerprints.
const SHIFT: u32 = 5;
const PARTS: [&str; 4] = ["x", "y", "z", "w"];

/// A kernel for texts packed as `letters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrintVariant {
    pub letters: ResiduePacking,
    /// Window length in residues of Rabin's fingerprints; `None` for the gear hash.
    pub window: Option<u32>,
    /// Whether a residue's value is looked up in Rabin's fingerprints. The gear hash always looks it up.
    pub looked_up: bool,
}

impl PrintVariant {
    /// Every kernel for these window lengths.
    pub fn all(windows: impl IntoIterator<Item = u32>) -> Vec<PrintVariant> {
        let rabin = windows.into_iter().map(Some).chain([None]);
        let all = rabin.flat_map(|window| {
            let of = |letters, looked_up| PrintVariant { letters, window, looked_up };
            let (nucleotides, codes) = (ResiduePacking::Nucleotides, ResiduePacking::Codes);
            [of(nucleotides, false), of(codes, false), of(codes, true)]
        });
        all.filter(|variant| variant.window.is_some() || !variant.looked_up).collect()
    }

    /// Units before a chunk.
    fn before(&self) -> u32 {
        self.window.map_or(1, |window| window.div_ceil(to_u32(UNIT)))
    }

    fn letters_per_word(&self) -> u32 {
        32 / self.letters.bits()
    }

    /// Words per unit.
    fn words(&self) -> u32 {
        to_u32(UNIT) / self.letters_per_word()
    }

    /// The kernel's WGSL.
    pub fn wgsl(&self) -> Result<String, TemplateError> {
        let mask = if self.letters.bits() == 4 { 15 } else { to_u32(CODES) - 1 };
        let numbers = constants([
            ("THREADS", THREADS),
            ("CODES", to_u32(CODES)),
            ("UNIT", to_u32(UNIT)),
            ("VECTORS", self.words() / 4),
            ("BEFORE", self.before()),
            ("SHIFT", SHIFT),
            ("LETTER_MASK", mask),
        ]);
        Ok(Printing::wgsl() + &numbers + &expand(PRINTS, &[], &self.meaning())?)
    }

    fn meaning(&self) -> Meaning {
        let (bits, each) = (self.letters.bits(), self.letters_per_word());
        // Residues of the first earlier unit that are outside the window.
        let skipped = self.window.map_or(0, |window| self.before() * to_u32(UNIT) - window);
        let down = skipped % each * bits;
        // The words of two consecutive units.
        let both = |place: u32| {
            let (name, place) =
                if place < self.words() { ("old", place) } else { ("young", place - self.words()) };
            format!("{name}{}.{}", place / 4, PARTS[place as usize % 4])
        };
        let word = move |k: u32| {
            let kept = match (skipped * bits).saturating_sub(32 * k) {
                cut if cut >= 32 => 0,
                cut => u32::MAX << cut,
            };
            Meaning::default()
                .names([("k", k), ("v", k / 4), ("kept", kept), ("down", down)])
                .name("part", PARTS[k as usize % 4])
                .name("low", both(k + skipped / each))
                .name("high", if down > 0 { both(k + skipped / each + 1) } else { String::new() })
        };
        let letter = move |letter: u32| {
            let shift = letter % each * bits;
            word(letter / each).names([("shift", shift), ("bit", 1 << letter)])
        };
        Meaning::default()
            .flag("RABIN", self.window.is_some())
            .flag("LOOKED_UP", self.looked_up || self.window.is_none())
            .flag("NEAR", self.before() == 1)
            .flag("ALIGNED", down == 0)
            .rounds("v", (0..self.words() / 4).map(|v| Meaning::default().names([("v", v)])))
            .rounds("k", (0..self.words()).map(word))
            .rounds("letter", (0..to_u32(UNIT)).map(letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_a_text_without_directives() {
        for variant in PrintVariant::all([1, 31, 32, 33, 48, 64, 256]) {
            let text = variant.wgsl().unwrap_or_else(|error| panic!("{variant:?}: {error}"));
            assert!(!text.contains("//!") && !text.contains('$'), "{variant:?}: {text}");
        }
    }
}
