//! Records of parts of the references, read back. The first byte sets the format, and whether the records are read as
//! BGZF blocks and whether the bytes are packed first.

use std::io::Cursor;
use swalign::output::writer::bgzf;
use swalign::output::writer::reread::{MateRecord, PartRecord, PartRecords, RecordKind, push_mates};
use swalign::terms::alignment::{Mated, QueryResult};
use swalign::terms::insert::{InsertSize, PairScoring};
use swalign::terms::options::Format;

/// Runs the target on one input.
pub fn run(data: &[u8]) {
    let Some((&kind, bytes)) = data.split_first() else { return };
    let format = [Format::Sam, Format::Paf, Format::Bam][usize::from(kind % 3)];
    let (in_blocks, bytes) = match kind / 3 % 3 {
        0 => (format == Format::Bam, bytes.to_vec()),
        1 => (true, bgzf::pack(bytes).expect("blocks")),
        _ => (false, bytes.to_vec()),
    };
    let mut records = PartRecords::new(format, in_blocks, Cursor::new(bytes));
    let mut out = Vec::new();
    while let Ok(query) = records.next_query() {
        if query.is_empty() {
            break;
        }
        for record in &query {
            record.name();
            record.query_name(true);
            record.letters();
            for second in [None, Some(1)] {
                record.push(&mut out, RecordKind::Primary { second, quality: 1 });
            }
            record.push(&mut out, RecordKind::Secondary);
        }
        out.clear();
        // Each query is treated as its own mate.
        let mates = query.into_iter().map(PartRecord::into_mate).collect::<Option<Vec<MateRecord>>>();
        if let Some(mates) = mates {
            let reported = |is_first| QueryResult {
                alignments: mates.iter().filter_map(|mate| Some(mate.hit()?.0.clone())).collect(),
                quality: Some(1),
                mated: Some(Mated { is_first, insert: Some(1) }),
                ..QueryResult::default()
            };
            let pairs = PairScoring { insert: InsertSize::ASSUMED, match_: 1 };
            push_mates(&pairs, [&mates, &mates], &[reported(true), reported(false)], &mut out);
            out.clear();
        }
    }
}
