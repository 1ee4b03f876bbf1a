//! Scores without alignments.

use super::aligner::usage;
use super::answers::Answers;
use super::{Aligner, Targets};
use crate::align::hits::PORTION;
use crate::terms::batch::{Batch, Pair, Sequences};
use crate::terms::casts::to_u32;
use crate::terms::error::Result;
use std::iter::Fuse;
use std::sync::Arc;

impl Aligner {
    /// The best score of each query with each of `targets`, which may differ from the aligner's own: one row for each
    /// query, in their order. If DNA is aligned on both strands, it is the higher of the two scores. In local mode it
    /// is 0 if nothing scores more. The iterator reads queries as rows are requested. An error concerns one query,
    /// unless the device failed.
    ///
    /// ```
    /// use swalign::{Aligner, Device, Scoring, Targets};
    ///
    /// let targets = Targets::from_dna([("one", "ACGTTGCA"), ("two", "CCCC")])?;
    /// let aligner = Aligner::builder(Scoring::dna(1, 4, 6, 1)).device(Device::Cpu).build(&targets)?;
    /// let rows: Vec<Vec<i32>> = aligner.score_all(["CGTTG", "CCC"], &targets).collect::<Result<_, _>>()?;
    /// assert_eq!(rows, [[5, 1], [1, 3]]);
    /// # Ok::<(), swalign::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::Error::Usage`] if a query has a byte that is not in the alphabet or is so long that its score could
    /// overflow, or if a sequence is empty in a mode other than local.
    pub fn score_all<'a, I>(&'a self, queries: I, targets: &'a Targets) -> ScoreAll<'a, I::IntoIter>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        let queries = queries.into_iter().fuse();
        ScoreAll { aligner: self, targets, queries, answers: Answers::default() }
    }

    /// The scores of queries that can be aligned, row by row.
    fn scores(&self, queries: Sequences, targets: &Targets) -> Result<Vec<Vec<i32>>> {
        let batch = Batch {
            queries: Arc::new(queries),
            targets: Arc::clone(&targets.sequences),
            scoring: Arc::clone(&self.scoring),
        };
        let (strands, all) = (self.strands.count() as usize, 0..to_u32(targets.len()));
        let pair = |query: u32, target: u32| {
            let end = to_u32(batch.target(target).len());
            Pair { query, target, start: 0, own: 0, end }
        };
        let pairs: Vec<Pair> = (0..to_u32(batch.queries.len()))
            .flat_map(|query| all.clone().map(move |target| (query, target)))
            .map(|(query, target)| pair(query, target))
            .collect();
        let hits = self.engines.run(|engine| engine.score(&batch, &pairs))?;
        targets.check()?;
        let row = |of_query: &[crate::terms::alignment::HitEnd]| {
            let best = |target: usize| {
                let scores = of_query.iter().skip(target).step_by(targets.len().max(1)).map(|hit| hit.score);
                scores.max().unwrap_or(0)
            };
            (0..targets.len()).map(best).collect()
        };
        Ok(hits.chunks(targets.len().max(1) * strands).map(row).collect())
    }
}

/// Iterator over the scores of queries; see [`Aligner::score_all`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless they are asked"]
pub struct ScoreAll<'a, I> {
    aligner: &'a Aligner,
    targets: &'a Targets,
    queries: Fuse<I>,
    answers: Answers<Vec<i32>>,
}

impl<I> Iterator for ScoreAll<'_, I>
where
    I: Iterator,
    I::Item: AsRef<[u8]>,
{
    type Item = Result<Vec<i32>>;

    fn next(&mut self) -> Option<Self::Item> {
        let ScoreAll { aligner, targets, queries: rest, answers } = self;
        answers.next(|| {
            let most = (PORTION / (targets.len().max(1) * aligner.strands.count() as usize)).max(1);
            let (mut queries, mut taken) = (Sequences::default(), Vec::new());
            while taken.len() < most {
                let Some(query) = rest.next() else { break };
                let letters = query.as_ref();
                let can_score = aligner.can_score(letters, targets);
                let is_taken = can_score.and_then(|()| aligner.take_for(letters, targets, &mut queries));
                taken.push(is_taken.map(|()| true));
            }
            let scored = match targets.is_empty() {
                true => Ok(vec![Vec::new(); queries.len() / aligner.strands.count() as usize]),
                false if queries.is_empty() => Ok(Vec::new()),
                false => aligner.scores(queries, targets),
            };
            (taken, scored)
        })
    }
}

impl Aligner {
    /// Whether a query has a score with each of some targets.
    fn can_score(&self, letters: &[u8], targets: &Targets) -> Result<()> {
        let alphabet = self.scoring.alphabet;
        if alphabet != targets.alphabet() {
            let text = format!("the scoring is for {alphabet}, the targets are {}", targets.alphabet());
            return Err(usage(text));
        }
        let empty = letters.is_empty() || targets.sequences.iter().any(<[u8]>::is_empty);
        if empty && !self.scoring.mode.is_local() {
            let text = "an empty sequence has no score in this mode; leave it out";
            return Err(usage(text.to_string()));
        }
        Ok(())
    }
}
