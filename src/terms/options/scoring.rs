//! The scoring of a run: presets, and options that override their numbers.

use crate::terms::alphabet::Alphabet;
use crate::terms::error::{Error, Place, Result};
use crate::terms::scoring::{
    AlignmentMode, GapPiece, Gaps, MAX_PARAMETER, MOST_IN_TABLE, MOST_PIECES, Matrix, Scoring, Substitution,
};
use crate::terms::system::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Maximum size of a matrix file in bytes.
const MATRIX_BYTES: usize = 1 << 20;

/// Scoring options; [`ScoringChoice::resolve`] fills in the missing ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoringChoice {
    pub preset: Option<Preset>,
    pub match_: Option<i32>,
    pub mismatch: Option<i32>,
    /// Penalty of a pair with an ambiguous code.
    pub ambiguous: Option<i32>,
    /// Whether ambiguous codes match the codes that they have a base in common with.
    pub iupac: bool,
    /// Bonus of an alignment for each end of the query that it reaches.
    pub end_bonus: Option<i32>,
    pub gap_open: Option<PerPiece>,
    pub gap_extend: Option<PerPiece>,
    /// Name of a built-in matrix or path of a matrix file.
    pub matrix: Option<String>,
    pub mode: AlignmentMode,
    /// Cost of a change of the frame of a translated query.
    pub frameshift: Option<i32>,
}

/// A cost for each piece of the gap costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerPiece {
    pub first: i32,
    pub further: [Option<i32>; MOST_PIECES - 1],
}

impl PerPiece {
    /// One cost for each of at most [`MOST_PIECES`] pieces. `None` if there is no cost, or more of them.
    pub fn of(costs: &[i32]) -> Option<PerPiece> {
        let (&first, rest) = costs.split_first()?;
        let further = std::array::from_fn(|piece| rest.get(piece).copied());
        (rest.len() < MOST_PIECES).then_some(PerPiece { first, further })
    }

    /// The costs in order.
    pub fn costs(self) -> impl Iterator<Item = i32> {
        std::iter::once(self.first).chain(self.further.into_iter().flatten())
    }
}

/// The numbers of a preset. Match and mismatch are unused with a matrix. Gap costs are listed by piece.
#[derive(Clone, Copy)]
struct PresetNumbers {
    match_: i32,
    mismatch: i32,
    open: &'static [i32],
    extend: &'static [i32],
}

/// Penalty of a pair with an ambiguous code in the presets for reads and assemblies, as in bwa and minimap2.
const AMBIGUOUS: i32 = 1;

/// Named sets of scoring parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// 1/4/6/1, as bwa mem; the default for DNA.
    Short,
    /// 2/4/4/2, as minimap2 without its second gap piece (24/1).
    Long,
    /// 2/4/4,24/2,1, for Nanopore reads and for PacBio reads with many errors.
    MapOnt,
    /// 1/4/6,26/2,1, for PacBio HiFi reads.
    MapHifi,
    /// 1/19/39,81/3,1, for assemblies that differ by up to 5 %.
    Asm5,
    /// 1/9/16,41/2,1, up to 10 %.
    Asm10,
    /// 1/4/6,26/2,1, up to 20 %.
    Asm20,
    /// 2/3/5/2.
    Blastn,
    /// 1/1/0/2.
    Linear,
    /// BLOSUM62, 11/1; the default for protein.
    Protein,
}

impl Preset {
    /// All presets by their names. Those of minimap2 have its names and numbers.
    pub const ALL: [(&str, Preset); 11] = [
        ("short", Preset::Short),
        ("long", Preset::Long),
        ("map-hifi", Preset::MapHifi),
        ("map-ont", Preset::MapOnt),
        ("map-pb", Preset::MapOnt),
        ("asm5", Preset::Asm5),
        ("asm10", Preset::Asm10),
        ("asm20", Preset::Asm20),
        ("blastn", Preset::Blastn),
        ("linear", Preset::Linear),
        ("protein", Preset::Protein),
    ];

    /// The preset of this name.
    pub fn named(name: &str) -> Option<Preset> {
        Preset::ALL.iter().find(|(other, _)| *other == name).map(|&(_, preset)| preset)
    }

