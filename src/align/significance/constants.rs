//! Published constants of Karlin and Altschul for alignments with gaps.
//!
//! The constants of matrices and of match and mismatch scores are from NCBI's toolkit (`blast_stat.c`, public domain),
//! which obtained them by simulation (Altschul et al. 2001, Nucleic Acids Research 29:351; Park et al. 2012, BMC
//! Research Notes 5:286). Gap costs follow this program's convention: a gap of k residues costs `open + k * extend`.

use super::units::InUnits;
use super::{FiniteSize, Karlin};
use crate::terms::alphabet::Alphabet;
use crate::terms::scoring::{GapPiece, Matrix, Scoring};

/// open, extend, lambda, K, alpha, beta, and the variance constants Alpha and Sigma of [`FiniteSize`].
type OfMatrixGaps = (i32, i32, f64, f64, f64, f64, f64, f64);
/// The same for match and mismatch scores, for which no variances are published.
type OfGaps = (i32, i32, f64, f64, f64, f64);

struct OfMatrix {
    /// alpha and Alpha without gaps.
    ungapped: (f64, f64),
    gapped: &'static [OfMatrixGaps],
}

const BLOSUM45: OfMatrix = OfMatrix {
    ungapped: (0.9113, 9.611060),
    gapped: &[
        (13, 3, 0.207, 0.049, 1.5, -22.0, 35.8559, 35.9639),
        (12, 3, 0.199, 0.039, 1.8, -34.0, 45.6936, 45.8517),
        (11, 3, 0.190, 0.031, 2.0, -38.0, 62.8741, 63.1037),
        (10, 3, 0.179, 0.023, 2.4, -51.0, 88.2868, 88.6391),
        (16, 2, 0.210, 0.051, 1.5, -24.0, 36.2798, 36.4524),
        (15, 2, 0.203, 0.041, 1.7, -31.0, 44.8257, 45.0604),
        (14, 2, 0.195, 0.032, 1.9, -36.0, 60.7362, 61.1023),
        (13, 2, 0.185, 0.024, 2.2, -45.0, 85.1481, 85.6894),
        (12, 2, 0.171, 0.016, 2.8, -65.0, 127.758, 128.582),
        (19, 1, 0.205, 0.040, 1.9, -43.0, 53.0714, 53.8282),
        (18, 1, 0.198, 0.032, 2.0, -43.0, 72.3424, 73.4039),
        (17, 1, 0.189, 0.024, 2.4, -57.0, 103.055, 104.721),
        (16, 1, 0.176, 0.016, 2.8, -67.0, 170.1, 173.003),
    ],
};
const BLOSUM50: OfMatrix = OfMatrix {
    ungapped: (0.6895, 5.388310),
    gapped: &[
        (13, 3, 0.212, 0.063, 1.1, -16.0, 18.1138, 18.2028),
        (12, 3, 0.206, 0.055, 1.2, -18.0, 22.6546, 22.7777),
        (11, 3, 0.197, 0.042, 1.4, -25.0, 29.8611, 30.0457),
        (10, 3, 0.186, 0.031, 1.7, -34.0, 42.3938, 42.674),
        (9, 3, 0.172, 0.022, 2.1, -48.0, 66.0696, 66.5164),
        (16, 2, 0.215, 0.066, 1.05, -15.0, 17.9518, 18.0921),
        (15, 2, 0.210, 0.058, 1.2, -20.0, 21.9401, 22.1418),
        (14, 2, 0.202, 0.045, 1.4, -27.0, 28.6812, 28.9619),
        (13, 2, 0.193, 0.035, 1.6, -32.0, 42.0595, 42.4716),
        (12, 2, 0.181, 0.025, 1.9, -41.0, 63.7476, 64.3973),
        (19, 1, 0.212, 0.057, 1.2, -21.0, 26.3112, 26.9233),
        (18, 1, 0.207, 0.050, 1.4, -28.0, 34.9037, 35.7348),
        (17, 1, 0.198, 0.037, 1.6, -33.0, 48.8958, 50.1486),
        (16, 1, 0.186, 0.025, 1.9, -42.0, 76.4691, 78.443),
        (15, 1, 0.171, 0.015, 2.7, -76.0, 140.053, 144.16),
    ],
};
const BLOSUM62: OfMatrix = OfMatrix {
    ungapped: (0.7916, 4.964660),
    gapped: &[
        (11, 2, 0.297, 0.082, 1.1, -10.0, 12.6738, 12.7576),
        (10, 2, 0.291, 0.075, 1.3, -15.0, 16.474, 16.6026),
        (9, 2, 0.279, 0.058, 1.5, -19.0, 22.7519, 22.95),
        (8, 2, 0.264, 0.045, 1.8, -26.0, 35.4838, 35.8213),
        (7, 2, 0.239, 0.027, 2.5, -46.0, 61.2383, 61.886),
        (6, 2, 0.201, 0.012, 3.3, -58.0, 140.417, 141.882),
        (13, 1, 0.292, 0.071, 1.2, -11.0, 19.5063, 19.8931),
        (12, 1, 0.283, 0.059, 1.5, -19.0, 27.8562, 28.4699),
        (11, 1, 0.267, 0.041, 1.9, -30.0, 42.6028, 43.6362),
        (10, 1, 0.243, 0.024, 2.5, -44.0, 83.1787, 85.0656),
        (9, 1, 0.206, 0.010, 4.0, -87.0, 210.333, 214.842),
    ],
};
const BLOSUM80: OfMatrix = OfMatrix {
    ungapped: (0.5222, 1.918130),
    gapped: &[
        (25, 2, 0.342, 0.17, 0.52, -1.6, 1.731, 1.7313),
        (13, 2, 0.336, 0.15, 0.59, -3.0, 2.67347, 2.6923),
        (9, 2, 0.319, 0.11, 0.76, -6.0, 5.57609, 5.66786),
        (8, 2, 0.308, 0.090, 0.89, -9.0, 7.53695, 7.68623),
        (7, 2, 0.293, 0.070, 1.1, -14.0, 11.5866, 11.8404),
        (6, 2, 0.268, 0.045, 1.4, -19.0, 19.9581, 20.4412),
        (11, 1, 0.314, 0.095, 0.90, -9.0, 8.80861, 9.22332),
        (10, 1, 0.299, 0.071, 1.1, -14.0, 13.8338, 14.5334),
        (9, 1, 0.279, 0.048, 1.4, -19.0, 24.252, 25.4904),
    ],
};
const BLOSUM90: OfMatrix = OfMatrix {
    ungapped: (0.4434, 1.377760),
    gapped: &[
        (9, 2, 0.310, 0.12, 0.67, -6.0, 4.23229, 4.33417),
        (8, 2, 0.300, 0.099, 0.76, -7.0, 5.79702, 5.96142),
        (7, 2, 0.283, 0.072, 0.93, -11.0, 9.04088, 9.3216),
        (6, 2, 0.259, 0.048, 1.2, -16.0, 16.0244, 16.5316),
        (11, 1, 0.302, 0.093, 0.78, -8.0, 7.14325, 7.61919),
        (10, 1, 0.290, 0.075, 1.04, -15.0, 11.4839, 12.2698),
        (9, 1, 0.265, 0.044, 1.3, -19.0, 21.4083, 22.8409),
    ],
};
const PAM30: OfMatrix = OfMatrix {
    ungapped: (0.1938, 0.161818),
    gapped: &[
        (7, 2, 0.305, 0.15, 0.35, -3.0, 1.01401, 1.16273),
        (6, 2, 0.287, 0.11, 0.42, -4.0, 1.68806, 1.95143),
        (5, 2, 0.264, 0.079, 0.59, -7.0, 3.37701, 3.87195),
        (10, 1, 0.309, 0.15, 0.35, -3.0, 1.37205, 1.78877),
        (9, 1, 0.294, 0.11, 0.48, -6.0, 2.46392, 3.18615),
        (8, 1, 0.270, 0.072, 0.68, -10.0, 5.36813, 6.76348),
        (15, 3, 0.339, 0.28, 0.20, -0.5, 0.157089, 0.155299),
        (14, 2, 0.337, 0.27, 0.21, -0.8, 0.20697, 0.198524),
        (14, 1, 0.333, 0.27, 0.23, -1.4, 0.436301, 0.361947),
        (13, 3, 0.338, 0.27, 0.20, -0.5, 0.178973, 0.175436),
    ],
};
const PAM70: OfMatrix = OfMatrix {
    ungapped: (0.3250, 0.633439),
    gapped: &[
        (8, 2, 0.301, 0.12, 0.56, -5.0, 2.88165, 3.02571),
        (7, 2, 0.286, 0.093, 0.67, -7.0, 4.53454, 4.78578),
        (6, 2, 0.264, 0.064, 0.90, -12.0, 7.94263, 8.40272),
        (11, 1, 0.305, 0.12, 0.59, -6.0, 3.6814, 4.10802),
        (10, 1, 0.291, 0.091, 0.71, -9.0, 6.00297, 6.71657),
        (9, 1, 0.270, 0.060, 0.97, -14.0, 11.3608, 12.6367),
    ],
};
const PAM250: OfMatrix = OfMatrix {
    ungapped: (0.98, 11.754300),
    gapped: &[
        (15, 3, 0.205, 0.049, 1.6, -23.0, 34.5784, 34.928),
        (14, 3, 0.200, 0.043, 1.7, -26.0, 43.353, 43.4438),
        (13, 3, 0.194, 0.036, 1.9, -31.0, 50.9485, 51.0817),
        (12, 3, 0.186, 0.029, 2.2, -41.0, 69.6065, 69.7936),
        (11, 3, 0.174, 0.020, 2.5, -48.0, 98.6535, 98.9271),
        (17, 2, 0.204, 0.047, 1.7, -28.0, 41.5838, 41.7358),
        (16, 2, 0.198, 0.038, 1.8, -29.0, 51.6352, 51.8439),
        (15, 2, 0.191, 0.031, 2.2, -44.0, 67.2567, 67.5585),
        (14, 2, 0.182, 0.024, 2.5, -53.0, 96.3151, 96.7568),
        (13, 2, 0.171, 0.017, 2.9, -64.0, 135.653, 136.339),
        (21, 1, 0.205, 0.045, 1.8, -34.0, 48.7282, 49.2188),
        (20, 1, 0.199, 0.037, 1.9, -35.0, 60.832, 61.5141),
        (19, 1, 0.192, 0.029, 2.3, -52.0, 84.0197, 84.9856),
        (18, 1, 0.183, 0.021, 2.6, -60.0, 113.829, 115.184),
        (17, 1, 0.171, 0.014, 3.3, -86.0, 175.071, 177.196),
    ],
};

