//! Position-specific scoring profiles of queries: PSI-BLAST's matrices (`pssm`), HMMER3's models (`hmm`) and
//! alignments (`alignment`).
//!
//! A profile has a score for each of its positions and each residue. The formats have scores, or probabilities, of the 20
//! amino acids. The scores of other codes follow the conventions of substitution matrices: B is the mean of N and D,
//! Z that of Q and E, and J that of I and L, each rounded up; X is -1, and `*` is -4, as in BLOSUM62.

mod alignment;
mod hmm;
mod pssm;

pub use alignment::of_alignment;

use crate::terms::alphabet::{Alphabet, SCORED};
use crate::terms::casts::{to_i8, whole_i32};
use crate::terms::scoring::{MOST_IN_TABLE, PositionGaps};
use std::borrow::Cow;

/// Maximum number of positions of a profile.
const MOST_POSITIONS: usize = 1 << 20;
/// Number of amino acids. Their codes are the lowest ones.
const AMINO_ACIDS: usize = 20;
/// Number of codes that have a score of their own.
const COLUMNS: usize = SCORED as usize;
/// Code of B, after which Z, X, `*` and J follow.
const B: usize = 20;
const Z: usize = 21;
const X: usize = 22;
const STOP: usize = 23;
const J: usize = 24;

/// Scores of a query's positions against the residues of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub name: String,
    /// Residue of each position, for output: that of the first sequence, or of the consensus.
    pub residues: Vec<u8>,
    /// Scores of each position against the codes of proteins, in half bits, from -127 to 127.
    pub scores: Vec<[i8; COLUMNS]>,
    /// Gap costs of each position, in half bits. Empty if the format has none.
    pub gaps: Vec<PositionGaps>,
    /// Contents of the file that the scores ignore, in a few words.
    pub dropped: Option<String>,
}

impl Profile {
    /// Drops the gap costs of the positions.
    pub fn without_gap_costs(self) -> Profile {
        match self.gaps.is_empty() {
            true => self,
            false => Profile { gaps: Vec::new(), dropped: Some(hmm::DROPPED_WITH_GAPS.to_string()), ..self },
        }
    }
}

/// A fault in a file of profiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileFault {
    /// 1-based line.
    pub line: u64,
    /// The problem.
    pub text: String,
    pub remedy: &'static str,
}

impl ProfileFault {
    fn new(line: u64, text: impl Into<String>, remedy: &'static str) -> ProfileFault {
        ProfileFault { line, text: text.into(), remedy }
    }
}

type Result<T, E = ProfileFault> = std::result::Result<T, E>;

const FORMATS: &str = "give a matrix of `psiblast -out_ascii_pssm` or `-out_pssm`, a model of HMMER3, or an alignment in FASTA or A3M";

/// Parses the profiles of a file, whose format its first line tells. `name_if_none` is the name of a profile whose
/// format has no names.
pub fn parse(text: &[u8], name_if_none: &str) -> Result<Vec<Profile>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let Some((number, first)) = lines(text).find(|(_, line)| !line.trim().is_empty()) else {
        return Err(ProfileFault::new(1, "the file is empty", FORMATS));
    };
    let first = first.trim();
    let fault = |problem: &str, remedy| Err(ProfileFault::new(number, problem, remedy));
    if first.starts_with("HMMER3/") {
        hmm::parse(text)
    } else if first.starts_with("HMMER2") {
        fault("this is a model of HMMER2", "convert it with `hmmconvert` of HMMER3")
    } else if first.starts_with("PssmWithParameters") {
        pssm::parse_asn(text, name_if_none)
    } else if first.starts_with(pssm::TITLE) || pssm::columns(first).is_some() {
        pssm::parse_ascii(text, name_if_none)
    } else if first.starts_with("# STOCKHOLM") {
        fault("this is an alignment in Stockholm format", "convert it with `esl-reformat afa`")
    } else if first.starts_with("CLUSTAL") {
        fault("this is an alignment in Clustal format", "convert it to FASTA with gaps")
    } else if first.starts_with('>') || first.starts_with('#') {
        alignment::parse(text, name_if_none)
    } else if text.starts_with(b"\x1f\x8b") {
        fault("the file is compressed", "decompress it with `gunzip`")
    } else {
        fault("the file is no profile of a known format", FORMATS)
    }
}

/// Lines with their 1-based numbers, without line ends.
fn lines(text: &[u8]) -> impl Iterator<Item = (u64, Cow<'_, str>)> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let ends = text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    (1..).zip(ends.map(String::from_utf8_lossy))
}

/// A word as errors show it: without control characters, and cut off.
fn shown(word: &str) -> String {
    word.chars().take(20).collect::<String>().escape_debug().to_string()
}

/// The code of an amino acid.
fn amino_acid(letter: u8) -> Option<usize> {
    Alphabet::Protein.code(letter).map(usize::from).filter(|&code| code < AMINO_ACIDS)
}

/// Checks the number of positions.
fn check_positions(count: usize, line: u64) -> Result<()> {
    let remedy = "split the profile";
    match count <= MOST_POSITIONS {
        true => Ok(()),
        false => Err(ProfileFault::new(
            line,
            format!("a profile has more than {MOST_POSITIONS} positions"),
            remedy,
        )),
    }
}

