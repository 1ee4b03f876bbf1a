//! `swalign all --format matrix`: all-against-all scores or identities of the sequences of a file.

use super::alphabet;
use super::device::open;
use super::inputs::strands;
use super::report::{Reporter, Stage, Summary, warn};
use super::source::ReferenceSource;
use super::threads::set_threads;
use crate::align::backtrace::{self, WantedPath};
use crate::align::candidates::{Meets, PairLayout};
use crate::align::hits::PORTION;
use crate::align::identity::ColumnKinds;
use crate::engine::{DatabaseQuery, Engine, Guarded, TargetScore};
use crate::input::reader::References;
use crate::output::writer::Output;
use crate::output::writer::matrix::{MatrixShape, MatrixWriter};
use crate::terms::alignment::{Alignment, HitEnd, Locus, Strand};
use crate::terms::alphabet::reverse_complement_codes;
use crate::terms::batch::{Batch, Pair, Sequences};
use crate::terms::casts::to_u32;
use crate::terms::error::{EngineError, Error, Place, Result};
use crate::terms::options::{IdentityDefinition, MatrixOptions, MatrixValues};
use crate::terms::scoring::Scoring;
use crate::terms::system::Instant;
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of values of a matrix, 4 bytes each. Only the triangle is stored, and rows need values of the rows
/// above.
const MOST_VALUES: u64 = 1 << 30;

/// Aligns all sequences of a file with each other, and writes the matrix.
pub fn matrix(options: &MatrixOptions, reporter: &dyn Reporter) -> Result<Summary> {
    let begun = Instant::now();
    let run = &options.run;
    set_threads(run.threads, reporter)?;
    let mut source = ReferenceSource::open(run)?;
    reporter.stage(source.stage(run));
    let alphabet = alphabet::settle(run, &mut source, None, reporter)?;
    let (references, _) = source.read(run, alphabet)?;
    warn(reporter, source.warnings());
    let scoring = Arc::new(run.scoring.resolve(references.alphabet)?);
    check(&references, &scoring, source.path())?;
    let (hardware, remark) = open(run)?;
    reporter.note(&format!("using {}{remark}", hardware.describe()));
    let mut output = Output::create(run.output.as_deref())?;
    reporter.stage(Stage::of("aligning"));
    let layout = PairLayout { strands: strands(run, references.alphabet), meets: Meets::Behind(0) };
    let count = references.names.len();
    let mut aligner = TriangleAligner {
        reporter,
        engine: hardware.engine(0),
        sequences: Arc::new(references.sequences),
        scoring,
        layout,
        values: options.values,
        identity: run.ranked.identity,
        cells: 0,
    };
    let shape = MatrixShape { names: &references.names, values: options.values, is_numpy: options.is_numpy };
    let mut writer = MatrixWriter::new(shape, &mut output)?;
    let mut first = 0;
    while first < count {
        let rows = first..aligner.rows_from(first);
        for row in aligner.align(rows.clone())? {
            writer.put(&row, &mut output)?;
        }
        first = rows.end;
    }
    output.finish()?;
    let (queries, cells) = (count as u64, aligner.cells);
    Ok(Summary { queries, aligned: queries, cells, elapsed: begun.elapsed(), ..Summary::default() })
}

/// Refuses input that cannot be a matrix.
fn check(references: &References, scoring: &Scoring, path: &Path) -> Result<()> {
    let place = || Place { file: path.to_path_buf(), ..Place::default() };
    let count = references.names.len() as u64;
    if count * (count + 1) / 2 > MOST_VALUES {
        let problem = format!(
            "a matrix of {count} sequences has {} values, which exceeds the limit of 2^30 pairs",
            count * count
        );
        return Err(Error::input(
            place(),
            problem,
            "leave --format matrix out, because lists of pairs have no limit",
        ));
    }
    let longest = references.lengths.iter().max().map_or(0, |&len| len as usize);
    if !scoring.fits(longest) || !scoring.fits_below(longest, longest) {
        let problem = format!("{longest} residues could overflow a 32-bit score with this scoring scheme");
        return Err(Error::input(place(), problem, "use smaller scores, or shorter sequences"));
    }
    Ok(())
}

/// Aligns rows of the triangle.
struct TriangleAligner<'a> {
    reporter: &'a dyn Reporter,
    engine: Guarded,
    sequences: Arc<Sequences>,
    scoring: Arc<Scoring>,
    layout: PairLayout,
    values: MatrixValues,
    identity: IdentityDefinition,
    cells: u64,
}

