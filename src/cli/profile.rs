//! The arguments of searches by profiles.

use super::values;
use crate::terms::options::{INCLUSION, IterationRules};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct ProfileFlags {
    /// Read QUERY as profiles: a PSSM of psiblast, models of HMMER3 or an alignment (aligned FASTA or A3M)
    ///
    /// A profile has scores of its own for each position. A PSSM is that of psiblast -out_ascii_pssm or -out_pssm. The match
    /// emissions of a model become scores in half bits, and its transitions become gap costs of each position. An alignment becomes a
    /// PSSM as in PSI-BLAST. Gaps of a PSSM cost the same at all positions: --gap-open and --gap-extend, by default 11 and 1. If one
    /// of the two is given, they also replace the gap costs of models. E-values are those of BLOSUM62.
    #[arg(long, hide_short_help = true)]
    profile: bool,
    /// Search N times, each time with the profile of the hits of the search before, as PSI-BLAST [default: 1]
    ///
    /// The search ends sooner if no hit is new. The output has the hits of the last search. After the first search, gaps cost
    /// --gap-open and --gap-extend at all positions, even if the first profile was a model.
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = values::count)]
    iterations: Option<usize>,
    /// Maximum E-value of a hit that becomes part of the profile of --iterations [default: 0.002]
    #[arg(long, value_name = "E", hide_short_help = true, requires = "iterations", value_parser = values::evalue)]
    inclusion: Option<f64>,
}

impl ProfileFlags {
    pub fn resolve(&self) -> IterationRules {
        IterationRules {
            are_profiles: self.profile,
            rounds: self.iterations.map_or(1, |rounds| u32::try_from(rounds).unwrap_or(u32::MAX)),
            inclusion: self.inclusion.unwrap_or(INCLUSION),
        }
    }
}
