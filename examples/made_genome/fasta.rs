//! FASTA output of the reference and of the donor.

use crate::donor::Donor;
use crate::failure::Failure;
use crate::genome::{Census, Genome};
use crate::layout::{BLOCK, Layout};
use crate::numbers::to_usize;
use crate::ordered::in_order;
use crate::output::Output;

/// Bases of a line.
pub const LINE: u64 = 80;

// Each block of the reference begins a line.
const _: () = assert!(BLOCK.is_multiple_of(LINE));

/// Text of a block, and its numbers of bases.
struct Text {
    bytes: Vec<u8>,
    census: Census,
}

/// Writes the reference. Returns its numbers of bases.
pub fn write_reference(genome: &Genome, threads: usize, output: &mut Output) -> Result<Census, Failure> {
    let make = |number| {
        let reference = genome.reference(number);
        let bytes = lines(&genome.layout, number, reference.block.sequence_start, &reference.bases);
        Text { bytes, census: reference.census }
    };
    let mut census = Census::default();
    in_order(threads, genome.layout.blocks, make, |text| {
        census.add(&text.census);
        output.write(&text.bytes)
    })?;
    Ok(census)
}

/// Writes the donor's sequences, with the names of the reference's sequences.
pub fn write_donor(donor: &Donor, threads: usize, output: &mut Output) -> Result<(), Failure> {
    let layout = &donor.genome.layout;
    let make = |number| {
        let block = donor.block(number);
        let start = donor.start_in_sequence(&block.reference);
        lines(layout, number, start, &block.bases)
    };
    in_order(threads, layout.blocks, make, |bytes| output.write(&bytes))
}

/// The lines of a block whose first base has this position in its sequence. The first block of a sequence follows the
/// sequence's name, and the last one ends its line.
fn lines(layout: &Layout, number: u64, start: u64, bases: &[u8]) -> Vec<u8> {
    let line = to_usize(LINE);
    let mut text = Vec::with_capacity(bases.len() + bases.len() / line + 32);
    let is_first = |number| layout.sequences.iter().any(|sequence| sequence.first_block == number);
    if is_first(number) {
        let sequence = &layout.sequences[layout.block(number).sequence];
        text.extend_from_slice(format!(">{}\n", sequence.name).as_bytes());
    }
    let (first, rest) = bases.split_at(to_usize((LINE - start % LINE) % LINE).min(bases.len()));
    text.extend_from_slice(first);
    let line_is_full = |bases: usize| (bases + to_usize(start % LINE)).is_multiple_of(line);
    if !first.is_empty() && line_is_full(first.len()) {
        text.push(b'\n');
    }
    for bases in rest.chunks(line) {
        text.extend_from_slice(bases);
        if bases.len() == line {
            text.push(b'\n');
        }
    }
    let is_last = number + 1 == layout.blocks || is_first(number + 1);
    if is_last && !line_is_full(bases.len()) {
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_join_to_lines() {
        let layout = Layout::new(1, 50_000_000);
        let blocks = layout.sequences[0].bases.div_ceil(BLOCK);
        for size in [1, 79, 80, 81, 200] {
            let bases = vec![b'A'; size];
            let mut text = Vec::new();
            for number in 0..blocks {
                text.extend(lines(&layout, number, number * u64::try_from(size).unwrap(), &bases));
            }
            let text = String::from_utf8(text).unwrap();
            let total = size * to_usize(blocks);
            let lengths: Vec<usize> = text.lines().map(str::len).collect();
            assert!(text.starts_with(">chr1\n") && text.ends_with("A\n"));
            assert_eq!(lengths[1..].iter().sum::<usize>(), total);
            assert!(lengths[1..lengths.len() - 1].iter().all(|length| *length == 80));
            assert_eq!(lengths.len() - 1, total.div_ceil(80));
        }
    }
}
