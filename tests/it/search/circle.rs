//! Tests circular texts: the hits agree with their definition, whatever the origin of the circle and the parts of its
//! text.

use super::hits::{selected, some_options};
use super::*;
use std::collections::BTreeMap;
use swalign::patterns::search::circle::Circle;

/// Returns the hits of a circle by their definition: the local minima on the circle of the edits at each position of
/// the endlessly repeated text.
fn defined(circle: &[u8], patterns: &[Vec<u8>], wanted: &HitOptions) -> Vec<PatternHit> {
    let (len, mut hits) = (circle.len(), Vec::new());
    for (place, pattern) in (0..).zip(patterns) {
        let strand = wanted.strand(place);
        let backwards = wanted.anchors_at_starts(place);
        let turn = |codes: &[u8]| -> Vec<u8> {
            if backwards { codes.iter().rev().copied().collect() } else { codes.to_vec() }
        };
        let (turned, pattern) = (turn(circle), turn(pattern));
        // The copy that is examined, with enough bases before and after it.
        let copies = (2 * pattern.len() + 70).div_ceil(len);
        let text: Vec<u8> = turned.iter().copied().cycle().take((2 * copies + 1) * len).collect();
        let found = |at: usize| -> Option<Aligned> {
            let end = copies * len + 1 + at;
            if let Some(pam) = &wanted.pam {
                let classes = turn(pam.classes(strand));
                let mut letters = classes.iter().zip(&text[end..]);
                if !letters.all(|(&class, &letter)| u16::from(class) >> letter.min(OTHER) & 1 == 1) {
                    return None;
                }
            }
            match &wanted.limits {
                Some(limits) => {
                    limits::align(&pattern, &text, end, (0, 64), limits).map(|(_, aligned)| aligned)
                }
                None if wanted.rule.indels => Some(plain::align(&pattern, &text, end)),
                None => replaced(&pattern, &text, end),
            }
        };
        let found: BTreeMap<usize, Aligned> = (0..len).filter_map(|at| Some((at, found(at)?))).collect();
        let d = |at: usize| found.get(&(at % len)).map(|aligned| edits(&aligned.path));
        let is_minimum = |at: usize| {
            let own = d(at);
            let next = (at + 1..at + len).map(d).find(|edits| *edits != own);
            // If all positions have the same edits, the last position in text order is a minimum.
            let Some(next) = next else { return at == if backwards { 0 } else { len - 1 } };
            let before = d(at + len - 1);
            before.is_none_or(|edits| Some(edits) > own) && next.is_none_or(|edits| Some(edits) > own)
        };
        for (&at, aligned) in &found {
            let cost = edits(&aligned.path);
            if cost > wanted.rule.max_edits || !(wanted.every_end || cost == 0 || is_minimum(at)) {
                continue;
            }
            let end = copies * len + 1 + at;
            let letters = end - aligned.start;
            let start = if backwards { text.len() - end } else { aligned.start } % len;
            let path = match backwards {
                true => aligned.path.iter().rev().copied().collect(),
                false => aligned.path.clone(),
            };
            let pattern = place / wanted.strands.count();
            hits.push(PatternHit { start, end: start + letters, pattern, strand, edits: cost, path });
        }
    }
    selected(hits, wanted)
}

/// Returns the hits of an unrolled circle that is read in parts.
fn found(letters: &[u8], patterns: &[Vec<u8>], wanted: &HitOptions, part: usize) -> Vec<PatternHit> {
    let circle = Circle::new(letters.len(), wanted);
    let text = circle.unroll(letters);
    let seams = Seams::new(patterns.iter().map(Vec::len), &wanted.rule);
    let (mut gatherer, mut hits) = (Gatherer::default(), Vec::new());
    gatherer.set_circle(Some(circle));
    for from in (0..text.len()).step_by(part) {
        let to = text.len().min(from + part);
        let mut stream = Stream::default();
        stream.push(&seams, 0, &text, from..to);
        let ends =
            SlicedScan::on(InstructionSet::best()).scan(&stream.codes, patterns, &wanted.rule).unwrap();
        let ends = stream.place(&ends, patterns, &wanted.rule);
        hits.extend(take(&mut gatherer, (wanted, patterns), &text, (&ends, to)));
    }
    hits
}

#[test]
fn hits_of_circles_are_those_of_their_definition() {
    let mut random = Random::new(107);
    let (mut across, mut longer, mut all) = (0, 0, 0);
    for round in 0..400 {
        let len = random.pick(&[1, 2, 3, 7, 20, 33, 60]);
        let mut letters = random.codes(len, 1 + (round % 4) as u8);
        if random.below(3) == 0 {
            let unit = 1 + random.below(4);
            letters = letters.iter().copied().take(unit).cycle().take(len).collect();
        }
        let patterns: Vec<Vec<u8>> = [1, 4, 9, 14]
            .iter()
            .flat_map(|&size| {
                let from = random.below(len);
                let mut own: Vec<u8> = letters.iter().copied().cycle().skip(from).take(size).collect();
                if random.below(2) == 0 {
                    own[random.below(size)] = random.below(4) as u8;
                }
                let pattern: Vec<u8> = own.iter().map(|&code| 1 << code.min(3)).collect();
                let reverse = own.iter().rev().map(|&code| 1 << (3 - code.min(3))).collect();
                [pattern, reverse]
            })
            .collect();
        let rule = MatchRule { max_edits: random.below(4) as u32, indels: random.below(4) > 0 };
        let wanted = some_options(&mut random, rule, [4, 5, 5]).reaching(patterns.iter().map(Vec::len));
        let part = random.pick(&[1, 5, 16, 1000]);
        let found = found(&letters, &patterns, &wanted, part);
        let expected = defined(&letters, &patterns, &wanted);
        assert_eq!(found, expected, "round {round}, {letters:?}, {patterns:?}, parts of {part}, {wanted:?}");
        all += found.len();
        across += found.iter().filter(|hit| hit.end > len).count();
        longer += found.iter().filter(|hit| hit.end - hit.start > len).count();
    }
    assert!(all > 5_000 && across > 1_000 && longer > 300, "{all} hits, {across} across, {longer} longer");
}

/// A circle has the same hits for every origin.
#[test]
fn a_circle_may_begin_anywhere() {
    let mut random = Random::new(109);
    let letters = random.codes(50, 2);
    let patterns: Vec<Vec<u8>> =
        [5, 8, 12].map(|len| random.codes(len, 2).iter().map(|&code| 1 << code).collect()).to_vec();
    let wanted = plain_options(MatchRule { max_edits: 2, indels: true }, Strands::Plus)
        .reaching(patterns.iter().map(Vec::len));
    let hits = |turned: usize| {
        let mut own = letters.clone();
        own.rotate_left(turned);
        let back = |hit: PatternHit| {
            let start = (hit.start + turned) % letters.len();
            PatternHit { start, end: start + hit.end - hit.start, ..hit }
        };
        let mut hits: Vec<PatternHit> = found(&own, &patterns, &wanted, 1000).into_iter().map(back).collect();
        hits.sort_by_key(|hit| (hit.start, hit.end, hit.pattern));
        hits
    };
    let expected = hits(0);
    assert!(expected.len() > 10, "{} hits", expected.len());
    (1..letters.len()).for_each(|turned| assert_eq!(hits(turned), expected, "turned by {turned}"));
}
