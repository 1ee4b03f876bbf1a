//! Reads lines of SAM and PAF, column by column.

use super::mates::{MateHit, MateTold, PathTold, is_copied, is_written};
use super::{QueryInPart, RecordHit, RecordKind, RecordTold, span};
use crate::output::writer::in_part;
use crate::output::writer::line::{REVERSE, SECONDARY, SUPPLEMENTARY, UNMAPPED};
use crate::output::writer::paf::{SUPPLEMENTARY_LINE, UNALIGNED};
use crate::output::writer::tags::{EditTags, push_number};
use crate::terms::alignment::Strand;
#[cfg(test)]
use crate::terms::alignment::Tier;
use memchr::memmem;

const SCORE: &[u8] = b"AS:i:";
const SECOND: &[u8] = b"XS:i:";
/// PAF's tag with the path.
const PATH: &[u8] = b"cg:Z:";
const IN_PART: &[u8] = b"YM:Z:";
const OF_QUERY: &[u8] = b"YQ:Z:";
const PRIMARY_LINE: &[u8] = b"tp:A:P";
const SECONDARY_LINE: &[u8] = b"tp:A:S";

/// A line format.
pub struct LineFormat {
    /// Column of the mapping quality.
    quality: usize,
    /// First column of the tags.
    tags: usize,
    /// Decodes the hit in the columns before the tags. The outer `None` is for columns that no run writes.
    read: fn(&[&[u8]]) -> Option<Option<HitInColumns>>,
    /// The column of the primary line that gives the query's length, and a function to read the length.
    letters: (usize, fn(&[u8]) -> usize),
    /// The content of a column in a secondary record, if it differs from that in a primary record.
    demoted: fn(usize, &[u8]) -> Option<Vec<u8>>,
    /// Whether the joined file has the score of the second hit.
    tells_second: bool,
}

/// The hit in the columns: its strand, whether it is secondary, and the longer span.
struct HitInColumns {
    strand: Strand,
    secondary: bool,
    span: u32,
}

pub const SAM: LineFormat = LineFormat {
    quality: 4,
    tags: 11,
    read: read_sam,
    letters: (9, letters_of_sam),
    demoted: demoted_sam,
    tells_second: true,
};
pub const PAF: LineFormat = LineFormat {
    quality: 11,
    tags: 12,
    read: read_paf,
    letters: (1, letters_of_paf),
    demoted: demoted_paf,
    tells_second: false,
};

/// The first column.
pub fn name(line: &[u8]) -> &[u8] {
    line.split(|&letter| letter == b'\t').next().unwrap_or_default()
}

/// Whether a line of SAM is another record of the same query as the line before it.
pub fn is_secondary_sam(line: &[u8]) -> bool {
    let flags = line.splitn(3, |&letter| letter == b'\t').nth(1);
    flags.and_then(number::<u16>).is_some_and(|flags| flags & (SECONDARY | SUPPLEMENTARY) != 0)
}

/// Whether a line of PAF is another record of the same query as the line before it.
pub fn is_secondary_paf(line: &[u8]) -> bool {
    memmem::find(line, b"\ttp:A:S").is_some() || memmem::find(line, SUPPLEMENTARY_LINE).is_some()
}

impl LineFormat {
    /// Decodes a line; `None` if no run of a part writes such a line.
    pub fn told(&self, line: &[u8]) -> Option<RecordTold> {
        let line = line.strip_suffix(b"\n")?;
        let columns: Vec<&[u8]> = line.split(|&letter| letter == b'\t').collect();
        let (fixed, tags) = columns.split_at_checked(self.tags).unwrap_or((&columns, &[]));
        let tag = |name| tags.iter().find_map(|tag| tag.strip_prefix(name));
        let of_query = match tag(OF_QUERY) {
            Some(text) => Some(QueryInPart::parse(text)?),
            None => None,
        };
        let Some(HitInColumns { strand, secondary, mut span }) = (self.read)(fixed)? else {
            return Some(RecordTold { aligned: None, of_query });
        };
        if let Some(path) = tag(PATH) {
            span = cigar_span(path)?;
        }
        let secondary = secondary || tags.contains(&SECONDARY_LINE);
        let (score, (target, _)) = (number(tag(SCORE)?)?, in_part::parse(tag(IN_PART)?)?);
        Some(RecordTold { aligned: Some(RecordHit { score, strand, secondary, target, span }), of_query })
    }

