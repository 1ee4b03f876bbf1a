//! `PssmWithParameters` in the text notation of ASN.1. Its scores have a column for each position and a row for each
//! residue of NCBIstdaa. Rows without scores hold -32768.

use super::super::{
    AMINO_ACIDS, B, COLUMNS, J, MOST_POSITIONS, Profile, ProfileFault, Result, STOP, X, Z, amino_acid,
    check_positions, nearest, position, shown,
};
use crate::terms::alphabet::Alphabet;
use std::borrow::Cow;

/// NCBIstdaa. Older files lack the last two residues.
const NCBISTDAA: &[u8; 28] = b"-ABCDEFGHIKLMNPQRSTVWXYZU*OJ";
const FEWEST_ROWS: usize = 26;
/// Values up to this one are no scores.
const MISSING: i64 = -16_384;
/// Maximum number of open braces, and of words of an element.
const MOST_NESTED: usize = 64;
const RECORD: &str = "PssmWithParameters";
const MAKE_AGAIN: &str = "write the matrix again with `psiblast -out_pssm` or `-out_ascii_pssm`";
const MAKE_SCORES: &str = "make a matrix of scores with `psiblast -in_pssm FILE -db DB -out_ascii_pssm OUT`";

/// Parses records, one after the other.
pub fn parse_asn(text: &[u8], name_if_none: &str) -> Result<Vec<Profile>> {
    let mut tokens = Tokens { text, at: 0, line: 1 };
    let mut profiles = Vec::new();
    let mut record = Checkpoint::default();
    // The names of the open braces, and the words of the current element.
    let (mut path, mut words): (Vec<String>, Vec<Cow<str>>) = (Vec::new(), Vec::new());
    while let Some(token) = tokens.next()? {
        let fault = |text: &str| ProfileFault::new(tokens.line, text, MAKE_AGAIN);
        match token {
            Token::Assign if path.is_empty() && words == [RECORD] => record = Checkpoint::default(),
            Token::Assign => return Err(fault("a record must begin with `PssmWithParameters ::=`")),
            Token::Open | Token::Word(_) if path.len().max(words.len()) == MOST_NESTED => {
                return Err(fault("the record is nested too deeply"));
            }
            Token::Open => {
                path.push(words.join(" "));
                words.clear();
            }
            Token::Word(word) => words.push(word),
            Token::Comma => {
                record.set(&path, &words, tokens.line)?;
                words.clear();
            }
            Token::Close => {
                record.set(&path, &words, tokens.line)?;
                words.clear();
                path.pop().ok_or_else(|| fault("a closing brace has no opening brace"))?;
                if path.is_empty() {
                    profiles.push(std::mem::take(&mut record).profile(name_if_none, tokens.line)?);
                }
            }
        }
    }
    match path.is_empty() && words.is_empty() && !profiles.is_empty() {
        true => Ok(profiles),
        false => Err(ProfileFault::new(tokens.line, "the file ends inside a record", MAKE_AGAIN)),
    }
}

/// The fields of a record that a profile needs.
#[derive(Default)]
struct Checkpoint {
    /// The first identifier of the query, and whether it is one that PSI-BLAST made up.
    id: Option<(String, bool)>,
    database: String,
    title: String,
    query: Vec<u8>,
    rows: usize,
    columns: usize,
    by_row: bool,
    scores: Vec<i64>,
    scaling: Option<i64>,
}

