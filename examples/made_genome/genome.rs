//! Bases of the genome, block by block.
//!
//! A block is a function of the seed and its number. It is generated in three layers:
//!
//! 1. Unique sequence, whose GC content varies by region, with interspersed and tandem repeats.
//! 2. In some blocks, a segmental duplication: a mutated copy of the first layer of another block that has none itself.
//! 3. Runs of N.

use std::ops::Range;

use crate::copies::{append_copy, reverse_complement};
use crate::layout::{Block, Layout};
use crate::numbers::{percentage, to_f64, to_u64, to_usize, whole};
use crate::random::{Geometric, Purpose, Random};

/// Mean distance between repeats, in bases. With the shares below, 45 % of the first layer is interspersed repeats and 3 %
/// is tandem repeats.
const MEAN_DISTANCE: f64 = 560.0;
/// Of 1,000 repeats, the number that are copies of the short and of the long families, and the number that are tandem
/// repeats of short units. The others are tandem repeats of long units.
const SHORT_COPIES: u64 = 692;
const LONG_COPIES: u64 = 126;
const SHORT_TANDEMS: u64 = 166;

const SHORT_CONSENSUS: usize = 300;
const LONG_CONSENSUS: usize = 6000;
const SHORT_FAMILIES: usize = 12;
const LONG_FAMILIES: usize = 8;
/// Distance in the order of divergences between neighbors in the order of GC contents. It has no common factor with the
/// numbers of families.
const FAMILY_STEP: usize = 5;

const DUPLICATION_BASES: Range<u64> = 10_000..100_000;
/// Share of blocks that have a duplication, so that duplications cover 5 % of the genome.
const DUPLICATED_BLOCKS: f64 = 0.1164;
const DUPLICATION_DIVERGENCE: f64 = 0.01;
const INVERTED_DUPLICATIONS: f64 = 0.4;

/// Distance of the positions between which the GC content is interpolated, in bases.
const GC_REGION: u64 = 300_000;
/// GC contents of regions, from 35 % to 55 %, in units of 1/128.
const LOWEST_GC: usize = 45;
const HIGHEST_GC: usize = 70;

/// Family of interspersed repeats.
struct Family {
    consensus: Vec<u8>,
    reverse: Vec<u8>,
    /// Mean divergence of its copies.
    divergence: f64,
}

/// Numbers of bases by origin.
#[derive(Clone, Copy, Default)]
pub struct Census {
    /// Bases of the first layer.
    pub first_layer: u64,
    /// Interspersed repeats in the first layer.
    pub interspersed: u64,
    /// Tandem repeats in the first layer.
    pub tandem: u64,
    pub duplicated: u64,
    pub unknown: u64,
    /// All bases, with those of runs of N.
    pub total: u64,
}

/// Bases of a block.
pub struct Reference {
    pub block: Block,
    pub bases: Vec<u8>,
    pub census: Census,
}

/// Copy of a stretch of another block.
struct Duplication {
    start: usize,
    source: Block,
    source_start: usize,
    bases: usize,
    inverted: bool,
    random: Random,
}

pub struct Genome {
    pub layout: Layout,
    pub seed: u64,
    short_families: Vec<Family>,
    long_families: Vec<Family>,
    /// For each GC content, the bases to draw from.
    palettes: Vec<[u8; 256]>,
}

impl Genome {
    pub fn new(seed: u64, bases: u64) -> Self {
        Self {
            layout: Layout::new(seed, bases),
            seed,
            short_families: families(seed, SHORT_FAMILIES, SHORT_CONSENSUS),
            long_families: families(seed, LONG_FAMILIES, LONG_CONSENSUS),
            palettes: (LOWEST_GC..=HIGHEST_GC).map(palette).collect(),
        }
    }

    /// Generates all layers of a block.
    pub fn reference(&self, number: u64) -> Reference {
        let block = self.layout.block(number);
        let end = block.start + to_u64(block.bases);
        let runs = self.layout.runs_within(block.start..end);
        if let [run] = runs
            && run.start <= block.start
            && end <= run.end
        {
            let total = to_u64(block.bases);
            let census = Census { total, unknown: total, ..Census::default() };
            return Reference { block, bases: vec![b'N'; block.bases], census };
        }
        let mut reference = self.first_layer(&block, block.bases);
        if let Some(duplication) = self.duplication(&block) {
            self.paste(duplication, &mut reference);
        }
        for run in runs {
            let run = run.start.max(block.start) - block.start..run.end.min(end) - block.start;
            reference.census.unknown += run.end - run.start;
            reference.bases[to_usize(run.start)..to_usize(run.end)].fill(b'N');
        }
        reference
    }

