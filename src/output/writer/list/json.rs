//! A query and its hits as one line of JSON. docs/hits.schema.json has the schema.

use super::shown::{QueryTold, ShownHit, ShownShift};
use crate::terms::json::{array, object, or_null, quoted};

/// Appends the line of a query.
pub fn push(out: &mut Vec<u8>, query: &QueryTold, hits: &[ShownHit]) {
    let mate = query.is_first.map(|is_first| if is_first { "1" } else { "2" }.to_string());
    let line = object([
        ("query", quoted(&query.shown_name())),
        ("mate", or_null(mate)),
        ("length", query.len.to_string()),
        ("hits", array(hits.iter().map(|hit| of_hit(query, hit)))),
    ]);
    out.extend_from_slice(line.as_bytes());
    out.push(b'\n');
}

fn of_hit(query: &QueryTold, hit: &ShownHit) -> String {
    let (kinds, counts) = (&hit.kinds, &hit.kinds.counts);
    let aligned = |letters: Vec<u8>| quoted(&String::from_utf8_lossy(&letters));
    let frame = hit.frame.map(|frame| ("frame", frame.to_string()));
    let fields = [
        ("target", quoted(hit.name)),
        ("title", quoted(hit.title)),
        ("target_length", hit.target_len.to_string()),
        ("score", hit.score.to_string()),
        ("bits", or_null(hit.significance.map(|(bits, _)| format!("{bits:.1}")))),
        ("evalue", or_null(hit.significance.map(|(_, evalue)| format!("{evalue:.2e}")))),
        ("strand", quoted(if hit.is_minus() { "-" } else { "+" })),
        ("query_start", hit.query.0.to_string()),
        ("query_end", hit.query.1.to_string()),
        ("target_start", hit.target.0.to_string()),
        ("target_end", hit.target.1.to_string()),
        ("columns", counts.columns().to_string()),
        ("matches", counts.matches.to_string()),
        ("mismatches", counts.mismatches.to_string()),
        ("positives", kinds.positives.to_string()),
        ("gaps", counts.gapped().to_string()),
        ("gap_openings", counts.gaps().to_string()),
        ("identity", format!("{:.3}", hit.identity.percent())),
        ("coverage", format!("{:.3}", hit.covered(query.len))),
        ("cigar", quoted(&hit.cigar())),
        ("query_aligned", aligned(hit.columns.iter().map(|column| column.query).collect())),
        ("target_aligned", aligned(hit.columns.iter().map(|column| column.target).collect())),
    ];
    let shift = |shift: &ShownShift| {
        array([shift.before.to_string(), if shift.is_forward { "1" } else { "-1" }.to_string()])
    };
    let shifts = hit.strand.is_codons().then(|| ("frameshifts", array(hit.shifts.iter().map(shift))));
    let target_frame = hit.target_frame.and_then(|frame| frame.frame_from(0));
    let target_frame = target_frame.map(|frame| ("target_frame", frame.to_string()));
    object(fields.into_iter().chain(frame).chain(shifts).chain(target_frame))
}
