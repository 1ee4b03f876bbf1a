//! Throughput of the scan for lines with errors, answers checked:
//! `cargo bench --bench grep -- [SET | gpu[:NAME]] [mib=N] [threads=N] [only=TEXT]`.
//!
//! SET is an instruction set (default: the best), NAME a GPU; the text is of N MiB (default: 256), in memory. Prints
//! giga bytes of text times patterns a second, the best of some calls; a time holds all from the text to the lines. On a GPU
//! the text goes in blocks, of which three are under way, and the last column is that of the kernels alone, by the
//! device's clock: the text is there, and its ends have not come back.

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use swalign::engine::cpu::simd::InstructionSet;
use swalign::engine::gpu::Card;
use swalign::grep::gpu::OnGpu;
use swalign::grep::pattern::{Pattern, Reading};
use swalign::grep::plain;
use swalign::grep::sliced::Sliced;
use swalign::search::Rule;

const CALLS: usize = 5;
/// As in the command.
const BLOCK: usize = 32 << 20;
const PIECE: usize = 512 << 10;
const UNDER_WAY: usize = 3;
/// Bytes of the text's start, in which the lines are compared with the specification's.
const CHECKED: usize = 500_000;
/// Bytes from one pattern to the next that is put there.
const PLANTED: usize = 20_011;

/// SplitMix64 (Steele et al. 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn pick(&mut self, items: &[u8]) -> u8 {
        items[(self.next() % items.len() as u64) as usize]
    }
}

struct Work {
    name: &'static str,
    patterns: usize,
    len: usize,
    rule: Rule,
}

const fn work(name: &'static str, patterns: usize, len: usize, max_edits: u32) -> Work {
    Work { name, patterns, len, rule: Rule { max_edits, indels: true } }
}

const WORKS: [Work; 12] = [
    work("one m=10 k=0", 1, 10, 0),
    work("one m=10 k=1", 1, 10, 1),
    work("one m=10 k=2", 1, 10, 2),
    work("one m=32 k=3", 1, 32, 3),
    Work { rule: Rule { max_edits: 3, indels: false }, ..work("one m=32 k=3 without gaps", 1, 32, 3) },
    work("one m=64 k=4", 1, 64, 4),
    work("one m=128 k=4", 1, 128, 4),
    work("one m=32 k=15", 1, 32, 15),
    work("one m=128 k=15", 1, 128, 15),
    work("one m=3 k=1: many lines", 1, 3, 1),
    work("10 of m=20 k=2", 10, 20, 2),
    work("100 of m=20 k=2", 100, 20, 2),
];

/// Letters about as frequent as in prose.
const LETTERS: &[u8] =
    b"      eeeeeeeetttttaaaaaoooooiiiiinnnnnsssshhhhrrrrdddlllcccuuummmwwfffggyyppbvk,.THEAIx\r\xc3";

/// Lines of 0 to 127 letters, and patterns that are put there with a letter changed.
fn text_with(work: &Work, size: usize) -> (Vec<u8>, Vec<Pattern>) {
    let mut random = Random(1);
    let mut text = Vec::with_capacity(size);
    while text.len() < size {
        let len = (random.next() >> 57) as usize;
        text.extend((0..len.min(size - text.len() - 1)).map(|_| random.pick(LETTERS)));
        text.push(b'\n');
    }
    let reading = Reading { literal: true, any_case: false };
    let letters: Vec<Vec<u8>> =
        (0..work.patterns).map(|_| (0..work.len).map(|_| random.pick(LETTERS)).collect()).collect();
    for (number, place) in (0..size.saturating_sub(work.len)).step_by(PLANTED).enumerate() {
        let own = &mut text[place..place + work.len];
        own.copy_from_slice(&letters[number % letters.len()]);
        own[work.len / 2] = if work.rule.max_edits > 0 { b'X' } else { own[work.len / 2] };
    }
    let patterns = letters.iter().map(|letters| Pattern::new(letters, reading).expect("a pattern"));
    (text, patterns.collect())
}

