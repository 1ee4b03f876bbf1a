//! Choices, as the command line names them.

use crate::terms::alignment::Strands;
use crate::terms::options::{
    CsForm, FilterChoice, Format, HitFormat, Mask, MatrixValues, OutputFormat, Preset, Rank, TieRule,
};
use crate::terms::scoring::AlignmentMode;
use clap::ValueEnum;

/// The presets, as the command line names them.
#[derive(Clone, Copy, ValueEnum)]
pub enum PresetName {
    #[value(alias = "sr")]
    Short,
    Long,
    MapHifi,
    #[value(alias = "map-pb")]
    MapOnt,
    Asm5,
    Asm10,
    Asm20,
    Blastn,
    Linear,
    Protein,
}

impl From<PresetName> for Preset {
    fn from(name: PresetName) -> Preset {
        match name {
            PresetName::Short => Preset::Short,
            PresetName::Long => Preset::Long,
            PresetName::MapHifi => Preset::MapHifi,
            PresetName::MapOnt => Preset::MapOnt,
            PresetName::Asm5 => Preset::Asm5,
            PresetName::Asm10 => Preset::Asm10,
            PresetName::Asm20 => Preset::Asm20,
            PresetName::Blastn => Preset::Blastn,
            PresetName::Linear => Preset::Linear,
            PresetName::Protein => Preset::Protein,
        }
    }
}

/// The modes, as the command line names them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeName {
    Local,
    Glocal,
    Global,
    Overlap,
}

impl From<ModeName> for AlignmentMode {
    fn from(name: ModeName) -> AlignmentMode {
        match name {
            ModeName::Local => AlignmentMode::Local,
            ModeName::Glocal => AlignmentMode::Glocal,
            ModeName::Global => AlignmentMode::Global,
            ModeName::Overlap => AlignmentMode::Overlap,
        }
    }
}

/// The formats, as the command line names them.
#[derive(Clone, Copy, ValueEnum)]
pub enum FormatName {
    Sam,
    Bam,
    Paf,
    Tab,
    Json,
    Text,
    /// Of `swalign all` alone.
    #[value(hide = true)]
    Matrix,
}

/// Strands, as BLAST and vsearch name them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StrandName {
    Both,
    Plus,
    Minus,
}

impl From<StrandName> for Strands {
    fn from(name: StrandName) -> Strands {
        match name {
            StrandName::Both => Strands::Both,
            StrandName::Plus => Strands::Plus,
            StrandName::Minus => Strands::Minus,
        }
    }
}

/// Choices among equal best hits, as the command line names them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TieRuleName {
    First,
    Hash,
}

impl From<TieRuleName> for TieRule {
    fn from(name: TieRuleName) -> TieRule {
        match name {
            TieRuleName::First => TieRule::First,
            TieRuleName::Hash => TieRule::Hash,
        }
    }
}

/// Forms of the tag cs, as the command line names them.
#[derive(Clone, Copy, ValueEnum)]
pub enum CsName {
    Short,
    Long,
}

impl From<CsName> for CsForm {
    fn from(name: CsName) -> CsForm {
        match name {
            CsName::Short => CsForm::Short,
            CsName::Long => CsForm::Long,
        }
    }
}

/// The values of a matrix, as the command line names them.
#[derive(Clone, Copy, ValueEnum)]
pub enum ValuesName {
    Score,
    Identity,
}

impl From<ValuesName> for MatrixValues {
    fn from(name: ValuesName) -> MatrixValues {
        match name {
            ValuesName::Score => MatrixValues::Score,
            ValuesName::Identity => MatrixValues::Identity,
        }
    }
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
        }
    }
}

/// The filters, as the command line names them.
#[derive(Clone, Copy, ValueEnum)]
pub enum FilterName {
    Auto,
    Index,
    #[value(alias = "bitap")]
    Scan,
    None,
}

impl From<FilterName> for FilterChoice {
    fn from(name: FilterName) -> FilterChoice {
        match name {
            FilterName::Auto => FilterChoice::Auto,
            FilterName::Index => FilterChoice::Index,
            FilterName::Scan => FilterChoice::Scan,
            FilterName::None => FilterChoice::None,
        }
    }
}

/// The ranks, as the command line names them.
#[derive(Clone, Copy, ValueEnum)]
pub enum RankName {
    Score,
    Raw,
    Evalue,
    Identity,
}

impl From<RankName> for Rank {
    fn from(name: RankName) -> Rank {
        match name {
            RankName::Score => Rank::Score,
            RankName::Raw => Rank::Raw,
            RankName::Evalue => Rank::Evalue,
            RankName::Identity => Rank::Identity,
        }
    }
}

/// The kinds of masking, as the command line names them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MaskName {
    None,
    Low,
    Hard,
}

impl From<MaskName> for Mask {
    fn from(name: MaskName) -> Mask {
        match name {
            MaskName::None => Mask::None,
            MaskName::Low => Mask::Low,
            MaskName::Hard => Mask::Hard,
        }
    }
}
