//! What SAM and the alphabets demand of a record.

use crate::alphabet::Alphabet;

/// The longest reference that SAM can describe.
pub const MAX_REFERENCE: usize = i32::MAX as usize;
/// The longest query name that SAM can hold.
const MAX_QUERY_NAME: usize = 254;
/// Whether `letters` can only be protein: not even IUPAC codes spell them, and too few are A, C, G
/// or T for a stray character in DNA.
pub fn is_protein(letters: &[u8]) -> bool {
    let foreign = |alphabet: Alphabet| letters.iter().any(|&letter| alphabet.code(letter).is_none());
    let plain = letters.iter().filter(|letter| b"ACGTUN".contains(letter)).count();
    plain * 10 < letters.len() * 9 && foreign(Alphabet::Dna) && !foreign(Alphabet::Protein)
}

/// What SAM demands of a reference; the error is the problem and its remedy.
pub fn check_reference(name: &str, len: usize) -> Result<(), (String, &'static str)> {
    let allowed = |c: char| c.is_ascii_graphic() && !"\\,\"'`()[]{}<>".contains(c);
    let rename = "rename the reference";
    if name.is_empty() {
        return Err(("the reference has no name".to_string(), "put a name right after '>'"));
    }
    if let Some(c) = name.chars().find(|&c| !allowed(c)) {
        let problem = format!("SAM forbids '{}' in a reference name", c.escape_default());
        return Err((problem, rename));
    }
    if let Some(c) = name.chars().next().filter(|c| "*=".contains(*c)) {
        return Err((format!("SAM forbids '{c}' at the start of a reference name"), rename));
    }
    match len {
        0 => Err(("the reference has no letters".to_string(), "give it a sequence or remove it")),
        1..=MAX_REFERENCE => Ok(()),
        _ => Err((
            format!("the reference has {len} letters, and SAM's limit is {MAX_REFERENCE}"),
            "cut the reference into shorter ones",
        )),
    }
}

/// What SAM demands of a query's name (`[!-?A-~]{1,254}`, and `*` is no name); the error is the problem and its remedy.
pub fn check_query_name(name: &str) -> Result<(), (String, &'static str)> {
    let rename = "rename the query";
    if name.is_empty() {
        return Err(("the query has no name".to_string(), "put a name right after '>' or '@'"));
    }
    if name == "*" {
        return Err(("the name '*' stands for no name in SAM".to_string(), rename));
    }
    let allowed = |c: char| c.is_ascii_graphic() && c != '@';
    // Bytes without a way out before the end: that is many at a time.
    let sound = name.bytes().fold(true, |sound, byte| sound & allowed(char::from(byte)));
    if !sound && let Some(c) = name.chars().find(|&c| !allowed(c)) {
        let problem = format!("SAM forbids '{}' in a query name", c.escape_default());
        return Err((problem, rename));
    }
    if name.len() > MAX_QUERY_NAME {
        let problem = format!("the name has {} characters, and SAM's limit is {MAX_QUERY_NAME}", name.len());
        return Err((problem, rename));
    }
    Ok(())
}

/// What to do about a letter that `alphabet` lacks.
pub fn letter_remedy(letter: u8, alphabet: Alphabet) -> &'static str {
    match (letter, alphabet) {
        (b'-' | b'.', _) => "remove the gap characters",
        (_, Alphabet::Protein) => "replace it by X or remove it",
        (b'A'..=b'Z' | b'*', Alphabet::Dna) => {
            "replace it by N, or set --alphabet protein if the sequences are proteins"
        }
        (_, Alphabet::Dna) => "replace it by N or remove it",
    }
}
