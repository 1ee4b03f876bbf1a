//! From an end to its start, and the path between.
//!
//! The path is walked backwards from D(m,j). At a cell it goes where the cell's value came from, and of
//! several ways takes the diagonal before the deletion before the insertion; it stops at row 0. So of
//! the paths with the fewest edits one is chosen, and with it the start; gaps lie as far left in the text as
//! they can. The walk does not depend on how the end was found.
//!
//! A path with `d` edits is never more than `d` off the diagonal that ends in its last cell, so only that
//! band is filled. Outside, values count as infinite; inside, they are then too large or true, and true
//! wherever a path with `d` edits passes, so that the walk is that of the whole matrix.

use super::pattern::matches;

/// One kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A letter of each, and they match.
    Equal,
    /// A letter of each, and they don't.
    Replaced,
    /// A letter of the pattern.
    Insertion,
    /// A letter of the text.
    Deletion,
}

/// Runs of equal steps in the order of the text, none empty, never two of a kind side by side.
pub type Path = Vec<(u32, Step)>;

/// Where a hit begins, in letters of the text before it, and how it goes on from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    pub start: usize,
    pub path: Path,
}

/// The path of a pattern that has `edits` edits at `end`; `None` where it has not.
pub fn align(pattern: &[u8], text: &[u8], end: usize, edits: u32) -> Option<Aligned> {
    if edits == 0 {
        let start = end.checked_sub(pattern.len())?;
        return replaced(pattern, text, end)
            .filter(|found| found.path == [((end - start) as u32, Step::Equal)]);
    }
    let band = Band::fill(pattern, text, end, edits as usize);
    (band.at(pattern.len(), band.off) == edits).then(|| band.walk())
}

/// The path of a pattern without gaps; `None` where it does not fit before `end`.
pub fn replaced(pattern: &[u8], text: &[u8], end: usize) -> Option<Aligned> {
    let start = end.checked_sub(pattern.len())?;
    let step = |(&class, &letter): (&u8, &u8)| step_of(class, letter);
    let steps: Vec<Step> = pattern.iter().zip(&text[start..end]).map(step).collect();
    Some(Aligned { start, path: runs(steps.into_iter()) })
}

/// Joins single steps to runs.
pub fn runs(steps: impl Iterator<Item = Step>) -> Path {
    let mut path = Path::new();
    for step in steps {
        match path.last_mut() {
            Some((len, last)) if *last == step => *len += 1,
            _ => path.push((1, step)),
        }
    }
    path
}

/// Edits of a path.
pub fn edits(path: &Path) -> u32 {
    path.iter().filter(|run| run.1 != Step::Equal).map(|run| run.0).sum()
}

pub fn step_of(class: u8, letter: u8) -> Step {
    if matches(class, letter) { Step::Equal } else { Step::Replaced }
}

/// The cells of a band: of row `i` those of the columns `j = end - (m - i) + o - off`, for `o` from 0 to
/// `2 * off`.
struct Band<'a> {
    pattern: &'a [u8],
    text: &'a [u8],
    end: usize,
    off: usize,
    cells: Vec<u32>,
}

impl<'a> Band<'a> {
    fn fill(pattern: &'a [u8], text: &'a [u8], end: usize, off: usize) -> Band<'a> {
        let width = 2 * off + 1;
        let mut band = Band { pattern, text, end, off, cells: vec![u32::MAX; (pattern.len() + 1) * width] };
        for i in 0..=pattern.len() {
            for o in 0..width {
                let Some(j) = band.column(i, o) else { continue };
                let cell = if i == 0 { 0 } else { band.cell(i, o, j) };
                band.cells[i * width + o] = cell;
            }
        }
        band
    }

    /// The column of a cell; `None` outside the matrix.
    fn column(&self, i: usize, o: usize) -> Option<usize> {
        (self.end + i + o).checked_sub(self.pattern.len() + self.off).filter(|&j| j <= self.end)
    }

    fn at(&self, i: usize, o: usize) -> u32 {
        self.cells[i * (2 * self.off + 1) + o]
    }

    /// What each way into a cell of row 1 or more gives.
    fn ways(&self, i: usize, o: usize, j: usize) -> [(u32, Step); 3] {
        let diagonal = match j.checked_sub(1) {
            Some(before) => {
                let step = step_of(self.pattern[i - 1], self.text[before]);
                (self.at(i - 1, o).saturating_add(u32::from(step == Step::Replaced)), step)
            }
            None => (u32::MAX, Step::Replaced),
        };
        let deletion = if o > 0 { self.at(i, o - 1).saturating_add(1) } else { u32::MAX };
        let insertion = if o < 2 * self.off { self.at(i - 1, o + 1).saturating_add(1) } else { u32::MAX };
        [diagonal, (deletion, Step::Deletion), (insertion, Step::Insertion)]
    }

    fn cell(&self, i: usize, o: usize, j: usize) -> u32 {
        self.ways(i, o, j).iter().map(|way| way.0).min().unwrap_or(u32::MAX)
    }

    fn walk(&self) -> Aligned {
        let (mut i, mut o, mut steps) = (self.pattern.len(), self.off, Vec::new());
        loop {
            let j = self.column(i, o).unwrap_or(0);
            if i == 0 {
                return Aligned { start: j, path: runs(steps.into_iter().rev()) };
            }
            let ways = self.ways(i, o, j);
            let best = self.at(i, o);
            // One of them is the cell's value.
            let (_, step) = ways.into_iter().find(|way| way.0 == best).unwrap_or(ways[2]);
            match step {
                Step::Equal | Step::Replaced => i -= 1,
                Step::Deletion => o -= 1,
                Step::Insertion => (i, o) = (i - 1, o + 1),
            }
            steps.push(step);
        }
    }
}
