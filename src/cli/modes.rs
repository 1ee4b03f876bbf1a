//! Options that modes other than local do not support.

use super::usage;
use crate::options::{Circular, FilterChoice, Mask, Options, Rank};
use clap::error::ErrorKind;

/// Refuses options that a mode does not support.
pub fn check_mode(options: &Options) -> Result<(), clap::Error> {
    let mode = options.scoring.mode;
    if mode.is_local() {
        return match options.min_score {
            Some(..=0) => {
                let text = "--min-score: give 1 or more; lower scores exist only in modes other than local";
                Err(usage(ErrorKind::ValueValidation, text))
            }
            _ => Ok(()),
        };
    }
    let is_line = options.circular == Circular::default();
    let has_filter = matches!(options.filter, FilterChoice::Index | FilterChoice::Scan);
    let what = match options {
        _ if options.evalue.is_some() => {
            "--evalue is for local alignments, since other scores have no E-values; use --min-score"
        }
        _ if options.rank == Rank::Evalue => {
            "--rank evalue is for local alignments, since other scores have no E-values; use --rank identity or score"
        }
        _ if options.mask != Mask::None => "--mask is for local alignments; leave it out",
        _ if options.has_mates() => "mates are for local alignments; align the reads as single reads",
        _ if options.split.is_some() => "--split is for local alignments; leave it out",
        _ if !is_line => "--circular is for local alignments; leave it out",
        _ if has_filter => "--filter is for local alignments, which have a minimum score; leave it out",
        _ => return Ok(()),
    };
    Err(usage(ErrorKind::ArgumentConflict, format!("--mode {mode}: {what}")))
}
