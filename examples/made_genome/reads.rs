//! FASTQ output of reads and pairs, in random order.
//!
//! A name begins with the number of the read or pair, and states its origin as `scripts/benchmarks/run judge` expects it:
//! `NUMBER!SEQUENCE!START!END!STRAND` for a single read, which paftools.js mapeval also reads, and
//! `NUMBER!SEQUENCE!START!END!STRAND!START!END!STRAND/1` for the first read of a pair, with the stretches of the first and of the
//! second read. Positions are 0-based and half-open, on the reference. If a read covers a large variant, the stretch is that
//! of its longest part.

use std::ops::Range;

use crate::copies::reverse_complement;
use crate::donor::Donor;
use crate::failure::Failure;
use crate::fragments::{Fragments, ReadOptions};
use crate::layout::Layout;
use crate::numbers::to_u64;
use crate::ordered::in_order;
use crate::output::Output;
use crate::random::{Geometric, Purpose, Random};
use crate::shards::Shard;
use crate::templates::Origin;

/// Largest number of templates of a shard.
const SHARD_TEMPLATES: u64 = 500_000;
/// Largest number of bases of a shard, unless one fragment has more.
const SHARD_BASES: u64 = 80_000_000;
/// Bases of the reads that one thread formats in a row, unless one read has more.
const TEXT_BASES: u64 = 100_000;
/// Largest number of reads that one thread formats in a row.
const TEXT_READS: u64 = 1024;

const GOOD_QUALITY: u8 = b'F';
/// Quality of bases that an error has replaced or inserted.
const BAD_QUALITY: u8 = b'0';

/// Outputs of reads. If pairs have no output for second reads, they are interleaved.
pub struct ReadOutputs {
    pub first: Output,
    pub second: Option<Output>,
}

impl ReadOutputs {
    fn write(&mut self, text: &Text) -> Result<(), Failure> {
        self.first.write(&text.first)?;
        self.second.as_mut().map_or(Ok(()), |second| second.write(&text.second))
    }

    pub fn finish(self) -> Result<(), Failure> {
        self.first.finish()?;
        self.second.map_or(Ok(()), Output::finish)
    }
}

/// Writes reads of a donor.
pub fn write_reads(
    donor: &Donor,
    fragments: &Fragments,
    threads: usize,
    outputs: &mut ReadOutputs,
) -> Result<(), Failure> {
    let options = &fragments.options;
    let templates = (SHARD_BASES / to_u64(options.length)).min(SHARD_TEMPLATES);
    let shard_fragments = (templates / to_u64(options.mates())).max(1);
    write_shards(donor, fragments, shard_fragments, threads, outputs)
}

/// Writes reads in shards of a number of fragments. The number does not change the output.
fn write_shards(
    donor: &Donor,
    fragments: &Fragments,
    shard_fragments: u64,
    threads: usize,
    outputs: &mut ReadOutputs,
) -> Result<(), Failure> {
    let options = &fragments.options;
    let mut numbers = 0..options.count;
    while !numbers.is_empty() {
        let end = numbers.end.min(numbers.start.saturating_add(shard_fragments));
        let shard = Shard::new(donor, fragments, threads, numbers.start..end)?;
        let writer = ReadWriter {
            shard: &shard,
            fragments,
            layout: &donor.genome.layout,
            errors: Geometric::new(options.error_rate),
            interleaved: outputs.second.is_none(),
        };
        let reads = (TEXT_BASES / to_u64(options.length)).clamp(1, TEXT_READS);
        let make = |chunk| {
            let start = numbers.start + chunk * reads;
            writer.text(start..end.min(start + reads))
        };
        let chunks = (end - numbers.start).div_ceil(reads);
        in_order(threads, chunks, make, |text| outputs.write(&text))?;
        numbers.start = end;
    }
    Ok(())
}

/// FASTQ records of first and of second reads. Interleaved pairs are in `first`.
#[derive(Default)]
struct Text {
    first: Vec<u8>,
    second: Vec<u8>,
}

/// Formats the reads of a shard.
struct ReadWriter<'a> {
    shard: &'a Shard,
    fragments: &'a Fragments,
    layout: &'a Layout,
    errors: Geometric,
    interleaved: bool,
}