    fn numbers(self) -> PresetNumbers {
        let numbers = |match_, mismatch, open, extend| PresetNumbers { match_, mismatch, open, extend };
        match self {
            Preset::Short => numbers(1, 4, &[6], &[1]),
            Preset::Long => numbers(2, 4, &[4], &[2]),
            Preset::MapOnt => numbers(2, 4, &[4, 24], &[2, 1]),
            Preset::MapHifi | Preset::Asm20 => numbers(1, 4, &[6, 26], &[2, 1]),
            Preset::Asm5 => numbers(1, 19, &[39, 81], &[3, 1]),
            Preset::Asm10 => numbers(1, 9, &[16, 41], &[2, 1]),
            Preset::Blastn => numbers(2, 3, &[5], &[2]),
            Preset::Linear => numbers(1, 1, &[0], &[2]),
            Preset::Protein => numbers(0, 0, &[11], &[1]),
        }
    }

    /// Whether the preset is for long reads or assemblies.
    pub fn is_of_long_reads(self) -> bool {
        match self {
            Preset::Long
            | Preset::MapOnt
            | Preset::MapHifi
            | Preset::Asm5
            | Preset::Asm10
            | Preset::Asm20 => true,
            Preset::Short | Preset::Blastn | Preset::Linear | Preset::Protein => false,
        }
    }

    /// The fall of the running score that cuts a path, in matches: minimap2's `-z` divided by its match score.
    fn drop(self) -> i32 {
        match self {
            Preset::MapHifi => 400,
            _ if self.is_of_long_reads() => 200,
            _ => 100,
        }
    }
}

impl ScoringChoice {
    /// The alphabet that the options imply: DNA by match, mismatch or its presets, or proteins by the name of a matrix.
    pub fn alphabet(&self) -> Option<Alphabet> {
        let is_protein = self.preset == Some(Preset::Protein)
            || self.matrix.as_deref().is_some_and(|name| Matrix::named(name).is_some());
        let is_dna = self.preset.is_some_and(|preset| preset != Preset::Protein) || self.compares();
        match (is_dna, is_protein) {
            (true, false) => Some(Alphabet::Dna),
            (false, true) => Some(Alphabet::Protein),
            _ => None,
        }
    }

