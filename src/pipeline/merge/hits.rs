//! Parts of a search's SAM. In the whole output, only the first record of a pattern is primary. Each part has a primary
//! record of its own, so later parts' primary records become secondary.

use super::part::{MergePart, OpenPart, unread};
use super::{BUFFER, SharedHeader};
use crate::output::writer::Output;
use crate::output::writer::hits::demote;
use crate::terms::error::Result;
use std::collections::HashSet;
use std::io::{BufRead, BufReader};

/// Joins the parts, and returns the number of their texts.
pub(super) fn join(parts: &[MergePart], output: &mut Output) -> Result<u64> {
    let mut header = SharedHeader::default();
    // Names of patterns that already have a primary record.
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
