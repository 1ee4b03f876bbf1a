//! Throughput of the scan for lines that match with errors: `cargo bench --bench grep -- [DEVICE] [mib=N] [threads=N]`,
//! plus the arguments that all benchmarks share (common/mod.rs).
//!
//! The default device is the best instruction set. The text has N MiB (default: 256), in memory. Amounts are bytes of
//! text times patterns. Times include everything from the text to the lines. A GPU processes the text in blocks, three
//! of them concurrently, and kernel time is that of the scan alone, without the transfers of text and ends. The lines
//! at the start of the text are compared with those of the specification.

mod common;

use common::random::Random;
use common::{Bench, Device, Row};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::time::Duration;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::patterns::lines::gpu::GpuLineScan;
use swalign::patterns::lines::pattern::{GrepPattern, PatternSyntax};
use swalign::patterns::lines::plain;
use swalign::patterns::lines::sliced::SlicedLineScan;
use swalign::patterns::search::MatchRule;

/// The sizes are those of the command.
const BLOCK: usize = 32 << 20;
const PIECE: usize = 512 << 10;
const UNDER_WAY: usize = 3;
/// Bytes at the start of the text whose lines are compared with those of the specification.
const CHECKED: usize = 500_000;
/// Distance in bytes between planted patterns.
const PLANTED: usize = 20_011;

struct Work {
    name: &'static str,
    patterns: usize,
    len: usize,
    rule: MatchRule,
}

const fn work(name: &'static str, patterns: usize, len: usize, max_edits: u32) -> Work {
    Work { name, patterns, len, rule: MatchRule { max_edits, indels: true } }
}

const WORKS: [Work; 12] = [
    work("one m=10 k=0", 1, 10, 0),
    work("one m=10 k=1", 1, 10, 1),
    work("one m=10 k=2", 1, 10, 2),
    work("one m=32 k=3", 1, 32, 3),
    Work { rule: MatchRule { max_edits: 3, indels: false }, ..work("one m=32 k=3 without gaps", 1, 32, 3) },
    work("one m=64 k=4", 1, 64, 4),
    work("one m=128 k=4", 1, 128, 4),
    work("one m=32 k=15", 1, 32, 15),
    work("one m=128 k=15", 1, 128, 15),
    work("one m=3 k=1: many lines", 1, 3, 1),
    work("10 of m=20 k=2", 10, 20, 2),
    work("100 of m=20 k=2", 100, 20, 2),
];

/// Bytes, with frequencies similar to those in prose.
const LETTERS: &[u8] =
    b"      eeeeeeeetttttaaaaaoooooiiiiinnnnnsssshhhhrrrrdddlllcccuuummmwwfffggyyppbvk,.THEAIx\r\xc3";

/// A text with lines of 0 to 127 bytes, and its patterns, which are planted with one byte changed if edits are allowed.
fn text_with(work: &Work, size: usize) -> (Vec<u8>, Vec<GrepPattern>) {
    let mut random = Random::new(1);
    let mut text = Vec::with_capacity(size);
    while text.len() < size {
        let len = (random.next() >> 57) as usize;
        text.extend((0..len.min(size - text.len() - 1)).map(|_| random.pick(LETTERS)));
        text.push(b'\n');
    }
    let reading = PatternSyntax { literal: true, any_case: false };
    let letters: Vec<Vec<u8>> =
        (0..work.patterns).map(|_| (0..work.len).map(|_| random.pick(LETTERS)).collect()).collect();
    for (number, place) in (0..size.saturating_sub(work.len)).step_by(PLANTED).enumerate() {
        let own = &mut text[place..place + work.len];
        own.copy_from_slice(&letters[number % letters.len()]);
        own[work.len / 2] = if work.rule.max_edits > 0 { b'X' } else { own[work.len / 2] };
    }
    let patterns = letters.iter().map(|letters| GrepPattern::new(letters, reading).expect("a pattern"));
    (text, patterns.collect())
}

