//! Shards: templates of consecutive reads, held in memory.
//!
//! The fragments of a shard are sorted by position, so that each donor block is generated once per shard. Their templates
//! are kept with 2 bits per base.

use std::ops::Range;

use crate::donor::Donor;
use crate::failure::Failure;
use crate::fragments::{Fragment, Fragments, ReadOptions};
use crate::numbers::{to_u64, to_usize};
use crate::ordered::in_order;
use crate::templates::{Origin, TemplateReader, pack, packed_bytes, unpack};

/// Blocks whose templates one thread reads in a row.
const UNIT_BLOCKS: u64 = 16;

/// Templates of consecutive fragments.
pub struct Shard {
    /// Numbers of the fragments.
    numbers: Range<u64>,
    /// For each number, the index of its fragment by position.
    order: Vec<usize>,
    /// Templates in the order of their fragments' positions.
    templates: Templates,
    template_bases: usize,
    templates_per_fragment: usize,
}

/// Packed templates and their origins.
#[derive(Default)]
struct Templates {
    packed: Vec<u8>,
    origins: Vec<Origin>,
}

/// Position of a fragment, and its index among the numbers of the shard.
struct Located {
    start: u64,
    index: usize,
}

impl Shard {
    /// Reads the templates of fragments with these numbers.
    pub fn new(
        donor: &Donor,
        fragments: &Fragments,
        threads: usize,
        numbers: Range<u64>,
    ) -> Result<Self, Failure> {
        let (template_bases, mates) = (fragments.options.length, fragments.options.mates());
        let located = located(fragments, &numbers);
        let mut order = vec![0; located.len()];
        for (position, fragment) in located.iter().enumerate() {
            order[fragment.index] = position;
        }
        let mut templates = Templates {
            packed: Vec::with_capacity(mates * located.len() * packed_bytes(template_bases)),
            origins: Vec::with_capacity(mates * located.len()),
        };
        let units: Vec<&[Located]> = units(donor, &located).collect();
        let make = |unit| {
            let unit = units[to_usize(unit)].iter();
            let drawn = unit.map(|fragment| fragments.draw(numbers.start + to_u64(fragment.index)));
            Templates::read(donor, &fragments.options, drawn)
        };
        in_order(threads, to_u64(units.len()), make, |unit| {
            templates.append(&unit);
            Ok(())
        })?;
        Ok(Self { numbers, order, templates, template_bases, templates_per_fragment: mates })
    }

    /// Unpacks a template of a fragment, which is the left one (0) or the right one (1), and returns its origin.
    pub fn template(&self, number: u64, template: usize, bases: &mut Vec<u8>) -> Origin {
        let position = self.order[to_usize(number - self.numbers.start)];
        let index = position * self.templates_per_fragment + template;
        let stride = packed_bytes(self.template_bases);
        unpack(&self.templates.packed[index * stride..][..stride], self.template_bases, bases);
        self.templates.origins[index]
    }
}

impl Templates {
    /// Reads the templates of fragments, which are sorted by position.
    fn read(donor: &Donor, options: &ReadOptions, fragments: impl Iterator<Item = Fragment>) -> Self {
        let (mut reader, mut bases) = (TemplateReader::new(donor), Vec::new());
        let mut templates = Self::default();
        for fragment in fragments {
            reader.forget_before(fragment.start);
            for template in options.templates(&fragment) {
                templates.origins.push(reader.read(template, &mut bases));
                pack(&bases, &mut templates.packed);
            }
        }
        templates
    }

    fn append(&mut self, other: &Self) {
        self.packed.extend_from_slice(&other.packed);
        self.origins.extend_from_slice(&other.origins);
    }
}

/// Fragments with these numbers, by position.
fn located(fragments: &Fragments, numbers: &Range<u64>) -> Vec<Located> {
    let locate = |number| {
        let start = fragments.draw(number).start;
        Located { start, index: to_usize(number - numbers.start) }
    };
    let mut located: Vec<Located> = numbers.clone().map(locate).collect();
    located.sort_unstable_by_key(|fragment| (fragment.start, fragment.index));
    located
}

/// Divides sorted fragments into slices that begin in different stretches of blocks.
fn units<'a>(donor: &Donor, located: &'a [Located]) -> impl Iterator<Item = &'a [Located]> {
    let stretch = |fragment: &Located| donor.block_at(fragment.start) / UNIT_BLOCKS;
    located.chunk_by(move |left, right| stretch(left) == stretch(right))
}
