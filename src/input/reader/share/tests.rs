//! Compares the cuts found by jumping with the rule as written, applied to all records from the first.

use super::feed::ShareFeed;
use super::starts::RecordStart;
use super::*;
use crate::terms::random::Random;
use std::io::Write;
use tempfile::NamedTempFile;

fn text(random: &mut Random, len: usize, letters: &[u8]) -> String {
    String::from_utf8(random.letters(len, letters)).expect("letters")
}

fn file(content: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    file
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// One block of bgzf.
fn block(content: &[u8]) -> Vec<u8> {
    block_packed(content, flate2::Compression::fast())
}

fn block_packed(content: &[u8], compression: flate2::Compression) -> Vec<u8> {
    let builder = flate2::GzBuilder::new().extra(&b"BC\x02\0\0\0"[..]);
    let mut encoder = builder.write(Vec::new(), compression);
    encoder.write_all(content).unwrap();
    let mut block = encoder.finish().unwrap();
    let len = u16::try_from(block.len() - 1).unwrap();
    block[16..18].copy_from_slice(&len.to_le_bytes());
    block
}

/// Packs bgzf blocks that end at these offsets, and returns the compressed and uncompressed offset of each nonempty
/// block.
fn bgzf(content: &[u8], ends: &[usize]) -> (Vec<u8>, Vec<(u64, usize)>) {
    let (mut packed, mut places, mut from) = (Vec::new(), Vec::new(), 0);
    // A block holds at most 64 KiB.
    let full = (1 << 16..content.len()).step_by(1 << 16);
    let mut ends: Vec<usize> = ends.iter().copied().chain(full).chain([content.len(); 2]).collect();
    ends.sort_unstable();
    for end in ends {
        if end > from {
            places.push((packed.len() as u64, from));
        }
        packed.extend(block(&content[from..end]));
        from = end;
    }
    (packed, places)
}

/// Few long records or many short records, in one of several layouts: mates with one name or with two, bases and
/// qualities that look like other lines.
fn records(random: &mut Random, format: Format) -> Vec<u8> {
    let newline = ["\n", "\r\n"][random.below(2)];
    let mates = [1, 1, 2, 2, 5][random.below(5)];
    let suffixes = ["", "/", ".", "_", ":"][random.below(5)];
    let (lengths, most) =
        [(&[0, 30, 70, 150][..], 200), (&[10, 3000, 20_000], 30), (&[40, 2000, 90_000], 10)][random.below(3)];
    let count = 1 + random.below(most);
    let mut content = String::new();
    for number in 0..count {
        let suffix = match suffixes {
            "" => String::new(),
            separator => format!("{separator}{}", 1 + number % mates),
        };
        let comment = ["", " of > it", "\t@x", " +"][random.below(4)];
        let name = format!("r{}{suffix}{comment}", number / mates);
        let most: usize = lengths[random.below(lengths.len())];
        let len = most - random.below(most / 2 + 1);
        let letters = text(random, len, b"ACGT");
        match format {
            Format::Fasta => {
                content += &format!(">{name}{newline}");
                let width = 1 + random.below(100);
                let blank = ["", " ", "\t "][random.below(3)];
                for line in letters.as_bytes().chunks(width) {
                    content += &format!("{}{blank}{newline}", str::from_utf8(line).unwrap());
                }
                content += ["", newline][random.below(2)];
            }
            Format::Fastq => {
                let qualities = text(random, letters.len(), b"@+>I");
                let again = ["", "@again", "+"][random.below(3)];
                content +=
                    &[&format!("@{name}"), &*letters, &format!("+{again}"), &*qualities, ""].join(newline);
            }
        }
    }
    content += [newline, "", newline][random.below(3)];
    content += ["", "", " \n\n\n \n \n"][random.below(3)];
    match random.below(4) {
        0 => content.trim_end().as_bytes().to_vec(),
        _ => content.into_bytes(),
    }
}

/// Start, name and number of residues of each record, and the end, found by counting lines from the first.
fn starts(format: Format, content: &[u8]) -> Vec<(usize, String, usize)> {
    let (mut starts, mut at) = (Vec::<(usize, String, usize)>::new(), 0);
    for (number, line) in content.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let text = str::from_utf8(line).unwrap().trim_end();
        let begins = match format {
            Format::Fasta => text.starts_with('>'),
            Format::Fastq => number % 4 == 0 && !text.is_empty(),
        };
        if begins {
            let name = text[1..].split_ascii_whitespace().next().unwrap_or_default();
            starts.push((at, name.to_string(), 0));
        } else if format == Format::Fasta || number % 4 == 1 {
            starts.last_mut().unwrap().2 += text.len();
        }
        at += line.len();
    }
    starts
}

