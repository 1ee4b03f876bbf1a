//! The parallel reader against needletail alone, where blocks and pieces are as small as records.

use super::checks::check_query_name;
use super::tests::stored;
use super::*;
use crate::alphabet::reverse_complement_codes;
use crate::batch::Sequences;
use std::io::Cursor;

/// What a reading gives: records, and how it ended.
type Outcome = (Vec<Record>, Option<String>);

/// A small generator (Knuth's MMIX), so that a seed tells all.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn text(&mut self, len: usize, letters: &[u8]) -> Vec<u8> {
        (0..len).map(|_| letters[self.below(letters.len())]).collect()
    }
}

/// Records one by one from one parser over all bytes: what the reader was before it had blocks.
fn plainly(content: &[u8]) -> Outcome {
    plainly_unpacked(content, content)
}

/// The same of packed bytes, whose text is `text`.
fn plainly_unpacked(content: &[u8], text: &[u8]) -> Outcome {
    let source = Source::new(Box::new(Cursor::new(content.to_vec()))).unwrap();
    let origin = Origin { path: "x".into(), packing: source.packing(), tail: source.tail() };
    let mut records = Vec::new();
    let mut parser = match needletail::parse_fastx_reader(source) {
        Ok(parser) => parser,
        Err(error) => return (records, Some(origin.fault(None, error).to_string())),
    };
    while let Some(parsed) = parser.next() {
        let number = records.len() as u64 + 1;
        let raw = parsed.map_err(|error| origin.fault_in(text, number, error));
        match raw.and_then(|raw| Ok(Record::new(&Raw::new(&raw, number, &origin.path, true)?))) {
            Ok(record) => records.push(record),
            Err(error) => return (records, Some(error.to_string())),
        }
    }
    (records, None)
}

fn opened(content: &[u8], sizes: Sizes, steady: bool) -> Result<Reader> {
    let reader = Reader::sized("x".into(), Box::new(Cursor::new(content.to_vec())), sizes)?;
    Ok(Reader { steady, ..reader })
}

fn in_blocks(content: &[u8], sizes: Sizes, steady: bool) -> Outcome {
    let mut records = Vec::new();
    let reader = match opened(content, sizes, steady) {
        Ok(reader) => reader,
        Err(error) => return (records, Some(error.to_string())),
    };
    for record in reader {
        match record {
            Ok(record) => records.push(record),
            Err(error) => return (records, Some(error.to_string())),
        }
    }
    (records, None)
}

fn fasta(random: &mut Random, records: usize) -> Vec<u8> {
    let newline = [&b"\n"[..], b"\r\n"][random.below(2)];
    let mut content = Vec::new();
    for number in 0..records {
        let comment = ["", " of > it", "\t>x", " @"][random.below(4)];
        content.extend(format!(">r{number}{comment}").bytes());
        for _ in 0..random.below(4) {
            content.extend(newline);
            let len = random.below(12);
            content.extend(random.text(len, b"ACGTacgtNUu"));
        }
        content.extend(newline);
    }
    content
}

fn fastq(random: &mut Random, records: usize) -> Vec<u8> {
    let newline = [&b"\n"[..], b"\r\n"][random.below(2)];
    let mut content = Vec::new();
    for number in 0..records {
        let len = random.below(9);
        let letters = random.text(len, b"ACGTacgtN");
        let again = ["", "again", "@", ">"][random.below(4)];
        let qualities = random.text(len, b"@+>I!~");
        for line in [format!("@r{number} x").as_bytes(), &letters, format!("+{again}").as_bytes(), &qualities]
        {
            content.extend(line);
            content.extend(newline);
        }
    }
    content
}

/// What may happen to a file.
fn changed(random: &mut Random, mut content: Vec<u8>) -> Vec<u8> {
    match random.below(8) {
        0 => content.truncate(content.len().saturating_sub(1)),
        1 => content.truncate(random.below(content.len() + 1).max(1)),
        2 => content.extend(random.text(5, b"\n\r")),
        3 => {
            let at = random.below(content.len());
            content.insert(at, b"\n@>+\xff \r"[random.below(7)]);
        }
        4 => {
            let at = random.below(content.len());
            content.remove(at);
        }
        5 => {
            let at = random.below(content.len());
            content[at] = b"\n@>+\xff \r"[random.below(7)];
        }
        _ => {}
    }
    content
}

fn cases(count: u64) -> impl Iterator<Item = (u64, Random, Vec<u8>)> {
    (0..count).map(|seed| {
        let mut random = Random(seed);
        let records = 1 + random.below(9);
        let content = if seed % 2 == 0 { fasta(&mut random, records) } else { fastq(&mut random, records) };
        let content = changed(&mut random, content);
        (seed, random, content)
    })
}

