//! Looks at a stretch: its sites, the words at them, and the guides that these words lead to.
//!
//! Sites are processed in batches: first the words of all sites, then the guides of the sites that pass. So the loads
//! of a step overlap.

use super::StrandSide;
use super::guides::GuideGroup;
use super::seeds::{SeedEntry, SeedTable};
use crate::engine::cpu::simd::{Bits, Kernel, Simd};
use crate::patterns::search::pattern::{ANY, BaseClass};
use crate::patterns::sliced::packed::{BasePlanes, PackedText};
use crate::patterns::sliced::transpose::BLOCK;
use crate::terms::casts::to_u32;
use std::ops::Range;

/// Sites per batch.
const BATCH: usize = 256;

/// Buffers that a thread reuses from stretch to stretch.
#[derive(Debug, Default)]
pub struct LookupBuffers {
    planes: PackedText,
    turned: PackedText,
    sites: Vec<u32>,
    passed: Vec<(u32, u32)>,
}

/// An anchor of a guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GuideAnchor {
    /// Index of the oriented pattern.
    pub pattern: u32,
    pub place: usize,
    pub edits: u32,
}

/// Searches for the guides of a group in the part `own` of a text.
pub struct GuideLookup<'a> {
    pub group: &'a GuideGroup,
    pub sides: &'a [StrandSide],
    pub text: &'a [u8],
    pub own: Range<usize>,
    pub scratch: &'a mut LookupBuffers,
    /// Maximum number of sites and guides to look at; more would cost more than a sweep.
    pub most_sites: usize,
    pub most_guides: usize,
}

/// The sites of a side.
struct SideSites<'a> {
    side: &'a StrandSide,
    planes: &'a PackedText,
    sites: &'a [u32],
    /// Offset of the planes in the text, then the length of the text.
    from: usize,
    text: usize,
}

impl Kernel for GuideLookup<'_> {
    /// All anchors, sorted; `None` if there is too much to look at.
    type Output = Option<Vec<GuideAnchor>>;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Option<Vec<GuideAnchor>> {
        let LookupBuffers { planes, turned, sites, passed } = self.scratch;
        let reach = self.group.span + self.sides.iter().map(|side| side.pam.len()).max().unwrap_or(0);
        let from = self.own.start.saturating_sub(reach);
        let to = self.text.len().min(self.own.end + reach);
        planes.fill(simd, &self.text[from..to]);
        let mut found = Vec::new();
        for side in self.sides {
            let planes: &PackedText = if side.backwards {
                turned.fill_reversed(planes);
                turned
            } else {
                planes
            };
            sites.clear();
            let places = side.places(&self.own, self.text.len(), (from, planes.padded()));
            for_each_site(planes, &side.pam, places, |at| sites.push(to_u32(at)));
            self.most_sites = self.most_sites.checked_sub(sites.len())?;
            let sites = SideSites { side, planes, sites, from, text: self.text.len() };
            look(simd, self.group, &sites, passed, &mut self.most_guides, &mut found)?;
        }
        // Several words may lead to the same guide.
        found.sort_unstable();
        found.dedup();
        Some(found)
    }
}

impl SideSites<'_> {
    /// The bits of the bases at a site, in the orientation of the guides.
    #[inline(always)]
    fn bases(&self, at: u32) -> (u64, u64) {
        let (low, high) = self.planes.bases(at as usize);
        (low ^ self.side.turned, high ^ self.side.turned)
    }

    #[inline(always)]
    fn window(&self, at: u32) -> BasePlanes {
        let BasePlanes { low, high, other } = self.planes.window(at as usize);
        BasePlanes { low: low ^ self.side.turned, high: high ^ self.side.turned, other }
    }

    /// The position of a site's anchor, and the number of text bases from there on.
    #[inline(always)]
    fn place(&self, at: u32) -> (usize, usize) {
        match self.side.backwards {
            true => {
                let end = self.from + self.planes.padded() - at as usize;
                (end, end)
            }
            false => {
                let start = self.from + at as usize;
                (start + 1, self.text - start)
            }
        }
    }
}

