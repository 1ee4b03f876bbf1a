//! The kernels, and their WGSL text from `shaders/base_words.wgsl`.

use crate::gpu::template::{Meaning, TemplateError, constants, expand};
use crate::patterns::scan::tasks::Looking;
use crate::terms::casts::to_u32;

const BASE_WORDS: &str = include_str!("../../../../shaders/base_words.wgsl");

/// Threads per workgroup.
pub const THREADS: u32 = 128;
/// Positions per thread: one bit of a word for each, and as many as a word of a plane has bases.
pub const PLACES: usize = 32;
/// Maximum length of a word in bases.
pub const MOST_LETTERS: usize = 16;
/// Multiplier of the hash.
pub const FIRST: u32 = 0x9e37_79b1;

/// A kernel for words of `letters` bases that begin at multiples of `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BaseVariant {
    pub letters: u32,
    pub step: u32,
}

impl BaseVariant {
    /// The kernel's WGSL.
    pub fn wgsl(&self) -> Result<String, TemplateError> {
        let numbers = constants([
            ("THREADS", THREADS),
            ("STEP", self.step),
            ("LETTERS", self.letters),
            ("WORD", (1 << self.letters) - 1),
            ("FIRST", FIRST),
        ]);
        Ok(Looking::wgsl() + &numbers + &expand(BASE_WORDS, &[], &self.meaning())?)
    }

    fn meaning(&self) -> Meaning {
        let BaseVariant { letters, step } = *self;
        let of_plane = move |plane: &str, place: u32| {
            let (word, down) = (place * step / 32, place * step % 32);
            match down {
                0 => format!("{plane}{word}"),
                _ if down + letters <= 32 => format!("{plane}{word} >> {down}u"),
                _ => format!("({plane}{word} >> {down}u) | ({plane}{} << {}u)", word + 1, 32 - down),
            }
        };
        let place = move |place: u32| {
            let meaning = Meaning::default().name("place", place);
            meaning.name("low", of_plane("low", place)).name("high", of_plane("high", place))
        };
        Meaning::default()
            .rounds("word", (0..=step).map(|word| Meaning::default().name("word", word)))
            .rounds("place", (0..to_u32(PLACES)).map(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_a_text_without_directives() {
        for (letters, step) in [(14, 7), (12, 4), (12, 1), (8, 1), (6, 1), (16, 1), (16, 9)] {
            let text = BaseVariant { letters, step }.wgsl().unwrap_or_else(|error| panic!("{error}"));
            assert!(!text.contains("//!") && !text.contains('$'), "{text}");
        }
    }
}
