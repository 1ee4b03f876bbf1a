//! What a run reads: sequences from files and streams, and databases.

#[cfg(feature = "database")]
pub mod database;
#[cfg(feature = "cli")]
pub mod profile;
pub mod reader;