/// The rule: the cut found from the decompressed byte `from`.
fn cut(starts: &[(usize, String, usize)], len: usize, from: usize, groups: bool) -> usize {
    let behind = starts.iter().position(|start| start.0 > from).unwrap_or(starts.len());
    if !groups {
        return starts.get(behind).map_or(len, |start| start.0);
    }
    let begins = |pair: &&[(usize, String, usize)]| {
        groups::begins(pair[0].1.as_bytes(), pair[1].1.as_bytes(), pair[1].2)
    };
    starts[behind..].windows(2).find(begins).map_or(len, |pair| pair[1].0)
}

/// Bytes and position of a part; `jump` selects the method that skips the file before it.
fn read(path: &Path, slice: Slice, jump: bool) -> (Vec<u8>, Extent) {
    let (mut stretch, extent) = match jump {
        true => ShareBytes::open(path, slice).unwrap(),
        false => ShareBytes::from_the_start(path, slice).unwrap().find_begin(path).unwrap(),
    };
    let mut bytes = Vec::new();
    stretch.read_to_end(&mut bytes).unwrap();
    (bytes, extent)
}

/// Compares all parts with the bytes between these cuts: the beginning of each part, and the end.
fn check(path: &Path, content: &[u8], format: Format, of: u32, groups: bool, cuts: Option<Vec<usize>>) {
    let (total, starts) = (path.metadata().unwrap().len(), starts(format, content));
    let (mut whole, mut places) = (Vec::new(), 0);
    for number in 1..=of {
        let slice = Slice { share: Share { number, of }, groups, removes_gaps: false, before: 0, total };
        let told = format!("part {number} of {of}, groups {groups}");
        let (bytes, extent) = read(path, slice, true);
        if let Some(cuts) = &cuts {
            assert!(bytes == content[cuts[number as usize - 1]..cuts[number as usize]], "{told}");
        }
        let (unhurried, other) = read(path, slice, false);
        assert!(bytes == unhurried && extent.places() == other.places(), "{told}");
        assert_eq!(extent.places().0, places, "{told} begins where the one before ends");
        places = extent.places().1;
        let before = starts.iter().filter(|start| start.0 < whole.len()).count();
        let lines = newlines(&content[..whole.len()]);
        let counted = extent.count().unwrap();
        assert_eq!(counted.records, before as u64, "{told}");
        if !bytes.is_empty() || whole.len() < content.len() {
            assert_eq!(counted.lines, lines as u64, "{told}");
        }
        whole.extend(bytes);
    }
    assert!(whole == content, "{of} parts, groups {groups}");
    assert_eq!(places, total);
}

#[test]
fn parts_are_as_the_rule_says() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let format = [Format::Fasta, Format::Fastq][seed as usize % 2];
        let content = records(&mut random, format);
        let starts = starts(format, &content);
        let most = [2, 50, 2000, 60_000][random.below(4)].max(content.len() / 300);
        let mut ends = vec![random.below(most)];
        while ends[ends.len() - 1] < content.len() {
            ends.push(ends[ends.len() - 1] + random.below(most) * random.below(3));
        }
        ends.iter_mut().for_each(|end| *end = content.len().min(*end));
        let (packed, places) = bgzf(&content, &ends);
        let [plain, blocks, gzip] = [&content, &packed, &gzip(&content)].map(|bytes| file(bytes));
        let of = [1, 2, 3, 11, 47][random.below(5)];
        for groups in [true, false] {
            let cuts = |size: usize, from: &dyn Fn(u64) -> usize| {
                let cut = |number: u64| match (number * size as u64).div_ceil(u64::from(of)) {
                    0 => 0,
                    byte if byte == size as u64 => content.len(),
                    byte => cut(&starts, content.len(), from(byte), groups),
                };
                Some((0..=u64::from(of)).map(cut).collect::<Vec<usize>>())
            };
            let of_plain = cuts(content.len(), &|byte| byte as usize);
            check(plain.path(), &content, format, of, groups, of_plain);
            let block =
                |byte| places.iter().find(|place| place.0 >= byte).map_or(content.len(), |place| place.1);
            check(blocks.path(), &content, format, of, groups, cuts(packed.len(), &block));
            check(gzip.path(), &content, format, of, groups, None);
        }
    }
}

