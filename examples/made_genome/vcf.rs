//! VCF output of the donor's variants.

use crate::donor::Donor;
use crate::failure::Failure;
use crate::genome::Reference;
use crate::layout::Layout;
use crate::numbers::to_u64;
use crate::ordered::in_order;
use crate::output::Output;
use crate::variants::{Change, Variant};

/// Shortest insertion or deletion that the INFO column describes, in bases.
const STRUCTURAL: u64 = 50;

/// Writes the variants of a donor. All are homozygous, because reads come from one haplotype.
pub fn write_variants(donor: &Donor, threads: usize, output: &mut Output) -> Result<(), Failure> {
    let layout = &donor.genome.layout;
    output.write(header(layout).as_bytes())?;
    let make = |number| {
        let reference = donor.genome.reference(number);
        records(layout, &reference, &donor.variants(&reference))
    };
    in_order(threads, layout.blocks, make, |text| output.write(&text))
}

fn header(layout: &Layout) -> String {
    let mut text = String::from("##fileformat=VCFv4.2\n##source=made_genome\n");
    for sequence in &layout.sequences {
        let bases = sequence.bases.to_string();
        for part in ["##contig=<ID=", sequence.name, ",length=", &bases, ">\n"] {
            text += part;
        }
    }
    text += "##INFO=<ID=SVTYPE,Number=1,Type=String,Description=\"DEL or INV\">\n\
             ##INFO=<ID=SVLEN,Number=1,Type=Integer,Description=\"Length of ALT minus length of REF\">\n\
             ##INFO=<ID=END,Number=1,Type=Integer,Description=\"Last base of REF\">\n\
             ##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">\n\
             #CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tdonor\n";
    text
}

/// Records of a block.
pub fn records(layout: &Layout, reference: &Reference, variants: &[Variant]) -> Vec<u8> {
    let name = layout.sequences[reference.block.sequence].name;
    let mut text = Vec::new();
    for variant in variants {
        let position = reference.block.sequence_start + to_u64(variant.start) + 1;
        let (old, new) = (&variant.reference, &variant.alternative);
        text.extend_from_slice(format!("{name}\t{position}\t.\t").as_bytes());
        text.extend_from_slice(old);
        text.push(b'\t');
        text.extend_from_slice(new);
        text.extend_from_slice(
            format!("\t.\tPASS\t{}\tGT\t1/1\n", information(variant, position)).as_bytes(),
        );
    }
    text
}

/// INFO column of a variant at this 1-based position.
fn information(variant: &Variant, position: u64) -> String {
    let (old, new) = (to_u64(variant.reference.len()), to_u64(variant.alternative.len()));
    let end = position + old - 1;
    match variant.change {
        Change::Inversion => format!("SVTYPE=INV;SVLEN=0;END={end}"),
        Change::Deletion if old - new >= STRUCTURAL => format!("SVTYPE=DEL;SVLEN=-{};END={end}", old - new),
        _ => ".".into(),
    }
}
