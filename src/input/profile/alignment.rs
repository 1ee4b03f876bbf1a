//! Profiles of alignments.
//!
//! The columns of a profile are those in which the first sequence has a residue. The scores of a column C follow
//! Altschul et al. 1997 (PSI-BLAST), with these choices:
//!
//! - Only the sequences with a residue in C count, so a gap is no evidence. Codes that are not one of the 20 amino acids
//!   count as missing, except that U is C and O is K.
//! - Weights of these sequences are position-based (Henikoff and Henikoff 1994): in each column of a window around C, a
//!   sequence whose residue n sequences have, in a column with k kinds of residues, gains 1 / (k n). The window has the
//!   columns that all of these sequences cover, at most [`REACH`] on either side of C. Gaps inside a sequence are a kind
//!   of residue.
//! - f_i is the sum of the weights of the sequences with residue i in C, divided by the sum of all weights.
//! - Pseudocounts from BLOSUM62: g_i = sum over j of f_j q_ij / p_j, with q_ij = p_i p_j exp(lambda s_ij), divided by the
//!   sum of all q. p_i is the frequency of residue i in proteins (Robinson and Robinson 1991).
//! - Q_i = (alpha f_i + beta g_i) / (alpha + beta). alpha is the mean number of kinds of residues in the columns of the
//!   window, minus 1; each column C has its own. beta is 10.
//! - The score is ln(Q_i / p_i) / lambda, rounded: half bits on the scale of BLOSUM62.
//!
//! A column in which only the first sequence has a residue has the scores of BLOSUM62 for this residue: alpha is 0, and
//! f_i is 1.

use super::{
    AMINO_ACIDS, COLUMNS, Profile, ProfileFault, Result, X, check_positions, lines, nearest, position,
};
use crate::terms::alphabet::{AMINO_ACIDS as FREQUENCIES, Alphabet, scored_code};
use crate::terms::casts::to_u32;
use crate::terms::scoring::Matrix;
use libm::{exp, log};
use std::ops::Range;

/// Maximum number of columns on either side of a column that weigh its sequences.
const REACH: usize = 100;
/// Scale of BLOSUM62 for residues with the frequencies below.
const LAMBDA: f64 = 0.3176;
/// Number of pseudocounts.
const BETA: f64 = 10.0;
/// Codes of a row: a gap between residues, and a position that is no evidence.
const GAP: u8 = 20;
const UNKNOWN: u8 = 21;
/// Number of kinds of residues, gaps included.
const KINDS: usize = 21;
const GIVE_ALIGNED: &str =
    "give sequences of one length, with gaps as '-', or A3M with insertions in lower case";

/// A row of a file.
struct FileRow {
    name: String,
    /// 1-based line of the header.
    line: u64,
    letters: Vec<u8>,
}

/// Parses an alignment in FASTA or A3M.
///
/// If all rows are equally long, case does not matter, and '.' is a gap. Otherwise the file is A3M: lower-case residues
/// are insertions relative to the first sequence, and '.' has no meaning. (A valid A3M with rows of one length has no
/// insertions.) Rows of HH-suite with a secondary structure are skipped.
pub fn parse(text: &[u8], name_if_none: &str) -> Result<Vec<Profile>> {
    let mut rows = file_rows(text)?;
    let Some(first) = rows.first() else {
        return Err(ProfileFault::new(1, "the file has no sequences", GIVE_ALIGNED));
    };
    let raw_len = first.letters.len();
    let is_a3m = rows.iter().any(|row| row.letters.len() != raw_len);
    if is_a3m {
        for row in &mut rows {
            row.letters.retain(|letter| !letter.is_ascii_lowercase() && *letter != b'.');
        }
    }
    let len = rows[0].letters.len();
    if let Some(row) = rows.iter().find(|row| row.letters.len() != len) {
        let problem = format!(
            "the sequence '{}' has {} aligned positions, and the first sequence has {len}",
            super::shown(&row.name),
            row.letters.len()
        );
        return Err(ProfileFault::new(row.line, problem, GIVE_ALIGNED));
    }
    let is_column: Vec<bool> = rows[0].letters.iter().map(|&letter| !is_gap(letter)).collect();
    let count = is_column.iter().filter(|&&is_column| is_column).count();
    if count == 0 {
        return Err(ProfileFault::new(rows[0].line, "the first sequence has no residues", GIVE_ALIGNED));
    }
    check_positions(count, rows[0].line)?;
    for row in &mut rows {
        let mut columns = is_column.iter();
        row.letters.retain(|_| columns.next() == Some(&true));
    }
    let name = if rows[0].name.is_empty() { name_if_none } else { &rows[0].name };
    let letters: Vec<&[u8]> = rows.iter().map(|row| &row.letters[..]).collect();
    let has_insertions = is_a3m || count < len;
    let dropped = has_insertions.then(|| "residues that the first sequence lacks".to_string());
    Ok(vec![Profile { dropped, ..of_alignment(name, &letters) }])
}

