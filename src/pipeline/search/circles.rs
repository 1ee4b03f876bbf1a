//! Circular texts of a search.

use crate::terms::error::{Error, Place, Result};
use crate::terms::options::Circular;
use std::collections::HashMap;
use std::path::PathBuf;

/// Names of circular texts, matched while texts are read.
pub struct Circles<'a> {
    circular: &'a Circular,
    /// Each name, and whether a text has it.
    names: HashMap<&'a str, bool>,
}

impl<'a> Circles<'a> {
    pub fn new(circular: &'a Circular) -> Circles<'a> {
        let given: &[String] = match circular {
            Circular::All => &[],
            Circular::Named(given) => given,
        };
        let names = given.iter().flat_map(|text| text.split(',').chain([text.as_str()]));
        Circles { circular, names: names.map(|name| (name, false)).collect() }
    }

    /// Whether the text with this name is circular. In whole header lines, only the first word counts.
    pub fn have(&mut self, name: &str) -> bool {
        if *self.circular == Circular::All {
            return true;
        }
        let name = name.split(char::is_whitespace).next().unwrap_or(name);
        self.names.get_mut(name).map(|is_found| *is_found = true).is_some()
    }

    /// Refuses names that no text has.
    pub fn check(&self, texts: &[PathBuf]) -> Result<()> {
        let Circular::Named(given) = self.circular else { return Ok(()) };
        let is_missing = |name: &&str| !self.names[name];
        let missing = given.iter().filter(|text| is_missing(&text.as_str()));
        let Some(name) = missing.flat_map(|text| text.split(',')).find(is_missing) else { return Ok(()) };
        let place = Place { file: texts.first().cloned().unwrap_or_default(), ..Place::default() };
        let problem = format!("--circular {}: there is no such text", name.escape_debug());
        let remedy = "give names as in the header lines, up to the first space, or all";
        Err(Error::input(place, problem, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_circles() {
        let named = |names: &[&str]| Circular::Named(names.iter().map(|name| name.to_string()).collect());
        let check = |circular: &Circular, texts: &[&str]| {
            let mut circles = Circles::new(circular);
            let found: Vec<bool> = texts.iter().map(|name| circles.have(name)).collect();
            (found, circles.check(&["t.fa".into()]).map_err(|error| error.to_string()))
        };
        assert_eq!(check(&Circular::All, &["a", "b"]), (vec![true, true], Ok(())));
        assert_eq!(check(&Circular::default(), &["a", "b"]), (vec![false, false], Ok(())));
        assert_eq!(check(&named(&["a,c", "d"]), &["a", "b", "c x", "d"]).0, [true, false, true, true]);
        assert_eq!(check(&named(&["a,c"]), &["a,c"]), (vec![true], Ok(())));
        let (_, refused) = check(&named(&["a,c"]), &["a", "b"]);
        assert!(
            refused.as_ref().is_err_and(|text| text.contains("--circular c:") && text.contains("t.fa")),
            "{refused:?}"
        );
    }
}
