//! The fuzz targets on their corpora, without a fuzzer. `scripts/fuzz_targets.sh` looks for further inputs.

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use crate::common::{random::Random, text};

/// Minimum number of inputs of a corpus.
const LEAST: usize = 100;

/// Runs a target on each line of its corpus, which has an input in hexadecimal digits.
fn replay(name: &str, run: fn(&[u8])) {
    let corpus = text(&format!("fuzz/corpus/{name}.hex"));
    let inputs = corpus.lines().map(|line| {
        let digit =
            |index: usize| u8::from_str_radix(&line[2 * index..2 * index + 2], 16).expect("hexadecimal");
        (0..line.len() / 2).map(digit).collect::<Vec<u8>>()
    });
    let mut count = 0;
    for (number, input) in inputs.enumerate() {
        println!("line {}: {input:?}", number + 1);
        run(&input);
        count += 1;
    }
    assert!(count >= LEAST, "{name}: {count} inputs");
}

macro_rules! replayed {
    ($($name:ident),+) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name), targets::$name::run);
        })+
    };
}

replayed!(arguments, grep, matrix, part, reader, receipt, search);

/// Databases have no corpus: any changes to a valid one are inputs.
#[test]
fn database() {
    let mut random = Random::new(11);
    for changes in 0..300 {
        let input: Vec<u8> = (0..4 * (changes % 20)).map(|_| random.below(256) as u8).collect();
        println!("{input:?}");
        targets::database::run(&input);
    }
}