/// The rows of a file whose characters are valid.
fn file_rows(text: &[u8]) -> Result<Vec<FileRow>> {
    let mut rows: Vec<FileRow> = Vec::new();
    // Whether the current record is a sequence.
    let mut is_sequence = true;
    for (number, line) in lines(text) {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('>') {
            let name = header.split_whitespace().next().unwrap_or("");
            is_sequence = !["ss_pred", "ss_conf", "ss_dssp", "sa_dssp"].contains(&name);
            if is_sequence {
                rows.push(FileRow { name: name.to_string(), line: number, letters: Vec::new() });
            }
            continue;
        }
        if line.is_empty() || !is_sequence || line.starts_with('#') {
            continue;
        }
        let Some(row) = rows.last_mut() else {
            return Err(ProfileFault::new(number, "a sequence must begin with a `>` line", GIVE_ALIGNED));
        };
        let is_valid = |letter: u8| is_gap(letter) || Alphabet::Protein.code(letter).is_some();
        if let Some(letter) = line.chars().find(|&letter| !u8::try_from(letter).is_ok_and(is_valid)) {
            let problem = format!("'{}' is no residue of a protein", letter.escape_debug());
            return Err(ProfileFault::new(number, problem, GIVE_ALIGNED));
        }
        row.letters.extend_from_slice(line.as_bytes());
    }
    Ok(rows)
}

fn is_gap(letter: u8) -> bool {
    letter == b'-' || letter == b'.'
}

/// The profile of a query from its alignment. A row has a residue or '-' for each residue of the query, which is the
/// first row. A row that is too short ends with gaps.
pub fn of_alignment(name: &str, rows: &[&[u8]]) -> Profile {
    let residues: Vec<u8> = rows.first().map_or(Vec::new(), |query| query.to_ascii_uppercase());
    let columns = Columns::new(rows, residues.len());
    let Some(matrix) = Matrix::named("BLOSUM62") else { return Profile::default() };
    let targets = Targets::new(&matrix);
    let scores = (0..residues.len())
        .map(|column| match columns.observed(column) {
            Some(observed) => targets.scores(&observed),
            None => {
                let code = Alphabet::Protein.code(residues[column]).map_or(X, usize::from);
                let mut scores = [0; COLUMNS];
                scores.copy_from_slice(&matrix.scores[code][..COLUMNS]);
                scores
            }
        })
        .collect();
    Profile { name: name.to_string(), residues, scores, gaps: Vec::new(), dropped: None }
}

/// The codes of an alignment, column by column.
struct Columns {
    codes: Vec<u8>,
    /// Columns that each row covers, from its first residue to its last.
    extents: Vec<Range<usize>>,
}

/// Residues in a column.
struct Observed {
    /// f_i.
    frequencies: [f64; AMINO_ACIDS],
    /// Mean number of kinds of residues in the columns of the window.
    kinds: f64,
}

impl Columns {
    fn new(rows: &[&[u8]], len: usize) -> Columns {
        let mut codes = vec![UNKNOWN; rows.len() * len];
        let mut extents = Vec::with_capacity(rows.len());
        for (number, row) in rows.iter().enumerate() {
            let row = &row[..row.len().min(len)];
            let begin = row.iter().position(|&letter| !is_gap(letter)).unwrap_or(row.len());
            let end = row.iter().rposition(|&letter| !is_gap(letter)).map_or(begin, |last| last + 1);
            for column in begin..end {
                codes[column * rows.len() + number] = match row[column] {
                    letter if is_gap(letter) => GAP,
                    letter => Alphabet::Protein
                        .code(letter)
                        .map(scored_code)
                        .filter(|&code| code < GAP)
                        .unwrap_or(UNKNOWN),
                };
            }
            extents.push(begin..end);
        }
        Columns { codes, extents }
    }

    fn column(&self, column: usize) -> &[u8] {
        let rows = self.extents.len();
        &self.codes[column * rows..][..rows]
    }

