//! Inputs as they occur in practice: valid, unusual, truncated and wrong.

use super::checks::{
    MAX_REFERENCE, MAX_REFERENCES, check_query_name, check_reference, check_reference_count,
};
use super::source::BGZF_END;
use super::*;
use crate::terms::alignment::Strands;
use crate::terms::batch::Sequences;
use crate::terms::random::Random;
use std::io::Write;
use tempfile::NamedTempFile;

/// `>r1 first`, two lines of residues, `>r2`, one line; compressed by Python's gzip.
const PACKED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3+2TH\xcb,*.\xe1rtv\x0f\x01\xe1\x90\x10wGgG.ww\xc7\x10gg.\xbb\"#\xae\x10\x90\x18\x108\x03\x81#\x10\xc0\xf8\\\x00\xd0\x98\xf7\xfb=\x00\x00\x00";

const ANY_NAMES: ReadRules = ReadRules {
    any_names: true,
    masks_lower_case: false,
    keeps_titles: false,
    removes_gaps: false,
    keeps_tags: false,
    keeps_fields: false,
    translation: None,
    sample: None,
    has_read_group: false,
};

fn file(content: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    file
}

fn records(content: &[u8]) -> Result<Vec<FileRecord>> {
    Reader::open(file(content).path())?.collect()
}

fn letters(content: &[u8]) -> Vec<(String, String)> {
    let text = |record: FileRecord| (record.name, String::from_utf8(record.sequence).unwrap());
    records(content).unwrap().into_iter().map(text).collect()
}

fn references(content: &[u8]) -> Result<References> {
    read_references(&mut Reader::open(file(content).path())?, None)
}

fn queries(content: &[u8], alphabet: Alphabet, given: bool) -> Result<Vec<FileRecord>> {
    let mut queries = QueryReader::new(Reader::open(file(content).path())?, alphabet, given, Strands::Plus);
    let mut records = Vec::new();
    while let count @ 1.. = queries.at_hand()?.len() {
        queries.take(count, &mut records, &mut Sequences::default());
    }
    Ok(records)
}

/// Checks for an input error with a remedy and with all of `parts` in its text.
#[track_caller]
fn refused<T>(outcome: Result<T>, parts: &[&str]) {
    let Err(error) = outcome else { panic!("accepted, without {parts:?}") };
    assert!(matches!(&error, Error::Input { remedy, .. } if !remedy.is_empty()), "{error:?}");
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
}

/// A gzip file with stored blocks, the simplest form of RFC 1951 and 1952.
pub fn stored(content: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    for block in content.chunks(0xffff) {
        let len = block.len() as u16;
        packed.push(0);
        packed.extend(len.to_le_bytes());
        packed.extend((!len).to_le_bytes());
        packed.extend(block);
    }
    packed.extend([1, 0, 0, 0xff, 0xff]);
    packed.extend(crc32(content).to_le_bytes());
    packed.extend((content.len() as u32).to_le_bytes());
    packed
}