    /// Generates the first bases of a block's first layer.
    fn first_layer(&self, block: &Block, bases: usize) -> Reference {
        let random = Random::new(self.seed, Purpose::Content, block.number);
        let output = Vec::with_capacity(bases);
        let mut layer = FirstLayer { genome: self, block, random, end: bases, output, unit: Vec::new() };
        let mut census = Census { first_layer: to_u64(bases), total: to_u64(bases), ..Census::default() };
        let distance = Geometric::new(1.0 / MEAN_DISTANCE);
        while layer.output.len() < bases {
            layer.append_unique(&distance);
            let before = layer.output.len();
            let is_tandem = layer.append_repeat();
            let appended = to_u64(layer.output.len() - before);
            *(if is_tandem { &mut census.tandem } else { &mut census.interspersed }) += appended;
        }
        Reference { block: *block, bases: layer.output, census }
    }

    fn is_duplicated(&self, number: u64) -> bool {
        Random::new(self.seed, Purpose::Duplicated, number).chance(DUPLICATED_BLOCKS)
    }

    /// The duplication within a block, if the block has one and the genome has a source for it.
    fn duplication(&self, block: &Block) -> Option<Duplication> {
        const ATTEMPTS: usize = 16;
        let available = to_u64(block.bases);
        if available < DUPLICATION_BASES.start || !self.is_duplicated(block.number) {
            return None;
        }
        let mut random = Random::new(self.seed, Purpose::Duplication, block.number);
        let bases = random.between(DUPLICATION_BASES.start, DUPLICATION_BASES.end.min(available));
        let start = to_usize(random.below(available - bases + 1));
        let inverted = random.chance(INVERTED_DUPLICATIONS);
        for _ in 0..ATTEMPTS {
            let source = self.layout.block(random.below(self.layout.blocks));
            let Some(room) = to_u64(source.bases).checked_sub(bases) else { continue };
            let source_start = random.below(room + 1);
            let first = source.start + source_start;
            if !self.is_duplicated(source.number) && self.layout.runs_within(first..first + bases).is_empty()
            {
                let (source_start, bases) = (to_usize(source_start), to_usize(bases));
                return Some(Duplication { start, source, source_start, bases, inverted, random });
            }
        }
        None
    }

    /// Overwrites a stretch of a block with its duplication.
    fn paste(&self, mut duplication: Duplication, reference: &mut Reference) {
        let Duplication { start, source_start, bases, .. } = duplication;
        let mut source = self.first_layer(&duplication.source, source_start + bases).bases;
        let source = &mut source[source_start..];
        if duplication.inverted {
            reverse_complement(source);
        }
        let mut copy = Vec::with_capacity(bases);
        let mutations = Geometric::new(DUPLICATION_DIVERGENCE);
        append_copy(source, &mutations, &mut duplication.random, &mut copy, bases);
        reference.census.duplicated += to_u64(copy.len());
        reference.bases[start..start + copy.len()].copy_from_slice(&copy);
    }

    /// The bases to draw from at a genome position, so that they have the GC content of its region.
    fn palette_at(&self, position: u64) -> &[u8; 256] {
        &self.palettes[self.gc_rank(position, self.palettes.len())]
    }

    /// GC content of the region at a genome position, as a rank from 0 (35 %) to `ranks - 1` (55 %).
    fn gc_rank(&self, position: u64, ranks: usize) -> usize {
        let (region, offset) = (position / GC_REGION, position % GC_REGION);
        // Squares make regions of low GC content more frequent, as in the human genome.
        let content_of = |region| {
            let value = Random::new(self.seed, Purpose::Composition, region).below(1 << 16);
            value * value
        };
        let weighted = content_of(region) * (GC_REGION - offset) + content_of(region + 1) * offset;
        to_usize(((weighted / GC_REGION) * to_u64(ranks)) >> 32)
    }
}

/// Makes families in the order of their GC content, from 35 to 55 %. Their mean divergences are evenly spread over 2 to 18 %,
/// in another order.
fn families(seed: u64, count: usize, consensus: usize) -> Vec<Family> {
    let family = |number| {
        // Consensus sequences of different lengths differ from their first base on.
        let mut random = Random::new(seed ^ to_u64(consensus), Purpose::Families, to_u64(number));
        let gc = LOWEST_GC + (HIGHEST_GC - LOWEST_GC) * number / (count - 1);
        let palette = palette(gc);
        let consensus: Vec<u8> = (0..consensus).map(|_| palette[random.index(palette.len())]).collect();
        let mut reverse = consensus.clone();
        reverse_complement(&mut reverse);
        let rank = (number * FAMILY_STEP) % count;
        let divergence = 0.02 + 0.16 * to_f64(rank) / to_f64(count - 1);
        Family { consensus, reverse, divergence }
    };
    (0..count).map(family).collect()
}