    /// The weighted residues of a column. `None` if no row has an amino acid.
    fn observed(&self, column: usize) -> Option<Observed> {
        let residues = self.column(column);
        let members: Vec<usize> = (0..residues.len()).filter(|&row| residues[row] < GAP).collect();
        let mut window = column.saturating_sub(REACH)..column + REACH + 1;
        for &row in &members {
            let extent = &self.extents[row];
            window = window.start.max(extent.start)..window.end.min(extent.end);
        }
        let mut weights = vec![0.0; members.len()];
        let (mut all_kinds, mut columns) = (0, 0);
        // Without members, the window may exceed the alignment.
        let window = if members.is_empty() { 0..0 } else { window };
        for codes in window.map(|column| self.column(column)) {
            let mut counts = [0u32; KINDS + 1];
            members.iter().for_each(|&row| counts[codes[row] as usize] += 1);
            let kinds = to_u32(counts[..KINDS].iter().filter(|&&count| count > 0).count());
            if kinds == 0 {
                continue;
            }
            (all_kinds, columns) = (all_kinds + kinds, columns + 1);
            let mut shares = counts.map(|count| 1.0 / (f64::from(kinds) * f64::from(count)));
            shares[UNKNOWN as usize] = 0.0;
            weights
                .iter_mut()
                .zip(&members)
                .for_each(|(weight, &row)| *weight += shares[codes[row] as usize]);
        }
        let mut frequencies = [0.0; AMINO_ACIDS];
        for (weight, &row) in weights.iter().zip(&members) {
            frequencies[residues[row] as usize] += weight;
        }
        let sum: f64 = frequencies.iter().sum();
        let frequencies = frequencies.map(|frequency| frequency / sum);
        (!members.is_empty())
            .then(|| Observed { frequencies, kinds: f64::from(all_kinds) / f64::from(columns) })
    }
}

/// Target frequencies of pairs of residues by BLOSUM62.
struct Targets {
    /// p_i.
    background: [f64; AMINO_ACIDS],
    /// q_ij / (p_i p_j).
    odds: [[f64; AMINO_ACIDS]; AMINO_ACIDS],
}

impl Targets {
    fn new(matrix: &Matrix) -> Targets {
        let total: u32 = FREQUENCIES.iter().sum();
        let background = FREQUENCIES.map(|frequency| f64::from(frequency) / f64::from(total));
        let mut odds = [[0.0; AMINO_ACIDS]; AMINO_ACIDS];
        let mut sum = 0.0;
        for (i, row) in odds.iter_mut().enumerate() {
            for (j, odds) in row.iter_mut().enumerate() {
                *odds = exp(LAMBDA * f64::from(matrix.scores[i][j]));
                sum += background[i] * background[j] * *odds;
            }
        }
        odds.as_flattened_mut().iter_mut().for_each(|odds| *odds /= sum);
        Targets { background, odds }
    }