fn crc32(content: &[u8]) -> u32 {
    !content.iter().fold(!0, |crc: u32, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[test]
fn fasta_of_many_lines_in_both_line_ends_and_cases() {
    let expected = [("r1", "ACGTNN"), ("r2", "GG")].map(|(n, s)| (n.to_string(), s.to_string()));
    assert_eq!(letters(b">r1 x\nacG\n\nTNn\n>r2\tx\nGG"), expected);
    assert_eq!(letters(b">r1 x\r\nacG\r\nTNn\r\n>r2\tx\r\nGG\r\n"), expected);
}

#[test]
fn fastq_with_its_qualities_and_places() {
    for content in [&b"@a x\nAC\n+\n!~\n@b\nG\n+b\n@\n"[..], b"@a x\r\nAC\r\n+\r\n!~\r\n@b\r\nG\r\n+b\r\n@"] {
        let records = records(content).unwrap();
        assert_eq!(records[0].qualities.as_deref(), Some(&b"!~"[..]));
        let b = FileRecord {
            number: 2,
            name: "b".to_string(),
            sequence: b"G".to_vec(),
            qualities: Some(b"@".to_vec()),
            tags: Vec::new(),
        };
        assert_eq!(records[1], b);
    }
}

#[test]
fn records_without_letters_stay() {
    let empty = |name: &str| (name.to_string(), String::new());
    for content in [&b">a\n>b\n>c\n"[..], b">a\n\n>b\n>c\n\n", b"@a\n\n+\n\n@b\n\n+\n\n@c\n\n+\n"] {
        assert_eq!(letters(content), ["a", "b", "c"].map(empty));
        assert_eq!(letters(&stored(content)), ["a", "b", "c"].map(empty));
    }
    assert_eq!(queries(b">a\n", Alphabet::Dna, false).unwrap().len(), 1);
}

#[test]
fn a_reader_can_go_to_another_thread() {
    fn sent<T: Send>() {}
    sent::<Reader>();
    sent::<QueryReader>();
}

#[test]
fn peeking_takes_nothing() {
    let mut reader = Reader::open(file(b">a\nA\n>b\nC\n").path()).unwrap();
    assert_eq!(reader.peek().unwrap().unwrap().name, "a");
    assert_eq!(reader.peek().unwrap().unwrap().name, "a");
    assert_eq!(reader.next().unwrap().unwrap().name, "a");
    assert_eq!(reader.peek().unwrap().unwrap().name, "b");
    assert_eq!(reader.by_ref().count(), 1);
    assert!(reader.peek().unwrap().is_none());
}

#[test]
fn records_that_cross_the_buffers() {
    for len in [65_520, 65_530, 65_531, 65_532, 65_533, 65_534, 65_535, 65_536, 65_537, 300_000] {
        let long = "ACGT".repeat(len / 4 + 1)[..len].to_string();
        let fastq = format!("@a\n{long}\n+\n{}\n@b\nCC\n+\nII\n", "I".repeat(len));
        for content in [format!(">a\n{long}\n>b\nCC\n"), fastq] {
            let expected = [("a".to_string(), long.clone()), ("b".to_string(), "CC".to_string())];
            assert_eq!(letters(content.as_bytes()), expected, "{len}");
            assert_eq!(letters(&stored(content.as_bytes())), expected, "{len}");
        }
    }
}

#[test]
fn no_input_of_any_kind_panics_or_goes_on_after_an_error() {
    let mut numbers = Random::new(1);
    let mut random = |bound: usize| numbers.below(bound);
    for case in 0..3000 {
        let mut content = vec![b">@"[case % 2]];
        content.extend((0..random(40)).map(|_| b"@>+\n\n\r \tACGTI!\x00\xff"[random(16)]));
        let bytes = [content.clone(), stored(&content)];
        for bytes in bytes {
            let Ok(mut reader) = Reader::new("x".into(), Box::new(io::Cursor::new(bytes))) else {
                continue;
            };
            while let Some(record) = reader.next() {
                let failed = record.is_err();
                assert!(!failed || reader.next().is_none(), "{:?}", content.escape_ascii().to_string());
            }
        }
    }
}

#[test]
fn gzip_of_one_and_of_several_members() {
    let one = letters(PACKED);
    assert_eq!(one[0], ("r1".to_string(), "ACGTACGTTTGACAGGATCC".to_string()));
    assert_eq!(letters(&[PACKED, PACKED].concat()), [one.clone(), one].concat());
    let split = [stored(b">r1\nAC"), stored(b""), stored(b"GT\n>r2\n"), stored(b"A")].concat();
    assert_eq!(letters(&split), letters(b">r1\nACGT\n>r2\nA"));
}

#[test]
fn gzip_cut_anywhere_is_refused() {
    for cut in 2..PACKED.len() {
        refused(records(&PACKED[..cut]), &["gzip"]);
        // Cut at 0, the second member is missing, which no reader can detect.
        let second = [PACKED, &PACKED[..cut - 1]].concat();
        refused(records(&second), &["gzip"]);
    }
    // Garbage after the last member is not part of its data.
    assert_eq!(records(&[PACKED, b"garbage"].concat()).unwrap().len(), records(PACKED).unwrap().len());
    let mut flipped = PACKED.to_vec();
    flipped[30] ^= 4;
    refused(records(&flipped), &["gzip"]);
}

#[test]
fn bgzf_without_its_end_gives_a_warning() {
    // A bgzf block is a gzip member with an extra field. Here that field holds a wrong block size.
    let mut block = stored(b">a\nACGT\n");
    block[3] = 4;
    block.splice(10..10, *b"\x06\0BC\x02\0\0\0");
    for (content, warned) in [(block.clone(), true), ([&block[..], &BGZF_END].concat(), false)] {
        let mut reader = Reader::open(file(&content).path()).unwrap();
        assert_eq!(reader.by_ref().map(|record| record.unwrap().sequence).collect::<Vec<_>>(), [b"ACGT"]);
        assert_eq!(!reader.warnings().is_empty(), warned);
    }
}

#[test]
fn an_input_without_records_is_a_warning() {
    for content in [
        b"".to_vec(),
        b"\n".to_vec(),
        b" \r\n\t\n".to_vec(),
        stored(b""),
        stored(b"\n\n"),
        b"\xef\xbb\xbf".to_vec(),
    ] {
        let content = file(&content);
        let mut reader = Reader::open(content.path()).unwrap();
        assert!(reader.peek().unwrap().is_none() && reader.next().is_none());
        let [warning] = &reader.warnings()[..] else { panic!("{:?}", reader.warnings()) };
        assert!(warning.contains("no records"), "{warning}");
        let references = read_references(&mut Reader::open(content.path()).unwrap(), None).unwrap();
        assert_eq!((references.names.len(), references.alphabet), (0, Alphabet::Dna));
    }
    assert!(queries(b"", Alphabet::Dna, false).unwrap().is_empty());
}

#[test]
fn empty_lines_around_the_records_are_passed() {
    let fastq = b"@a\nAC\n+\nII\n@b\nG\n+\n@\n";
    let fasta = b">a\nAC\n>b\nG\n";
    let expected = [("a", "AC"), ("b", "G")].map(|(n, s)| (n.to_string(), s.to_string()));
    for content in [&fastq[..], fasta] {
        for blank in ["", "\n", "\n\n", "\r\n\r\n", " \n", "\t \n \n\n\n\n\n\n\n", "\n  "] {
            let behind = [content, blank.as_bytes()].concat();
            assert_eq!(letters(&behind), expected, "behind {blank:?}");
            assert_eq!(letters(&stored(&behind)), expected, "behind {blank:?}");
            let before = [blank.as_bytes(), content].concat();
            assert_eq!(letters(&before), expected, "before {blank:?}");
            assert_eq!(letters(&stored(&before)), expected, "before {blank:?}");
        }
    }
    // Line numbers are those of the file.
    refused(records(b"\n \n@a\nA\n-\nI\n"), &["record 1 'a', line 5"]);
    refused(records(b"\n\n>a\nA\n>\xff\nA\n"), &["record 2", "line 5"]);
    // Between records, empty lines are an error.
    refused(records(b"@a\nA\n+\nI\n\n@b\nA\n+\nI\n"), &["record 2, line 5", "empty lines"]);
    // A large number of empty lines, over several blocks.
    let many = [&fastq[..], &b"\n".repeat(3 << 20)].concat();
    assert_eq!(letters(&many), expected);
}

#[test]
fn lines_that_end_in_cr_alone() {
    let expected = [("a", "ACGT"), ("b", "GG")].map(|(n, s)| (n.to_string(), s.to_string()));
    for content in [
        &b">a x\rAC\rGT\r>b\rGG\r"[..],
        b">a\rACGT\r>b\rGG",
        b"@a\rACGT\r+\rIIII\r@b\rGG\r+\rII\r",
        b"\r\r>a\rACGT\r>b\rGG",
    ] {
        assert_eq!(letters(content), expected);
        assert_eq!(letters(&stored(content)), expected);
    }
    refused(records(b"\r@a\rA\r-\rI\r"), &["record 1 'a', line 4"]);
    // A CR in one of many lines is damage.
    refused(records(b">a\rACGT\n>b\nGG\n"), &["record 1", "line 1", "CR"]);
}

#[test]
fn white_space_in_fasta_and_a_space_before_names() {
    assert_eq!(
        letters(b"> a b\nAC GT\n\tAC  \n>\tb\nG\tG\n"),
        [("a", "ACGTAC"), ("b", "GG")].map(|(n, s)| (n.to_string(), s.to_string()))
    );
    assert_eq!(references(b"> a b\nACGT ACGT\n").unwrap().names, ["a"]);
    assert_eq!(references(b">a\nACGT ACGT \n").unwrap().alphabet, Alphabet::Dna);
    refused(records(b"@a\nA C\n+\nI I\n"), &["line 4", "position 2"]);
}

#[test]
fn gaps_are_told_as_gaps_and_left_out_on_demand() {
    refused(references(b">r\nACGTTGCATTAGG-CATCC\n"), &["DNA", "'-' at position 14", "gap characters"]);
    refused(references(b">r\n....MKVLAAGITRESPQW\n"), &["protein", "'.' at position 1", "gap characters"]);
    refused(queries(b"@q\nAC-T\n+\nIIII\n", Alphabet::Dna, false), &["'-'", "qualities"]);
    let rules = ReadRules { removes_gaps: true, ..ReadRules::default() };
    let aligned = file(b">a\n--AC.GT\n--\n>b\n----\n>c\nG G-\n");
    let reader = || Reader::open(aligned.path()).unwrap().with_rules(rules);
    let read: Vec<_> = reader().map(|record| record.unwrap().sequence).collect();
    assert_eq!(read, [&b"ACGT"[..], b"", b"GG"]);
    let read = read_references(&mut reader(), None).unwrap();
    assert_eq!((read.lengths, read.left_out), (vec![4, 2], vec![1]));
}

#[test]
fn dots_of_fastq_are_n() {
    let content = file(b"@a\nAC\n+\nII\n@b\n.C.\n+\n!I!\n@c\n.\n+\n.\n");
    let mut reader = Reader::open(content.path()).unwrap();
    let read: Vec<_> = reader.by_ref().map(|record| record.unwrap().sequence).collect();
    assert_eq!(read, [&b"AC"[..], b"NCN", b"N"]);
    let [warning] = &reader.warnings()[..] else { panic!("{:?}", reader.warnings()) };
    for part in ["record 2 'b', line 5", "'.'", "N", "first of 2"] {
        assert!(warning.contains(part), "{warning}");
    }
    refused(queries(b">a\nA.C\n", Alphabet::Dna, false), &["'.'"]);
}

#[test]
fn alignments_are_told_with_what_to_do() {
    let bam = stored(b"BAM\x01\0\0\0\0\0\0\0\0");
    let sam = b"q\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n";
    assert_eq!(letters(&bam).len(), 0);
    refused(references(&bam), &["BAM", "samtools fasta"]);
    refused(records(&stored(b"BAM\x01\x09\0\0\0@HD")), &["truncated", "samtools quickcheck"]);
    for (content, name) in
        [(&b"CRAM\x03\0aaaa"[..], "CRAM"), (b"@HD\tVN:1.6\n@SQ\tSN:x\tLN:9\n", "SAM"), (sam, "SAM")]
    {
        refused(records(content), &[name, "samtools"]);
        refused(references(content), &[name, "samtools"]);
    }
    assert_eq!(letters(b"@HD x\nA\n+\nI\n").len(), 1);
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused(Reader::open(&folder.path().join("none.fa")), &["none.fa", "path"]);
    refused(Reader::open(folder.path()), &["directory"]);
}

#[test]
fn a_failing_disk_is_no_format_error() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk on fire"))
        }
    }
    for start in [b">a\nACGTACGTACGTACGTACGT\n", &PACKED[..25]] {
        let input = io::Cursor::new(start).chain(Failing);
        let outcome = Reader::new("x.fa".into(), Box::new(input)).map(Iterator::collect);
        let error = outcome.and_then(|records: Result<Vec<_>>| records).unwrap_err();
        assert_eq!(error.to_string(), "x.fa: disk on fire");
    }
}

