//! Stages of the host: `cargo bench --bench host`, plus the arguments that all benchmarks share (common/mod.rs).

mod common;

use common::random::Random;
use common::{Bench, Row};
use smallvec::smallvec;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::time::Duration;
use swalign::align::backtrace::{self, WantedPath};
use swalign::align::candidates::{ChunkLength, MetTargets, PairLayout};
use swalign::engine::Engine;
use swalign::engine::cpu::Cpu;
use swalign::engine::gpu::layout::ResiduePacking;
use swalign::input::reader::{FileRecord, QueryReader, Reader, read_references};
use swalign::output::writer::tags::{EditTags, Residues};
use swalign::output::writer::{ChosenValues, NamedTargets, Writer};
use swalign::terms::alignment::{Alignment, PathOp, QueryResult, Strand, Strands};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::{Batch, Pair, Sequences, counting_sort_descending, sweeps, swept};
use swalign::terms::options::{Format, Mode, Options, OutputFormat, Rank, RankedOptions};
use swalign::terms::scoring::Scoring;
use tempfile::NamedTempFile;

/// Prints a row. The caller has checked its answer.
fn print(bench: &mut Bench, work: &str, (amount, unit): (usize, &str), times: &common::Times) {
    bench.print(&Row { work, by: "host", amount, unit, note: String::new() }, times);
}

fn codes(len: usize, seed: u64) -> Vec<u8> {
    Random::new(seed).codes(len, 4)
}

/// `count` reads of 150 bases from a target of 30,000 bases, with one base in fifty changed.
fn reads(count: usize) -> Batch {
    let target = codes(30_000, 7);
    let mut queries = Sequences::default();
    for read in 0..count {
        let start = read * 7919 % (target.len() - 150);
        let changed = |(at, &code): (usize, &u8)| if (at + read) % 50 == 0 { (code + 1) & 3 } else { code };
        queries.push(target[start..start + 150].iter().enumerate().map(changed));
    }
    let targets = Arc::new([target.as_slice()].into_iter().collect());
    Batch { queries: Arc::new(queries), targets, scoring: Arc::new(Scoring::dna(1, 4, 6, 1)) }
}

fn counting_sort(bench: &mut Bench, name: &str) {
    let keys: Vec<u32> = codes(bench.sized(1_000_000), 3)
        .chunks(4)
        .map(|four| four.iter().fold(0, |key, &code| key * 4 + u32::from(code)))
        .collect();
    let (order, times) = bench.rounds.time(|| counting_sort_descending(&keys, 256));
    assert!(order.windows(2).all(|two| keys[two[0] as usize] >= keys[two[1] as usize]));
    print(bench, name, (keys.len(), "keys"), &times);
}

fn pack_nucleotides(bench: &mut Bench, name: &str) {
    let codes = codes(bench.sized(8_000_000), 5);
    let (words, times) = bench.rounds.time(|| {
        let mut words = vec![0; ResiduePacking::Nucleotides.words(codes.len())];
        ResiduePacking::Nucleotides.pack_queries(&codes, 0..words.len(), &mut words);
        words
    });
    assert_eq!((words.len(), words[0] & 15), (codes.len() / 8 + 1, u32::from(codes[0])));
    print(bench, name, (codes.len(), "bytes"), &times);
}

fn chunks_of_a_batch(bench: &mut Bench, name: &str) {
    let count = bench.sized(10_000);
    let batch = reads(count);
    let layout = PairLayout { strands: Strands::Plus, meets: swalign::align::candidates::Meets::All };
    let owned = |read| {
        let pairs = MetTargets::all(&batch).pairs(&batch, &layout, read, 20, ChunkLength::SHORT);
        sweeps(&pairs).map(|sweep| u64::from(swept(sweep).end - swept(sweep).own)).sum::<u64>()
    };
    let (all, times) = bench.rounds.time(|| (0..count as u32).map(owned).sum::<u64>());
    assert_eq!(all, count as u64 * 30_000);
    print(bench, name, (count, "reads"), &times);
}

fn fill_and_backtrace(bench: &mut Bench, name: &str) {
    let batch = reads(bench.sized(2_000));
    let pair = |query| Pair { query, target: 0, start: 0, own: 0, end: 30_000 };
    let pairs: Vec<Pair> = (0..batch.queries.len() as u32).map(pair).collect();
    let hits = Cpu::new().score(&batch, &pairs).expect("scores");
    let wanted: Vec<WantedPath> = pairs
        .iter()
        .zip(&hits)
        .map(|(pair, hit)| WantedPath {
            window: backtrace::window_of(&batch, pair.query, 0, 0, hit),
            strand: Strand::Forward,
            score: hit.score,
        })
        .collect();
    // `align` itself checks that every path rescores to the score of its hit.
    let align = || backtrace::align(&mut Cpu::new(), &batch, &wanted).expect("alignments");
    let (alignments, times) = bench.rounds.time(align);
    assert_eq!(alignments.len(), wanted.len());
    print(bench, name, (wanted.len(), "alignments"), &times);
}

