//! How far a record of another program is from the optimum of a scoring: the path of its CIGAR, its score, and the
//! verdict.

use crate::terms::alignment::{Alignment, PathOp, PathRuns, push_run};
use crate::terms::scoring::Scoring;

/// The judgment on the record of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The record scores higher than the proven optimum, which is a fault of this program.
    Above,
    /// The optimum scores higher.
    Below,
    /// The optimum overlaps the record, scores higher and covers more of the read.
    Clipped,
    /// The read has no alignment in the file, but there is one.
    Missed,
    /// The record exceeds its reference, or its reference is unknown.
    Outside,
    /// Its fields contradict each other.
    Invalid,
    /// The record is optimal, but its mapping quality hides that another position scores the same.
    Tie,
    /// The record scores higher than the best hit that was found below the proven minimum score.
    Unproven,
    /// The record scores less than the minimum score, and no alignment reaches it.
    Low,
    /// The record has no CIGAR.
    Unscored,
    /// The record is optimal.
    Equal,
    /// The read has no alignment in the file, and none reaches the minimum score.
    Unmapped,
}

impl Verdict {
    /// All verdicts, most severe first.
    pub const ALL: [Verdict; 12] = [
        Verdict::Above,
        Verdict::Below,
        Verdict::Clipped,
        Verdict::Missed,
        Verdict::Outside,
        Verdict::Invalid,
        Verdict::Tie,
        Verdict::Unproven,
        Verdict::Low,
        Verdict::Unscored,
        Verdict::Equal,
        Verdict::Unmapped,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Verdict::Above => "above",
            Verdict::Below => "below",
            Verdict::Clipped => "clipped",
            Verdict::Missed => "missed",
            Verdict::Outside => "outside",
            Verdict::Invalid => "invalid",
            Verdict::Tie => "tie",
            Verdict::Unproven => "unproven",
            Verdict::Low => "low",
            Verdict::Unscored => "unscored",
            Verdict::Equal => "equal",
            Verdict::Unmapped => "unmapped",
        }
    }

    /// Whether the record is wrong or can be improved.
    pub fn is_finding(self) -> bool {
        self <= Verdict::Invalid
    }

    /// Whether the record agrees with the optimum in every respect.
    pub fn is_agreement(self) -> bool {
        matches!(self, Verdict::Equal | Verdict::Unmapped)
    }
}

/// A CIGAR of a read, without its clips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPath {
    /// Clipped residues before and after the path, in the orientation of the reference.
    pub clips: [u32; 2],
    /// Number of these residues that SEQ lacks.
    pub hard: u32,
    pub runs: PathRuns,
    /// Residues of the read and of the reference in the path.
    pub query: u32,
    pub target: u32,
}

impl ReadPath {
    /// Parses a CIGAR. `=` and `X` are columns like `M`, and a skipped region (`N`) is a deletion. `None` if it is
    /// malformed or has no column with a residue of each sequence.
    pub fn parse(cigar: &str) -> Option<ReadPath> {
        let mut path = ReadPath { clips: [0; 2], hard: 0, runs: PathRuns::new(), query: 0, target: 0 };
        // Order of the operations: hard clip, soft clip, path, soft clip, hard clip.
        let mut stage = 0;
        let mut rest = cigar;
        while !rest.is_empty() {
            let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
            let len: u32 = rest[..digits].parse().ok()?;
            let letter = rest.as_bytes()[digits];
            rest = rest.get(digits + 1..)?;
            let op = match letter {
                b'M' | b'=' | b'X' => PathOp::Match,
                b'I' => PathOp::Insertion,
                b'D' | b'N' => PathOp::Deletion,
                b'P' => continue,
                b'S' | b'H' => {
                    let is_hard = letter == b'H';
                    stage = match (stage, is_hard) {
                        (0, true) => 1,
                        (0 | 1, false) => 2,
                        (3, false) => 4,
                        (3 | 4, true) => 5,
                        _ => return None,
                    };
                    let side = &mut path.clips[usize::from(stage > 2)];
                    *side = side.checked_add(len)?;
                    path.hard = if is_hard { path.hard.checked_add(len)? } else { path.hard };
                    continue;
                }
                _ => return None,
            };
            stage = if stage <= 3 { 3 } else { return None };
            let (query, target) = op.consumed(len);
            path.query = path.query.checked_add(query)?;
            path.target = path.target.checked_add(target)?;
            push_run(&mut path.runs, len, op);
        }
        path.clips.iter().try_fold(path.query, |sum, &clip| sum.checked_add(clip))?;
        path.runs.iter().any(|&(_, op)| op == PathOp::Match).then_some(path)
    }