    fn scores(&self, observed: &Observed) -> [i8; COLUMNS] {
        let alpha = observed.kinds - 1.0;
        let mut scores = [0; AMINO_ACIDS];
        for (i, score) in scores.iter_mut().enumerate() {
            let expected: f64 =
                observed.frequencies.iter().zip(&self.odds[i]).map(|(f, odds)| f * odds).sum();
            let counted = observed.frequencies[i] / self.background[i];
            // Q_i / p_i.
            let odds = (alpha * counted + BETA * expected) / (alpha + BETA);
            *score = nearest(log(odds) / LAMBDA);
        }
        position(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{A3M, ASCII, fault, only};
    use super::*;

    fn code(letter: u8) -> usize {
        usize::from(Alphabet::Protein.code(letter).unwrap())
    }

    /// Scores of one position against some residues.
    fn of<const N: usize>(scores: &[i8; COLUMNS], letters: &[u8; N]) -> [i8; N] {
        letters.map(|letter| scores[code(letter)])
    }

    fn correlation(ours: &Profile, other: &Profile) -> f64 {
        let pairs =
            ours.scores.iter().zip(&other.scores).flat_map(|(a, b)| a.iter().zip(b).take(AMINO_ACIDS));
        let pairs: Vec<[f64; 2]> = pairs.map(|(&a, &b)| [f64::from(a), f64::from(b)]).collect();
        let count = pairs.len() as f64;
        let mean = [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).sum::<f64>() / count);
        let product = |one: usize, other: usize| {
            pairs.iter().map(|pair| (pair[one] - mean[one]) * (pair[other] - mean[other])).sum::<f64>()
        };
        product(0, 1) / (product(0, 0) * product(1, 1)).sqrt()
    }

    #[test]
    fn one_sequence_scores_as_blosum62() {
        let matrix = Matrix::named("BLOSUM62").unwrap();
        let query = b"ARNDCQEGHILKMFPSTWYVBZXJUO*";
        let profile = of_alignment("q", &[query]);
        for (letter, scores) in query.iter().zip(&profile.scores) {
            let expected = &matrix.scores[code(*letter)];
            assert_eq!(scores[..AMINO_ACIDS], expected[..AMINO_ACIDS], "{}", *letter as char);
            let differences = scores.iter().zip(expected).map(|(a, b)| a.abs_diff(*b));
            assert!(differences.max().unwrap() <= 1, "{}", *letter as char);
        }
        // Copies are no further evidence.
        let copies = of_alignment("q", &[query, query, query]);
        assert_eq!(copies.scores[..AMINO_ACIDS], profile.scores[..AMINO_ACIDS]);
    }

    /// The example of Henikoff and Henikoff 1994: weights of 4/15, 4/15, 3/15 and 4/15.
    #[test]
    fn sequences_are_weighted() {
        let rows: [&[u8]; 4] = [b"GYVGS", b"GFDGF", b"GYDGF", b"GYQGG"];
        let observed = Columns::new(&rows, 5).observed(1).unwrap();
        assert!((observed.frequencies[code(b'Y')] - 11.0 / 15.0).abs() < 1e-12);
        assert!((observed.frequencies[code(b'F')] - 4.0 / 15.0).abs() < 1e-12);
        assert!((observed.kinds - 2.0).abs() < 1e-12);
    }

    /// Both sequences weigh the same, and alpha is 1/2. In the first column, Q/p of A is
    /// (0.5 / 0.07805 + 10 exp(4 lambda)) / 10.5 = 4.00: a score of 4.37. In the second one, Q/p of C is
    /// (0.25 / 0.01925 + 5 (exp(9 lambda) + exp(-2 lambda))) / 10.5 = 9.79: 7.18; that of W is 17.7: 9.05; that of A is
    /// 0.66: -1.31.
    #[test]
    fn scores_are_those_of_the_formula() {
        let profile = of_alignment("q", &[b"AC", b"aw"]);
        assert_eq!(of(&profile.scores[0], b"A"), [4]);
        assert_eq!(of(&profile.scores[1], b"CWAX*"), [7, 9, -1, -1, -4]);
        assert_eq!(profile.residues, b"AC");
    }

    #[test]
    fn columns_without_other_residues_score_as_the_query() {
        let rows: [&[u8]; 4] = [b"ACDWEX", b"AC-XE-", b"C", b"---"];
        let profile = of_alignment("q", &rows);
        let matrix = Matrix::named("BLOSUM62").unwrap();
        for column in [2, 3, 5] {
            let row = &matrix.scores[code(rows[0][column])];
            assert_eq!(profile.scores[column][..AMINO_ACIDS], row[..AMINO_ACIDS], "{column}");
        }
        assert_ne!(profile.scores[0][..AMINO_ACIDS], matrix.scores[0][..AMINO_ACIDS]);
        // U is C.
        assert_eq!(of_alignment("q", &[b"MU", b"MW"]).scores, of_alignment("q", &[b"MC", b"MW"]).scores);
        assert_eq!(of_alignment("q", &[]), Profile { name: "q".to_string(), ..Profile::default() });
    }

    #[test]
    fn fasta_and_a3m_are_one_alignment() {
        let fasta = only(b">q 1\nAC-D\nE--\n>r\r\nAcwDE\r\n.-\n>s\nGC-\nDE-W\n");
        assert_eq!((&fasta.name[..], &fasta.residues[..]), ("q", &b"ACDE"[..]));
        let a3m = only(b"#A3M#\n>ss_pred\nHHHH\n>q 1\nACDE\n\n>r\nACw.DE\n>s\nGCDEyyy\n");
        assert_eq!(fasta.scores, a3m.scores);
        assert_eq!(fasta.dropped, a3m.dropped);
        assert!(only(b">\nACDE\n").dropped.is_none());
        assert_eq!(only(b">\nACDE\n").name, "query");
    }

    #[test]
    fn faults_have_lines() {
        for (text, line, problem) in [
            (&b">q\nACDE\n>r\nACD\n"[..], 3, "'r' has 3 aligned positions"),
            (b">q\nACDE\n>r\nAC1E\n", 4, "'1' is no residue"),
            (b">q\nACDE\n>r\nAC\xc3\xa9E\n", 4, "is no residue"),
            (b"#\nACDE\n", 2, "must begin with"),
            (b"#\n", 1, "no sequences"),
            (b">ss_pred\nHH\n", 1, "no sequences"),
            (b">q\n--\n>r\nAC\n", 1, "no residues"),
            (b">q\n", 1, "no residues"),
        ] {
            let (at, text) = fault(text);
            assert!(at == line && text.contains(problem), "{at}: {text}");
        }
        let long = [b">q\n", &vec![b'A'; super::super::MOST_POSITIONS + 1][..]].concat();
        assert_eq!(fault(&long), (1, "a profile has more than 1048576 positions".to_string()));
    }

    /// PSI-BLAST makes the matrix of the same alignment, with pseudocounts of another kind (Altschul et al. 2009).
    #[test]
    fn scores_are_near_those_of_psi_blast() {
        let (ours, theirs) = (only(A3M), only(ASCII));
        assert_eq!(ours.residues, theirs.residues);
        assert!(correlation(&ours, &theirs) > 0.95, "{}", correlation(&ours, &theirs));
    }
}
