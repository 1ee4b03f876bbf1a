//! Throughput of cutting by fingerprints: `cargo bench --bench fingerprints -- [DEVICE] [mega=N] [mean=N] [threads=N]`,
//! plus the arguments that all benchmarks share (common/mod.rs).
//!
//! The text consists of N million random residues (default: 256), one byte each, in memory. The average chunk length is
//! `mean`, a power of two (default: 4096). On the CPU, the rows measure the specification (on a part of the text), the
//! rolling hash one residue after the other, the instruction sets (by default all of this processor), and for gear
//! rules two crates. gearhash gets a table that makes it find the same cuts. fastcdc finds other cuts, and limits the
//! chunk length from below and above.
//!
//! On a GPU the text is uploaded once, with four bits per base for DNA and also with one byte per residue. Amounts are
//! bits of the resident text, so rates are Gbit/s, and kernel time excludes transfers. All cuts are compared with those
//! of the rolling hash, whose cuts at the start of the text are compared with those of the specification.

mod common;

use common::random::Random;
use common::{Bench, Device, Row};
use swalign::align::fingerprints::gpu::GpuCutter;
use swalign::align::fingerprints::{CutRule, WindowHash, cores, plain, rolling};
use swalign::engine::cpu::simd::InstructionSet;
use swalign::engine::gpu::layout::ResiduePacking;
use swalign::terms::alphabet::Alphabet;

/// Residues at the start of the text whose cuts are compared with those of the specification.
const CHECKED: usize = 1_000_000;

const WORKS: [(&str, WindowHash, Alphabet, usize); 8] = [
    ("rabin 32 dna", WindowHash::Rabin, Alphabet::Dna, 32),
    ("rabin 48 dna", WindowHash::Rabin, Alphabet::Dna, 48),
    ("rabin 64 dna", WindowHash::Rabin, Alphabet::Dna, 64),
    ("rabin 256 dna", WindowHash::Rabin, Alphabet::Dna, 256),
    ("rabin 32 protein", WindowHash::Rabin, Alphabet::Protein, 32),
    ("rabin 48 protein", WindowHash::Rabin, Alphabet::Protein, 48),
    ("gear dna", WindowHash::Gear, Alphabet::Dna, 32),
    ("gear protein", WindowHash::Gear, Alphabet::Protein, 32),
];

/// A text, the rule that cuts it, and its cuts.
struct Work {
    name: &'static str,
    rule: CutRule,
    text: Vec<u8>,
    cuts: Vec<usize>,
}

fn letter_by_letter(text: &[u8], rule: &CutRule) -> Vec<usize> {
    let mut cuts = Vec::new();
    rolling::cuts(text, 0..text.len(), rule, |cut| cuts.push(cut));
    cuts
}

impl Work {
    fn new(
        bench: &Bench,
        (name, kind, alphabet, window): (&'static str, WindowHash, Alphabet, usize),
    ) -> Work {
        let rule = CutRule::new(kind, alphabet, window, bench.number("mean", 4096)).expect("a rule");
        let len = bench.number("mega", bench.either(256, 4)) * 1_000_000;
        // One code in a thousand is not a base.
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

    /// Prints the row of a CPU implementation. Amounts are residues.
    fn row(&self, bench: &mut Bench, by: &str, text: &[u8], cut: impl Fn(&[u8]) -> Vec<usize>) {
        let (cuts, times) = bench.rounds.time(|| cut(text));
        let few = self.cuts.partition_point(|&cut| cut <= text.len());
        assert!(cuts == self.cuts[..few], "{}, {by}: other cuts", self.name);
        let note = format!("{} cuts", cuts.len());
        bench.print(&Row { work: self.name, by, amount: text.len(), unit: "letters", note }, &times);
    }

    /// Uses the gearhash crate, which cuts if the masked bits of its hash are zeros. A rule cuts if they are ones. With
    /// each table entry x replaced by 1 - x, the hash becomes its complement. The lower half of the crate's 64-bit hash
    /// is the 32-bit hash of the rule.
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

    /// Uses the fastcdc crate with the same average chunk length. Its cuts differ, so they are not compared.
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

    fn on_gpu(&self, bench: &mut Bench, gpu: &mut GpuCutter) {
        let is_dna = self.rule.alphabet() == Alphabet::Dna;
        for letters in [ResiduePacking::Nucleotides, ResiduePacking::Codes] {
            if letters == ResiduePacking::Nucleotides && !is_dna {
                continue;
            }
            let text = gpu.load(&self.text, letters).expect("a text on the device");
            let cut = |gpu: &mut GpuCutter, ()| gpu.cuts(&text, &self.rule).expect("cuts");
            let (cuts, times) = bench.rounds.time_on(gpu, || (), cut, GpuCutter::kernel_time);
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
    if work.rule.kind() == WindowHash::Gear {
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
        Some(Device::Gpu(name)) => Some(GpuCutter::new(Bench::card(name.as_deref()))),
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