/// A file with `count` records of `len` bases, in FASTQ (four lines each) or FASTA.
fn records(count: usize, len: usize, fastq: bool) -> NamedTempFile {
    let letters: Vec<u8> = codes(len + count, 11).iter().map(|&code| b"ACGT"[code as usize]).collect();
    let mut file = NamedTempFile::new().expect("a temporary file");
    let mut text = BufWriter::new(&mut file);
    for (number, letters) in letters.windows(len).take(count).enumerate() {
        let start = if fastq { '@' } else { '>' };
        write!(text, "{start}record_{number} of {count}\n{}\n", String::from_utf8_lossy(letters))
            .expect("room");
        if fastq {
            writeln!(text, "+\n{}", "I".repeat(len)).expect("room");
        }
    }
    drop(text);
    file
}

/// Collects queries like a run: codes of both strands, batch after batch. Returns the number of queries.
fn take_queries(file: &NamedTempFile, len: usize) -> usize {
    let reader = Reader::open(file.path()).expect("a file");
    let mut queries = QueryReader::new(reader, Alphabet::Dna, false, Strands::Both);
    let mut seen = 0;
    let (mut records, mut batch) = (Vec::new(), Sequences::default());
    while let at_hand @ [_, ..] = queries.at_hand().expect("sound records") {
        assert!(at_hand.iter().all(|query| query.sequence.len() == len));
        let taken = at_hand.len().min((1 << 16) - records.len());
        queries.take(taken, &mut records, &mut batch);
        seen += taken;
        assert_eq!(batch.codes().len(), 2 * len * records.len());
        if records.len() == 1 << 16 {
            (records, batch) = (Vec::new(), Sequences::default());
        }
    }
    seen
}

fn read_queries(bench: &mut Bench, name: &str) {
    let count = bench.sized(200_000);
    let file = records(count, 150, name.contains("FASTQ"));
    let bytes = file.as_file().metadata().expect("a size").len() as usize;
    let (seen, times) = bench.rounds.time(|| take_queries(&file, 150));
    assert_eq!(seen, count);
    print(bench, name, (bytes, "bytes"), &times);
}

fn read_fasta_references(bench: &mut Bench, name: &str) {
    let count = bench.sized(200_000);
    let file = records(count, 250, false);
    let bytes = file.as_file().metadata().expect("a size").len() as usize;
    let (references, times) = bench.rounds.time(|| {
        let mut reader = Reader::open(file.path()).expect("a file");
        read_references(&mut reader, None).expect("sound records")
    });
    assert_eq!((references.names.len(), references.sequences.codes().len()), (count, count * 250));
    print(bench, name, (bytes, "bytes"), &times);
}

/// A run against `count` short targets, for the writer: its options, and the names and codes of the targets.
fn writing(count: usize) -> (Options, Vec<String>, Arc<Sequences>) {
    let options = Options {
        mode: Mode::Pairs,
        query: "reads.fq".into(),
        reference: "targets.fa".into(),
        secondary_ratio: 0.8,
        ranked: RankedOptions { rank: Rank::Raw, ..RankedOptions::default() },
        dedup: true,
        threads: 1,
        command_line: "swalign pairs reads.fq targets.fa".into(),
        ..Options::default()
    };
    let names = (0..count).map(|target| format!("target_{target}")).collect();
    let letters = codes(250 + count, 11);
    let targets = (0..count).map(|target| &letters[target..target + 250]).collect();
    (options, names, Arc::new(targets))
}

fn sam_writer((options, names, targets): (Options, Vec<String>, Arc<Sequences>)) -> Writer {
    Writer::new(
        &options,
        ChosenValues { min_score: 20, ..ChosenValues::default() },
        Arc::new(Scoring::dna(1, 4, 6, 1)),
        NamedTargets::whole(names, targets),
    )
    .expect("header")
}

fn make_header(bench: &mut Bench, name: &str) {
    let references = bench.sized(if name.contains("1,000,000") { 1_000_000 } else { 200_000 });
    let run = writing(references);
    let make = |(): &mut (), run| {
        let writer = sam_writer(run);
        assert!(!writer.header().is_empty());
        writer
    };
    let (writer, times) = bench.rounds.time_on(&mut (), || run.clone(), make, |()| Duration::ZERO);
    let header = writer.header();
    assert!(header[1].starts_with(b"@SQ\tSN:target_0\tLN:250\n"));
    let whole = header.concat();
    assert_eq!(whole.iter().filter(|&&byte| byte == b'\n').count(), references + 4);
    print(bench, name, (references, "references"), &times);
}

