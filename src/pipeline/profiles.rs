//! Searches by profiles: the scores of each position of a query come from a file, or from the hits of an earlier round
//! (PSI-BLAST: Altschul et al. 1997).

use super::Run;
use super::align::QueryFacts;
use super::query_search::QuerySearch;
use super::report::Reporter;
use crate::align::candidates::Meets;
use crate::align::hits::Effort;
use crate::engine::Guarded;
use crate::input::profile::{self, Profile};
use crate::input::reader::{FileRecord, Reader};
use crate::terms::alignment::{Alignment, PathOp, QueryResult};
use crate::terms::alphabet::{Alphabet, CODES, SCORED, scored_code};
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_u8, to_usize};
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::{IterationRules, Options};
use crate::terms::scoring::PositionScores;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The profiles of a run's queries, and the rounds of its searches.
pub(super) struct ProfileSearch {
    /// By the numbers of the queries; empty if queries are sequences.
    given: Vec<Arc<PositionScores>>,
    rules: IterationRules,
}

/// Reads the profiles of `--profile`. The reader returns their residues as queries.
pub fn read(options: &Options, reporter: &dyn Reporter) -> Result<(Reader, Vec<Arc<PositionScores>>)> {
    let path = &*options.query;
    let text = Reader::whole_text(path)?;
    let name = path.file_stem().map_or("profile".into(), |stem| stem.to_string_lossy());
    let mut profiles = profile::parse(&text, &name).map_err(|fault| {
        let place = Place { file: path.to_path_buf(), record: None, line: Some(fault.line) };
        Error::input(place, fault.text, fault.remedy)
    })?;
    if options.scoring.gap_open.or(options.scoring.gap_extend).is_some() {
        profiles = profiles.into_iter().map(Profile::without_gap_costs).collect();
    }
    let dropped: BTreeSet<&str> = profiles.iter().filter_map(|profile| profile.dropped.as_deref()).collect();
    for dropped in dropped {
        reporter.note(&format!("{}: the scores leave out {dropped}", path.display()));
    }
    let mut queries = Vec::new();
    for profile in &profiles {
        queries.extend(format!(">{}\n", profile.name).into_bytes());
        queries.extend_from_slice(&profile.residues);
        queries.push(b'\n');
    }
    let reader = Reader::of_text(path, queries)?;
    Ok((reader, profiles.iter().map(|profile| Arc::new(position_scores(profile))).collect()))
}

/// The scores of a profile against all codes of proteins, and its gap costs.
fn position_scores(profile: &Profile) -> PositionScores {
    let row = |scores: &[i8; SCORED as usize]| {
        let score =
            |code: usize| scores.get(usize::from(scored_code(to_u8(code)))).copied().unwrap_or(i8::MIN);
        std::array::from_fn::<i8, CODES, _>(score)
    };
    PositionScores { rows: profile.scores.iter().map(row).collect(), gaps: profile.gaps.clone() }
}

impl ProfileSearch {
    /// The profiles and the rounds of a run; `None` if it has neither.
    pub fn new(options: &Options, given: Vec<Arc<PositionScores>>) -> Option<ProfileSearch> {
        let rules = options.iterations;
        rules.has_profiles().then_some(ProfileSearch { given, rules })
    }
}

impl Run<'_> {
    /// The hits of queries with these `known` records, of which the first is number `first` of the run. Each query has a search of its own.
    pub(super) fn find_by_profiles(
        &self,
        engine: &mut Guarded,
        (search, queries, first): (&ProfileSearch, &Sequences, u64),
        known: QueryFacts,
        met: (Meets, usize),
        effort: &mut Effort,
    ) -> Result<Vec<QueryResult>> {
        let find = |(place, codes): (usize, &[u8])| {
            let mut profile = search.given.get(to_usize(first) + place).cloned();
            // Targets of the hits that the last profile was made of.
            let mut included = BTreeSet::new();
            for round in 1.. {
                let found = self.find_by_profile(
                    engine,
                    (codes, &known.records[place]),
                    profile.clone(),
                    met,
                    effort,
                )?;
                if round >= search.rules.rounds {
                    return Ok(found);
                }
                let hits = self.included(&found, codes.len(), search.rules.inclusion);
                let targets = hits.iter().map(|hit| (hit.target, hit.target_start, hit.target_end)).collect();
                if hits.is_empty() || std::mem::replace(&mut included, targets) == included {
                    return Ok(found);
                }
                profile = Some(Arc::new(self.profile_of(codes, &hits)));
            }
            Ok(QueryResult::default())
        };
        queries.iter().enumerate().map(find).collect()
    }

    /// The hits of a query by its profile, if it has one.
    fn find_by_profile(
        &self,
        engine: &mut Guarded,
        (codes, record): (&[u8], &FileRecord),
        profile: Option<Arc<PositionScores>>,
        met: (Meets, usize),
        effort: &mut Effort,
    ) -> Result<QueryResult> {
        let own = self.query_search();
        let scoring = profile.map(|profile| Arc::new((*self.scoring).clone().with_profile(codes, profile)));
        // Seeds of residues do not bound scores of positions.
        let search = match &scoring {
            Some(scoring) => QuerySearch { scoring, filter: None, ..own },
            None => own,
        };
        let query: Sequences = [codes].into_iter().collect();
        let found = search.in_scope(query, met, |scope, written| {
            let known = QueryFacts { hits: &[], records: std::slice::from_ref(record) };
            self.find(engine, scope, (written, known), effort)
        })?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    /// Hits with at most this E-value.
    fn included<'a>(&self, found: &'a QueryResult, len: usize, evalue: f64) -> Vec<&'a Alignment> {
        let Some(significance) = &self.least.significance else { return Vec::new() };
        let is_included = |hit: &&Alignment| {
            significance.evalue(hit.score, len, self.targets.once(hit.target).len()) <= evalue
        };
        found.alignments.iter().filter(is_included).collect()
    }

    /// The profile of a query and its hits.
    fn profile_of(&self, codes: &[u8], hits: &[&Alignment]) -> PositionScores {
        let letter = |&code: &u8| Alphabet::Protein.letters().get(usize::from(code)).copied().unwrap_or(b'X');
        let query: Vec<u8> = codes.iter().map(letter).collect();
        let aligned: Vec<Vec<u8>> = hits
            .iter()
            .map(|hit| {
                let target = self.targets.once(hit.target);
                let mut row = vec![b'-'; codes.len()];
                for run in hit.runs().filter(|run| run.op == PathOp::Match) {
                    let letters = target[run.target].iter().map(letter);
                    row[run.query].iter_mut().zip(letters).for_each(|(place, letter)| *place = letter);
                }
                row
            })
            .collect();
        let rows: Vec<&[u8]> =
            std::iter::once(&query[..]).chain(aligned.iter().map(|row| &row[..])).collect();
        position_scores(&profile::of_alignment("", &rows))
    }
}
