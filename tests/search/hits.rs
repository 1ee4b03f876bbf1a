//! Hits: those of their definition, in whatever parts a text comes.

use super::*;

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
