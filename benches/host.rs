//! The host's stages, answers checked: `cargo bench --bench host`.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use smallvec::smallvec;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use swalign::alignment::{Alignment, Found, Op, Strand};
use swalign::alphabet::Alphabet;
use swalign::backtrace::{self, Wanted};
use swalign::batch::{Batch, Pair, Sequences, counting_sort_descending, sweeps, swept};
use swalign::candidates::{self, Layout};
use swalign::engine::Engine;
use swalign::engine::cpu::Cpu;
use swalign::engine::gpu::layout::Letters;
use swalign::options::{DeviceChoice, FilterChoice, Format, Mode, Options, ScoringChoice};
use swalign::reader::{Queries, Reader, Record, read_references};
use swalign::scoring::Scoring;
use swalign::writer::tags::{EditTags, Residues};
use swalign::writer::{NamedTargets, Writer};
use tempfile::NamedTempFile;

fn main() {
    divan::main();
}

/// Codes from a small generator (xorshift, Marsaglia 2003).
fn codes(len: usize, mut state: u64) -> Vec<u8> {
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 60) as u8 & 3
    };
    (0..len).map(|_| next()).collect()
}

/// `count` reads of 150 from a target of 30,000, one residue in fifty changed.
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

#[divan::bench]
fn counting_sort(bencher: Bencher) {
    let keys: Vec<u32> = codes(1_000_000, 3)
        .chunks(4)
        .map(|four| four.iter().fold(0, |key, &code| key * 4 + u32::from(code)))
        .collect();
    bencher.counter(ItemsCount::new(keys.len())).bench_local(|| {
        let order = counting_sort_descending(&keys, 256);
        assert!(order.windows(2).all(|two| keys[two[0] as usize] >= keys[two[1] as usize]));
        order
    });
}

#[divan::bench]
fn pack_nucleotides(bencher: Bencher) {
    let codes = codes(8_000_000, 5);
    bencher.counter(BytesCount::new(codes.len())).bench_local(|| {
        let mut words = vec![0; Letters::Nucleotides.words(codes.len())];
        Letters::Nucleotides.pack_queries(&codes, 0..words.len(), &mut words);
        assert_eq!((words.len(), words[0] & 15), (codes.len() / 8 + 1, u32::from(codes[0])));
        words
    });
}

#[divan::bench]
fn chunks_of_a_batch(bencher: Bencher) {
    let batch = reads(10_000);
    let layout = Layout { strands: 1, paired: None };
    bencher.counter(ItemsCount::new(10_000usize)).bench_local(|| {
        let owned = |read| {
            let pairs = candidates::pairs(&batch, &layout, read, 20, candidates::CHUNK);
            sweeps(&pairs).map(|sweep| u64::from(swept(sweep).end - swept(sweep).own)).sum::<u64>()
        };
        assert_eq!((0..10_000).map(owned).sum::<u64>(), 10_000 * 30_000);
    });
}

#[divan::bench(sample_count = 20)]
fn fill_and_backtrace(bencher: Bencher) {
    let batch = reads(2_000);
    let pair = |query| Pair { query, target: 0, start: 0, own: 0, end: 30_000 };
    let pairs: Vec<Pair> = (0..2_000).map(pair).collect();
    let hits = Cpu::new().score(&batch, &pairs).expect("scores");
    let wanted: Vec<Wanted> = pairs
        .iter()
        .zip(&hits)
        .map(|(pair, hit)| Wanted {
            window: backtrace::window_of(&batch, pair.query, 0, 0, hit),
            strand: Strand::Forward,
            score: hit.score,
        })
        .collect();
    bencher.counter(ItemsCount::new(wanted.len())).bench_local(|| {
        // `align` itself checks that every path rescores to its hit's score.
        let alignments = backtrace::align(&mut Cpu::new(), &batch, &wanted).expect("alignments");
        assert_eq!(alignments.len(), wanted.len());
        alignments
    });
}

/// A file of `count` records of `len` letters, four lines each where they are FASTQ.
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

/// Queries as the run gathers them: codes of both strands, batch after batch.
fn read_queries(file: &NamedTempFile, count: usize, len: usize) {
    let reader = Reader::open(file.path()).expect("a file");
    let mut queries = Queries::new(reader, Alphabet::Dna, false, true);
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
    assert_eq!(seen, count);
}

#[divan::bench(sample_count = 10)]
fn read_fasta_queries(bencher: Bencher) {
    let count = 200_000;
    let file = records(count, 150, false);
    let bytes = file.as_file().metadata().expect("a size").len();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| read_queries(&file, count, 150));
}

#[divan::bench(sample_count = 10)]
fn read_fastq_queries(bencher: Bencher) {
    let count = 200_000;
    let file = records(count, 150, true);
    let bytes = file.as_file().metadata().expect("a size").len();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| read_queries(&file, count, 150));
}

#[divan::bench(sample_count = 10)]
fn read_fasta_references(bencher: Bencher) {
    let count = 200_000;
    let file = records(count, 250, false);
    let bytes = file.as_file().metadata().expect("a size").len();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        let mut reader = Reader::open(file.path()).expect("a file");
        let references = read_references(&mut reader, None).expect("sound records");
        assert_eq!((references.names.len(), references.sequences.codes().len()), (count, count * 250));
        references
    });
}

