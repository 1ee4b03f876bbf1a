//! The host's stages, answers checked: `cargo bench --bench host`.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use std::io::{BufWriter, Write};
use std::sync::Arc;
use swalign::alignment::Strand;
use swalign::alphabet::Alphabet;
use swalign::backtrace::{self, Wanted};
use swalign::batch::{Batch, Pair, Sequences, counting_sort_descending};
use swalign::candidates::{self, Layout};
use swalign::engine::Engine;
use swalign::engine::cpu::Cpu;
use swalign::engine::gpu::layout::Letters;
use swalign::reader::{Queries, Reader, read_references};
use swalign::scoring::Scoring;
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
        let pairs: usize = (0..10_000).map(|read| candidates::pairs(&batch, &layout, read, 20).len()).sum();
        assert_eq!(pairs, 80_000);
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
