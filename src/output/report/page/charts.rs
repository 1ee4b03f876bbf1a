//! Charts: tables that `page.js` draws.

use super::html::{grouped, or_dash, table};
use crate::output::report::ratio;
use crate::output::statistics::{Histogram, HistogramBins, Positions};

/// Maximum number of bars in a chart, and of positions in a chart by position.
const BARS: usize = 60;
const PLACES: usize = 200;

/// A bar chart; empty without values. `unit` formats a value.
pub fn bars(caption: &str, [x, y]: [&str; 2], histogram: &Histogram, unit: impl Fn(u64) -> String) -> String {
    let counts = histogram.bins().counts();
    let Some(first) = counts.iter().position(|&count| count > 0) else { return String::new() };
    let width = histogram.bins().width();
    let (each, last) = ((counts.len() - first).div_ceil(BARS), histogram.range().map_or(0, |(_, most)| most));
    let rows = counts[first..].chunks(each).enumerate().map(|(bar, counts)| {
        let start = (first + bar * each) as u64 * width;
        let end = (start + each as u64 * width - 1).min(last);
        vec![range(unit(start), unit(end)), grouped(counts.iter().sum::<u64>())]
    });
    chart("bars", caption, [x, y], &table(&[x, y], " class=\"number\"", rows))
}

/// Differences by position in the read, per 100 residues.
pub fn positions(caption: &str, [x, y]: [&str; 2], positions: &Positions) -> String {
    let letters = positions.letters.counts();
    let width = positions.letters.width();
    let each = letters.len().div_ceil(PLACES).max(1);
    let sum = |bins: &HistogramBins, from: usize| bins.counts().iter().skip(from).take(each).sum::<u64>();
    let series = [&positions.mismatches, &positions.inserted, &positions.deletions, &positions.clipped];
    let rows = (0..letters.len()).step_by(each).map(|from| {
        let start = from as u64 * width + 1;
        let whole = sum(&positions.letters, from);
        let shares = series.map(|bins| or_dash(ratio(u128::from(sum(bins, from)) * 100, whole, 3)));
        let range = range(grouped(start), grouped(start + each as u64 * width - 1));
        [range, grouped(whole)].into_iter().chain(shares).collect()
    });
    let heads = [x, "Letters", "Mismatches", "Inserted letters", "Deletions", "Clipped letters"];
    chart("lines", caption, [x, y], &table(&heads, " class=\"number\"", rows))
}

/// Lines of shares in percent by a value. Each row has the value, a number of items, and the shares.
pub fn shares(caption: &str, [x, y]: [&str; 2], heads: &[&str], rows: Vec<Vec<String>>) -> String {
    chart("lines", caption, [x, y], &table(heads, " class=\"number\"", rows))
}

fn range(start: String, end: String) -> String {
    if start == end { start } else { format!("{start}\u{2013}{end}") }
}

fn chart(kind: &str, caption: &str, [x, y]: [&str; 2], table: &str) -> String {
    format!(
        "<figure data-kind=\"{kind}\" data-x=\"{x}\" data-y=\"{y}\">\n<figcaption>{caption}</figcaption>\n\
         <details open><summary>Table</summary>\n{table}</details>\n</figure>\n"
    )
}
