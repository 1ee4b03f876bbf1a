//! Tests hits found from their PAMs: they agree with the ends of a scan, whatever the parts of a text.

use super::*;
use swalign::terms::options::Rate;

/// Returns a text with many sites where patterns occur with a few edits, on both strands, and with codes that are not
/// bases.
fn planted(random: &mut Random, patterns: &[Vec<u8>], len: usize, letters: u8) -> Vec<u8> {
    let mut text = random.codes(len, letters);
    for _ in 0..len / 40 {
        let pattern = &patterns[random.below(patterns.len())];
        let mut own: Vec<u8> = pattern.iter().map(|class| (class & 15).trailing_zeros() as u8 % 4).collect();
        for _ in 0..random.below(4) {
            let at = random.below(own.len());
            match random.below(4) {
                0 if own.len() > 1 => drop(own.remove(at)),
                1 => own.insert(at, random.below(4) as u8),
                2 => own[at] = random.pick(&[OTHER, 14, 0]),
                _ => own[at] = random.below(4) as u8,
            }
        }
        let at = random.below(len);
        let room = own.len().min(len - at);
        text[at..at + room].copy_from_slice(&own[..room]);
        // Possible PAMs on either side.
        for place in [at.checked_sub(2), at.checked_sub(1), Some(at + room), Some(at + room + 1)] {
            if let Some(letter) = place.and_then(|place| text.get_mut(place)) {
                *letter = random.pick(&[1, 2, 2, 1, 3]);
            }
        }
    }
    text
}

fn limits(random: &mut Random, rule: &MatchRule) -> EditLimits {
    let [insertions, deletions, substitutions, gaps] = [(); 4].map(|()| random.below(4) as u32);
    let of_gaps = |most: u32| if rule.indels { most } else { 0 };
    EditLimits { insertions: of_gaps(insertions), deletions: of_gaps(deletions), substitutions, gaps }
}

/// Returns patterns of these lengths, each in its orientations.
fn oriented(random: &mut Random, lengths: &[usize], strands: Strands) -> Vec<Vec<u8>> {
    let letters: &[u8] = random.pick(&[&b"ACGT"[..], b"ACGT", b"ACGTACGTACGTACGTACGTNR"]);
    let pattern = |&len: &usize| {
        let letters: Vec<u8> = (0..len).map(|_| random.pick(letters)).collect();
        let pattern = SearchPattern::new("p".to_string(), &letters).expect("IUPAC codes");
        let of_strand = |strand: &Strand| match strand {
            Strand::Forward => pattern.classes(),
            _ => pattern.reverse_classes(),
        };
        strands.orientations().iter().map(of_strand).collect::<Vec<_>>()
    };
    lengths.iter().flat_map(pattern).collect()
}

/// Returns the hits of texts, computed from anchors. The texts are read in parts of `part` bases.
fn from_sites(
    sites: &PamSites,
    scan: &dyn EndScan,
    (wanted, patterns): (&HitOptions, &[Vec<u8>]),
    texts: &[Vec<u8>],
    part: usize,
) -> Vec<Vec<PatternHit>> {
    let mut found: Vec<Vec<PatternHit>> = vec![Vec::new(); texts.len()];
    let mut gatherers: Vec<Gatherer> = texts.iter().map(|_| Gatherer::default()).collect();
    let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
    for from in (0..longest.max(1)).step_by(part) {
        let parts: Vec<TextPart> = (0..texts.len())
            .filter(|&text| from == 0 || from < texts[text].len())
            .map(|text| {
                let codes = &texts[text][..];
                TextPart { text, codes, own: from..codes.len().min(from + part) }
            })
            .collect();
        let anchors = sites.anchors(scan, patterns, &parts, 0, &EndCapacity::unlimited()).unwrap();
        for TextPart { text, codes, own } in parts {
            let gatherer = &mut gatherers[text];
            let own_anchors: Vec<TextEnd> = anchors.iter().filter(|end| end.text == text).copied().collect();
            gatherer.put_anchors(wanted, codes, &own_anchors, own.end);
            found[text].extend(rest(gatherer, wanted, patterns, codes));
        }
    }
    found
}

/// Returns the hits of texts, computed from all ends of the specification.
fn from_ends((wanted, patterns): (&HitOptions, &[Vec<u8>]), texts: &[Vec<u8>]) -> Vec<Vec<PatternHit>> {
    let hits = |text: &Vec<u8>| {
        let mut ends = Vec::new();
        for (rule, some) in wanted.by_rule(patterns, None) {
            let some = some.unwrap_or_else(|| (0..patterns.len() as u32).collect());
            let codes = TextCodes::of(&text.iter().map(|&code| code.min(OTHER)).collect::<Vec<_>>());
            let own: Vec<Vec<u8>> = some.iter().map(|&place| patterns[place as usize].clone()).collect();
            let end = |found: &PatternEnd| TextEnd {
                text: 0,
                pattern: some[found.pattern as usize],
                end: found.end as usize,
                edits: found.edits,
            };
            ends.extend(PlainScan.scan(&codes, &own, &rule).unwrap().iter().map(end));
        }
        ends.sort();
        take(&mut Gatherer::default(), (wanted, patterns), text, (&ends, text.len()))
    };
    texts.iter().map(hits).collect()
}

