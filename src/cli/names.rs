//! Choices, as the command line names them.

use crate::options::{FilterChoice, Format, Preset};
use clap::ValueEnum;

/// The presets, as the command line names them.
#[derive(Clone, Copy, ValueEnum)]
pub enum PresetName {
    Short,
    Long,
    Blastn,
    Linear,
    Protein,
}

impl From<PresetName> for Preset {
    fn from(name: PresetName) -> Preset {
        match name {
            PresetName::Short => Preset::Short,
            PresetName::Long => Preset::Long,
            PresetName::Blastn => Preset::Blastn,
            PresetName::Linear => Preset::Linear,
            PresetName::Protein => Preset::Protein,
        }
    }
}

/// The formats, as the command line names them.
#[derive(Clone, Copy, ValueEnum)]
pub enum FormatName {
    Sam,
    Bam,
    Paf,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Format {
        match name {
            FormatName::Sam => Format::Sam,
            FormatName::Bam => Format::Bam,
            FormatName::Paf => Format::Paf,
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
