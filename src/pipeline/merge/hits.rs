//! Parts of a search's SAM. The first record of a pattern in the whole is its primary one. Each part has a first record
//! of its own, so all but the first part's become secondary.

use super::part::{MergePart, OpenPart, unread};
use super::{BUFFER, Header};
use crate::output::writer::Output;
use crate::output::writer::hits::demote;
use crate::terms::error::Result;
use std::collections::HashSet;
use std::io::{BufRead, BufReader};

/// Joins the parts, and gives the number of their texts.
pub(super) fn join(parts: &[MergePart], output: &mut Output) -> Result<u64> {
    let mut header = Header::default();
    // Names of patterns that have their primary record.
    let mut seen = HashSet::new();
    for part in parts {
        let OpenPart { header: of_part, records, rest } = part.open()?;
        header.take(of_part, part, output)?;
        let mut lines = BufReader::with_capacity(BUFFER, records);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).map_err(|error| unread(part.path, error))? > 0 {
            demote(&mut line, &mut seen);
            output.put(&line)?;
            line.clear();
        }
        rest.check(part)?;
    }
    Ok(parts.iter().map(|part| part.receipt.records).sum())
}
