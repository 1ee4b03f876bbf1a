//! Models of HMMER3 (`hmmbuild`; the format is in the HMMER User's Guide, "HMMER profile HMM files").
//!
//! A position's match emissions are negative natural logarithms of probabilities. A score is 2 log2(p / background),
//! rounded.
//!
//! The transitions become gap costs in half bits: the loss of a path with the gap, compared with the transition from match to
//! match. Let `MI(i)` be the transition from match to insertion of node i, and so on; node 0 has those of the begin state. In half bits:
//!
//! ```text
//! after_i:    first  = MI(i) + IM(i) - MM(i)          extend = II(i)
//! skipped_i:  first  = MD(i-1) - MM(i-1) + DM(i)      extend = DD(i-1) + DM(i) - DM(i-1)
//! ```
//!
//! Each position of a deletion pays for a return to the next match, and the position after it takes the payment back. So the
//! sum of the deletion of several positions is that of the model. Costs are rounded, are at least 1 and at most 127, and the first
//! residue of a gap costs no less than a further one. No optimal alignment begins or ends with a gap, so gaps at the ends of the
//! model have the highest costs. The scores ignore insert emissions, transitions from match to match, and the costs of entering
//! and leaving the model.

use super::{
    AMINO_ACIDS, Profile, ProfileFault, Result, amino_acid, check_positions, nearest, position, shown,
};
use crate::terms::alphabet::Alphabet;
use crate::terms::scoring::{GapPiece, MOST_IN_TABLE, PositionGaps};
use std::borrow::Cow;
use std::f64::consts::LN_2;

/// The amino acids in the order of the models.
const ORDER: &[u8; AMINO_ACIDS] = b"ACDEFGHIKLMNPQRSTVWY";
/// HMMER's frequency of each amino acid, in the order of the models: Swiss-Prot 50.8.
const BACKGROUND: [f64; AMINO_ACIDS] = [
    0.0787945, 0.0151600, 0.0535222, 0.0668298, 0.0397062, 0.0695071, 0.0229198, 0.0590092, 0.0594422,
    0.0963728, 0.0237718, 0.0414386, 0.0482904, 0.0395639, 0.0540978, 0.0683364, 0.0540687, 0.0673417,
    0.0114135, 0.0304133,
];
const DROPPED: &str = "insert emissions, transitions from match to match, the costs of entering and leaving the model, and gap \
                       costs above 127";
/// The same without gap costs of the positions.
pub const DROPPED_WITH_GAPS: &str = "transitions and insert emissions";
const MAKE_AGAIN: &str = "build the model with `hmmbuild --amino` of HMMER3";

/// Parses models, one after the other.
pub fn parse(text: &[u8]) -> Result<Vec<Profile>> {
    let mut lines = ModelLines { lines: super::lines(text), number: 0 };
    let mut profiles = Vec::new();
    while let Some(line) = lines.filled() {
        if !line.starts_with("HMMER3/") {
            return Err(lines.malformed("a model must begin with `HMMER3/`"));
        }
        profiles.push(model(&mut lines)?);
    }
    Ok(profiles)
}

/// The header of a model.
#[derive(Default)]
struct Header {
    name: String,
    len: Option<usize>,
    is_amino: bool,
    has_consensus: bool,
}

/// Parses a model after its first line.
fn model<'a>(lines: &mut ModelLines<impl Iterator<Item = (u64, Cow<'a, str>)>>) -> Result<Profile> {
    let header = header(lines)?;
    let Some(len) = header.len else { return Err(lines.malformed("the model has no length (LENG)")) };
    if !header.is_amino {
        return Err(lines.malformed("the alphabet of the model (ALPH) is not amino"));
    }
    check_positions(len, lines.number)?;
    // The titles of the transitions, and the node before the first position: COMPO, insert emissions and transitions.
    lines.next()?;
    if lines.next()?.trim_start().starts_with("COMPO") {
        lines.next()?;
    }
    let mut nodes = vec![lines.transitions()?];
    let backgrounds = BACKGROUND.map(libm::log);
    let (mut residues, mut scores) = (Vec::new(), Vec::new());
    for number in 1..=len {
        let line = lines.next()?;
        let mut words = line.split_whitespace();
        if words.next().and_then(|word| word.parse().ok()) != Some(number) {
            return Err(lines.malformed(format!("position {number} of {len} is missing")));
        }
        let mut amino_acids = [0; AMINO_ACIDS];
        let mut best = (f64::INFINITY, b'X');
        for (&letter, background) in ORDER.iter().zip(backgrounds) {
            let word =
                words.next().ok_or_else(|| lines.malformed("a position must have 20 match emissions"))?;
            let emission = logarithm(word)
                .ok_or_else(|| lines.malformed(format!("'{}' is not an emission", shown(word))))?;
            if emission < best.0 {
                best = (emission, letter);
            }
            if let Some(code) = amino_acid(letter) {
                amino_acids[code] = nearest(-(emission + background) * 2.0 / LN_2);
            }
        }
        let consensus = match (header.has_consensus, words.nth(1).map(str::as_bytes)) {
            (true, Some(&[letter])) if Alphabet::Protein.code(letter).is_some() => {
                letter.to_ascii_uppercase()
            }
            _ => best.1,
        };
        residues.push(consensus);
        scores.push(position(amino_acids));
        lines.next()?;
        nodes.push(lines.transitions()?);
    }
    if lines.filled().is_none_or(|line| line.trim_end() != "//") {
        return Err(lines.malformed("the model does not end with `//`"));
    }
    let gaps = gap_costs(&nodes);
    Ok(Profile { name: header.name, residues, scores, gaps, dropped: Some(DROPPED.to_string()) })
}

