//! Reads across inversions, insertions, deletions and replaced segments: alignments are cut at the right positions.

use crate::common::{folder::folder, random::Random};
use swalign::terms::alphabet::{Alphabet, reverse_complement};

/// Flag, position, mapping quality and CIGAR of each record of a read.
type Line = (u32, u32, u32, String);

fn lines(sam: &str, name: &str) -> Vec<Line> {
    let fields =
        sam.lines().filter(|line| !line.starts_with('@')).map(|line| line.split('\t').collect::<Vec<_>>());
    let line = |fields: Vec<&str>| {
        let number = |at: usize| fields[at].parse().unwrap();
        (number(1), number(3), number(4), fields[5].to_string())
    };
    fields.filter(|fields| fields[0] == name).map(line).collect()
}

#[test]
fn rearranged_reads_are_cut() {
    let mut random = Random::new(1);
    let genome = random.text(Alphabet::Dna, 20_000);
    let turned = |text: &str| String::from_utf8(reverse_complement(text.as_bytes())).unwrap();
    let (before, at) = (&genome[5_000..7_500], 7_500);
    let mut reads = String::new();
    for len in [1_000, 2_000] {
        let behind = &genome[at + len..at + len + 2_500];
        let middle = &genome[at..at + len];
        let foreign = random.text(Alphabet::Dna, len);
        for (kind, read) in [
            ("inversion", [before, &turned(middle), behind].concat()),
            ("replaced", [before, &genome[15_000..15_000 + len], behind].concat()),
            ("foreign", [before, &foreign, behind].concat()),
            ("insertion", [before, &foreign, &genome[at..at + 2_500]].concat()),
            ("deletion", [before, behind].concat()),
            ("plain", [before, middle, behind].concat()),
        ] {
            reads += &format!(">{kind}{len}\n{read}\n");
        }
    }
    let files: [(&str, &[u8]); 2] =
        [("ref.fa", format!(">chr\n{genome}\n").leak().as_bytes()), ("q.fa", reads.as_bytes())];
    let folder = folder(&files);
    let run = |more: &[&str]| {
        let outcome = folder.run(&[&["-q"][..], more, &["q.fa", "ref.fa"]].concat());
        outcome.ended(0);
        outcome.without_pg()
    };
    let sam = run(&["--device", "cpu", "--preset", "long"]);
    for (name, records) in [
        ("inversion1000", 3),
        ("inversion2000", 3),
        ("replaced1000", 3),
        ("replaced2000", 3),
        ("foreign1000", 2),
        ("foreign2000", 2),
        ("insertion1000", 1),
        ("insertion2000", 1),
        ("deletion1000", 1),
        ("deletion2000", 1),
        ("plain1000", 1),
    ] {
        let lines = lines(&sam, name);
        assert_eq!(lines.len(), records, "{name}: {lines:?}");
        assert!(lines.iter().all(|line| line.2 == 60), "{name}: {lines:?}");
    }
    // The inverted segment is on the other strand, within a few bases.
    let inverted = lines(&sam, "inversion2000");
    let reverse: Vec<u32> = inverted.iter().filter(|line| line.0 & 16 > 0).map(|line| line.1).collect();
    assert!(reverse.len() == 1 && reverse[0].abs_diff(7_501) < 20, "{inverted:?}");
    // Without cuts, each read has one record.
    let uncut = run(&["--device", "cpu", "--preset", "long", "--z-drop", "0"]);
    assert_eq!(lines(&uncut, "inversion2000").len(), 1);
    assert_eq!(lines(&uncut, "plain2000"), lines(&sam, "plain2000"));
    // The plain engine is slow, so it aligns only two reads.
    let [head, turned_read, _, foreign_read] = [0, 1, 2, 3].map(|at| reads.split('>').nth(at).unwrap());
    folder.write("few.fa", format!("{head}>{turned_read}>{foreign_read}"));
    let few = folder.run(&["-q", "--preset", "long", "--device", "plain", "few.fa", "ref.fa"]);
    few.ended(0);
    let expected: Vec<&str> = sam
        .lines()
        .filter(|line| ["@", "inversion1000\t", "foreign1000\t"].iter().any(|start| line.starts_with(start)))
        .collect();
    assert_eq!(few.without_pg().lines().collect::<Vec<_>>(), expected);
    for more in
        [&["--device", "cpu", "--filter", "none"][..], &["--device", "cpu", "-t", "1", "--batch", "1"]]
    {
        assert_eq!(run(&[&["--preset", "long"], more].concat()), sam, "{more:?}");
    }
    folder.run(&["--z-drop", "100", "q.fa", "ref.fa"]).said(2, &["--z-drop", "--split"]);
    folder
        .run(&["--preset", "long", "--no-split", "--z-drop", "100", "q.fa", "ref.fa"])
        .said(2, &["--z-drop"]);
}
