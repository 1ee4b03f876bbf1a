//! PSI-BLAST's matrices: the table of `psiblast -out_ascii_pssm`, and `PssmWithParameters` in ASN.1's text notation, as
//! `psiblast -out_pssm` writes it and as the conserved domain database has it (`.smp`).

mod asn;

pub use asn::parse_asn;

use super::{
    AMINO_ACIDS, Profile, ProfileFault, Result, amino_acid, check_positions, lines, nearest, position, shown,
};
use crate::terms::alphabet::Alphabet;

/// How a table begins.
pub const TITLE: &str = "Last position-specific scoring matrix";
const MAKE_AGAIN: &str = "write the table again with `psiblast -out_ascii_pssm`";

/// The codes of a table's columns of scores: the amino acids in any order. `None` if the line has no titles of columns.
pub fn columns(line: &str) -> Option<[usize; AMINO_ACIDS]> {
    let mut words = line.split_whitespace();
    let mut columns = [0; AMINO_ACIDS];
    for at in 0..AMINO_ACIDS {
        let &[letter] = words.next()?.as_bytes() else { return None };
        columns[at] = amino_acid(letter).filter(|code| !columns[..at].contains(code))?;
    }
    Some(columns)
}

/// Parses tables. A line with the titles of columns begins a table, and an empty line ends it. Other lines are ignored.
pub fn parse_ascii(text: &[u8], name: &str) -> Result<Vec<Profile>> {
    let mut profiles: Vec<Profile> = Vec::new();
    let mut open: Option<(Profile, [usize; AMINO_ACIDS])> = None;
    let mut last = 1;
    for (number, line) in lines(text) {
        last = number;
        if let Some(columns) = columns(&line) {
            profiles.extend(closed(open.take(), number)?);
            let name = match profiles.len() {
                0 => name.to_string(),
                before => format!("{name}_{}", before + 1),
            };
            open = Some((Profile { name, ..Profile::default() }, columns));
        } else if line.trim().is_empty() {
            profiles.extend(closed(open.take(), number)?);
        } else if let Some((profile, columns)) = &mut open {
            let (residue, scores) = row(&line, columns, profile.residues.len() + 1)
                .map_err(|problem| ProfileFault::new(number, problem, MAKE_AGAIN))?;
            profile.residues.push(residue);
            profile.scores.push(scores);
            check_positions(profile.residues.len(), number)?;
        }
    }
    profiles.extend(closed(open, last)?);
    match profiles.is_empty() {
        false => Ok(profiles),
        true => {
            Err(ProfileFault::new(last, "the line with the titles of the columns is missing", MAKE_AGAIN))
        }
    }
}

/// A finished table, which must have rows.
fn closed(open: Option<(Profile, [usize; AMINO_ACIDS])>, line: u64) -> Result<Option<Profile>> {
    match open {
        Some((profile, _)) if profile.residues.is_empty() => {
            Err(ProfileFault::new(line, "the table has no rows", MAKE_AGAIN))
        }
        open => Ok(open.map(|(profile, _)| profile)),
    }
}

/// The residue and the scores of a row, which must be that of position `number`.
fn row(
    line: &str,
    columns: &[usize; AMINO_ACIDS],
    number: usize,
) -> Result<(u8, [i8; super::COLUMNS]), String> {
    // Wide negative scores may fill their columns.
    let line = line.replace('-', " -");
    let mut words = line.split_whitespace();
    let position_word = words.next().unwrap_or("");
    if position_word.parse() != Ok(number) {
        return Err(format!(
            "the row of position {number} is missing: it begins with '{}'",
            shown(position_word)
        ));
    }
    let residue = match words.next().map(str::as_bytes) {
        Some(&[letter]) if Alphabet::Protein.code(letter).is_some() => letter.to_ascii_uppercase(),
        _ => return Err("the second word of a row must be its residue".to_string()),
    };
    let mut scores = [0; AMINO_ACIDS];
    for &column in columns {
        let word = words.next().ok_or("a row must have 20 scores")?;
        let score: i32 = word.parse().map_err(|_| format!("'{}' is not an integer", shown(word)))?;
        scores[column] = nearest(f64::from(score));
    }
    Ok((residue, position(scores)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ASCII, ASN, fault, only};
    use super::*;

    const TITLES: &str = "   A  R  N  D  C  Q  E  G  H  I  L  K  M  F  P  S  T  W  Y  V\n";
    const ROW: &str = "1 w -3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1 1 -4 -3 -2 11 2 -3\n";

    #[test]
    fn tables_have_their_scores() {
        let profile = only(ASCII);
        assert_eq!(&profile.residues, b"EKRPRTAFSSEQLARLKREFNENRYLTERRRQQLSSELGLNEAQIKIWFQNARAKI");
        // B is the mean of 0 and 3, Z that of 1 and 2, and J that of -3 and -3.
        let first =
            [-1, 3, 0, 3, -4, 1, 2, -2, -1, -3, -3, 3, -2, -3, -2, 0, -1, -3, -2, -3, 2, 2, -1, -4, -3];
        assert_eq!(profile.scores[0], first);
        let last = &profile.scores[55][..5];
        assert_eq!(last, [-1, -3, -3, -3, -2]);
        assert_eq!(profile.dropped, None);
    }

    #[test]
    fn both_formats_have_the_same_scores() {
        let (table, record) = (only(ASCII), only(ASN));
        assert_eq!(table.residues, record.residues);
        for (table, record) in table.scores.iter().zip(&record.scores) {
            assert_eq!(table[..AMINO_ACIDS], record[..AMINO_ACIDS]);
        }
    }

    #[test]
    fn columns_may_have_another_order_and_scores_may_touch() {
        let titles = "V R N D C Q E G H I L K M F P S T W Y A\n";
        let profile =
            only(format!("{titles}1 W -3-10 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1 1 -4 -3 -2 300 2 5").as_bytes());
        let score = |letter| profile.scores[0][amino_acid(letter).unwrap()];
        assert_eq!((score(b'V'), score(b'R'), score(b'W'), score(b'A')), (-3, -10, 127, 5));
    }

    #[test]
    fn a_file_may_have_several_tables() {
        let text = format!("{TITLES}{ROW}\nK Lambda\n\n{TITLE}\r\n{TITLES}{ROW}").replace('\n', "\r\n");
        let profiles = parse_ascii(text.as_bytes(), "q").unwrap();
        assert_eq!(profiles.iter().map(|profile| &profile.name[..]).collect::<Vec<_>>(), ["q", "q_2"]);
        assert_eq!(profiles[0].scores, profiles[1].scores);
        assert_eq!(profiles[0].residues, b"W");
    }

    #[test]
    fn faults_have_lines() {
        for (text, line, problem) in [
            (format!("{TITLES}{ROW}{ROW}"), 3, "position 2 is missing: it begins with '1'"),
            (format!("{TITLES}\n{ROW}"), 2, "no rows"),
            (format!("{TITLE}\n{ROW}"), 2, "titles of the columns"),
            (format!("{TITLES}{}", ROW.replace('w', "?")), 2, "residue"),
            (format!("{TITLES}{}", ROW.replace("11", "x")), 2, "'x' is not an integer"),
            (format!("{TITLES}{}", ROW.replace("11 2 -3", "11 2")), 2, "20 scores"),
            (format!("{TITLES}{}", ROW.replace("11", "99999999999")), 2, "'99999999999' is not an integer"),
        ] {
            let (at, text) = fault(text.as_bytes());
            assert!(at == line && text.contains(problem), "{at}: {text}");
        }
    }
}