fn sizes(random: &mut Random) -> Sizes {
    Sizes { block: 1 + random.below(150), piece: 1 + random.below(60) }
}

#[test]
fn blocks_and_pieces_of_every_size_give_what_one_parser_gives() {
    for (seed, mut random, content) in cases(6000) {
        if content.is_empty() {
            continue;
        }
        let expected = plainly(&content);
        for steady in [false, true] {
            let sizes = sizes(&mut random);
            let text = content.escape_ascii().to_string();
            assert_eq!(in_blocks(&content, sizes, steady), expected, "seed {seed}, {sizes:?}, {text:?}");
        }
        let sizes = sizes(&mut random);
        let packed = stored(&content);
        assert_eq!(
            in_blocks(&packed, sizes, true),
            plainly_unpacked(&packed, &content),
            "seed {seed}, {sizes:?}, packed"
        );
    }
}

/// Block and piece sizes around the ends of records, one by one.
#[test]
fn seams_at_every_byte() {
    let mut random = Random(7);
    for content in [fasta(&mut random, 4), fastq(&mut random, 4)] {
        let expected = plainly(&content);
        assert_eq!((expected.0.len(), &expected.1), (4, &None));
        for block in 1..content.len() + 3 {
            for piece in 1..content.len() + 3 {
                let sizes = Sizes { block, piece };
                assert_eq!(in_blocks(&content, sizes, true), expected, "{sizes:?}");
            }
        }
    }
}

#[test]
fn peeking_at_every_size() {
    for (seed, mut random, content) in cases(500) {
        let (records, fault) = plainly(&content);
        let Ok(mut reader) = opened(&content, sizes(&mut random), true) else { continue };
        for record in &records {
            assert_eq!(reader.peek().unwrap(), Some(record), "seed {seed}");
            assert_eq!(reader.next().unwrap().unwrap(), *record, "seed {seed}");
        }
        match reader.peek() {
            Ok(None) => assert_eq!(fault, None, "seed {seed}"),
            Err(error) => assert_eq!(Some(error.to_string()), fault, "seed {seed}"),
            Ok(Some(record)) => panic!("seed {seed}: {record:?}"),
        }
        assert!(reader.next().is_none(), "seed {seed}");
    }
}

/// Queries as they were taken one by one, each check in its turn.
fn queries_plainly(content: &[u8], alphabet: Alphabet) -> Outcome {
    let (records, fault) = plainly(content);
    let mut suspect = alphabet == Alphabet::Protein;
    let mut taken = Vec::new();
    for mut record in records {
        let letters = &record.sequence;
        let mut problem = check_query_name(&record.name).err().map(|(problem, _)| problem);
        if problem.is_none() && suspect && letters.len() >= 20 {
            suspect = false;
            let dna = Alphabet::detect(letters) == Some(Alphabet::Dna);
            problem = dna.then(|| "DNA query against protein reference".to_string());
        }
        if let Err(at) = alphabet.encode(letters, &mut Vec::new()) {
            problem.get_or_insert(format!("at position {}", at + 1));
        }
        if let Some(problem) = problem {
            let place = format!("record {} '{}'|{problem}", record.number, record.name);
            return (taken, Some(place));
        }
        record.normalise(alphabet);
        taken.push(record);
    }
    (taken, fault)
}

#[test]
fn queries_are_checked_in_their_order() {
    for seed in 0..2000 {
        let mut random = Random(seed);
        let alphabet = [Alphabet::Dna, Alphabet::Protein][random.below(2)];
        let mut content = Vec::new();
        for number in 0..1 + random.below(8) {
            let name = if random.below(20) == 0 { "a@".to_string() } else { format!("r{number}") };
            let len = random.below(30);
            let letters = match (alphabet, random.below(3)) {
                (Alphabet::Protein, 0) => random.text(len, b"MKVLARND"),
                _ => random.text(len, b"ACGTU"),
            };
            let stray = if random.below(20) == 0 { "-" } else { "" };
            content.extend(format!(">{name}\n{}{stray}\n", letters.escape_ascii()).bytes());
        }
        let (expected, fault) = queries_plainly(&content, alphabet);
        let both = alphabet == Alphabet::Dna;
        let reader = opened(&content, sizes(&mut random), true).unwrap();
        let mut queries = Queries::new(reader, alphabet, false, both);
        let (mut records, mut codes) = (Vec::new(), Sequences::default());
        let ended = loop {
            match queries.at_hand().map(|at_hand| at_hand.len()) {
                Ok(0) => break None,
                Ok(count) => queries.take(1 + random.below(count), &mut records, &mut codes),
                Err(error) => break Some(error.to_string()),
            }
        };
        assert_eq!(records, expected, "seed {seed}");
        let mut oriented = Sequences::default();
        for record in &expected {
            let mut codes = Vec::new();
            alphabet.encode(&record.sequence, &mut codes).unwrap();
            oriented.push(codes.iter().copied());
            if both {
                oriented.push(reverse_complement_codes(&codes));
            }
        }
        assert!(codes.iter().eq(oriented.iter()), "seed {seed}");
        match (ended, fault) {
            (None, None) => {}
            (Some(error), Some(fault)) => {
                assert!(fault.split('|').all(|part| error.contains(part)), "seed {seed}: {error}; {fault}");
            }
            (ended, fault) => panic!("seed {seed}: {ended:?} instead of {fault:?}"),
        }
        assert!(queries.at_hand().unwrap().is_empty(), "seed {seed}");
    }
}

