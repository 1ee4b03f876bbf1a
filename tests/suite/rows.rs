//! Queries whose rows are not residues: codons of all frames, whose paths may change the frame, and profiles.

use super::database;
use crate::common::{batches, random::Random};
use std::sync::Arc;
use swalign::engine::{DatabaseQuery, Engine, FramedRun, Primitives, plain::Plain};
use swalign::terms::alphabet::{Alphabet, CODES, scored_code};
use swalign::terms::batch::{Batch, Pair, Sequences};
use swalign::terms::scoring::{GapPiece, Matrix, PositionGaps, PositionScores, Scoring, Substitution};

/// A strand of DNA as the residues of its codons. Its reading frame holds parts of `protein`, and loses or gains a base about
/// once in `edits` codons.
pub fn coding(random: &mut Random, protein: &[u8], bases: usize, edits: usize) -> Vec<u8> {
    let mut query = random.codes(bases, 20);
    query.iter_mut().take(2).for_each(|code| *code = 31);
    let mut row = 2 + random.below(bases.max(1));
    for &residue in &protein[random.below(protein.len().max(1)).min(protein.len())..] {
        if let Some(place) = query.get_mut(row) {
            *place = residue;
        }
        row += match random.below(edits) {
            0 => 2,
            1 => 4,
            2 => 3 * random.below(4),
            _ => 3,
        };
    }
    query
}

/// Scorings of codons.
pub fn scorings() -> Vec<Scoring> {
    let costs =
        [("BLOSUM62", 11, 1, 15), ("BLOSUM80", 4, 3, 1), ("PAM30", 0, 9, 9), ("BLOSUM45", 9000, 900, 15)];
    let scoring = |(name, open, extend, shift)| {
        let matrix = Matrix::named(name).unwrap();
        let scoring = Scoring::matrix(Alphabet::Protein, matrix, open, extend);
        let mut scoring = scoring;
        scoring.frameshift = Some(shift);
        scoring
    };
    costs.into_iter().map(scoring).collect()
}

/// Compares scores of pairs, and paths of their hits, with those of the specification.
fn agree(engine: &mut dyn Engine, batch: &Batch, pairs: &[Pair], case: &str) {
    let hits = Plain::new().score(batch, pairs).unwrap();
    assert!(engine.score(batch, pairs).unwrap() == hits, "{case}: scores");
    let scored = pairs.iter().zip(&hits).filter(|(_, hit)| hit.score > 0);
    let window = |(pair, hit): (&Pair, _)| {
        swalign::align::backtrace::window_of(batch, pair.query, pair.target, pair.start, hit)
    };
    let windows: Vec<_> = scored.map(window).collect();
    let [expected, found] = [&mut Plain::new() as &mut dyn Engine, engine].map(|engine| {
        let paths = engine.paths(batch, &windows).unwrap();
        (0..windows.len())
            .map(|place| paths.framed_runs(place).unwrap().collect())
            .collect::<Vec<Vec<FramedRun>>>()
    });
    assert!(expected == found, "{case}: paths");
}

/// Queries of some bases up to several strips, and targets of a residue up to many.
pub fn frames_agree(engine: &mut dyn Engine) {
    let mut random = Random::new(17);
    for (number, scoring) in scorings().into_iter().enumerate() {
        for (count, longest, bases) in
            [(1, 1, 1), (2, 9, 3), (15, 30, 4), (17, 70, 150), (33, 12, 1024), (70, 10, 1027), (5, 60, 2100)]
        {
            let (mut queries, mut targets) = (Sequences::default(), Sequences::default());
            for k in 0..count {
                let len = 1 + random.below(longest);
                let protein = random.codes(len, if k % 7 == 3 { 3 } else { 20 });
                if k < 3 {
                    let bases = bases - random.below(bases.min(3));
                    queries.push(coding(&mut random, &protein, bases, 20));
                }
                targets.push(protein);
            }
            let batch = batches::of(queries, targets, scoring.clone());
            let mut pairs = Vec::new();
            for query in 0..batch.queries.len() as u32 {
                for target in 0..count as u32 {
                    let end = batch.target(target).len() as u32;
                    pairs.push(Pair { query, target, start: 0, own: 0, end });
                    if target % 5 == 4 {
                        let own = random.below(end as usize) as u32;
                        pairs.push(Pair { query, target, start: own / 2, own, end });
                        pairs.push(Pair { query, target, start: own, own, end });
                    }
                }
            }
            agree(engine, &batch, &pairs, &format!("scoring {number}, {count} targets, {bases} bases"));
        }
    }
}

