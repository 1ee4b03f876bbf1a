//! Which hits are reported, in which order, and what a list shows of them.

use super::{NO_HEADING, values};
use crate::terms::options::{
    Column, HitLimits, IdentityDefinition, Mask, OutputFormat, PageOptions, Rank, RankedOptions, TieRule,
};
use clap::Args;
use std::io::{self, IsTerminal};

/// Maximum number of targets per query, and of hits per target, in lists.
const MAX_TARGETS: usize = 500;
const MAX_HSPS: usize = 1;

#[derive(Args)]
#[command(next_help_heading = "Hits")]
pub struct RankedFlags {
    /// Report hits with E-values up to X [default: 10 with --format tab]
    ///
    /// The default is the same with --format json and text, and no limit with other formats. The E-value, the length of a query and the total length of the references give the minimum score of the query. Hits must
    /// also reach --min-score. If it is not given, hits of DNA queries of at least 30 bases must score 20 x match. The
    /// constants are those of BLAST for its matrices and gap costs. For other scoring schemes, they are fitted to random
    /// sequences at the start of the run.
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = values::evalue)]
    evalue: Option<f64>,
    /// Report hits on at most N references per query [default: 500 with --format tab]
    ///
    /// The default is the same with --format json and text, and no limit with other formats.
    #[arg(long, hide_short_help = true, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    max_targets: Option<usize>,
    /// Report at most N hits per query and reference [default: 1 with --format tab]
    ///
    /// The default is the same with --format json and text, and no limit with other formats.
    #[arg(long, hide_short_help = true, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    max_hsps: Option<usize>,
    /// Also report hits that tie with the last hit within --max-hits or --max-targets
    ///
    /// With --max-targets 1, reports all references that tie for the best. For mates, also reports the hits of all pairs with
    /// the same score as the selected pair.
    #[arg(long, hide_short_help = true)]
    ties: bool,
    /// Select one of equal best hits by rule: first or hash [default: first]
    ///
    /// For SAM, BAM and PAF. first selects the forward strand, then the first reference, then the first position. hash selects by
    /// a hash of the name of the read, so that reads from a repeat spread evenly over its first 64 copies, in the same way in
    /// every run. For mates it selects among equal pairs.
    #[arg(long, hide_short_help = true, value_name = "RULE", value_enum, hide_possible_values = true)]
    tie_break: Option<TieRule>,
    /// Rank hits by score, evalue, identity or raw [default: score]
    ///
    /// For --format tab, json and text. score ranks by the E-value of the score, as in BLAST. evalue ranks by an E-value that is
    /// corrected for the length of the reference, as in ssearch36, because long references reach a score by chance more often;
    /// it also replaces the E-value in the output and for --evalue. identity ranks by percent identity, and raw by the score
    /// itself. Ties are ranked by score. For scoring schemes without E-values, score and evalue rank by the score itself.
    #[arg(long, hide_short_help = true, value_name = "BY", value_enum, hide_possible_values = true)]
    rank: Option<Rank>,
    /// Report hits with at least PERCENT identity
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, value_parser = values::percent)]
    min_identity: Option<f64>,
    /// Report hits that align at least PERCENT of the query [default: 0]
    ///
    /// With --rank identity, the default is 80 in modes local and overlap, where a short perfect hit would otherwise rank
    /// before a longer one.
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, value_parser = values::percent)]
    min_coverage: Option<f64>,
    /// Mask low-complexity regions: none, low or hard
    ///
    /// DUST finds the regions in DNA and SEG in proteins, as in dustmasker and segmasker. low masks queries and references
    /// softly: it omits hits that reach the minimum score or E-value only with masked residues, and reports the others
    /// in full. It does not apply to supplementary hits of --split. hard masks queries only: masked residues score as N (X in
    /// proteins), and the output shows the original residues (as BLAST with -soft_masking false).
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        default_value = "none",
        hide_possible_values = true,
        hide_short_help = true
    )]
    mask: Mask,
    /// Definition of identity, as numbered by vsearch: 0 to 4 [default: 2]
    ///
    /// 0: matches / length of the shorter sequence. 1 and 4: matches / alignment columns. 2: matches / alignment columns
    /// without terminal gaps, as BLAST. 3: 1 - (mismatches + gaps) / length of the longer sequence, where each gap counts
    /// once.
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = values::identity_definition)]
    iddef: Option<IdentityDefinition>,
    /// Columns of --format tab, separated by commas [default: std, the 12 columns of BLAST]
    ///
    /// Columns have the names that BLAST uses, such as qlen, slen, qcovs, qcovhsp, nident, positive, gaps, btop, qseq, sseq and
    /// stitle. Further columns are score, strand, cigar, mate and id0 to id4. docs/output.md describes all columns.
    #[arg(long, hide_short_help = true, help_heading = NO_HEADING, value_name = "NAMES", value_parser = values::columns)]
    columns: Option<TableColumns>,
    /// Write a header in --format tab: command, scoring scheme and columns
    #[arg(long, hide_short_help = true, help_heading = NO_HEADING)]
    header: bool,
}

/// Columns of a table.
#[derive(Clone, Debug)]
pub struct TableColumns(pub Vec<Column>);

impl RankedFlags {
    pub fn has_min_coverage(&self) -> bool {
        self.min_coverage.is_some()
    }

    /// Resolves the flags. `max_hits` is the value of its option, if it was given, and `is_all` is --all. `to_file` is false if the output goes to a
    /// terminal. If `has_all`, all hits of a query are reported by default, one per reference.
    pub fn resolve(
        self,
        format: OutputFormat,
        (max_hits, is_all): (Option<usize>, bool),
        to_file: bool,
        has_all: bool,
    ) -> RankedOptions {
        let is_list = matches!(format, OutputFormat::Hits(_));
        let limits = HitLimits {
            max_hits: max_hits.unwrap_or(match is_list || has_all || is_all || self.max_targets.is_some() {
                true => usize::MAX,
                false => 1,
            }),
            max_targets: self.max_targets.unwrap_or(if is_list && !has_all && !is_all {
                MAX_TARGETS
            } else {
                usize::MAX
            }),
            max_per_target: self.max_hsps.unwrap_or(match (is_list || has_all) && !is_all {
                true => MAX_HSPS,
                false => usize::MAX,
            }),
            frames: 1,
            keeps_ties: self.ties,
            identity: self.min_identity.unwrap_or(0.0),
            coverage: self.min_coverage.unwrap_or(0.0),
        };
        RankedOptions {
            evalue: self.evalue,
            limits,
            rank: if is_list { self.rank.unwrap_or(Rank::Score) } else { Rank::Raw },
            tie_rule: self.tie_break.unwrap_or(TieRule::First),
            mask: self.mask,
            identity: self.iddef.unwrap_or_default(),
            columns: self.columns.map_or(Column::STANDARD.to_vec(), |TableColumns(columns)| columns),
            table_header: self.header,
            page: page(to_file),
        }
    }
}

/// The width and color support of the terminal on stdout, or the defaults if the output goes to a file.
pub fn page(to_file: bool) -> PageOptions {
    let no_terminal = PageOptions::default();
    if to_file || !io::stdout().is_terminal() {
        return no_terminal;
    }
    let width = terminal_size::terminal_size().map_or(no_terminal.width, |(width, _)| width.0.into());
    PageOptions { width, colour: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
}