impl ReadWriter<'_> {
    /// Records of the reads with these numbers.
    fn text(&self, numbers: Range<u64>) -> Text {
        let mut text = Text::default();
        let mut mates = vec![Mate::default(); self.fragments.options.mates()];
        for number in numbers {
            let name = self.fill(number, &mut mates);
            for (index, mate) in mates.iter().enumerate() {
                let is_first = index == 0 || self.interleaved;
                let output = if is_first { &mut text.first } else { &mut text.second };
                let suffix = ["/1", "/2"].get(index).filter(|_| mates.len() == 2);
                mate.append_to(output, &name, suffix.copied().unwrap_or(""));
            }
        }
        text
    }

    /// Makes the reads of a fragment. Returns their common name.
    fn fill(&self, number: u64, mates: &mut [Mate]) -> String {
        let ReadOptions { seed, indel_share, .. } = self.fragments.options;
        let first_is_reverse = self.fragments.draw(number).reverse;
        let mut random = Random::new(seed, Purpose::Errors, number);
        let is_pair = mates.len() == 2;
        let mut name = String::new();
        for (index, mate) in mates.iter_mut().enumerate() {
            // The left read of a pair is forward, and the right one is reverse.
            let is_reverse = first_is_reverse != (index == 1);
            let template = usize::from(is_pair && is_reverse);
            let origin = self.shard.template(number, template, &mut mate.template);
            if is_reverse {
                reverse_complement(&mut mate.template);
            }
            mate.sequence(&self.errors, indel_share, &mut random);
            if index == 0 {
                name = format!("{number}!{}", self.layout.sequences[origin.sequence].name);
            }
            name += &described(&origin, is_reverse);
        }
        name
    }
}

/// Stretch and strand of a read, as its name states them.
fn described(origin: &Origin, is_reverse: bool) -> String {
    let strand = if is_reverse == origin.inverted { '+' } else { '-' };
    format!("!{}!{}!{strand}", origin.start, origin.end)
}

/// A read, with memory to reuse.
#[derive(Clone, Default)]
pub struct Mate {
    /// Bases without errors.
    pub template: Vec<u8>,
    bases: Vec<u8>,
    qualities: Vec<u8>,
}

impl Mate {
    /// Makes the read from its template. Of three indels, two are deletions, as in reads of nanopores.
    pub fn sequence(&mut self, errors: &Geometric, indel_share: f64, random: &mut Random) {
        self.bases.clear();
        self.qualities.clear();
        let mut rest = &self.template[..];
        loop {
            let (right, after) = rest.split_at(errors.draw_up_to(rest.len(), random));
            self.bases.extend_from_slice(right);
            self.qualities.resize(self.bases.len(), GOOD_QUALITY);
            let Some((base, after)) = after.split_first() else { break };
            rest = after;
            if !random.chance(indel_share) {
                self.bases.push(random.other_base(*base));
            } else if random.below(3) == 0 {
                self.bases.extend([random.base(), *base]);
            }
            self.qualities.resize(self.bases.len(), BAD_QUALITY);
        }
        // A read has at least one base.
        if self.bases.is_empty() {
            self.bases.extend(self.template.first());
            self.qualities.resize(self.bases.len(), BAD_QUALITY);
        }
    }

    /// Appends the record of the read.
    pub fn append_to(&self, output: &mut Vec<u8>, name: &str, suffix: &str) {
        for part in
            [b"@", name.as_bytes(), suffix.as_bytes(), b"\n", &self.bases, b"\n+\n", &self.qualities, b"\n"]
        {
            output.extend_from_slice(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::genome::Genome;
    use crate::tests::{Memory, NO_VARIANTS, READS};

    #[test]
    fn shards_do_not_change_reads() {
        let genome = Genome::new(2, 400_000);
        let donor = Donor::new(&genome, NO_VARIANTS).unwrap();
        let options = ReadOptions { count: 50, pairs: true, ..READS };
        let fragments = Fragments::new(&donor, &options).unwrap();
        let text = |shard| {
            let memory = Memory::default();
            let mut outputs = ReadOutputs { first: memory.output(), second: None };
            write_shards(&donor, &fragments, shard, 2, &mut outputs).unwrap();
            memory.text()
        };
        let whole = text(50);
        assert_eq!(whole.lines().count(), 50 * 2 * 4);
        for shard in [1, 7, 49, 1000] {
            assert!(text(shard) == whole, "{shard}");
        }
    }

    #[test]
    fn errors_have_their_rate_and_kinds() {
        let mut random = Random::new(1, Purpose::Errors, 0);
        let template = b"ACGTTGCATTAGCCATGGATCC".repeat(2000);
        let mut mate = Mate { template, ..Mate::default() };
        mate.sequence(&Geometric::new(0.0), 0.5, &mut random);
        assert!(mate.bases == mate.template && mate.qualities.iter().all(|quality| *quality == GOOD_QUALITY));

        mate.sequence(&Geometric::new(0.05), 0.0, &mut random);
        let wrong = mate.bases.iter().zip(&mate.template).filter(|(read, right)| read != right).count();
        let marked = mate.qualities.iter().filter(|quality| **quality == BAD_QUALITY).count();
        assert_eq!((mate.bases.len(), marked), (mate.template.len(), wrong));
        assert!((2000..2400).contains(&wrong), "{wrong}");

        // Two thirds are deletions of one base, one third are insertions of one base.
        mate.sequence(&Geometric::new(0.05), 1.0, &mut random);
        let lost = mate.template.len() - mate.bases.len();
        assert!((600..870).contains(&lost), "{lost}");

        // A deletion of the only base is no deletion.
        mate.template.truncate(1);
        for _ in 0..10 {
            mate.sequence(&Geometric::new(1.0), 1.0, &mut random);
            assert!((1..=2).contains(&mate.bases.len()) && mate.bases.len() == mate.qualities.len());
        }
    }
}
