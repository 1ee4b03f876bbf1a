//! Choices of [`crate::terms::options`], as the command line names them.

use crate::terms::alignment::Strands;
use crate::terms::alphabet::Alphabet;
use crate::terms::options::{
    CsForm, DedupBy, FilterChoice, Format, HitFormat, Mask, MatrixValues, OutputFormat, PanelFormat, Preset,
    Rank, ReadFormat, SearchFormat, TieRule,
};
use crate::terms::scoring::AlignmentMode;
use clap::ValueEnum;
use clap::builder::PossibleValue;

/// Names of the variants of an enum, with an alias and a line of help each.
macro_rules! named {
    ($($choice:ident { $($variant:ident $name:literal $(or $alias:literal)? $(is $help:literal)?,)+ })+) => {$(
        impl ValueEnum for $choice {
            fn value_variants<'a>() -> &'a [$choice] {
                &[$($choice::$variant),+]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(match self {
                    $($choice::$variant => PossibleValue::new($name)$(.alias($alias))?$(.help($help))?,)+
                    // A variant without a name is not an argument.
                    #[allow(unreachable_patterns, reason = "most enums have a name for each variant")]
                    _ => return None,
                })
            }
        }
    )+};
}

named! {
    Preset {
        Short "short" or "sr",
        Long "long",
        MapHifi "map-hifi",
        MapOnt "map-ont" or "map-pb",
        Asm5 "asm5",
        Asm10 "asm10",
        Asm20 "asm20",
        Blastn "blastn",
        Linear "linear",
        Protein "protein",
    }
    Strands { Both "both", Plus "plus", Minus "minus", }
    TieRule { First "first", Hash "hash", }
    CsForm { Short "short", Long "long", }
    MatrixValues { Score "score", Identity "identity", }
    FilterChoice { Auto "auto", Index "index", Scan "scan" or "bitap", None "none", }
    Rank { Score "score", Raw "raw", Evalue "evalue", Identity "identity", }
    DedupBy { Whole "whole", Prefix "prefix", }
    ReadFormat { Fasta "fasta", Fastq "fastq", }
    Mask { None "none", Low "low", Hard "hard", }
    SearchFormat {
        Tab "tab" is "Table with a header line",
        Bed "bed" is "BED with six columns; the fifth is the number of edits",
        Sam "sam" is "SAM with the patterns as reads; reads the texts twice",
        Fasta "fasta" is "Matched text, reverse-complemented on the reverse strand",
        Fastq "fastq" is "The same with the qualities of the text, which must be FASTQ",
        Count "count" is "Number of hits of each text",
        Text "text" is "Printed alignments, with the pattern forward",
    }
}

/// Names of the library's public types, which do not depend on clap.
pub const ALPHABETS: [(&str, Alphabet); 2] = [("dna", Alphabet::Dna), ("protein", Alphabet::Protein)];
pub const MODES: [(&str, AlignmentMode); 4] = [
    ("local", AlignmentMode::Local),
    ("glocal", AlignmentMode::Glocal),
    ("global", AlignmentMode::Global),
    ("overlap", AlignmentMode::Overlap),
];

/// Formats, as the command line names them.
#[derive(Clone, Copy, ValueEnum)]
pub enum FormatName {
    Sam,
    Bam,
    Paf,
    Tab,
    Json,
    Text,
    /// The alignment of each query and its hits.
    A3m,
    Sto,
    /// Numbers of reads on each reference.
    Counts,
    /// MatrixMarket.
    Mtx,
    /// Of `swalign all` alone.
    #[value(hide = true)]
    Matrix,
}

/// The sequences to translate.
#[derive(Clone, Copy, ValueEnum)]
pub enum TranslateName {
    Query,
    Target,
    Both,
}

impl From<FormatName> for OutputFormat {
    fn from(name: FormatName) -> OutputFormat {
        match name {
            FormatName::Sam => OutputFormat::Records(Format::Sam),
            FormatName::Bam => OutputFormat::Records(Format::Bam),
            FormatName::Paf => OutputFormat::Records(Format::Paf),
            // A matrix shows names as lists do.
            FormatName::Tab | FormatName::Matrix => OutputFormat::Hits(HitFormat::Tab),
            FormatName::Json => OutputFormat::Hits(HitFormat::Json),
            FormatName::Text => OutputFormat::Hits(HitFormat::Text),
            FormatName::A3m => OutputFormat::Hits(HitFormat::A3m),
            FormatName::Sto => OutputFormat::Hits(HitFormat::Stockholm),
            FormatName::Counts => OutputFormat::Panel(PanelFormat::Counts),
            FormatName::Mtx => OutputFormat::Panel(PanelFormat::Matrix),
        }
    }
}
