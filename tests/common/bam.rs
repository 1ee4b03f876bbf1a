//! The BGZF blocks of BAM files.

use std::io::Read;

/// The block at the end of a file (SAMv1 specification, 4.1.2).
pub const END: &[u8] = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";

/// The blocks of a BAM file: those of the header and those of the records, without the empty last block.
pub fn blocks(bam: &[u8]) -> (Vec<&[u8]>, Vec<&[u8]>) {
    let (mut rest, mut all) = (bam.strip_suffix(END).expect("the end of the file"), Vec::new());
    while !rest.is_empty() {
        let (block, after) = rest.split_at(usize::from(u16::from_le_bytes([rest[16], rest[17]])) + 1);
        all.push(block);
        rest = after;
    }
    let (mut header, mut of_header) = (Vec::new(), 0);
    while header_len(&header).is_none_or(|len| len > header.len()) {
        noodles_bgzf::io::Reader::new(all[of_header]).read_to_end(&mut header).unwrap();
        of_header += 1;
    }
    assert_eq!(header_len(&header), Some(header.len()), "the header has blocks of its own");
    let records = all.split_off(of_header);
    (all, records)
}

/// Length in bytes of the header that starts `bytes`, or `None` if there are too few bytes to tell.
fn header_len(bytes: &[u8]) -> Option<usize> {
    let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let mut at = 8 + number(4)?;
    let references = number(at)?;
    at += 4;
    for _ in 0..references {
        at += 8 + number(at)?;
    }
    Some(at)
}

/// The blocks of all records, concatenated.
pub fn records(bam: &[u8]) -> Vec<u8> {
    blocks(bam).1.concat()
}