    /// Resolves the scoring for `alphabet`. An explicit number overrides that of the preset, and an explicit preset
    /// overrides that of the alphabet. A built-in matrix brings its own gap costs.
    pub fn resolve(&self, alphabet: Alphabet) -> Result<Scoring> {
        let preset = match (self.preset, alphabet) {
            (Some(Preset::Protein), Alphabet::Dna) => {
                return Err(usage(
                    "--preset protein is for proteins, but the sequences are DNA; leave it out, or set --alphabet \
                     protein",
                ));
            }
            (Some(preset), _) => preset,
            (None, Alphabet::Dna) => Preset::Short,
            (None, Alphabet::Protein) => Preset::Protein,
        };
        let PresetNumbers { match_, mismatch, open, extend } = preset.numbers();
        let matrix = match (&self.matrix, alphabet, preset) {
            (Some(_), _, _) if self.match_.is_some() || self.mismatch.is_some() => {
                return Err(usage(
                    "--matrix cannot be combined with --match and --mismatch; leave either out",
                ));
            }
            (Some(_), _, _) if self.ambiguous.is_some() || self.iupac => {
                return Err(usage(
                    "--matrix cannot be combined with --ambiguous and --iupac; write the scores of ambiguous codes \
                     into the matrix",
                ));
            }
            (Some(name), _, _) => Some(load_matrix(name, alphabet)?),
            (None, Alphabet::Protein, Preset::Protein) if !self.compares() => {
                Some(load_matrix("BLOSUM62", alphabet)?)
            }
            (None, Alphabet::Protein, _) => {
                return Err(usage(
                    "proteins are scored with a matrix, not with match and mismatch; use --matrix or --preset \
                     protein, or set --alphabet dna if the sequences are DNA",
                ));
            }
            (None, Alphabet::Dna, _) => None,
        };
        let usual = matrix.as_ref().and_then(Matrix::usual_gap_costs);
        let (usual_open, usual_extend) = usual.unzip();
        let costs = |given: Option<PerPiece>, usual: Option<i32>, of_preset: &[i32]| -> Vec<i32> {
            match (given, usual) {
                (Some(given), _) => given.costs().collect(),
                (None, Some(usual)) => vec![usual],
                (None, None) => of_preset.to_vec(),
            }
        };
        let gaps =
            gaps(&costs(self.gap_open, usual_open, open), &costs(self.gap_extend, usual_extend, extend))?;
        let GapPiece { open: gap_open, extend: gap_extend } = gaps.first;
        let scoring = match matrix {
            Some(matrix) => Scoring::matrix(alphabet, matrix, gap_open, gap_extend),
            None => {
                let match_ = within("--match", self.match_.unwrap_or(match_), 1)?;
                let mismatch = within("--mismatch", self.mismatch.unwrap_or(mismatch), 0)?;
                let is_of_reads = |preset: Preset| preset == Preset::Short || preset.is_of_long_reads();
                let ambiguous = self.ambiguous.unwrap_or(match self.preset {
                    Some(preset) if is_of_reads(preset) => mismatch.min(AMBIGUOUS),
                    _ => mismatch,
                });
                let ambiguous = within("--ambiguous", ambiguous, 0)?;
                let scoring = Scoring::dna(match_, mismatch, gap_open, gap_extend);
                match self.iupac {
                    true if match_.max(mismatch) > MOST_IN_TABLE => {
                        return Err(Error::Usage(format!(
                            "--iupac: --match and --mismatch must be at most {MOST_IN_TABLE}"
                        )));
                    }
                    true => scoring.with_iupac(),
                    false => scoring.with_ambiguous(ambiguous),
                }
            }
        };
        let end_bonus = within("--end-bonus", self.end_bonus.unwrap_or(0), 0)?;
        if end_bonus > 0 && alphabet == Alphabet::Protein {
            return Err(usage("--end-bonus is for DNA, but the sequences are proteins; leave it out"));
        }
        let scoring = scoring.in_mode(self.mode).with_end_bonus(end_bonus);
        let most = scoring.most_end_bonus();
        if scoring.end_bonus > most {
            return Err(Error::Usage(format!(
                "--end-bonus {end_bonus} is out of range: with --matrix or --iupac, the bonus and the highest score of two \
                 bases are together at most {MOST_IN_TABLE}; give 0 to {most}"
            )));
        }
        gaps.check().map_err(Error::Usage)?;
        Ok(Scoring { frameshift: self.frameshift, ..scoring.with_gaps(gaps) })
    }

    /// Whether an option is given that only scorings without a matrix have.
    fn compares(&self) -> bool {
        self.match_.or(self.mismatch).or(self.ambiguous).is_some() || self.iupac
    }
}

/// The minimum score that admits any alignment, the default in modes other than local.
pub const ANY_SCORE: i32 = i32::MIN + 1;

/// The default minimum score of a hit: 20 matches, or 60 with a matrix (docs/algorithm.md explains why).
pub fn default_min_score(scoring: &Scoring) -> i32 {
    match scoring.substitution {
        _ if !scoring.mode.is_local() => ANY_SCORE,
        Substitution::Equal { match_, .. } => 20 * match_,
        Substitution::Matrix(_) => 60,
    }
}

/// Default length of the exact run that a hit of the second tier contains, in bases, as for bwa's seeds.
pub const ANCHOR: u32 = 19;

/// Maximum number of matches that pay for one more residue of a gap, in a run with two tiers: with more, the window of
/// a read could be a whole chromosome.
const CHEAPEST_GAP: i64 = 8;

/// The minimum score of the second tier: 30 matches, as in bwa. `None` if a run with this scoring has one tier.
pub fn anchored_score(scoring: &Scoring) -> Option<i32> {
    match scoring.substitution {
        Substitution::Equal { match_, .. }
            if scoring.mode.is_local()
                && match_ > 0
                && i64::from(match_) <= CHEAPEST_GAP * i64::from(scoring.gaps().lower_bound().extend) =>
        {
            Some(30 * match_)
        }
        _ => None,
    }
}