    /// Length of the query, as its primary line gives it.
    pub fn letters(&self, line: &[u8]) -> usize {
        let (column, count) = self.letters;
        line.split(|&letter| letter == b'\t').nth(column).map_or(0, count)
    }

    /// Appends the line in its new standing.
    pub fn push(&self, line: &[u8], out: &mut Vec<u8>, standing: RecordKind) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        for (at, column) in line.split(|&letter| letter == b'\t').enumerate() {
            if at >= self.tags && [SECOND, IN_PART, OF_QUERY].iter().any(|tag| column.starts_with(tag)) {
                continue;
            }
            if at > 0 {
                out.push(b'\t');
            }
            match standing {
                RecordKind::Primary { quality, .. } if at == self.quality => push_number(out, quality),
                RecordKind::Primary { second: Some(second), .. }
                    if self.tells_second && at >= self.tags && column.starts_with(SCORE) =>
                {
                    out.extend_from_slice(column);
                    out.push(b'\t');
                    out.extend_from_slice(SECOND);
                    push_number(out, second);
                }
                // PAF's tag of secondary records.
                RecordKind::Primary { .. } if at >= self.tags && column == SECONDARY_LINE => {
                    out.extend_from_slice(PRIMARY_LINE);
                }
                RecordKind::Primary { .. } | RecordKind::Unmapped => out.extend_from_slice(column),
                RecordKind::Secondary if at == self.quality => out.push(b'0'),
                RecordKind::Secondary => match (self.demoted)(at, column) {
                    Some(other) => out.extend_from_slice(&other),
                    None => out.extend_from_slice(column),
                },
            }
        }
        out.push(b'\n');
    }
}

/// QNAME, FLAG, RNAME, POS, MAPQ, CIGAR, ..., SEQ, QUAL.
fn read_sam(columns: &[&[u8]]) -> Option<Option<HitInColumns>> {
    let &[_, flags, _, _, _, cigar, _, _, _, _, _] = columns else { return None };
    let flags: u16 = number(flags)?;
    if flags & UNMAPPED != 0 {
        return Some(None);
    }
    let strand = if flags & REVERSE != 0 { Strand::Reverse } else { Strand::Forward };
    let span = cigar_span(cigar)?;
    Some(Some(HitInColumns { strand, secondary: flags & SECONDARY != 0, span }))
}

/// Length of SEQ, which is 0 for `*`.
fn letters_of_sam(sequence: &[u8]) -> usize {
    if sequence == b"*" { 0 } else { sequence.len() }
}

fn letters_of_paf(len: &[u8]) -> usize {
    number(len).unwrap_or(0)
}

fn demoted_sam(at: usize, column: &[u8]) -> Option<Vec<u8>> {
    match at {
        1 => number::<u16>(column).map(|flags| (flags | SECONDARY).to_string().into_bytes()),
        9 | 10 => Some(b"*".to_vec()),
        _ => None,
    }
}

/// Query with length, start and end, strand, target with length, start and end, matches, columns, quality. A tag marks
/// secondary records.
fn read_paf(columns: &[&[u8]]) -> Option<Option<HitInColumns>> {
    let &[_, _, start, end, strand, _, _, target_start, target_end, _, _, _] = columns else { return None };
    let strand = match strand {
        b"*" => return Some(None),
        b"+" => Strand::Forward,
        b"-" => Strand::Reverse,
        _ => return None,
    };
    let len = |start, end| number::<u32>(end)?.checked_sub(number(start)?);
    // The path in the tags shows which of the two spans counts.
    let span = len(start, end)?.max(len(target_start, target_end)?);
    Some(Some(HitInColumns { strand, secondary: false, span }))
}

fn demoted_paf(_: usize, column: &[u8]) -> Option<Vec<u8>> {
    (column == PRIMARY_LINE).then(|| SECONDARY_LINE.to_vec())
}

fn number<T: std::str::FromStr>(column: &[u8]) -> Option<T> {
    str::from_utf8(column).ok()?.parse().ok()
}

fn cigar_span(cigar: &[u8]) -> Option<u32> {
    span(operations(cigar)?)
}

/// The operations of a CIGAR.
fn operations(cigar: &[u8]) -> Option<Vec<(u32, u8)>> {
    let operations = cigar.split_inclusive(|letter| !letter.is_ascii_digit());
    operations.map(|one| one.split_last().and_then(|(&letter, len)| Some((number(len)?, letter)))).collect()
}