/// First layer of a block, under construction.
struct FirstLayer<'a> {
    genome: &'a Genome,
    block: &'a Block,
    random: Random,
    output: Vec<u8>,
    /// Number of bases to generate.
    end: usize,
    /// Perfect tandem repeat, kept to reuse its memory.
    unit: Vec<u8>,
}

impl FirstLayer<'_> {
    /// Appends unique sequence up to the next repeat.
    fn append_unique(&mut self, distance: &Geometric) {
        let count = distance.draw_up_to(self.end - self.output.len(), &mut self.random);
        let palette = self.genome.palette_at(self.block.start + to_u64(self.output.len()));
        let end = self.output.len() + count;
        while self.output.len() < end {
            let bytes = self.random.next().to_le_bytes();
            self.output.extend_from_slice(&bytes.map(|byte| palette[usize::from(byte)]));
        }
        self.output.truncate(end);
    }

    /// Appends a repeat. Returns whether it is a tandem repeat.
    fn append_repeat(&mut self) -> bool {
        let kind = self.random.below(1000);
        let is_tandem = kind >= SHORT_COPIES + LONG_COPIES;
        if kind < SHORT_COPIES {
            // One of five copies is truncated.
            let part = if self.random.chance(0.8) { SHORT_CONSENSUS } else { 100 + self.random.index(200) };
            self.append_family(&self.genome.short_families, part);
        } else if !is_tandem {
            let part = if self.random.chance(0.15) { LONG_CONSENSUS } else { self.skewed(200, 6000) };
            self.append_family(&self.genome.long_families, part);
        } else if kind < SHORT_COPIES + LONG_COPIES + SHORT_TANDEMS {
            let unit = 1 + self.random.index(6);
            let length = self.skewed(20, 200);
            self.append_tandem(unit, length);
        } else {
            let unit = 10 + self.random.index(51);
            let length = self.skewed(100, 5000).max(2 * unit);
            self.append_tandem(unit, length);
        }
        is_tandem
    }

    /// Length between two limits; shorter lengths are more frequent. The mean is at a quarter of the range.
    fn skewed(&mut self, shortest: u16, longest: u16) -> usize {
        let unit = self.random.unit();
        to_usize(whole(f64::from(shortest) + f64::from(longest - shortest) * unit * unit * unit))
    }

    /// Appends a copy of the 3' end of a family's consensus, on a random strand. The family is one of the half of the families
    /// whose GC content is closest to that of the region.
    fn append_family(&mut self, families: &[Family], length: usize) {
        let position = self.block.start + to_u64(self.output.len());
        let (count, rank) = (families.len(), self.genome.gc_rank(position, families.len()));
        let first = rank.saturating_sub(count / 4).min(count - count / 2);
        let family = &families[first + self.random.index(count / 2)];
        let divergence = (family.divergence * (0.6 + 0.8 * self.random.unit())).clamp(0.01, 0.2);
        let source = if self.random.chance(0.5) {
            &family.consensus[family.consensus.len() - length..]
        } else {
            &family.reverse[..length]
        };
        append_copy(source, &Geometric::new(divergence), &mut self.random, &mut self.output, self.end);
    }

    /// Appends a tandem repeat of which 1 to 5 % is mutated.
    fn append_tandem(&mut self, unit: usize, length: usize) {
        let palette = self.genome.palette_at(self.block.start + to_u64(self.output.len()));
        self.unit.clear();
        self.unit.extend((0..unit).map(|_| palette[self.random.index(palette.len())]));
        while self.unit.len() < length {
            let copied = self.unit.len().min(length - self.unit.len());
            self.unit.extend_from_within(..copied);
        }
        let mutations = Geometric::new(0.01 + 0.04 * self.random.unit());
        append_copy(&self.unit, &mutations, &mut self.random, &mut self.output, self.end);
    }
}

impl Census {
    pub fn add(&mut self, other: &Self) {
        self.first_layer += other.first_layer;
        self.interspersed += other.interspersed;
        self.tandem += other.tandem;
        self.duplicated += other.duplicated;
        self.unknown += other.unknown;
        self.total += other.total;
    }

    /// Summary in one line.
    pub fn summary(&self) -> String {
        format!(
            "{} bases: {} interspersed repeats, {} tandem repeats, {} segmental duplications, {} N",
            self.total,
            percentage(self.interspersed, self.first_layer),
            percentage(self.tandem, self.first_layer),
            percentage(self.duplicated, self.total),
            percentage(self.unknown, self.total),
        )
    }
}

