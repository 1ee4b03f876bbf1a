//! Lines that match with errors: the GPU is compared with the specification, and the command on a GPU with the command
//! on the CPU. SWALIGN_TEST_GPU names the adapter (default: llvmpipe, Mesa's software adapter).

use crate::common::command::{Outcome, command, finish, lines_come_at_once, run};
use crate::common::devices::{card, gpu_device};
use crate::common::lines::{LITERAL, pattern, patterns_of_classes, planted, text, tre_cases};
use crate::common::{folder::Folder, random::Random};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use swalign::engine::gpu::Card;
use swalign::patterns::lines::gpu::GpuLineScan;
use swalign::patterns::lines::pattern::GrepPattern;
use swalign::patterns::lines::plain;
use swalign::patterns::lines::select::Span;
use swalign::patterns::scan::bitap::BitapTuning;
use swalign::patterns::search::MatchRule;

/// Default chunks; short chunks; short parts with one submission per pattern.
fn tunings() -> [BitapTuning; 3] {
    let default = BitapTuning::default();
    [
        default,
        BitapTuning { chunk: Some(32), ..default },
        BitapTuning { chunk: Some(64), part: 320, submission: 1 },
    ]
}

/// The lines, found in pieces of one to three lines.
fn lines(scan: &GpuLineScan, text: &[u8]) -> Vec<Span> {
    let pending = scan.begin(text).unwrap_or_else(|error| panic!("{error}"));
    let ends = scan.finish(text, pending).unwrap_or_else(|error| panic!("{error}"));
    let mut lines = Vec::new();
    let mut begin = 0;
    for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let end = line.as_ptr() as usize - text.as_ptr() as usize + line.len();
        if number % 3 == 0 || end == text.len() {
            let found = scan.lines(text, begin..end, &ends);
            lines.extend(found.iter().map(|line| Span { start: begin + line.start, end: begin + line.end }));
            begin = end;
        }
    }
    lines
}

/// Compares with the lines of the specification. Returns their number.
#[track_caller]
fn compare(card: &Arc<Card>, text: &[u8], patterns: &[GrepPattern], rule: MatchRule, what: &str) -> usize {
    let expected = plain::lines(text, patterns, &rule);
    for tuning in tunings() {
        let scan = GpuLineScan::new(Arc::clone(card), patterns, rule).unwrap().tuned(tuning);
        for again in 0..2 {
            let found = lines(&scan, text);
            assert!(
                found == expected,
                "{what}, {tuning:?}, call {again}, {rule:?}: {found:?}, not {expected:?}"
            );
        }
    }
    expected.len()
}

