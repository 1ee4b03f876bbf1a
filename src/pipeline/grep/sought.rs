//! Reads the patterns of `swalign grep` and classifies them.

use super::PIECE;
use crate::input::reader::{LineBlock, LineReader};
use crate::patterns::lines::NEWLINE;
use crate::patterns::lines::dictionary::words::GivenWords;
use crate::patterns::lines::pattern::{GrepPattern, PatternError, PatternSyntax, is_literal};
use crate::patterns::lines::select;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::{GrepOptions, GrepPatterns};
use std::path::PathBuf;

/// Search input: words or patterns.
pub enum WordsOrPatterns {
    /// Literal words, without edits.
    Words(GivenWords),
    Patterns(Vec<GrepPattern>),
}

/// Reason for refusing a line of patterns.
enum PatternRefusal {
    Fault(PatternError),
    Full,
}

impl WordsOrPatterns {
    /// Reads the given patterns.
    pub fn read(options: &GrepOptions) -> Result<WordsOrPatterns> {
        let reading = PatternSyntax { literal: options.literal, any_case: options.rule.any_case };
        let mut sought = match options.max_edits {
            0 => WordsOrPatterns::Words(GivenWords::default()),
            _ => WordsOrPatterns::Patterns(Vec::new()),
        };
        for given in &options.patterns {
            match given {
                GrepPatterns::Text(text) => {
                    for line in text.split(|&byte| byte == NEWLINE) {
                        sought.push(line, reading).map_err(|refused| refused.of_text(line))?;
                    }
                }
                GrepPatterns::File(path) => {
                    let mut reader = LineReader::open(path, true)?;
                    let mut block = LineBlock::default();
                    let mut number = 0;
                    while reader.fill(&mut block, PIECE, || false)? {
                        for line in select::every(block.bytes()) {
                            number += 1;
                            let letters = &block.bytes()[line.start..line.end];
                            sought.push(letters, reading).map_err(|refused| refused.of_file(path, number))?;
                        }
                    }
                }
            }
        }
        Ok(sought)
    }

    fn push(&mut self, line: &[u8], reading: PatternSyntax) -> std::result::Result<(), PatternRefusal> {
        if let WordsOrPatterns::Words(words) = self {
            if reading.literal || is_literal(line) {
                return words.push(line).map_err(|_| PatternRefusal::Full);
            }
            *self = WordsOrPatterns::Patterns(patterns(words, reading).map_err(PatternRefusal::Fault)?);
        }
        if let WordsOrPatterns::Patterns(patterns) = self {
            patterns.push(GrepPattern::new(line, reading).map_err(PatternRefusal::Fault)?);
        }
        Ok(())
    }
}

/// Words as patterns.
pub fn patterns(
    words: &GivenWords,
    reading: PatternSyntax,
) -> std::result::Result<Vec<GrepPattern>, PatternError> {
    words.iter().map(|word| GrepPattern::new(word, PatternSyntax { literal: true, ..reading })).collect()
}

impl PatternRefusal {
    const TOO_MANY: &str = "the patterns have more than 4294967295 bytes";
    const FEWER: &str = "split the patterns into several searches";

    fn of_text(self, line: &[u8]) -> Error {
        match self {
            PatternRefusal::Fault(PatternError { position, problem, remedy }) => {
                let text = String::from_utf8_lossy(line);
                Error::Usage(format!("PATTERN '{text}', position {position}: {problem}; {remedy}"))
            }
            PatternRefusal::Full => {
                Error::Usage(format!("{}; {}", PatternRefusal::TOO_MANY, PatternRefusal::FEWER))
            }
        }
    }

    fn of_file(self, path: &std::path::Path, number: u64) -> Error {
        let place = Place { file: PathBuf::from(path), record: None, line: Some(number) };
        match self {
            PatternRefusal::Fault(PatternError { position, problem, remedy }) => {
                Error::input(place, format!("position {position}: {problem}"), remedy)
            }
            PatternRefusal::Full => {
                Error::input(place, PatternRefusal::TOO_MANY.to_string(), PatternRefusal::FEWER)
            }
        }
    }
}
