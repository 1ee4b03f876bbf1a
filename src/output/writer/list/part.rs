//! Lists of a part of the references: lines with the data by which a merge chooses hits, and everything that a list
//! shows about them.
//!
//! ```text
//! query <TAB> name <TAB> 0, of mates 1 or 2 <TAB> letters <TAB> least score of a hit beside the best one
//! hit   <TAB> what it is ranked by <TAB> strand <TAB> TARGET,WHAT, as in the tag YM <TAB> score
//!       <TAB> query: start,end in the aligned orientation <TAB> target: start,end,letters
//!       <TAB> columns by their kind: 7 numbers <TAB> bits,E-value or - <TAB> identity
//!       <TAB> masked letters of the query or -
//!       <TAB> aligned letters of the query <TAB> of the target <TAB> kinds of the columns <TAB> name <TAB> header line
//! ```
//!
//! A query's line precedes those of its hits, which are in the part's order. For mates, the hits include all candidates
//! for pairs. Floating-point numbers have enough digits to restore them exactly.

use super::shown::{ColumnKind, ColumnShown, QueryTold, ShownHit};
use crate::align::identity::{ColumnKinds, Identity};
use crate::output::writer::in_part;
use crate::output::writer::reread::damaged;
use crate::terms::alignment::{Alignment, InPart, PathOp, PathRuns, Strand, push_run};
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::to_u32;
use noodles_bgzf::io::Reader;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::str::FromStr;

const QUERY: &str = "query";
const HIT: &str = "hit";
/// Placeholder for missing bits and E-value, and for a missing number of masked residues.
const NONE: &str = "-";

/// A query and its hits in the references of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct PartQuery {
    pub name: String,
    /// For mates, whether it is the first.
    pub is_first: Option<bool>,
    pub len: usize,
    /// The minimum score that a further hit would have needed.
    pub threshold: i32,
    pub hits: Vec<PartHit>,
}

/// A hit in a part.
#[derive(Clone, Debug, PartialEq)]
pub struct PartHit {
    /// Rank criterion; higher values come first.
    pub rank: f64,
    /// Its target has the index among all references.
    pub alignment: Alignment,
    pub in_part: InPart,
    pub shown: ShownHit<'static>,
}

impl PartQuery {
    pub fn told(&self) -> QueryTold<'_> {
        QueryTold { name: &self.name, is_first: self.is_first, len: self.len }
    }
}

/// Appends the line of a query.
pub fn push_query(out: &mut Vec<u8>, query: &QueryTold, threshold: i32) {
    let mate = match query.is_first {
        None => 0,
        Some(true) => 1,
        Some(false) => 2,
    };
    let QueryTold { name, len, .. } = query;
    put(out, format_args!("{QUERY}\t{name}\t{mate}\t{len}\t{threshold}\n"));
}

/// Appends the line of a hit. `target` is the index of its target among all references.
pub fn push_hit(
    out: &mut Vec<u8>,
    (rank, target, of_part): (f64, usize, InPart),
    hit: &Alignment,
    shown: &ShownHit,
) {
    let strand = if hit.strand == Strand::Forward { '+' } else { '-' };
    put(out, format_args!("{HIT}\t{rank:e}\t{strand}\t"));
    in_part::push(out, target, &of_part);
    let Alignment { score, query_start, query_end, target_start, target_end, .. } = hit;
    put(out, format_args!("\t{score}\t{query_start},{query_end}\t{target_start},{target_end}"));
    let numbers = numbers_of(&shown.kinds).map(|number| number.to_string()).join(",");
    put(out, format_args!(",{}\t{numbers}\t", shown.target_len));
    match shown.significance {
        Some((bits, evalue)) => put(out, format_args!("{bits:e},{evalue:e}")),
        None => put(out, NONE),
    }
    put(out, format_args!("\t{},{}\t", shown.identity.equal, shown.identity.of));
    match shown.masked {
        Some(masked) => put(out, format_args!("{masked}\t")),
        None => put(out, format_args!("{NONE}\t")),
    }
    out.extend(shown.columns.iter().map(|column| column.query));
    out.push(b'\t');
    out.extend(shown.columns.iter().map(|column| column.target));
    out.push(b'\t');
    out.extend(shown.columns.iter().map(|column| letter_of(column.kind)));
    put(out, format_args!("\t{}\t{}\n", shown.name, shown.title));
}