impl Checkpoint {
    /// Stores the value of an element, which is the last of its words.
    fn set(&mut self, path: &[String], words: &[Cow<str>], line: u64) -> Result<()> {
        let fault = |text: String| Err(ProfileFault::new(line, text, MAKE_AGAIN));
        let number = |word: &str| match word.parse::<i64>() {
            Ok(number) => Ok(number),
            Err(_) => {
                Err(ProfileFault::new(line, format!("'{}' is not an integer", shown(word)), MAKE_AGAIN))
            }
        };
        let size = |word: &str| {
            let size = usize::try_from(number(word)?).unwrap_or(usize::MAX);
            check_positions(size, line).map(|()| size)
        };
        let path = path.iter().map(String::as_str).collect::<smallvec::SmallVec<[&str; 8]>>();
        let [RECORD, "pssm", path @ ..] = &path[..] else { return Ok(()) };
        let words = words.iter().map(Cow::as_ref).collect::<smallvec::SmallVec<[&str; 4]>>();
        match (path, &words[..]) {
            ([], ["isProtein", "FALSE"]) => return fault("the matrix is not one of proteins".to_string()),
            ([], ["numRows", word]) => self.rows = size(word)?,
            ([], ["numColumns", word]) => self.columns = size(word)?,
            ([], ["byRow", word]) => self.by_row = *word == "TRUE",
            (["finalData"], ["scalingFactor", word]) => self.scaling = Some(number(word)?),
            (["finalData", "scores"], [word]) => {
                if self.scores.len() == NCBISTDAA.len() * MOST_POSITIONS {
                    return fault("the record has too many scores".to_string());
                }
                self.scores.push(number(word)?);
            }
            (["query seq", "inst"], ["seq-data", kind, letters]) => self.query = query(kind, letters, line)?,
            (["query seq", "descr"], ["title", title]) if self.title.is_empty() => {
                self.title = title.to_string()
            }
            (["query seq", "id", "general"], ["db", name]) => self.database = name.to_string(),
            (["query seq", "id", "general"], ["tag", _, tag]) => {
                let id = format!("{}:{tag}", self.database);
                self.id.get_or_insert((id, false));
            }
            (["query seq", "id"], ["local", _, id]) => {
                let made_up = id.starts_with("Query_");
                self.id.get_or_insert((id.to_string(), made_up));
            }
            (["query seq", "id"], ["gi", id]) => {
                self.id.get_or_insert((format!("gi|{id}"), true));
            }
            (["query seq", "id", _], ["accession", id])
                if self.id.as_ref().is_none_or(|(_, made_up)| *made_up) =>
            {
                self.id = Some((id.to_string(), false));
            }
            _ => {}
        }
        Ok(())
    }

    fn profile(self, name_if_none: &str, line: u64) -> Result<Profile> {
        let fault = |text: String, remedy| Err(ProfileFault::new(line, text, remedy));
        let (rows, columns) = (self.rows, self.columns);
        if self.scores.is_empty() {
            return fault("the record has no scores (finalData), only frequencies".to_string(), MAKE_SCORES);
        }
        if !(FEWEST_ROWS..=NCBISTDAA.len()).contains(&rows) {
            return fault(
                format!("the matrix has {rows} rows instead of 28, one for each residue"),
                MAKE_AGAIN,
            );
        }
        if self.scores.len() != rows * columns {
            let problem =
                format!("the matrix has {} scores instead of {rows} x {columns}", self.scores.len());
            return fault(problem, MAKE_AGAIN);
        }
        if self.query.len() != columns {
            let problem =
                format!("the query has {} residues, and the matrix {columns} columns", self.query.len());
            return fault(problem, MAKE_AGAIN);
        }
        let scaling = match self.scaling.unwrap_or(1) {
            scaling @ 1..=1_000_000 => scaling,
            other => {
                return fault(format!("the scaling factor {other} is not between 1 and 1000000"), MAKE_AGAIN);
            }
        };
        let score_at = |column: usize, row: usize| {
            self.scores[if self.by_row { row * columns + column } else { column * rows + row }]
        };
        let scores = (0..columns).map(|column| scores(|row| score_at(column, row), rows, scaling)).collect();
        let title = self.title.split_whitespace().next().map(|word| word.trim_end_matches(',').to_string());
        let name = match (self.id, title) {
            (Some((_, true)), Some(title)) | (None, Some(title)) => title,
            (Some((id, _)), _) => id,
            (None, None) => name_if_none.to_string(),
        };
        Ok(Profile { name, residues: self.query, scores, ..Profile::default() })
    }
}

/// The scores of a position from those of the rows.
fn scores(score_of_row: impl Fn(usize) -> i64, rows: usize, scaling: i64) -> [i8; COLUMNS] {
    // Both are far below 2^53.
    let number = |value: i64| f64::from(i32::try_from(value.clamp(MISSING, -MISSING)).unwrap_or(0));
    let scaled = |value: i64| nearest(number(value) / number(scaling));
    let of = |letter: u8| {
        let row = NCBISTDAA[..rows].iter().position(|&known| known == letter)?;
        Some(score_of_row(row)).filter(|&score| score > MISSING)
    };
    let mut amino_acids = [scaled(MISSING); AMINO_ACIDS];
    for &letter in NCBISTDAA {
        if let (Some(code), Some(score)) = (amino_acid(letter), of(letter)) {
            amino_acids[code] = scaled(score);
        }
    }
    let mut scores = position(amino_acids);
    for (letter, code) in [(b'B', B), (b'Z', Z), (b'X', X), (b'*', STOP), (b'J', J)] {
        if let Some(score) = of(letter) {
            scores[code] = scaled(score);
        }
    }
    scores
}

