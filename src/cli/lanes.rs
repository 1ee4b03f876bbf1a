//! The arguments of lanes: lists of files, and sample sheets.

use super::mates::MateFlags;
use super::usage;
use crate::terms::options::{
    MatesChoice, ReadGroup, SequencingLane, SheetFault, parse_sample_sheet, try_open,
};
use crate::terms::system::read;
use clap::Args;
use clap::error::ErrorKind;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What separates the files of a list.
const SEPARATOR: char = ',';

#[derive(Args)]
pub struct SheetFlag {
    /// Take the reads from a table of lanes instead of QUERY and MATES
    ///
    /// Text with tabs and a header line. Columns are ID and reads1 (the file of the reads), and if wanted reads2 (the file of
    /// the second mates; empty for single reads), SM, LB, PL and PU. Each line is a lane: its reads get the read group (@RG)
    /// of the line. All lanes are aligned in one run, one after the other, and mates of each lane have an insert size of their
    /// own. Names of reads may be those of another lane. Paths are relative to the working directory.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "FILE.tsv",
        help_heading = "Input",
        conflicts_with_all = ["interleaved", "read_group"]
    )]
    sample_sheet: Option<PathBuf>,
}

/// The lanes of a run, and its references.
pub struct LanesChoice {
    pub lanes: Vec<SequencingLane>,
    pub sheet: Option<PathBuf>,
    pub reference: PathBuf,
}

impl SheetFlag {
    /// The lanes that files or a sheet give. `first` is the first file, and `rest` are the files after it.
    pub fn lanes(
        self,
        mates: &MateFlags,
        (first, rest): (Option<PathBuf>, Vec<PathBuf>),
        read_groups: Vec<ReadGroup>,
    ) -> Result<LanesChoice, clap::Error> {
        let missing = |text| usage(ErrorKind::MissingRequiredArgument, text);
        if let Some(sheet) = self.sample_sheet {
            if let Some(extra) = rest.first() {
                let text = format!(
                    "--sample-sheet names all reads, so REFERENCE is the only file beside it; leave {} out",
                    extra.display()
                );
                return Err(usage(ErrorKind::ArgumentConflict, text));
            }
            let reference = first.ok_or_else(|| {
                missing("REFERENCE is missing; name a FASTA file, or a database of `swalign index`")
            })?;
            return Ok(LanesChoice { lanes: read_sheet(&sheet)?, sheet: Some(sheet), reference });
        }
        let (mates, reference) = mates.place(rest);
        let (Some(query), Some(reference)) = (first, reference) else {
            return Err(missing(
                "REFERENCE is missing; give the queries and then the references, as in `swalign reads.fq ref.fa`",
            ));
        };
        Ok(LanesChoice { lanes: of_lists(query, mates, read_groups)?, sheet: None, reference })
    }
}

/// The lanes of a list of files and a list of their mates.
fn of_lists(
    query: PathBuf,
    mates: MatesChoice,
    read_groups: Vec<ReadGroup>,
) -> Result<Vec<SequencingLane>, clap::Error> {
    let files = list(&query)?;
    let of_mates: Vec<MatesChoice> = match mates {
        MatesChoice::File(path) => {
            let others = list(&path)?;
            let [(fewer, few), (more, many)] = match files.len() < others.len() {
                true => [(&query, files.len()), (&path, others.len())],
                false => [(&path, others.len()), (&query, files.len())],
            };
            if few != many {
                let text = format!(
                    "{} names {}, and {} names {many}; give as many files of second mates as of first ones, separated by \
                     commas",
                    fewer.display(),
                    if few == 1 { "1 file".to_string() } else { format!("{few} files") },
                    more.display()
                );
                return Err(usage(ErrorKind::ValueValidation, text));
            }
            others.into_iter().map(MatesChoice::File).collect()
        }
        other => vec![other; files.len()],
    };
    let lanes = files.into_iter().zip(of_mates).map(|(reads, mates)| SequencingLane {
        reads,
        mates,
        read_group: None,
    });
    with_groups(lanes.collect(), read_groups)
}

/// The files of a list. A name with commas that is a file is that file.
fn list(path: &Path) -> Result<Vec<PathBuf>, clap::Error> {
    let Some(text) = path.to_str().filter(|text| text.contains(SEPARATOR) && !path.exists()) else {
        return Ok(vec![path.to_path_buf()]);
    };
    if text.split(SEPARATOR).any(str::is_empty) {
        let text = format!("'{text}' has a comma without a file beside it; give files separated by commas");
        return Err(usage(ErrorKind::ValueValidation, text));
    }
    Ok(text.split(SEPARATOR).map(PathBuf::from).collect())
}