/// Decodes a line of SAM of a mate.
pub fn mate_sam(line: &[u8]) -> Option<MateTold> {
    let columns: Vec<&[u8]> = line.strip_suffix(b"\n")?.split(|&letter| letter == b'\t').collect();
    let (fixed, tags) = columns.split_at_checked(SAM.tags)?;
    let &[_, flags, target_name, position, _, cigar, _, _, _, letters, qualities] = fixed else {
        return None;
    };
    let flags: u16 = number(flags)?;
    let tag = |name: &[u8]| tags.iter().find_map(|tag| tag.strip_prefix(name));
    let strand = if flags & REVERSE != 0 { Strand::Reverse } else { Strand::Forward };
    let hit = match flags & UNMAPPED != 0 {
        true => None,
        false => {
            let (target, in_part) = in_part::parse(tag(IN_PART)?)?;
            let start = number::<u32>(position)?.checked_sub(1)?;
            let path = PathTold::new(&operations(cigar)?)?;
            let alignment = path.alignment(strand, (target, start), number(tag(SCORE)?)?)?;
            let target_name = str::from_utf8(target_name).ok()?.to_string();
            let cs = tag(b"cs:Z:").unwrap_or_default().to_vec();
            let differences = EditTags { edits: number(tag(b"NM:i:")?)?, md: tag(b"MD:Z:")?.to_vec(), cs };
            Some(MateHit { alignment, in_part, target_name, cigar: path.cigar, differences })
        }
    };
    let known = |column: &[u8]| if column == b"*" { Vec::new() } else { column.to_vec() };
    let base_qualities = match tag(b"ms:i:") {
        Some(sum) => Some(number(sum)?),
        None => None,
    };
    Some(MateTold {
        letters: known(letters),
        // The quality of a single base may be `*`.
        qualities: if letters.len() == 1 && letters != b"*" { qualities.to_vec() } else { known(qualities) },
        base_qualities,
        read_group: tag(b"RG:Z:").map(<[u8]>::to_vec),
        copied: copied(tags, is_copied),
        hit,
    })
}

/// Decodes a line of PAF of a mate. It has no residues, and none of the fields of SAM and BAM about the other mate.
pub fn mate_paf(line: &[u8]) -> Option<MateTold> {
    let columns: Vec<&[u8]> = line.strip_suffix(b"\n")?.split(|&letter| letter == b'\t').collect();
    let (fixed, tags) = columns.split_at_checked(PAF.tags)?;
    let &[_, len, start, end, strand, _, _, target_start, _, _, _, _] = fixed else { return None };
    let strand = match strand {
        b"*" => return Some(MateTold::default()),
        b"-" => Strand::Reverse,
        _ => Strand::Forward,
    };
    let tag = |name: &[u8]| tags.iter().find_map(|tag| tag.strip_prefix(name));
    let (target, in_part) = in_part::parse(tag(IN_PART)?)?;
    let clipped = match strand {
        Strand::Forward => number::<u32>(start)?,
        Strand::Reverse => number::<u32>(len)?.checked_sub(number(end)?)?,
    };
    let mut path = vec![(clipped, b'S')];
    path.extend(operations(tag(b"cg:Z:")?)?);
    let alignment =
        PathTold::new(&path)?.alignment(strand, (target, number(target_start)?), number(tag(SCORE)?)?)?;
    Some(MateTold { hit: Some(MateHit::of(alignment, in_part)), ..MateTold::default() })
}

/// Appends the line of an unaligned query, given any of its lines.
pub fn push_unaligned_paf(line: &[u8], out: &mut Vec<u8>) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let tags: Vec<&[u8]> = line.split(|&letter| letter == b'\t').skip(PAF.tags).collect();
    let mut columns = line.splitn(3, |&letter| letter == b'\t');
    let (name, len) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
    out.extend_from_slice(name);
    out.push(b'\t');
    out.extend_from_slice(len);
    out.extend_from_slice(UNALIGNED);
    out.extend(copied(&tags, |name| !is_written(name)));
    out.push(b'\n');
}

