//! What excludes each other where alignments have other ends than local ones.

use super::usage;
use crate::options::{Circular, FilterChoice, MatesChoice, Options, Rank};
use clap::error::ErrorKind;

/// Refuses what a mode does not have.
pub fn check_mode(options: &Options) -> Result<(), clap::Error> {
    let mode = options.scoring.mode;
    if mode.is_local() {
        return match options.min_score {
            Some(..=0) => {
                let text = "--min-score: give 1 or more; only modes other than local have scores below";
                Err(usage(ErrorKind::ValueValidation, text))
            }
            _ => Ok(()),
        };
    }
    let is_line = options.circular == Circular::default();
    let has_filter = matches!(options.filter, FilterChoice::Index | FilterChoice::Scan);
    let what = match options {
        _ if options.evalue.is_some() => {
            "--evalue is for local alignments: other scores have no E-values; give --min-score"
        }
        _ if options.rank == Rank::Evalue => {
            "--rank evalue is for local alignments: other scores have no E-values; give --rank identity or score"
        }
        _ if options.mates != MatesChoice::None => "mates are aligned locally; give the reads as single ones",
        _ if options.split.is_some() => "--split is for local alignments; leave it out",
        _ if !is_line => "--circular is for local alignments; leave it out",
        _ if has_filter => "--filter is for local alignments, whose scores have a least one; leave it out",
        _ => return Ok(()),
    };
    Err(usage(ErrorKind::ArgumentConflict, format!("--mode {mode}: {what}")))
}