/// Looks at all sites of a side; `None` if there are more guides to compare than allowed.
#[inline(always)]
fn look<S: Bits>(
    simd: S,
    group: &GuideGroup,
    sites: &SideSites,
    passed: &mut Vec<(u32, u32)>,
    most: &mut usize,
    found: &mut Vec<GuideAnchor>,
) -> Option<()> {
    let shifts = group.second.as_ref().map(|second| (second, group.shifts(second)));
    let looks = shifts.as_ref().map_or(1, |(_, shifts)| shifts.clone().count());
    passed.resize(BATCH * looks, (0, 0));
    for batch in sites.sites.chunks(BATCH) {
        let mut count = 0;
        for &at in batch {
            let word = group.first.seed.word(sites.bases(at), 0);
            passed[count] = (at, word);
            count += group.first.has(word);
        }
        compare(simd, group, &group.first, sites, &passed[..count], most, found)?;
        if let Some((second, shifts)) = &shifts {
            let mut count = 0;
            for &at in batch {
                let bases = sites.bases(at);
                for shift in shifts.clone() {
                    let word = second.seed.word(bases, shift);
                    passed[count] = (at, word);
                    count += second.has(word);
                }
            }
            compare(simd, group, second, sites, &passed[..count], most, found)?;
        }
    }
    Some(())
}

/// Compares the guides that words lead to with the text at their sites.
#[inline(always)]
fn compare<S: Bits>(
    simd: S,
    group: &GuideGroup,
    table: &SeedTable,
    sites: &SideSites,
    passed: &[(u32, u32)],
    most: &mut usize,
    found: &mut Vec<GuideAnchor>,
) -> Option<()> {
    let mut near: [&[SeedEntry]; BATCH] = [&[]; BATCH];
    for passed in passed.chunks(BATCH) {
        for (&(_, word), near) in passed.iter().zip(&mut near) {
            *near = table.near(word);
            simd.prefetch(bytemuck::cast_slice(near));
        }
        for (&(at, word), near) in passed.iter().zip(&near) {
            let window = sites.window(at);
            let (place, letters) = sites.place(at);
            for entry in near.iter().filter(|entry| entry.is_of(word)) {
                *most = most.checked_sub(1)?;
                let profile = &group.profiles[entry.guide as usize];
                let edits = match group.indels {
                    true => profile.fewest(window, letters.min(group.span), group.edits),
                    false => profile.differing(window, letters, group.edits),
                };
                if let Some(edits) = edits {
                    let pattern = profile.number * sites.side.strands + sites.side.strand;
                    found.push(GuideAnchor { pattern, place, edits });
                }
            }
        }
    }
    Some(())
}

/// Calls `call` with each of these positions that the PAM precedes. Every position must have at least the length of
/// the PAM before it.
#[inline(always)]
fn for_each_site(text: &PackedText, pam: &[BaseClass], places: Range<usize>, mut call: impl FnMut(usize)) {
    if places.is_empty() {
        return;
    }
    let words = places.start / BLOCK..places.end.div_ceil(BLOCK);
    for word in words {
        let mut sites = u64::MAX;
        for (back, &class) in (1..=pam.len()).rev().zip(pam) {
            if class != ANY {
                let before =
                    if word > 0 { of_class(text.block(word - 1), class) >> (BLOCK - back) } else { 0 };
                sites &= of_class(text.block(word), class) << back | before;
            }
        }
        let first = word * BLOCK;
        if first < places.start {
            sites &= u64::MAX << (places.start - first);
        }
        if first + BLOCK > places.end {
            sites &= u64::MAX >> (first + BLOCK - places.end);
        }
        while sites != 0 {
            call(first + sites.trailing_zeros() as usize);
            sites &= sites - 1;
        }
    }
}

/// Bases of a block that match a class other than N.
#[inline(always)]
fn of_class(BasePlanes { low, high, other }: BasePlanes, class: BaseClass) -> u64 {
    let of = |base: u32, bits: u64| if class >> base & 1 == 1 { bits } else { 0 };
    (of(0, !low & !high) | of(1, low & !high) | of(2, !low & high) | of(3, low & high)) & !other
}
