//! The tags YM and YQ of records in a part of the references: the data by which a merge chooses hits, in addition to
//! the usual content of records.
//!
//! ```text
//! YM:Z:TARGET,WHAT       of each alignment; TARGET is the number of the target among all, from 0
//!                        WHAT is what the alignment is:
//!      12,-              a hit, of mates with nothing in the window beside it
//!      12,3              a hit, and the window beside it holds what record 3 of the other mate tells, from 0
//!      12,r              found in a window
//! YQ:Z:LEAST,SECOND      of the first record of a query, also of one without an alignment; LEAST is the least score that a
//!                        hit beside the best one has
//!                        SECOND is the best score of a hit that is not in this record:
//!      24,26             some
//!      24,-              none
//! ```

use super::tags::push_number;
use crate::terms::alignment::{InPart, Tier};
use crate::terms::casts::to_i64;

/// Appends the tag's text.
pub fn push(text: &mut Vec<u8>, target: usize, in_part: &InPart) {
    push_number(text, to_i64(target));
    text.push(b',');
    match in_part {
        InPart::Hit { beside: None } => text.push(b'-'),
        InPart::Hit { beside: Some(place) } => push_number(text, *place),
        InPart::Rescued => text.push(b'r'),
    }
}

/// Parses the target's index and the data for merging.
pub fn parse(text: &[u8]) -> Option<(u32, InPart)> {
    let (target, what) = str::from_utf8(text).ok()?.split_once(',')?;
    let in_part = match what {
        "-" => InPart::Hit { beside: None },
        "r" => InPart::Rescued,
        place => InPart::Hit { beside: Some(place.parse().ok()?) },
    };
    Some((target.parse().ok()?, in_part))
}

/// Data of a part about a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryInPart {
    /// The minimum score that a further hit would have needed.
    pub threshold: i32,
    /// The best score of a hit other than the first record's, reported or not.
    pub second: Option<i32>,
    pub tier: Tier,
}

impl QueryInPart {
    /// Appends the tag's text.
    pub fn push(&self, text: &mut Vec<u8>) {
        push_number(text, self.threshold);
        text.push(b',');
        match self.second {
            None => text.push(b'-'),
            Some(second) => push_number(text, second),
        }
        match self.tier {
            Tier::Single => {}
            Tier::Proven => text.extend_from_slice(b",p"),
            Tier::Anchored => text.extend_from_slice(b",a"),
        }
    }

    pub fn parse(text: &[u8]) -> Option<QueryInPart> {
        let (threshold, rest) = str::from_utf8(text).ok()?.split_once(',')?;
        let (second, tier) = match rest.split_once(',') {
            None => (rest, Tier::Single),
            Some((second, "p")) => (second, Tier::Proven),
            Some((second, "a")) => (second, Tier::Anchored),
            Some(_) => return None,
        };
        let second = match second {
            "-" => None,
            second => Some(second.parse().ok()?),
        };
        Some(QueryInPart { threshold: threshold.parse().ok()?, second, tier })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_a_query_is_read() {
        for (threshold, second, tier, expected) in [
            (24, Some(26), Tier::Proven, "24,26,p"),
            (i32::MIN, Some(-3), Tier::Anchored, "-2147483648,-3,a"),
            (0, None, Tier::Single, "0,-"),
        ] {
            let told = QueryInPart { threshold, second, tier };
            let mut text = Vec::new();
            told.push(&mut text);
            assert_eq!(text, expected.as_bytes());
            assert_eq!(QueryInPart::parse(&text), Some(told));
        }
        for wrong in ["", "1", "1,", ",1", "x,-", "1,2,3", "2147483648,-", "\u{e9},-"] {
            assert_eq!(QueryInPart::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for (target, in_part, expected) in [
            (0, InPart::Hit { beside: None }, "0,-"),
            (12, InPart::Hit { beside: Some(3) }, "12,3"),
            (4_000_000_000, InPart::Rescued, "4000000000,r"),
        ] {
            let mut text = Vec::new();
            push(&mut text, target as usize, &in_part);
            assert_eq!(text, expected.as_bytes());
            assert_eq!(parse(&text), Some((target, in_part)));
        }
        for wrong in ["", "1", "1,", ",r", "1,x", "1,-1", "1,r,", "4294967296,r", "\u{e9},r"] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
