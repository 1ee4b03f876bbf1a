//! Parsers for the values of arguments. Their errors say what to give instead.

use super::names::{ALPHABETS, MODES};
use super::ranked::TableColumns;
use super::search::SearchColumns;
use crate::terms::alignment::Frames;
use crate::terms::alphabet::{Alphabet, GeneticCode};
use crate::terms::casts::to_i32;
use crate::terms::insert::{InsertSize, MOST_INSERT, Orientation};
use crate::terms::options::{
    Column, DeviceChoice, DevicesChoice, IdentityDefinition, MOST_PAM_LETTERS, MaxEdits, PerPiece, Rate,
    SampledKmers, SearchColumn, Share,
};
use crate::terms::scoring::{AlignmentMode, MAX_PARAMETER, MAX_SCORE};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::ops::RangeInclusive;

pub fn score(text: &str) -> Result<i32, String> {
    positive(text, "scores of a match are positive numbers")
}

pub fn penalty(text: &str) -> Result<i32, String> {
    positive(text, "penalties are positive numbers")
}

/// The penalties of the pieces of the gap costs.
pub fn gap_penalties(text: &str) -> Result<PerPiece, String> {
    let costs = text.split(',').map(penalty).collect::<Result<Vec<i32>, String>>()?;
    PerPiece::of(&costs).ok_or_else(|| "give one number or two, such as 4 or 4,24".to_string())
}

/// A number of 0 or more. The error for a negative number is `rule`, with the number without its sign.
/// [`crate::terms::options::ScoringChoice::resolve`] checks the upper limits.
fn positive(text: &str, rule: &str) -> Result<i32, String> {
    match text.parse::<i32>() {
        Ok(number) if number < 0 => Err(format!("{rule}; give {}", number.unsigned_abs())),
        Ok(number) => Ok(number),
        Err(_) => Err("give a whole number, such as 4".to_string()),
    }
}

/// A minimum score. In local mode it is at least 1.
pub fn any_score(text: &str) -> Result<i32, String> {
    let most = to_i32(MAX_SCORE);
    let number = text.parse().ok().filter(|number| (-most..=i32::MAX).contains(number));
    number.ok_or_else(|| {
        format!("give a whole number from 1 (in modes other than local from -{most}) to {}", i32::MAX)
    })
}

pub fn min_score(text: &str) -> Result<i32, String> {
    text.parse()
        .ok()
        .filter(|&number| number >= 1)
        .ok_or_else(|| format!("give a whole number from 1 to {}", i32::MAX))
}

pub fn count(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&number| number >= 1)
        .ok_or_else(|| "give a whole number of 1 or more".to_string())
}

/// The length of k-mers, 6 to 14, and the distance of their positions, 2 to 12.
pub fn sampled_kmers(text: &str) -> Result<SampledKmers, String> {
    let numbers =
        text.split_once(',').and_then(|(one, other)| Some((one.parse().ok()?, other.parse().ok()?)));
    match numbers {
        Some((letters @ 6..=14, step @ 2..=12)) => Ok(SampledKmers { letters, step }),
        _ => Err("give a length from 6 to 14 and a distance from 2 to 12, such as 8,3".to_string()),
    }
}

/// Bases of an exact run: none, or enough to be rare.
pub fn anchor(text: &str) -> Result<u32, String> {
    const BASES: RangeInclusive<u32> = 10..=1000;
    let bases = text.parse().ok().filter(|bases| *bases == 0 || BASES.contains(bases));
    bases.ok_or_else(|| format!("give 0, or a number of bases from {} to {}", BASES.start(), BASES.end()))
}

/// An E-value.
pub fn evalue(text: &str) -> Result<f64, String> {
    let evalue = text.parse::<f64>().ok().filter(|evalue| evalue.is_finite() && *evalue > 0.0);
    evalue.ok_or_else(|| "give a number above 0, such as 10 or 1e-5".to_string())
}

pub fn percent(text: &str) -> Result<f64, String> {
    let percent = text.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| "give a percentage from 0 to 100, such as 97".to_string())
}

pub fn identity_definition(text: &str) -> Result<IdentityDefinition, String> {
    let number = text.parse::<u8>().ok().and_then(IdentityDefinition::numbered);
    number.ok_or_else(|| "give 0, 1, 2, 3 or 4".to_string())
}

/// A genetic code by its number at NCBI.
pub fn genetic_code(text: &str) -> Result<GeneticCode, String> {
    let code = text.parse::<u8>().ok().and_then(GeneticCode::numbered);
    code.ok_or_else(|| {
        let numbers: Vec<String> = GeneticCode::numbers().map(|number| number.to_string()).collect();
        format!("there is no such genetic code; NCBI's numbers are {}", numbers.join(", "))
    })
}

