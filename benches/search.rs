//! Throughput of the scan for patterns with errors: `cargo bench --bench search -- [DEVICE] [threads=N] [swept]
//! [mega=N] [guides=N]`, plus the arguments that all benchmarks share (common/mod.rs).
//!
//! The default devices are all instruction sets of this processor. Amounts are bases of text times patterns; a pattern
//! and its reverse complement count as two. The text is random and in memory, packed like the text from a command's
//! reader. Times include everything from there to sorted ends. The note gives the time of packing the text once, from
//! one byte per base. On a GPU, kernel time is that of the sweeps alone, without the transfers of text and ends. For a
//! few patterns, the ends at the start of the text are compared with those of the specification. With `swept`, patterns
//! are swept even if they would be looked up.
//!
//! Rows of guides search N guides of 20 bases (default: 312) next to a PAM, on both strands and with three edits, in N
//! million bases (default: 100), as a database stores them. Times include everything from there to sorted anchors, and
//! building the tables. The anchors at the start of the text are compared with those of the specification. With
//! `swept`, anchors are filtered from the ends of a sweep. Both ways print the same checksum.

mod common;

use common::random::{Random, mix};
use common::{Bench, Device, Row};
use std::time::{Duration, Instant};
use swalign::engine::cpu::simd::InstructionSet;
use swalign::patterns::search::codes::TextCodes;
use swalign::patterns::search::exact::Exact;
use swalign::patterns::search::gpu::{GpuScan, OnCard};
use swalign::patterns::search::hits::HitOptions;
use swalign::patterns::search::pam::Pam;
use swalign::patterns::search::pattern::SearchPattern;
use swalign::patterns::search::plain::PlainScan;
use swalign::patterns::search::room::EndCapacity;
use swalign::patterns::search::sites::{PamSites, TextPart};
use swalign::patterns::search::sliced::SlicedScan;
use swalign::patterns::search::stream::TextEnd;
use swalign::patterns::search::{EndScan, MatchRule, PatternEnd};
use swalign::terms::alignment::Strands;
use swalign::terms::options::PamSide;

/// Bases at the start of the text in which the ends of a few patterns are compared with those of the specification.
const CHECKED: usize = 1_000_000;
const CHECKED_PATTERNS: usize = 4;
/// Distance in bases between planted patterns.
const PLANTED: usize = 200_003;

struct Work {
    name: &'static str,
    letters: usize,
    patterns: usize,
    len: usize,
    max_edits: u32,
    indels: bool,
}

const fn work(name: &'static str, letters: usize, patterns: usize, len: usize, max_edits: u32) -> Work {
    Work { name, letters, patterns, len, max_edits, indels: true }
}

const WORKS: [Work; 20] = [
    work("one m=20 k=3 of a text in the cache", 1_000_000, 1, 20, 3),
    work("one m=20 k=1", 100_000_000, 1, 20, 1),
    work("one m=20 k=2", 100_000_000, 1, 20, 2),
    work("one m=20 k=3", 100_000_000, 1, 20, 3),
    work("one m=32 k=3", 100_000_000, 1, 32, 3),
    work("one m=64 k=3", 100_000_000, 1, 64, 3),
    work("one m=256 k=20", 100_000_000, 1, 256, 20),
    Work { indels: false, ..work("one m=20 k=3 without gaps", 100_000_000, 1, 20, 3) },
    work("1000 and reverse m=20 k=3", 10_000_000, 2000, 20, 3),
    Work { indels: false, ..work("1000 and reverse m=20 k=3 without gaps", 10_000_000, 2000, 20, 3) },
    work("100000 m=20 k=2", 100_000, 100_000, 20, 2),
    work("1000 of m=12 k=2: many ends", 1_000_000, 1000, 12, 2),
    work("10 of m=1024 k=100", 10_000_000, 10, 1024, 100),
    work("1000 m=20 k=0", 100_000_000, 1000, 20, 0),
    work("10000 m=20 k=0", 100_000_000, 10_000, 20, 0),
    work("100000 m=20 k=0", 100_000_000, 100_000, 20, 0),
    Work { indels: false, ..work("1000 m=16 k=1 without gaps", 4_000_000, 1000, 16, 1) },
    Work { indels: false, ..work("10000 m=16 k=1 without gaps", 4_000_000, 10_000, 16, 1) },
    Work { indels: false, ..work("100000 m=16 k=1 without gaps", 4_000_000, 100_000, 16, 1) },
    Work { indels: false, ..work("1000000 m=16 k=1 without gaps", 4_000_000, 1_000_000, 16, 1) },
];

/// PAMs of the rows of guides.
const PAMS: [&str; 3] = ["NGG", "NNGRRT", "N"];
/// Bases at the start of the text in which all anchors of guides are compared with those of the specification.
const CHECKED_SITES: usize = 50_000;
const GUIDE: usize = 20;

