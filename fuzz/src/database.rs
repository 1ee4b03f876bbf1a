//! Databases: reading any bytes returns a database or an error, and the contents of a database are safe to use as
//! indices of tables. The bytes are read as they are, and as changes to a valid database (a position of three bytes,
//! and a value), whose checksums are then corrected.

use std::sync::OnceLock;
use swalign::align::candidates::{IndexShape, KmerIndex as Index};
use swalign::input::database::{Contents, SourceFile, WrittenIndex, write};
use swalign::input::reader::References;
use swalign::terms::alphabet::Alphabet;

/// From docs/database.md, in bytes: length of the fields before the path, of a table entry and of a block; position of
/// the header's length and of the path's length. Last, the number of sections.
const FIXED: usize = 92;
const ENTRY: usize = 16;
const BLOCK: usize = 1 << 20;
const HEADER_LEN: usize = 16;
const PATH_LEN: usize = 80;
const SECTIONS: usize = 8;

/// Runs the target on one input.
pub fn run(data: &[u8]) {
    check(data);
    for sound in sound() {
        let mut bytes = sound.clone();
        for change in data.chunks_exact(4) {
            let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize % bytes.len();
            bytes[at] = change[3];
        }
        // If `seal` fails, the checksums stay wrong, which is also a case to test.
        let _ = seal(&mut bytes);
        check(&bytes);
    }
}

fn check(bytes: &[u8]) {
    let Ok(contents) = Contents::read(bytes) else { return };
    if contents.prove_all().is_err() {
        return;
    }
    let (names, titles) = (contents.names().expect("proven"), contents.titles().expect("proven"));
    let (ends, codes) = (contents.letter_ends(), contents.codes());
    assert_eq!((names.len(), titles.len()), (ends.len(), ends.len()));
    assert_eq!(ends.last(), Some(&codes.len()));
    assert!(
        ends.is_sorted() && codes.iter().all(|&code| usize::from(code) < contents.alphabet().letters().len())
    );
}

/// Small valid databases with an index of k-mers, in one segment and in several.
fn sound() -> &'static [Vec<u8>; 2] {
    static SOUND: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    let database = |shape: IndexShape, segment: Option<usize>| {
        let references = References {
            names: ["a", "bc"].map(String::from).into(),
            titles: ["a title", "bc"].map(String::from).into(),
            lengths: vec![20, 7],
            sequences: [&[0, 1, 2, 3, 1, 1, 3, 0, 2, 14, 0, 0, 0, 1, 3, 2, 1, 0, 2, 2][..], &[3; 7]]
                .into_iter()
                .collect(),
            first: 0,
            alphabet: Alphabet::Dna,
            masks_lower_case: false,
            left_out: Vec::new(),
            bases: Vec::new(),
        };
        let index = Index::in_segments(&references.sequences, shape, segment);
        let source = SourceFile { path: "a.fa".to_string(), len: 40, time: (1, 2), sum: 3 };
        let mut bytes = Vec::new();
        let mut put = |more: &[u8]| {
            bytes.extend(more);
            Ok(())
        };
        write(&mut put, &references, None, Some(WrittenIndex::InMemory(&index)), Some(source))
            .expect("a vector takes all");
        bytes
    };
    SOUND.get_or_init(|| {
        let sampled = IndexShape { letters: 6, step: 2 };
        [database(IndexShape { letters: 6, step: 1 }, None), database(sampled, Some(8))]
    })
}

/// Corrects the checksums, as far as the header can be followed.
fn seal(bytes: &mut [u8]) -> Option<()> {
    let number = |bytes: &[u8], at: usize, len: usize| -> Option<usize> {
        let number = bytes
            .get(at..at.checked_add(len)?)?
            .iter()
            .rev()
            .fold(0u64, |all, &byte| all << 8 | u64::from(byte));
        usize::try_from(number).ok()
    };
    let table = FIXED.checked_add(number(bytes, PATH_LEN, 4)?)?;
    let mut at = table.checked_add(SECTIONS * ENTRY)?;
    for section in 0..SECTIONS {
        let entry = table + section * ENTRY;
        let (offset, len) = (number(bytes, entry, 8)?, number(bytes, entry + 8, 8)?);
        let own = bytes.get(offset..offset.checked_add(len)?)?;
        for sum in own.chunks(BLOCK).map(crc32fast::hash).collect::<Vec<u32>>() {
            bytes.get_mut(at..at + 4)?.copy_from_slice(&sum.to_le_bytes());
            at += 4;
        }
    }
    let end = number(bytes, HEADER_LEN, 8)?.checked_sub(4)?;
    let sum = crc32fast::hash(bytes.get(..end)?);
    bytes.get_mut(end..end.checked_add(4)?)?.copy_from_slice(&sum.to_le_bytes());
    Some(())
}
