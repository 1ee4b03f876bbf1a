//! Converts reference names that SAM forbids to valid names (`--rename-references`).

use super::header::printable;
use crate::input::reader::{first_repeated, sam_name};
use crate::terms::error::{Error, Place, Result};
use std::borrow::Cow;
use std::path::Path;

/// Maximum number of name pairs in the header comment, and maximum length of a name in it.
const SHOWN: usize = 5;
const SHOWN_LETTERS: usize = 60;

/// Renames the references whose names SAM forbids, and returns a comment for the header if there are any. Returns an
/// error if two references would get the same name.
pub fn rename(names: &mut Vec<String>, file: &Path) -> Result<Option<String>> {
    let new: Vec<Cow<str>> = names.iter().map(|name| sam_name(name)).collect();
    let changed: Vec<(&str, &str)> = names
        .iter()
        .zip(&new)
        .filter(|(_, new)| matches!(new, Cow::Owned(_)))
        .map(|(old, new)| (old.as_str(), &**new))
        .collect();
    if changed.is_empty() {
        return Ok(None);
    }
    let comment = comment(&changed, names.len());
    let new: Vec<String> = new.into_iter().map(Cow::into_owned).collect();
    if let Some((earlier, later)) = first_repeated(&new) {
        return Err(collision(file, &new[later], [(earlier, &names[earlier]), (later, &names[later])]));
    }
    *names = new;
    Ok(Some(comment))
}

/// The comment: the number of changed names, the rule, and the first pairs of names.
fn comment(changed: &[(&str, &str)], all: usize) -> String {
    let short = changed.iter().filter(|(old, _)| old.len() <= SHOWN_LETTERS);
    let pairs: Vec<String> =
        short.take(SHOWN).map(|(old, new)| format!("{}={new}", printable(old))).collect();
    let examples = match pairs.len() {
        0 => String::new(),
        shown if shown < changed.len() => format!(": {} ...", pairs.join(" ")),
        _ => format!(": {}", pairs.join(" ")),
    };
    format!(
        "swalign names: {} of {all} references renamed, with _ for each character that SAM forbids{examples}",
        changed.len()
    )
}

fn collision(
    file: &Path,
    name: &str,
    [(earlier, earlier_name), (later, later_name)]: [(usize, &String); 2],
) -> Error {
    let place = Place {
        file: file.to_path_buf(),
        record: Some((later as u64 + 1, printable(later_name))),
        line: None,
    };
    let problem = format!(
        "--rename-references would name it '{name}', like record {} '{}'",
        earlier + 1,
        printable(earlier_name)
    );
    Error::input(place, problem, "rename one of them, or write PAF (--format paf), which accepts any name")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(names: &[&str]) -> Result<(Vec<String>, Option<String>)> {
        let mut names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let comment = rename(&mut names, Path::new("r.fa"))?;
        Ok((names, comment))
    }

    #[test]
    fn only_what_is_forbidden_changes() {
        assert_eq!(renamed(&["chr1", "sp|P1*=2|x"]).unwrap().1, None);
        let (names, comment) = renamed(&["a,b", "c", "*d*", "=e(f)", "g\u{e9}"]).unwrap();
        assert_eq!(names, ["a_b", "c", "_d*", "_e_f_", "g_"]);
        let expected = "swalign names: 4 of 5 references renamed, with _ for each character that SAM forbids: \
                        a,b=a_b *d*=_d* =e(f)=_e_f_ g\\u{e9}=g_";
        assert_eq!(comment.unwrap(), expected);
    }

    #[test]
    fn the_comment_stays_short() {
        let long = format!("{},", "x".repeat(300));
        let names: Vec<String> = [long].into_iter().chain((0..100).map(|k| format!("{k},"))).collect();
        let comment = renamed(&names.iter().map(String::as_str).collect::<Vec<_>>()).unwrap().1.unwrap();
        assert!(comment.ends_with(": 0,=0_ 1,=1_ 2,=2_ 3,=3_ 4,=4_ ..."), "{comment}");
        assert!(comment.contains("101 of 101"), "{comment}");
    }

    #[test]
    fn names_that_become_one_are_refused() {
        for names in [["a,b", "c", "a(b"], ["a,b", "c", "a_b"], ["a_b", "c", "a,b"]] {
            let error = renamed(&names).unwrap_err().to_string();
            for part in ["r.fa, record 3", "record 1", names[0], names[2], "'a_b'"] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }
}
