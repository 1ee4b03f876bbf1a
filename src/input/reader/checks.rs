//! Requirements of SAM and of the alphabets on records.

use crate::terms::alphabet::Alphabet;
use std::borrow::Cow;

/// The longest reference that SAM can describe.
pub const MAX_REFERENCE: usize = i32::MAX as usize;
/// Maximum number of references: they are numbered by 32 bits.
pub const MAX_REFERENCES: usize = u32::MAX as usize;
/// The longest query: positions in it are signed numbers of 32 bits, as in a reference.
pub const MAX_QUERY: usize = i32::MAX as usize;
/// The longest query name that SAM can hold.
pub const MAX_QUERY_NAME: usize = 254;

/// Whether `letters` can only be protein: they do not even fit IUPAC codes, and too few are A, C, G or T for a stray
/// character in DNA.
pub fn is_protein(letters: &[u8]) -> bool {
    let foreign = |alphabet: Alphabet| letters.iter().any(|&letter| alphabet.code(letter).is_none());
    let plain = letters.iter().filter(|letter| b"ACGTUN".contains(letter)).count();
    plain * 10 < letters.len() * 9 && foreign(Alphabet::Dna) && !foreign(Alphabet::Protein)
}

/// Checks a reference against SAM's requirements; the error is the problem and its remedy.
pub fn check_reference(name: &str, len: usize) -> Result<(), (String, &'static str)> {
    check_reference_name(name).map_err(|problem| (problem, "rename the reference"))?;
    check_named_reference(name, len)
}

/// Checks a reference name against SAM's requirements; the error is the problem.
pub fn check_reference_name(name: &str) -> Result<(), String> {
    if let Some(c) = name.chars().find(|&c| !is_of_references(c)) {
        return Err(format!("SAM forbids '{}' in a reference name", c.escape_default()));
    }
    match name.chars().next().filter(|&c| is_no_start(c)) {
        Some(c) => Err(format!("SAM forbids '{c}' at the start of a reference name")),
        None => Ok(()),
    }
}

/// A reference name with `_` for each character that SAM forbids; borrowed if there is none.
pub fn sam_name(name: &str) -> Cow<'_, str> {
    if check_reference_name(name).is_ok() {
        return Cow::Borrowed(name);
    }
    let takes = |(at, c)| is_of_references(c) && !(at == 0 && is_no_start(c));
    name.chars().enumerate().map(|(at, c)| if takes((at, c)) { c } else { '_' }).collect()
}

/// Whether SAM allows the character in a reference name after its first position.
fn is_of_references(c: char) -> bool {
    c.is_ascii_graphic() && !"\\,\"'`()[]{}<>".contains(c)
}

/// Whether SAM forbids the character only at the start of a reference name.
fn is_no_start(c: char) -> bool {
    "*=".contains(c)
}

/// Checks the requirements of all formats on a reference; the error is the problem and its remedy.
pub fn check_named_reference(name: &str, len: usize) -> Result<(), (String, &'static str)> {
    if name.is_empty() {
        return Err(("the reference has no name".to_string(), "put a name right after '>'"));
    }
    match len {
        0 => Err(("the reference is empty".to_string(), "add its sequence, or remove the record")),
        1..=MAX_REFERENCE => Ok(()),
        _ => Err((
            format!("the reference has {len} residues, but SAM allows {MAX_REFERENCE}"),
            "split the reference",
        )),
    }
}

/// Returns an error for more references than can be numbered; the error is the problem and its remedy.
pub fn check_reference_count(count: usize) -> Result<(), (String, &'static str)> {
    match count {
        0..=MAX_REFERENCES => Ok(()),
        _ => Err((format!("there are more than {MAX_REFERENCES} references"), "split the file")),
    }
}

/// Checks the requirements of all formats on a query name; the error is the problem and its remedy.
pub fn check_named_query(name: &str) -> Result<(), (String, &'static str)> {
    match name.is_empty() {
        true => Err(("the query has no name".to_string(), "put a name right after '>' or '@'")),
        false => Ok(()),
    }
}

/// Checks a query name against SAM's requirements (`[!-?A-~]{1,254}`, and not `*`); the error is the problem and its
/// remedy.
pub fn check_query_name(name: &str) -> Result<(), (String, &'static str)> {
    let rename = "rename the query";
    check_named_query(name)?;
    if name == "*" {
        return Err(("the name '*' means no name in SAM".to_string(), rename));
    }
    let allowed = |c: char| c.is_ascii_graphic() && c != '@';
    // Without an early exit, so that the loop vectorizes.
    let sound = name.bytes().fold(true, |sound, byte| sound & allowed(char::from(byte)));
    if !sound && let Some(c) = name.chars().find(|&c| !allowed(c)) {
        let problem = format!("SAM forbids '{}' in a query name", c.escape_default());
        return Err((problem, rename));
    }
    if name.len() > MAX_QUERY_NAME {
        let problem = format!("the name has {} characters, but SAM allows {MAX_QUERY_NAME}", name.len());
        return Err((problem, rename));
    }
    Ok(())
}

/// The remedy for a protein residue in DNA. The command adds its flag.
pub const MAYBE_PROTEIN: &str = "replace it with N, or read the sequences as proteins if they are";

/// The remedy for gaps of aligned FASTA. The command adds its flag.
pub const HAS_GAPS: &str = "remove the gap characters of aligned sequences";

/// The remedy for a character outside `alphabet`, in FASTQ or FASTA.
pub fn letter_remedy(letter: u8, alphabet: Alphabet, is_fastq: bool) -> &'static str {
    match (letter, alphabet) {
        (b'-' | b'.', _) if !is_fastq => HAS_GAPS,
        (b'-' | b'.', _) => "remove the gap characters and their qualities",
        (_, Alphabet::Protein) => "replace it with X, or remove it",
        (b'A'..=b'Z' | b'*', Alphabet::Dna) => MAYBE_PROTEIN,
        (_, Alphabet::Dna) => "replace it with N, or remove it",
    }
}
