//! SEG (Wootton and Federhen 1993), with the parameters of NCBI's segmasker and BLAST.
//!
//! A window of 12 residues is a trigger if the entropy of its composition is at most 2.2 bits. A trigger is extended to
//! both sides over windows of at most 2.5 bits. Low complexity is the least probable part of the extended stretch.

use libm::{log, log2, round};
use std::ops::Range;

/// Residues of a window, before its center, and from its center on.
const WINDOW: usize = 12;
const BEFORE: usize = WINDOW.div_ceil(2) - 1;
const AFTER: usize = WINDOW - BEFORE;
/// Maximum entropy of triggers, and of windows that a trigger is extended over, in bits.
const LOW: f64 = 2.2;
const HIGH: f64 = 2.5;
/// The trimmed part is shorter than the stretch by less than this many residues.
const MAX_TRIM: usize = 50;
/// A window with more residues outside the twenty amino acids has no entropy.
const MAX_OTHERS: usize = 2;
/// Amino acids; their codes are the first.
const ACIDS: usize = 20;

/// Low-complexity stretches of protein codes.
pub fn stretches(codes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let factorials = Factorials::new(codes.len().max(ACIDS));
    segment(codes, 0, &factorials, &mut found);
    found.sort_unstable_by_key(|stretch| stretch.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for stretch in found {
        match joined.last_mut() {
            Some(last) if last.end >= stretch.start => last.end = last.end.max(stretch.end),
            _ => joined.push(stretch),
        }
    }
    joined
}

/// Appends the stretches of a part of a sequence that begins at `offset`.
fn segment(codes: &[u8], offset: usize, factorials: &Factorials, found: &mut Vec<Range<usize>>) {
    if codes.len() < WINDOW {
        return;
    }
    let entropies = entropies(codes);
    let is_low = |center: usize, limit: f64| entropies[center - BEFORE].is_some_and(|bits| bits <= limit);
    let last = codes.len() - AFTER;
    let (mut limit, mut center) = (BEFORE, BEFORE);
    while center <= last {
        if is_low(center, LOW) {
            let low = (limit..=center).rev().take_while(|&at| is_low(at, HIGH)).last().unwrap_or(center);
            let high = (center..=last).take_while(|&at| is_low(at, HIGH)).last().unwrap_or(center);
            let stretch = low - BEFORE..high + AFTER;
            let part = least_probable(&codes[stretch.clone()], factorials);
            let part = stretch.start + part.start..stretch.start + part.end;
            if center + AFTER <= part.start {
                // The trigger itself was trimmed, so the remaining part before it is searched again.
                segment(&codes[stretch.start..part.start], offset + stretch.start, factorials, found);
            }
            center = high.min(part.end - 1 + BEFORE);
            limit = center + 1;
            found.push(offset + part.start..offset + part.end);
        }
        center += 1;
    }
}

/// Entropy of the composition of each window, in bits; `None` if it has too many residues outside the amino acids.
fn entropies(codes: &[u8]) -> Vec<Option<f64>> {
    let logs: [f64; WINDOW + 1] = std::array::from_fn(|count| log2(count.max(1) as f64));
    let mut counts = [0usize; ACIDS + 1];
    let class = |code: u8| usize::from(code).min(ACIDS);
    codes.iter().take(WINDOW - 1).for_each(|&code| counts[class(code)] += 1);
    let of_window = |window: &[u8]| {
        counts[class(window[WINDOW - 1])] += 1;
        let total = WINDOW - counts[ACIDS];
        let sum: f64 = counts[..ACIDS].iter().map(|&count| count as f64 * logs[count]).sum();
        let entropy = logs[total] - sum / total.max(1) as f64;
        counts[class(window[0])] -= 1;
        (counts[ACIDS] + usize::from(class(window[0]) == ACIDS) <= MAX_OTHERS).then_some(entropy)
    };
    codes.windows(WINDOW).map(of_window).collect()
}

/// Counts of the amino acids, in descending order.
fn composition(codes: &[u8]) -> [usize; ACIDS] {
    let mut counts = [0; ACIDS];
    for &code in codes {
        if let Some(count) = counts.get_mut(usize::from(code)) {
            *count += 1;
        }
    }
    counts.sort_unstable_by(|one, other| other.cmp(one));
    counts
}

/// The part of a stretch with the least probable composition. Among equal parts, the longest one, then the first.
fn least_probable(codes: &[u8], factorials: &Factorials) -> Range<usize> {
    let shortest = codes.len().saturating_sub(MAX_TRIM).max(1);
    let (mut least, mut part) = (1.0, 0..codes.len());
    for len in (shortest + 1..=codes.len()).rev() {
        for start in 0..=codes.len() - len {
            let probability = factorials.log_probability(&composition(&codes[start..start + len]), len);
            if probability < least {
                (least, part) = (probability, start..start + len);
            }
        }
    }
    part
}

/// Natural logarithms of factorials.
struct Factorials(Vec<f64>);

impl Factorials {
    /// Up to the factorial of `largest`.
    fn new(largest: usize) -> Factorials {
        let mut logs = Vec::with_capacity(largest + 1);
        logs.push(0.0);
        for number in 1..=largest {
            logs.push(logs[number - 1] + log(number as f64));
        }
        // NCBI's table has six decimals, which decides between parts that are equally probable.
        logs.iter_mut().for_each(|log| *log = round(*log * 1e6) / 1e6);
        Factorials(logs)
    }

    /// Logarithm of the probability that `len` residues have these counts, regardless of which amino acid has which
    /// count.
    fn log_probability(&self, counts: &[usize; ACIDS], len: usize) -> f64 {
        // Number of ways to assign the counts to amino acids.
        let same = counts.chunk_by(|one, other| one == other).map(|same| self.0[same.len()]);
        let assignments = self.0[ACIDS] - same.sum::<f64>();
        // Number of orders of the residues.
        let orders = self.0[len] - counts.iter().map(|&count| self.0[count]).sum::<f64>();
        assignments + orders - len as f64 * log(ACIDS as f64)
    }
}
