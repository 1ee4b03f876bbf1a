//! Tests inputs that are unusual but valid.

use super::*;

#[track_caller]
fn searched(files: &[(&str, &[u8])], args: &[&str]) -> (String, String) {
    let folder = folder(files);
    let outcome = folder.run(&[&["search"], args].concat());
    (outcome.text().to_string(), outcome.stderr)
}

#[test]
fn patterns_that_occur_everywhere_are_named_once() {
    let files: &[(&str, &[u8])] = &[("t.fa", TEXT), ("p.fa", PATTERNS)];
    let says = |args: &[&str]| searched(files, args).1;
    let said = says(&["-k", "10", "TTAGCCATGG", "t.fa"]);
    let is_warning = |line: &&str| line.contains("warning: -k 10 ") && line.contains("'pattern' (10)");
    assert_eq!(said.lines().filter(is_warning).count(), 1, "{said}");
    assert!(!says(&["-k", "9", "TTAGCCATGG", "t.fa"]).contains("warning"));
    assert!(says(&["-k", "8", "-f", "p.fa", "t.fa"]).contains("'p3' (8)"));
    assert!(!says(&["-k", "8", "-f", "p.fa", "t.fa"]).contains("other"));
    assert!(says(&["-k", "4294967295", "-f", "p.fa", "t.fa"]).contains("2 other"));
    assert!(!says(&["-q", "-k", "10", "TTAGCCATGG", "t.fa"]).contains("warning"));
    // Limits on single kinds of edits may exclude all positions.
    let limited = ["-k", "10", "--max-insertions", "0", "--max-substitutions", "1", "TTAGCCATGG", "t.fa"];
    assert!(!says(&limited).contains("warning"));
}

/// The highest possible number of edits has the same hits as the length of the pattern.
#[test]
fn huge_numbers_of_edits() {
    let files: &[(&str, &[u8])] = &[("t.fa", TEXT), ("p.fa", PATTERNS)];
    for args in [&["--all"][..], &[], &["--best"], &["--no-indels", "--all"], &["--first"]] {
        let search = |k: &str| searched(files, &[&["-k", k, "-f", "p.fa", "t.fa"], args].concat()).0;
        assert_eq!(search("4294967295"), search("10"), "{args:?}");
    }
}

#[test]
fn texts_of_one_letter_and_patterns_of_any() {
    let files: &[(&str, &[u8])] = &[("t.fa", b">a\nA\n>n\nN\n>c\nC\n")];
    let hits = |args: &[&str]| searched(files, args).0.lines().count() - 1;
    assert_eq!(hits(&["A", "t.fa"]), 1);
    assert_eq!(hits(&["N", "t.fa"]), 6);
    assert_eq!(hits(&["NN", "t.fa"]), 0);
    assert_eq!(hits(&["-k1", "NN", "t.fa"]), 6);
    assert_eq!(hits(&["-k1", "--no-indels", "NN", "t.fa"]), 0);
    assert_eq!(hits(&["-k9", "ACGTACGT", "t.fa"]), 6);
}

/// A pattern that equals the text, and a pattern that is much too long for it, next to others.
#[test]
fn patterns_longer_than_texts() {
    let mut random = Random::new(51);
    let (text, long) = (random.text(Alphabet::Dna, 3000), random.text(Alphabet::Dna, 120_000));
    let short = &text[1000..1020];
    let texts = format!(">t\n{text}\n>u\n{}\n>v\n{short}\n", &text[500..1500]);
    let patterns = format!(">long\n{long}\n>whole\n{text}\n>short\n{short}\n");
    let others = format!(">whole\n{text}\n>short\n{short}\n");
    let files: &[(&str, &[u8])] =
        &[("t.fa", texts.as_bytes()), ("p.fa", patterns.as_bytes()), ("o.fa", others.as_bytes())];
    for args in [&["-k3"][..], &["-k3", "--no-indels", "--all"], &[], &["-k3", "--max-insertions", "1"]] {
        let (all, _) = searched(files, &[&["-f", "p.fa", "t.fa"], args].concat());
        assert!(all.contains("whole") && all.lines().count() >= 5, "{all}");
        assert_eq!(all, searched(files, &[&["-f", "o.fa", "t.fa"], args].concat()).0);
    }
}
