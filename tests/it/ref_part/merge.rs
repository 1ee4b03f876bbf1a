//! Tests `swalign merge` of parts of the references: errors, and receipts, which it does not trust.

use super::*;
use flate2::read::MultiGzDecoder;
use std::io::Read;
use swalign::output::writer::bgzf;

/// Copies a part with another header, if there is one, and other uncompressed queries, and updates its receipt.
fn copy_changed(folder: &Folder, [from, to]: [&str; 2], header: Option<&str>, change: &dyn Fn(&mut Vec<u8>)) {
    let split = |name: &str| {
        let receipt = folder.text(&format!("{name}.swalign"));
        let header = receipt.lines().find_map(|line| line.strip_prefix("bytes\t")).unwrap();
        let header: usize = header.split('\t').next().unwrap().parse().unwrap();
        let mut bytes = folder.read(name);
        let queries = bytes.split_off(header);
        (bytes, queries)
    };
    let (own, queries) = split(from);
    let header = header.map_or(own, |name| split(name).0);
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(&queries[..]).read_to_end(&mut unpacked).unwrap();
    change(&mut unpacked);
    let end = bgzf::end_of_file().unwrap();
    let bytes = [&header[..], &bgzf::pack(&unpacked).unwrap(), &end].concat();
    folder.write(to, &bytes);
    folder.copy(&format!("{from}.swalign"), &format!("{to}.swalign"));
    receipts::change(&folder.file(to), |text| {
        let lens = format!("{}\t{}\t{}", header.len(), end.len(), bytes.len());
        let text = receipts::with(text, "bytes", &lens);
        receipts::with(&text, "crc32", &format!("{:08x}", crc32fast::hash(&bytes)))
    });
}

#[test]
fn merge_says_what_is_missing_or_foreign() {
    let folder = amplicons();
    for args in [
        "--ref-part 1/3 -o 1.sam",
        "--ref-part 2/3 -o 2.sam",
        "--ref-part 3/3 -o 3.sam",
        "--ref-part 2/4 -o of4.sam",
        "--ref-part 2/3 -o 2.bam",
        "--ref-part 2/3 -o hits.sam --max-hits 2",
        "--part 2/3 -o queries.sam",
        "--resume -o whole.sam",
    ] {
        folder.line(&format!("--device cpu -q {args} q.fq r.fa")).ended(0);
    }
    let copy = |to: &str, header: Option<&str>, change: &dyn Fn(&mut Vec<u8>)| {
        copy_changed(&folder, ["2.sam", to], header, change);
    };
    copy("again.sam", None, &|_| {});
    copy("renamed.sam", None, &|queries| {
        let name = queries.windows(3).position(|bytes| bytes == b"\x02r7").unwrap();
        queries[name + 1] = b'x';
    });
    copy("fewer.sam", None, &|queries| queries.truncate(queries.len() - 1));
    copy("headed.sam", Some("hits.sam"), &|_| {});
    let before = folder.names();
    for (parts, says) in [
        ("1.sam 3.sam", &["part 2/3", "missing"][..]),
        ("2.sam", &["2 parts of its run are missing: 1/3, 3/3;"]),
        ("1.sam 2.sam again.sam 3.sam", &["part 2/3, as is 2.sam", "again.sam"]),
        ("1.sam of4.sam 3.sam", &["of4.sam", "another run", "in 4 parts of the references"]),
        ("1.sam 2.bam 3.sam", &["2.bam", "another run", "as bam"]),
        ("1.sam hits.sam 3.sam", &["hits.sam", "another run", "--max-hits"]),
        ("1.sam queries.sam 3.sam", &["queries.sam", "another run", "in 3 parts, of inputs"]),
        ("1.sam whole.sam 3.sam", &["another run"]),
        ("1.sam renamed.sam 3.sam", &["renamed.sam", "query 8 is 'x7'", "'r7'"]),
        ("1.sam fewer.sam 3.sam", &["fewer.sam", "damaged", "write this part again"]),
        ("1.sam headed.sam 3.sam", &["headed.sam", "header"]),
        ("1.sam nosuch.sam 3.sam", &["nosuch.sam", "--ref-part"]),
    ] {
        folder.line(&format!("merge out.sam {parts}")).said(1, says);
        assert_eq!(folder.names(), before, "{parts}");
    }
    let outcome = folder.line("merge out.sam 1.sam 2.sam 3.sam");
    outcome.said(0, &["joined 3 parts of the references, of 552 records"]);
    assert!(folder.read("out.sam") == folder.read("whole.sam"));
    // The receipts of the parts differ in the number of queries or in another field.
    let receipt = folder.text("2.sam.swalign");
    for (from, to, says) in [
        ("records\t552", "records\t551", "551 queries"),
        ("ref-part\t2/3", "ref-part\t9", "was changed after it was written"),
    ] {
        folder.write("2.sam.swalign", &receipt);
        receipts::change(&folder.file("2.sam"), |text| {
            assert!(text.contains(from), "{text}");
            text.replace(from, to)
        });
        folder.line("merge out.sam 1.sam 2.sam 3.sam").said(1, &[says]);
    }
}

#[test]
fn merge_does_not_believe_receipts() {
    let folder = amplicons();
    for format in ["sam", "bam", "paf"] {
        check_damage(&folder, "--max-hits 2 q.fq r.fa", format, READS);
    }
}

/// A part of a huge number of parts is written like any other part.
#[test]
fn one_part_of_very_many() {
    let folder = amplicons();
    folder.line("--device cpu -q --ref-part 4294967295/4294967295 -o x.bam q.fq r.fa").ended(0);
    let says = "4294967294 parts of its run are missing: 1/4294967295, 2/4294967295, ";
    folder.line("merge out.bam x.bam").said(1, &[says]);
}

/// A part of the references is a different output from the whole and from a part of the queries.
#[test]
fn what_is_done_is_not_done_again() {
    let folder = amplicons();
    for (part, is_complete) in [
        ("--ref-part 1/2", false),
        ("--ref-part 1/2 -t 1", true),
        ("--part 1/2", false),
        ("--part 1/2", true),
        ("--ref-part 1/2", false),
        ("--ref-part 2/2", false),
        ("", false),
        ("", true),
    ] {
        let outcome = folder.line(&format!("--device cpu --resume -o x.sam {part} q.fq r.fa"));
        outcome.ended(0);
        assert_eq!(outcome.stderr.contains("is complete"), is_complete, "{part}");
    }
}
