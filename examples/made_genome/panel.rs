//! Panels of alleles, as those of HLA genes, and reads of a sample that has two alleles of each gene.
//!
//! A gene is a family: its first allele is random, and each further one is a copy of one of the first few alleles with a few
//! substitutions and sometimes an insertion or a deletion. So most alleles of a gene differ by 0.1 to 3 %, and many share long
//! stretches. The alleles of a gene are a function of the seed and the gene's number.

use crate::copies::reverse_complement;
use crate::failure::Failure;
use crate::fragments::ReadOptions;
use crate::numbers::{to_f64, to_u64, to_usize, whole};
use crate::output::Output;
use crate::random::{Geometric, Purpose, Random};
use crate::reads::{Mate, ReadOutputs};

/// Bases of the first allele of a gene.
const ALLELE_BASES: (u64, u64) = (1_000, 3_500);
/// Substitutions per base in a copy, in thousandths of a percent.
const SUBSTITUTIONS: (u64, u64) = (50, 800);
/// Alleles of a gene that others are copies of.
const FOUNDERS: usize = 8;
/// A copy has an insertion or a deletion with this probability.
const INDEL: f64 = 0.2;
const LONGEST_INDEL: u64 = 6;
/// Bases that are written at once.
const TEXT_BASES: usize = 1 << 20;

/// Size of a panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanelOptions {
    pub alleles: u64,
    pub genes: u64,
    /// Coverage of each allele of the sample, if the number of pairs is not given.
    pub depth: u64,
}

/// A panel of alleles.
pub struct Panel {
    seed: u64,
    options: PanelOptions,
}

impl Panel {
    pub fn new(seed: u64, options: PanelOptions) -> Panel {
        Panel { seed, options }
    }

    /// The alleles of a gene. The first genes have one allele more if the numbers do not divide.
    fn alleles(&self, gene: u64) -> Vec<Vec<u8>> {
        let PanelOptions { alleles, genes, .. } = self.options;
        let count = to_usize(alleles / genes + u64::from(gene < alleles % genes));
        let mut random = Random::new(self.seed, Purpose::Alleles, gene);
        let (shortest, longest) = ALLELE_BASES;
        let mut made: Vec<Vec<u8>> = Vec::with_capacity(count);
        for number in 0..count {
            let mut allele = match number {
                0 => (0..random.between(shortest, longest)).map(|_| random.base()).collect(),
                _ => copy(&made[random.index(number.min(FOUNDERS))], &mut random),
            };
            while made.contains(&allele) {
                allele = copy(&allele, &mut random);
            }
            made.push(allele);
        }
        made
    }

    /// Writes all alleles as FASTA, gene by gene.
    pub fn write(&self, output: &mut Output) -> Result<(), Failure> {
        let mut text = Vec::new();
        for gene in 0..self.options.genes {
            for (number, allele) in self.alleles(gene).iter().enumerate() {
                text.extend_from_slice(format!(">{}\n", name(gene, number)).as_bytes());
                text.extend_from_slice(allele);
                text.push(b'\n');
            }
            if text.len() >= TEXT_BASES {
                output.write(&text)?;
                text.clear();
            }
        }
        output.write(&text)
    }

    /// Writes pairs of a sample, gene by gene. Names state allele, stretch and strand of both reads, as those of a donor.
    pub fn write_reads(&self, reads: &ReadOptions, outputs: &mut ReadOutputs) -> Result<(), Failure> {
        let errors = Geometric::new(reads.error_rate);
        let mut random = Random::new(reads.seed, Purpose::Sample, 0);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut mate = Mate::default();
        let (mut number, mut left) = (0, 2 * self.options.genes);
        for gene in 0..self.options.genes {
            let alleles = self.alleles(gene);
            let one = random.index(alleles.len());
            let other = (one + 1 + random.index(alleles.len().saturating_sub(1))) % alleles.len();
            for index in [one, other] {
                let allele = &alleles[index];
                let pairs = match reads.count {
                    0 => to_u64(allele.len()) * self.options.depth / to_u64(2 * reads.length),
                    count => (count - number) / left,
                };
                left -= 1;
                for _ in 0..pairs {
                    let bases = to_usize(whole(random.normal(reads.insert_mean, reads.insert_deviation)));
                    let bases = bases.clamp(reads.length.min(allele.len()), allele.len());
                    let start = random.index(allele.len() - bases + 1);
                    let end = start + bases;
                    let length = reads.length.min(bases);
                    let mut stretches = [(start..start + length, '+'), (end - length..end, '-')];
                    if random.chance(0.5) {
                        stretches.reverse();
                    }
                    let [(a, a_strand), (b, b_strand)] = &stretches;
                    let id = format!(
                        "{number}!{}!{}!{}!{a_strand}!{}!{}!{b_strand}",
                        name(gene, index),
                        a.start,
                        a.end,
                        b.start,
                        b.end
                    );
                    for (which, (stretch, strand)) in stretches.into_iter().enumerate() {
                        mate.template.clear();
                        mate.template.extend_from_slice(&allele[stretch]);
                        if strand == '-' {
                            reverse_complement(&mut mate.template);
                        }
                        mate.sequence(&errors, reads.indel_share, &mut random);
                        let is_first = which == 0 || outputs.second.is_none();
                        let output = if is_first { &mut first } else { &mut second };
                        mate.append_to(output, &id, ["/1", "/2"][which]);
                    }
                    number += 1;
                }
            }
            outputs.first.write(&first)?;
            if let Some(output) = &mut outputs.second {
                output.write(&second)?;
            }
            first.clear();
            second.clear();
        }
        Ok(())
    }
}

