//! The flags that would help with an error: the library's errors speak of no flags.

use crate::input::reader::{HAS_GAPS, MAYBE_PROTEIN};
use crate::terms::error::{EngineError, Error};

/// The text that the command adds to an error.
pub fn of(error: &Error) -> &'static str {
    match error {
        Error::Input { remedy, .. } if remedy == MAYBE_PROTEIN => " (--alphabet protein)",
        Error::Input { remedy, .. } if remedy == HAS_GAPS => " (--remove-gaps)",
        Error::Engine(EngineError::Unsupported(_)) => "; use --device cpu",
        _ => "",
    }
}