/// A run against `count` short targets, for the writer: its options, the targets' names and codes.
fn writing(count: usize) -> (Options, Vec<String>, Arc<Sequences>) {
    let options = Options {
        mode: Mode::Pairs,
        query: "reads.fq".into(),
        reference: "targets.fa".into(),
        mates: Default::default(),
        insert: None,
        output: None,
        format: Format::Sam,
        alphabet: None,
        scoring: ScoringChoice::default(),
        both_strands: true,
        min_score: None,
        secondary_ratio: 0.8,
        max_hits: 1,
        part: None,
        ref_part: None,
        resume: false,
        filter: FilterChoice::Auto,
        packed: false,
        reads_as_reference: false,
        rename_references: false,
        device: DeviceChoice::Cpu(None),
        threads: 1,
        batch: None,
        eqx: false,
        read_group: None,
        command_line: "swalign pairs reads.fq targets.fa".into(),
        verbosity: 0,
        report: None,
        stats: None,
        checked_shaders: false,
    };
    let names = (0..count).map(|target| format!("target_{target}")).collect();
    let letters = codes(250 + count, 11);
    let targets = (0..count).map(|target| &letters[target..target + 250]).collect();
    (options, names, Arc::new(targets))
}

fn sam_writer((options, names, targets): (Options, Vec<String>, Arc<Sequences>)) -> Writer {
    Writer::new(&options, (20, None), Arc::new(Scoring::dna(1, 4, 6, 1)), NamedTargets::whole(names, targets))
        .expect("header")
}

#[divan::bench(args = [200_000, 1_000_000], sample_count = 20)]
fn header_checked_and_made(bencher: Bencher, references: usize) {
    let run = writing(references);
    let whole = sam_writer(run.clone()).header().concat();
    assert_eq!(whole.iter().filter(|&&byte| byte == b'\n').count(), references + 4);
    let bytes = whole.len();
    bencher.counter(ItemsCount::new(references)).with_inputs(|| run.clone()).bench_local_values(|run| {
        let writer = sam_writer(run);
        let parts = writer.header();
        assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), bytes);
        assert!(parts[1].starts_with(b"@SQ\tSN:target_0\tLN:250\n"));
        writer
    });
}

/// Reads of 150 letters with three mismatches and one gap, each on the target of its number.
fn aligned_reads(targets: &Sequences, qualities: bool) -> Vec<(Record, Found)> {
    let letters = b"ACGT";
    let read = |(target, codes): (usize, &[u8])| {
        let mut codes = [&codes[40..110], &codes[112..192]].concat();
        for place in [20, 77, 131] {
            codes[place] = (codes[place] + 1) & 3;
        }
        let record = Record {
            number: target as u64 + 1,
            name: format!("read_{target}"),
            sequence: codes.iter().map(|&code| letters[usize::from(code)]).collect(),
            qualities: qualities
                .then(|| (0..150).map(|place| b'!' + (place + target % 40) as u8 % 41).collect()),
        };
        let alignment = Alignment {
            strand: Strand::Forward,
            target: target as u32,
            score: 127,
            query_start: 0,
            query_end: 150,
            target_start: 40,
            target_end: 192,
            cigar: smallvec![(70, Op::Match), (2, Op::Deletion), (80, Op::Match)],
        };
        (record, Found { alignments: vec![alignment], second: None, threshold: 102, mated: None })
    };
    targets.iter().enumerate().map(read).collect()
}

/// As the pipeline makes BAM: groups of queries, each packed into blocks of its own; raw bytes are counted.
#[divan::bench(args = [false, true], sample_count = 10)]
fn records_packed(bencher: Bencher, packed: bool) {
    let (options, names, targets) = writing(50_000);
    let (queries, found): (Vec<_>, Vec<_>) = aligned_reads(&targets, true).into_iter().unzip();
    let writer = sam_writer((Options { format: Format::Bam, ..options }, names, targets));
    let raw = || writer.records(&queries, &found).expect("records").len();
    let parts = || -> usize {
        let mut joint = writer.joint().expect("blocks");
        let parts = writer.parts(None, &queries, &found).expect("parts");
        parts.into_iter().map(|part| joint.add(part).expect("blocks").len()).sum()
    };
    let make: &dyn Fn() -> usize = if packed { &parts } else { &raw };
    let bytes = make();
    assert!(if packed { bytes < raw() } else { bytes > 300 * queries.len() });
    bencher
        .counter(ItemsCount::new(queries.len()))
        .counter(BytesCount::new(raw()))
        .bench_local(|| assert_eq!(make(), bytes));
}

/// As the pipeline formats them: so many queries into a text of their own.
#[divan::bench(args = [false, true], sample_count = 20)]
fn records_formatted(bencher: Bencher, qualities: bool) {
    let run = writing(100_000);
    let (queries, found): (Vec<_>, Vec<_>) = aligned_reads(&run.2, qualities).into_iter().unzip();
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
    bencher.counter(ItemsCount::new(queries.len())).bench_local(|| {
        let mut bytes = 0;
        format(&mut |text| bytes += text.len());
        assert_eq!(bytes, whole.len());
    });
}

#[divan::bench]
fn differences_of_reads(bencher: Bencher) {
    let (_, _, targets) = writing(10_000);
    let reads = aligned_reads(&targets, false);
    bencher.counter(ItemsCount::new(reads.len())).bench_local(|| {
        let (mut differences, residues) = (EditTags::default(), Residues::new(Alphabet::Dna));
        for ((record, found), target) in reads.iter().zip(targets.iter()) {
            differences.find(&residues, &record.sequence, target, &found.alignments[0]);
            assert_eq!(differences.edits, 5);
        }
    });
}
