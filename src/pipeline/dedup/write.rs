//! The sets as records, and the table of all records.

use super::sets::FoundSets;
use crate::input::reader::with_abundance;
use crate::output::writer::Output;
use crate::output::writer::distinct::{COLUMNS, MemberLine, put_record};
use crate::output::writer::packed::TextOutput;
use crate::terms::error::Result;
use crate::terms::options::{DedupOptions, ReadFormat};

/// Writes a record of each set that is large enough. Returns their number.
pub fn records(
    found: &FoundSets,
    options: &DedupOptions,
    format: ReadFormat,
    output: Output,
) -> Result<(Output, u64)> {
    let mut text = TextOutput::new(output, options.is_packed)?;
    let (mut letters, mut written) = (Vec::new(), 0);
    for &number in found.order.iter().take_while(|&&number| found.size(number) >= options.min_size) {
        found.put_letters(number, &mut letters);
        let qualities = (format == ReadFormat::Fastq).then(|| found.qualities(number));
        let put_name = |out: &mut Vec<u8>| match options.size_out {
            true => with_abundance(found.name(number), found.size(number), out),
            false => out.extend_from_slice(found.name(number)),
        };
        text.put(|out| put_record(out, put_name, &letters, qualities))?;
        written += 1;
    }
    Ok((text.end()?, written))
}

/// Writes a line for each record, also of sets that are too small to be written.
pub fn table(found: &FoundSets, options: &DedupOptions, output: Output) -> Result<Output> {
    let mut text = TextOutput::new(output, options.is_table_packed)?;
    text.put(|out| out.extend_from_slice(COLUMNS))?;
    for member in found.members() {
        let number = found.order[member.set];
        let line = MemberLine {
            set: member.set + 1,
            representative: found.name(number),
            name: member.name,
            is_reverse: member.is_reverse,
            size: member.abundance,
            set_size: found.size(number),
        };
        text.put(|out| line.put(out))?;
    }
    text.end()
}
