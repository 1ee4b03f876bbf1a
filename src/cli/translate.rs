//! The arguments of translated queries.

use super::names::TranslateName;
use super::values;
use crate::terms::alignment::Frames;
use crate::terms::alphabet::GeneticCode;
use crate::terms::options::Translation;
use clap::Args;
use std::ffi::OsString;

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct TranslateFlags {
    /// Translate DNA in six frames: query (blastx), target (tblastn), both
    ///
    /// The values are those of blastx, tblastn and tblastx. Each frame of a translated query is aligned with all references, or each frame of the references with all queries. The query
    /// has the hits of all frames. Positions are those of bases. --strand selects the frames of one strand of the queries. The
    /// output is a list (tab, json or text), and the columns qframe and sframe contain the frames: 1 to 3, or -1 to -3 for the
    /// reverse complement. A codon with ambiguous bases that stands for several amino acids is X. Stops (*) score as the matrix
    /// says. As the first word, blastx, tblastn and tblastx stand for the three values.
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    pub translate: Option<TranslateName>,
    /// Genetic code of --translate, by NCBI's number: 1 standard, 2 vertebrate mitochondria, 11 bacteria [default: 1]
    #[arg(long, value_name = "N", hide_short_help = true, requires = "translate", value_parser = values::genetic_code)]
    genetic_code: Option<GeneticCode>,
    /// Frames of the queries of --translate, separated by commas [default: 1,2,3,-1,-2,-3]
    ///
    /// The frames 1 to 3 begin at the first to third base, and -1 to -3 at those of the reverse complement. --frames 1 suits coding
    /// sequences.
    #[arg(
        long,
        value_name = "LIST",
        hide_short_help = true,
        requires = "translate",
        allow_hyphen_values = true,
        value_parser = values::frames
    )]
    frames: Option<Frames>,
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
    /// The sequences that are translated.
    pub fn resolve(&self) -> Option<Translation> {
        let (queries, targets) = match self.translate? {
            TranslateName::Query => (true, false),
            TranslateName::Target => (false, true),
            TranslateName::Both => (true, true),
        };
        Some(Translation {
            code: self.genetic_code.unwrap_or_default(),
            queries,
            targets,
            frames: self.frames,
        })
    }
}

/// BLAST's programs, and what they translate.
const PROGRAMS: [(&str, &str); 3] = [("blastx", "query"), ("tblastn", "target"), ("tblastx", "both")];

/// Replaces the name of a program of BLAST in the place of a subcommand by its option. A file of that name is given as ./blastx.
pub fn replace_program(mut line: Vec<OsString>) -> Vec<OsString> {
    let named = line.get(1).and_then(|word| PROGRAMS.iter().find(|(name, _)| word == name));
    if let Some((_, what)) = named {
        line.splice(1..2, ["--translate", what].map(OsString::from));
    }
    line
}