/// Frames by their numbers, separated by commas.
pub fn frames(text: &str) -> Result<Frames, String> {
    let numbers: Option<Vec<i8>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    numbers
        .and_then(Frames::numbered)
        .ok_or_else(|| "give frames of 1 to 3 and -1 to -3, separated by commas, such as 1,2,3".to_string())
}

/// The cost of a change of the frame.
pub fn frameshift(text: &str) -> Result<i32, String> {
    let cost = text.parse::<i32>().ok().filter(|cost| (1..=MAX_PARAMETER).contains(cost));
    cost.ok_or_else(|| format!("give a cost of 1 to {MAX_PARAMETER}, such as 15"))
}

/// Names of columns, separated by commas.
pub fn columns(text: &str) -> Result<TableColumns, String> {
    match Column::parse(text) {
        Ok(columns) if columns.is_empty() => Err("give column names, such as std,qlen,slen".to_string()),
        Ok(columns) => Ok(TableColumns(columns)),
        Err(name) => {
            let names: Vec<&str> = Column::names().map(|(name, _)| name).collect();
            Err(format!("there is no column {name}; the columns are std, {}", names.join(", ")))
        }
    }
}

/// A number of bytes, such as 512M: K, M and G are powers of 1024.
pub fn bytes(text: &str) -> Result<usize, String> {
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let unit = units.iter().find(|(letter, _)| text.ends_with([*letter, letter.to_ascii_lowercase()]));
    let (number, shift) = unit.map_or((text, 0), |(_, shift)| (&text[..text.len() - 1], *shift));
    let bytes = number.parse::<usize>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.filter(|&bytes| bytes >= 1).ok_or_else(|| "give a number of bytes, such as 512M or 4G".to_string())
}

/// `I/N`, both from 1.
pub fn share(text: &str) -> Result<Share, String> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number >= 1);
    match text.split_once('/').map(|(i, n)| (number(i), number(n))) {
        Some((Some(number), Some(of))) if number <= of => Ok(Share { number, of }),
        Some((Some(number), Some(of))) => {
            Err(format!("there is no part {number} of {of}; give a part from 1 to {of}"))
        }
        _ => Err("give I/N for part I of N, such as 2/8, with I from 1 to N".to_string()),
    }
}

/// `MEAN,SD` or `MEAN,SD,ORIENTATION`.
pub fn insert(text: &str) -> Result<InsertSize, String> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| (1..=MOST_INSERT).contains(number));
    let mut parts = text.split(',');
    let numbers = (parts.next().and_then(number), parts.next().and_then(number));
    let orientation = parts.next().map_or(Some(Orientation::Fr), Orientation::named);
    match (numbers, orientation, parts.next()) {
        ((Some(mean), Some(deviation)), Some(orientation), None) => {
            Ok(InsertSize { orientation, mean, deviation })
        }
        _ => Err(format!(
            "give MEAN,SD as whole numbers from 1 to {MOST_INSERT}, such as 350,60, with an optional third value fr, rf or ff"
        )),
    }
}

pub fn edits(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "give a whole number of 0 or more, such as 2".to_string())
}

pub fn alphabet() -> impl TypedValueParser<Value = Alphabet> {
    one_of(ALPHABETS)
}

pub fn mode() -> impl TypedValueParser<Value = AlignmentMode> {
    one_of(MODES)
}

/// A value by its name.
fn one_of<T, const N: usize>(names: [(&'static str, T); N]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.map(|(name, _)| name)).try_map(move |given| {
        let named = names.iter().find(|(name, _)| *name == given);
        named.map(|&(_, value)| value).ok_or("unknown name")
    })
}

pub fn yes_or_no() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["yes", "no"]).map(|answer| answer == "yes")
}

pub fn ratio(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| "give a number from 0 to 1, such as 0.8".to_string())
}

/// One device, or several GPUs.
pub fn devices(text: &str) -> Result<DevicesChoice, String> {
    let names = text.strip_prefix("gpu:").filter(|names| names.contains(','));
    let devices = match names {
        None if text == "all" => Some(DevicesChoice::AllGpus),
        None => device(text).ok().map(DevicesChoice::One),
        Some(names) => names.split(',').map(gpu_name).collect::<Option<_>>().map(DevicesChoice::Gpus),
    };
    match devices {
        Some(devices) => Ok(devices),
        None => Err(
            "give auto, cpu, gpu, all, or gpu: and the INDEX, NAME or PCI-ID of a GPU in `swalign devices` \
                  (several as in gpu:0,1)"
                .to_string(),
        ),
    }
}