/// Transitions of a node, as negative natural logarithms: from its match, insertion or deletion to the state that follows.
#[derive(Clone, Copy)]
struct Transitions {
    mm: f64,
    mi: f64,
    md: f64,
    im: f64,
    ii: f64,
    dm: f64,
    dd: f64,
}

/// The gap costs of the positions of a model, from its nodes; the first node is the begin state.
fn gap_costs(nodes: &[Transitions]) -> Vec<PositionGaps> {
    let last = nodes.len().saturating_sub(2);
    let of_position = |(position, (before, own)): (usize, (&Transitions, &Transitions))| {
        let after = piece(own.mi + own.im - own.mm, own.ii);
        let skipped = piece(before.md - before.mm + own.dm, before.dd + own.dm - before.dm);
        let most = PositionGaps::MOST;
        PositionGaps {
            after: if position == last { most.after } else { after },
            skipped: if position == 0 || position == last { most.skipped } else { skipped },
        }
    };
    nodes.iter().zip(nodes.iter().skip(1)).enumerate().map(of_position).collect()
}

/// The costs of a gap, from the negative natural logarithms of its first and each further residue.
fn piece(first: f64, extend: f64) -> GapPiece {
    let cost = |logarithm: f64, least: i32| match logarithm.is_nan() {
        // The difference of two impossible transitions.
        true => MOST_IN_TABLE,
        false => i32::from(nearest(logarithm * 2.0 / LN_2)).max(least),
    };
    let extend = cost(extend, 1);
    GapPiece { open: cost(first, extend) - extend, extend }
}

/// The negative logarithm of a probability, which is infinite if a file has `*`. `None` if it is no number.
fn logarithm(word: &str) -> Option<f64> {
    match word {
        "*" => Some(f64::INFINITY),
        _ => word.parse().ok().filter(|logarithm: &f64| logarithm.is_finite()),
    }
}

/// Parses the fields up to the line that begins the model.
fn header<'a>(lines: &mut ModelLines<impl Iterator<Item = (u64, Cow<'a, str>)>>) -> Result<Header> {
    let mut header = Header::default();
    loop {
        let line = lines.next()?;
        let mut words = line.split_whitespace();
        let (key, value) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        match key {
            "NAME" => header.name = value.to_string(),
            "LENG" => {
                let len = value.parse().ok().filter(|&len| len > 0);
                let fault = || lines.malformed(format!("'{}' is not a length", shown(value)));
                header.len = Some(len.ok_or_else(fault)?);
            }
            "ALPH" => header.is_amino = value == "amino",
            "CONS" => header.has_consensus = value == "yes",
            "HMM" => {
                let order = line.split_whitespace().skip(1).map(str::as_bytes);
                if header.is_amino && !order.eq(ORDER.iter().map(std::slice::from_ref)) {
                    return Err(lines
                        .malformed("the columns must be the 20 amino acids in the order of their letters"));
                }
                break;
            }
            _ => {}
        }
    }
    match header.name.is_empty() {
        false => Ok(header),
        true => Err(lines.malformed("the model has no name (NAME)")),
    }
}

/// The lines of a file of models, and the number of the last line read.
struct ModelLines<I> {
    lines: I,
    number: u64,
}