/// Names and letters of all references, or the record that is refused and why.
fn references_plainly(content: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let (records, fault) = plainly(content);
    let mut taken: Vec<(String, Vec<u8>)> = Vec::new();
    for record in records {
        let refuse = |problem: &str| Err(format!("record {} '{}'|{problem}", record.number, record.name));
        if record.sequence.is_empty() {
            return refuse("no letters");
        }
        if let Some(at) = taken.iter().position(|(name, _)| *name == record.name) {
            return refuse(&format!("record {} has the same name", at + 1));
        }
        let mut codes = Vec::new();
        if Alphabet::Dna.encode(&record.sequence, &mut codes).is_err() {
            return refuse("is not a letter");
        }
        taken.push((record.name, codes));
    }
    fault.map_or(Ok(taken), Err)
}

#[test]
fn references_are_checked_in_their_order() {
    for seed in 0..2000 {
        let mut random = Random(seed);
        let mut content = Vec::new();
        for number in 0..1 + random.below(8) {
            let name = if random.below(12) == 0 { 0 } else { number };
            let len = usize::from(random.below(20) > 0) * (1 + random.below(20));
            let letters = random.text(len, b"ACGTn");
            let stray = if random.below(20) == 0 { "-" } else { "" };
            content.extend(format!(">r{name} x\n{}{stray}\n", letters.escape_ascii()).bytes());
        }
        let mut reader = opened(&content, sizes(&mut random), true).unwrap();
        let given = [None, Some(Alphabet::Dna)][random.below(2)];
        let read = match read_references(&mut reader, given) {
            // A stray character or a lack of letters may hide that it is DNA.
            Ok(references) if references.alphabet == Alphabet::Protein => continue,
            Ok(references) => Ok(references),
            Err(error) => Err(error.to_string()),
        };
        match (read, references_plainly(&content)) {
            (Ok(read), Ok(expected)) => {
                let codes = read.sequences.iter().map(<[u8]>::to_vec);
                let read: Vec<_> = read.names.into_iter().zip(codes).collect();
                assert_eq!(read, expected, "seed {seed}");
            }
            (Err(error), Err(fault)) => {
                assert!(fault.split('|').all(|part| error.contains(part)), "seed {seed}: {error}; {fault}");
            }
            (read, expected) => panic!("seed {seed}: {read:?} instead of {expected:?}"),
        }
        assert!(reader.next().is_none(), "seed {seed}");
    }
}

/// A line at which many records' errors would be wrong if lines were not counted.
#[test]
fn an_error_far_into_the_file_has_its_line() {
    let sizes = Sizes { block: 700, piece: 100 };
    let mut content = ">r\r\nAC\n\nGT\n".repeat(1000).into_bytes();
    content.extend(b">\xff\nA\n");
    let (records, fault) = in_blocks(&content, sizes, true);
    assert_eq!(records.len(), 1000);
    let fault = fault.unwrap();
    assert!(fault.contains("record 1001") && fault.contains("line 4001"), "{fault}");
    let mut content = "@r\nAC\n+\n@@\n".repeat(1000).into_bytes();
    content.extend(b"@s\nAC\n-\nII\n");
    content.extend("@r\nAC\n+\n@@\n".repeat(1000).into_bytes());
    let (records, fault) = in_blocks(&content, sizes, true);
    assert_eq!(records.len(), 1000);
    let fault = fault.unwrap();
    assert!(fault.contains("record 1001 's', line 4003"), "{fault}");
}
