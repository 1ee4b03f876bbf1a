//! Parts of the references, read back. The first byte selects a header, queries, or BGZF blocks of queries.

use swalign::output::writer::bgzf;
use swalign::output::writer::part::{PartHeader, PartHit, PartQuery, PartReader};
use swalign::terms::alignment::PathOp;
use swalign::terms::alphabet::Alphabet;

/// Runs the target on one input.
pub fn run(data: &[u8]) {
    let Some((&kind, bytes)) = data.split_first() else { return };
    let packed = || bgzf::pack(bytes).expect("blocks");
    let blocks = match kind % 3 {
        0 => return drop(PartHeader::read(&packed())),
        1 => packed(),
        _ => bytes.to_vec(),
    };
    let mut queries = PartReader::new(&blocks[..]);
    while let Ok(Some(bytes)) = queries.next_query() {
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            if let Some(query) = PartQuery::parse(&bytes, alphabet) {
                query.hits.iter().for_each(check);
            }
        }
    }
}

/// A hit has the residues that its path aligns.
fn check(PartHit { alignment, target, .. }: &PartHit) {
    let without = |op: PathOp| alignment.cigar.iter().filter(|run| run.1 != op).map(|run| run.0).sum::<u32>();
    assert_eq!(alignment.query_end - alignment.query_start, without(PathOp::Deletion));
    assert_eq!(alignment.target_end - alignment.target_start, without(PathOp::Insertion));
    assert_eq!((alignment.target_end - alignment.target_start) as usize, target.aligned.len());
}