/// Additional rows for GPUs, too long for the CPU.
const LONG: [Work; 3] = [
    work("one m=20 k=2 of a long text", 1_000_000_000, 1, 20, 2),
    work("96 of m=24 k=3", 100_000_000, 96, 24, 3),
    work("1000 and reverse m=20 k=3 of a long text", 100_000_000, 2000, 20, 3),
];

enum Backend {
    Cores(InstructionSet, Box<dyn EndScan>),
    Gpu(Box<GpuScan>),
}

impl Backend {
    fn on_cores(set: InstructionSet, swept: bool) -> Backend {
        Backend::Cores(set, if swept { Box::new(SlicedScan::on(set)) } else { Box::new(Exact::on(set)) })
    }

    fn on_gpu(name: Option<&str>) -> Backend {
        let card = OnCard::new(Bench::card(name));
        Backend::Gpu(Box::new(GpuScan::new(card, SlicedScan::on(InstructionSet::best()), false)))
    }

    fn name(&self) -> &str {
        match self {
            Backend::Cores(set, _) => set.name(),
            Backend::Gpu(_) => "gpu",
        }
    }

    fn ends(&self, text: &TextCodes, patterns: &[Vec<u8>], rule: &MatchRule) -> Vec<PatternEnd> {
        let ends = match self {
            Backend::Cores(_, scan) => scan.scan(text, patterns, rule),
            Backend::Gpu(scan) => scan.scan(text, patterns, rule),
        };
        ends.expect("ends")
    }

    /// Time that the device has spent in sweeps.
    fn kernel_time(&self) -> Duration {
        match self {
            Backend::Cores(..) => Duration::ZERO,
            Backend::Gpu(scan) => scan.device().kernel_time(),
        }
    }
}

/// The text and the patterns of a row.
fn input(bench: &Bench, work: &Work) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut random = Random::new(1);
    let mut text = random.codes(bench.sized(work.letters), 4);
    let mut pattern = || random.codes(work.len, 4).iter().map(|code| 1 << code).collect();
    let patterns: Vec<Vec<u8>> = (0..bench.sized(work.patterns)).map(|_| pattern()).collect();
    if work.max_edits == 0 || !work.indels && work.max_edits == 1 || bench.is_small {
        // Without planted patterns, the checked part would contain no ends to compare.
        let places = (0..bench.sized(CHECKED)).step_by(PLANTED);
        for (pattern, at) in patterns.iter().take(CHECKED_PATTERNS).zip(places) {
            for (letter, class) in text[at..].iter_mut().zip(pattern) {
                *letter = class.trailing_zeros() as u8;
            }
        }
    }
    (text, patterns)
}

fn row(bench: &mut Bench, backend: &mut Backend, work: &Work) {
    let (text, patterns) = input(bench, work);
    let rule = MatchRule { max_edits: work.max_edits, indels: work.indels };
    let begun = Instant::now();
    let codes = TextCodes::of(&text);
    let packing = begun.elapsed().as_secs_f64();
    let scan = |backend: &mut Backend, ()| backend.ends(&codes, &patterns, &rule);
    let (ends, times) = bench.rounds.time_on(backend, || (), scan, Backend::kernel_time);
    let checked = text.len().min(bench.sized(CHECKED));
    let few = patterns.len().min(CHECKED_PATTERNS);
    let expected = PlainScan.scan(&TextCodes::of(&text[..checked]), &patterns[..few], &rule).expect("ends");
    let found = ends.iter().filter(|end| (end.pattern as usize) < few && end.end as usize <= checked);
    assert!(found.eq(&expected), "{}: other ends", work.name);
    // A checksum to compare with the ends of other programs (scripts/benchmarks/sassy).
    let hashed =
        |end: &PatternEnd| mix(u64::from(end.pattern) << 40 | u64::from(end.end) << 8 | u64::from(end.edits));
    let sum = ends.iter().map(hashed).fold(0, u64::wrapping_add);
    let note = format!("{} ends, sum {sum:016x}, packed in {packing:.4} s", ends.len());
    let (by, amount) = (backend.name(), text.len() * patterns.len());
    bench.print(&Row { work: work.name, by, amount, unit: "letters", note }, &times);
}

/// Guides, and a text that contains near copies of them, each next to an NGG PAM.
fn guides(bench: &Bench) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut random = Random::new(3);
    let mut text = random.codes(bench.sized(1_000_000 * bench.number("mega", 100)), 4);
    let mut patterns = Vec::new();
    let count = bench.either(bench.number("guides", 312), 40);
    for number in 0..count {
        let letters: Vec<u8> =
            random.codes(GUIDE, 4).iter().map(|&code| b"ACGT"[usize::from(code)]).collect();
        let pattern = SearchPattern::new(String::new(), &letters).expect("bases");
        for (classes, pam_before) in [(pattern.classes(), false), (pattern.reverse_classes(), true)] {
            let mut own: Vec<u8> = classes.iter().map(|class| class.trailing_zeros() as u8).collect();
            own[random.below(GUIDE)] = random.below(4) as u8;
            // AGG after a guide, or CCA before the reverse complement of a guide.
            let own =
                if pam_before { [&[1, 1, 0], &own[..]].concat() } else { [&own[..], &[0, 2, 2]].concat() };
            let room = if number % 2 == 0 { text.len() } else { text.len().min(CHECKED_SITES) };
            let at = random.below(room - own.len());
            text[at..at + own.len()].copy_from_slice(&own);
            patterns.push(classes);
        }
    }
    (text, patterns)
}

