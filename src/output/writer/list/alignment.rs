//! A query and its hits as an alignment: A3M, and Stockholm as HMMER reads it.

use super::shown::{QueryTold, ShownHit};
use crate::terms::alignment::{ColumnOp, ColumnShown, GAP};
use std::collections::BTreeMap;

/// Appends a query and its hits in A3M: a row has a letter or a gap for each residue of the query, and its insertions in lower
/// case.
pub fn push_a3m(out: &mut Vec<u8>, query: &QueryTold, letters: &[u8], hits: &[ShownHit]) {
    let record = |out: &mut Vec<u8>, name: &str, row: &[u8]| {
        out.extend_from_slice(format!(">{name}\n").as_bytes());
        out.extend_from_slice(row);
        out.push(b'\n');
    };
    record(out, &query.shown_name(), letters);
    for hit in hits {
        let mut row = vec![GAP; hit.query.0 as usize];
        row.extend(hit.columns.iter().map(letter));
        row.resize(row.len() + letters.len().saturating_sub(hit.query.1 as usize), GAP);
        record(out, &row_name(hit), &row);
    }
}

/// Appends a query and its hits in the Stockholm format. The columns of the query are marked in the line RF.
pub fn push_stockholm(out: &mut Vec<u8>, query: &QueryTold, letters: &[u8], hits: &[ShownHit]) {
    let inserted: Vec<BTreeMap<usize, Vec<u8>>> = hits.iter().map(insertions).collect();
    // The longest insertion behind each residue of the query that has any.
    let mut widths: BTreeMap<usize, usize> = BTreeMap::new();
    for (&place, letters) in inserted.iter().flatten() {
        let width = widths.entry(place).or_default();
        *width = letters.len().max(*width);
    }
    // A row with the letters of its matches, and with its insertions.
    let row = |matches: &[u8], inserted: Option<&BTreeMap<usize, Vec<u8>>>| {
        let (mut row, mut done) = (Vec::new(), 0);
        for (&place, width) in &widths {
            row.extend_from_slice(&matches[done..=place]);
            done = place + 1;
            let end = row.len() + width;
            row.extend(inserted.and_then(|inserted| inserted.get(&place)).into_iter().flatten());
            row.resize(end, b'.');
        }
        row.extend_from_slice(&matches[done..]);
        row
    };
    let mut rows = vec![(query.shown_name(), row(letters, None))];
    for (hit, inserted) in hits.iter().zip(&inserted) {
        let mut matches = vec![GAP; hit.query.0 as usize];
        let of_query = hit.columns.iter().filter(|column| column.op != ColumnOp::Deletion);
        matches.extend(of_query.map(|column| column.target));
        matches.resize(letters.len(), GAP);
        rows.push((row_name(hit), row(&matches, Some(inserted))));
    }
    rows.push(("#=GC RF".to_string(), row(&vec![b'x'; letters.len()], None)));
    let longest = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    out.extend_from_slice(format!("# STOCKHOLM 1.0\n#=GF ID {}\n\n", query.shown_name()).as_bytes());
    for (name, row) in rows {
        out.extend_from_slice(format!("{name:longest$} ").as_bytes());
        out.extend_from_slice(&row);
        out.push(b'\n');
    }
    out.extend_from_slice(b"//\n");
}

/// The name of a hit's row, with the aligned interval of the target.
fn row_name(hit: &ShownHit) -> String {
    let (first, last) = hit.target_ends();
    format!("{}/{first}-{last}", hit.name)
}

/// The letter of a column in A3M.
fn letter(column: &ColumnShown) -> u8 {
    match column.op {
        ColumnOp::Deletion => column.target.to_ascii_lowercase(),
        _ => column.target,
    }
}

/// The target's letters that have no residue of the query, by the index of the residue before them.
fn insertions(hit: &ShownHit) -> BTreeMap<usize, Vec<u8>> {
    let mut inserted: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    let mut residues = hit.query.0 as usize;
    for column in &hit.columns {
        match column.op {
            ColumnOp::Deletion => {
                inserted.entry(residues.saturating_sub(1)).or_default().push(letter(column))
            }
            _ => residues += 1,
        }
    }
    inserted
}
