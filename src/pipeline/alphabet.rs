//! The alphabet of a run.

use super::report::{Reporter, warn};
use super::source::ReferenceSource;
use crate::input::reader::Reader;
use crate::terms::alignment::Strands;
use crate::terms::alphabet::{Alphabet, Suggested};
use crate::terms::error::{Error, Result};
use crate::terms::options::{Mode, Options};
use std::path::Path;

/// Decides whether the sequences are DNA or proteins. Sources, in this order: `--alphabet`, the references, options
/// that only one alphabet has, the first query. If all of them are ambiguous, a warning names the choice.
pub fn settle(
    options: &Options,
    source: &mut ReferenceSource,
    queries: Option<&mut Reader>,
    reporter: &dyn Reporter,
) -> Result<Alphabet> {
    let alphabet = decide(options, source, queries, reporter)?;
    let has_no_strands =
        alphabet == Alphabet::Protein && !options.translation.is_some_and(|translation| translation.queries);
    if has_no_strands && options.strands == Strands::Minus {
        let text =
            "--strand minus needs DNA, but the references are protein; leave it out, or use --alphabet dna";
        return Err(Error::Usage(text.to_string()));
    }
    Ok(alphabet)
}

fn decide(
    options: &Options,
    source: &mut ReferenceSource,
    queries: Option<&mut Reader>,
    reporter: &dyn Reporter,
) -> Result<Alphabet> {
    if let Some(translation) = options.translation {
        let Suggested { alphabet, is_certain } = source.suggested_alphabet()?;
        return match (translation.targets, alphabet) {
            (true, Alphabet::Protein) if is_certain => {
                let text = "--translate target and both need DNA references, but the references are protein; use \
                            --translate query, or leave it out";
                Err(Error::Usage(text.to_string()))
            }
            (false, Alphabet::Dna) if is_certain && options.alphabet.is_none() => {
                let text = "--translate query needs protein references, but the references are DNA; use --translate both, \
                            or leave it out";
                Err(Error::Usage(text.to_string()))
            }
            _ => Ok(Alphabet::Protein),
        };
    }
    if let Some(alphabet) = options.alphabet {
        return Ok(alphabet);
    }
    let suggested = source.suggested_alphabet()?;
    if options.iterations.has_profiles() {
        if suggested.is_certain && suggested.alphabet == Alphabet::Dna {
            let text = "--profile and --iterations need protein references, but the references are DNA; leave them out";
            return Err(Error::Usage(text.to_string()));
        }
        return Ok(Alphabet::Protein);
    }
    if suggested.is_certain {
        return Ok(suggested.alphabet);
    }
    if let Some(alphabet) = of_options(options) {
        return Ok(alphabet);
    }
    if let Some(queries) = queries
        && let Some(alphabet) = of_first_query(options, queries)?
    {
        return Ok(alphabet);
    }
    warn_if_open(reporter, source.path(), suggested);
    Ok(suggested.alphabet)
}

/// Warns that the residues of a file do not determine its alphabet.
pub fn warn_if_open(reporter: &dyn Reporter, path: &Path, Suggested { alphabet, is_certain }: Suggested) {
    let (path, [own, other]) = (
        path.display(),
        match alphabet {
            Alphabet::Dna => ["dna", "protein"],
            Alphabet::Protein => ["protein", "dna"],
        },
    );
    let text = format!(
        "the sequences in {path} could be DNA or protein and are read as {alphabet}; if that is wrong, use \
         --alphabet {other}; to silence this warning, use --alphabet {own}"
    );
    warn(reporter, (!is_certain).then_some(text));
}

/// The alphabet that the options imply.
fn of_options(options: &Options) -> Option<Alphabet> {
    let has_mates = options.has_mates();
    let asks_for_strands = match options.strands {
        // In the other modes both strands are the default.
        Strands::Both => options.mode == Mode::Pairs,
        Strands::Minus => true,
        _ => false,
    };
    options.scoring.alphabet().or((has_mates || asks_for_strands).then_some(Alphabet::Dna))
}

/// The alphabet of the first query of the whole input: DNA if it is FASTQ, otherwise by its residues.
fn of_first_query(options: &Options, queries: &mut Reader) -> Result<Option<Alphabet>> {
    // All parts make the same decision.
    let mut whole = options.part.map(|_| Reader::open(&options.query)).transpose()?;
    let queries = whole.as_mut().unwrap_or(queries);
    if queries.is_fastq() {
        return Ok(Some(Alphabet::Dna));
    }
    Ok(queries.peek()?.and_then(|query| Alphabet::detect_certain(&query.sequence)))
}