#[test]
fn other_formats_are_refused() {
    refused(records(b"LOCUS x\n"), &["FASTA", "FASTQ"]);
    refused(records(b"A"), &["FASTA", "FASTQ"]);
    refused(records(b"\x28\xb5\x2f\xfd...."), &["zstd -dc"]);
    refused(records(b">a\nA\n>b"), &["record 2, line 3", "header"]);
}

#[test]
fn fastq_faults_name_record_and_line() {
    refused(records(b"@a\nA\n+\nI\n@b x\nACG\n+\nII\n"), &["record 2 'b', line 5", "3", "2"]);
    refused(records(b"@a\nA\n+\nI\nb\nA\n+\nI\n"), &["record 2, line 5", "'@'"]);
    refused(records(b"@a\nAC\nGT\n+\nIIII\n"), &["record 1 'a', line 3", "'+'"]);
    refused(records(b"@a\nA\n+\nI\n@b\nAC\n+\nI \n"), &["record 2 'b', line 8", "position 2"]);
    refused(records(b"@a\nA\n+\n\x7f\n"), &["line 4", "position 1"]);
}

#[test]
fn fastq_cut_inside_a_record_is_refused() {
    let whole = b"@a\nACG\n+\nIII\n@bc x\nACGT\n+\nIIII\n";
    let first = 13;
    for cut in first + 1..whole.len() - 1 {
        refused(records(&whole[..cut]), &["record 2"]);
        refused(records(&stored(&whole[..cut])), &["record 2"]);
    }
    assert_eq!(records(&whole[..first]).unwrap().len(), 1);
    assert_eq!(records(&whole[..whole.len() - 1]).unwrap().len(), 2);
}

