//! Throughput of cutting by fingerprints: `cargo bench --bench fingerprints -- [DEVICE] [mega=N] [mean=N] [threads=N]`, and
//! what all benchmarks take (common/mod.rs).
//!
//! The text is random, of N million letters (default: 256), in memory at a byte a letter; chunks have 4096 letters in the
//! mean, or `mean`, a power of two. Without a device all ways on the CPU are measured: the specification (on a part of
//! the text), letter by letter, the instruction sets of this processor, and two crates: gearhash finds the same cuts, by a
//! table made for it, and fastcdc finds its own, with a least and a most length besides. On a GPU the text is sent once,
//! at four bits a letter for DNA and at a byte for both; amounts are bits of the text as it lies there, so that rates are
//! Gbit/s, and kernel time has no transfers. All cuts are held against those letter by letter, and these in the text's
//! start against the specification's.

mod common;

use common::random::Random;
use common::{Bench, Device, Row};
use swalign::align::fingerprints::gpu::OnGpu;
use swalign::align::fingerprints::{Kind, Rule, cores, plain, rolling};
use swalign::engine::cpu::simd::InstructionSet;
use swalign::engine::gpu::layout::Letters;
use swalign::terms::alphabet::Alphabet;

/// Letters of the text's start, whose cuts are compared with the specification's.
const CHECKED: usize = 1_000_000;

const WORKS: [(&str, Kind, Alphabet, usize); 8] = [
    ("rabin 32 dna", Kind::Rabin, Alphabet::Dna, 32),
    ("rabin 48 dna", Kind::Rabin, Alphabet::Dna, 48),
    ("rabin 64 dna", Kind::Rabin, Alphabet::Dna, 64),
    ("rabin 256 dna", Kind::Rabin, Alphabet::Dna, 256),
    ("rabin 32 protein", Kind::Rabin, Alphabet::Protein, 32),
    ("rabin 48 protein", Kind::Rabin, Alphabet::Protein, 48),
    ("gear dna", Kind::Gear, Alphabet::Dna, 32),
    ("gear protein", Kind::Gear, Alphabet::Protein, 32),
];

/// A text, the rule that cuts it, and its cuts.
struct Work {
    name: &'static str,
    rule: Rule,
    text: Vec<u8>,
    cuts: Vec<usize>,
}

fn letter_by_letter(text: &[u8], rule: &Rule) -> Vec<usize> {
    let mut cuts = Vec::new();
    rolling::cuts(text, 0..text.len(), rule, |cut| cuts.push(cut));
    cuts
}

