//! The kernels, and their WGSL text from `shaders/bitap.wgsl`.

use crate::gpu::template::{Meaning, TemplateError, constants, expand};
use crate::patterns::scan::tasks::Seeking;

const BITAP: &str = include_str!("../../../../shaders/bitap.wgsl");

/// Maximum number of rows of a pattern, and of edits.
pub const MOST_ROWS: u32 = 128;
pub const MOST_EDITS: u32 = 15;
/// Possible numbers of words for the rows of a pattern.
const WORDS: [u32; 3] = [1, 2, 4];
/// Threads per workgroup.
pub const THREADS: u32 = 128;
/// Number of byte values, and therefore of entries in a pattern's table.
pub const BYTES: u32 = 256;
/// Bytes per unit, each with one bit of a word.
pub const UNIT: usize = 32;
/// The byte that ends a line.
const NEWLINE: u32 = b'\n' as u32;
/// Maximum number of words over all columns for which the kernel is unrolled over the bytes of a word of text. A larger
/// unrolled kernel would not fit in the instruction cache.
const WRITTEN_OUT: u32 = 16;

/// A kernel for patterns of `words` words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BitapVariant {
    pub words: u32,
    /// Maximum number of edits, which is the number of columns less one.
    pub edits: u32,
    /// Whether only replacements are edits.
    pub gapless: bool,
}

impl BitapVariant {
    /// The kernel for patterns of `rows` rows, if there is one.
    pub fn new(rows: usize, edits: usize, gapless: bool) -> Option<BitapVariant> {
        let words = WORDS.into_iter().find(|&words| (1..=words as usize * 32).contains(&rows))?;
        let edits = u32::try_from(edits).ok().filter(|&edits| edits <= MOST_EDITS)?;
        Some(BitapVariant { words, edits, gapless })
    }

    /// Every kernel.
    pub fn all() -> Vec<BitapVariant> {
        let of = |words| (0..=MOST_EDITS).map(move |edits| (words, edits));
        let both = |(words, edits)| [false, true].map(|gapless| BitapVariant { words, edits, gapless });
        WORDS.into_iter().flat_map(of).flat_map(both).collect()
    }

    /// Workgroup memory in bytes.
    pub fn workgroup_bytes(&self) -> u32 {
        self.table_words() * 4
    }

    /// Number of words in a pattern's table.
    pub fn table_words(&self) -> u32 {
        BYTES * self.words
    }

    /// Number of words computed per byte of text.
    pub fn cells(&self) -> u64 {
        u64::from(self.words * (self.edits + 1))
    }

    /// Number of bytes over which the kernel is unrolled.
    fn written_out(&self) -> u32 {
        if self.cells() <= u64::from(WRITTEN_OUT) { 4 } else { 1 }
    }

    /// The kernel's WGSL.
    pub fn wgsl(&self) -> Result<String, TemplateError> {
        let numbers = constants([
            ("THREADS", THREADS),
            ("BYTES", BYTES),
            ("NEWLINE", NEWLINE),
            ("WRITTEN_OUT", self.written_out()),
        ]);
        Ok(Seeking::wgsl() + &numbers + &expand(BITAP, &[], &self.meaning())?)
    }

    fn meaning(&self) -> Meaning {
        let (kind, top) = match self.words {
            1 => ("u32", ""),
            2 => ("vec2<u32>", ".y"),
            _ => ("vec4<u32>", ".w"),
        };
        let parts = ["x", "y", "z", "w"];
        let upper = parts.iter().zip(&parts[1..]).take(self.words as usize - 1);
        let upper = upper.map(|(below, part)| Meaning::default().name("x", part).name("below", below));
        Meaning::default()
            .name("last", self.edits)
            .name("type", kind)
            .name("top", top)
            .flag("ONE", self.words == 1)
            .rounds("upper", upper)
            .flag("GAPLESS", self.gapless)
            .flag("EDITS", self.edits > 0)
            .rounds("d", (1..=self.edits).map(|d| Meaning::default().names([("d", d), ("e", d - 1)])))
            .rounds("b", (0..self.written_out()).map(|_| Meaning::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_fits_the_workgroup_memory_that_every_adapter_has() {
        for variant in BitapVariant::all() {
            assert!(variant.workgroup_bytes() <= 16 << 10, "{variant:?}: {}", variant.workgroup_bytes());
        }
    }

    #[test]
    fn every_kernel_has_a_text_without_directives() {
        for variant in BitapVariant::all() {
            let text = variant.wgsl().unwrap_or_else(|error| panic!("{variant:?}: {error}"));
            assert!(!text.contains("//!") && !text.contains('$'), "{variant:?}: {text}");
        }
    }

    #[test]
    fn the_smallest_kernel_is_taken() {
        let words = |rows| BitapVariant::new(rows, 3, false).map(|variant| variant.words);
        let seams = [(0, None), (1, Some(1)), (32, Some(1)), (33, Some(2)), (64, Some(2)), (65, Some(4))];
        for (rows, expected) in seams.into_iter().chain([(128, Some(4)), (129, None)]) {
            assert_eq!(words(rows), expected, "{rows}");
        }
        let most = MOST_EDITS as usize;
        assert!(
            BitapVariant::new(20, most, true).is_some() && BitapVariant::new(20, most + 1, true).is_none()
        );
    }
}