#[test]
fn reference_names_are_those_of_sam() {
    assert_eq!(references(b">sp|P1*=2|x a, b\nA\n").unwrap().names, ["sp|P1*=2|x"]);
    for c in "\\,\"'`()[]{}<>\u{7f}é".chars() {
        refused(references(format!(">x{c}\nA\n").as_bytes()), &["record 1 'x", "SAM forbids"]);
    }
    refused(references(b">*x\nA\n"), &["at the start"]);
    refused(references(b">a\nA\n> \nA\n"), &["record 2, line 3", "no name"]);
    refused(references(b">a\nA\n>b\nA\n>a x\nA\n"), &["record 3 'a', line 5", "record 1"]);
    refused(references(b">a\xff\nA\n"), &["record 1", "UTF-8"]);
}

#[test]
fn any_name_where_no_format_forbids_it() {
    let path = file(b">*a,b\nA\n>\x01(c)\xc3\xa9\nA\n");
    let mut reader = Reader::open(path.path()).unwrap().with_rules(ANY_NAMES);
    let read = read_references(&mut reader, None).unwrap();
    assert_eq!(read.names, ["*a,b", "\u{1}(c)\u{e9}"]);
    let mut queries = QueryReader::new(
        Reader::open(path.path()).unwrap().with_rules(ANY_NAMES),
        Alphabet::Dna,
        false,
        Strands::Plus,
    );
    assert_eq!(queries.at_hand().unwrap().len(), 2);
    let nameless = file(b">a\nA\n>\nA\n");
    let mut reader = Reader::open(nameless.path()).unwrap().with_rules(ANY_NAMES);
    refused(read_references(&mut reader, None), &["record 2, line 3", "no name"]);
}

