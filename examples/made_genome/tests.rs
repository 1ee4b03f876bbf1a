//! Tests of the program's outputs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

use crate::copies::reverse_complement;
use crate::donor::Donor;
use crate::failure::Failure;
use crate::fragments::{Fragments, ReadOptions};
use crate::genome::Genome;
use crate::layout::BLOCK;
use crate::numbers::to_usize;
use crate::output::Output;
use crate::reads::{ReadOutputs, write_reads};
use crate::variants::VariantOptions;
use crate::{fasta, vcf};

pub const NO_VARIANTS: VariantOptions =
    VariantOptions { seed: 1, snp_rate: 0.0, indel_rate: 0.0, deletions: 0, inversions: 0 };
const VARIANTS: VariantOptions = VariantOptions { snp_rate: 0.002, indel_rate: 0.001, ..NO_VARIANTS };
/// Reads without errors.
pub const READS: ReadOptions = ReadOptions {
    seed: 1,
    count: 300,
    length: 150,
    pairs: false,
    insert_mean: 400.0,
    insert_deviation: 50.0,
    error_rate: 0.0,
    indel_share: 0.0,
};

/// Output in memory.
#[derive(Clone, Default)]
pub struct Memory(Rc<RefCell<Vec<u8>>>);

impl Memory {
    pub fn output(&self) -> Output {
        Output::new(self.clone())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.0.take()).unwrap()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn reference_text(genome: &Genome, threads: usize) -> String {
    let memory = Memory::default();
    fasta::write_reference(genome, threads, &mut memory.output()).unwrap();
    memory.text()
}

fn donor_text(donor: &Donor, threads: usize) -> String {
    let memory = Memory::default();
    fasta::write_donor(donor, threads, &mut memory.output()).unwrap();
    memory.text()
}

fn vcf_text(donor: &Donor, threads: usize) -> String {
    let memory = Memory::default();
    vcf::write_variants(donor, threads, &mut memory.output()).unwrap();
    memory.text()
}

/// Reads, or interleaved pairs.
fn reads_text(donor: &Donor, options: &ReadOptions, threads: usize) -> String {
    let memory = Memory::default();
    let mut outputs = ReadOutputs { first: memory.output(), second: None };
    let fragments = Fragments::new(donor, options).unwrap();
    write_reads(donor, &fragments, threads, &mut outputs).unwrap();
    memory.text()
}

type Sequences = BTreeMap<String, String>;

/// Parses FASTA whose lines have 80 bases.
fn sequences(text: &str) -> Sequences {
    let records = text.split('>').skip(1).map(|record| {
        let (name, bases) = record.split_once('\n').unwrap();
        let lines: Vec<&str> = bases.lines().collect();
        let (last, full) = lines.split_last().unwrap();
        assert!(full.iter().all(|line| line.len() == 80) && (1..=80).contains(&last.len()));
        (name.to_string(), lines.concat())
    });
    records.collect()
}

/// A read, and the stretch that its name states.
struct Record<'a> {
    name: &'a str,
    sequence: &'a str,
    start: usize,
    end: usize,
    strand: &'a str,
    bases: &'a str,
}

/// Parses FASTQ.
fn records(text: &str) -> Vec<Record<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    lines.chunks(4).map(Record::new).collect()
}

