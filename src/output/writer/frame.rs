//! Checks the header and the end of an output, by the format's name in its receipt.

use super::{bgzf, list};
use crate::terms::casts::to_usize;
use crate::terms::error::Result;
use crate::terms::options::{Format, HitFormat, SearchFormat};
use noodles_bgzf::io::Reader;
use std::io::{self, BufRead, ErrorKind, Read};

/// Number of bytes after a header that show whether the header continues.
pub const AHEAD: u64 = 4;

/// The bytes that follow the last record.
pub fn end(format: &str) -> Result<Vec<u8>> {
    if is_in_blocks(format) { bgzf::end_of_file() } else { Ok(Vec::new()) }
}

/// Converts the header of an output with hits to that of an output without hits.
pub fn header_without_hits(format: &str, header: &[u8]) -> Result<Vec<u8>> {
    match HitFormat::named(format) {
        Some((HitFormat::Tab, false)) => Ok(list::header_without_hits(header)),
        Some((HitFormat::Tab, true)) => {
            let mut text = Vec::new();
            // A damaged header stays as it is.
            match Reader::new(header).read_to_end(&mut text) {
                Ok(_) => bgzf::pack(&list::header_without_hits(&text)),
                Err(_) => Ok(header.to_vec()),
            }
        }
        _ => Ok(header.to_vec()),
    }
}

fn is_in_blocks(format: &str) -> bool {
    let is_of_records = Format::named(format).is_some_and(|(format, packed)| packed || format == Format::Bam);
    is_of_records || HitFormat::named(format).is_some_and(|(_, packed)| packed)
}

/// Whether `header`, followed by `ahead`, is the whole header of an output.
pub fn is_header(format: &str, header: &[u8], ahead: &[u8]) -> bool {
    if let Some((text @ (Format::Sam | Format::Paf), true)) = Format::named(format) {
        // A header has blocks of its own, so the bytes in `ahead` belong to no line of it.
        let mut unpacked = Vec::new();
        let is_whole = Reader::new(header).read_to_end(&mut unpacked).is_ok();
        return is_whole && is_header(text.name(false), &unpacked, &[]);
    }
    if let Some((_, packed)) = HitFormat::named(format) {
        // Only comment lines, or nothing.
        return packed || header.split_inclusive(|&byte| byte == b'\n').all(|line| line.starts_with(b"#"));
    }
    let mut lines = header.split_inclusive(|&byte| byte == b'\n');
    let is_line = |line: &[u8]| line.ends_with(b"\n");
    match (Format::named(format), SearchFormat::named(format)) {
        (Some((Format::Sam, _)), _) | (_, Some(SearchFormat::Sam)) => {
            let goes_on = |line: &[u8]| matches!(line, [b'@', b'A'..=b'Z', b'A'..=b'Z', b'\t', ..]);
            header.starts_with(b"@HD\t")
                && lines.all(|line| goes_on(line) && is_line(line))
                && !goes_on(ahead)
        }
        (Some((Format::Bam, _)), _) => matches!(references(header), Ok(Some(_))),
        (Some((Format::Paf, _)), _) => header.is_empty(),
        (_, Some(SearchFormat::Tab | SearchFormat::Count)) => {
            lines.next().is_some_and(is_line) && lines.next().is_none()
        }
        _ => lines.all(is_line),
    }
}

/// Number of references in a BAM header, and the length of the longest. `None` if these blocks are anything but a
/// header with its text and all its references.
pub fn references(blocks: &[u8]) -> io::Result<Option<(usize, u64)>> {
    let mut bytes = Reader::new(blocks);
    let mut magic = [0; 4];
    bytes.read_exact(&mut magic)?;
    let text = number(&mut bytes)?;
    if magic != *b"BAM\x01" || !skip(&mut bytes, text)? {
        return Ok(None);
    }
    let (count, mut longest) = (number(&mut bytes)?, 0);
    for _ in 0..count {
        let name = number(&mut bytes)?;
        if !skip(&mut bytes, name)? {
            return Ok(None);
        }
        longest = longest.max(number(&mut bytes)?);
    }
    Ok(bytes.fill_buf()?.is_empty().then_some((to_usize(count), longest)))
}

/// The error for bytes that no run writes.
pub fn damaged() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "not what a run writes")
}

fn number(bytes: &mut impl Read) -> io::Result<u64> {
    let mut number = [0; 4];
    bytes.read_exact(&mut number)?;
    Ok(u64::from(u32::from_le_bytes(number)))
}

/// Skips this number of bytes; returns `false` if there are fewer.
fn skip(bytes: &mut impl Read, count: u64) -> io::Result<bool> {
    Ok(io::copy(&mut bytes.take(count), &mut io::sink())? == count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_text() {
        let sam = b"@HD\tVN:1.6\n@SQ\tSN:r\tLN:4\n";
        assert!(
            is_header("sam", sam, b"") && is_header("sam", sam, b"r1\t0") && is_header("sam", sam, b"@x\t0")
        );
        assert!(!is_header("sam", sam, b"@PG\t") && !is_header("sam", b"", b"@HD\t"));
        assert!((0..sam.len()).all(|len| len == 11 || !is_header("sam", &sam[..len], b"")));
        assert!(!is_header("sam", &sam[..11], &sam[11..15]));
        assert!(is_header("paf", b"", b"q\t10") && !is_header("paf", b"q\n", b""));
        assert!(is_header("tab", b"text\thits\n", b"") && is_header("bed", b"", b""));
        for other in [&b""[..], b"text", b"text\nt\n"] {
            assert!(!is_header("tab", other, b""), "{other:?}");
        }
    }

    #[test]
    fn headers_of_bam() {
        let text = b"@HD\tVN:1.6\n";
        let reference = [&5u32.to_le_bytes()[..], b"chr1\0", &100u32.to_le_bytes()].concat();
        let header = [b"BAM\x01", &11u32.to_le_bytes()[..], text, &1u32.to_le_bytes(), &reference].concat();
        let holds = |bytes: &[u8]| is_header("bam", &bgzf::pack(bytes).unwrap(), b"");
        assert!(holds(&header));
        for len in 0..header.len() {
            assert!(!holds(&header[..len]), "{len}");
        }
        assert!(!holds(&[&header[..], b"more"].concat()) && !is_header("bam", &header, b""));
        let packed = bgzf::pack(&header).unwrap();
        assert!((0..packed.len()).all(|len| !is_header("bam", &packed[..len], b"")));
        assert_eq!((end("bam").unwrap().len(), end("sam").unwrap().len()), (28, 0));
    }
}