/// Reads of 150 bases with three mismatches and one gap. Each read is aligned to the target with its number.
fn aligned_reads(targets: &Sequences, qualities: bool) -> Vec<(FileRecord, QueryResult)> {
    let letters = b"ACGT";
    let read = |(target, codes): (usize, &[u8])| {
        let mut codes = [&codes[40..110], &codes[112..192]].concat();
        for place in [20, 77, 131] {
            codes[place] = (codes[place] + 1) & 3;
        }
        let record = FileRecord {
            number: target as u64 + 1,
            name: format!("read_{target}"),
            sequence: codes.iter().map(|&code| letters[usize::from(code)]).collect(),
            qualities: qualities
                .then(|| (0..150).map(|place| b'!' + (place + target % 40) as u8 % 41).collect()),
            tags: Vec::new(),
        };
        let alignment = Alignment {
            strand: Strand::Forward,
            target: target as u32,
            score: 127,
            query_start: 0,
            query_end: 150,
            target_start: 40,
            target_end: 192,
            cigar: smallvec![(70, PathOp::Match), (2, PathOp::Deletion), (80, PathOp::Match)],
            shifts: Box::default(),
        };
        (
            record,
            QueryResult {
                alignments: vec![alignment],
                second: None,
                threshold: 102,
                ..QueryResult::default()
            },
        )
    };
    targets.iter().enumerate().map(read).collect()
}

/// Makes BAM like the pipeline: groups of queries, each packed into its own blocks. Amounts are bytes before packing.
fn make_bam(bench: &mut Bench, name: &str) {
    let (options, names, targets) = writing(bench.sized(50_000));
    let (queries, found): (Vec<_>, Vec<_>) = aligned_reads(&targets, true).into_iter().unzip();
    let writer =
        sam_writer((Options { format: OutputFormat::Records(Format::Bam), ..options }, names, targets));
    let raw = || writer.records(&queries, &found).expect("records").len();
    let parts = || -> usize {
        let mut joint = writer.joint().expect("blocks");
        let parts = writer.parts((0, None), &queries, &found).expect("parts");
        parts.into_iter().map(|part| joint.add(part).expect("blocks").len()).sum()
    };
    let is_packed = name.contains("packed");
    let (bytes, times) = bench.rounds.time(|| if is_packed { parts() } else { raw() });
    assert!(if is_packed { bytes < raw() } else { bytes > 300 * queries.len() });
    print(bench, name, (raw(), "bytes"), &times);
}

/// Formats SAM like the pipeline: groups of queries, each into its own text.
fn make_sam(bench: &mut Bench, name: &str) {
    let run = writing(bench.sized(100_000));
    let (queries, found): (Vec<_>, Vec<_>) =
        aligned_reads(&run.2, name.contains("with qualities")).into_iter().unzip();
    let writer = sam_writer(run);
    let format = |visit: &mut dyn FnMut(&[u8])| {
        for (queries, found) in queries.chunks(512).zip(found.chunks(512)) {
            visit(&writer.records(queries, found).expect("records"));
        }
    };
    let mut whole = Vec::new();
    format(&mut |text| whole.extend_from_slice(text));
    assert_eq!(whole.iter().filter(|&&byte| byte == b'\n').count(), queries.len());
    assert!(whole.starts_with(b"read_0\t0\ttarget_0\t41\t60\t70M2D80M\t*\t0\t0\t"));
    let (bytes, times) = bench.rounds.time(|| {
        let mut bytes = 0;
        format(&mut |text| bytes += text.len());
        bytes
    });
    assert_eq!(bytes, whole.len());
    print(bench, name, (queries.len(), "records"), &times);
}

fn differences_of_reads(bench: &mut Bench, name: &str) {
    let (_, _, targets) = writing(bench.sized(10_000));
    let reads = aligned_reads(&targets, false);
    let (edits, times) = bench.rounds.time(|| {
        let (mut differences, residues) = (EditTags::default(), Residues::new(Alphabet::Dna));
        let edits = |((record, found), target): (&(FileRecord, QueryResult), &[u8])| {
            differences.find(&residues, None, (&record.sequence, target), &found.alignments[0]);
            differences.counts.edits() as usize
        };
        reads.iter().zip(targets.iter()).map(edits).sum::<usize>()
    });
    assert_eq!(edits, 5 * reads.len());
    print(bench, name, (reads.len(), "records"), &times);
}

/// Runs a row. Several rows share a function, which then depends on the name.
type Run = fn(&mut Bench, &str);

const ROWS: [(&str, Run); 14] = [
    ("counting sort", counting_sort),
    ("pack nucleotides", pack_nucleotides),
    ("chunks of a batch", chunks_of_a_batch),
    ("fill and backtrace", fill_and_backtrace),
    ("read queries of FASTA", read_queries),
    ("read queries of FASTQ", read_queries),
    ("read references of FASTA", read_fasta_references),
    ("header of 200,000 references", make_header),
    ("header of 1,000,000 references", make_header),
    ("records of BAM, raw", make_bam),
    ("records of BAM, packed", make_bam),
    ("records of SAM", make_sam),
    ("records of SAM with qualities", make_sam),
    ("differences of reads", differences_of_reads),
];

fn main() {
    let mut bench = Bench::new(&[], &[]);
    bench.short_calls();
    for (name, run) in ROWS {
        if bench.wants(name) {
            run(&mut bench, name);
        }
    }
}
