//! Tests hits: they agree with their definition, whatever the parts of a text.

use super::*;
use std::collections::BTreeMap;

/// Returns the hits of a text by their definition. Reads the text forward, or backward if the PAM comes before the
/// pattern.
fn defined(text: &[u8], patterns: &[Vec<u8>], wanted: &HitOptions) -> Vec<PatternHit> {
    let mut hits: Vec<PatternHit> = Vec::new();
    for (place, pattern) in (0..).zip(patterns) {
        let strand = wanted.strands.of_number(place);
        let backwards = wanted.pam.as_ref().is_some_and(|pam| !pam.is_behind(strand));
        let hit = |(found, end): (Aligned, usize), letters: usize| PatternHit {
            start: if backwards { letters - end } else { found.start },
            end: if backwards { letters - found.start } else { end },
            pattern: place / wanted.strands.count(),
            strand,
            edits: edits(&found.path),
            path: if backwards { found.path.into_iter().rev().collect() } else { found.path },
        };
        let turn = |codes: &[u8]| -> Vec<u8> {
            if backwards { codes.iter().rev().copied().collect() } else { codes.to_vec() }
        };
        let (text, pattern) = (turn(text), turn(pattern));
        let with_pam = |end: usize| {
            let Some(pam) = &wanted.pam else { return true };
            let classes = turn(pam.classes(strand));
            let behind = text.get(end..end + classes.len());
            behind.is_some_and(|letters| {
                classes.iter().zip(letters).all(|(&class, &letter)| u16::from(class) >> letter & 1 == 1)
            })
        };
        // Edits at every position, whatever their number.
        let without_limit = HitOptions { rule: MatchRule { max_edits: 64, ..wanted.rule }, ..wanted.clone() };
        let found = ends(&text, &pattern, &without_limit).into_iter().filter(|found| with_pam(found.1));
        let found: BTreeMap<usize, Aligned> = found.map(|(found, end)| (end, found)).collect();
        let d = |end: usize| found.get(&end).map(|found| edits(&found.path));
        let is_minimum = |end: usize| {
            let own = d(end);
            let behind = (end + 1..).map(d).find(|edits| *edits != own).expect("the text ends");
            let before = d(end - 1);
            own == Some(0)
                || before.is_none_or(|edits| Some(edits) > own)
                    && behind.is_none_or(|edits| Some(edits) > own)
        };
        for (&end, aligned) in &found {
            if edits(&aligned.path) <= wanted.rule.max_edits && (wanted.every_end || is_minimum(end)) {
                hits.push(hit((aligned.clone(), end), text.len()));
            }
        }
    }
    selected(hits, wanted)
}

/// Returns all ends of a pattern in a text, with their paths.
fn ends(text: &[u8], pattern: &[u8], wanted: &HitOptions) -> Vec<(Aligned, usize)> {
    let rule = wanted.rule;
    if let Some(limits) = &wanted.limits {
        let path = |end| Some((limits::align(pattern, text, end, (0, rule.max_edits), limits)?.1, end));
        return (1..=text.len()).filter_map(path).collect();
    }
    let found = PlainScan.scan(&TextCodes::of(text), &[pattern.to_vec()], &rule).unwrap();
    let path = |found: PatternEnd| {
        let end = found.end as usize;
        let path = match rule.indels {
            true => plain::align(pattern, text, end),
            false => replaced(pattern, text, end).expect("a path"),
        };
        (path, end)
    };
    found.into_iter().map(path).collect()
}

/// Returns a PAM of a few bases on either side, or none.
fn some_pam(random: &mut Random) -> Option<Pam> {
    let letters = random.pick(&[&b""[..], b"N", b"A", b"NC", b"RV", b"NNA"]);
    let side = random.pick(&[PamSide::Three, PamSide::Five]);
    (!letters.is_empty()).then(|| Pam::new(letters, side).expect("IUPAC codes"))
}

/// Returns limits on single kinds of edits, or none.
fn some_limits(random: &mut Random, rule: &MatchRule) -> Option<EditLimits> {
    let [insertions, deletions, substitutions, gaps] = [(); 4].map(|()| random.below(3) as u32);
    let limits = EditLimits { insertions, deletions, substitutions, gaps };
    (rule.indels && random.below(3) == 0).then_some(limits)
}

/// Returns options of which each selection is chosen once in the given number of times.
pub fn some_options(random: &mut Random, rule: MatchRule, one_in: [usize; 3]) -> HitOptions {
    let (limits, pam) = (some_limits(random, &rule), some_pam(random));
    let [every_end, best, first] = one_in.map(|number| random.below(number) == 0);
    HitOptions { limits, pam, every_end, best, first, ..plain_options(rule, Strands::Both) }
}

/// Returns the hits that the options select, in order.
pub fn selected(mut hits: Vec<PatternHit>, wanted: &HitOptions) -> Vec<PatternHit> {
    let fewest = hits.iter().map(|hit| hit.edits).min();
    hits.retain(|hit| !wanted.best || Some(hit.edits) == fewest);
    hits.sort_by_key(|hit| (hit.start, hit.end, hit.pattern, hit.strand));
    hits.truncate(if wanted.first { 1 } else { usize::MAX });
    hits
}