/// Each byte of a file as a border, so that borders are at, before and after a record's first byte; also blocks that
/// begin with a record.
#[test]
fn borders_at_every_byte() {
    let fastq = "@a\nAC\n+\n@I\n@b\n\n+\n\n@c\nA\n+c\n@\n\n";
    let windows = "@a\r\nAC\r\n+\r\n@+\r\n@b\r\nACG\r\n+\r\n+@+";
    let fasta = ">a\nAC\n>b\n>c >\nA\n\nC\n";
    for (format, content) in [(Format::Fastq, fastq), (Format::Fastq, windows), (Format::Fasta, fasta)] {
        let content = content.as_bytes();
        let starts = starts(format, content);
        let of = content.len() as u32;
        let cuts = (0..=content.len()).map(|byte| match byte {
            0 => 0,
            byte => cut(&starts, content.len(), byte, false),
        });
        check(file(content).path(), content, format, of, false, Some(cuts.collect()));
        let ends: Vec<usize> = starts[1..].iter().map(|start| start.0).collect();
        let (packed, places) = bgzf(content, &ends);
        let cuts = (0..=packed.len() as u64).map(|byte| match byte {
            0 => 0,
            byte => {
                let block = places.iter().find(|place| place.0 >= byte);
                block.map_or(content.len(), |block| cut(&starts, content.len(), block.1, false))
            }
        });
        check(file(&packed).path(), content, format, packed.len() as u32, false, Some(cuts.collect()));
    }
}

/// With fewer bytes, the result is the same or undecided, and no needed byte is given up.
#[test]
fn starts_in_any_beginning() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let format = [Format::Fasta, Format::Fastq][seed as usize % 2];
        let content = records(&mut random, format);
        let content = &content[..content.len().min(700)];
        for from in 0..content.len().min(200) {
            let all = next_start(format, &content[from..], true, false);
            for to in from + 1..content.len() {
                match (next_start(format, &content[from..to], false, false), &all) {
                    (Ok(start), Ok(all)) => {
                        let RecordStart { at, name, letters, open } = start;
                        assert!((at, name) == (all.at, all.name) && letters <= all.letters, "seed {seed}");
                        assert!(open || letters == all.letters, "seed {seed}");
                    }
                    (Err(passed), Ok(all)) => assert!(passed < all.at, "seed {seed}: {passed} of {}", all.at),
                    (Err(passed), Err(_)) => assert!(passed <= to - from),
                    (Ok(start), Err(_)) => panic!("seed {seed}: {start:?} is none with all bytes"),
                }
            }
        }
    }
}

/// FASTQ reads of 150 bases.
fn reads(count: usize) -> Vec<u8> {
    let mut random = Random::new(1);
    let mut read = |k: usize| {
        format!("@r{k}\n{}\n+\n{}\n", text(&mut random, 150, b"ACGT"), text(&mut random, 150, b"@+I!"))
    };
    (0..count).flat_map(|k| read(k).into_bytes()).collect()
}

#[test]
fn what_stands_before_a_part_is_not_read() {
    let content = reads(20_000);
    let ends: Vec<usize> = (0..content.len()).step_by(60_000).collect();
    let (packed, _) = bgzf(&content, &ends);
    for (bytes, kept) in [(content, 100), (packed, 100_000)] {
        let (of, total) = (5, bytes.len() as u64);
        let last = |bytes: &[u8]| {
            let slice = Slice {
                share: Share { number: of, of },
                groups: true,
                removes_gaps: false,
                before: 0,
                total,
            };
            read(file(bytes).path(), slice, true).0
        };
        let expected = last(&bytes);
        assert!(!expected.is_empty());
        let mut spoilt = bytes.clone();
        spoilt[kept..bytes.len() / 5 * 4].fill(0xff);
        assert!(last(&spoilt) == expected);
    }
}

/// A record that is longer than one read, or that makes a group before its end is read.
#[test]
fn long_records_are_not_read_to_their_end() {
    let long = format!(">a\nAC\n>b\nAC\n>long\n{}\n>c\nAC\n", "ACGT".repeat(5 << 20));
    let file = file(long.as_bytes());
    let total = long.len() as u64;
    // The first border is in the second record, so the long record is the second one after it.
    let slice = |number| Slice {
        share: Share { number, of: total as u32 },
        groups: true,
        removes_gaps: false,
        before: 0,
        total,
    };
    let (stretch, _) = ShareBytes::open(file.path(), slice(3)).unwrap();
    assert_eq!(stretch.begin.as_ref().map(|begin| begin.at + 2), Some(12));
    assert!(stretch.bytes.len() < 3 << 20, "{}", stretch.bytes.len());
    // From a position inside the long record, the next record is found without keeping it in memory.
    let slice = |number| Slice {
        share: Share { number, of: 2 },
        groups: false,
        removes_gaps: false,
        before: 0,
        total,
    };
    let (stretch, _) = ShareBytes::open(file.path(), slice(2)).unwrap();
    assert!(stretch.bytes.len() < 3 << 20, "{}", stretch.bytes.len());
    assert_eq!(read(file.path(), slice(2), true).0, b">c\nAC\n");
}