/// Name of an allele, as those of HLA genes.
fn name(gene: u64, number: usize) -> String {
    format!("G{}*{:02}", gene + 1, number + 1)
}

/// A copy of an allele with a few differences.
fn copy(allele: &[u8], random: &mut Random) -> Vec<u8> {
    let (least, most) = SUBSTITUTIONS;
    let substitutions = Geometric::new(to_f64(to_usize(random.between(least, most))) / 100_000.0);
    let mut made = allele.to_vec();
    let mut at = substitutions.draw_up_to(made.len(), random);
    while at < made.len() {
        made[at] = random.other_base(made[at]);
        at += 1 + substitutions.draw_up_to(made.len() - at - 1, random);
    }
    if random.chance(INDEL) {
        let length = to_usize(random.between(1, LONGEST_INDEL));
        let at = random.index(made.len() - length);
        if random.chance(0.5) {
            made.drain(at..at + length);
        } else {
            let inserted: Vec<u8> = (0..length).map(|_| random.base()).collect();
            made.splice(at..at, inserted);
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Memory, READS};

    const OPTIONS: PanelOptions = PanelOptions { alleles: 41, genes: 4, depth: 5 };

    #[test]
    fn alleles_of_a_gene_are_alike() {
        let memory = Memory::default();
        Panel::new(3, OPTIONS).write(&mut memory.output()).unwrap();
        let text = memory.text();
        assert_eq!(text.matches('>').count(), 41);
        assert!(text.starts_with(">G1*01\n") && text.contains(">G1*11\n") && !text.contains(">G2*11\n"));
        for gene in 0..4 {
            let alleles = Panel::new(3, OPTIONS).alleles(gene);
            // Words of 20 bases that an allele shares with the first one: one substitution costs 20 of them.
            let words = |allele: &[u8]| -> std::collections::HashSet<Vec<u8>> {
                allele.windows(20).map(<[u8]>::to_vec).collect()
            };
            let first = words(&alleles[0]);
            for allele in &alleles[1..] {
                let shared = words(allele).intersection(&first).count();
                assert!(shared * 5 > first.len() && words(allele) != first, "{shared} of {}", first.len());
            }
        }
    }

    #[test]
    fn pairs_are_those_of_two_alleles_of_each_gene() {
        let memory = Memory::default();
        let panel = Panel::new(3, OPTIONS);
        let mut outputs = ReadOutputs { first: memory.output(), second: None };
        let options = ReadOptions { pairs: true, count: 0, ..READS };
        panel.write_reads(&options, &mut outputs).unwrap();
        let text = memory.text();
        let lines: Vec<&str> = text.lines().collect();
        let mut seen = std::collections::BTreeMap::<&str, usize>::new();
        for record in lines.chunks(4) {
            let fields: Vec<&str> = record[0].split('!').collect();
            let is_first = record[0].ends_with("/1");
            let [start, end, strand] = if is_first { [2, 3, 4] } else { [5, 6, 7] }.map(|at| fields[at]);
            let (gene, number) = fields[1][1..].split_once('*').unwrap();
            let alleles = panel.alleles(gene.parse::<u64>().unwrap() - 1);
            let allele = &alleles[number.parse::<usize>().unwrap() - 1];
            let mut bases = allele[start.parse().unwrap()..end.parse().unwrap()].to_vec();
            if strand.starts_with('-') {
                reverse_complement(&mut bases);
            }
            assert_eq!(record[1].as_bytes(), bases, "{}", record[0]);
            *seen.entry(fields[1]).or_default() += 1;
        }
        assert_eq!(seen.len(), 8);
        for (name, reads) in seen {
            assert!((2 * 16..=2 * 60).contains(&reads), "{name}: {reads}");
        }
    }
}
