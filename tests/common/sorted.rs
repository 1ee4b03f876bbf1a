//! The records of BAM files, and their order by coordinate.

use super::bam::blocks;
use super::random::Random;
use std::fs;
use std::io::Read;
use std::path::Path;
use swalign::terms::alphabet::{Alphabet, reverse_complement};

/// The records of a BAM file, each preceded by its size.
pub fn records(bam: &[u8]) -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    noodles_bgzf::io::Reader::new(&blocks(bam).1.concat()[..]).read_to_end(&mut bytes).unwrap();
    let (mut rest, mut records) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        let size = 4 + u32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
        records.push(rest[..size].to_vec());
        rest = &rest[size..];
    }
    records
}

/// Reference, position and flags of a record.
pub fn place(record: &[u8]) -> (i32, i32, u16) {
    let number = |at: usize| i32::from_le_bytes(record[at..at + 4].try_into().unwrap());
    (number(4), number(8), u16::from_le_bytes(record[18..20].try_into().unwrap()))
}

/// Sort key of a record: reference (unplaced records last), position, forward before reverse.
pub fn order(record: &[u8]) -> (u32, i32, bool) {
    let (target, start, flags) = place(record);
    (target as u32, start, flags & 16 != 0)
}

/// Writes random references (ref.fa) and mates from known positions (1.fq and 2.fq). Some pairs repeat the position of
/// the pair before, some have one or two random mates, and one pair spans two references.
pub fn write_mates(folder: &Path, pairs: usize, references: usize) {
    let mut random = Random::new(11);
    let mut genome: Vec<Vec<u8>> = (0..references).map(|_| random.sequence(Alphabet::Dna, 20_000)).collect();
    // A repeat, so that some reads have further hits.
    let repeated = genome[0][5000..10_000].to_vec();
    genome[references - 1][..5000].copy_from_slice(&repeated);
    let fasta = |(number, letters): (usize, &Vec<u8>)| format!(">c{number}\n{}\n", text(letters));
    // References without records are between the others, and last.
    let mut empty = |number| format!(">none{number}\n{}\n", text(&random.sequence(Alphabet::Dna, 500)));
    let all = genome.iter().enumerate().map(|(number, letters)| fasta((number, letters)) + &empty(number));
    fs::write(folder.join("ref.fa"), all.collect::<String>()).unwrap();
    let [mut first, mut second] = [String::new(), String::new()];
    let mut last = (0, 0, 300);
    for pair in 0..pairs {
        let (target, start, span) = match pair % 4 {
            0 => last,
            _ => (random.below(references), random.below(19_000), 250 + random.below(100)),
        };
        last = (target, start, span);
        let template = &genome[target][start..start + span];
        let other = if pair == 50 { &genome[references - 1 - target][..300] } else { template };
        let mut mates = [template[..90].to_vec(), reverse_complement(other)[..90].to_vec()];
        if pair % 3 == 0 {
            mates.reverse();
        }
        if pair % 17 == 0 {
            mates[pair % 2] = random.sequence(Alphabet::Dna, 90);
        }
        if pair % 29 == 0 {
            mates = [(); 2].map(|()| random.sequence(Alphabet::Dna, 90));
        }
        for (out, letters) in [(&mut first, &mates[0]), (&mut second, &mates[1])] {
            *out += &format!("@p{pair}\n{}\n+\n{}\n", text(letters), "I".repeat(90));
        }
    }
    fs::write(folder.join("1.fq"), first).unwrap();
    fs::write(folder.join("2.fq"), second).unwrap();
}

fn text(letters: &[u8]) -> String {
    String::from_utf8(letters.to_vec()).unwrap()
}
