//! `swalign index`, and runs with a database as references: the output is the same as with FASTA.

#[path = "database/damage.rs"]
mod damage;
#[path = "database/same.rs"]
mod same;
#[path = "database/searched.rs"]
mod searched;

use crate::common::bam;
use crate::common::folder::{Folder, folder};
use swalign::input::database::Contents;

const REFERENCE: &[u8] = b">chr1 the first\nACGTTGCATTAGCCATGGATCCATTGCACGGTTAACCGTATGCAAGGCTTA\n>chr2\nTTGACCAGTACCAGGATACAGATTTACCGGATACCAGATCCA\n";
const QUERY: &[u8] = b">r1\nTTAGCCATGGATCCATTGCACGGTTAACC\n>r2 with a comment\nCCAGTACCAGGATACAGATTTACC\n";

/// A folder with these files of `data/`. The last file becomes ref.fa and gets a database, ref.fa.swdb.
fn indexed(files: &[&str]) -> Folder {
    let folder = Folder::new();
    let (last, queries) = files.split_last().unwrap();
    queries.iter().for_each(|name| folder.copy_data(name, name));
    folder.copy_data(last, "ref.fa");
    folder.done(&["index", "-q", "ref.fa"]);
    folder
}

/// A folder with small inputs and a small database.
fn small() -> Folder {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    folder.done(&["index", "-q", "ref.fa"]);
    folder
}

const SMALL_RUN: [&str; 5] = ["--device", "cpu", "--min-score", "10", "q.fa"];

/// The arguments of a run in a folder made by [`small`].
fn run_of<'a>(reference: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [more, &SMALL_RUN, &[reference]].concat()
}

#[test]
fn the_command_says_what_it_made() {
    let folder = folder(&[("ref.fa", REFERENCE)]);
    let outcome = folder.run(&["index", "ref.fa"]);
    outcome.said(0, &["ref.fa.swdb: 2 references of DNA, 93 residues"]);
    assert!(outcome.stdout.is_empty());
    assert_eq!(folder.names(), ["ref.fa", "ref.fa.swdb"]);
    let first = folder.read("ref.fa.swdb");
    folder.done(&["index", "-q", "ref.fa"]);
    assert!(folder.read("ref.fa.swdb") == first, "the same file makes the same database");
    // Several threads, and another output name.
    folder.done(&["index", "-q", "-t", "3", "-o", "other.db", "ref.fa"]);
    assert!(folder.read("other.db") == first);
}

#[test]
fn long_references_have_an_index_of_kmers() {
    let folder = indexed(&["chr22_12k.fa"]);
    let bytes = folder.read("ref.fa.swdb");
    let contents = Contents::read(&bytes).unwrap();
    assert_eq!(
        (contents.header().shape().map(|shape| shape.letters), contents.names().unwrap().len()),
        (Some(7), 1)
    );
    contents.prove_all().unwrap();
    let proteins = indexed(&["uniprot_60.fa"]);
    assert_eq!(Contents::read(&proteins.read("ref.fa.swdb")).unwrap().header().shape(), None);
}

#[test]
fn references_of_any_packing_and_from_stdin() {
    let folder = small();
    let expected = folder.run(&run_of("ref.fa", &[])).without_pg();
    folder.write("packed.gz", crate::common::gzip::gzip(REFERENCE));
    folder.done(&["index", "-q", "packed.gz"]);
    assert_eq!(folder.run(&run_of("packed.gz.swdb", &[])).without_pg(), expected);
    let mut command = crate::common::command::command(folder.path());
    let outcome =
        crate::common::command::finish(command.args(["index", "-", "-o", "db"]).write_stdin(REFERENCE));
    outcome.ended(0);
    let outcome = folder.run(&run_of("db", &[]));
    assert_eq!(outcome.without_pg(), expected);
    assert!(!outcome.stderr.contains("changed"), "{}", outcome.stderr);
}

#[test]
fn what_index_refuses() {
    let folder =
        folder(&[("ref.fa", REFERENCE), ("reads.fq", b"@r\nACGT\n+\nIIII\n"), ("bad.fa", b">r\nAC-GT\n")]);
    for (args, code, says) in [
        (&["index", "-"][..], 2, "-o DB.swdb"),
        (&["index"], 2, "FASTA"),
        (&["index", "ref.fa", "-o", "-"], 2, "stdout"),
        (&["index", "ref.fa", "-o", "ref.fa"], 2, "ref.fa"),
        (&["index", "reads.fq"], 2, "--reads-as-reference"),
        (&["index", "bad.fa"], 1, "gap characters"),
        (&["index", "missing.fa"], 1, "missing.fa"),
        (&["index", "ref.fa", "-o", "no/folder.swdb"], 1, "no/folder.swdb"),
        (&["index", "ref.fa", "--alphabet", "rna"], 2, "dna"),
    ] {
        folder.refused(args, code, &[says]);
    }
    folder.done(&["index", "-q", "--reads-as-reference", "reads.fq"]);
}

#[test]
fn options_that_contradict_the_database_are_refused() {
    let folder = small();
    folder.done(&["index", "-q", "--mask-lower-case", "ref.fa", "-o", "masked"]);
    for (args, says) in [
        (run_of("ref.fa.swdb", &["--alphabet", "protein"]), "swalign index --alphabet protein"),
        (run_of("ref.fa.swdb", &["--mask-lower-case"]), "swalign index --mask-lower-case"),
        (run_of("masked", &[]), "--mask-lower-case"),
    ] {
        folder.run(&args).said(2, &[says]);
    }
    folder.done(&run_of("masked", &["--mask-lower-case"]));
    folder.done(&run_of("ref.fa.swdb", &["--alphabet", "dna"]));
}

#[test]
fn a_database_stands_only_in_the_place_of_references() {
    let folder = small();
    for args in [&["ref.fa.swdb", "ref.fa"][..], &["pairs", "q.fa", "ref.fa.swdb"], &["index", "ref.fa.swdb"]]
    {
        folder.run(args).said(1, &["ref.fa.swdb", "`swalign index`", "FASTA"]);
    }
}

/// Each run checks for names that SAM forbids.
#[test]
fn names_that_sam_forbids() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", &[&b">a,b;x\n"[..], &REFERENCE[16..]].concat())]);
    folder.done(&["index", "-q", "ref.fa"]);
    folder
        .run(&run_of("ref.fa.swdb", &[]))
        .said(1, &["ref.fa.swdb, record 1 'a,b;x'", "--rename-references"]);
    for more in [&["--rename-references"][..], &["--format", "paf"], &["--format", "tab"]] {
        let expected = folder.run(&run_of("ref.fa", more)).without_pg();
        assert!(folder.run(&run_of("ref.fa.swdb", more)).without_pg() == expected, "{more:?}");
    }
}

#[test]
fn a_changed_source_is_told() {
    let folder = small();
    let told = |reference: &str| folder.run(&run_of(reference, &[])).stderr.contains("changed");
    assert!(!told("ref.fa.swdb"));
    // The modification time differs, but not the content.
    folder.write("ref.fa", REFERENCE);
    assert!(!told("ref.fa.swdb"));
    folder.write("ref.fa", REFERENCE.to_ascii_lowercase());
    assert!(told("ref.fa.swdb"));
    folder.write("ref.fa", [REFERENCE, b">more\nACGT\n"].concat());
    assert!(told("ref.fa.swdb"));
    std::fs::remove_file(folder.file("ref.fa")).unwrap();
    assert!(!told("ref.fa.swdb"));
}
