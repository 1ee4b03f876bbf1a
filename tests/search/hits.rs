//! Hits: those of their definition, in whatever parts a text comes.

use super::*;

/// The hits of a text by their definition: forward in the text, unless a PAM lies in front, then backwards.
fn defined(text: &[u8], patterns: &[Vec<u8>], wanted: &Wanted) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    for (place, pattern) in (0..).zip(patterns) {
        let strand = if place % wanted.strands == 0 { Strand::Forward } else { Strand::Reverse };
        let backwards = wanted.pam.as_ref().is_some_and(|pam| !pam.is_behind(strand));
        let hit = |(found, end): (Aligned, usize), letters: usize| Hit {
            start: if backwards { letters - end } else { found.start },
            end: if backwards { letters - found.start } else { end },
            pattern: place / wanted.strands,
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
        let found = ends(&text, &pattern, wanted).into_iter().filter(|found| with_pam(found.1));
        let found: Vec<(Aligned, usize)> = found.collect();
        for cluster in found.chunk_by(|a, b| a.1 + 1 == b.1) {
            let fewest = cluster.iter().map(|(found, _)| edits(&found.path)).min();
            let best = cluster.iter().find(|(found, _)| Some(edits(&found.path)) == fewest);
            let chosen = if wanted.every_end { cluster.iter().collect() } else { Vec::from_iter(best) };
            hits.extend(chosen.into_iter().map(|found| hit(found.clone(), text.len())));
        }
    }
    let fewest = hits.iter().map(|hit| hit.edits).min();
    hits.retain(|hit| !wanted.best || Some(hit.edits) == fewest);
    hits.sort_by_key(|hit| (hit.start, hit.end, hit.pattern, hit.strand));
    hits.truncate(if wanted.first { 1 } else { usize::MAX });
    hits
}

/// All ends of a pattern in a text, with their paths.
fn ends(text: &[u8], pattern: &[u8], wanted: &Wanted) -> Vec<(Aligned, usize)> {
    let rule = wanted.rule;
    if let Some(limits) = &wanted.limits {
        let path = |end| Some((limits::align(pattern, text, end, (0, rule.max_edits), limits)?.1, end));
        return (1..=text.len()).filter_map(path).collect();
    }
    let found = Plain.scan(&Codes::of(text), &[pattern.to_vec()], &rule).unwrap();
    let path = |found: End| {
        let end = found.end as usize;
        let path = match rule.indels {
            true => plain::align(pattern, text, end),
            false => replaced(pattern, text, end).expect("a path"),
        };
        (path, end)
    };
    found.into_iter().map(path).collect()
}

/// A PAM of a few letters at either side, or none.
fn some_pam(random: &mut Random) -> Option<Pam> {
    let letters = random.pick(&[&b""[..], b"N", b"A", b"NC", b"RV", b"NNA"]);
    let side = random.pick(&[PamSide::Three, PamSide::Five]);
    (!letters.is_empty()).then(|| Pam::new(letters, side).expect("IUPAC codes"))
}

/// Limits of single kinds, or none.
fn some_limits(random: &mut Random, rule: &Rule) -> Option<Limits> {
    let [insertions, deletions, substitutions, gaps] = [(); 4].map(|()| random.below(3) as u32);
    let limits = Limits { insertions, deletions, substitutions, gaps };
    (rule.indels && random.below(3) == 0).then_some(limits)
}

/// Texts in parts of any length, several in one stream, have the hits of the definition.
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
        let rule = Rule { max_edits: random.below(4) as u32, indels: random.below(4) > 0 };
        let wanted = Wanted {
            rule,
            rate: None,
            limits: some_limits(&mut random, &rule),
            pam: some_pam(&mut random),
            every_end: random.below(2) == 0,
            best: random.below(3) == 0,
            first: random.below(3) == 0,
            strands: 2,
            before: 0,
        };
        let seams = Seams::new(patterns.iter().map(Vec::len), &wanted.rule);
        let wanted = wanted.reaching(patterns.iter().map(Vec::len));
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
