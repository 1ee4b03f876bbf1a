//! All against all: each two sequences are aligned once, with the same hits as a search of each against the whole file.

use crate::common::folder::{Folder, folder};
use crate::common::{command::line_here, random::Random, sam::without_pg};
use std::collections::BTreeSet;

const COLUMNS: &str = "--columns qseqid,sseqid,score,qstart,qend,sstart,send,cigar";

fn rows(bytes: Vec<u8>) -> Vec<Vec<String>> {
    let text = String::from_utf8(bytes).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_string).collect()).collect()
}

/// Names of the records of a file of the repository, in order.
fn names(file: &str) -> Vec<String> {
    let text = crate::common::text(file);
    let headers = text.lines().filter_map(|line| line.strip_prefix('>'));
    headers.map(|line| line.split_whitespace().next().unwrap_or_default().to_string()).collect()
}

#[test]
fn each_two_meet_once() {
    for (file, more) in [
        ("data/uniprot_60.fa", "--device cpu --min-score 40 --evalue 1e9"),
        ("data/uniprot_60.fa", "--mode global"),
        ("data/16s_20.fa", "--device cpu"),
        ("data/16s_20.fa", "--mode glocal --forward-only"),
    ] {
        let names = names(file);
        let place = |name: &String| names.iter().position(|known| known == name).unwrap();
        let mut found = rows(line_here(&format!("all -q {more} {COLUMNS} {file}")).done());
        found.sort();
        // The hits of all sequences against the whole file, without those on earlier records.
        let whole = format!("-q --format tab --max-targets 1000 {more} {COLUMNS} {file} {file}");
        let all = rows(line_here(&whole).done());
        let mut expected: Vec<Vec<String>> =
            all.into_iter().filter(|row| place(&row[0]) < place(&row[1])).collect();
        // E-values, and with them the order, depend on the pair.
        expected.sort();
        assert!(found == expected, "{file} {more}: {} and {}", found.len(), expected.len());
        let pairs: BTreeSet<(usize, usize)> =
            found.iter().map(|row| (place(&row[0]), place(&row[1]))).collect();
        assert_eq!(pairs.len(), found.len(), "one hit of each two");
        if more.contains("global") {
            assert_eq!(pairs.len(), names.len() * (names.len() - 1) / 2);
        }
        assert!(found.len() > 20, "{file}: {}", found.len());
    }
}

/// The E-value of two sequences does not depend on their order: it is that of a search with the shorter one. Rows are
/// sorted by E-value.
#[test]
fn evalues_do_not_depend_on_the_order_of_records() {
    let folder = Folder::new();
    let columns = "--columns qseqid,sseqid,qlen,slen,score,evalue,bitscore";
    for (file, more) in [
        ("uniprot_60.fa", "--evalue 1000"),
        ("uniprot_60.fa", "--rank evalue"),
        ("uniprot_60.fa", "--matrix BLOSUM62 --gap-open 14 --gap-extend 2"),
        ("16s_20.fa", "--forward-only"),
    ] {
        let records = crate::common::text(&format!("data/{file}"));
        let turned: String = records
            .rsplit('>')
            .filter(|record| !record.is_empty())
            .map(|record| format!(">{record}"))
            .collect();
        folder.write("one.fa", &records);
        folder.write("two.fa", &turned);
        let list = |inputs: &str| {
            let args = "-q --device cpu --format tab --max-targets 1000";
            rows(folder.line(&format!("{inputs} {args} {columns} {more}")).done())
        };
        let unordered = |rows: &[Vec<String>]| -> BTreeSet<Vec<String>> {
            let turn = |row: &Vec<String>| match row[0] < row[1] {
                true => [&row[0..2], &row[4..]].concat(),
                false => [&[row[1].clone(), row[0].clone()], &row[4..]].concat(),
            };
            rows.iter().map(turn).collect()
        };
        let found = list("all one.fa");
        assert!(found.len() > 20, "{file} {more}: {}", found.len());
        assert_eq!(unordered(&found), unordered(&list("all two.fa")), "{file} {more}");
        let shorter = |row: &&Vec<String>| row[2].parse::<u32>().unwrap() < row[3].parse().unwrap();
        let search: Vec<Vec<String>> = list("one.fa one.fa").iter().filter(shorter).cloned().collect();
        let differ = |row: &&Vec<String>| row[2] != row[3];
        let of_all: Vec<Vec<String>> = found.iter().filter(differ).cloned().collect();
        assert_eq!(unordered(&of_all), unordered(&search), "{file} {more}");
        for pair in found.windows(2).filter(|pair| pair[0][0] == pair[1][0]) {
            let [one, other] = [0, 1].map(|at| pair[at][5].parse::<f64>().unwrap());
            assert!(one <= other, "{pair:?}");
        }
    }
}

