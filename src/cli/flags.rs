//! The flags that would help with an error: the library's errors speak of no flags.

use crate::error::{EngineError, Error};
use crate::reader::MAYBE_PROTEIN;

/// What the command adds to the text of an error.
pub fn of(error: &Error) -> &'static str {
    match error {
        Error::Input { remedy, .. } if remedy == MAYBE_PROTEIN => " (--alphabet protein)",
        Error::Engine(EngineError::Unsupported(_)) => "; use --device cpu",
        _ => "",
    }
}