/// Profiles of one position up to several strips. With the rows of a matrix, hits are those of the residues.
pub fn profiles_agree(engine: &mut dyn Engine) {
    let mut random = Random::new(23);
    for (number, (count, longest, len)) in
        [(1, 1, 1), (3, 9, 2), (17, 70, 40), (33, 50, 130), (40, 30, 600), (9, 200, 1030)]
            .into_iter()
            .enumerate()
    {
        let query = random.codes(len, 20);
        let mut targets = Sequences::default();
        (0..count).for_each(|_| {
            let len = 1 + random.below(longest);
            let mut target = random.codes(len, 20);
            let start = random.below(query.len());
            let same = query[start..].iter().zip(&mut target).filter(|_| number % 2 == 0);
            same.for_each(|(&q, t)| *t = q);
            targets.push(target);
        });
        let matrix = Matrix::named("BLOSUM62").unwrap();
        let mut rows: Vec<[i8; CODES]> = query.iter().map(|&q| matrix.scores[usize::from(q)]).collect();
        let plain = Scoring::matrix(Alphabet::Protein, matrix, 11, 1);
        let profile = |rows: &Vec<[i8; CODES]>, gaps: &[PositionGaps]| {
            Arc::new(PositionScores { rows: rows.clone(), gaps: gaps.to_vec() })
        };
        let of = |scoring: Scoring| batches::of([&query].as_slice(), targets.clone(), scoring);
        let own = of(plain.clone().with_profile(&query, profile(&rows, &[])));
        let pairs = (0..count as u32)
            .map(|target| Pair { query: 0, target, start: 0, own: 0, end: own.target(target).len() as u32 })
            .collect::<Vec<Pair>>();
        assert!(
            Plain::new().score(&own, &pairs) == Plain::new().score(&of(plain.clone()), &pairs),
            "{number}"
        );
        agree(engine, &own, &pairs, &format!("profile {number} of a matrix"));
        for row in &mut rows {
            row[..25]
                .iter_mut()
                .for_each(|score| *score = (*score + random.below(7) as i8 - 3).clamp(-20, 20));
        }
        let own = of(plain.clone().with_profile(&query, profile(&rows, &[])));
        agree(engine, &own, &pairs, &format!("profile {number}"));
        // Gap costs of positions: the same ones, and others.
        let gap = plain.gaps().first;
        let same = vec![PositionGaps { after: gap, skipped: gap }; len];
        let own_gaps = of(plain.clone().with_profile(&query, profile(&rows, &same)));
        assert!(Plain::new().score(&own, &pairs) == Plain::new().score(&own_gaps, &pairs), "{number}");
        for most in [6, 127] {
            let gaps = gap_costs(&mut random, len, most);
            let own = of(plain.clone().with_profile(&query, profile(&rows, &gaps)));
            agree(engine, &own, &pairs, &format!("profile {number} with gap costs up to {most}"));
        }
    }
}

/// Gap costs of positions. The first residue of a gap costs at most `most`.
fn gap_costs(random: &mut Random, positions: usize, most: usize) -> Vec<PositionGaps> {
    let mut cost = || {
        let extend = 1 + random.below(most);
        GapPiece::new(random.below(most - extend + 1) as i32, extend as i32)
    };
    (0..positions).map(|_| PositionGaps { after: cost(), skipped: cost() }).collect()
}