/// The residues of the query from its encoding.
fn query(kind: &str, letters: &str, line: u64) -> Result<Vec<u8>> {
    let fault = |text: String| ProfileFault::new(line, text, MAKE_AGAIN);
    let residues: Vec<u8> = match kind {
        "ncbieaa" | "iupacaa" => letters.bytes().map(|letter| letter.to_ascii_uppercase()).collect(),
        "ncbistdaa" => {
            let digit = |digit: u8| char::from(digit).to_digit(16).unwrap_or(u32::from(u8::MAX));
            let (pairs, rest) = letters.as_bytes().as_chunks::<2>();
            let residue = |&[high, low]: &[u8; 2]| {
                let code = usize::try_from(digit(high) * 16 + digit(low)).ok()?;
                NCBISTDAA.get(code).copied()
            };
            let residues: Option<Vec<u8>> = pairs.iter().map(residue).collect();
            residues
                .filter(|_| rest.is_empty())
                .ok_or_else(|| fault("the query is not a sequence of codes of NCBIstdaa".to_string()))?
        }
        _ => return Err(fault(format!("the query is encoded as {}, which is not supported", shown(kind)))),
    };
    check_positions(residues.len(), line)?;
    match residues.iter().find(|&&letter| Alphabet::Protein.code(letter).is_none()) {
        None => Ok(residues),
        Some(&letter) => {
            Err(fault(format!("the query has '{}', which is no residue", char::from(letter).escape_debug())))
        }
    }
}

enum Token<'a> {
    Open,
    Close,
    Comma,
    Assign,
    /// A name, a number, the contents of a string, or the digits of a string of bytes.
    Word(Cow<'a, str>),
}

struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    /// 1-based line of the last token.
    line: u64,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Result<Option<Token<'a>>> {
        let Some(first) = self.skip_space() else { return Ok(None) };
        self.at += 1;
        let token = match first {
            b'{' => Token::Open,
            b'}' => Token::Close,
            b',' => Token::Comma,
            b'"' => Token::Word(self.quoted(b'"')?),
            b'\'' => {
                let digits = self.quoted(b'\'')?;
                // H for hexadecimal digits.
                if self.text.get(self.at) != Some(&b'H') {
                    return Err(ProfileFault::new(
                        self.line,
                        "a string of bytes must be hexadecimal",
                        MAKE_AGAIN,
                    ));
                }
                self.at += 1;
                Token::Word(digits)
            }
            b':' if self.text[self.at..].starts_with(b":=") => {
                self.at += 2;
                Token::Assign
            }
            _ => {
                let is_end = |&byte: &u8| byte.is_ascii_whitespace() || b"{},\"'".contains(&byte);
                let rest = &self.text[self.at - 1..];
                let word = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
                self.at += word.len() - 1;
                Token::Word(String::from_utf8_lossy(word))
            }
        };
        Ok(Some(token))
    }

    /// The next byte that is not white space.
    fn skip_space(&mut self) -> Option<u8> {
        while let Some(&byte) = self.text.get(self.at) {
            if !byte.is_ascii_whitespace() {
                return Some(byte);
            }
            self.line += u64::from(byte == b'\n');
            self.at += 1;
        }
        None
    }

    /// The contents up to the closing quote, without line ends. Two quotes stand for one.
    fn quoted(&mut self, quote: u8) -> Result<Cow<'a, str>> {
        let begin = self.line;
        let mut contents = Vec::new();
        loop {
            let Some(&byte) = self.text.get(self.at) else {
                return Err(ProfileFault::new(begin, "a string does not end", MAKE_AGAIN));
            };
            self.at += 1;
            match byte {
                b'\n' => self.line += 1,
                b'\r' => {}
                _ if byte != quote => contents.push(byte),
                _ if quote == b'"' && self.text.get(self.at) == Some(&quote) => {
                    contents.push(quote);
                    self.at += 1;
                }
                _ => return Ok(Cow::Owned(String::from_utf8_lossy(&contents).into_owned())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{ASN, fault, only};
    use super::*;

    /// A record of two positions, W and A, whose scores are ten times the row's number plus the position's.
    fn record(by_row: bool, rows: usize, rest: &str) -> String {
        let score = |row: usize, column: usize| (10 * row + column).to_string();
        let scores: Vec<String> = match by_row {
            true => (0..rows).flat_map(|row| [score(row, 0), score(row, 1)]).collect(),
            false => (0..2).flat_map(|column| (0..rows).map(move |row| score(row, column))).collect(),
        };
        format!(
            "PssmWithParameters ::= {{ pssm {{ isProtein TRUE, numRows {rows}, numColumns 2, byRow {}, query seq {{ id {{
            general {{ db \"CDD\", tag id 123 }} }}, descr {{ title \"cd1, a\n \"\"b\"\"\" }}, inst {{ repr raw, mol aa,
            length 2, seq-data ncbieaa \"W\nA\" }} }}, finalData {{ scores {{ {} }}, lambda {{ 267, 10, -3 }},
            scalingFactor 10 }} }}{rest} }}",
            by_row.to_string().to_uppercase(),
            scores.join(", ")
        )
    }

    #[test]
    fn scores_are_found_by_column_and_by_row() {
        let profile = only(record(false, 28, "").as_bytes());
        assert_eq!((&profile.name[..], &profile.residues[..]), ("CDD:123", &b"WA"[..]));
        // Rows: A 1, R 16, B 2, Z 23, X 21, * 25, J 27.
        let [first, second] = [0, 1].map(|column| profile.scores[column]);
        assert_eq!(
            [first[0], first[1], first[B], first[Z], first[X], first[STOP], first[J]],
            [1, 16, 2, 23, 21, 25, 27]
        );
        assert_eq!(first, second);
        assert_eq!(only(record(true, 28, "").as_bytes()), profile);
        let digits = record(true, 28, "").replace("ncbieaa \"W\nA\"", "ncbistdaa '14\n01'H");
        assert_eq!(only(digits.as_bytes()), profile);
        // Without a row of J: the mean of I and L.
        let older = only(record(true, 26, ", params { pseudocount 0 }").as_bytes());
        assert_eq!((&older.scores[0][..J], older.scores[0][J]), (&profile.scores[0][..J], 10));
    }

    #[test]
    fn rows_without_scores_are_filled_in() {
        let filled = only(ASN).scores[0];
        // The first residue is E, whose column has no B, Z and J.
        assert_eq!([filled[B], filled[Z], filled[X], filled[STOP], filled[J]], [2, 2, -1, -4, -3]);
    }

    #[test]
    fn names_come_from_the_query() {
        let name = |from: &str, to: &str| {
            let text = str::from_utf8(ASN).unwrap();
            assert!(text.contains(from));
            only(text.replace(from, to).as_bytes()).name
        };
        assert_eq!(name("local str \"d1p7id_\"", "local str \"Query_1\""), "Query_1");
        assert_eq!(name("inst {", "descr { title \"a b\" }, inst {"), "d1p7id_");
        assert_eq!(name("local str \"d1p7id_\"", "gi 5, swissprot { name \"N\", accession \"P1\" }"), "P1");
        let query = "local str \"Query_1\"\n }, descr { title \"sp|P1|N of fly\" }, other {";
        assert_eq!(name("local str \"d1p7id_\"", query), "sp|P1|N");
        assert_eq!(name("local str \"d1p7id_\"", ""), "query");
    }

    #[test]
    fn faults_have_lines() {
        let good = record(false, 28, "");
        for (from, to, problem) in [
            ("TRUE", "FALSE", "not one of proteins"),
            ("numRows 28", "numRows 20", "20 rows"),
            ("numRows 28", "numRows 27", "56 scores instead of 27 x 2"),
            ("numColumns 2", "numColumns 99999999", "more than 1048576 positions"),
            ("numColumns 2", "numColumns -1", "more than 1048576 positions"),
            ("numColumns 2", "numColumns x", "'x' is not an integer"),
            ("\"W\nA\"", "\"WAA\"", "the query has 3 residues"),
            ("\"W\nA\"", "\"W1\"", "no residue"),
            ("ncbieaa", "ncbi8aa", "not supported"),
            ("ncbieaa \"W\nA\"", "ncbistdaa '141'H", "NCBIstdaa"),
            ("ncbieaa \"W\nA\"", "ncbistdaa 'FFFF'H", "NCBIstdaa"),
            ("ncbieaa \"W\nA\"", "ncbistdaa '1401'B", "hexadecimal"),
            ("scalingFactor 10", "scalingFactor 0", "scaling factor 0"),
            ("finalData", "intermediateData", "only frequencies"),
            ("PssmWithParameters ::=", "PssmWithParameters x ::=", "must begin"),
        ] {
            assert!(good.contains(from), "{from}");
            let (_, text) = fault(good.replacen(from, to, 1).as_bytes());
            assert!(text.contains(problem), "{from}: {text}");
        }
        assert_eq!(fault(good.replace("lambda", "\"").as_bytes()), (5, "a string does not end".to_string()));
        assert!(fault(format!("{good} }}").as_bytes()).1.contains("no opening brace"));
        assert!(fault(&good.as_bytes()[..good.len() - 1]).1.contains("ends inside"));
        assert!(fault(b"PssmWithParameters").1.contains("ends inside"));
        for deep in ["{", "x "] {
            let text = format!("PssmWithParameters ::= {{ {}", deep.repeat(100));
            assert!(fault(text.as_bytes()).1.contains("too deeply"));
        }
    }
}