/// 256 bases, of which `2 * gc` are G or C in equal parts, and the others A or T in equal parts.
fn palette(gc: usize) -> [u8; 256] {
    std::array::from_fn(|index| match index {
        _ if index < gc => b'C',
        _ if index < 2 * gc => b'G',
        _ if index < 128 + gc => b'A',
        _ => b'T',
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(part: u64, whole: u64) -> f64 {
        f64::from(u32::try_from(part * 10_000 / whole).unwrap()) / 10_000.0
    }

    #[test]
    fn repeats_have_their_shares() {
        let genome = Genome::new(3, 4_000_000);
        let mut census = Census::default();
        for number in 0..genome.layout.blocks {
            let reference = genome.reference(number);
            assert_eq!(reference.bases.len(), reference.block.bases);
            assert!(reference.bases.iter().all(|base| b"ACGTN".contains(base)));
            let unknown = reference.bases.iter().filter(|base| **base == b'N').count();
            assert_eq!(to_u64(unknown), reference.census.unknown);
            census.add(&reference.census);
        }
        assert_eq!(census.total, 4_000_000);
        let interspersed = share(census.interspersed, census.first_layer);
        let tandem = share(census.tandem, census.first_layer);
        assert!((0.40..0.50).contains(&interspersed), "{interspersed}");
        assert!((0.02..0.04).contains(&tandem), "{tandem}");
        assert!((0.005..0.02).contains(&share(census.unknown, census.total)));
    }

    #[test]
    fn duplications_have_their_share() {
        let genome = Genome::new(4, 3_100_000_000);
        let duplications =
            (0..genome.layout.blocks).filter_map(|number| genome.duplication(&genome.layout.block(number)));
        let (mut bases, mut count, mut inverted) = (0, 0, 0);
        for duplication in duplications {
            assert!((10_000..=100_000).contains(&duplication.bases));
            assert!(!genome.is_duplicated(duplication.source.number));
            bases += to_u64(duplication.bases);
            count += 1;
            inverted += u64::from(duplication.inverted);
        }
        assert!((0.045..0.055).contains(&share(bases, 3_100_000_000)), "{bases}");
        assert!((0.35..0.45).contains(&share(inverted, count)));
    }

    /// A duplication of a block resembles its source by the 32-mers that both contain.
    #[test]
    fn duplications_resemble_their_source() {
        let genome = Genome::new(1, 8_000_000);
        let duplicated = (0..genome.layout.blocks).map(|number| genome.layout.block(number));
        let mut duplicated = duplicated.filter_map(|block| Some((block, genome.duplication(&block)?)));
        let (block, duplication) = duplicated.next().unwrap();
        let copy = &genome.reference(block.number).bases[duplication.start..][..duplication.bases];
        let source = genome.reference(duplication.source.number).bases;
        let mut source = source[duplication.source_start..][..duplication.bases].to_vec();
        if duplication.inverted {
            reverse_complement(&mut source);
        }
        let kmers: std::collections::HashSet<&[u8]> = source.windows(32).collect();
        let shared = copy.windows(32).filter(|kmer| kmers.contains(kmer)).count();
        assert!((0.65..0.85).contains(&share(to_u64(shared), to_u64(copy.len()))), "{shared}");
    }

    #[test]
    fn gc_content_varies_by_region() {
        let genome = Genome::new(1, 3_100_000_000);
        let count = |position| genome.palette_at(position).iter().filter(|base| b"CG".contains(base)).count();
        let contents: Vec<usize> = (0..3_000).map(|region| count(region * GC_REGION)).collect();
        assert_eq!(contents.iter().min(), Some(&(2 * LOWEST_GC)));
        assert_eq!(contents.iter().max(), Some(&(2 * HIGHEST_GC)));
        assert!((100..112).contains(&(contents.iter().sum::<usize>() / contents.len())));

        let blocks = (0..30).map(|number| genome.reference(number * 800 + 500).bases);
        let gc = |bases: Vec<u8>| {
            let known = bases.iter().filter(|base| **base != b'N').count();
            let gc = bases.iter().filter(|base| b"CG".contains(base)).count();
            share(to_u64(gc), to_u64(known.max(1)))
        };
        let mut contents: Vec<f64> = blocks.map(gc).filter(|gc| *gc > 0.0).collect();
        contents.sort_by(f64::total_cmp);
        assert!(contents[0] < 0.38 && contents[contents.len() - 1] > 0.48, "{contents:?}");
    }

    #[test]
    fn the_beginning_of_a_block_does_not_depend_on_its_length() {
        let genome = Genome::new(8, 1_000_000);
        let block = genome.layout.block(0);
        let whole = genome.first_layer(&block, block.bases).bases;
        for bases in [0, 1, 999, 40_000] {
            assert!(genome.first_layer(&block, bases).bases == whole[..bases]);
        }
    }
}