    /// Length of the whole read.
    pub fn read_len(&self) -> u32 {
        self.query + self.clips[0] + self.clips[1]
    }
}

/// The score of an alignment with its end bonuses. The codes are those of the whole query in the aligned orientation, and of
/// the whole target.
pub fn score(alignment: &Alignment, (query, target): (&[u8], &[u8]), scoring: &Scoring) -> i64 {
    let runs = alignment.runs().map(|run| match run.op {
        PathOp::Match => scoring.score_all(&query[run.query], &target[run.target]),
        PathOp::Insertion | PathOp::Deletion => -scoring.gap_cost(run.len as usize),
    });
    let len = u32::try_from(query.len()).unwrap_or(u32::MAX);
    runs.sum::<i64>() + i64::from(alignment.bonus(len, scoring.end_bonus))
}

/// The statement of a record about its read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim<'a> {
    Unmapped,
    Outside,
    Invalid,
    Unscored,
    Aligned(&'a Alignment, Scores),
}

/// Scores of an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scores {
    /// With end bonuses. Alignments are compared by this score.
    pub whole: i64,
    /// Without end bonuses. Minimum scores refer to this score.
    pub own: i64,
}

/// The optimum of a read.
#[derive(Clone, Copy, Debug)]
pub struct Optimum<'a> {
    pub alignment: &'a Alignment,
    /// With end bonuses.
    pub score: i64,
    /// Whether its score without end bonuses is that of a hit that the aligner reports.
    pub is_reported: bool,
    /// Whether another position scores the same.
    pub is_tied: bool,
    /// Whether it is the highest score of all alignments, and not only of those with an exact run.
    pub is_proven: bool,
}

/// Scores and qualities at which verdicts change.
#[derive(Clone, Copy, Debug)]
pub struct JudgeLimits {
    /// Minimum score of a hit.
    pub min_score: i64,
    /// Minimum score down to which all hits of the read are found; `None` if only the optimum is known.
    pub proven: Option<i64>,
    /// Whether a tie is a finding, given the record's mapping quality.
    pub shows_ties: bool,
}