/// The tags whose names `is_copied` accepts, each preceded by a tab.
fn copied(tags: &[&[u8]], is_copied: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let of_query = tags.iter().filter(|tag| tag.get(..2).is_some_and(&is_copied));
    of_query.flat_map(|tag| [b"\t", *tag].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAM_LINE: &str =
        "AS:i:9\t16\tr\t5\t37\t2S3M1D2=1X\t*\t0\t0\tACGTACGT\t!!!!!!!!\tNM:i:1\tMD:Z:3^A3\tAS:i:30";

    fn pushed(lines: &LineFormat, line: &str, standing: RecordKind) -> String {
        let mut out = Vec::new();
        lines.push(format!("{line}\n").as_bytes(), &mut out, standing);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_of_sam() {
        let with = |second: &str| format!("{SAM_LINE}{second}\tRG:Z:g");
        for (second, score) in
            [("\tYM:Z:5,-\tYQ:Z:20,-", None), ("\tXS:i:24\tYM:Z:5,3\tYQ:Z:20,24", Some(24))]
        {
            let told = SAM.told(format!("{}\n", with(second)).as_bytes()).unwrap();
            let expected =
                RecordHit { score: 30, strand: Strand::Reverse, secondary: false, target: 5, span: 7 };
            assert_eq!(told.aligned, Some(expected));
            assert_eq!(told.of_query, Some(QueryInPart { threshold: 20, second: score, tier: Tier::Single }));
            let primary = RecordKind::Primary { second: Some(29), quality: 3 };
            let expected = with("\tXS:i:29").replace("\t37\t", "\t3\t") + "\n";
            assert_eq!(pushed(&SAM, &with(second), primary), expected);
            let secondary =
                "AS:i:9\t272\tr\t5\t0\t2S3M1D2=1X\t*\t0\t0\t*\t*\tNM:i:1\tMD:Z:3^A3\tAS:i:30\tRG:Z:g\n";
            assert_eq!(pushed(&SAM, &with(second), RecordKind::Secondary), secondary);
            assert_eq!(pushed(&SAM, secondary.trim_end(), RecordKind::Secondary), secondary);
        }
        let unmapped = "q\t4\t*\t0\t0\t*\t*\t0\t0\tAC\t*";
        let told = SAM.told(format!("{unmapped}\tYQ:Z:20,30\n").as_bytes()).unwrap();
        let of_query = Some(QueryInPart { threshold: 20, second: Some(30), tier: Tier::Single });
        assert_eq!(told, RecordTold { aligned: None, of_query });
        let line = pushed(&SAM, &format!("{unmapped}\tYQ:Z:20,30"), RecordKind::Unmapped);
        assert_eq!(line, format!("{unmapped}\n"));
        assert_eq!(SAM.told(format!("{unmapped}\tYQ:Z:20\n").as_bytes()), None);
    }

    #[test]
    fn lines_of_paf() {
        let line = "q\t9\t1\t8\t-\tr\t50\t10\t16\t6\t7\t60\tNM:i:1\tAS:i:30\ttp:A:P\tde:f:0.1\tcg:Z:3M1I3M";
        let part = format!("{line}\tYM:Z:5,-\tYQ:Z:20,24");
        let told = PAF.told(format!("{part}\n").as_bytes()).unwrap();
        let expected = RecordHit { score: 30, strand: Strand::Reverse, secondary: false, target: 5, span: 7 };
        assert_eq!(told.aligned, Some(expected));
        assert_eq!(told.of_query, Some(QueryInPart { threshold: 20, second: Some(24), tier: Tier::Single }));
        let primary = RecordKind::Primary { second: Some(29), quality: 3 };
        assert_eq!(pushed(&PAF, &part, primary), line.replace("\t60\t", "\t3\t") + "\n");
        let secondary = line.replace("\t60\t", "\t0\t").replace("tp:A:P", "tp:A:S") + "\n";
        assert_eq!(pushed(&PAF, &part, RecordKind::Secondary), secondary);
        let secondary = secondary.replace('\n', "\tYM:Z:5,-\n");
        let told = PAF.told(secondary.as_bytes()).unwrap();
        assert!(told.aligned.unwrap().secondary && told.of_query.is_none());
        let none = RecordTold { aligned: None, of_query: None };
        assert_eq!(PAF.told(b"q\t9\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n"), Some(none));
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        let line = format!("{SAM_LINE}\tYM:Z:5,-\n");
        // A line truncated inside a tag's number may look complete, except for the missing newline.
        for len in 0..line.len() {
            assert_eq!(SAM.told(&line.as_bytes()[..len]), None, "{len}");
        }
        for wrong in
            ["q\tx\tr\t5\t3\t3M\t*\t0\t0\tACG\t*\tAS:i:3\n", "q\t0\tr\t5\t3\t3N\t*\t0\t0\tACG\t*\tAS:i:3\n"]
        {
            let wrong = wrong.replace('\n', "\tYM:Z:5,-\n");
            assert_eq!(SAM.told(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