/// The lists of a part, query by query.
pub struct PartLists {
    alphabet: Alphabet,
    input: Box<dyn BufRead + Send>,
    /// The line of the next query.
    ahead: Option<Vec<u8>>,
}

impl PartLists {
    /// The lists in `bytes`, a file without its header and its end.
    pub fn new(alphabet: Alphabet, in_blocks: bool, bytes: impl Read + Send + 'static) -> PartLists {
        let bytes = BufReader::new(bytes);
        let input: Box<dyn BufRead + Send> =
            if in_blocks { Box::new(Reader::new(bytes)) } else { Box::new(bytes) };
        PartLists { alphabet, input, ahead: None }
    }

    /// The next query; `None` at the end.
    pub fn next_query(&mut self) -> io::Result<Option<PartQuery>> {
        let line = match self.ahead.take() {
            Some(line) => line,
            None => self.line()?,
        };
        if line.is_empty() {
            return Ok(None);
        }
        let mut query = parse_query(&line).ok_or_else(damaged)?;
        loop {
            let line = self.line()?;
            if !line.starts_with(HIT.as_bytes()) {
                self.ahead = Some(line);
                return Ok(Some(query));
            }
            query.hits.push(parse_hit(&line, self.alphabet, query.len).ok_or_else(damaged)?);
        }
    }

    /// The next line with its newline; empty at the end.
    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.input.read_until(b'\n', &mut line)?;
        Ok(line)
    }
}

fn text_of(line: &[u8]) -> Option<&str> {
    str::from_utf8(line).ok()?.strip_suffix('\n')
}

fn parse_query(line: &[u8]) -> Option<PartQuery> {
    // A name contains no whitespace.
    let fields: Vec<&str> = text_of(line)?.split('\t').collect();
    let &[QUERY, name, mate, len, threshold] = &fields[..] else { return None };
    let is_first = match mate {
        "0" => None,
        "1" => Some(true),
        "2" => Some(false),
        _ => return None,
    };
    let len: u32 = len.parse().ok()?;
    let (len, threshold) = (len as usize, threshold.parse().ok()?);
    Some(PartQuery { name: name.to_string(), is_first, len, threshold, hits: Vec::new() })
}

fn parse_hit(line: &[u8], alphabet: Alphabet, query_len: usize) -> Option<PartHit> {
    let fields: Vec<&str> = text_of(line)?.splitn(16, '\t').collect();
    let &[
        HIT,
        rank,
        strand,
        of_part,
        score,
        query,
        target,
        kinds,
        significance,
        identity,
        masked,
        query_letters,
        target_letters,
        letters,
        name,
        title,
    ] = &fields[..]
    else {
        return None;
    };
    let strand = match strand {
        "+" => Strand::Forward,
        "-" => Strand::Reverse,
        _ => return None,
    };
    let (number, in_part) = in_part::parse(of_part.as_bytes())?;
    let [query_start, query_end] = parsed(query)?;
    let [target_start, target_end, target_len] = parsed(target)?;
    let columns = columns_of(query_letters, target_letters, letters)?;
    let significance = match significance {
        NONE => None,
        numbers => parsed(numbers).map(|[bits, evalue]| Some((bits, evalue)))?,
    };
    let score = score.parse().ok()?;
    let alignment = Alignment {
        strand,
        target: number,
        score,
        query_start,
        query_end,
        target_start,
        target_end,
        cigar: cigar_of(strand, &columns),
    };
    let is_within = query_start <= query_end
        && query_end as usize <= query_len
        && target_start <= target_end
        && target_end <= target_len;
    let shown = is_within.then(|| ShownHit {
        name: Cow::Owned(name.to_string()),
        title: Cow::Owned(title.to_string()),
        target_len: target_len as usize,
        strand,
        alphabet,
        score,
        query: alignment.letters_taken(to_u32(query_len)),
        target: (target_start, target_end),
        kinds: ColumnKinds::default(),
        significance,
        identity: Identity::default(),
        covered_by_target: 0.0,
        masked: None,
        columns,
    })?;
    let kinds = kinds_of(parsed(kinds)?, shown.columns.len())?;
    let [equal, of] = parsed(identity)?;
    let masked = match masked {
        NONE => None,
        number => Some(number.parse().ok()?),
    };
    let shown = ShownHit { kinds, identity: Identity { equal, of }, masked, ..shown };
    Some(PartHit { rank: rank.parse().ok()?, alignment, in_part, shown })
}

