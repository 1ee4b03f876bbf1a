//! Fitted constants against published ones and against random sequences.

use super::*;
use crate::align::significance::{SearchSpace, Significance, Space};
use crate::terms::alphabet::Alphabet;
use crate::terms::scoring::Matrix;

fn protein(name: &str, open: i32, extend: i32) -> Scoring {
    Scoring::matrix(Alphabet::Protein, Matrix::named(name).unwrap(), open, extend)
}

/// Fitted constants are near the published ones.
#[test]
fn fits_agree_with_published_constants() {
    for scoring in [
        protein("BLOSUM62", 11, 1),
        protein("BLOSUM62", 9, 2),
        protein("BLOSUM80", 10, 1),
        Scoring::dna(1, 2, 2, 1),
        Scoring::dna(1, 1, 0, 2),
        Scoring::dna(1, 3, 2, 2),
    ] {
        let units = InUnits::new(&scoring);
        let (known, fitted) = (Karlin::known(&units).unwrap(), fitted(units).unwrap().unwrap().karlin);
        assert!((fitted.lambda / known.lambda - 1.0).abs() < 0.05, "{scoring}: {fitted:?} {known:?}");
        // At a score with an E-value of 1 in a typical search space.
        let score = (known.k * 300.0 * 3e6).ln() / known.lambda;
        let [known, fitted] = [known, fitted].map(|karlin| karlin.k.ln() - karlin.lambda * score);
        assert!((known - fitted).abs() < 1.1, "{scoring}: factor {}", (known - fitted).exp());
    }
}

/// Scorings of all kinds: fine and coarse scores, cheap and expensive gaps.
fn scorings() -> Vec<Scoring> {
    let dna = [
        [1, 2, 5, 1],
        [1, 3, 5, 2],
        [1, 1, 5, 1],
        [1, 1, 1, 1],
        [1, 5, 0, 3],
        [1, 4, 2, 3],
        [2, 3, 8, 1],
        [2, 7, 3, 1],
        [2, 1, 9, 4],
        [3, 7, 5, 3],
        [3, 4, 8, 1],
        [3, 2, 6, 4],
        [3, 5, 4, 2],
        [4, 5, 9, 3],
        [4, 9, 8, 3],
        [5, 4, 12, 8],
        [5, 4, 16, 4],
        [5, 11, 7, 6],
        [5, 6, 4, 9],
        [6, 7, 15, 2],
        [7, 11, 13, 5],
        [7, 9, 0, 10],
        [8, 9, 20, 4],
        [10, 13, 17, 9],
        [10, 30, 50, 11],
        [11, 12, 40, 3],
        [15, 29, 31, 7],
        [100, 101, 300, 100],
        [1_000, 999, 1_500, 1_001],
        [1 << 20, 1_048_573, 1 << 20, 1_000_003],
    ];
    let proteins = [
        ("BLOSUM62", 12, 3),
        ("BLOSUM62", 8, 3),
        ("BLOSUM62", 20, 1),
        ("BLOSUM45", 12, 4),
        ("BLOSUM50", 12, 4),
        ("BLOSUM80", 12, 1),
        ("BLOSUM80_3", 15, 2),
        ("BLOSUM90", 8, 3),
        ("PAM30", 12, 2),
        ("PAM250", 16, 3),
    ];
    let dna =
        dna.iter().map(|&[match_, mismatch, open, extend]| Scoring::dna(match_, mismatch, open, extend));
    dna.chain(proteins.iter().map(|&(name, open, extend)| protein(name, open, extend))).collect()
}

/// Of 40 scorings without published constants, none has a lambda above the one without gaps, multiples have the same
/// E-values, and random sequences have as many hits as the E-values say.
#[test]
fn evalues_of_forty_scorings_hold() {
    let scorings = scorings();
    assert_eq!(scorings.len(), 40);
    for scoring in scorings {
        let constants = constants(&scoring).unwrap().unwrap_or_else(|| panic!("{scoring}: no constants"));
        let Karlin { lambda, unit, .. } = constants.karlin;
        let ungapped = Ungapped::new(&scoring).unwrap().lambda;
        assert!(
            lambda / f64::from(unit) <= ungapped * (1.0 + 1e-9),
            "{scoring}: {lambda} / {unit}, {ungapped}"
        );
        assert!(constants.is_fitted && lambda > 0.2 * ungapped * f64::from(unit), "{scoring}: {lambda}");
        // The sequences differ from those of the fit and are shorter: 60 queries against 50 targets.
        let RandomSample { queries, targets } = RandomSample::seeded(scoring.alphabet, 3_000, 350, 77);
        let scoring = Arc::new(scoring);
        let random =
            Batch { queries: Arc::new(queries), targets: Arc::new(targets), scoring: Arc::clone(&scoring) };
        let found = self::scores(&mut Cpu::new(), &random).unwrap();
        let space = SearchSpace { letters: 50 * 350, targets: 50 };
        let significance = Significance::new(constants, Space::Search(space));
        let least = significance.least_score(1.0, 350, 350);
        let least = found.iter().copied().filter(|&score| score >= least).min().unwrap();
        let hits = found.iter().filter(|&&score| score >= least).count() as f64 / 60.0;
        let expected = significance.evalue(least, 350, 350);
        assert!((0.5..=2.0).contains(&(hits / expected)), "{scoring}: {hits} hits of E-value {expected}");
    }
}

#[test]
fn some_scorings_have_none() {
    for scoring in [
        Scoring::dna(1, 0, 1, 1),
        Scoring::dna(5, 1, 0, 1),
        Scoring::dna(1, 1, 0, 1),
        Scoring::dna(5, 4, 10, 1),
        Scoring::dna(4, 9, 6, 1),
        protein("BLOSUM45", 11, 1),
        protein("BLOSUM50", 11, 1),
        protein("BLOSUM80_3", 11, 1),
        protein("PAM250", 11, 1),
    ] {
        assert_eq!(constants(&scoring).unwrap(), None, "{scoring}");
        assert_eq!(growth(&scoring).unwrap(), Growth::Linear, "{scoring}");
    }
}
