//! FASTA and FASTQ: the parts of a file have the same records as the whole file. The first byte sets the compression
//! (none, gzip, bgzf, or gzip in two members) and the number of bytes cut off at the end.

use super::folder;
use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::Write;
use std::path::Path;
use swalign::input::reader::{Reader, Slice, TextName, TextRules, Texts, slices};
use swalign::output::writer::bgzf;
use swalign::terms::error::Result;
use swalign::terms::options::{ReadRules, Share};

/// Name, residues and qualities.
type Plain = (String, Vec<u8>, Option<Vec<u8>>);

/// Runs the target on one input.
pub fn run(data: &[u8]) {
    let Some((&kind, content)) = data.split_first() else { return };
    let mut bytes = match kind % 4 {
        0 => content.to_vec(),
        1 => gzip(content),
        2 => [bgzf::pack(content).expect("blocks"), bgzf::pack(content).expect("blocks")].concat(),
        _ => [gzip(content), gzip(content)].concat(),
    };
    bytes.truncate(bytes.len() - bytes.len().min(usize::from(kind >> 4)));
    let path = folder().join("in");
    fs::write(&path, bytes).expect("a file");
    let whole = records(&path, None);
    let texts = texts(&path, None);
    for of in [1, 2, 3, 7] {
        let shares = || (1..=of).map(|number| Share { number, of });
        let joined: Result<Vec<Vec<Plain>>> = shares().map(|share| records(&path, Some(share))).collect();
        if let Ok(whole) = &whole {
            assert_eq!(&joined.expect("all parts are sound").concat(), whole, "{of} parts");
        }
        let joined: Result<Vec<Vec<Plain>>> = shares().map(|share| self::texts(&path, Some(share))).collect();
        if let Ok(texts) = &texts {
            assert_eq!(&joined.expect("all parts are sound").concat(), texts, "{of} parts of texts");
        }
    }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

fn records(path: &Path, share: Option<Share>) -> Result<Vec<Plain>> {
    let record = |record: Result<swalign::input::reader::FileRecord>| {
        record.map(|record| (record.name, record.sequence, record.qualities))
    };
    Reader::open_part(path, slice(path, share)?, ReadRules::default())?.map(record).collect()
}

fn texts(path: &Path, share: Option<Share>) -> Result<Vec<Plain>> {
    let rules = TextRules { name: TextName::Full, ..TextRules::default() };
    let texts = Texts::open(path, slice(path, share)?, rules)?;
    texts.map(|text| text.map(|text| (text.name, text.letters, None))).collect()
}

/// The part of the file; `None` for the whole file.
fn slice(path: &Path, share: Option<Share>) -> Result<Option<Slice>> {
    let all = share.map(|share| slices(&[path.to_path_buf()], share)).transpose()?;
    Ok(all.and_then(|all| all.first().map(|own| own.0)))
}