/// Parses comma-separated numbers.
fn parsed<T: FromStr, const N: usize>(text: &str) -> Option<[T; N]> {
    let numbers: Option<Vec<T>> = text.split(',').map(|number| number.parse().ok()).collect();
    numbers?.try_into().ok()
}

fn numbers_of(kinds: &ColumnKinds) -> [u32; 7] {
    let ColumnKinds { matches, mismatches, positives, gapped, gaps, gapped_at_ends, gaps_at_ends } = *kinds;
    [matches, mismatches, positives, gapped, gaps, gapped_at_ends, gaps_at_ends]
}

/// `None` if the numbers do not sum up to `columns`.
fn kinds_of(numbers: [u32; 7], columns: usize) -> Option<ColumnKinds> {
    let [matches, mismatches, positives, gapped, gaps, gapped_at_ends, gaps_at_ends] = numbers;
    let all = u64::from(matches) + u64::from(mismatches) + u64::from(gapped);
    let is_sound = all == columns as u64
        && positives <= matches + mismatches
        && gaps <= gapped
        && gapped_at_ends <= gapped
        && gaps_at_ends <= gaps;
    let kinds = ColumnKinds { matches, mismatches, positives, gapped, gaps, gapped_at_ends, gaps_at_ends };
    is_sound.then_some(kinds)
}

fn columns_of(query: &str, target: &str, kinds: &str) -> Option<Vec<ColumnShown>> {
    if query.len() != target.len() || query.len() != kinds.len() {
        return None;
    }
    let both = query.bytes().zip(target.bytes());
    let column = |((query, target), letter)| Some(ColumnShown { query, target, kind: kind_of(letter)? });
    both.zip(kinds.bytes()).map(column).collect()
}

/// The path of these columns, which are in the query's direction.
fn cigar_of(strand: Strand, columns: &[ColumnShown]) -> PathRuns {
    let mut cigar = PathRuns::new();
    let mut push = |column: &ColumnShown| {
        let op = match column.kind {
            ColumnKind::Equal | ColumnKind::Positive | ColumnKind::Unequal => PathOp::Match,
            ColumnKind::Insertion => PathOp::Insertion,
            ColumnKind::Deletion => PathOp::Deletion,
        };
        push_run(&mut cigar, 1, op);
    };
    match strand {
        Strand::Forward => columns.iter().for_each(&mut push),
        Strand::Reverse => columns.iter().rev().for_each(&mut push),
    }
    cigar
}

fn letter_of(kind: ColumnKind) -> u8 {
    match kind {
        ColumnKind::Equal => b'=',
        ColumnKind::Positive => b'+',
        ColumnKind::Unequal => b'X',
        ColumnKind::Insertion => b'I',
        ColumnKind::Deletion => b'D',
    }
}

fn kind_of(letter: u8) -> Option<ColumnKind> {
    use ColumnKind::{Deletion, Equal, Insertion, Positive, Unequal};
    [Equal, Positive, Unequal, Insertion, Deletion].into_iter().find(|kind| letter_of(*kind) == letter)
}

