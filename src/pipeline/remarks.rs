//! Notes at the end of a run on queries that lack hits which a user may expect, with the option to set.

use super::Run;
use super::report::{QUERIES, counted, queries_are};
use crate::align::candidates::filter::Filter;
use crate::align::hits::{QueryRemarks, Tiers, TooShort};
use crate::align::split::SEARCHED_AGAIN;
use crate::terms::casts::whole_i32;
use crate::terms::options::HitLimits;

impl Run<'_> {
    /// Prints the notes.
    pub(super) fn say_remarks(&self, remarks: &QueryRemarks) {
        let QueryRemarks { unsplit, cut, limited, too_short, too_unlikely, by_evalue, uncovered, .. } =
            *remarks;
        let said = [
            (unsplit, Self::unsplit(unsplit)),
            (cut, self.cut(cut)),
            (limited, self::limited(limited, &self.options.ranked.limits)),
            (uncovered, self::uncovered(uncovered)),
            (by_evalue, self.by_evalue(by_evalue)),
            (too_short.queries, self::too_short(&too_short, self.rules.min_score)),
            (too_unlikely.queries, self::too_unlikely(&too_unlikely, self.least.evalue.unwrap_or_default())),
        ];
        if let Some(time) = self.filter.as_ref().and_then(Filter::sampled_in) {
            let seconds = time.as_secs_f64();
            self.reporter.note(&format!(
                "building the index of the references took {seconds:.1} s; a database of swalign index has it ready"
            ));
        }
        for (_, text) in said.iter().filter(|(queries, _)| *queries > 0) {
            self.reporter.note(text);
        }
    }

    fn unsplit(queries: u64) -> String {
        format!(
            "warning: {} may have more supplementary alignments, because the search stopped after re-searching \
             {SEARCHED_AGAIN} times their length; to search to the end, use --split",
            counted(queries, QUERIES)
        )
    }

    /// Note about excluded hits that a user who requests more than the best hit may expect.
    fn cut(&self, queries: u64) -> String {
        let (queries, ratio) = (counted(queries, QUERIES), self.options.secondary_ratio);
        match self.tiers.as_ref().is_some_and(Tiers::has_quality) {
            false => format!(
                "at least {queries} had further hits below {ratio} of the best score, which were omitted; to keep those within the other limits, use \
                 --secondary-ratio 0"
            ),
            true => format!(
                "{queries} had further hits whose scores are too low to change a mapping quality, which were omitted; to keep \
                 those from {ratio} of the best score on, use --secondary-ratio {ratio}"
            ),
        }
    }

    fn by_evalue(&self, queries: u64) -> String {
        format!(
            "{} of fewer than 30 bases: any alignment with an E-value of at most {} (--evalue) is a hit; to \
             require a score, use --min-score",
            counted(queries, QUERIES),
            self.least.evalue.map_or_else(String::new, shown)
        )
    }
}

/// Note about hits on more references than are reported.
pub(super) fn limited(queries: u64, limits: &HitLimits) -> String {
    let (most, queries) = (limits.max_targets, counted(queries, QUERIES));
    let references = counted(most as u64, ["reference", "references"]);
    let ties = if limits.keeps_ties { " and those that tie with the last" } else { "" };
    format!(
        "{queries} may have hits on more than {references}{ties}, which are omitted; to keep them, raise --max-targets \
         above {most}"
    )
}

/// Note about hits that the minimum coverage of ranking by identity excludes.
fn uncovered(queries: u64) -> String {
    format!(
        "{} had hits that align less than {} % of the query, which --rank identity omits; to change the limit, use \
         --min-coverage",
        counted(queries, QUERIES),
        HitLimits::FLOOR_OF_IDENTITY
    )
}

fn too_short(short: &TooShort, least: i32) -> String {
    let lowest = short.scores.map_or(1, |(lowest, _)| lowest);
    // Leaves a margin for a few differences.
    let advised = (i64::from(lowest) * 5 / 6).max(1);
    format!(
        "warning: {} too short to reach --min-score {least} ({}): set --min-score {advised}",
        queries_are(short.queries),
        possible(short)
    )
}

fn too_unlikely(short: &TooShort, most: f64) -> String {
    format!(
        "warning: {} too short for an E-value of {} ({}): set --evalue {}",
        queries_are(short.queries),
        shown(most),
        possible(short),
        shown(rounded_up(short.evalue))
    )
}

fn possible(short: &TooShort) -> String {
    let (lowest, highest) = short.scores.unwrap_or_default();
    match (short.queries, lowest == highest) {
        (1, _) => format!("its highest possible score is {lowest}"),
        (_, true) => format!("their highest possible score is {lowest}"),
        (_, false) => format!("their highest possible scores are {lowest} to {highest}"),
    }
}

fn shown(evalue: f64) -> String {
    if (1e-3..1e7).contains(&evalue) { evalue.to_string() } else { format!("{evalue:e}") }
}

/// The smallest number of one digit and zeros that is not less than `number`.
fn rounded_up(number: f64) -> f64 {
    let scale = 10f64.powi(whole_i32(number.log10().floor()));
    (number / scale).ceil() * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_all(message: &str, nouns: &[&str]) {
        assert!(nouns.iter().all(|noun| message.contains(noun)), "{message}: not all of {nouns:?}");
    }

    #[test]
    fn short_queries_have_their_scores_and_the_remedy() {
        let one = TooShort::of(36, 12.5);
        let several = TooShort { queries: 3, scores: Some((22, 36)), evalue: 3_001.0 };
        let scores = "scores are 22 to 36";
        names_all(
            &too_short(&one, 40),
            &["warning: 1 query", "--min-score 40", "score is 36", "--min-score 30"],
        );
        names_all(
            &too_short(&several, 40),
            &["warning: 3 queries", "--min-score 40", scores, "--min-score 18"],
        );
        names_all(
            &too_unlikely(&several, 10.0),
            &["warning: 3 queries", "E-value of 10", scores, "--evalue 4000"],
        );
        assert_eq!([0.2, 7.0, 12.5].map(rounded_up), [0.2, 7.0, 20.0]);
    }

    #[test]
    fn limits_have_their_number_and_the_remedy() {
        let limits = HitLimits { max_targets: 500, ..HitLimits::records(1) };
        names_all(&limited(2, &limits), &["2 queries", "500 references", "--max-targets"]);
    }
}
