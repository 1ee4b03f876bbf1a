//! The arguments of translated queries.

use super::names::TranslateName;
use super::values;
use crate::terms::alphabet::GeneticCode;
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct TranslateFlags {
    /// Translate DNA queries in their six frames and align them to proteins, as blastx: query
    ///
    /// Each frame of a query is aligned with all references, and the query has the hits of all frames. Positions in a query are
    /// those of its bases. --strand selects the frames of one strand. The output is a list (tab, json or text), and the column
    /// qframe contains the frame: 1 to 3, or -1 to -3 for the reverse complement. A codon with ambiguous bases that stands for
    /// several amino acids is X. Stops (*) score as the matrix says.
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    pub translate: Option<TranslateName>,
    /// Genetic code of --translate, by NCBI's number: 1 standard, 2 vertebrate mitochondria, 11 bacteria [default: 1]
    #[arg(long, value_name = "N", hide_short_help = true, requires = "translate", value_parser = values::genetic_code)]
    genetic_code: Option<GeneticCode>,
    /// Let alignments of --translate change the frame, at this cost (DIAMOND's -F; 15 suits BLOSUM62)
    ///
    /// Between two codons, a base may be left out or read twice. Reads and assemblies with insertions and deletions then have
    /// one hit for a gene instead of a piece for each frame. The column frameshifts counts the changes, and text, BTOP and CIGAR
    /// show them as DIAMOND does: \ for a base that is left out, / for one that is read twice. The frame of a hit is that of its
    /// first codon.
    #[arg(long, value_name = "COST", hide_short_help = true, requires = "translate", value_parser = values::frameshift)]
    pub frameshift: Option<i32>,
}

impl TranslateFlags {
    /// The code by which queries are translated.
    pub fn resolve(&self) -> Option<GeneticCode> {
        self.translate.map(|TranslateName::Query| self.genetic_code.unwrap_or_default())
    }
}