impl<'a, I: Iterator<Item = (u64, Cow<'a, str>)>> ModelLines<I> {
    fn next(&mut self) -> Result<Cow<'a, str>> {
        let Some((number, line)) = self.lines.next() else {
            return Err(self.malformed("the file ends inside a model"));
        };
        self.number = number;
        Ok(line)
    }

    /// The transitions in the next line.
    fn transitions(&mut self) -> Result<Transitions> {
        let line = self.next()?;
        let mut words = line.split_whitespace();
        let mut next = || {
            let word = words.next().ok_or_else(|| self.malformed("a node must have 7 transitions"))?;
            let fault = || self.malformed(format!("'{}' is not a transition", shown(word)));
            logarithm(word).ok_or_else(fault)
        };
        let (mm, mi, md, im, ii, dm, dd) = (next()?, next()?, next()?, next()?, next()?, next()?, next()?);
        Ok(Transitions { mm, mi, md, im, ii, dm, dd })
    }

    /// The next line that is not empty.
    fn filled(&mut self) -> Option<Cow<'a, str>> {
        let (number, line) = self.lines.find(|(_, line)| !line.trim().is_empty())?;
        self.number = number;
        Some(line)
    }

    fn malformed(&self, text: impl Into<String>) -> ProfileFault {
        ProfileFault::new(self.number.max(1), text, MAKE_AGAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HMM, fault, only};
    use super::*;

    fn changed(from: &str, to: &str) -> Vec<u8> {
        let text = str::from_utf8(HMM).unwrap();
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1).into_bytes()
    }

    #[test]
    fn match_emissions_become_scores_in_half_bits() {
        let profile = only(HMM);
        assert_eq!(profile.dropped.as_deref(), Some(DROPPED));
        assert_eq!(&profile.residues, b"PRTKFTKEQLRILESAFAENKYPDEEELEELAKELGLTERQVKNWFQNRRAK");
        // Position 2 is R with 0.08873: 2 (ln(1 / 0.0540978) - 0.08873) / ln 2 = 8.16. W with 6.93569 is
        // 2 (4.47297 - 6.93569) / ln 2 = -7.11.
        let score = |letter| profile.scores[1][amino_acid(letter).unwrap()];
        assert_eq!((score(b'R'), score(b'W')), (8, -7));
    }

    #[test]
    fn transitions_become_gap_costs_in_half_bits() {
        let costs = |piece: GapPiece| (piece.first(), piece.extend);
        let gaps = only(HMM).gaps;
        // After position 1: 2 (5.07786 + 0.61958 - 0.00930) / ln 2 = 16.41, and 2 * 0.77255 / ln 2 = 2.23.
        assert_eq!(costs(gaps[0].after), (16, 2));
        // Position 2: 2 (5.80020 - 0.00930 + 1.49653) / ln 2 = 21.03, and 2 (0.40671 + 1.49653 - 1.09612) / ln 2 = 2.33.
        assert_eq!(costs(gaps[1].skipped), (21, 2));
        // Position 3: 2 (5.93934 - 0.00809 + 1.02143) / ln 2 = 20.06, and 2 (0.25348 + 1.02143 - 1.49653) / ln 2 is below 0.
        assert_eq!(costs(gaps[2].skipped), (20, 1));
        let most = PositionGaps::MOST;
        assert_eq!((gaps.len(), gaps[0].skipped, gaps[51]), (52, most.skipped, most));
        // After position 1: no insertion, no second residue of an insertion, and an impossible match that follows.
        let changed = |from: &str, to: &str| costs(only(&changed(from, to)).gaps[0].after);
        assert_eq!(changed("0.00930  5.07786", "0.00930        *"), (127, 2));
        assert_eq!(changed("0.61958  0.77255  1.09612", "0.61958        *  1.09612"), (127, 127));
        assert_eq!(changed("0.00930  5.07786", "      *  5.07786"), (2, 2));
        assert_eq!(changed("0.00930  5.07786", "      *        *"), (127, 2));
        assert_eq!(changed("5.07786", "999.999"), (127, 2));
    }

    #[test]
    fn a_file_may_have_several_models() {
        let profiles = super::super::parse(&[HMM, b"\n", HMM].concat(), "").unwrap();
        assert_eq!(profiles[0], profiles[1]);
        assert_eq!(profiles.len(), 2);
    }

    #[test]
    fn older_models_have_fewer_fields() {
        let whole = only(HMM);
        // The most probable residue is the consensus, and a probability may be 0.
        let older = only(&changed("CONS  yes\n", ""));
        assert_eq!(older, whole);
        let zero = only(&changed("  2.97786", "        *"));
        assert_eq!((zero.scores[0][0], &zero.scores[1..]), (-127, &whole.scores[1..]));
        let text = str::from_utf8(HMM).unwrap();
        let without: String = text.split_inclusive('\n').filter(|line| !line.contains("COMPO")).collect();
        assert_eq!(only(without.as_bytes()), whole);
    }

    #[test]
    fn faults_have_lines() {
        for (from, to, line, problem) in [
            ("NAME ", "NAM ", 17, "no name"),
            ("LENG ", "LEN ", 17, "no length"),
            ("LENG  52", "LENG  none", 3, "'none' is not a length"),
            ("LENG  52", "LENG  2000000", 17, "more than 1048576 positions"),
            ("LENG  52", "LENG  53", 178, "position 53 of 53 is missing"),
            ("LENG  52", "LENG  51", 175, "does not end"),
            ("ALPH  amino", "ALPH  DNA", 17, "not amino"),
            ("HMM          A        C", "HMM          C        A", 17, "order"),
            ("  2.97786", "  2.9778x", 22, "'2.9778x' is not an emission"),
            ("  2.97786", "      NaN", 22, "'NaN' is not an emission"),
            ("  0.94332", "  0.9433x", 21, "'0.9433x' is not a transition"),
            ("  0.00000        *", "  0.00000", 21, "7 transitions"),
        ] {
            let (at, text) = fault(&changed(from, to));
            assert!(at == line && text.contains(problem), "{at}: {text}");
        }
        let cut = HMM.len() / 2;
        assert!(fault(&HMM[..cut]).1.contains("must have") || fault(&HMM[..cut]).1.contains("ends inside"));
        assert_eq!(fault(&[HMM, b"HMM\n"].concat()), (179, "a model must begin with `HMMER3/`".to_string()));
    }
}
