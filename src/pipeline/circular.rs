//! Circular references.

use crate::input::reader::References;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::Circular;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Maximum length of a circular reference, in bases: it is stored twice, and its columns must not exceed SAM's maximum
/// reference length.
const MOST_LETTERS: u32 = i32::MAX as u32 / 2;

/// Closes the references that `circular` names, which come from `file`.
pub fn close(circular: &Circular, references: &mut References, file: &Path) -> Result<()> {
    let places = match circular {
        Circular::All => (0..references.names.len()).collect(),
        Circular::Named(names) if names.is_empty() => return Ok(()),
        Circular::Named(names) => named(names, &references.names, file)?,
    };
    let is_too_long = |&&place: &&usize| references.lengths[place] > MOST_LETTERS;
    if let Some(&place) = places.iter().find(is_too_long) {
        let (name, len) = (&references.names[place], references.lengths[place]);
        let problem = format!(
            "reference '{name}' has {len} bases, but circular references are limited to {MOST_LETTERS}"
        );
        return Err(refused(file, problem, "leave it out of --circular"));
    }
    // Closing copies them, so they are verified first.
    references.sequences.prove_all()?;
    references.sequences.close(&places);
    Ok(())
}

/// Indices of references by name. A text that is not a name is a comma-separated list of names.
fn named(texts: &[String], names: &[String], file: &Path) -> Result<BTreeSet<usize>> {
    let places: HashMap<&str, usize> =
        names.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    let mut found = BTreeSet::new();
    for text in texts {
        if let Some(&place) = places.get(text.as_str()) {
            found.insert(place);
            continue;
        }
        for name in text.split(',') {
            let Some(&place) = places.get(name) else {
                let problem = format!("--circular {name}: there is no such reference");
                let remedy = "give names as in the header lines, up to the first space, or all";
                return Err(refused(file, problem, remedy));
            };
            found.insert(place);
        }
    }
    Ok(found)
}

fn refused(file: &Path, problem: String, remedy: &'static str) -> Error {
    Error::input(Place { file: file.to_path_buf(), ..Place::default() }, problem, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alphabet::Alphabet;

    fn references() -> References {
        let names: Vec<String> = ["a", "b", "a,b", "c"].map(String::from).into();
        let sequences = [&[0u8][..], &[1, 1], &[2, 2, 2], &[3, 3]].into_iter().collect();
        References {
            names,
            titles: Vec::new(),
            lengths: vec![1, 2, 3, 2],
            sequences,
            first: 0,
            alphabet: Alphabet::Dna,
            masks_lower_case: false,
            left_out: Vec::new(),
            bases: Vec::new(),
        }
    }

    #[test]
    fn circles_are_named() {
        let circles = |circular: Circular| {
            let mut references = references();
            close(&circular, &mut references, Path::new("file.fa")).map(|()| {
                let is_circle = |place: &u32| references.sequences.circle(*place).is_some();
                (0..4).filter(is_circle).collect::<Vec<_>>()
            })
        };
        let named =
            |names: &[&str]| circles(Circular::Named(names.iter().map(|name| name.to_string()).collect()));
        assert_eq!(circles(Circular::All).unwrap(), [0, 1, 2, 3]);
        assert_eq!(named(&[]).unwrap(), [0; 0]);
        assert_eq!(named(&["c", "a"]).unwrap(), [0, 3]);
        assert_eq!(named(&["c,a,c", "b"]).unwrap(), [0, 1, 3]);
        assert_eq!(named(&["a,b"]).unwrap(), [2], "a name that has a comma");
        let error = named(&["a,x"]).unwrap_err().to_string();
        assert!(error.contains("--circular x:") && error.contains("file.fa"), "{error}");
    }

    #[test]
    fn circles_are_not_too_long() {
        let mut references = references();
        references.lengths[1] = MOST_LETTERS + 1;
        let error = close(&Circular::All, &mut references, Path::new("file.fa")).unwrap_err().to_string();
        assert!(error.contains("'b'") && error.contains("1073741823"), "{error}");
        assert!(!references.sequences.have_circles());
    }
}
