//! Scans against their specification, and hits against their definition.

mod common;

use common::random::Random;
use common::scans::{LENGTHS, classes, genome, patterns, same};
use common::text;
use rayon::prelude::*;
use swalign::alignment::Strand;
use swalign::alphabet::Alphabet;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::search::align::{Aligned, Path, Step, align, edits, replaced};
use swalign::search::codes::Codes;
use swalign::search::exact::Exact;
use swalign::search::hits::{Gatherer, Hit, Wanted};
use swalign::search::limits::{self, Limits};
use swalign::search::plain;
use swalign::search::plain::Plain;
use swalign::search::sliced::Sliced;
use swalign::search::stream::{Seams, Stream, TextEnd, plain_codes};
use swalign::search::{End, NOTHING, OTHER, Rule, Scan};

/// Holds all instruction sets and some chunk lengths against the specification.
#[track_caller]
fn check(text: &[u8], patterns: &[Vec<u8>], chunks: &[Option<usize>], what: &str) {
    let text = &Codes::of(text);
    let longest = patterns.iter().map(Vec::len).max().unwrap_or(0) as u32;
    for max_edits in [0, 1, 2, 3, 4, longest] {
        for indels in [true, false] {
            let rule = Rule { max_edits, indels };
            let expected = Plain.scan(text, patterns, &rule).unwrap();
            for set in InstructionSet::available() {
                for &chunk in chunks {
                    let scan = match chunk {
                        Some(chunk) => Sliced::with_chunks(set, chunk),
                        None => Sliced::on(set),
                    };
                    let what = format!("{what}, {rule:?}, {set}, chunks {chunk:?}");
                    same(&scan.scan(text, patterns, &rule).unwrap(), &expected, &what);
                    // Tiles are used again.
                    same(&scan.scan(text, patterns, &rule).unwrap(), &expected, &format!("again: {what}"));
                }
            }
        }
    }
}

#[test]
fn random_texts_at_all_seams() {
    LENGTHS.par_iter().for_each(|&len| {
        let mut random = Random::new(len as u64);
        for (letters, rare) in [(2, 20), (4, 20), (4, 1)] {
            let mut text = random.codes(900, letters);
            for _ in 0..rare {
                let at = random.below(text.len());
                text[at] = random.pick(&[OTHER, NOTHING]);
            }
            let patterns = patterns(&mut random, &text, len);
            check(
                &text,
                &patterns,
                &[None, Some(1), Some(40), Some(64)],
                &format!("m={len} of {letters} letters"),
            );
        }
    });
}

#[test]
fn a_genome() {
    let text = &genome()[..6000];
    let mut random = Random::new(5);
    for len in [1, 8, 20, 33, 129] {
        let patterns = patterns(&mut random, text, len);
        check(text, &patterns, &[None, Some(7)], &format!("m={len}"));
    }
}

#[test]
fn long_patterns() {
    let text = &Codes::of(&genome()[..3000]);
    let mut random = Random::new(7);
    let patterns: Vec<Vec<u8>> =
        [1024, 1500].iter().flat_map(|&len| patterns(&mut random, text, len).into_iter().take(3)).collect();
    for max_edits in [0, 3, 40] {
        let rule = Rule { max_edits, indels: true };
        let expected = Plain.scan(text, &patterns, &rule).unwrap();
        for set in InstructionSet::available() {
            same(
                &Sliced::on(set).scan(text, &patterns, &rule).unwrap(),
                &expected,
                &format!("{rule:?}, {set}"),
            );
        }
    }
}

#[test]
fn patterns_of_many_lengths_at_once() {
    let text = &genome()[..2000];
    let mut random = Random::new(9);
    let patterns: Vec<Vec<u8>> =
        (1..40).flat_map(|len| patterns(&mut random, text, len).into_iter().take(2)).collect();
    check(text, &patterns, &[None, Some(33)], "1 to 39 letters");
}

#[test]
fn short_and_empty_texts() {
    let mut random = Random::new(11);
    for len in [0, 1, 2, 3, 5, 63, 64, 65] {
        let text = random.codes(len, 4);
        let patterns: Vec<Vec<u8>> =
            [1, 2, 3, 4, 10, 70].iter().flat_map(|&len| patterns(&mut random, &text, len)).collect();
        check(&text, &patterns, &[None, Some(1), Some(3)], &format!("n={len}"));
    }
}