fn guide_row(bench: &mut Bench, set: InstructionSet, pam: &str, (text, patterns): (&[u8], &[Vec<u8>])) {
    let wanted = HitOptions {
        rule: MatchRule { max_edits: 3, indels: true },
        rate: None,
        limits: None,
        pam: Some(Pam::new(pam.as_bytes(), PamSide::Three).expect("IUPAC codes")),
        every_end: false,
        best: false,
        first: false,
        strands: Strands::Both,
        before: 0,
    }
    .reaching(patterns.iter().map(Vec::len));
    // With a share of 0, all guides are swept.
    let swept = bench.has("swept");
    let all_swept = || PamSites::within(set, &wanted, patterns, (1 << 16, 0.0)).expect("guides");
    let make = || match swept {
        true => all_swept(),
        false => PamSites::new(set, &wanted, patterns).unwrap_or_else(all_swept),
    };
    let sweep = SlicedScan::on(set);
    let anchors = |sites: &PamSites, scan: &dyn EndScan, codes: &[u8]| {
        // A batch of a command on 16 threads has the same number of bases.
        let parts = (0..codes.len()).step_by(1 << 26).map(|from| {
            let own = from..codes.len().min(from + (1 << 26));
            let part = TextPart { text: 0, codes, own };
            let (letters, room) = (codes.len() as u64, EndCapacity::unlimited());
            sites.anchors(scan, patterns, &[part], letters, &room).expect("anchors")
        });
        let mut all: Vec<TextEnd> = parts.flatten().collect();
        all.sort_unstable();
        all
    };
    let (found, times) = bench.rounds.time(|| anchors(&make(), &sweep, text));
    let checked = text.len().min(CHECKED_SITES);
    let is_checked = |anchor: &&TextEnd| anchor.end + 2 * GUIDE < checked;
    let expected = anchors(&all_swept(), &PlainScan, &text[..checked]);
    assert!(found.iter().filter(is_checked).eq(expected.iter().filter(is_checked)), "{pam}: other anchors");
    assert!(expected.len() > 20, "{pam}: {} anchors", expected.len());
    let hashed =
        |end: &TextEnd| mix(u64::from(end.pattern) << 40 | (end.end as u64) << 8 | u64::from(end.edits));
    let sum = found.iter().map(hashed).fold(0, u64::wrapping_add);
    let note = format!("{} anchors, sum {sum:016x}{}", found.len(), if swept { ", swept" } else { "" });
    let work = format!("guides beside {pam}, {}", patterns.len() / 2);
    let amount = text.len() * patterns.len();
    bench.print(&Row { work: &work, by: set.name(), amount, unit: "letters", note }, &times);
}

/// Runs the rows of guides.
fn guide_rows(bench: &mut Bench, sets: &[InstructionSet]) {
    let wanted: Vec<&str> =
        PAMS.into_iter().filter(|pam| bench.wants(&format!("guides beside {pam}"))).collect();
    if wanted.is_empty() {
        return;
    }
    let (text, patterns) = guides(bench);
    for &set in sets {
        for pam in &wanted {
            guide_row(bench, set, pam, (&text, &patterns));
        }
    }
}

fn main() {
    let mut bench = Bench::new(&["swept"], &["threads", "mega", "guides"]);
    bench.use_threads();
    let swept = bench.has("swept");
    let backends = match &bench.device {
        Some(Device::Gpu(name)) => vec![Backend::on_gpu(name.as_deref())],
        Some(Device::Cpu(name)) => vec![Backend::on_cores(Bench::set(name.as_deref()), swept)],
        None => InstructionSet::available().into_iter().map(|set| Backend::on_cores(set, swept)).collect(),
    };
    let sets = backends.iter().filter_map(|backend| match backend {
        Backend::Cores(set, _) => Some(*set),
        Backend::Gpu(_) => None,
    });
    guide_rows(&mut bench, &sets.collect::<Vec<_>>());
    for mut backend in backends {
        let long = if matches!(backend, Backend::Gpu(_)) { &LONG[..] } else { &[] };
        for work in WORKS.iter().chain(long) {
            if bench.wants(work.name) {
                row(&mut bench, &mut backend, work);
            }
        }
    }
}