/// Splits the text into ranges of whole lines, each of `enough` bytes or a little more.
fn cut(text: &[u8], enough: usize) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    let mut begin = 0;
    while begin < text.len() {
        let newline = text.get(begin + enough..).and_then(|rest| rest.iter().position(|&byte| byte == b'\n'));
        let end = newline.map_or(text.len(), |at| begin + enough + at + 1);
        ranges.push(begin..end);
        begin = end;
    }
    ranges
}

/// The offsets at which the matching lines start.
fn on_cores(scan: &SlicedLineScan, text: &[u8]) -> Vec<usize> {
    let lines = |piece: std::ops::Range<usize>| {
        let begin = piece.start;
        scan.lines(&text[piece]).into_iter().map(move |line| begin + line.start).collect::<Vec<_>>()
    };
    cut(text, PIECE).into_par_iter().flat_map_iter(lines).collect()
}

fn on_gpu(scan: &GpuLineScan, text: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut begun = VecDeque::new();
    let mut blocks = cut(text, BLOCK).into_iter();
    loop {
        while begun.len() < UNDER_WAY
            && let Some(block) = blocks.next()
        {
            begun.push_back((block.clone(), scan.begin(&text[block]).expect("a text under way")));
        }
        let Some((block, pending)) = begun.pop_front() else { return found };
        let begin = block.start;
        let block = &text[block];
        let ends = scan.finish(block, pending).expect("ends");
        let lines = |piece: std::ops::Range<usize>| {
            let begin = begin + piece.start;
            scan.lines(block, piece, &ends)
                .into_iter()
                .map(move |line| begin + line.start)
                .collect::<Vec<_>>()
        };
        found.par_extend(cut(block, PIECE).into_par_iter().flat_map_iter(lines));
    }
}

enum Backend {
    Cores(SlicedLineScan),
    Gpu(GpuLineScan),
}

impl Backend {
    fn new(device: &Option<Device>, patterns: &[GrepPattern], rule: MatchRule) -> Backend {
        let set = match device {
            Some(Device::Gpu(name)) => {
                let card = Bench::card(name.as_deref());
                return Backend::Gpu(GpuLineScan::new(card, patterns, rule).expect("kernels"));
            }
            Some(Device::Cpu(name)) => Bench::set(name.as_deref()),
            None => InstructionSet::best(),
        };
        Backend::Cores(SlicedLineScan::new(set, patterns, rule))
    }

    fn lines(&self, text: &[u8]) -> Vec<usize> {
        match self {
            Backend::Cores(scan) => on_cores(scan, text),
            Backend::Gpu(scan) => on_gpu(scan, text),
        }
    }

    fn kernel_time(&self) -> Duration {
        match self {
            Backend::Cores(_) => Duration::ZERO,
            Backend::Gpu(scan) => scan.device().kernel_time(),
        }
    }
}

fn row(bench: &mut Bench, work: &Work) {
    let (text, patterns) = text_with(work, bench.number("mib", bench.sized(256)) << 20);
    let mut backend = Backend::new(&bench.device, &patterns, work.rule);
    let find = |backend: &mut Backend, ()| backend.lines(&text);
    let (lines, times) = bench.rounds.time_on(&mut backend, || (), find, Backend::kernel_time);
    let checked = cut(&text, CHECKED.min(text.len() - 1)).swap_remove(0);
    let expected = plain::lines(&text[checked.clone()], &patterns, &work.rule);
    let found = lines.iter().copied().filter(|&line| line < checked.end);
    assert!(found.eq(expected.iter().map(|line| line.start)), "{}: other lines", work.name);
    assert!(lines.len() > text.len() / PLANTED / 2, "{}: {} lines", work.name, lines.len());
    let by = if matches!(backend, Backend::Gpu(_)) { "gpu" } else { "cpu" };
    let (amount, note) = (text.len() * work.patterns, format!("{} lines", lines.len()));
    bench.print(&Row { work: work.name, by, amount, unit: "bytes", note }, &times);
}

fn main() {
    let mut bench = Bench::new(&[], &["threads", "mib"]);
    bench.use_threads();
    for work in &WORKS {
        if bench.wants(work.name) {
            row(&mut bench, work);
        }
    }
}
