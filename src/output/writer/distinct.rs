//! Writes distinct sequences as FASTA or FASTQ, and the table of records and their sets.

/// The first line of the table.
pub const COLUMNS: &[u8] = b"#set\trepresentative\tname\tstrand\tsize\tset_size\n";

/// A record of a set.
#[derive(Clone, Copy, Debug)]
pub struct MemberLine<'a> {
    /// 1-based.
    pub set: usize,
    pub representative: &'a [u8],
    pub name: &'a [u8],
    /// Whether it is the reverse complement of the representative.
    pub is_reverse: bool,
    /// Number of reads that it stands for.
    pub size: u64,
    pub set_size: u64,
}

/// Appends a FASTA record, or with qualities a FASTQ record. `put_name` appends the name.
pub fn put_record(
    out: &mut Vec<u8>,
    put_name: impl FnOnce(&mut Vec<u8>),
    letters: &[u8],
    qualities: Option<&[u8]>,
) {
    out.push(if qualities.is_some() { b'@' } else { b'>' });
    put_name(out);
    out.push(b'\n');
    out.extend_from_slice(letters);
    if let Some(qualities) = qualities {
        out.extend_from_slice(b"\n+\n");
        out.extend_from_slice(qualities);
    }
    out.push(b'\n');
}

impl MemberLine<'_> {
    pub fn put(&self, out: &mut Vec<u8>) {
        let strand: &[u8] = if self.is_reverse { b"-" } else { b"+" };
        let numbers =
            [self.set as u64, self.size, self.set_size].map(|number| number.to_string().into_bytes());
        let [set, size, set_size] = numbers.each_ref().map(Vec::as_slice);
        for (at, field) in [set, self.representative, self.name, strand, size, set_size].iter().enumerate() {
            if at > 0 {
                out.push(b'\t');
            }
            out.extend_from_slice(field);
        }
        out.push(b'\n');
    }
}