#[test]
fn references_without_residues_are_left_out() {
    let content = file(b">a\nA\n>b\n>c\nAC\n>d\n\n");
    let mut reader = Reader::open(content.path()).unwrap();
    let read = read_references(&mut reader, None).unwrap();
    assert_eq!(
        (read.names, read.lengths, read.left_out),
        (vec!["a".into(), "c".into()], vec![1, 2], vec![1, 3])
    );
    let [warning] = &reader.warnings()[..] else { panic!("{:?}", reader.warnings()) };
    assert!(warning.contains("record 2 'b', line 3") && warning.contains("first of 2"), "{warning}");
    // The same holds for parts.
    for number in 1..=2 {
        let share = crate::terms::options::Share { number, of: 2 };
        let part =
            read_reference_part(&mut Reader::open(content.path()).unwrap(), None, share, None).unwrap();
        assert_eq!((part.names.len(), part.left_out.len()), (2, 2));
        let own: Vec<_> = part.sequences.iter().map(<[u8]>::len).collect();
        assert_eq!((part.first, own), [(0, vec![1]), (1, vec![2])][number as usize - 1]);
    }
    // The error about a repeated name has the number of its record.
    refused(references(b">b\n>a\nA\n>c\n>a\nA\n"), &["record 4 'a', line 5", "record 2"]);
}

