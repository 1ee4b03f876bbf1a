//! Databases: references in one file that is mapped into memory, so that a run begins at once and processes share it.
//!
//! `docs/database.md` describes the file. [`fn@write`] makes it of references that were read, [`Contents`] is what its bytes
//! say, and [`Database`] is one that is open: its blocks are proven when they are first used, and that it is cut while it
//! is read is an error.

mod blocks;
mod contents;
mod format;
mod map;
mod open;
mod write;

pub use blocks::BlockSums;
pub use contents::Contents;
pub use format::{Fault, SourceFile};
pub use open::{Database, Glance, glance, is_one, sum};
pub use write::{StoredCodes, write};
