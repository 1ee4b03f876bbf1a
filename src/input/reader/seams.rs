//! Compares the parallel reader with needletail alone, with blocks and pieces as small as records.

use super::checks::check_query_name;
use super::tests::stored;
use super::*;
use crate::terms::alignment::Strands;
use crate::terms::alphabet::reverse_complement_codes;
use crate::terms::batch::Sequences;
use crate::terms::random::Random;
use std::io::Cursor;

/// The result of reading: records, and how it ended.
type Outcome = (Vec<FileRecord>, Option<String>);

/// Records one by one from one parser over all bytes except empty lines at the ends: the reader as it was before it had
/// blocks.
fn plainly(content: &[u8]) -> Outcome {
    let mut source = FileText::new(Box::new(Cursor::new(content.to_vec())), Part::WHOLE).unwrap();
    let origin = Origin { path: "x".into(), tail: source.tail() };
    let (mut records, lead) = (Vec::new(), source.lead());
    if let Some(format) = lead.alignments {
        return (records, Some(faults::alignments(&origin.path, format).to_string()));
    }
    if lead.first.is_none() {
        return (records, None);
    }
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).unwrap();
    if lead.first == Some(b'@') {
        bytes.truncate(cut::without_empty_end(&bytes, true));
    }
    let mut parser = match needletail::parse_fastx_reader(&bytes[..]) {
        Ok(parser) => parser,
        Err(error) => return (records, Some(origin.fault(None, error).to_string())),
    };
    let before = Before { records: 0, lines: lead.lines };
    let (rules, remarks) = (ReadRules::default(), RefCell::default());
    let reading = parse::ParseOptions { file: &origin.path, rules, has_cr: true, remarks: &remarks };
    while let Some(parsed) = parser.next() {
        let number = records.len() as u64 + 1;
        let raw = parsed.map_err(|error| origin.fault_in(&bytes, number, error));
        match raw
            .and_then(|raw| Ok(FileRecord::new(&Raw::new(&raw, (number, raw.start_line_number()), reading)?)))
        {
            Ok(record) => records.push(record),
            Err(error) => return (records, Some(before.shift(error).to_string())),
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
            content.extend(random.letters(len, b"ACGTacgtNUu"));
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
        let letters = random.letters(len, b"ACGTacgtN");
        let again = ["", "again", "@", ">"][random.below(4)];
        let qualities = random.letters(len, b"@+>I!~");
        for line in [format!("@r{number} x").as_bytes(), &letters, format!("+{again}").as_bytes(), &qualities]
        {
            content.extend(line);
            content.extend(newline);
        }
    }
    content
}

/// Changes that may happen to a file.
fn changed(random: &mut Random, mut content: Vec<u8>) -> Vec<u8> {
    match random.below(11) {
        8 => {
            let len = random.below(9);
            content.splice(0..0, random.letters(len, b"\n\r "));
        }
        9 => content = content.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b'\r'),
        10 => {
            let dots = content.iter_mut().filter(|byte| **byte == b'A');
            dots.for_each(|byte| *byte = b'.');
        }
        0 => content.truncate(content.len().saturating_sub(1)),
        1 => content.truncate(random.below(content.len() + 1).max(1)),
        2 => {
            let len = random.below(40);
            content.extend(random.letters(len, b"\n\n\n\r "));
        }
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
        let mut random = Random::new(seed);
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
        assert_eq!(in_blocks(&packed, sizes, true), plainly(&packed), "seed {seed}, {sizes:?}, packed");
    }
}