#[test]
fn names_of_references_may_repeat_where_no_header_names_them() {
    let content = file(b">a\nA\n>a\nC\n");
    let read = read_references(&mut Reader::open(content.path()).unwrap().with_rules(ANY_NAMES), None);
    assert_eq!(read.unwrap().names, ["a", "a"]);
}

#[test]
fn reference_lengths_are_those_of_sam() {
    assert!(check_reference("a", MAX_REFERENCE).is_ok());
    assert!(check_reference("a", MAX_REFERENCE + 1).unwrap_err().0.contains("2147483648"));
    assert!(check_reference_count(MAX_REFERENCES).is_ok());
    assert!(check_reference_count(MAX_REFERENCES + 1).unwrap_err().0.contains("4294967295"));
}

#[test]
fn query_names_are_those_of_sam() {
    assert!(check_query_name(&"q".repeat(254)).is_ok());
    assert!(check_query_name("m/1,2'\"*=").is_ok());
    let refuse = |content: &str, part| refused(queries(content.as_bytes(), Alphabet::Dna, false), &[part]);
    refuse(&format!(">{}\nA\n", "q".repeat(255)), "255");
    refuse("@@a\nA\n+\nI\n", "'@'");
    refuse(">*\nA\n", "record 1 '*', line 1");
    refuse(">a\u{e9}\nA\n", "record 1 'aé', line 1");
    refuse(">\nA\n", "no name");
    refuse(&format!(">{}\nA\n", "q".repeat(999)), &format!("record 1 '{}...'", "q".repeat(60)));
}

#[test]
fn letters_outside_the_alphabet_are_named() {
    refused(
        references(b">a\nACGTACGTACGT\n>b\nACGTACGT\nAC-T\n"),
        &["record 2 'b', line 3", "'-' at position 11"],
    );
    refused(
        queries(b">q x\nACGJACGTACGTACG\n", Alphabet::Dna, false),
        &["record 1 'q'", "'J' at position 4", "N"],
    );
    refused(queries(b">q\nMK1\n", Alphabet::Protein, false), &["'1' at position 3", "X"]);
    refused(queries(b">q\nAC\xffT\n", Alphabet::Dna, false), &["'\\xff' at position 3"]);
}