/// Not BLOSUM80_3: the published constants of BLOSUM80 are for the edition in half bits.
const MATRICES: [(&str, OfMatrix); 8] = [
    ("BLOSUM45", BLOSUM45),
    ("BLOSUM50", BLOSUM50),
    ("BLOSUM62", BLOSUM62),
    ("BLOSUM80", BLOSUM80),
    ("BLOSUM90", BLOSUM90),
    ("PAM30", PAM30),
    ("PAM70", PAM70),
    ("PAM250", PAM250),
];

/// Gap costs of one match and one mismatch score. If the match score is 2, odd scores count as the next lower even
/// score.
type OfScores = ((i32, i32), &'static [OfGaps]);

const NUCLEOTIDES: &[OfScores] = &[
    ((1, 5), &[(3, 3, 1.39, 0.747, 1.00, 0.0)]),
    (
        (1, 4),
        &[
            (1, 2, 1.36, 0.67, 1.1, 0.0),
            (0, 2, 1.26, 0.43, 1.4, -1.0),
            (2, 1, 1.35, 0.61, 1.2, -1.0),
            (1, 1, 1.22, 0.35, 1.7, -3.0),
            // The preset `short`, fitted by this program.
            (6, 1, 1.364, 0.627, 1.02, 0.0),
        ],
    ),
    (
        (2, 7),
        &[
            (2, 4, 0.68, 0.67, 0.55, 0.0),
            (0, 4, 0.63, 0.43, 0.7, -1.0),
            (4, 2, 0.675, 0.62, 0.6, -1.0),
            (2, 2, 0.61, 0.35, 1.7, -3.0),
        ],
    ),
    (
        (1, 3),
        &[
            (2, 2, 1.37, 0.70, 1.1, 0.0),
            (1, 2, 1.35, 0.64, 1.1, -1.0),
            (0, 2, 1.25, 0.42, 1.5, -2.0),
            (2, 1, 1.34, 0.60, 1.1, -1.0),
            (1, 1, 1.21, 0.34, 1.7, -2.0),
        ],
    ),
    (
        (2, 5),
        &[
            (2, 4, 0.67, 0.59, 0.6, -1.0),
            (0, 4, 0.62, 0.39, 0.8, -2.0),
            (4, 2, 0.67, 0.61, 0.65, -2.0),
            (2, 2, 0.56, 0.32, 0.95, -4.0),
        ],
    ),
    (
        (1, 2),
        &[
            (2, 2, 1.33, 0.62, 1.2, 0.0),
            (1, 2, 1.30, 0.52, 1.4, -2.0),
            (0, 2, 1.19, 0.34, 1.8, -3.0),
            (3, 1, 1.32, 0.57, 1.3, -1.0),
            (2, 1, 1.29, 0.49, 1.4, -1.0),
            (1, 1, 1.14, 0.26, 2.2, -5.0),
        ],
    ),
    (
        (2, 3),
        &[
            (4, 4, 0.63, 0.42, 0.75, -2.0),
            (2, 4, 0.615, 0.37, 0.85, -3.0),
            (0, 4, 0.55, 0.21, 1.2, -5.0),
            (3, 3, 0.615, 0.37, 0.9, -3.0),
            (6, 2, 0.63, 0.42, 0.75, -2.0),
            (5, 2, 0.625, 0.41, 0.8, -2.0),
            (4, 2, 0.61, 0.35, 0.9, -3.0),
            (2, 2, 0.515, 0.14, 1.55, -9.0),
        ],
    ),
    (
        (3, 4),
        &[
            (6, 3, 0.389, 0.25, 0.7, -5.0),
            (5, 3, 0.375, 0.21, 0.8, -6.0),
            (4, 3, 0.351, 0.14, 1.0, -9.0),
            (6, 2, 0.362, 0.16, 0.8, -4.0),
            (5, 2, 0.330, 0.092, 1.2, -13.0),
            (4, 2, 0.281, 0.046, 1.8, -23.0),
        ],
    ),
    (
        (4, 5),
        &[
            (6, 5, 0.28, 0.21, 0.6, -7.0),
            (5, 5, 0.27, 0.17, 0.7, -9.0),
            (4, 5, 0.25, 0.10, 0.8, -10.0),
            (3, 5, 0.23, 0.065, 0.9, -11.0),
        ],
    ),
    (
        (1, 1),
        &[
            (3, 2, 1.09, 0.31, 2.0, -2.0),
            (2, 2, 1.07, 0.27, 2.2, -3.0),
            (1, 2, 1.02, 0.21, 2.8, -6.0),
            (0, 2, 0.80, 0.064, 4.8, -16.0),
            (4, 1, 1.08, 0.28, 2.0, -2.0),
            (3, 1, 1.06, 0.25, 2.3, -4.0),
            (2, 1, 0.99, 0.17, 3.3, -10.0),
        ],
    ),
    ((3, 2), &[(5, 5, 0.208, 0.030, 2.9, -47.0)]),
    ((5, 4), &[(10, 6, 0.163, 0.068, 1.0, -19.0), (8, 6, 0.146, 0.039, 1.3, -29.0)]),
];

fn find(table: &[OfGaps], gap_open: i32, gap_extend: i32) -> Option<Karlin> {
    let &(_, _, lambda, k, alpha, beta) =
        table.iter().find(|&&(open, extend, ..)| (open, extend) == (gap_open, gap_extend))?;
    Some(Karlin { unit: 1, lambda, k, alpha, beta, rounds_down: false, finite_size: None })
}

/// Constants of a matrix whose scores equal those of a built-in one.
pub fn of_matrix(units: &InUnits) -> Option<Karlin> {
    let Scoring { gap_open, gap_extend, .. } = units.scoring;
    let (_, OfMatrix { ungapped, gapped }) = MATRICES.iter().find(|(name, _)| has_scores_of(units, name))?;
    let is_wanted = |row: &&OfMatrixGaps| (row.0, row.1) == (gap_open, gap_extend);
    let &(_, _, lambda, k, alpha, beta, variance, covariance) = gapped.iter().find(is_wanted)?;
    let first_gap = 2.0 * f64::from(gap_open + gap_extend);
    let finite_size = FiniteSize {
        mean: (alpha, first_gap * (ungapped.0 - alpha)),
        variance: (variance, first_gap * (ungapped.1 - variance)),
        covariance: (covariance, first_gap * (ungapped.1 - covariance)),
    };
    Some(Karlin { unit: 1, lambda, k, alpha, beta, rounds_down: false, finite_size: Some(finite_size) })
}

/// Whether no penalty of a scoring is lower, relative to its positive scores, than that of a scoring with published
/// constants. Then its scores are no higher, and grow with the logarithm of the length as well. Of gap costs of two
/// pieces, an affine lower bound is compared.
pub fn penalizes_as_published(units: &InUnits) -> bool {
    let GapPiece { open: gap_open, extend: gap_extend } = units.scoring.gaps().lower_bound();
    let is_no_cheaper = |open: i32, extend: i32| gap_open >= open && gap_extend >= extend;
    if let Some((match_, mismatch)) = units.match_and_mismatch() {
        let own = [mismatch, gap_open, gap_extend].map(i64::from);
        return NUCLEOTIDES.iter().any(|&((known_match, known_mismatch), gaps)| {
            gaps.iter().any(|&(open, extend, ..)| {
                let known = [known_mismatch, open, extend].map(i64::from);
                own.iter()
                    .zip(known)
                    .all(|(&own, known)| own * i64::from(known_match) >= known * i64::from(match_))
            })
        });
    }
    let published = MATRICES.iter().find(|(name, _)| has_scores_of(units, name));
    published.is_some_and(|(_, matrix)| {
        matrix.gapped.iter().any(|&(open, extend, ..)| is_no_cheaper(open, extend))
    })
}

fn has_scores_of(units: &InUnits, name: &str) -> bool {
    let Scoring { gap_open, gap_extend, .. } = units.scoring;
    let scoring = |matrix| Scoring::matrix(Alphabet::Protein, matrix, gap_open, gap_extend);
    Matrix::named(name).is_some_and(|matrix| units.has_scores_of(&scoring(matrix)))
}

/// Constants of a match and a mismatch score.
pub fn of_nucleotides((match_, mismatch): (i32, i32), gap_open: i32, gap_extend: i32) -> Option<Karlin> {
    let (_, table) = NUCLEOTIDES.iter().find(|(known, _)| *known == (match_, mismatch))?;
    let karlin = find(table, gap_open, gap_extend)?;
    Some(Karlin { rounds_down: match_ == 2, ..karlin })
}
