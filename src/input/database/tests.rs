//! Databases are read back as they were written. Files that are no database, or a damaged one, are rejected or
//! harmless.

use super::*;
use crate::align::candidates::{IndexShape, filter};
use crate::input::database::SourceFile;
use crate::input::database::format::{BLOCK, SEGMENTED, SectionEntry, VERSION};
use crate::input::database::write::{WrittenIndex, write};
use crate::input::reader::References;
use crate::terms::batch::Sequences;
use crate::terms::random::Random;

fn source() -> Option<SourceFile> {
    Some(SourceFile { path: "ref.fa".to_string(), len: 1234, time: (-5, 7), sum: 99 })
}

/// References of these lengths with pseudo-random residues.
fn references(lengths: &[usize], alphabet: Alphabet) -> References {
    let mut state = 1u32;
    let mut code = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % alphabet.letters().len()
    };
    let mut sequences = Sequences::default();
    lengths.iter().for_each(|&len| sequences.push((0..len).map(|_| (code() % 5) as u8)));
    References {
        names: (0..lengths.len()).map(|number| format!("r{}", number * number)).collect(),
        titles: (0..lengths.len()).map(|number| format!("r{} é {number}", number * number)).collect(),
        lengths: lengths.iter().map(|&len| len as u32).collect(),
        sequences,
        first: 0,
        alphabet,
        masks_lower_case: alphabet == Alphabet::Protein,
        left_out: Vec::new(),
        bases: Vec::new(),
    }
}

fn bytes(references: &References, index: Option<&KmerIndex>, source: Option<SourceFile>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |more: &[u8]| {
        bytes.extend(more);
        Ok(())
    };
    write(&mut put, references, None, index.map(WrittenIndex::InMemory), source).unwrap();
    bytes
}

/// Everything that a run reads from a database; the error is that of a damaged one.
#[derive(Debug, PartialEq)]
struct All {
    alphabet: Alphabet,
    masks: bool,
    source: Option<SourceFile>,
    names: Vec<String>,
    titles: Vec<String>,
    ends: Vec<usize>,
    codes: Vec<u8>,
    index: Option<(IndexShape, Vec<[Vec<u32>; 2]>)>,
}

fn all(bytes: &[u8]) -> Result<All, FormatError> {
    let contents = Contents::read(bytes)?;
    contents.prove_all()?;
    let DatabaseHeader { alphabet, masks_lower_case, source, .. } = contents.header().clone();
    Ok(All {
        alphabet,
        masks: masks_lower_case,
        source,
        names: contents.names()?,
        titles: contents.titles()?,
        ends: contents.letter_ends().to_vec(),
        codes: contents.codes().to_vec(),
        index: contents.header().shape().zip(contents.segments()?).map(|(shape, segments)| {
            (shape, segments.iter().map(|segment| segment.tables().map(<[u32]>::to_vec)).collect())
        }),
    })
}

/// The index of references, if they have one: in one segment, or in several.
fn index(references: &References, segment: Option<usize>) -> Option<KmerIndex> {
    let letters = references.sequences.codes().len();
    let shape = match segment {
        None => IndexShape::suited(letters),
        Some(_) => IndexShape { letters: 6, step: 4 },
    };
    let is_possible = references.alphabet == Alphabet::Dna && filter::has_index(letters);
    is_possible.then(|| KmerIndex::in_segments(&references.sequences, shape, segment))
}

#[test]
fn what_is_written_is_read() {
    for lengths in [&[1][..], &[3, 1, 4, 1, 5], &[2047], &[2048], &[700; 5], &[BLOCK - 1, 1, 1, BLOCK + 7]] {
        for (alphabet, source, segment) in [
            (Alphabet::Dna, source(), None),
            (Alphabet::Dna, None, Some(1)),
            (Alphabet::Dna, source(), Some(2)),
            (Alphabet::Dna, None, Some(7)),
            (Alphabet::Protein, None, None),
        ] {
            let references = references(lengths, alphabet);
            let letters = lengths.iter().sum::<usize>();
            let index = index(&references, segment.map(|share| letters.div_ceil(share)));
            assert_eq!(index.is_some(), alphabet == Alphabet::Dna && letters >= 2048, "{lengths:?}");
            let written = bytes(&references, index.as_ref(), source.clone());
            assert_eq!(written, bytes(&references, index.as_ref(), source.clone()), "the same bytes again");
            let version = if index.is_some() && segment > Some(1) { SEGMENTED } else { VERSION };
            assert_eq!(written[12..16], version.to_le_bytes());
            let index = index.as_ref().map(|index| {
                let tables = index.tables().map(|tables| tables.map(<[u32]>::to_vec));
                (index.shape(), tables.collect())
            });
            let expected = All {
                alphabet,
                masks: references.masks_lower_case,
                source,
                ends: (1..=lengths.len()).map(|end| references.sequences.start(end)).collect(),
                codes: references.sequences.codes().to_vec(),
                index,
                names: references.names,
                titles: references.titles,
            };
            assert!(all(&written).unwrap() == expected, "{lengths:?}, {alphabet}");
            // Four-byte numbers that are not aligned.
            let shifted = [&[0], &written[..]].concat();
            assert!(all(&shifted[1..]).unwrap() == expected, "{lengths:?}, {alphabet}");
        }
    }
}