#[test]
fn a_text_of_nothing_but_hits() {
    let text = vec![0; 3000];
    check(&text, &[classes(b"AAAAAAAAAA"), classes(b"N"), classes(b"AAACAAA")], &[None, Some(11)], "all A");
    let text = vec![OTHER; 300];
    check(&text, &[classes(b"NNNN"), classes(b"VVVV"), classes(b"ANNA")], &[None], "all N");
}

/// Every end of the table that edlib made (tests/golden), with its edits and one of its starts.
#[test]
fn edlib_finds_the_same() {
    const MOST: u32 = 6;
    let mut count = 0;
    for row in text("tests/golden/search.tsv").lines().skip(1) {
        let [pattern, text, ends] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let (pattern, mut codes) = (classes(pattern.as_bytes()), Vec::new());
        Alphabet::Dna.encode(text.as_bytes(), &mut codes).unwrap();
        plain_codes(&mut codes);
        let expected: Vec<(u32, u32, Vec<usize>)> = ends
            .split(' ')
            .filter(|end| *end != "-")
            .map(|end| {
                let [end, edits, starts] = end.split(':').collect::<Vec<_>>()[..] else { panic!("{row}") };
                let starts = starts.split(',').filter_map(|start| start.parse().ok()).collect();
                (end.parse().unwrap(), edits.parse().unwrap(), starts)
            })
            .collect();
        let rule = Rule { max_edits: MOST.min(pattern.len() as u32), indels: true };
        let patterns = [pattern];
        let mut scans: Vec<Box<dyn Scan>> = vec![Box::new(Plain)];
        scans.extend(
            InstructionSet::available().into_iter().map(|set| Box::new(Sliced::on(set)) as Box<dyn Scan>),
        );
        for scan in scans {
            let found = scan.scan(&Codes::of(&codes), &patterns, &rule).unwrap();
            let found = found.iter().map(|end| (end.end, end.edits));
            assert!(found.eq(expected.iter().map(|(end, edits, _)| (*end, *edits))), "{row}");
        }
        for (end, edits, starts) in &expected {
            let found = align(&patterns[0], &codes, *end as usize, *edits).expect("a path");
            assert!(starts.contains(&found.start), "{row}: {end}: {found:?}");
            count += 1;
        }
    }
    assert!(count > 1000, "{count} ends");
}

/// Whether a path is what it says: what it consumes, what matches, how its runs lie.
fn check_path(pattern: &[u8], text: &[u8], found: &Aligned, end: usize) {
    let (mut i, mut j) = (0, found.start);
    assert!(
        found.path.windows(2).all(|runs| runs[0].1 != runs[1].1) && found.path.iter().all(|run| run.0 > 0)
    );
    for &(len, step) in &found.path {
        for _ in 0..len {
            match step {
                Step::Equal | Step::Replaced => {
                    assert_eq!(step == Step::Equal, u16::from(pattern[i]) >> text[j] & 1 == 1);
                    (i, j) = (i + 1, j + 1);
                }
                Step::Insertion => i += 1,
                Step::Deletion => j += 1,
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
                let rule = Rule { max_edits: len as u32, indels: true };
                for End { end, edits: fewest, .. } in
                    Plain.scan(&Codes::of(&text), std::slice::from_ref(&pattern), &rule).unwrap()
                {
                    let found = align(&pattern, &text, end as usize, fewest).expect("a path");
                    assert_eq!(edits(&found.path), fewest);
                    check_path(&pattern, &text, &found, end as usize);
                    assert_eq!(
                        found,
                        plain::align(&pattern, &text, end as usize),
                        "{pattern:?} {text:?} {end}"
                    );
                    // Other edits than the fewest are noticed.
                    assert_eq!(align(&pattern, &text, end as usize, fewest + 1), None);
                    assert!(fewest == 0 || align(&pattern, &text, end as usize, fewest - 1).is_none());
                }
            }
        }
    }
}

