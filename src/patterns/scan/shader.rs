//! The scan's kernels, and their WGSL text from the templates in `shaders/`.

use super::tasks::{Sweeping, Transposing};
use crate::gpu::template::{Meaning, TemplateError, constants, expand};
use crate::terms::alphabet::ANY_LETTER;
use crate::terms::casts::to_u32;

const TRANSPOSE: &str = include_str!("../../../shaders/transpose.wgsl");
const SLICED: &str = include_str!("../../../shaders/sliced.wgsl");

/// Rows of the largest pattern that fits in registers.
pub const MOST_ROWS: u32 = 64;
/// Rows of the largest pattern without gaps: each row has counters in registers.
pub const MOST_GAPLESS: u32 = 32;
/// Rows per strip of a longer pattern.
pub const STRIP_ROWS: u32 = 32;
/// Patterns of at most this many rows compute eight columns per step, with the registers that they leave free: 2 %
/// faster than four columns on an H200, and 29 % faster than sixteen (docs/ideas.md).
const WIDE_ROWS: u32 = 32;
/// Bits of the number at the last row of a strip, enough for all lengths.
const STRIP_BITS: u32 = 16;
/// Threads per workgroup.
pub const THREADS: u32 = 64;
/// Columns whose words are stored in one vector.
pub const GROUP: u32 = 4;
/// Planes of a transposed text.
pub const PLANES: u32 = 3;
/// Words before the classes in a pattern's record: its first block of columns, its number before the first column, the
/// edits of an end whose number is 0, and its strips.
pub const HEADER: u32 = 4;
/// Bits of the edits of an end; the bits above hold its pattern.
pub const EDIT_BITS: u32 = 16;

/// The class of a row that pads a pattern: it matches even outside the text.
pub const ALL: u8 = 255;
/// The classes in the order of their slots in workgroup memory, one bit each for A, C, G and T. A kernel without IUPAC
/// codes uses only the first slots.
const SLOTS: [(&str, u8); 16] = [
    ("CLASS_A", 0b0001),
    ("CLASS_C", 0b0010),
    ("CLASS_G", 0b0100),
    ("CLASS_T", 0b1000),
    ("CLASS_N", ANY_LETTER),
    ("CLASS_ALL", ALL),
    ("CLASS_M", 0b0011),
    ("CLASS_R", 0b0101),
    ("CLASS_S", 0b0110),
    ("CLASS_V", 0b0111),
    ("CLASS_W", 0b1001),
    ("CLASS_Y", 0b1010),
    ("CLASS_H", 0b1011),
    ("CLASS_K", 0b1100),
    ("CLASS_D", 0b1101),
    ("CLASS_B", 0b1110),
];
const PLAIN_SLOTS: u32 = 6;

/// The slot of a class; `None` if patterns cannot contain it.
pub fn slot_of(class: u8) -> Option<u32> {
    SLOTS.iter().position(|&(_, known)| known == class).map(to_u32)
}

/// Whether a slot needs a kernel for IUPAC codes.
pub fn is_iupac(slot: u32) -> bool {
    slot >= PLAIN_SLOTS
}

/// A kernel that sweeps patterns of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScanVariant {
    /// Rows over which the kernel is unrolled: those of a pattern, or of a strip.
    pub rows: u32,
    /// Whether patterns have IUPAC codes besides N.
    pub iupac: bool,
    /// Whether a pattern is swept strip by strip.
    pub strips: bool,
    /// Whether only replacements are edits.
    pub gapless: bool,
}

impl ScanVariant {
    /// The kernel for patterns of `rows` rows.
    pub fn new(rows: u32, iupac: bool) -> ScanVariant {
        let strips = rows > MOST_ROWS;
        ScanVariant { rows: if strips { STRIP_ROWS } else { rows }, iupac, strips, gapless: false }
    }

    /// The kernel without gaps for patterns of `rows` rows, which must not exceed [`MOST_GAPLESS`].
    pub fn gapless(rows: u32, iupac: bool) -> ScanVariant {
        ScanVariant { rows, iupac, strips: false, gapless: true }
    }

    /// Every kernel.
    pub fn all() -> Vec<ScanVariant> {
        let gapless =
            (1..=MOST_GAPLESS).map(|rows| (rows, ScanVariant::gapless as fn(u32, bool) -> ScanVariant));
        let others = (1..=MOST_ROWS + 1).map(|rows| (rows, ScanVariant::new as fn(u32, bool) -> ScanVariant));
        let both =
            |(rows, new): (u32, fn(u32, bool) -> ScanVariant)| [false, true].map(|iupac| new(rows, iupac));
        gapless.chain(others).flat_map(both).collect()
    }

    /// Bits of the number at the last row, which is between `-m - 1` and `m - 1`.
    fn bits(&self) -> u32 {
        if self.strips { STRIP_BITS } else { u32::BITS - self.rows.leading_zeros() + 1 }
    }

    /// Vectors of columns per step.
    pub fn groups(&self) -> u32 {
        if self.rows <= WIDE_ROWS && !self.iupac { 2 } else { 1 }
    }