/// Gives each lane its read group: of one lane the one that is given, of several one each, or one named like its files.
pub fn with_groups(
    mut lanes: Vec<SequencingLane>,
    read_groups: Vec<ReadGroup>,
) -> Result<Vec<SequencingLane>, clap::Error> {
    let refused = |text: String| Err(usage(ErrorKind::ValueValidation, text));
    let (count, given) = (lanes.len(), read_groups.len());
    let groups: Vec<Option<ReadGroup>> = match given {
        0 if count == 1 => vec![None],
        0 => lanes.iter().map(|lane| Some(ReadGroup::of_files(lane.files()))).collect(),
        _ if given == count => read_groups.into_iter().map(Some).collect(),
        _ if count == 1 => {
            return refused(format!(
                "--read-group is given {given} times, and there is one file of reads; give it once"
            ));
        }
        _ => {
            let times = if given == 1 { "once".to_string() } else { format!("{given} times") };
            return refused(format!(
                "--read-group is given {times}, and there are {count} lanes; give one for each lane, or leave it out: \
                 then the names of the files are their IDs"
            ));
        }
    };
    let mut ids = HashSet::new();
    if let Some(twice) = groups.iter().flatten().find(|group| !ids.insert(group.id().to_string())) {
        return refused(format!(
            "two lanes have the read group ID '{}'; give each lane an ID of its own with --read-group, once for each",
            twice.id()
        ));
    }
    lanes.iter_mut().zip(groups).for_each(|(lane, group)| lane.read_group = group);
    Ok(lanes)
}

fn read_sheet(path: &Path) -> Result<Vec<SequencingLane>, clap::Error> {
    let refused = |fault: SheetFault| {
        let SheetFault { line, column, problem, remedy } = fault;
        let column = column.map_or_else(String::new, |column| format!(", column {column}"));
        let text = format!("{}, line {line}{column}: {problem}; {remedy}", path.display());
        usage(ErrorKind::ValueValidation, text)
    };
    let bytes = read(path).map_err(|error| {
        let text = format!("--sample-sheet: {}: {error}; check the path", path.display());
        usage(ErrorKind::Io, text)
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let (problem, remedy) = ("the text is not UTF-8".to_string(), "save the sheet as UTF-8".to_string());
        refused(SheetFault { line, column: None, problem, remedy })
    })?;
    let lanes = parse_sample_sheet(&text).map_err(refused)?;
    for (lane, line) in &lanes {
        for (file, column) in lane.files().zip(["reads1", "reads2"]) {
            if let Err(error) = try_open(file) {
                let problem = format!("{}: {error}", file.display());
                let (column, remedy) = (Some(column.to_string()), "check the path".to_string());
                return Err(refused(SheetFault { line: *line, column, problem, remedy }));
            }
        }
    }
    Ok(lanes.into_iter().map(|(lane, _)| lane).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(query: &str, mates: Option<&str>, groups: &[&str]) -> Result<Vec<String>, String> {
        let mates = mates.map_or(MatesChoice::None, |path| MatesChoice::File(path.into()));
        let groups = groups.iter().map(|line| ReadGroup::parse(line).unwrap()).collect();
        let lanes = of_lists(query.into(), mates, groups).map_err(|error| error.to_string())?;
        Ok(lanes.iter().map(|lane| lane.read_group.as_ref().map_or("-", ReadGroup::id).to_string()).collect())
    }

    #[test]
    fn read_groups_of_lists() {
        let two = ["@RG\tID:x\tSM:s", "@RG\tID:y\tSM:s"];
        assert_eq!(ids("a.fq", None, &[]).unwrap(), ["-"]);
        assert_eq!(ids("a.fq", None, &two[..1]).unwrap(), ["x"]);
        assert_eq!(ids("a.fq,b.fq", None, &two).unwrap(), ["x", "y"]);
        assert_eq!(ids("d/a_1.fq.gz,b_1.fq", Some("d/a_2.fq.gz,b_2.fq"), &[]).unwrap(), ["a", "b"]);
        for (query, mates, groups, says) in [
            ("a.fq", None, &two[..], ["--read-group", "2 times"]),
            ("a.fq,b.fq", None, &two[..1], ["--read-group", "2 lanes"]),
            ("a.fq,b.fq", Some("c.fq"), &[][..], ["c.fq names 1 file", "a.fq,b.fq names 2"]),
            ("a.fq", Some("b.fq,c.fq"), &[], ["a.fq names 1 file", "b.fq,c.fq names 2"]),
            ("a.fq,,b.fq", None, &[], ["'a.fq,,b.fq'", "comma"]),
            ("x/a.fq,y/a.fq", None, &[], ["two lanes", "ID 'a'"]),
        ] {
            let error = ids(query, mates, groups).unwrap_err();
            assert!(says.iter().all(|noun| error.contains(noun)), "{query}: {error}");
        }
    }
}