/// The verdict on a single read.
pub fn judge(claim: Claim, best: Option<&Optimum>, limits: &JudgeLimits) -> Verdict {
    let reported = best.filter(|best| best.is_reported);
    let (alignment, scores) = match claim {
        Claim::Unmapped => return if reported.is_some() { Verdict::Missed } else { Verdict::Unmapped },
        Claim::Outside => return Verdict::Outside,
        Claim::Invalid => return Verdict::Invalid,
        Claim::Unscored => return Verdict::Unscored,
        Claim::Aligned(alignment, scores) => (alignment, scores),
    };
    let is_proven = limits.proven.is_some_and(|proven| scores.whole >= proven);
    let Some(best) = best else {
        return match () {
            () if is_proven => Verdict::Above,
            () if scores.own < limits.min_score => Verdict::Low,
            () => Verdict::Unproven,
        };
    };
    match scores.whole.cmp(&best.score) {
        std::cmp::Ordering::Greater if is_proven || best.is_proven => Verdict::Above,
        std::cmp::Ordering::Greater => Verdict::Unproven,
        std::cmp::Ordering::Equal if limits.shows_ties && best.is_tied => Verdict::Tie,
        std::cmp::Ordering::Equal => Verdict::Equal,
        std::cmp::Ordering::Less => {
            let taken = |of: &Alignment| of.query_end - of.query_start;
            let is_longer = taken(best.alignment) > taken(alignment);
            match is_longer && best.alignment.overlaps(alignment, None) {
                true => Verdict::Clipped,
                false => Verdict::Below,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::Strand;
    use crate::terms::random::Random;

    #[test]
    fn cigars_are_parsed() {
        use PathOp::{Deletion, Insertion, Match};
        let path = ReadPath::parse("2H3S4M1I2=1X5D6N1P7M8S9H").unwrap();
        assert_eq!((path.clips, path.hard, path.query, path.target), ([5, 17], 11, 15, 25));
        let runs = [(4, Match), (1, Insertion), (3, Match), (11, Deletion), (7, Match)];
        assert_eq!((&path.runs[..], path.read_len()), (&runs[..], 37));
        for (cigar, clips) in [("5M", [0, 0]), ("3S5M", [3, 0]), ("5M3H", [0, 3]), ("1H5M1S", [1, 1])] {
            assert_eq!(ReadPath::parse(cigar).unwrap().clips, clips, "{cigar}");
        }
        for wrong in [
            "",
            "*",
            "5",
            "M",
            "5M3",
            "3S",
            "5I",
            "5M2S3M",
            "2S3H5M",
            "5M2H3S",
            "5M2H3M",
            "3S3S5M",
            "5Q",
            "5M\u{e9}",
            "-5M",
            "4294967296M",
            "4294967295M1M",
            "4294967295M1S",
            "4294967295S4294967295S5M",
        ] {
            assert_eq!(ReadPath::parse(wrong), None, "{wrong}");
        }
    }

    /// Scores column by column.
    fn score_by_columns(alignment: &Alignment, query: &[u8], target: &[u8], scoring: &Scoring) -> i64 {
        let (mut i, mut j) = (alignment.query_start as usize, alignment.target_start as usize);
        let mut sum = 0;
        for &(len, op) in &alignment.cigar {
            match op {
                PathOp::Match => {
                    for _ in 0..len {
                        sum += i64::from(scoring.residue_score(query[i], target[j]));
                        (i, j) = (i + 1, j + 1);
                    }
                }
                PathOp::Insertion => i += len as usize,
                PathOp::Deletion => j += len as usize,
            }
            if op != PathOp::Match {
                let piece = |open: i32, extend: i32| i64::from(open) + i64::from(extend) * i64::from(len);
                sum -= scoring.gaps().pieces().map(|gap| piece(gap.open, gap.extend)).min().unwrap();
            }
        }
        assert_eq!((i, j), (alignment.query_end as usize, alignment.target_end as usize));
        let ends = [alignment.query_start == 0, i == query.len()];
        let edges = [alignment.cigar.first(), alignment.cigar.last()];
        let counts =
            |(at_end, edge): (&bool, &Option<&(u32, PathOp)>)| *at_end && edge.unwrap().1 == PathOp::Match;
        sum + i64::from(scoring.end_bonus) * ends.iter().zip(&edges).filter(|&end| counts(end)).count() as i64
    }

    #[test]
    fn scores_are_sums_over_columns() {
        let mut random = Random::new(5);
        let scorings = [
            Scoring::dna(1, 4, 6, 1),
            Scoring::dna(2, 4, 4, 2).with_gap_piece(24, 1).unwrap(),
            Scoring::dna(1, 4, 6, 1).with_end_bonus(5).with_ambiguous(1),
            Scoring::dna(1, 1, 0, 2).with_end_bonus(3),
        ];
        for round in 0..400 {
            let target: Vec<u8> = random.codes(80, 4);
            let mut query: Vec<u8> = random.codes(60, 4);
            query[30] = 14;
            let mut runs = PathRuns::new();
            for _ in 0..1 + random.below(6) {
                let op = [PathOp::Match, PathOp::Insertion, PathOp::Deletion][random.below(3)];
                push_run(&mut runs, 1 + random.number(9), op);
            }
            let [rows, columns] = [PathOp::Deletion, PathOp::Insertion]
                .map(|other| runs.iter().filter(|&&(_, op)| op != other).map(|&(len, _)| len).sum::<u32>());
            let query_start = if round % 3 == 0 { 0 } else { random.number(61 - rows) };
            let target_start = random.number(81 - columns);
            query.truncate(if round % 2 == 0 { (query_start + rows).max(2) as usize } else { 60 });
            let alignment = Alignment {
                strand: Strand::Forward,
                target: 0,
                score: 0,
                query_start,
                query_end: query_start + rows,
                target_start,
                target_end: target_start + columns,
                cigar: runs,
                shifts: Box::default(),
            };
            for scoring in &scorings {
                let expected = score_by_columns(&alignment, &query, &target, scoring);
                assert_eq!(score(&alignment, (&query, &target), scoring), expected, "{round} {scoring}");
            }
        }
    }

    fn at(strand: Strand, (target_start, query_start, len): (u32, u32, u32)) -> Alignment {
        let cigar = [(len, PathOp::Match)].into_iter().collect();
        let (query_end, target_end) = (query_start + len, target_start + len);
        Alignment {
            strand,
            target: 0,
            score: 0,
            query_start,
            query_end,
            target_start,
            target_end,
            cigar,
            shifts: Box::default(),
        }
    }

    #[test]
    fn verdicts_follow_from_numbers() {
        use Verdict::*;
        let best = at(Strand::Forward, (100, 0, 50));
        let [shorter, elsewhere] = [(105, 5, 45), (300, 0, 45)].map(|place| at(Strand::Forward, place));
        let turned = at(Strand::Reverse, (105, 5, 45));
        let scores = |whole: i64| Scores { whole, own: whole - 5 };
        let optimum = |is_tied, is_proven| Optimum {
            alignment: &best,
            score: 50,
            is_reported: true,
            is_tied,
            is_proven,
        };
        let limits = JudgeLimits { min_score: 30, proven: Some(40), shows_ties: true };
        let judged = |claim, best: Option<Optimum>, limits| judge(claim, best.as_ref(), &limits);
        let aligned = |alignment, whole| Claim::Aligned(alignment, scores(whole));
        let proven = Some(optimum(false, true));
        for (claim, expected) in [
            (Claim::Unmapped, Missed),
            (Claim::Outside, Outside),
            (Claim::Invalid, Invalid),
            (Claim::Unscored, Unscored),
            (aligned(&best, 50), Equal),
            (aligned(&elsewhere, 50), Equal),
            (aligned(&shorter, 49), Clipped),
            (aligned(&turned, 49), Below),
            (aligned(&elsewhere, 49), Below),
            (aligned(&best, 49), Below),
            (aligned(&best, -300), Below),
            (aligned(&best, 51), Above),
        ] {
            assert_eq!(judged(claim, proven, limits), expected, "{claim:?}");
        }
        let tied = Some(optimum(true, true));
        assert_eq!(judged(aligned(&best, 50), tied, limits), Tie);
        assert_eq!(judged(aligned(&best, 50), tied, JudgeLimits { shows_ties: false, ..limits }), Equal);
        assert_eq!(judged(aligned(&best, 49), tied, limits), Below);
        let unreported = Some(Optimum { is_reported: false, ..optimum(false, true) });
        assert_eq!(judged(Claim::Unmapped, unreported, limits), Unmapped);
        assert_eq!(judged(aligned(&best, 49), unreported, limits), Below);
        // Below the proven score.
        let anchored = Some(optimum(false, false));
        let unproven = JudgeLimits { proven: Some(60), ..limits };
        assert_eq!(judged(aligned(&best, 51), anchored, unproven), Unproven);
        assert_eq!(judged(aligned(&best, 60), anchored, unproven), Above);
        assert_eq!(judged(aligned(&best, 99), anchored, JudgeLimits { proven: None, ..limits }), Unproven);
        for (claim, expected) in [
            (Claim::Unmapped, Unmapped),
            (aligned(&best, 34), Low),
            (aligned(&best, 35), Unproven),
            (aligned(&best, 59), Unproven),
            (aligned(&best, 60), Above),
        ] {
            assert_eq!(judged(claim, None, unproven), expected, "{claim:?}");
        }
    }

    #[test]
    fn verdicts_are_listed_by_severity() {
        assert!(
            Verdict::ALL.is_sorted()
                && Verdict::ALL.iter().all(|&verdict| Verdict::ALL[verdict as usize] == verdict)
        );
        assert!(!Verdict::ALL.iter().any(|verdict| verdict.is_finding() && verdict.is_agreement()));
    }
}