/// Whole lines of `enough` bytes or a little more.
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

/// The first bytes of the lines that match.
fn on_cores(scan: &Sliced, text: &[u8]) -> Vec<usize> {
    let lines = |piece: std::ops::Range<usize>| {
        let begin = piece.start;
        scan.lines(&text[piece]).into_iter().map(move |line| begin + line.start).collect::<Vec<_>>()
    };
    cut(text, PIECE).into_par_iter().flat_map_iter(lines).collect()
}

fn on_gpu(scan: &OnGpu, text: &[u8]) -> Vec<usize> {
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
    Cores(InstructionSet),
    Gpu(std::sync::Arc<Card>),
}

fn row(backend: &Backend, work: &Work, size: usize) {
    let (text, patterns) = text_with(work, size);
    type Find<'a> = Box<dyn Fn(&[u8]) -> Vec<usize> + 'a>;
    let device = match backend {
        Backend::Gpu(card) => Some(OnGpu::new(card.clone(), &patterns, work.rule).expect("kernels")),
        Backend::Cores(_) => None,
    };
    let cores = match backend {
        Backend::Cores(set) => Some(Sliced::new(*set, &patterns, work.rule)),
        Backend::Gpu(_) => None,
    };
    let find: Find = match (&device, &cores) {
        (Some(scan), _) => Box::new(move |text| on_gpu(scan, text)),
        (_, Some(scan)) => Box::new(move |text| on_cores(scan, text)),
        _ => return,
    };
    let kernels = || device.as_ref().map_or(Duration::ZERO, |scan| scan.device().kernel_time());
    let (mut best, mut best_kernels, mut lines) = (f64::INFINITY, f64::INFINITY, Vec::new());
    for _ in 0..CALLS {
        let (begun, before) = (Instant::now(), kernels());
        lines = find(&text);
        best = best.min(begun.elapsed().as_secs_f64());
        best_kernels = best_kernels.min((kernels() - before).as_secs_f64());
    }
    let checked = cut(&text, CHECKED.min(text.len() - 1)).swap_remove(0);
    let expected = plain::lines(&text[checked.clone()], &patterns, &work.rule);
    let found = lines.iter().copied().filter(|&line| line < checked.end);
    assert!(found.eq(expected.iter().map(|line| line.start)), "{}: other lines", work.name);
    assert!(lines.len() > text.len() / PLANTED / 2, "{}: {} lines", work.name, lines.len());
    let giga = (text.len() * work.patterns) as f64 / 1e9;
    let alone = if best_kernels > 0.0 { format!("{:10.2}", giga / best_kernels) } else { String::new() };
    let name = if device.is_some() { "gpu" } else { "cores" };
    let count = lines.len();
    println!("{name:8}{:32}{count:10}{best:10.4}{:10.2}{alone}", work.name, giga / best);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let value = |key: &str| arguments.iter().find_map(|argument| argument.strip_prefix(key));
    let number = |key: &str, otherwise| value(key).map_or(otherwise, |text| text.parse().expect("a number"));
    ThreadPoolBuilder::new().num_threads(number("threads=", 1)).build_global().expect("threads");
    let size = number("mib=", 256) << 20;
    let backend = match arguments.iter().find(|argument| !argument.contains('=')) {
        Some(name) if name.starts_with("gpu") => {
            Backend::Gpu(Card::open(name.strip_prefix("gpu:"), false).expect("a GPU"))
        }
        Some(name) => Backend::Cores(InstructionSet::named(name).expect("a set of this processor")),
        None => Backend::Cores(InstructionSet::best()),
    };
    println!("{:8}{:32}{:>10}{:>10}{:>10}{:>10}", "", "work", "lines", "seconds", "GB/s", "kernels");
    let only = value("only=").unwrap_or_default();
    WORKS.iter().filter(|work| work.name.contains(only)).for_each(|work| row(&backend, work, size));
}