/// Small references, and an index in one segment, or in several.
fn small_index(asked: Option<usize>) -> (References, KmerIndex) {
    let references = references(&[40, 1, 30], Alphabet::Dna);
    let shape = IndexShape { letters: 6, step: if asked.is_some() { 3 } else { 1 } };
    let index = KmerIndex::in_segments(&references.sequences, shape, asked);
    (references, index)
}

fn small(asked: Option<usize>) -> Vec<u8> {
    let (references, index) = small_index(asked);
    bytes(&references, Some(&index), source())
}

#[test]
fn flipped_bits_are_noticed_or_harmless() {
    for sound in [small(None), small(Some(36))] {
        let expected = all(&sound).unwrap();
        let header = u64::from_le_bytes(sound[16..24].try_into().unwrap()) as usize;
        let mut noticed = 0;
        for at in 0..sound.len() {
            // All bits of the header, and some bits of the rest, which is longer.
            for bit in (0..8).filter(|bit| at < header || (at + bit).is_multiple_of(5)) {
                let mut flipped = sound.clone();
                flipped[at] ^= 1 << bit;
                match all(&flipped) {
                    Ok(read) => assert!(at >= header && read == expected, "bit {bit} of byte {at}"),
                    Err(fault) => noticed += usize::from(!fault.problem.is_empty()),
                }
            }
        }
        assert!(noticed > 8 * header);
    }
}

#[test]
fn files_that_are_cut_or_longer_are_refused() {
    for sound in [small(None), small(Some(36))] {
        for len in 0..sound.len() {
            let problem = all(&sound[..len]).unwrap_err().problem;
            assert!(problem.contains("truncated"), "{len}: {problem}");
        }
        let longer = [&sound[..], &[0]].concat();
        assert!(all(&longer).unwrap_err().problem.contains("1 extra bytes"));
    }
}

#[test]
fn other_versions_orders_and_files_are_told() {
    let told = |at: usize, with: &[u8]| {
        let mut bytes = small(None);
        bytes[at..at + with.len()].copy_from_slice(with);
        let FormatError { problem, remedy } = all(&bytes).unwrap_err();
        format!("{problem}; {remedy}")
    };
    let newer = told(12, &(SEGMENTED + 1).to_le_bytes());
    assert!(newer.contains("version 3") && newer.contains("rebuild it"), "{newer}");
    assert!(told(12, &SEGMENTED.to_le_bytes()).contains("the header is damaged"));
    assert!(told(8, &[1, 2, 3, 4]).contains("big-endian"));
    assert!(told(0, b">r1\nACGT").contains("not a database"));
    assert!(told(16, &[3, 0]).contains("length"));
}

/// The file with the header and some section changed, and all checksums correct.
fn forged(
    (references, index): &(References, KmerIndex),
    change_header: impl Fn(&mut DatabaseHeader),
    change: impl Fn(Section, &mut [u8]),
) -> Vec<u8> {
    let written = bytes(references, Some(index), None);
    let mut header = DatabaseHeader::read(&written).unwrap();
    change_header(&mut header);
    let mut forged = written.clone();
    for section in SECTIONS {
        let SectionEntry { offset, len, .. } = *header.entry(section);
        let own = &mut forged[offset as usize..(offset + len) as usize];
        change(section, own);
        header.entries[section as usize].sums = crate::input::database::blocks::sums(own);
    }
    let fields = header.to_bytes();
    forged[..fields.len()].copy_from_slice(&fields);
    forged
}

