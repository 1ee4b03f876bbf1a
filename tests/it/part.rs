//! Tests runs in parts through the command: joined, the parts are the whole, byte for byte.

#[cfg(unix)]
#[path = "part/ends.rs"]
mod ends;
#[path = "part/joined.rs"]
mod joined;
#[path = "part/merge.rs"]
mod merge;
#[path = "part/resume.rs"]
mod resume;

use crate::common::command::{command, finish};
use crate::common::gzip::{gzip, unpacked};
use crate::common::{data, folder::Folder, names_in_groups, receipts};
use std::fs;
use swalign::output::writer::bgzf::pack;

/// Number of reads in the files of `reads`.
const READS: usize = 2018;

/// Writes real reads in many groups, in every form of queries, and a reference.
fn reads() -> Folder {
    let folder = Folder::new();
    let text = unpacked(&data("illumina_chr22.fq.gz"));
    let lines: Vec<&str> = text.lines().collect();
    let (mut fastq, mut fasta, mut wrapped) = (String::new(), String::new(), String::new());
    let [mut mates, mut pairs] = [String::new(), String::new()];
    let names = names_in_groups(READS, 60, 69);
    for (number, name) in names.iter().enumerate() {
        let record = &lines[4 * number % lines.len()..][..4];
        let letters = &record[1][number % 11..80];
        let qualities = &record[3][number % 11..80];
        fastq += &format!("@{name} of many\n{letters}\n+\n{qualities}\n");
        fasta += &format!(">{name}\n{letters}\n");
        wrapped += &format!("> {name}\n{} \n\n{}\n", &letters[..40], &letters[40..]);
        let name = &names[number / 2 * 2];
        mates += &format!("@{name}/{}\r\n{letters}\r\n+{name}\r\n{qualities}\r\n", 1 + number % 2);
        pairs += &format!(">{name}\n{letters}\n");
    }
    let long = |name: &String| format!(">{name}\n{}\n", lines[1].repeat(50));
    // Empty lines at the end are not records.
    fastq += "\n\n \n";
    folder.write("q.fq", &fastq);
    folder.write("q.fa", fasta);
    folder.write("wrapped.fa", format!("\n \n{}", wrapped.trim_end()));
    folder.write("mates.fq", &mates);
    folder.write("pairs.fa", pairs);
    folder.write("long.fa", names_in_groups(9, 2, 5000).iter().map(long).collect::<String>());
    folder.write("q.fq.gz", gzip(fastq.as_bytes()));
    folder.write("blocks.fq.gz", pack(fastq.as_bytes()).unwrap());
    folder.write("mates.fq.gz", pack(mates.as_bytes()).unwrap());
    folder.copy_data("chr22_12k.fa", "ref.fa");
    folder
}

/// Concatenates parts, without the headers of the later parts and the ends of the earlier parts.
fn joined(parts: &[Vec<u8>], header: usize, end: usize) -> Vec<u8> {
    let mut all = parts[0][..header].to_vec();
    for part in parts {
        assert!(part[..header] == parts[0][..header], "headers differ");
        all.extend(&part[header..part.len() - end]);
    }
    all.extend(&parts[0][parts[0].len() - end..]);
    all
}

/// Returns the lengths of the header and of the end, in bytes.
fn frame(format: &str, bytes: &[u8]) -> (usize, usize) {
    match format {
        "sam" => {
            let header = bytes.split_inclusive(|&byte| byte == b'\n').take_while(|line| line[0] == b'@');
            (header.map(<[u8]>::len).sum(), 0)
        }
        "bam" => (crate::common::bam::blocks(bytes).0.concat().len(), crate::common::bam::END.len()),
        _ => (0, 0),
    }
}

/// Writes all parts of the queries to a new folder. Returns the folder and the names of the parts.
fn parts_of(format: &str, count: usize) -> (Folder, Vec<String>) {
    let folder = reads();
    let name = |number: usize| format!("{number}.{format}");
    for number in 1..=count {
        let part = format!("{number}/{count}");
        folder.done(&["--device", "cpu", "--part", &part, "-o", &name(number), "q.fq", "ref.fa"]);
    }
    (folder, (1..=count).map(name).collect())
}