/// Texts in parts of any length, several in a stream, have the hits of the definition.
#[test]
fn hits_do_not_depend_on_parts() {
    let mut random = Random::new(19);
    for round in 0..240 {
        let lengths: Vec<usize> = (0..4).map(|_| random.pick(&[0, 1, 5, 40, 150])).collect();
        let texts: Vec<Vec<u8>> = lengths.iter().map(|&len| random.codes(len, 1 + round % 4)).collect();
        let source = random.codes(60, 4);
        let patterns: Vec<Vec<u8>> = [1, 4, 9]
            .iter()
            .flat_map(|&len| patterns(&mut random, &source, len).into_iter().skip(2))
            .collect();
        let rule = MatchRule { max_edits: random.below(4) as u32, indels: random.below(4) > 0 };
        let wanted = some_options(&mut random, rule, [2, 3, 3]);
        let seams = Seams::new(patterns.iter().map(Vec::len), &wanted.rule);
        let wanted = wanted.reaching(patterns.iter().map(Vec::len));
        let part = random.pick(&[1, 3, 17, 1000]);
        let mut found: Vec<Vec<PatternHit>> = vec![Vec::new(); texts.len()];
        let mut gatherers: Vec<Gatherer> = texts.iter().map(|_| Gatherer::default()).collect();
        for from in (0..150).step_by(part) {
            let mut stream = Stream::default();
            for (place, text) in texts.iter().enumerate().filter(|(_, text)| from == 0 || from < text.len()) {
                stream.push(&seams, place, text, from..text.len().min(from + part));
            }
            let ends = SlicedScan::with_chunks(InstructionSet::best(), 16)
                .scan(&stream.codes, &patterns, &wanted.rule)
                .unwrap();
            let placed = stream.place(&ends, &patterns, &wanted.rule);
            for stretch in &stream.stretches {
                let own: Vec<TextEnd> =
                    placed.iter().filter(|end| end.text == stretch.text).copied().collect();
                let (gatherer, text) = (&mut gatherers[stretch.text], &texts[stretch.text]);
                let hits = take(gatherer, (&wanted, &patterns), text, (&own, stretch.to));
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

/// Returns repeats of a short unit with a few changes, which have many local minima.
fn repetitive(random: &mut Random, len: usize, letters: usize) -> Vec<u8> {
    let unit_len = 1 + random.below(5);
    let unit: Vec<u8> = (0..unit_len).map(|_| random.below(letters) as u8).collect();
    let mut text: Vec<u8> = unit.iter().copied().cycle().take(len).collect();
    for _ in 0..random.below(len / 8 + 1) {
        let at = random.below(len);
        text[at] = random.below(letters) as u8;
    }
    text
}

/// A hit with at most `k` edits is also a hit with at most `k + 1` edits, with the same path.
#[test]
fn more_edits_lose_no_hit() {
    let mut random = Random::new(101);
    let (mut hits, mut grown) = (0, 0);
    for round in 0..150 {
        let text = match round % 3 {
            0 => random.codes(90, 2 + (round % 2) as u8),
            _ => repetitive(&mut random, 90, 2 + round % 3),
        };
        let patterns: Vec<Vec<u8>> = [1, 3, 6, 10, 13]
            .iter()
            .flat_map(|&len| {
                let at = random.below(text.len() - len);
                let mut own = text[at..at + len].to_vec();
                own[random.below(len)] = random.below(4) as u8;
                let pattern: Vec<u8> = own.iter().map(|&code| 1 << code).collect();
                let reverse = own.iter().rev().map(|&code| 1 << (3 - code)).collect();
                [pattern, reverse]
            })
            .collect();
        let indels = random.below(4) > 0;
        let limits = some_limits(&mut random, &MatchRule { max_edits: 4, indels });
        let pam = some_pam(&mut random);
        let every_end = random.below(4) == 0;
        let mut before: Vec<PatternHit> = Vec::new();
        for max_edits in 0..=4 {
            let plain = plain_options(MatchRule { max_edits, indels }, Strands::Both);
            let wanted = HitOptions { limits, pam: pam.clone(), every_end, ..plain }
                .reaching(patterns.iter().map(Vec::len));
            let seams = Seams::new(patterns.iter().map(Vec::len), &wanted.rule);
            let mut stream = Stream::default();
            stream.push(&seams, 0, &text, 0..text.len());
            let ends = PlainScan.scan(&stream.codes, &patterns, &wanted.rule).unwrap();
            let ends = stream.place(&ends, &patterns, &wanted.rule);
            let found = take(&mut Gatherer::default(), (&wanted, &patterns), &text, (&ends, text.len()));
            let lost = before.iter().find(|hit| !found.contains(hit));
            assert_eq!(lost, None, "round {round}, {wanted:?}");
            grown += found.len() - before.len();
            hits += found.len();
            before = found;
        }
    }
    assert!(hits > 30_000 && grown > 5_000, "{hits} hits, {grown} of them new with one more edit");
}

/// With `best`, exact hits are returned part by part, since no later end has fewer edits.
#[test]
fn exact_hits_with_best_are_not_kept() {
    let text = [0u8; 1000];
    let patterns = [vec![1u8; 3]];
    let plain = plain_options(MatchRule { max_edits: 1, indels: true }, Strands::Plus);
    let wanted = HitOptions { best: true, ..plain }.reaching([3].into_iter());
    let mut gatherer = Gatherer::default();
    let mut given = Vec::new();
    for to in [100, 200, 1000] {
        let from = given.last().copied().unwrap_or(0);
        let edits = |end: usize| 3u32.saturating_sub(end as u32);
        let ends = (from + 1..=to).filter(|&end| edits(end) <= 1);
        let ends: Vec<TextEnd> =
            ends.map(|end| TextEnd { text: 0, pattern: 0, end, edits: edits(end) }).collect();
        take(&mut gatherer, (&wanted, &patterns), &text, (&ends, to));
        given.push(to);
        assert!(gatherer.given() as usize + 10 >= to, "{} hits up to {to}", gatherer.given());
    }
    assert_eq!(gatherer.given(), 998);
}