impl TriangleAligner<'_> {
    /// End of the rows from `first` on that are aligned together.
    fn rows_from(&self, first: usize) -> usize {
        let count = self.sequences.len();
        let of_row = |row: usize| (count - row) * self.layout.strands.count() as usize;
        let mut pairs = 0;
        let fits = |&row: &usize| {
            pairs += of_row(row);
            row == first || pairs <= PORTION
        };
        (first..count).take_while(fits).last().map_or(count, |last| last + 1)
    }

    /// The values of some rows, each from its diagonal on.
    fn align(&mut self, rows: Range<usize>) -> Result<Vec<Vec<f64>>> {
        let mut queries = Sequences::default();
        for row in rows.clone() {
            let codes = self.sequences.get(row);
            if self.layout.strands.has(Strand::Forward) {
                queries.push(codes.iter().copied());
            }
            if self.layout.strands.has(Strand::Reverse) {
                queries.push(reverse_complement_codes(codes));
            }
        }
        let batch = Batch {
            queries: Arc::new(queries),
            targets: Arc::clone(&self.sequences),
            scoring: Arc::clone(&self.scoring),
        };
        let mut values = self.values_of(&batch, rows.clone());
        if let Err(error) = &values
            && self.engine.fall_back(error)
        {
            values = self.values_of(&batch, rows);
        }
        warn(self.reporter, self.engine.take_notice());
        Ok(values?)
    }

    fn values_of(&mut self, batch: &Batch, rows: Range<usize>) -> Result<Vec<Vec<f64>>, EngineError> {
        let (count, strands) = (self.sequences.len(), self.layout.strands.count());
        if let Some(values) = self.scores_alone(batch, rows.clone())? {
            return Ok(values);
        }
        let mut pairs = Vec::new();
        for (record, row) in (0u32..).zip(rows.clone()) {
            for target in to_u32(row)..to_u32(count) {
                let end = to_u32(batch.target(target).len());
                // The pairs of both strands are adjacent.
                let queries = self.layout.queries(record);
                pairs.extend(queries.map(|query| Pair { query, target, start: 0, own: 0, end }));
            }
        }
        self.cells += pairs.iter().map(|pair| batch.cells(pair)).sum::<u64>();
        let hits = self.engine.score(batch, &pairs)?;
        let best: Vec<(Pair, HitEnd)> = pairs
            .chunks(strands as usize)
            .zip(hits.chunks(strands as usize))
            .filter_map(|(pairs, hits)| self.first_of(pairs, hits))
            .collect();
        let values = match self.values {
            MatrixValues::Score => best.iter().map(|(_, hit)| f64::from(hit.score)).collect(),
            MatrixValues::Identity => self.identities(batch, &best)?,
        };
        let mut rest = &values[..];
        let row = |row: usize| {
            let (own, behind) = rest.split_at(count - row);
            rest = behind;
            own.to_vec()
        };
        Ok(rows.map(row).collect())
    }

    /// The same for local scores of many short sequences: an engine finds these scores faster than their end cells.
    fn scores_alone(
        &mut self,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<Option<Vec<Vec<f64>>>, EngineError> {
        let targets = &batch.targets;
        let longest = targets.longest_short();
        let are_short = || targets.iter().all(|target| target.len() <= longest);
        let is_many = targets.len() >= self.engine.capabilities().database;
        let is_local_score = self.values == MatrixValues::Score && batch.scoring.mode.is_local();
        if !is_local_score || !is_many || !are_short() {
            return Ok(None);
        }
        let mut asked = Vec::new();
        for (record, row) in (0u32..).zip(rows.clone()) {
            let queries = self.layout.queries(record);
            asked.extend(queries.map(|query| DatabaseQuery { query, least: 1, first: to_u32(row) }));
            let residues: u64 = targets.iter().skip(row).map(|target| target.len() as u64).sum();
            self.cells += u64::from(self.layout.strands.count()) * targets.get(row).len() as u64 * residues;
        }
        let mut scored = self.engine.score_database(batch, &asked)?.into_iter();
        let mut values = Vec::with_capacity(rows.len());
        for row in rows {
            let mut own = vec![0.0f64; targets.len() - row];
            for scores in scored.by_ref().take(self.layout.strands.count() as usize) {
                for TargetScore { target, score } in scores {
                    if let Some(value) = (target as usize).checked_sub(row).and_then(|at| own.get_mut(at)) {
                        *value = value.max(score.into());
                    }
                }
            }
            values.push(own);
        }
        Ok(Some(values))
    }

    /// The first hit of both strands.
    fn first_of(&self, pairs: &[Pair], hits: &[HitEnd]) -> Option<(Pair, HitEnd)> {
        let locus = |&(pair, hit): &(Pair, HitEnd)| Locus {
            hit,
            strand: self.layout.strand(pair.query),
            target: pair.target,
        };
        let all = pairs.iter().copied().zip(hits.iter().copied());
        all.min_by(|one, other| locus(one).order(&locus(other)))
    }

    /// Identities in percent. 0 if there is no alignment.
    fn identities(&mut self, batch: &Batch, best: &[(Pair, HitEnd)]) -> Result<Vec<f64>, EngineError> {
        let wanted = |(pair, hit): &(Pair, HitEnd)| WantedPath {
            window: backtrace::window_of(batch, pair.query, pair.target, pair.start, hit),
            strand: self.layout.strand(pair.query),
            score: hit.score,
        };
        let found: Vec<&(Pair, HitEnd)> = best.iter().filter(|(_, hit)| !hit.is_none()).collect();
        let wanted: Vec<WantedPath> = found.iter().map(|found| wanted(found)).collect();
        let alignments = backtrace::align(&mut self.engine, batch, &wanted)?;
        let identity = |((pair, _), alignment): (&&(Pair, HitEnd), &Alignment)| {
            let (query, target) = (batch.query(pair.query), batch.target(pair.target));
            let kinds =
                ColumnKinds::count(&self.scoring, query, alignment.aligned_residues(target), alignment);
            kinds.identity(self.identity, query.len(), target.len()).percent()
        };
        let mut identities =
            found.par_iter().zip(&alignments).map(identity).collect::<Vec<f64>>().into_iter();
        let value =
            |(_, hit): &(Pair, HitEnd)| if hit.is_none() { 0.0 } else { identities.next().unwrap_or(0.0) };
        Ok(best.iter().map(value).collect())
    }
}