/// Tests all block and piece sizes near the ends of records.
#[test]
fn seams_at_every_byte() {
    let mut random = Random::new(7);
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

/// Queries taken one by one, with all checks in order.
fn queries_plainly(content: &[u8], alphabet: Alphabet) -> Outcome {
    let (records, fault) = plainly(content);
    let mut suspect = alphabet == Alphabet::Protein;
    let mut taken = Vec::new();
    for mut record in records {
        let letters = &record.sequence;
        let mut problem = check_query_name(&record.name).err().map(|(problem, _)| problem);
        if problem.is_none()
            && suspect
            && let Some(own) = Alphabet::detect_certain(letters)
        {
            suspect = false;
            let dna = own == Alphabet::Dna;
            problem = dna.then(|| "the query is DNA, but the references are protein".to_string());
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
        let mut random = Random::new(seed);
        let alphabet = [Alphabet::Dna, Alphabet::Protein][random.below(2)];
        let mut content = Vec::new();
        for number in 0..1 + random.below(8) {
            let name = if random.below(20) == 0 { "a@".to_string() } else { format!("r{number}") };
            let len = random.below(30);
            let letters = match (alphabet, random.below(3)) {
                (Alphabet::Protein, 0) => random.letters(len, b"MKVLARND"),
                _ => random.letters(len, b"ACGTU"),
            };
            let stray = if random.below(20) == 0 { "-" } else { "" };
            content.extend(format!(">{name}\n{}{stray}\n", letters.escape_ascii()).bytes());
        }
        let (expected, fault) = queries_plainly(&content, alphabet);
        let strands = Strands::of(alphabet == Alphabet::Dna);
        let reader = opened(&content, sizes(&mut random), true).unwrap();
        let mut queries = QueryReader::new(reader, alphabet, false, strands);
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
            if strands == Strands::Both {
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

/// Names and residues of all references, or the record that is rejected and the reason.
fn references_plainly(content: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let (records, fault) = plainly(content);
    let mut taken: Vec<(String, Vec<u8>)> = Vec::new();
    let mut numbers = Vec::new();
    for record in records {
        let refuse = |problem: &str| Err(format!("record {} '{}'|{problem}", record.number, record.name));
        if record.sequence.is_empty() {
            continue;
        }
        if let Some(at) = taken.iter().position(|(name, _)| *name == record.name) {
            return refuse(&format!("record {} has the same name", numbers[at]));
        }
        let mut codes = Vec::new();
        if let Err(at) = Alphabet::Dna.encode(&record.sequence, &mut codes) {
            let first = content.iter().position(|&byte| byte == b'@');
            return match first.filter(|_| record.sequence[at] == b'@').map(|first| content[first - 1]) {
                Some(b'\n') => refuse("formats are mixed"),
                _ => refuse(&format!("at position {} is not in the", at + 1)),
            };
        }
        taken.push((record.name, codes));
        numbers.push(record.number);
    }
    fault.map_or(Ok(taken), Err)
}

#[track_caller]
fn check_references(content: &[u8], sizes: Sizes, given: Option<Alphabet>) {
    let shown = || format!("{sizes:?}, {:?}", content.escape_ascii().to_string());
    let mut reader = opened(content, sizes, true).unwrap();
    let read = match read_references(&mut reader, given) {
        // A stray character or a lack of residues may hide that it is DNA.
        Ok(references) if references.alphabet == Alphabet::Protein => return,
        Ok(references) => Ok(references),
        Err(error) => Err(error.to_string()),
    };
    match (read, references_plainly(content)) {
        (Ok(read), Ok(expected)) => {
            let codes: Vec<Vec<u8>> = read.sequences.iter().map(<[u8]>::to_vec).collect();
            let lengths: Vec<usize> = read.lengths.iter().map(|&len| len as usize).collect();
            assert_eq!(lengths, codes.iter().map(Vec::len).collect::<Vec<_>>(), "{}", shown());
            let read: Vec<_> = read.names.into_iter().zip(codes).collect();
            assert_eq!(read, expected, "{}", shown());
        }
        (Err(error), Err(fault)) => {
            let is_told = fault.split('|').all(|part| error.contains(part));
            assert!(is_told, "{}: {error}; {fault}", shown());
        }
        (read, expected) => panic!("{}: {read:?} instead of {expected:?}", shown()),
    }
    assert!(reader.next().is_none(), "{}", shown());
}

#[test]
fn references_are_checked_in_their_order() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let newline = ["\n", "\r\n"][random.below(2)];
        let mut content = Vec::new();
        for number in 0..1 + random.below(8) {
            let name = if random.below(12) == 0 { 0 } else { number };
            content.extend(format!(">r{name} x{newline}").bytes());
            for _ in 0..random.below(4) + usize::from(random.below(20) > 0) {
                let len = 1 + random.below(20);
                content.extend(random.letters(len, b"ACGTn"));
                content.extend(["-", "@", ">", " "].get(random.below(90)).unwrap_or(&"").bytes());
                content.extend(newline.repeat(1 + random.below(2)).bytes());
            }
        }
        let given = [None, Some(Alphabet::Dna)][random.below(2)];
        check_references(&content, sizes(&mut random), given);
    }
}

/// References longer than a piece come in parts, which are cut at any byte.
#[test]
fn references_in_parts_of_every_size() {
    let texts: [&[u8]; 6] = [
        b">a x\nACGTA\nCG\n\nTTGAC\n>b\nA\n>c\nGGGATTACAGGG",
        b">a x\r\nACGTA\r\nCG\r\n\r\nTTGAC\r\n>b\r\nA\r\n>c\r\nGGGATTACAGGG\r\n",
        b">a\nACGTACGTACGTAC>GTACGT\n>b\nA\n",
        b">a\nACGTACGTACGTACG@TACGT\n>b\nA\n",
        b">a\nACGT\nACGTACG\n@r\nAC\n+\nII\n",
        b">a\nA\n>b\nACGTA\n>a\nACGTACGTACGT\n",
    ];
    for content in texts {
        for block in 1..content.len() + 3 {
            for piece in 1..content.len() + 3 {
                check_references(content, Sizes { block, piece }, Some(Alphabet::Dna));
            }
        }
    }
}

/// For all sizes, a range of the references has the right sequences.
#[test]
fn stretches_of_references_in_parts_of_every_size() {
    let content = b">a x\nACGTA\nCG\n\nTTGAC\n>b\nA\n>c\nGGGATTACAGGG\n>d\nCC\n";
    let opened = |sizes| opened(content, sizes, true).unwrap();
    let all = read_references(&mut opened(Sizes::default()), Some(Alphabet::Dna)).unwrap();
    for (block, piece) in (1..content.len() + 3).flat_map(|block| [(block, 1), (block, 3), (block, 40)]) {
        let sizes = Sizes { block, piece };
        for start in 0..=4 {
            for end in start..=4 {
                let read = references::read_stretch(&mut opened(sizes), &all, start..end).unwrap();
                let expected = all.sequences.iter().take(end).skip(start);
                assert!(read.iter().eq(expected), "{sizes:?}, {start}..{end}");
            }
        }
    }
}

/// Errors inside a part of a reference have the record's name, and positions counted from its beginning.
#[test]
fn errors_in_parts_have_their_place() {
    let sound = ">r x\n".to_string() + &"ACGTACGTAC\n".repeat(100);
    for (end, parts) in [
        ("AC-T\n", &["record 1 'r', line 1", "'-' at position 1003"][..]),
        ("AC\rT\n", &["record 1 'r', line 102", "CR"]),
        ("AC\n@q\nAC\n", &["record 1 'r', line 103", "formats are mixed"]),
        (">s\nACGT\nAC-T\n", &["record 2 's', line 102", "'-' at position 7"]),
        (">s\u{9}\u{b}\nACGT\rT\n", &["record 2 's', line 103", "CR"]),
    ] {
        let content = [sound.as_bytes(), end.as_bytes()].concat();
        for piece in [1, 7, 50, 300, 5000] {
            for block in [1, 20, 700] {
                let mut reader = opened(&content, Sizes { block, piece }, true).unwrap();
                let error = read_references(&mut reader, Some(Alphabet::Dna)).unwrap_err().to_string();
                assert!(parts.iter().all(|part| error.contains(part)), "{piece}, {block}: {error}");
            }
        }
    }
}

/// Except for its codes, the memory for a long record does not grow with it.
#[test]
fn blocks_stay_short_in_long_references() {
    let content = [b">r\n", &b"ACGT".repeat(50_000)[..], b"\n>s\nACGT\n"].concat();
    let mut reader = opened(&content, Sizes { block: 1000, piece: 100 }, true).unwrap();
    reader.split_records();
    let (mut blocks, mut longest) = (0, 0);
    while let Some(block) = reader.blocks.next() {
        blocks += 1;
        longest = longest.max((0..block.len()).map(|piece| block.piece(piece).bytes.len()).sum());
    }
    assert!(blocks > 150 && longest <= 1000, "{blocks} blocks of up to {longest} bytes");
}

/// A record deep in the file whose line would be wrong if lines were not counted.
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