#[test]
fn references_decide_on_the_alphabet() {
    assert_eq!(references(b">a\nACGU\n").unwrap().alphabet, Alphabet::Dna);
    assert_eq!(references(b">a\nGAT\n>b\nMKVLAAGITRESPQW\n").unwrap().alphabet, Alphabet::Protein);
    let dna = file(b">a\nACGU\n");
    let references =
        read_references(&mut Reader::open(dna.path()).unwrap(), Some(Alphabet::Protein)).unwrap();
    assert_eq!(references.alphabet, Alphabet::Protein);
    assert_eq!(references.sequences.get(0).len(), 4);
}

#[test]
fn protein_and_dna_do_not_meet() {
    let protein = b">q\nMKVLAAGITRESPQW\n";
    refused(
        queries(protein, Alphabet::Dna, false),
        &["query is protein", "references are DNA", "--alphabet protein"],
    );
    let dna = b">p\nGATTACA\n>q\nACGTACGTACGTACGTACGT\n";
    let says = ["record 2 'q'", "query is DNA", "references are protein", "--alphabet dna"];
    refused(queries(dna, Alphabet::Protein, false), &says);
    assert_eq!(queries(dna, Alphabet::Protein, true).unwrap().len(), 2, "the user's word");
    assert_eq!(queries(b">q\nRYSWKMBDHVNRYSWKMBDHVN\n", Alphabet::Dna, false).unwrap().len(), 1);
}

#[test]
fn queries_come_normalised_and_encoded() {
    let file = file(b">q\naccu\n>r\nTT\n");
    let forward = vec![&[0, 1, 1, 3][..], &[3, 3]];
    let both = vec![&[0, 1, 1, 3][..], &[0, 2, 2, 3], &[3, 3], &[0, 0]];
    let reverse = vec![&[0, 2, 2, 3][..], &[0, 0]];
    for (strands, expected) in [(Strands::Both, both), (Strands::Plus, forward), (Strands::Minus, reverse)] {
        let reader = Reader::open(file.path()).unwrap();
        let mut queries = QueryReader::new(reader, Alphabet::Dna, false, strands);
        let (mut records, mut codes) = (Vec::new(), Sequences::default());
        for _ in 0..2 {
            assert!(!queries.at_hand().unwrap().is_empty());
            queries.take(1, &mut records, &mut codes);
        }
        assert!(queries.at_hand().unwrap().is_empty());
        assert_eq!(records.iter().map(|record| &*record.sequence).collect::<Vec<_>>(), [&b"ACCT"[..], b"TT"]);
        assert_eq!(codes.iter().collect::<Vec<_>>(), expected);
    }
}

/// Records taken one by one exclude any other use of the reader.
#[test]
fn a_reader_that_was_begun_is_an_error_elsewhere() {
    let begun = || {
        let mut reader = Reader::open(file(b">a\nA\n>b\nC\n").path()).unwrap();
        assert_eq!(reader.next().unwrap().unwrap().name, "a");
        reader
    };
    refused(read_references(&mut begun(), Some(Alphabet::Dna)), &["read already", "open the file again"]);
    let mut queries = QueryReader::new(begun(), Alphabet::Dna, true, Strands::Plus);
    refused(queries.at_hand().map(|_| ()), &["read already"]);
}

#[test]
fn the_first_record_is_measured() {
    let long = [b">a\n", &b"ACGTA\n".repeat(200_000)[..], b">b\nAC\n"].concat();
    for (content, expected) in [
        (&long[..], Some(1_000_000)),
        (b">a\nAC\nG", Some(3)),
        (b"@a\nAC\n+\nII\n@b\nA\n+\nI\n", Some(2)),
        (b"", None),
    ] {
        assert_eq!(first_length(file(content).path()), expected);
    }
}