    /// Columns per step.
    pub fn columns(&self) -> u32 {
        self.groups() * GROUP
    }

    fn slots(&self) -> u32 {
        if self.iupac { to_u32(SLOTS.len()) } else { PLAIN_SLOTS }
    }

    /// Workgroup memory in bytes.
    pub fn workgroup_bytes(&self) -> u32 {
        self.slots() * self.groups() * THREADS * 16
    }

    /// The kernel's WGSL.
    pub fn wgsl(&self) -> Result<String, TemplateError> {
        let numbers = constants([
            ("THREADS", THREADS),
            ("PLANES", PLANES),
            ("GROUPS", self.groups()),
            ("COLUMNS", self.columns()),
            ("CLASSES", self.slots()),
            ("ROWS", self.rows),
            ("BITS", self.bits()),
            ("HEADER", HEADER),
            ("EDIT_BITS", EDIT_BITS),
        ]);
        let classes = constants((0..).zip(SLOTS).map(|(slot, (name, _))| (name, slot)));
        Ok(Sweeping::wgsl() + &numbers + &classes + &expand(SLICED, &[], &self.meaning())?)
    }

    fn meaning(&self) -> Meaning {
        let column = |c: u32| {
            let part = ["x", "y", "z", "w"][(c % GROUP) as usize];
            names([("c", c), ("g", c / GROUP)]).name("x", part)
        };
        let group =
            |g: u32| names([("g", g), ("p", 4 * g), ("q", 4 * g + 1), ("s", 4 * g + 2), ("t", 4 * g + 3)]);
        let row = |k: u32| names([("k", k), ("r", k / 4), ("shift", k % 4 * 8)]);
        let bit = |n: u32| names([("n", n)]);
        let list = |name: &str, count: u32| {
            (0..count).map(|number| format!("{name}{number}")).collect::<Vec<_>>().join(", ")
        };
        names([("sign", self.bits() - 1)])
            .name("number", list("before", self.bits()))
            .name("no_plus", list("no_plus", self.columns()))
            .name("minus", list("minus", self.columns()))
            .flag("IUPAC", self.iupac)
            .flag("STRIPS", self.strips)
            .flag("GAPLESS", self.gapless)
            .rounds("c", (0..self.columns()).map(column))
            .rounds("g", (0..self.groups()).map(group))
            .rounds("k", (0..self.rows).map(row))
            .rounds("r", (0..self.rows.div_ceil(4)).map(|r| names([("r", r)])))
            .rounds("n", (0..self.bits()).map(bit))
            .rounds("upper", (1..self.bits()).map(bit))
            .rounds("count", (0..self.bits() - 1).map(|b| names([("b", b)])))
    }
}

fn names<const N: usize>(names: [(&'static str, u32); N]) -> Meaning {
    Meaning::default().names(names)
}

/// The WGSL of the kernel that transposes a text.
pub fn transpose_wgsl() -> Result<String, TemplateError> {
    let halves = [(16, 0x0000_ffff), (8, 0x00ff_00ff), (4, 0x0f0f_0f0f), (2, 0x3333_3333), (1, 0x5555_5555)];
    let exchanges = halves.into_iter().flat_map(|(step, mask)| {
        let firsts = (0..32).filter(move |row| row & step == 0);
        firsts.map(move |first| names([("a", first), ("d", first + step), ("s", step), ("mask", mask)]))
    });
    let block =
        |q: u32| names([("q", q), ("q0", 4 * q), ("q1", 4 * q + 1), ("q2", 4 * q + 2), ("q3", 4 * q + 3)]);
    let meaning = Meaning::default()
        .rounds("b", (0..32).map(|b| names([("b", b)])))
        .rounds("exchange", exchanges)
        .rounds("q", (0..32 / GROUP).map(block));
    let numbers = constants([("THREADS", THREADS), ("PLANES", PLANES)]);
    Ok(Transposing::wgsl() + &numbers + &expand(TRANSPOSE, &[], &meaning)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_fits_the_workgroup_memory_that_every_adapter_has() {
        for variant in ScanVariant::all() {
            assert!(variant.workgroup_bytes() <= 16 << 10, "{variant:?}: {}", variant.workgroup_bytes());
        }
    }

    #[test]
    fn every_kernel_has_a_text_without_directives() {
        for variant in ScanVariant::all() {
            let text = variant.wgsl().unwrap_or_else(|error| panic!("{variant:?}: {error}"));
            assert!(!text.contains("//!") && !text.contains('$'), "{variant:?}: {text}");
        }
        let text = transpose_wgsl().unwrap();
        assert!(!text.contains("//!") && !text.contains('$'), "{text}");
    }

    #[test]
    fn numbers_have_enough_bits() {
        for rows in 1..=MOST_ROWS as i32 {
            let bits = ScanVariant::new(rows as u32, false).bits();
            assert!(-1 << (bits - 1) < -rows && rows <= 1 << (bits - 1), "{rows}");
        }
    }
}