/// Pattern lengths at the boundary sizes of words and of the device's maximum.
fn at_all_seams(card: &Arc<Card>, lengths: &[usize], edits: &[usize]) {
    let mut random = Random::new(lengths.len() as u64);
    let (mut some, mut all) = (0, 0);
    for &len in lengths {
        for max_edits in edits.iter().copied().chain([len]) {
            for indels in [true, false] {
                let size = random.pick(&[1, 31, 32, 33, 2000, 3000]);
                let every = random.pick(&[4, 40, 400]);
                let text = text(&mut random, size, every);
                let letters = planted(&mut random, &text, len, max_edits.min(4));
                let patterns = [GrepPattern::new(&letters, LITERAL).unwrap()];
                let rule = MatchRule { max_edits: max_edits as u32, indels };
                let lines = compare(card, &text, &patterns, rule, &format!("{len} letters, {size} of text"));
                some += usize::from(lines > 0);
                all += 1;
            }
        }
    }
    assert!(some > all / 3 && some < all, "{some} of {all} find something");
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_lines_at_all_seams() {
    at_all_seams(&card(false), &[1, 2, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129], &[0, 1, 2, 3, 4, 15]);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_lines_with_bounds_checks() {
    at_all_seams(&card(true), &[1, 32, 33, 128], &[0, 2]);
}

/// Every number of edits that a kernel supports, and one more.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_lines_with_any_number_of_edits() {
    let card = card(false);
    let mut random = Random::new(6);
    for max_edits in 5..=16 {
        let text = text(&mut random, 2000, 60);
        let letters = planted(&mut random, &text, 30, 3);
        let patterns = [GrepPattern::new(&letters, LITERAL).unwrap()];
        let rule = MatchRule { max_edits, indels: max_edits % 2 == 0 };
        compare(&card, &text, &patterns, rule, &format!("{max_edits} edits"));
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_lines_of_classes_and_many_patterns() {
    let card = card(false);
    let mut random = Random::new(2);
    for case in 0..60 {
        let (size, every) = (random.below(4000), random.pick(&[5, 50]));
        let text = text(&mut random, size, every);
        let patterns = patterns_of_classes(&mut random);
        let rule = MatchRule { max_edits: random.below(4) as u32, indels: random.below(3) > 0 };
        compare(&card, &text, &patterns, rule, &format!("case {case}"));
    }
    // Patterns of all lengths, some of which the device leaves to the CPU.
    let text = text(&mut random, 3000, 100);
    let planted = |len| GrepPattern::new(&planted(&mut random, &text, len, 2), LITERAL).unwrap();
    let patterns: Vec<GrepPattern> = (3..=140).rev().map(planted).collect();
    for indels in [true, false] {
        let rule = MatchRule { max_edits: 2, indels };
        assert_eq!(GpuLineScan::new(Arc::clone(&card), &patterns, rule).unwrap().left_to_cores(), 12);
        assert!(compare(&card, &text, &patterns[..133], rule, "many lengths") > 5);
    }
}

/// A hit that would need bytes of two lines, at each position in units, chunks and parts.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_no_match_over_a_newline() {
    let card = card(false);
    for (line, k, found) in [("abcd\nefgh", 1, false), ("abcd\nefgh", 4, true), ("abcdefgh", 0, true)] {
        for indels in [true, false] {
            let rule = MatchRule { max_edits: k, indels };
            let patterns = [pattern(b"abcdefgh")];
            let scan = |tuning| GpuLineScan::new(Arc::clone(&card), &patterns, rule).unwrap().tuned(tuning);
            // The scans are reused for all texts.
            let scans = tunings().map(scan);
            for before in (0..70).chain(310..335) {
                let text = ["x".repeat(before).as_bytes(), line.as_bytes(), &[b'y'; 70]].concat();
                let expected = plain::lines(&text, &patterns, &rule);
                if indels || k < 4 {
                    assert_eq!(!expected.is_empty(), found, "{before} {rule:?}");
                }
                for scan in &scans {
                    assert_eq!(lines(scan, &text), expected, "{before} {rule:?}");
                }
            }
        }
    }
}

/// Texts in which every byte is an end, and patterns without a match.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_loses_no_line_where_all_match() {
    let card = card(false);
    let of = |text: &[u8], letters: &str, max_edits, indels| {
        compare(&card, text, &[pattern(letters.as_bytes())], MatchRule { max_edits, indels }, letters)
    };
    for text in [&b"a".repeat(5000)[..], &b"aaa\n".repeat(1000), &b"a\n".repeat(1500), &b"aa\n\n".repeat(700)]
    {
        let full = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count();
        for indels in [true, false] {
            assert_eq!(of(text, "a", 0, indels), full);
            of(text, ".a", 1, indels);
            of(text, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 2, indels);
        }
    }
    let text = b"\n\nab\nabc";
    assert_eq!(of(text, "", 0, true), 4);
    assert_eq!(of(text, "", 0, false), 4);
    assert_eq!(of(text, "xyz", 3, true), 4);
    assert_eq!(of(text, "xyz", 2, true), 0);
    assert_eq!(of(text, "xyz", 3, false), 1);
    assert_eq!(of(text, "xyz", 9, false), 1);
    assert_eq!(of(b"", "a", 0, true), 0);
    assert_eq!(compare(&card, text, &[], MatchRule { max_edits: 9, indels: true }, "no pattern"), 0);
}

/// Several texts are processed concurrently, each in several parts.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_has_several_texts_under_way() {
    let mut random = Random::new(3);
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for size in [300_000, 0, 1_000_000, 70_000, 50] {
        let mut text = text(&mut random, size, 80);
        for place in (1000..size.max(100) - 100).step_by(20_011) {
            text[place..place + 12].copy_from_slice(b"needlneedles");
        }
        texts.push(text);
    }
    let patterns = [pattern(b"needleneedles")];
    let tuning = BitapTuning { part: 100_000, ..BitapTuning::default() };
    for indels in [true, false] {
        let rule = MatchRule { max_edits: 1 + u32::from(!indels), indels };
        let scan = GpuLineScan::new(card(false), &patterns, rule).unwrap().tuned(tuning);
        let begun: Vec<_> = texts.iter().map(|text| scan.begin(text).unwrap()).collect();
        for (text, pending) in texts.iter().zip(begun) {
            let ends = scan.finish(text, pending).unwrap();
            let expected = plain::lines(text, &patterns, &rule);
            assert_eq!(expected.is_empty(), !indels || text.len() < 1000);
            assert_eq!(scan.lines(text, 0..text.len(), &ends), expected, "{} bytes, {rule:?}", text.len());
        }
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_has_the_cases_of_tre() {
    let card = card(false);
    for case in tre_cases() {
        let found = compare(&card, &case.line, &[case.pattern], case.rule, &case.row);
        assert_eq!(found == 1, case.matches, "{}", case.row);
    }
}

mod through_the_command {
    use super::*;

    fn on(device: &str, folder: &Path, args: &[&str]) -> Outcome {
        run(folder, &[&["grep", "--device", device], args].concat())
    }

    /// Compares exit code and output with those of the CPU. Returns the exit code.
    #[track_caller]
    fn same(folder: &Path, args: &[&str]) -> i32 {
        let cpu = on("cpu", folder, args);
        let gpu = on(&gpu_device(), folder, args);
        let told = |outcome: &Outcome| (outcome.code, outcome.stderr.clone());
        assert_eq!(told(&gpu), told(&cpu), "{args:?}");
        assert!(gpu.stdout == cpu.stdout, "{args:?} gives other bytes");
        cpu.code.unwrap()
    }

    #[test]
    #[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
    fn options() {
        let folder = Folder::new();
        let here = folder.path();
        let lines =
            b"the quick brown fox\njumps over\n\nthe lazy dog\nTHE QUIK BROWN\r\n\0\xff\xe9qick\nlast qick";
        for (name, bytes) in
            [("a.txt", &lines[..]), ("b.txt", b"nothing here\n"), ("p.txt", b"lazy\nover\n"), ("empty", b"")]
        {
            fs::write(here.join(name), bytes).unwrap();
        }
        for args in [
            &["-k1", "quick", "a.txt"][..],
            &["-k1", "-v", "-n", "quick", "a.txt", "b.txt", "empty"],
            &["-i", "-c", "-k1", "quick", "a.txt", "b.txt"],
            &["-k4", "-n", "zzzz", "a.txt"],
            &["-f", "p.txt", "-m1", "a.txt", "b.txt"],
            &["-l", "-e", "over", "-e", "h.r", "a.txt", "b.txt"],
            &["-F", "\r", "a.txt"],
            &["-k1", "--no-indels", r"\x00\xff\xe9q", "a.txt"],
            &["-f", "empty", "a.txt"],
        ] {
            same(here, args);
        }
        assert_eq!(same(here, &["zzzz", "empty"]), 1);
        assert_eq!(same(here, &["-q", "the", "a.txt", "nofile"]), 0);
        assert_eq!(same(here, &["-c", "the", "nofile", "a.txt"]), 2);
        let gpu = gpu_device();
        let stdin =
            finish(command(here).args(["grep", "--device", &gpu, "lazy", "-"]).write_stdin(&lines[..]));
        assert_eq!((stdin.code, stdin.stdout.as_slice()), (Some(0), &b"the lazy dog\n"[..]));
    }

    /// Many words, which are looked up, with each option that a dictionary supports.
    #[test]
    #[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
    fn words() {
        let folder = Folder::new();
        let mut random = Random::new(11);
        let mut word = |most: usize| -> Vec<u8> {
            let len = 1 + random.below(most);
            (0..len).map(|_| random.pick(b"abcABC_ ")).collect()
        };
        let words: Vec<Vec<u8>> = (0..200).map(|_| word(9)).collect();
        let lines: Vec<Vec<u8>> = (0..3000).map(|_| word(30)).chain(words[..50].to_vec()).collect();
        fs::write(folder.path().join("words"), words.join(&b'\n')).unwrap();
        fs::write(folder.path().join("a.txt"), lines.join(&b'\n')).unwrap();
        folder.write("empty", "");
        for place in ["", "-x", "--prefix"] {
            for more in [&[][..], &["-i"], &["-w"], &["-i", "-w", "-v"], &["-c"], &["-l"], &["-n", "-m", "7"]]
            {
                let files = ["-F", "-f", "words", "a.txt", "empty", "a.txt"];
                let mut args = [&[place][..], more, &files].concat();
                args.retain(|word| !word.is_empty());
                same(folder.path(), &args);
            }
        }
        let outcome = on(&gpu_device(), folder.path(), &["-F", "-o", "-f", "words", "a.txt"]);
        outcome.said(0, &["-o", "--count-by-pattern", "CPU"]);
        // The empty word matches every line, so the device is not used.
        fs::write(folder.path().join("words"), [words.join(&b'\n'), b"\n\n".to_vec()].concat()).unwrap();
        let outcome = on(&gpu_device(), folder.path(), &["-F", "-c", "-f", "words", "a.txt"]);
        assert_eq!(outcome.stdout, b"3050\n");
        outcome.said(0, &["words", "CPU"]);
    }

    /// Patterns that the device does not support are reported, and found on the CPU.
    #[test]
    #[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
    fn what_is_left_to_the_cores() {
        let folder = Folder::new();
        let (long, short) = ("ab".repeat(65), "xyz");
        let text = format!("{short}\n\n--{long}--\n{}\n", &long[1..]);
        folder.write("a.txt", &text);
        let gpu = gpu_device();
        let outcome = on(&gpu, folder.path(), &["-n", "-k1", "-e", &long, "-e", short, "a.txt"]);
        assert_eq!(
            String::from_utf8(outcome.stdout).unwrap(),
            format!("1:xyz\n3:--{long}--\n4:{}\n", &long[1..])
        );
        assert!(
            outcome.stderr.contains("1 of 2 patterns") && outcome.stderr.contains("CPU"),
            "{}",
            outcome.stderr
        );
        let outcome = on(&gpu, folder.path(), &["-c", "-k16", &long, "a.txt"]);
        assert_eq!(outcome.stdout, b"2\n");
        assert!(outcome.stderr.contains("1 of 1 patterns"), "{}", outcome.stderr);
    }

    /// Several blocks, and a line longer than a block.
    #[test]
    #[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
    fn blocks_do_not_show() {
        let folder = Folder::new();
        let mut random = Random::new(7);
        let mut text: Vec<u8> = (0..34 << 20).map(|_| random.pick(b"abcd     \n")).collect();
        text.extend((0..34 << 20).map(|_| random.pick(b"abcd     ")));
        text.extend(b"ends abcabcab\n");
        folder.write("long.txt", &text);
        assert_eq!(same(folder.path(), &["-n", "-k1", "abcabc", "long.txt", "long.txt"]), 0);
    }

    /// Lines are printed before the input ends, if the device is free.
    #[test]
    #[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
    fn who_waits_sees_lines_at_once() {
        lines_come_at_once(&["grep", "--device", &gpu_device(), "x", "-"]);
    }

    #[test]
    #[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
    fn a_device_that_is_not_there_is_an_error() {
        let folder = Folder::new();
        folder.write("a.txt", "x\n");
        let outcome = on("gpu:no such card", folder.path(), &["x", "a.txt"]);
        assert_eq!((outcome.code, outcome.stdout.as_slice()), (Some(2), &b""[..]));
        assert!(outcome.stderr.contains("no adapter is named 'no such card'"), "{}", outcome.stderr);
    }
}