#[test]
fn however_it_is_computed_the_bytes_are_the_same() {
    let folder = Folder::new();
    folder.copy_data("uniprot_60.fa", "p.fa");
    for name in ["tsv", "json", "txt", "sam", "paf"] {
        let args = "all -q --device cpu --evalue 1 p.fa";
        let output = |ways: &str| {
            folder.line(&format!("{args} {ways} -o x.{name}")).ended(0);
            without_pg(&folder.text(&format!("x.{name}")))
        };
        let whole = output("");
        for ways in ["-t 1", "--batch 7"] {
            assert!(output(ways) == whole, "{name}: {ways}");
        }
        let joined = String::from_utf8(folder.merged(args, "--part", 3, name)).unwrap();
        assert!(without_pg(&joined) == whole, "{name}: parts");
    }
}

#[test]
fn what_can_not_be_is_refused() {
    let folder =
        folder(&[("one.fa", b">a\nACGTACGTACGTACGTACGTACGT\n"), ("twice.fa", b">a\nACGT\n>a\nACGT\n")]);
    assert_eq!(folder.line("all -q one.fa").done(), b"");
    let says = ["twice.fa, record 2 'a', line 3", "record 1", "--format"];
    folder.line("all --format sam twice.fa").said(1, &says);
    folder.line("all -").said(2, &["read twice"]);
    folder.line("all one.fa twice.fa").said(2, &[]);
    for (option, value) in [("--filter", "auto"), ("--no-dedup", "")] {
        let says = [option, "swalign pairs", "swalign all"];
        folder.line(&format!("all {option} {value} one.fa")).said(2, &says);
        folder.line(&format!("pairs {option} {value} one.fa one.fa")).said(2, &says);
    }
    for (option, value) in [("--read-group", "@RG\\tID:a"), ("--rename-references", ""), ("--eqx", "")] {
        folder.line(&format!("all {option} {value} one.fa")).said(2, &[option, "SAM"]);
        folder.line(&format!("all -q --format sam {option} {value} one.fa")).ended(0);
    }
}

/// Parses a matrix in text format: names, and values row by row.
fn table(bytes: Vec<u8>) -> (Vec<String>, Vec<Vec<f64>>) {
    let all = rows(bytes);
    let names: Vec<String> = all[0][1..].to_vec();
    let values = all[1..].iter().map(|row| row[1..].iter().map(|value| value.parse().unwrap()).collect());
    assert!(all[1..].iter().map(|row| &row[0]).eq(&names), "rows are named as columns are");
    (names.clone(), values.collect())
}

/// The matrix has the same values as the list of all pairs, and 0 elsewhere. The diagonal compares each sequence with
/// itself.
#[test]
fn matrices_hold_the_pairs() {
    for (file, mode) in [
        ("data/uniprot_60.fa", "local"),
        ("data/uniprot_60.fa", "global"),
        ("data/16s_20.fa", "glocal"),
        ("data/16s_20.fa", "local"),
    ] {
        for values in ["score", "identity"] {
            let shared = format!("all -q --device cpu --mode {mode} {file}");
            let matrix = line_here(&format!("{shared} --format matrix --values {values}"));
            let (names, matrix) = table(matrix.done());
            let column = if values == "score" { "score" } else { "pident" };
            let least = if mode == "local" { "--min-score 1 --evalue 1e300" } else { "" };
            let list = format!("{shared} {least} --columns qseqid,sseqid,{column}");
            let place = |name: &String| names.iter().position(|known| known == name).unwrap();
            let mut seen = 0;
            for row in rows(line_here(&list).done()) {
                let (one, other, value) = (place(&row[0]), place(&row[1]), row[2].parse::<f64>().unwrap());
                assert_eq!((matrix[one][other], matrix[other][one]), (value, value), "{file} {mode} {row:?}");
                seen += 1;
            }
            assert_eq!(seen, names.len() * (names.len() - 1) / 2, "{file} {mode}");
            let own = (0..names.len()).map(|at| matrix[at][at]);
            assert!(
                own.clone().all(|value| if values == "score" { value > 0.0 } else { value > 95.0 }),
                "{own:?}"
            );
        }
    }
}