fn put(out: &mut Vec<u8>, value: impl Display) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{value}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn hit(strand: Strand, significance: Option<(f64, f64)>, title: &str) -> PartHit {
        let columns = columns_of("AC-GTT", "AGTG-A", "=XD=I+").unwrap();
        let alignment = Alignment {
            strand,
            target: 7,
            score: -3,
            query_start: 2,
            query_end: 7,
            target_start: 1,
            target_end: 6,
            cigar: cigar_of(strand, &columns),
        };
        let kinds = kinds_of([2, 2, 3, 2, 2, 1, 1], 6).unwrap();
        let shown = ShownHit {
            name: "r".to_string().into(),
            title: title.to_string().into(),
            target_len: 9,
            strand,
            alphabet: Alphabet::Protein,
            score: -3,
            query: alignment.letters_taken(11),
            target: (1, 6),
            kinds,
            significance,
            identity: Identity { equal: 1, of: 3 },
            covered_by_target: 0.0,
            masked: significance.map(|_| 2),
            columns,
        };
        PartHit { rank: -0.1 - 0.2, alignment, in_part: InPart::Hit { beside: Some(3) }, shown }
    }

    fn queries() -> Vec<PartQuery> {
        let forward = hit(Strand::Forward, Some((0.1 + 0.2, 1e-300)), "r of a\tname");
        let reverse = hit(Strand::Reverse, None, "");
        let query = |name: &str, is_first, hits| PartQuery {
            name: name.to_string(),
            is_first,
            len: 11,
            threshold: i32::MIN,
            hits,
        };
        vec![
            query("q", None, vec![forward.clone(), reverse]),
            query("", Some(true), Vec::new()),
            query("\u{e9}", Some(false), vec![forward]),
        ]
    }

    fn bytes(queries: &[PartQuery]) -> Vec<u8> {
        let mut out = Vec::new();
        for query in queries {
            push_query(&mut out, &query.told(), query.threshold);
            for PartHit { rank, alignment, in_part, shown } in &query.hits {
                push_hit(&mut out, (*rank, alignment.target as usize, *in_part), alignment, shown);
            }
        }
        out
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<PartQuery>> {
        let mut lists = PartLists::new(Alphabet::Protein, false, Cursor::new(bytes.to_vec()));
        let mut queries = Vec::new();
        while let Some(query) = lists.next_query()? {
            queries.push(query);
        }
        Ok(queries)
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&bytes(&queries())).unwrap(), queries());
        assert!(read(b"").unwrap().is_empty());
        let [one, other] =
            [Strand::Forward, Strand::Reverse].map(|strand| hit(strand, None, "").alignment.cigar);
        assert!(one.iter().eq(other.iter().rev()) && one.len() == 5);
    }

    /// A truncated file is an error or ends between lines, and no byte causes a panic.
    #[test]
    fn damage_is_refused_or_read() {
        let whole = bytes(&queries());
        let ends = |len: usize| len == 0 || whole[len - 1] == b'\n';
        assert!((0..whole.len()).all(|len| read(&whole[..len]).is_ok() == ends(len)));
        assert!(read(&whole[whole.iter().position(|&byte| byte == b'\n').unwrap() + 1..]).is_err());
        for at in 0..whole.len() {
            for value in [0, b'\t', b'\n', b'-', b',', b'9', 0xff] {
                let mut changed = whole.clone();
                changed[at] = value;
                if let Ok(queries) = read(&changed) {
                    bytes(&queries);
                }
            }
        }
        for (from, to) in
            [("2,7", "7,2"), ("2,7", "2,12"), ("1,6,9", "1,6,5"), ("2,2,3,2,2,1,1", "2,2,3,3,2,1,1")]
        {
            let text = String::from_utf8(whole.clone()).unwrap();
            assert!(text.contains(from) && read(text.replace(from, to).as_bytes()).is_err(), "{from} {to}");
        }
    }
}