/// One device.
pub fn device(text: &str) -> Result<DeviceChoice, String> {
    match text.split_once(':').map(|(kind, name)| (kind, gpu_name(name))) {
        None if text == "auto" => Ok(DeviceChoice::Auto),
        None if text == "cpu" => Ok(DeviceChoice::Cpu(None)),
        None if text == "gpu" => Ok(DeviceChoice::Gpu(None)),
        None if text == "plain" => Ok(DeviceChoice::Plain),
        Some(("cpu", Some(name))) => Ok(DeviceChoice::Cpu(Some(name))),
        Some(("gpu", Some(name))) => Ok(DeviceChoice::Gpu(Some(name))),
        _ => Err("give auto, cpu, gpu, cpu: and an instruction set, or gpu: and the INDEX, NAME or PCI-ID of a GPU in \
                  `swalign devices`"
            .to_string()),
    }
}

/// The name of a GPU or an instruction set, without spaces and a repeated `gpu:`.
fn gpu_name(name: &str) -> Option<String> {
    Some(name.trim().trim_start_matches("gpu:").to_string()).filter(|name| !name.is_empty())
}

/// The device of `swalign grep`, which uses at most one GPU.
pub fn grep_device(text: &str) -> Result<DeviceChoice, String> {
    match text == "all" || (text.starts_with("gpu:") && text.contains(',')) {
        true => Err("grep uses at most one GPU; give gpu, gpu:INDEX, gpu:NAME or gpu:PCI-ID".to_string()),
        false => device(text),
    }
}

/// A number of edits, or a percentage of the length of a pattern.
pub fn edit_limit(text: &str) -> Result<MaxEdits, String> {
    match text.strip_suffix('%') {
        Some(percent) => {
            below_one(percent, 4).map(|millionths| MaxEdits::Rate(Rate { millionths })).ok_or_else(|| {
                "give a rate of at least 0% and below 100%, with at most four decimals, such as 10%"
                    .to_string()
            })
        }
        None => text
            .parse()
            .map(MaxEdits::Number)
            .map_err(|_| "give a whole number of 0 or more, such as 2, or a rate, such as 10%".to_string()),
    }
}

/// A number of edits in `swalign grep`, which has one limit for all patterns.
pub fn grep_edits(text: &str) -> Result<u32, String> {
    match text.ends_with('%') {
        true => Err("rates are for `swalign search`; give a whole number, such as 2".to_string()),
        false => edits(text),
    }
}

/// Edits per base of a pattern, in millionths. The text is a number from 0 to 1 with at most six decimals.
pub fn edit_rate(text: &str) -> Result<u32, String> {
    below_one(text, 6).ok_or_else(|| {
        "give a number of at least 0 and below 1, with at most six decimals, such as 0.1".to_string()
    })
}

/// The millionths of a number below 1, which is written with the decimal point moved by 6 - `decimals` digits.
fn below_one(text: &str, decimals: usize) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = is_number(whole)
        && is_number(fraction)
        && fraction.len() <= decimals
        && !(whole.is_empty() && fraction.is_empty());
    let digits = if fits { format!("0{whole}{fraction:0<decimals$}") } else { String::new() };
    digits.parse().ok().filter(|&millionths| millionths < 1_000_000)
}

/// IUPAC codes of a PAM.
pub fn pam(text: &str) -> Result<String, String> {
    if !(1..=MOST_PAM_LETTERS).contains(&text.len()) {
        return Err(format!("give 1 to {MOST_PAM_LETTERS} bases, such as NGG"));
    }
    match text.chars().find(|&c| u8::try_from(c).ok().and_then(|c| Alphabet::Dna.code(c)).is_none()) {
        None => Ok(text.to_string()),
        Some(letter) => Err(format!("'{}' is not an IUPAC code of DNA", letter.escape_debug())),
    }
}

/// `MIN..MAX`, both included.
pub fn amplicon_size(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.parse::<usize>().ok().filter(|&number| number >= 1);
    match text.split_once("..").map(|(least, most)| (number(least), number(most))) {
        Some((Some(least), Some(most))) if least <= most => Ok((least, most)),
        Some((Some(least), Some(most))) => {
            Err(format!("{least} is greater than {most}; give {most}..{least}"))
        }
        _ => Err("give MIN..MAX in bases, both at least 1, such as 300..500".to_string()),
    }
}

/// Names of columns of `swalign search`, separated by commas.
pub fn search_columns(text: &str) -> Result<SearchColumns, String> {
    match SearchColumn::parse(text) {
        Ok(columns) if columns.is_empty() => Err("give column names, such as std,edits_last3".to_string()),
        Ok(columns) => Ok(SearchColumns(columns)),
        Err(name) => {
            let names: Vec<&str> = SearchColumn::names().collect();
            Err(format!("there is no column {name}; the columns are std, {}", names.join(", ")))
        }
    }
}
