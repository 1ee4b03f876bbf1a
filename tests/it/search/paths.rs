//! Tests paths: they agree with the full matrix, and are the first of the best paths within limits.

use super::*;

/// Checks that a path is consistent: its runs, its matches, and the bases that it consumes.
fn check_path(pattern: &[u8], text: &[u8], found: &Aligned, end: usize) {
    let (mut i, mut j) = (0, found.start);
    assert!(
        found.path.windows(2).all(|runs| runs[0].1 != runs[1].1) && found.path.iter().all(|run| run.0 > 0)
    );
    for &(len, step) in &found.path {
        for _ in 0..len {
            match step {
                ColumnOp::Equal | ColumnOp::Unequal => {
                    assert_eq!(step == ColumnOp::Equal, u16::from(pattern[i]) >> text[j] & 1 == 1);
                    (i, j) = (i + 1, j + 1);
                }
                ColumnOp::Insertion => i += 1,
                ColumnOp::Deletion => j += 1,
            }
        }
    }
    assert_eq!((i, j), (pattern.len(), end), "{found:?}");
}

#[test]
fn paths_are_those_of_the_whole_matrix() {
    let mut random = Random::new(13);
    for len in [1, 2, 3, 5, 8, 20, 33] {
        for letters in [1, 2, 4] {
            let mut text = random.codes(120, letters);
            text[50] = OTHER;
            for pattern in patterns(&mut random, &text, len) {
                let rule = MatchRule { max_edits: len as u32, indels: true };
                for PatternEnd { end, edits: fewest, .. } in
                    PlainScan.scan(&TextCodes::of(&text), std::slice::from_ref(&pattern), &rule).unwrap()
                {
                    let found = align(&pattern, &text, end as usize, fewest).expect("a path");
                    assert_eq!(edits(&found.path), fewest);
                    check_path(&pattern, &text, &found, end as usize);
                    assert_eq!(
                        found,
                        plain::align(&pattern, &text, end as usize),
                        "{pattern:?} {text:?} {end}"
                    );
                    // There is a path only for the minimum number of edits.
                    assert_eq!(align(&pattern, &text, end as usize, fewest + 1), None);
                    assert!(fewest == 0 || align(&pattern, &text, end as usize, fewest - 1).is_none());
                }
            }
        }
    }
}

/// Returns all paths at an end, as steps from the end to the start: paths with a diagonal step before paths with a
/// deletion, and these before paths with an insertion.
fn all_paths(pattern: &[u8], text: &[u8], most: u32) -> Vec<Vec<ColumnOp>> {
    let Some((&class, before)) = pattern.split_last() else { return vec![Vec::new()] };
    let mut paths = Vec::new();
    let mut extend = |step: ColumnOp, pattern: &[u8], text: &[u8]| {
        if let Some(left) = most.checked_sub(u32::from(step != ColumnOp::Equal)) {
            let rests = all_paths(pattern, text, left);
            paths.extend(rests.into_iter().map(|rest| [vec![step], rest].concat()));
        }
    };
    if let Some((&letter, text)) = text.split_last() {
        let equal = u16::from(class) >> letter & 1 == 1;
        extend(if equal { ColumnOp::Equal } else { ColumnOp::Unequal }, before, text);
        extend(ColumnOp::Deletion, pattern, text);
    }
    extend(ColumnOp::Insertion, before, text);
    paths
}

#[test]
fn limits_choose_the_first_of_the_best_paths() {
    let mut random = Random::new(17);
    let count =
        |path: &[ColumnOp], step: ColumnOp| path.iter().filter(|other| **other == step).count() as u32;
    for round in 0..150 {
        let text = random.codes(9, 2 + round % 3);
        let len = 1 + random.below(6);
        let pattern: Vec<u8> = random.codes(len, 4).iter().map(|code| 1 << code).collect();
        let paths = all_paths(&pattern, &text, 3);
        for [insertions, deletions, substitutions, gaps] in [
            [0, 0, 3, 6],
            [3, 3, 0, 6],
            [1, 0, 2, 6],
            [0, 2, 1, 6],
            [1, 1, 1, 6],
            [3, 0, 0, 6],
            [0, 0, 0, 6],
            [2, 3, 1, 6],
            [3, 3, 3, 6],
            [3, 3, 3, 1],
            [2, 2, 3, 2],
            [3, 1, 0, 3],
            [3, 3, 3, 0],
        ] {
            let limits = EditLimits { insertions, deletions, substitutions, gaps };
            let within = |path: &&Vec<ColumnOp>| {
                count(path, ColumnOp::Insertion) <= insertions
                    && count(path, ColumnOp::Deletion) <= deletions
                    && count(path, ColumnOp::Unequal) <= substitutions
                    && count(path, ColumnOp::Insertion) + count(path, ColumnOp::Deletion) <= gaps
                    && path.iter().any(|step| *step != ColumnOp::Insertion)
            };
            let cost =
                |path: &&Vec<ColumnOp>| path.iter().filter(|step| **step != ColumnOp::Equal).count() as u32;
            // `min_by_key` returns the first of equal elements.
            let expected = paths.iter().filter(within).min_by_key(cost);
            let found = limits::align(&pattern, &text, text.len(), (0, 3), &limits);
            let steps = |path: &PatternPath| -> Vec<ColumnOp> {
                path.iter().rev().flat_map(|&(len, step)| vec![step; len as usize]).collect()
            };
            assert_eq!(found.as_ref().map(|found| steps(&found.1.path)).as_ref(), expected, "{limits:?}");
            if let Some((edits, found)) = found {
                assert_eq!(Some(edits), expected.as_ref().map(cost));
                check_path(&pattern, &text, &found, text.len());
            }
        }
    }
}