/// All paths at an end, as steps from the end to the start, first those that go diagonally before those that
/// delete before those that insert.
fn all_paths(pattern: &[u8], text: &[u8], most: u32) -> Vec<Vec<Step>> {
    let Some((&class, before)) = pattern.split_last() else { return vec![Vec::new()] };
    let mut paths = Vec::new();
    let mut extend = |step: Step, pattern: &[u8], text: &[u8]| {
        if let Some(left) = most.checked_sub(u32::from(step != Step::Equal)) {
            let rests = all_paths(pattern, text, left);
            paths.extend(rests.into_iter().map(|rest| [vec![step], rest].concat()));
        }
    };
    if let Some((&letter, text)) = text.split_last() {
        let equal = u16::from(class) >> letter & 1 == 1;
        extend(if equal { Step::Equal } else { Step::Replaced }, before, text);
        extend(Step::Deletion, pattern, text);
    }
    extend(Step::Insertion, before, text);
    paths
}

#[test]
fn limits_choose_the_first_of_the_best_paths() {
    let mut random = Random::new(17);
    let count = |path: &[Step], step: Step| path.iter().filter(|other| **other == step).count() as u32;
    for round in 0..150 {
        let text = random.codes(9, 2 + round % 3);
        let len = 1 + random.below(6);
        let pattern: Vec<u8> = random.codes(len, 4).iter().map(|code| 1 << code).collect();
        let paths = all_paths(&pattern, &text, 3);
        for [insertions, deletions, substitutions] in [
            [0, 0, 3],
            [3, 3, 0],
            [1, 0, 2],
            [0, 2, 1],
            [1, 1, 1],
            [3, 0, 0],
            [0, 0, 0],
            [2, 3, 1],
            [3, 3, 3],
        ] {
            let limits = Limits { insertions, deletions, substitutions };
            let within = |path: &&Vec<Step>| {
                count(path, Step::Insertion) <= insertions
                    && count(path, Step::Deletion) <= deletions
                    && count(path, Step::Replaced) <= substitutions
                    && path.iter().any(|step| *step != Step::Insertion)
            };
            let cost = |path: &&Vec<Step>| path.iter().filter(|step| **step != Step::Equal).count() as u32;
            // `min_by_key` gives the first of equals.
            let expected = paths.iter().filter(within).min_by_key(cost);
            let found = limits::align(&pattern, &text, text.len(), (0, 3), &limits);
            let steps = |path: &Path| -> Vec<Step> {
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

/// The hits of a text by their definition.
fn defined(text: &[u8], patterns: &[Vec<u8>], wanted: &Wanted) -> Vec<Hit> {
    let text = &Codes::of(text);
    let mut hits: Vec<Hit> = Vec::new();
    for (place, pattern) in (0..).zip(patterns) {
        let ends = Plain.scan(text, std::slice::from_ref(pattern), &wanted.rule).unwrap();
        let mut chosen = Vec::new();
        for cluster in ends.chunk_by(|a, b| a.end + 1 == b.end) {
            let fewest = cluster.iter().map(|end| end.edits).min();
            match wanted.every_end {
                true => chosen.extend(cluster),
                false => chosen.extend(cluster.iter().find(|end| Some(end.edits) == fewest)),
            }
        }
        hits.extend(chosen.into_iter().map(|end: &End| {
            let found = match wanted.rule.indels {
                true => plain::align(pattern, text, end.end as usize),
                false => replaced(pattern, text, end.end as usize).expect("a path"),
            };
            Hit {
                start: found.start,
                end: end.end as usize,
                pattern: place / wanted.strands,
                strand: if place % wanted.strands == 0 { Strand::Forward } else { Strand::Reverse },
                edits: end.edits,
                path: found.path,
            }
        }));
    }
    let fewest = hits.iter().map(|hit| hit.edits).min();
    hits.retain(|hit| !wanted.best || Some(hit.edits) == fewest);
    hits.sort_by_key(|hit| (hit.start, hit.end, hit.pattern, hit.strand));
    hits.truncate(if wanted.first { 1 } else { usize::MAX });
    hits
}

/// Texts in parts of any length, several in one stream, have the hits of the definition.
#[test]
fn hits_do_not_depend_on_parts() {
    let mut random = Random::new(19);
    for round in 0..60 {
        let lengths: Vec<usize> = (0..4).map(|_| random.pick(&[0, 1, 5, 40, 150])).collect();
        let texts: Vec<Vec<u8>> = lengths.iter().map(|&len| random.codes(len, 1 + round % 4)).collect();
        let source = random.codes(60, 4);
        let patterns: Vec<Vec<u8>> = [1, 4, 9]
            .iter()
            .flat_map(|&len| patterns(&mut random, &source, len).into_iter().skip(2))
            .collect();
        let wanted = Wanted {
            rule: Rule { max_edits: random.below(4) as u32, indels: random.below(4) > 0 },
            limits: None,
            every_end: random.below(2) == 0,
            best: random.below(3) == 0,
            first: random.below(3) == 0,
            strands: 2,
            before: 0,
        };
        let seams = Seams::new(patterns.iter().map(Vec::len), &wanted.rule);
        let wanted = Wanted { before: seams.before(), ..wanted };
        let part = random.pick(&[1, 3, 17, 1000]);
        let mut found: Vec<Vec<Hit>> = vec![Vec::new(); texts.len()];
        let mut gatherers: Vec<Gatherer> = texts.iter().map(|_| Gatherer::default()).collect();
        for from in (0..150).step_by(part) {
            let mut stream = Stream::default();
            for (place, text) in texts.iter().enumerate().filter(|(_, text)| from == 0 || from < text.len()) {
                stream.push(&seams, place, text, from..text.len().min(from + part));
            }
            let ends = Sliced::with_chunks(InstructionSet::best(), 16)
                .scan(&stream.codes, &patterns, &wanted.rule)
                .unwrap();
            let placed = stream.place(&ends, &patterns, &wanted.rule);
            for stretch in &stream.stretches {
                let own: Vec<TextEnd> =
                    placed.iter().filter(|end| end.text == stretch.text).copied().collect();
                let (gatherer, text) = (&mut gatherers[stretch.text], &texts[stretch.text]);
                let hits = gatherer.take(&wanted, &patterns, text, &own, stretch.to).unwrap();
                found[stretch.text].extend(hits);
            }
        }
        for (text, found) in texts.iter().zip(&found) {
            assert_eq!(
                found,
                &defined(text, &patterns, &wanted),
                "round {round}, parts of {part}, {wanted:?}"
            );
        }
    }
}

/// Holds what is looked up against the specification, on all instruction sets.
#[track_caller]
fn check_exact(text: &[u8], patterns: &[Vec<u8>], what: &str) {
    let text = &Codes::of(text);
    for indels in [true, false] {
        let rule = Rule { max_edits: 0, indels };
        let expected = Plain.scan(text, patterns, &rule).unwrap();
        for set in InstructionSet::available() {
            for scan in [Exact::always(set), Exact::on(set)] {
                let what = format!("{what}, {rule:?}, {set}");
                same(&scan.scan(text, patterns, &rule).unwrap(), &expected, &what);
                // Words are used again, and those of other patterns not.
                same(&scan.scan(text, patterns, &rule).unwrap(), &expected, &format!("again: {what}"));
                let (others, all) = (&patterns[patterns.len() / 2..], scan.scan(text, &[], &rule).unwrap());
                assert!(all.is_empty(), "{what}");
                let expected = Plain.scan(text, others, &rule).unwrap();
                same(&scan.scan(text, others, &rule).unwrap(), &expected, &format!("fewer: {what}"));
            }
        }
    }
}

mod looked_up {
    use super::*;

    /// Patterns of any length, most of which occur, among them repeated ones and parts of others.
    fn many(random: &mut Random, text: &[u8], count: usize, longest: usize) -> Vec<Vec<u8>> {
        let mut all: Vec<Vec<u8>> = Vec::new();
        while all.len() < count {
            let len = 1 + random.below(longest);
            all.extend(patterns(random, text, len));
            let whole = all[random.below(all.len())].clone();
            let begin = random.below(whole.len());
            all.extend([whole[begin..].to_vec(), whole]);
        }
        all
    }

    #[test]
    fn random_texts_of_any_letters() {
        (0..12).into_par_iter().for_each(|round| {
            let mut random = Random::new(300 + round);
            let letters = [1, 2, 4, 4][round as usize % 4];
            let mut text = random.codes(400, letters);
            for _ in 0..round % 3 * 10 {
                let at = random.below(text.len());
                text[at] = random.pick(&[OTHER, NOTHING]);
            }
            let longest = [24, 200][round as usize / 4 % 2];
            check_exact(&text, &many(&mut random, &text, 120, longest), &format!("round {round}"));
        });
    }

    #[test]
    fn each_length_at_each_place() {
        let mut random = Random::new(23);
        for len in (1..30).chain([63, 64, 65, 200]) {
            let text = random.codes(len + 40, 4);
            let patterns: Vec<Vec<u8>> =
                text.windows(len).map(|letters| letters.iter().map(|code| 1 << code).collect()).collect();
            check_exact(&text, &patterns, &format!("m={len}"));
        }
    }

    #[test]
    fn codes_at_each_place() {
        let mut random = Random::new(29);
        let mut text = random.codes(300, 4);
        text[100] = OTHER;
        for len in [6, 8, 11, 12, 14, 15, 19, 20, 40] {
            let mut patterns = Vec::new();
            for at in 0..len {
                for begin in [at, 100 - at, 100 - len, 101, 300 - len] {
                    let mut pattern: Vec<u8> =
                        text[begin..begin + len].iter().map(|code| 1 << code).collect();
                    pattern[at] = random.pick(&classes(b"NNRYSWKMBDHV"));
                    patterns.push(pattern.clone());
                    pattern[len - 1 - at] = random.pick(&classes(b"NRYBDHV"));
                    patterns.push(pattern);
                }
            }
            check_exact(&text, &patterns, &format!("m={len}"));
        }
    }

    /// Hits over the seams of the stretches that threads look at.
    #[test]
    fn long_texts() {
        const STRETCH: usize = 7 << 13;
        let mut random = Random::new(31);
        for len in [STRETCH + 1, STRETCH + 400] {
            let text = random.codes(len, 4);
            let mut patterns = Vec::new();
            for of in [6, 12, 20, 50] {
                for begin in [0, len - of, STRETCH - of - 3, STRETCH - of / 2] {
                    let begin = begin.min(len - of);
                    patterns.push(text[begin..begin + of].iter().map(|code| 1 << code).collect());
                }
            }
            check_exact(&text, &patterns, &format!("n={len}"));
        }
        let text = &genome()[..5000];
        let patterns = many(&mut random, text, 60, 60);
        check_exact(text, &patterns, "a genome");
    }

    #[test]
    fn short_texts_and_those_of_nothing_but_hits() {
        let mut random = Random::new(37);
        for len in [0, 1, 2, 3, 5, 7, 11, 12, 19, 20, 63, 64, 65] {
            let text = random.codes(len, 4);
            check_exact(&text, &many(&mut random, &text, 60, 70), &format!("n={len}"));
        }
        let patterns: Vec<Vec<u8>> = (1..40).map(|len| classes(&vec![b'A'; len])).collect();
        check_exact(&[0; 3000], &patterns, "all A");
        let patterns: Vec<Vec<u8>> = (1..40).map(|len| classes(&vec![b'N'; len])).collect();
        check_exact(&[OTHER; 300], &patterns, "all N");
    }

    /// With edits, and with few patterns, it sweeps.
    #[test]
    fn what_it_leaves_to_others() {
        let mut random = Random::new(41);
        let text = random.codes(500, 4);
        let all = many(&mut random, &text, 30, 30);
        for (patterns, max_edits) in [(&all[..], 1), (&all[..3], 0), (&all[..3], 2)] {
            let rule = Rule { max_edits, indels: true };
            let text = &Codes::of(&text);
            let expected = Plain.scan(text, patterns, &rule).unwrap();
            let found = Exact::on(InstructionSet::best()).scan(text, patterns, &rule).unwrap();
            same(&found, &expected, &format!("{rule:?}"));
        }
    }
}
