//! The command writes the same bytes with `--no-dedup`, for collections of near and exact copies, repeated reads,
//! mates, long reads and lists.

use crate::common::command::{command, finish};
use crate::common::folder::{Folder, folder};
use crate::common::random::Random;
use swalign::terms::alphabet::{Alphabet, reverse_complement};

const GENES: usize = 60;
const LETTERS: usize = 100;

fn text(letters: &[u8]) -> &str {
    std::str::from_utf8(letters).unwrap()
}

/// Writes copies of three genes: most are exact, one in four is mutated, and some are reverse complements. Also writes
/// reads and mates, many of them equal, and long reads.
fn collection() -> Folder {
    let mut random = Random::new(11);
    let founders: Vec<Vec<u8>> = (0..3).map(|_| random.sequence(Alphabet::Dna, 2400)).collect();
    let mut genes = Vec::new();
    for number in 0..GENES {
        let founder = random.pick(&[0, 1, 2]);
        let gene = &founders[founder];
        genes.push(match number % 4 {
            3 => random.mutated(Alphabet::Dna, gene, 1),
            2 => gene[random.below(300)..].to_vec(),
            _ => gene.clone(),
        });
        // Genes on the reverse strand, and genes that are their own reverse complement.
        if number % 10 == 9 {
            genes[number] = reverse_complement(&genes[number]);
        }
        if number % 20 == 4 {
            let half = genes[number][..1000].to_vec();
            genes[number] = [half.clone(), reverse_complement(&half)].concat();
        }
    }
    let [mut references, mut reads, mut pairs, mut long] = [(); 4].map(|()| String::new());
    for (number, gene) in genes.iter().enumerate() {
        references += &format!(">g{number}\n{}\n", text(gene));
    }
    let drawn = |random: &mut Random, len: usize| {
        let gene = &genes[random.below(GENES)];
        let start = random.below(gene.len() - len);
        let errors = random.pick(&[0, 0, 2]);
        random.mutated(Alphabet::Dna, &gene[start..start + len], errors)
    };
    let pool: Vec<Vec<u8>> = (0..40).map(|_| drawn(&mut random, LETTERS)).collect();
    for number in 0..400 {
        let mut read = pool[random.below(pool.len())].clone();
        if number % 5 == 0 {
            read = drawn(&mut random, LETTERS);
        }
        if number % 7 == 0 {
            read = reverse_complement(&read);
        }
        let quality = ["I", "5"][number % 2].repeat(read.len());
        reads += &format!("@r{number}\n{}\n+\n{quality}\n", text(&read));
    }
    let fragments: Vec<Vec<u8>> = (0..20).map(|_| drawn(&mut random, 400)).collect();
    for number in 0..150 {
        let fragment = &fragments[random.below(fragments.len())];
        let last = if number % 3 == 0 { 0 } else { fragment.len() - LETTERS };
        let mates = [&fragment[..LETTERS], &fragment[last..last + LETTERS]];
        for mate in [mates[0].to_vec(), reverse_complement(mates[1])] {
            pairs += &format!(">p{number}\n{}\n", text(&mate));
        }
    }
    for number in 0..20 {
        let mut read = drawn(&mut random, 900);
        read.extend(drawn(&mut random, 700));
        long += &format!(">l{number}\n{}\n>m{number}\n{}\n", text(&read), text(&read));
    }
    let files = [("genes.fa", &references), ("reads.fq", &reads), ("pairs.fa", &pairs), ("long.fa", &long)];
    folder(&files.map(|(name, text)| (name, text.as_bytes())))
}

#[test]
fn the_same_bytes_are_written_without_dedup() {
    let folder = collection();
    let lines: [&[&str]; 11] = [
        &["reads.fq"],
        &["reads.fq", "--max-hits", "7", "--secondary-ratio", "0.5"],
        &["reads.fq", "--filter", "none", "--max-hits", "2"],
        &["reads.fq", "--filter", "scan"],
        &["reads.fq", "--filter", "index", "--forward-only", "--batch", "30"],
        &["reads.fq", "--format", "paf", "-t", "1", "--max-hits", "100"],
        &["reads.fq", "--format", "tab", "--max-targets", "3", "--ties"],
        &["--interleaved", "pairs.fa"],
        &["--interleaved", "pairs.fa", "--max-hits", "3", "--insert", "400,30"],
        &["long.fa", "--preset", "long"],
        &["long.fa", "--split", "--max-hits", "2"],
    ];
    let mut repeats = 0;
    for args in lines {
        let run = |more: &[&str]| {
            let all = args.iter().chain(&["genes.fa", "--device", "cpu"]).chain(more);
            let outcome = finish(command(folder.path()).args(all));
            outcome.ended(0);
            (String::from_utf8(outcome.stdout).unwrap(), outcome.stderr)
        };
        let (plain, said) = run(&["--no-dedup", "-v"]);
        assert!(!said.contains("repeats:") && !said.contains("duplicates"), "{args:?}: {said}");
        let (once, said) = run(&["-v"]);
        assert_eq!(once, plain, "{args:?}");
        assert!(plain.lines().count() > 20, "{args:?}");
        assert!(said.contains("duplicates"), "{args:?}: {said}");
        repeats += usize::from(said.contains("repeats:"));
    }
    assert!(repeats >= 6, "{repeats}");
}