/// Many short sequences are scored without finding the cells of the best scores.
#[test]
fn matrices_of_many_short_sequences() {
    let mut random = Random::new(11);
    let mut fasta = String::new();
    for number in 0..300 {
        let len = 1 + random.below(30);
        let letters: Vec<u8> = (0..len).map(|_| random.pick(b"ACGTTN")).collect();
        fasta += &format!(">s{number}\n{}\n", String::from_utf8(letters).unwrap());
    }
    let folder = folder(&[("s.fa", fasta.as_bytes())]);
    for strand in ["", "--forward-only"] {
        let matrix = |device: &str| {
            let args = format!("all -q --format matrix --alphabet dna --device {device} s.fa {strand}");
            folder.line(&args).done()
        };
        assert!(matrix("cpu") == matrix("plain"), "{strand}");
    }
}

/// Parses NumPy's format without NumPy.
#[test]
fn arrays_are_numpys() {
    let folder = Folder::new();
    folder.copy_data("uniprot_60.fa", "p.fa");
    for (values, kind, bytes) in [("score", "<i4", 4), ("identity", "<f8", 8)] {
        folder.line(&format!("all -q --device cpu --values {values} -t 1 -o x.npy p.fa")).ended(0);
        let array = folder.read("x.npy");
        assert_eq!(&array[..8], b"\x93NUMPY\x01\x00");
        let len = usize::from(u16::from_le_bytes([array[8], array[9]]));
        assert_eq!((10 + len) % 64, 0);
        let header = std::str::from_utf8(&array[10..10 + len]).unwrap();
        let expected = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (60, 60), }}");
        assert_eq!(header.trim_end(), expected);
        let values_of: Vec<f64> = array[10 + len..]
            .chunks(bytes)
            .map(|value| match value {
                [a, b, c, d] => f64::from(i32::from_le_bytes([*a, *b, *c, *d])),
                _ => f64::from_le_bytes(value.try_into().unwrap()),
            })
            .collect();
        let text = folder.line(&format!("all -q --format matrix --values {values} p.fa")).done();
        let text: Vec<f64> = table(text).1.concat();
        assert_eq!(values_of.len(), text.len());
        assert!(values_of.iter().zip(&text).all(|(one, other)| (one - other).abs() < 0.0006), "{values}");
    }
}

#[test]
fn what_a_matrix_lacks_is_refused() {
    let folder = folder(&[("one.fa", b">a\nACGTACGTACGTACGTACGTACGT\n"), ("q.fa", b">b\nACGT\n")]);
    assert_eq!(folder.line("all -q --format matrix one.fa").done(), b"\ta\na\t24\n");
    for option in [
        "--part 1/2",
        "--min-score 3",
        "--evalue 1",
        "--max-hits 2",
        "--secondary-ratio 0.5",
        "--eqx",
        "--read-group @RG\\tID:a",
        "--max-targets 2",
        "--max-hsps 2",
        "--ties",
        "--rank identity",
        "--min-identity 50",
        "--min-coverage 50",
        "--columns score",
        "--header",
    ] {
        let name = option.split(' ').next().unwrap();
        folder.line(&format!("all --format matrix {option} one.fa")).said(2, &[name, "--format matrix"]);
    }
    folder.line("all --format tab -o y.npy one.fa").said(2, &[".npy", "--format"]);
    assert!(!folder.path().join("y.npy").exists());
    folder.line("all --values score one.fa").said(2, &["--format matrix"]);
    folder.line("--format matrix q.fa one.fa").said(2, &["swalign all"]);
    folder.write("long.fa", format!(">a\n{}\n", "ACGT".repeat(200)));
    let outcome = folder.line("all --format matrix --gap-extend 1000000 --mode global long.fa");
    outcome.said(1, &["overflow", "800 residues"]);
}
