//! Databases: references in one file that is mapped into memory, so that a run starts immediately and processes share
//! it.
//!
//! `docs/database.md` describes the file. [`fn@write`] creates it from references that were read, [`Contents`] decodes
//! its bytes, and [`Database`] is an open database. Its blocks are verified when they are first used, and truncating
//! the file while it is read is an error.

mod blocks;
mod contents;
mod format;
mod map;
mod open;
mod write;

pub use blocks::BlockSums;
pub use contents::Contents;
pub use format::{FormatError, SourceFile};
pub use open::{Database, Glance, glance, is_one, sum};
pub use write::{StoredSection, WrittenIndex, numbers, write};