impl<'a> Record<'a> {
    /// Parses a record. The second read of a pair has the second stretch of its name.
    fn new(lines: &[&'a str]) -> Self {
        let [name, bases, "+", qualities] = *lines else { panic!("{lines:?}") };
        assert_eq!(bases.len(), qualities.len());
        let name = name.strip_prefix('@').unwrap();
        let (stem, mate) = name.split_once('/').unwrap_or((name, "1"));
        let fields: Vec<&str> = stem.split('!').collect();
        let stretch = &fields[if mate == "2" { 5 } else { 2 }..][..3];
        let (start, end) = (stretch[0].parse().unwrap(), stretch[1].parse().unwrap());
        Self { name, sequence: fields[1], start, end, strand: stretch[2], bases }
    }
}

/// The reverse complement of bases if the strand is reverse.
fn on_strand(bases: &str, strand: &str) -> String {
    let mut bases = bases.as_bytes().to_vec();
    if strand == "-" {
        reverse_complement(&mut bases);
    }
    String::from_utf8(bases).unwrap()
}

/// Applies the records of a VCF to a reference. Asserts that indels are left-aligned.
fn applied(reference: &Sequences, vcf: &str) -> Sequences {
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    let mut donor: Sequences = reference.keys().map(|name| (name.clone(), String::new())).collect();
    for line in vcf.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, position, _, old, new, ..] = fields[..] else { panic!("{line}") };
        let (start, end) = (position.parse::<usize>().unwrap() - 1, ends.entry(name).or_default());
        assert!(start >= *end && reference[name][start..].starts_with(old), "{line}");
        let is_indel = old.len() != new.len();
        // A variant, an N or the border of a block directly before an indel blocks it.
        let is_at_border = start.is_multiple_of(to_usize(BLOCK)) || start == *end;
        let is_blocked = is_at_border || reference[name].as_bytes()[start - 1] == b'N';
        assert!(!is_indel || old.as_bytes()[0] == new.as_bytes()[0]);
        assert!(!is_indel || is_blocked || old.bytes().last() != new.bytes().last(), "{line}");
        let donor = donor.get_mut(name).unwrap();
        *donor += &reference[name][*end..start];
        *donor += new;
        *end = start + old.len();
    }
    for (name, donor) in &mut donor {
        *donor += &reference[name][ends.get(&**name).copied().unwrap_or(0)..];
    }
    donor
}

#[test]
fn threads_do_not_change_outputs() {
    let genome = Genome::new(9, 800_000);
    assert!(reference_text(&genome, 1) == reference_text(&genome, 3));
    let donor = Donor::new(&genome, VARIANTS).unwrap();
    assert!(donor_text(&donor, 1) == donor_text(&donor, 3));
    assert!(vcf_text(&donor, 1) == vcf_text(&donor, 3));
    let options = ReadOptions { count: 5_000, pairs: true, error_rate: 0.01, indel_share: 0.3, ..READS };
    assert!(reads_text(&donor, &options, 1) == reads_text(&donor, &options, 3));
}

#[test]
fn seeds_change_outputs() {
    let genomes = [Genome::new(1, 300_000), Genome::new(2, 300_000)];
    assert!(reference_text(&genomes[0], 1) != reference_text(&genomes[1], 1));
    let donor = |seed| Donor::new(&genomes[0], VariantOptions { seed, ..VARIANTS }).unwrap();
    assert!(vcf_text(&donor(1), 1) != vcf_text(&donor(2), 1));
    let reads = |seed| reads_text(&donor(1), &ReadOptions { seed, ..READS }, 1);
    assert!(reads(1) != reads(2));
}

#[test]
fn genomes_have_their_size() {
    for bases in [1, 2, 79, 100, 1_999, 1_000_003] {
        let sequences = sequences(&reference_text(&Genome::new(1, bases), 2));
        let total: usize = sequences.values().map(String::len).sum();
        assert_eq!(u64::try_from(total).unwrap(), bases);
        assert!(bases < 100 || sequences.len() == 24);
    }
}

#[test]
fn reads_without_errors_are_their_stretches() {
    let genome = Genome::new(4, 1_000_000);
    let donor = Donor::new(&genome, NO_VARIANTS).unwrap();
    let reference = sequences(&reference_text(&genome, 2));
    for options in [
        READS,
        ReadOptions { pairs: true, ..READS },
        ReadOptions { pairs: true, insert_deviation: 300.0, ..READS },
        ReadOptions { length: 15_000, count: 20, ..READS },
        ReadOptions { length: 1, ..READS },
    ] {
        let text = reads_text(&donor, &options, 2);
        let records = records(&text);
        assert_eq!(u64::try_from(records.len() / options.mates()).unwrap(), options.count);
        for read in &records {
            let stretch = &reference[read.sequence][read.start..read.end];
            assert_eq!(read.bases.len(), options.length);
            assert!(on_strand(stretch, read.strand) == read.bases, "{}", read.name);
            assert!(!stretch.contains('N'));
        }
        for strand in ["+", "-"] {
            let count = records.iter().filter(|read| read.strand == strand).count();
            assert!(count * 4 > records.len(), "{count} reads on {strand}");
        }
    }
}