/// Several files that count as one, some of which are entirely in one part.
#[test]
fn files_that_count_as_one() {
    let contents = [reads(30), b">a\nACGT\n".to_vec(), gzip(&reads(50)), reads(1)];
    let files = contents.each_ref().map(|content| file(content));
    let total = contents.iter().map(|content| content.len() as u64).sum();
    for of in [1, 2, 3, 10, 100] {
        let mut joined = [const { Vec::new() }; 4];
        let mut end = 0;
        for number in 1..=of {
            let (mut before, mut places) = (0, (0, 0));
            for (file, joined) in files.iter().zip(&mut joined) {
                let slice =
                    Slice { share: Share { number, of }, groups: false, removes_gaps: false, before, total };
                let (bytes, extent) = read(file.path(), slice, true);
                joined.extend(bytes);
                places = (places.0 + extent.places().0, places.1 + extent.places().1);
                before += file.path().metadata().unwrap().len();
            }
            assert_eq!(places.0, end, "part {number} of {of}");
            end = places.1;
        }
        assert_eq!(end, total);
        assert!(joined == [reads(30), b">a\nACGT\n".to_vec(), reads(50), reads(1)], "{of} parts");
    }
}

#[test]
fn what_is_no_fasta_goes_to_all() {
    for content in [&b"hello\n"[..], b""] {
        for number in [1, 2] {
            let slice = Slice {
                share: Share { number, of: 2 },
                groups: true,
                removes_gaps: false,
                before: 0,
                total: content.len() as u64,
            };
            let file = file(content);
            let (stretch, _) = ShareBytes::open(file.path(), slice).unwrap();
            assert!(!stretch.has_records());
            assert_eq!(read(file.path(), slice, true).0, content);
        }
    }
}

#[test]
fn damage_is_an_error() {
    let content = reads(3000);
    let (blocks, _) = bgzf(&content, &(0..content.len()).step_by(60_000).collect::<Vec<_>>());
    for whole in [gzip(&content), blocks] {
        let slice = Slice {
            share: Share { number: 2, of: 2 },
            groups: false,
            removes_gaps: false,
            before: 0,
            total: whole.len() as u64,
        };
        let file = file(&whole[..whole.len() * 3 / 4]);
        let read = ShareBytes::open(file.path(), slice)
            .and_then(|(mut stretch, _)| stretch.read_to_end(&mut Vec::new()));
        let error = read.unwrap_err();
        assert!(error.to_string().contains("truncated"), "{error}");
    }
}

/// Bytes inside a block that look like a header are not mistaken for one.
#[test]
fn blocks_are_not_mistaken() {
    let stored = |content: &[u8]| block_packed(content, flate2::Compression::none());
    let mut false_header = block(b"@x\nAC\n+\nII\n");
    let len = false_header.len();
    false_header[len - 5] ^= 1;
    let first =
        stored(&[b"@a ", &false_header[..], &false_header[..], b"\nACGT\n+\nIIII\n@b\nAC\n+\nII\n"].concat());
    let file = file(&[first.clone(), block(b"@c\nA\n+\nI\n@d\nA\n+\nI\n"), block(b"")].concat());
    for to in 1..=first.len() as u64 {
        let (mut feed, _) = ShareFeed::open(file.reopen().unwrap(), [to; 2]).unwrap();
        feed.jump(to).unwrap();
        assert!(feed.next(&mut Vec::new()).unwrap());
        assert_eq!(feed.at(), first.len() as u64, "from byte {to}");
    }
}

/// Text that is not UTF-16 as a whole is not UTF-16 in parts either, even if a part's first bytes look like it.
#[test]
fn names_with_nul_begin_parts() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let record = b">\0[\0 name\nACGT\n";
    std::fs::write(file.path(), [b">first\nACGT\n", &record[..], record, record].concat()).unwrap();
    let total = file.path().metadata().unwrap().len();
    let slice = |share: Option<Share>| {
        share.map(|share| Slice { share, groups: true, removes_gaps: false, before: 0, total })
    };
    let names = |share: Option<Share>| -> Vec<String> {
        let records =
            crate::input::reader::Reader::open_part(file.path(), slice(share), Default::default()).unwrap();
        records.map(|record| record.unwrap().name).collect()
    };
    let parts: Vec<String> = (1..=4).flat_map(|number| names(Some(Share { number, of: 4 }))).collect();
    assert_eq!(parts, names(None));
    assert_eq!(parts.len(), 4);
}