impl Work {
    fn new(bench: &Bench, (name, kind, alphabet, window): (&'static str, Kind, Alphabet, usize)) -> Work {
        let rule = Rule::new(kind, alphabet, window, bench.number("mean", 4096)).expect("a rule");
        let len = bench.number("mega", bench.either(256, 4)) * 1_000_000;
        // A base in a thousand is none.
        let mut random = Random::new(1);
        let letter = |random: &mut Random| match alphabet {
            Alphabet::Dna if random.below(1000) == 0 => 14,
            Alphabet::Dna => random.below(4) as u8,
            Alphabet::Protein => random.below(20) as u8,
        };
        let text: Vec<u8> = (0..len).map(|_| letter(&mut random)).collect();
        let cuts = letter_by_letter(&text, &rule);
        let checked = &text[..CHECKED.min(len)];
        let few = cuts.partition_point(|&cut| cut <= checked.len());
        assert!(plain::cuts(checked, &rule) == cuts[..few] && few > 0, "{name}: other cuts");
        Work { name, rule, text, cuts }
    }

    /// A row of letters by one way on the CPU.
    fn row(&self, bench: &mut Bench, by: &str, text: &[u8], cut: impl Fn(&[u8]) -> Vec<usize>) {
        let (cuts, times) = bench.rounds.time(|| cut(text));
        let few = self.cuts.partition_point(|&cut| cut <= text.len());
        assert!(cuts == self.cuts[..few], "{}, {by}: other cuts", self.name);
        let note = format!("{} cuts", cuts.len());
        bench.print(&Row { work: self.name, by, amount: text.len(), unit: "letters", note }, &times);
    }

    /// The crate gearhash looks for zeros where a rule looks for ones: with a number less 1, negated, for each letter the
    /// hash is the complement. Its hash of 64 bits has ours in its lower half.
    fn by_gearhash(&self, bench: &mut Bench) {
        let entering = self.rule.entering();
        let number = |code: usize| u64::from(1u32.wrapping_sub(entering[code % entering.len()]));
        let table: gearhash::Table = std::array::from_fn(number);
        let mask = u64::from(self.rule.mask());
        self.row(bench, "gearhash", &self.text, |text| {
            let mut hasher = gearhash::Hasher::new(&table);
            let (mut cuts, mut at) = (Vec::new(), 0);
            while let Some(len) = hasher.next_match(&text[at..], mask) {
                at += len;
                cuts.extend((at >= self.rule.window()).then_some(at));
            }
            cuts
        });
    }

    /// Chunks of the same length in the mean; there is nothing to compare them with.
    fn by_fastcdc(&self, bench: &mut Bench) {
        let mean = self.rule.mean();
        let (chunks, times) = bench.rounds.time(|| {
            let chunks = fastcdc::v2020::FastCDC::new(&self.text, mean / 4, mean, mean * 8);
            chunks.map(|chunk| chunk.length).collect::<Vec<_>>()
        });
        assert_eq!(chunks.iter().sum::<usize>(), self.text.len(), "fastcdc leaves letters out");
        let note = format!("{} cuts of its own", chunks.len());
        let (work, amount) = (self.name, self.text.len());
        bench.print(&Row { work, by: "fastcdc", amount, unit: "letters", note }, &times);
    }

    fn on_gpu(&self, bench: &mut Bench, gpu: &mut OnGpu) {
        let is_dna = self.rule.alphabet() == Alphabet::Dna;
        for letters in [Letters::Nucleotides, Letters::Codes] {
            if letters == Letters::Nucleotides && !is_dna {
                continue;
            }
            let text = gpu.load(&self.text, letters).expect("a text on the device");
            let cut = |gpu: &mut OnGpu, ()| gpu.cuts(&text, &self.rule).expect("cuts");
            let (cuts, times) = bench.rounds.time_on(gpu, || (), cut, OnGpu::kernel_time);
            assert!(cuts == self.cuts, "{}, {letters:?}: other cuts", self.name);
            let bits = letters.bits() as usize;
            let note = format!("{} cuts, {} letters of {bits} bits", cuts.len(), self.text.len());
            let amount = self.text.len() * bits;
            bench.print(&Row { work: self.name, by: "gpu", amount, unit: "bits", note }, &times);
        }
    }
}

fn on_cores(bench: &mut Bench, work: &Work, sets: &[InstructionSet]) {
    let part = &work.text[..work.text.len().min(8 * CHECKED)];
    work.row(bench, "plain", part, |text| plain::cuts(text, &work.rule));
    work.row(bench, "rolling", &work.text, |text| letter_by_letter(text, &work.rule));
    for &set in sets {
        work.row(bench, set.name(), &work.text, |text| cores::cuts(set, text, &work.rule));
    }
    if work.rule.kind() == Kind::Gear {
        work.by_gearhash(bench);
        work.by_fastcdc(bench);
    }
}

fn main() {
    let mut bench = Bench::new(&[], &["threads", "mega", "mean"]);
    bench.use_threads();
    let sets = match &bench.device {
        Some(Device::Cpu(name)) => vec![Bench::set(name.as_deref())],
        _ => InstructionSet::available(),
    };
    let mut gpu = match &bench.device {
        Some(Device::Gpu(name)) => Some(OnGpu::new(Bench::card(name.as_deref()))),
        _ => None,
    };
    for work in WORKS {
        if bench.wants(work.0) {
            let work = Work::new(&bench, work);
            match &mut gpu {
                Some(gpu) => work.on_gpu(&mut bench, gpu),
                None => on_cores(&mut bench, &work, &sets),
            }
        }
    }
}