#[test]
fn pairs_face_each_other_at_their_insert_size() {
    let genome = Genome::new(4, 1_000_000);
    let donor = Donor::new(&genome, NO_VARIANTS).unwrap();
    let text = reads_text(&donor, &ReadOptions { pairs: true, ..READS }, 1);
    let mut inserts = Vec::new();
    for pair in records(&text).chunks(2) {
        let [first, second] = pair else { panic!("a pair has two reads") };
        assert_eq!(first.name.strip_suffix("/1"), second.name.strip_suffix("/2"));
        let (left, right) = if first.strand == "+" { (first, second) } else { (second, first) };
        assert_eq!((left.strand, right.strand), ("+", "-"));
        inserts.push(right.end - left.start);
    }
    let mean = inserts.iter().sum::<usize>() / inserts.len();
    assert!((390..410).contains(&mean), "{mean}");
    assert!(inserts.iter().all(|insert| (150..=700).contains(insert)));
    assert!(inserts.iter().any(|insert| *insert < 350) && inserts.iter().any(|insert| *insert > 450));
}

#[test]
fn variants_turn_the_reference_into_the_donor() {
    let genome = Genome::new(6, 1_500_000);
    let reference = sequences(&reference_text(&genome, 2));
    for options in [
        NO_VARIANTS,
        VARIANTS,
        VariantOptions { deletions: 2, inversions: 2, ..VARIANTS },
        VariantOptions { snp_rate: 0.5, indel_rate: 0.5, ..NO_VARIANTS },
    ] {
        let donor = Donor::new(&genome, options).unwrap();
        assert!(applied(&reference, &vcf_text(&donor, 2)) == sequences(&donor_text(&donor, 2)));
    }
    let vcf = vcf_text(&Donor::new(&genome, VARIANTS).unwrap(), 1);
    let count = |wanted: fn(&str) -> bool| {
        let records = vcf.lines().filter(|line| !line.starts_with('#'));
        records.filter(|line| wanted(line)).count()
    };
    let indels = count(|line| line.split('\t').skip(3).take(2).any(|allele| allele.len() > 1));
    assert!((4_000..5_000).contains(&count(|_| true)) && (1_300..1_700).contains(&indels));
}

#[test]
fn reads_with_variants_are_in_the_donor() {
    let genome = Genome::new(6, 1_000_000);
    let options = VariantOptions { deletions: 1, inversions: 2, ..VARIANTS };
    let donor = Donor::new(&genome, options).unwrap();
    let sequences = sequences(&donor_text(&donor, 2));
    for options in [READS, ReadOptions { length: 5_000, count: 50, ..READS }] {
        let text = reads_text(&donor, &options, 2);
        for read in records(&text) {
            let sequence = &sequences[read.sequence];
            let is_inside = ["+", "-"].iter().any(|strand| sequence.contains(&on_strand(read.bases, strand)));
            assert!(is_inside && read.start < read.end, "{}", read.name);
        }
    }
}

#[test]
fn tiny_genomes_have_donors_and_reads() {
    for bases in (1..40).chain([100, 1_000, 5_000]) {
        let genome = Genome::new(3, bases);
        let options = VariantOptions { snp_rate: 0.3, indel_rate: 0.3, ..NO_VARIANTS };
        let donor = Donor::new(&genome, options).unwrap();
        let reference = sequences(&reference_text(&genome, 1));
        assert!(applied(&reference, &vcf_text(&donor, 1)) == sequences(&donor_text(&donor, 1)));
        let reads = ReadOptions { length: 1, count: 20, error_rate: 1.0, indel_share: 1.0, ..READS };
        for options in [reads.clone(), ReadOptions { pairs: true, insert_mean: 3.0, ..reads }] {
            assert_eq!(records(&reads_text(&donor, &options, 2)).len(), 20 * options.mates());
        }
        let options = ReadOptions { length: 5_001, ..READS };
        assert!(Fragments::new(&donor, &options).is_err());
    }
}

#[test]
fn a_closed_pipe_is_a_success() {
    struct Closed(io::ErrorKind);
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let genome = Genome::new(1, 3_000_000);
    for (kind, code) in [(io::ErrorKind::BrokenPipe, 0), (io::ErrorKind::StorageFull, 1)] {
        let failure = fasta::write_reference(&genome, 2, &mut Output::new(Closed(kind))).map(|_| ());
        assert_eq!(failure.map_err(|failure| failure.exit_code()), Err(code));
    }
    assert_eq!(Failure::Usage("wrong".into()).exit_code(), 2);
}