#[test]
fn what_contradicts_itself_is_refused_for_all_its_checksums() {
    let small = small_index(None);
    let forge = |of: Section, with: fn(&mut [u8])| {
        let change = |section, bytes: &mut [u8]| {
            if section == of {
                with(bytes)
            }
        };
        all(&forged(&small, |_| (), change))
    };
    assert!(forge(Section::Codes, |_| ()).is_ok());
    assert!(forge(Section::Codes, |codes| codes[70] = 14).is_ok(), "the last code");
    for (section, with) in [
        (Section::Codes, (|codes| codes[70] = 15) as fn(&mut [u8])),
        (Section::Codes, |codes| codes[0] = 255),
        (Section::Ends, |ends| ends[0] = 71),
        (Section::Ends, |ends| ends[0] = 41),
        (Section::Ends, |ends| ends[16] = 72),
        (Section::NameEnds, |ends| ends[7] = 1),
        (Section::NameEnds, |ends| ends[0] = 0),
        (Section::Names, |names| names[1] = b'\n'),
        (Section::Names, |names| names[0] = 0xff),
        (Section::Titles, |titles| titles[0] = b'\n'),
        (Section::KmerEnds, |ends| ends[3] = 1),
        (Section::KmerEnds, |ends| ends[4 * 4095] += 1),
        (Section::KmerPlaces, |places| places[0] = 71),
    ] {
        assert!(forge(section, with).is_err(), "{section:?}");
    }
}

/// The bases of a segment, the tables of each segment, and its positions.
#[test]
fn segments_that_contradict_themselves_are_refused_for_all_their_checksums() {
    let small = small_index(Some(36));
    let forge = |segment: u64, of: Section, with: &dyn Fn(&mut [u8])| {
        let change = |section, bytes: &mut [u8]| {
            if section == of {
                with(bytes)
            }
        };
        all(&forged(&small, |header| header.segment = segment, change))
    };
    let (_, segments) = forge(36, Section::Codes, &|_| ()).unwrap().index.unwrap();
    assert_eq!(segments.len(), 2);
    for segment in [0, 1, 2, 3, 35, 37, 39, 71, 72, 1 << 32, 3 << 40, u64::MAX - 3] {
        // A longer first segment may still contain all positions.
        let read = forge(segment, Section::Codes, &|_| ());
        assert_eq!(read.is_ok(), segment == 39, "{segment} bases: {read:?}");
    }
    let kmers = 4096;
    let firsts = segments[0][1].len();
    let last = 4 * (2 * kmers - 1);
    for (section, at, value) in [
        (Section::KmerEnds, last, 0),
        (Section::KmerEnds, last, 255),
        (Section::KmerEnds, 4 * (kmers - 1), 0),
        (Section::KmerEnds, 4 * (kmers - 1) + 3, 255),
        (Section::KmerEnds, 4 * kmers + 1, 1),
        (Section::KmerPlaces, 0, 36),
        (Section::KmerPlaces, 4 * firsts, 35),
        (Section::KmerPlaces, 4 * firsts + 3, 1),
    ] {
        let read = forge(36, section, &|bytes| bytes[at] = value);
        assert!(read.is_err(), "{value} at {at} of {section:?}");
    }
}

/// Arbitrary bytes with correct checksums: an error, or values by which engines can safely index tables.
#[test]
fn forged_files_are_refused_or_sound() {
    let mut numbers = Random::new(5);
    let mut random = |below: usize| numbers.below(below);
    for asked in [None, Some(24)] {
        let small = small_index(asked);
        let mut sound = 0;
        for _ in 0..2000 {
            let (of, place, value) = (SECTIONS[random(SECTIONS.len())], random(1 << 16), random(256) as u8);
            let change = |section, bytes: &mut [u8]| {
                if section == of {
                    bytes[place % bytes.len()] = value;
                }
            };
            let Ok(read) = all(&forged(&small, |_| (), change)) else { continue };
            sound += 1;
            assert!(read.ends.is_sorted() && read.ends.last() == Some(&read.codes.len()));
            assert!(read.codes.iter().all(|&code| code < 15));
            let (_, segments) = read.index.expect("it says that it has an index");
            for (number, [ends, places]) in segments.iter().enumerate() {
                let bases = asked.map_or(71, |bases| bases.min(71 - number * bases));
                assert!(ends.is_sorted() && ends.last() == Some(&(places.len() as u32)));
                assert!(places.iter().all(|&place| (place as usize) < bases));
            }
        }
        assert!((100..1900).contains(&sound), "{sound}");
    }
}