/// The nearest score in the range of scores. Halves are rounded away from zero, and so is a value that is at most 1e-9 nearer to
/// zero than a half: a sum in another order, or another machine's logarithm, then gives the same score.
fn nearest(score: f64) -> i8 {
    let most = f64::from(MOST_IN_TABLE);
    let size = (score.abs() + 0.5 + 1e-9).floor().min(most);
    to_i8(whole_i32(size.copysign(score)))
}

/// Half of a sum, rounded up.
fn mean(one: i8, other: i8) -> i8 {
    to_i8(-(-i32::from(one) - i32::from(other)).div_euclid(2))
}

/// The scores of a position from those of the 20 amino acids.
fn position(amino_acids: [i8; AMINO_ACIDS]) -> [i8; COLUMNS] {
    let [n, d, q, e, i, l] = [2, 3, 5, 6, 9, 10].map(|code: usize| amino_acids[code]);
    let mut scores = [0; COLUMNS];
    scores[..AMINO_ACIDS].copy_from_slice(&amino_acids);
    scores[B] = mean(n, d);
    scores[Z] = mean(q, e);
    scores[J] = mean(i, l);
    scores[X] = -1;
    scores[STOP] = -4;
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    pub const A3M: &[u8] = include_bytes!("../../data/homeodomain.a3m");
    pub const ASCII: &[u8] = include_bytes!("../../tests/golden/profiles/homeodomain.pssm");
    pub const ASN: &[u8] = include_bytes!("../../tests/golden/profiles/homeodomain.asn");
    pub const HMM: &[u8] = include_bytes!("../../tests/golden/profiles/homeodomain.hmm");

    /// The only profile of a text.
    pub fn only(text: &[u8]) -> Profile {
        let mut profiles = parse(text, "query").unwrap();
        assert_eq!(profiles.len(), 1);
        profiles.remove(0)
    }

    /// The line and the problem of a faulty text.
    pub fn fault(text: &[u8]) -> (u64, String) {
        let ProfileFault { line, text, remedy } = parse(text, "query").unwrap_err();
        assert!(!remedy.is_empty());
        (line, text)
    }

    #[test]
    fn scores_are_rounded_away_from_zero_and_clipped() {
        let cases = [
            (0.49, 0),
            (0.5, 1),
            (-0.5, -1),
            (0.5 - 1e-10, 1),
            (1e-10 - 2.5, -3),
            (2.49999, 2),
            (-0.2, 0),
            (126.6, 127),
            (1e300, 127),
            (f64::NEG_INFINITY, -127),
        ];
        for (score, rounded) in cases {
            assert_eq!(nearest(score), rounded, "{score}");
        }
    }

    #[test]
    fn other_codes_score_as_in_matrices() {
        let mut amino_acids = [0; AMINO_ACIDS];
        for (letter, score) in [(b'N', 6), (b'D', 1), (b'Q', -3), (b'E', -4), (b'I', 127), (b'L', 127)] {
            amino_acids[amino_acid(letter).unwrap()] = score;
        }
        let scores = position(amino_acids);
        let of = |letter| scores[usize::from(Alphabet::Protein.code(letter).unwrap())];
        assert_eq!([b'B', b'Z', b'J', b'X', b'*'].map(of), [4, -3, 127, -1, -4]);
    }

    #[test]
    fn formats_are_told_apart() {
        let lens = [A3M, ASCII, ASN, HMM].map(|text| only(text).scores.len());
        assert_eq!(lens, [56, 56, 56, 52]);
        let names = [A3M, ASCII, ASN, HMM].map(|text| only(text).name);
        assert_eq!(names, ["d1p7id_", "query", "d1p7id_", "homeodomain"]);
        for (text, problem) in [
            (&b""[..], "empty"),
            (b"\n \n", "empty"),
            (b"# STOCKHOLM 1.0\n", "Stockholm"),
            (b"CLUSTAL W\n", "Clustal"),
            (b"HMMER2.0\n", "HMMER2"),
            (b"\x1f\x8b\x08", "compressed"),
            (b"ACDEF\n", "no profile"),
            (b"\xff\xfe\x00", "no profile"),
        ] {
            assert!(fault(text).1.contains(problem), "{problem}");
        }
        assert_eq!(fault(b"\n\nnone\n").0, 3);
    }

    /// Files that are cut off, or have a byte changed, give a profile or a fault.
    #[test]
    fn damaged_files_never_panic() {
        let mut state = 1u32;
        let mut random = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        for text in [A3M, ASCII, ASN, HMM] {
            for _ in 0..200 {
                let _ = parse(&text[..random(text.len())], "query");
                let mut changed = text.to_vec();
                for _ in 0..3 {
                    let at = random(changed.len());
                    changed[at] = b"\0\n-{}9 \"',.xW\xff"[random(14)];
                }
                for profile in parse(&changed, "query").unwrap_or_default() {
                    assert_eq!(profile.residues.len(), profile.scores.len());
                }
            }
        }
    }
}
