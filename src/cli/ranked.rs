//! Which hits are reported, in which order, and what a list shows of them.

use super::names::RankName;
use super::{first_given, usage, values};
use crate::options::{
    Column, HitFormat, IdentityDefinition, Limits, MatesChoice, Options, OutputFormat, PageOptions, Rank,
};
use clap::Args;
use clap::error::ErrorKind;
use std::io::{self, IsTerminal};
use std::path::Path;

/// Most targets of a query and most hits of a target in lists.
const MAX_TARGETS: usize = 25;
const MAX_HSPS: usize = 1;

#[derive(Args)]
#[command(next_help_heading = "Ranked hits")]
pub struct RankedFlags {
    /// Most that a hit's E-value may be [default: 10 with --format tab, json and text]
    ///
    /// It sets the least score of each query, by its length and the letters of all references. A DNA hit must also reach
    /// 20 x match. --min-score counts beside it where it is given. The constants are BLAST's for its matrices and gap
    /// costs; for other scores they are fitted to random sequences when the run begins.
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = values::evalue)]
    evalue: Option<f64>,
    /// Most references that a query has hits on [default: 25 with --format tab, json and text]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    max_targets: Option<usize>,
    /// Most hits of a query on one reference [default: 1 with --format tab, json and text]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    max_hsps: Option<usize>,
    /// Report also the hits beyond --max-targets and --max-hits that rank as high as the last one
    #[arg(long)]
    ties: bool,
    /// What ranks hits: score, evalue or identity
    ///
    /// evalue is corrected for the length of the reference, as that of ssearch36 is: long references reach a score by
    /// chance more often. Equal hits keep the order of their scores. For --format tab, json and text.
    #[arg(long, value_name = "BY", value_enum, default_value = "score", hide_possible_values = true)]
    rank: RankName,
    /// Least identity of a hit, in percent
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, value_parser = values::percent)]
    min_identity: Option<f64>,
    /// Least share of the query's letters in a hit, in percent
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, value_parser = values::percent)]
    min_coverage: Option<f64>,
    /// How identities are counted, as vsearch numbers it: 0 to 4 [default: 2]
    ///
    /// Equal letters of: 0 the shorter sequence, 1 all columns, 2 all columns but, in mode global, gaps at the ends (BLAST's),
    /// 3 without mismatches and gaps, of the longer sequence, 4 all columns.
    #[arg(long, value_name = "N", value_parser = values::identity_definition)]
    iddef: Option<IdentityDefinition>,
    /// Columns of --format tab, separated by commas; std are BLAST's twelve [default: std]
    ///
    /// BLAST's names, such as qlen, slen, qcovs, qcovhsp, nident, positive, gaps, btop, qseq, sseq, stitle; and score,
    /// strand, cigar, mate, id0 to id4. docs/output.md says what each holds.
    #[arg(long, value_name = "NAMES", value_parser = values::columns)]
    columns: Option<Columns>,
    /// Begin --format tab with comments: the command, the scores, the columns
    #[arg(long)]
    header: bool,
}

/// Columns of a table.
#[derive(Clone, Debug)]
pub struct Columns(pub Vec<Column>);

/// What the flags stand for.
pub struct Ranked {
    pub evalue: Option<f64>,
    pub limits: Limits,
    pub rank: Rank,
    pub identity: IdentityDefinition,
    pub columns: Vec<Column>,
    pub table_header: bool,
    pub page: PageOptions,
}

impl RankedFlags {
    /// The first option that was given of those that choose, order or show hits.
    pub fn of_hits(&self) -> Option<&'static str> {
        let given = [
            ("--evalue", self.evalue.is_some()),
            ("--max-targets", self.max_targets.is_some()),
            ("--max-hsps", self.max_hsps.is_some()),
            ("--ties", self.ties),
            ("--rank", !matches!(self.rank, RankName::Score)),
            ("--min-identity", self.min_identity.is_some()),
            ("--min-coverage", self.min_coverage.is_some()),
            ("--columns", self.columns.is_some()),
            ("--header", self.header),
        ];
        first_given(given)
    }

    /// `max_hits` as it was given; `to_file` where the output is no terminal's; `has_all` where all hits of a query are
    /// reported by default, one on each reference.
    pub fn resolve(
        self,
        format: OutputFormat,
        max_hits: Option<usize>,
        to_file: bool,
        has_all: bool,
    ) -> Result<Ranked, clap::Error> {
        let is_list = matches!(format, OutputFormat::Hits(_));
        let conflict = |text: &str| Err(usage(ErrorKind::ArgumentConflict, text));
        if !is_list && !matches!(self.rank, RankName::Score) {
            return conflict(
                "--rank is for --format tab, json and text; records of SAM, BAM and PAF are by score",
            );
        }
        let is_table = format == OutputFormat::Hits(HitFormat::Tab);
        if !is_table && (self.columns.is_some() || self.header) {
            return conflict("--columns and --header are for --format tab");
        }
        let limits = Limits {
            max_hits: max_hits.unwrap_or(match is_list || has_all || self.max_targets.is_some() {
                true => usize::MAX,
                false => 1,
            }),
            max_targets: self.max_targets.unwrap_or(if is_list && !has_all {
                MAX_TARGETS
            } else {
                usize::MAX
            }),
            max_per_target: self.max_hsps.unwrap_or(if is_list || has_all { MAX_HSPS } else { usize::MAX }),
            keeps_ties: self.ties,
            identity: self.min_identity.unwrap_or(0.0),
            coverage: self.min_coverage.unwrap_or(0.0),
        };
        Ok(Ranked {
            evalue: self.evalue,
            limits,
            rank: self.rank.into(),
            identity: self.iddef.unwrap_or_default(),
            columns: self.columns.map_or(Column::STANDARD.to_vec(), |Columns(columns)| columns),
            table_header: self.header,
            page: page(to_file),
        })
    }
}

/// The terminal that stdout is, unless the output goes to a file.
pub fn page(to_file: bool) -> PageOptions {
    let no_terminal = PageOptions::default();
    if to_file || !io::stdout().is_terminal() {
        return no_terminal;
    }
    let width = terminal_size::terminal_size().map_or(no_terminal.width, |(width, _)| width.0.into());
    PageOptions { width, colour: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
}

/// Refuses what parts of the references can't have.
pub fn check_ref_part(options: &Options) -> Result<(), clap::Error> {
    let Limits { identity, coverage, .. } = options.limits;
    let text = match options.format {
        OutputFormat::Hits(_) if options.output.as_deref().is_none_or(|output| output == Path::new("-")) => {
            "--ref-part of a list needs a file (-o), since its lines are for `swalign merge`, which writes the list; \
             name one"
        }
        OutputFormat::Hits(_) => return Ok(()),
        OutputFormat::Records(_)
            if options.mates != MatesChoice::None && (identity > 0.0 || coverage > 0.0) =>
        {
            "--ref-part of mates as SAM, BAM and PAF takes no --min-identity or --min-coverage; leave them out, or give \
             --format tab, json or text"
        }
        OutputFormat::Records(_) => return Ok(()),
    };
    Err(usage(ErrorKind::ArgumentConflict, text))
}