/// The profile of a query under a matrix, with some scores changed.
pub fn profile(random: &mut Random, query: &[u8]) -> Scoring {
    let matrix = Matrix::named("BLOSUM62").unwrap();
    let changed = |&q: &u8| {
        let changes: [i8; CODES] = std::array::from_fn(|_| random.below(7) as i8 - 3);
        // Letters that are scored alike have the same scores.
        std::array::from_fn(|t| {
            let scored = usize::from(scored_code(t as u8));
            let score = matrix.scores[usize::from(q)].get(scored).copied().unwrap_or(i8::MIN);
            if scored < 25 { (score + changes[scored]).clamp(-20, 20) } else { score }
        })
    };
    let rows = query.iter().map(changed).collect();
    Scoring::matrix(Alphabet::Protein, matrix.clone(), 11, 1)
        .with_profile(query, Arc::new(PositionScores { rows, gaps: Vec::new() }))
}

/// Scores of databases, for one in `one_in` of the lengths of queries.
pub fn databases_agree(engine: &mut dyn Primitives, one_in: usize) {
    let lengths = database::ROWS.iter().chain(&database::STRIP_ROWS).copied();
    let rows: Vec<usize> = lengths.step_by(one_in).collect();
    let mut random = Random::new(29);
    let longest = [1030, 2000, Sequences::default().longest_short()];
    for (number, scoring) in scorings().into_iter().enumerate().step_by(one_in) {
        let longest = if number == 0 { &longest[..] } else { &longest[..1] };
        let batch = database::database(&scoring, 960 + number as u64, &rows, longest);
        let strands = (0..batch.queries.len() as u32).map(|query| {
            let protein = batch.query(query);
            coding(&mut random, protein, protein.len(), 20)
        });
        let strands: Vec<Vec<u8>> = strands.collect();
        let queries = strands.iter().map(Vec::as_slice).collect::<Sequences>();
        let batch = Batch { queries: Arc::new(queries), ..batch };
        database::agree(engine, &batch, &format!("database, codons, scoring {number}"));
    }
    for (number, rows) in rows.into_iter().enumerate() {
        let plain = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1);
        let longest = if number % 8 == 0 { &longest[..2] } else { &longest[..1] };
        let batch = database::database(&plain, 970 + number as u64, &[rows], longest);
        let query = [batch.query(0)].into_iter().collect::<Sequences>();
        let mut scoring = profile(&mut random, batch.query(0));
        if number % 3 == 2 {
            let rows = scoring.profile.as_ref().unwrap().rows.clone();
            let gaps = gap_costs(&mut random, rows.len(), 20);
            scoring = scoring.with_profile(batch.query(0), Arc::new(PositionScores { rows, gaps }));
        }
        let batch = Batch { queries: Arc::new(query), scoring: Arc::new(scoring), ..batch };
        let asked = [DatabaseQuery { query: 0, least: 1, first: 0 }];
        let [expected, mut found] = [&mut Plain::new() as &mut dyn Engine, engine]
            .map(|engine| engine.score_database(&batch, &asked).unwrap());
        found[0].sort_unstable();
        assert_eq!(expected, found, "database, profile of {rows}");
    }
}

/// Code of tryptophan.
const W: u8 = 17;

/// Scores around the largest of 16 bits, beside small ones.
pub fn largest_frames_agree(engine: &mut dyn Engine) {
    let mut random = Random::new(3);
    let mut scoring = scorings().remove(0);
    let Substitution::Matrix(matrix) = &mut scoring.substitution else { unreachable!("a matrix") };
    matrix.scores[usize::from(W)][usize::from(W)] = 100;
    let (mut queries, mut targets) = (Sequences::default(), Sequences::default());
    queries.push([vec![31; 2], vec![W; 3 * 340]].concat());
    for len in [320, 325, 326, 327, 328, 339, 20] {
        targets.push(vec![W; len]);
        targets.push(random.codes(len, 20));
    }
    let batch = batches::of(queries, targets, scoring);
    let whole =
        |target: u32| Pair { query: 0, target, start: 0, own: 0, end: batch.target(target).len() as u32 };
    let pairs: Vec<Pair> = (0..14).map(whole).collect();
    agree(engine, &batch, &pairs, "scores around 32,767");
}