/// The default of the fall of the running score that cuts a path: 100 matches, or that of minimap2 with the presets for
/// long reads and assemblies. 0 for scorings without a match score.
pub fn default_drop(scoring: &Scoring, preset: Option<Preset>) -> i32 {
    match scoring.substitution {
        Substitution::Equal { match_, .. } if scoring.mode.is_local() => {
            match_ * preset.unwrap_or(Preset::Short).drop()
        }
        _ => 0,
    }
}

/// The maximum possible score below which a query counts as short in lists of hits, so that only E-values decide: that
/// of 30 bases, BLAST's limit for its task `blastn-short`.
pub fn short_score(scoring: &Scoring) -> Option<i32> {
    match scoring.substitution {
        Substitution::Equal { match_, .. } => Some(30 * match_),
        Substitution::Matrix(_) => None,
    }
}

/// The default minimum score of a supplementary hit if hits have the minimum score `min_score`: twice the default
/// minimum score, which is minimap2's 80 with its scores.
pub fn default_split_score(scoring: &Scoring, min_score: i32) -> i32 {
    (2 * default_min_score(scoring)).max(min_score)
}

fn usage(text: &str) -> Error {
    Error::Usage(text.to_string())
}

/// Gap costs by their opening and extension costs, one of each for each piece.
fn gaps(open: &[i32], extend: &[i32]) -> Result<Gaps> {
    let pieces = open.iter().zip(extend).map(|(&open, &extend)| {
        Ok(GapPiece { open: within("--gap-open", open, 0)?, extend: within("--gap-extend", extend, 1)? })
    });
    let pieces = pieces.collect::<Result<Vec<GapPiece>>>()?;
    let gaps = Gaps::of(&pieces).filter(|_| open.len() == extend.len());
    gaps.ok_or_else(|| {
        usage(
            "--gap-open and --gap-extend must have the same number of values, one or two, such as --gap-open 4,24 \
             --gap-extend 2,1",
        )
    })
}

fn within(flag: &str, value: i32, least: i32) -> Result<i32> {
    if (least..=MAX_PARAMETER).contains(&value) {
        return Ok(value);
    }
    Err(Error::Usage(format!(
        "{flag} {value} is out of range; give {least} to {MAX_PARAMETER} (penalties are positive numbers)"
    )))
}

fn load_matrix(name: &str, alphabet: Alphabet) -> Result<Matrix> {
    if let (Some(matrix), Alphabet::Protein) = (Matrix::named(name), alphabet) {
        return Ok(matrix);
    }
    let path = PathBuf::from(name);
    let bytes = read_matrix(&path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::Usage(format!(
            "--matrix {name}: neither a built-in {alphabet} matrix nor a file; the built-in protein matrices are \
             {}",
            Matrix::names().collect::<Vec<_>>().join(", ")
        )),
        _ => Error::io(&path, source),
    })?;
    matrix_text(&bytes).and_then(|text| Matrix::parse(name, text, alphabet)).map_err(|(line, problem)| {
        let remedy = match bytes.contains(&0) {
            true => "save it as plain text; for UTF-16, use `iconv -f UTF-16 -t UTF-8`",
            false => "give a matrix of this alphabet in NCBI's format, such as the BLOSUM files",
        };
        Error::input(Place { file: path, record: None, line }, problem, remedy)
    })
}

/// Reads the bytes of a file. A file may have no end, so at most one byte more than [`MATRIX_BYTES`] is read.
fn read_matrix(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MATRIX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a matrix file, without a byte order mark.
fn matrix_text(bytes: &[u8]) -> Result<&str, (Option<u64>, String)> {
    let problem = match str::from_utf8(bytes) {
        _ if bytes.len() > MATRIX_BYTES => "this is not a matrix: the file is larger than 1 MiB",
        Ok(text) if !text.contains('\0') => return Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        _ if bytes.contains(&0) => "the text is UTF-16, or this is not text",
        _ => "the text is not UTF-8",
    };
    Err((None, problem.to_string()))
}
