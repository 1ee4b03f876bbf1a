//! Compares sums of a few records with hand-computed values, for all divisions into batches.

use super::*;
use crate::terms::alignment::{Mated, PathOp, PathRuns};
use smallvec::smallvec;

const TARGET: &[u8] = b"AACCGGTTACGTACGTTGCA";

fn tally() -> Tally {
    let mut targets = Sequences::default();
    let mut codes = Vec::new();
    Alphabet::Dna.encode(TARGET, &mut codes).unwrap();
    targets.push(codes);
    Tally::new(&Arc::new(Scoring::dna(1, 4, 6, 1)), &Arc::new(targets), false)
}

fn read(name: &str, letters: &[u8]) -> FileRecord {
    FileRecord {
        number: 1,
        name: name.to_string(),
        sequence: letters.to_vec(),
        qualities: None,
        tags: Vec::new(),
    }
}

fn found(strand: Strand, [query, target]: [(u32, u32); 2], cigar: PathRuns, is_first: bool) -> QueryResult {
    let alignment = Alignment {
        strand,
        target: 0,
        score: 4,
        query_start: query.0,
        query_end: query.1,
        target_start: target.0,
        target_end: target.1,
        cigar,
        shifts: Box::default(),
    };
    let mated = Some(Mated { is_first, insert: Some(18) });
    QueryResult {
        alignments: vec![alignment],
        threshold: 4,
        quality: Some(7),
        mated,
        ..QueryResult::default()
    }
}

/// A read with two clipped bases and a mismatch, and its mate on the reverse strand with a deletion and a clipped base.
fn pair() -> (Vec<FileRecord>, Vec<QueryResult>) {
    let reads = vec![read("a", b"TTAACCGATT"), read("a", &reverse_complement(b"ACGTGTTGC"))];
    let forward = found(Strand::Forward, [(2, 10), (0, 8)], smallvec![(8, PathOp::Match)], true);
    let path = smallvec![(4, PathOp::Match), (2, PathOp::Deletion), (4, PathOp::Match)];
    let reverse = found(Strand::Reverse, [(0, 8), (8, 18)], path, false);
    (reads, vec![forward, reverse])
}

#[test]
fn sums_by_hand() {
    let tally = tally();
    let (reads, found) = pair();
    tally.add(tally.sum(0, &reads, &found));
    let single = [read("b", b"ACGTN")];
    tally.add(tally.sum(2, &single, &[QueryResult::default()]));
    tally.read(|Statistics { sums, depth }| {
        let queries = QueryCounts {
            total: 3,
            letters: 24,
            masked: 0,
            aligned: 2,
            anchored: 0,
            mates: 2,
            proper: 2,
            single: 0,
            apart: 0,
        };
        assert_eq!(sums.queries, queries);
        let records = RecordCounts {
            primary: 2,
            secondary: 0,
            supplementary: 0,
            unaligned: 1,
            forward: 1,
            reverse: 1,
            first: 1,
            last: 1,
        };
        assert_eq!(sums.records, records);
        let columns =
            ColumnCounts { matches: 15, mismatches: 1, deletions: 1, deleted: 2, ..ColumnCounts::default() };
        assert_eq!((sums.columns, sums.clipped), (columns, 3));
        let positions = &sums.positions;
        assert_eq!(positions.letters.counts(), [2, 2, 2, 2, 2, 2, 2, 2, 2, 1]);
        assert_eq!(positions.clipped.counts(), [2, 1], "the clip of the reverse read is its first letter");
        assert_eq!(positions.mismatches.counts(), [0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(positions.deletions.counts(), [0, 0, 0, 0, 1], "before the gap, as it was sequenced");
        assert_eq!((positions.changes(2, 0), positions.changes(0, 2)), (1, 0), "G of the reference is A");
        assert_eq!(sums.identities.range(), Some((160, 175)));
        assert_eq!((sums.qualities.range(), sums.qualities.count()), (Some((7, 7)), 2));
        assert_eq!((sums.lengths.count(), sums.inserts.count()), (3, 1));
        let all: Vec<_> = depth.references().collect();
        assert_eq!((all[0].alignments(), all[0].aligned, all[0].covered), (2, 16, 16));
        assert_eq!(all[0].bins, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0]);
    });
}

#[test]
fn the_worst_and_the_best_are_drawn() {
    let tally = tally();
    let (reads, found) = pair();
    tally.add(tally.sum(0, &reads, &found));
    tally.read(|Statistics { sums, .. }| {
        let places = |kept: &[Extreme]| kept.iter().map(|extreme| extreme.place).collect::<Vec<_>>();
        assert_eq!((places(&sums.extremes.worst), places(&sums.extremes.best)), (vec![1, 0], vec![0, 1]));
        let Extreme { matches, columns, drawing, .. } = &sums.extremes.worst[0];
        assert_eq!((*matches, *columns, drawing.query, drawing.reference), (8, 10, (1, 9), (8, 18)));
        assert_eq!(drawing.query_row, "ACGT--GTTG");
        assert_eq!(drawing.marks, "||||  ||||");
        assert_eq!(drawing.reference_row, "ACGTACGTTG");
    });
}

#[test]
fn insertions_and_equal_identities() {
    let tally = tally();
    let path = smallvec![(4, PathOp::Match), (2, PathOp::Insertion), (4, PathOp::Match)];
    let reads: Vec<FileRecord> = (0..9).map(|number| read(&number.to_string(), b"AACCTTGGTT")).collect();
    let one = QueryResult { mated: None, ..found(Strand::Forward, [(0, 10), (0, 8)], path, true) };
    tally.add(tally.sum(0, &reads, &vec![one; 9]));
    tally.read(|Statistics { sums, .. }| {
        assert_eq!((sums.columns.insertions, sums.columns.inserted, sums.columns.columns()), (9, 18, 90));
        assert_eq!(sums.positions.inserted.counts(), [0, 0, 0, 0, 9, 9]);
        let places = |kept: &[Extreme]| kept.iter().map(|extreme| extreme.place).collect::<Vec<_>>();
        assert_eq!(places(&sums.extremes.worst), [0, 1, 2, 3, 4]);
        assert_eq!(places(&sums.extremes.best), [0, 1, 2, 3, 4]);
        assert_eq!((sums.queries.mates, sums.inserts.count()), (0, 0));
    });
}

#[test]
fn batches_do_not_matter() {
    let (reads, found) = pair();
    let reads: Vec<FileRecord> = reads.iter().cloned().cycle().take(3000).collect();
    let found: Vec<QueryResult> = found.iter().cloned().cycle().take(3000).collect();
    let summed = |batch: usize| {
        let tally = tally();
        for (number, (reads, found)) in reads.chunks(batch).zip(found.chunks(batch)).enumerate() {
            tally.add(tally.sum((number * batch) as u64, reads, found));
        }
        tally.read(|statistics| format!("{statistics:?}"))
    };
    let whole = summed(3000);
    assert!([2, 14, 2050].iter().all(|&batch| summed(batch) == whole));
}
