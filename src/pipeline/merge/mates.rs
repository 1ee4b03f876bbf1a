//! Mates in parts of the references: the pair is chosen among the hits of all parts.

use super::references::tier_of;
use crate::align::hits::Rules;
use crate::align::pairing::{HitInParts, MateInParts, Pairing};
use crate::align::quality::PairScores;
use crate::output::writer::receipt::{HitSelection, MatesInReceipt};
use crate::output::writer::reread::{MateRecord, PartRecord, push_mates};
use crate::pipeline::ranking;
use crate::terms::alignment::InPart;

/// Rules for pairing mates, if the parts contain mates.
pub fn pairing(choice: &HitSelection, rules: Rules) -> Option<Pairing> {
    let MatesInReceipt { insert, match_, close } = choice.mates?;
    Some(Pairing::by_scores(
        insert,
        rules,
        PairScores { match_, close, typical: choice.typical, end_bonus: 0 },
    ))
}

/// Appends the records of two mates, given part by part. `None` if they cannot come from parts of one run.
pub fn choose(pairing: &Pairing, pair: [Vec<Vec<PartRecord>>; 2], out: &mut Vec<u8>) -> Option<()> {
    let apart = |records: Vec<PartRecord>| records.into_iter().map(PartRecord::into_mate).collect();
    let [one, other] =
        pair.map(|parts| parts.into_iter().map(apart).collect::<Option<Vec<Vec<MateRecord>>>>());
    let (one, other) = (one?, other?);
    let mut found = pairing.join([in_parts(&one, &other)?, in_parts(&other, &one)?]);
    for found in &mut found {
        ranking::limit(&pairing.rules, found);
    }
    let records = [one, other].map(|parts| parts.into_iter().flatten().collect::<Vec<_>>());
    push_mates(&pairing.scoring(), [&records[0], &records[1]], &found, out)
}

/// The hits of a mate in the parts. A record may refer to a record of the other mate.
fn in_parts(own: &[Vec<MateRecord>], other: &[Vec<MateRecord>]) -> Option<MateInParts> {
    let of_part = |records: &Vec<MateRecord>| Some(records.first()?.of_query()?.tier);
    let tier = tier_of(own.iter().filter_map(of_part));
    let mut mate = MateInParts { tier, ..MateInParts::default() };
    for (own, other) in own.iter().zip(other) {
        let told = own.first()?.of_query()?;
        if told.tier != tier {
            continue;
        }
        mate.threshold = mate.threshold.max(Some(told.threshold));
        mate.second = mate.second.max(told.second);
        for (alignment, in_part) in own.iter().filter_map(MateRecord::hit) {
            let InPart::Hit { beside } = in_part else { continue };
            let beside = match beside {
                Some(place) => Some(other.get(place as usize)?.hit()?.0.clone()),
                None => None,
            };
            mate.hits.push(HitInParts { alignment: alignment.clone(), beside });
        }
    }
    Some(mate)
}