/// Tests all options, with pattern lengths at the boundary sizes of seeds and windows, and with stretches and parts of
/// any length.
#[test]
fn hits_from_pams_are_those_of_all_ends() {
    let mut random = Random::new(83);
    let sets = InstructionSet::available();
    let (mut hits, mut looked) = (0, 0);
    for round in 0..220 {
        let strands = [one_strand(round as u64), Strands::Both][random.below(2)];
        let len = random.pick(&[9, 10, 12, 16, 19, 20, 20, 20, 23, 24, 25, 40, 59, 60, 61, 64, 65]);
        let mut lengths = vec![len; 1 + random.below(6)];
        if random.below(3) == 0 {
            lengths.extend([1, 5, 21, 33]);
        }
        let patterns = oriented(&mut random, &lengths, strands);
        let letters = 2 + random.below(3) as u8;
        let texts: Vec<Vec<u8>> =
            [0, 1, 30, 700, 64 + random.below(200)]
                .map(|len| {
                    if len < 2 { random.codes(len, 4) } else { planted(&mut random, &patterns, len, letters) }
                })
                .to_vec();
        let rule = MatchRule { max_edits: random.below(6) as u32, indels: random.below(4) > 0 };
        let pam = random.pick(&[&b"NGG"[..], b"NGG", b"G", b"NR", b"TTTV", b"N", b"NNGRRT", b"VNS"]);
        let side = random.pick(&[PamSide::Three, PamSide::Five]);
        let wanted = HitOptions {
            rate: (random.below(5) == 0).then(|| Rate { millionths: random.pick(&[50_000, 150_000]) }),
            limits: (random.below(3) == 0).then(|| limits(&mut random, &rule)),
            pam: Some(Pam::new(pam, side).expect("IUPAC codes")),
            every_end: random.below(2) == 0,
            best: random.below(4) == 0,
            first: random.below(4) == 0,
            ..plain_options(rule, strands)
        }
        .reaching(patterns.iter().map(Vec::len));
        let (part, stretch) = (random.pick(&[1, 17, 100, 64, 1000]), random.pick(&[1, 63, 64, 65, 1 << 16]));
        let share = random.pick(&[f64::INFINITY, f64::INFINITY, 0.5, 10.0]);
        let Some(sites) = PamSites::within(sets[round % sets.len()], &wanted, &patterns, (stretch, share))
        else {
            continue;
        };
        let part = if part == 1 && texts.iter().any(|text| text.len() > 300) { 29 } else { part };
        let search = (&wanted, &patterns[..]);
        let found = from_sites(&sites, &SlicedScan::on(sets[0]), search, &texts, part);
        let expected = from_ends(search, &texts);
        for (text, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let what =
                format!("round {round}, text {text}, lengths {lengths:?}, parts of {part}, {wanted:?}");
            assert_eq!(found, expected, "{what}, stretches of {stretch}, share {share}");
        }
        looked += 1;
        hits += expected.iter().map(Vec::len).sum::<usize>();
    }
    assert!(looked > 150 && hits > 3000, "{looked} searches with {hits} hits");
}

/// Many guides next to a rare PAM are looked up. Few guides, and guides next to any base, are swept. The anchors are
/// the same, even if tables are built only after some bases.
#[test]
fn what_costs_less_is_chosen() {
    let mut random = Random::new(89);
    let set = InstructionSet::best();
    let wanted = |pam: &str, max_edits: u32| HitOptions {
        pam: Some(Pam::new(pam.as_bytes(), PamSide::Three).expect("IUPAC codes")),
        before: 22,
        ..plain_options(MatchRule { max_edits, indels: true }, Strands::Both)
    };
    let patterns = oriented(&mut random, &[20; 400], Strands::Both);
    let sites = |pam, edits, patterns: &[Vec<u8>]| PamSites::new(set, &wanted(pam, edits), patterns);
    assert!(sites("NGG", 3, &patterns).is_some());
    assert!(sites("NGG", 3, &patterns[..4]).is_none());
    assert!(sites("N", 1, &patterns[..40]).is_none());
    let wanted = wanted("NGG", 1);
    let mut text = planted(&mut random, &patterns, 20_000, 4);
    // A stretch that consists of sites is swept.
    text[9_000..12_000].fill(2);
    let mut found = Vec::new();
    for letters in [0, 1 << 40] {
        let sites = PamSites::new(set, &wanted, &patterns).expect("sites");
        assert!(sites.gain() > 1.0);
        for part in [text.len(), 700] {
            let mut all = Vec::new();
            for from in (0..text.len()).step_by(part) {
                let part = TextPart { text: 3, codes: &text, own: from..text.len().min(from + part) };
                let room = EndCapacity::unlimited();
                all.extend(sites.anchors(&SlicedScan::on(set), &patterns, &[part], letters, &room).unwrap());
            }
            all.sort();
            found.push(all);
        }
    }
    let swept = PamSites::within(set, &wanted, &patterns, (1 << 16, 0.0)).expect("sites");
    let part = TextPart { text: 3, codes: &text, own: 0..text.len() };
    let expected =
        swept.anchors(&SlicedScan::on(set), &patterns, &[part], 0, &EndCapacity::unlimited()).unwrap();
    assert!(expected.len() > 30, "{} anchors", expected.len());
    found.iter().for_each(|found| assert_eq!(found, &expected));
}
