//! The harness of all benchmarks: arguments, seeded inputs, rounds, and one table.
//!
//! `cargo bench --bench NAME -- [DEVICE] [only=TEXT]... [small] [list] [KEY=N]...`
//!
//! DEVICE is `cpu`, `cpu:SET`, `gpu` or `gpu:NAME`, as `--device` takes them. `only` runs the rows whose names hold its
//! text, or one of several texts; `list` prints the names of the rows instead; `small` divides the work by 64. The
//! first lines of each benchmark name its other words and keys. `cargo test --bench NAME` runs each row once, small,
//! for its check. A row is printed when its answer is checked: one line of fields with tabs between them, under a
//! header. Rates are those of the median; kernel time is by the device's clock.
#![allow(dead_code, reason = "each benchmark uses a part of it")]

#[path = "../../tests/common/random.rs"]
pub mod random;
pub mod reads;

use rayon::ThreadPoolBuilder;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use swalign::engine::cpu::simd::InstructionSet;
use swalign::engine::gpu::Card;

/// What the command line asks for, and the table that is printed.
pub struct Bench {
    pub device: Option<Device>,
    pub rounds: Rounds,
    arguments: Vec<String>,
    pub is_small: bool,
    listed: BTreeSet<String>,
}

pub enum Device {
    /// On an instruction set.
    Cpu(Option<String>),
    /// By name.
    Gpu(Option<String>),
}

impl Device {
    fn parse(text: &str) -> Option<Device> {
        let (kind, name) = text.split_once(':').map_or((text, None), |(kind, name)| (kind, Some(name)));
        match kind {
            "cpu" => Some(Device::Cpu(name.map(str::to_string))),
            "gpu" => Some(Device::Gpu(name.map(str::to_string))),
            _ => None,
        }
    }
}

/// Calls of a row.
#[derive(Clone, Copy)]
pub struct Rounds {
    /// Whether a call that is not timed comes first.
    pub warm: bool,
    pub timed: usize,
}

/// Times of the calls of a row, and the kernel time within each.
#[derive(Default)]
pub struct Times(Vec<(Duration, Duration)>);

/// A row of the table.
pub struct Row<'a> {
    pub work: &'a str,
    /// Instruction set, device or option that does it.
    pub by: &'a str,
    /// Cells, bytes or what else `unit` says.
    pub amount: usize,
    pub unit: &'a str,
    /// What else is worth knowing: empty for nothing.
    pub note: String,
}

impl Bench {
    /// Reads the arguments, of which `words` and `keys` (with numbers) are the benchmark's own.
    pub fn new(words: &[&str], keys: &[&str]) -> Bench {
        let mut arguments: Vec<String> = std::env::args().skip(1).collect();
        let all = arguments.len();
        arguments.retain(|argument| argument != "--bench");
        // Cargo gives it to benchmarks, and not to tests.
        let is_test = arguments.len() == all;
        let is_known = |argument: &&String| match argument.split_once('=') {
            Some(("only", _)) => true,
            Some((key, number)) => keys.contains(&key) && number.parse::<usize>().is_ok(),
            None => ["small", "list"].iter().chain(words).any(|word| argument == word),
        };
        let (known, other): (Vec<&String>, Vec<&String>) = arguments.iter().partition(is_known);
        let devices: Option<Vec<Device>> = other.iter().map(|argument| Device::parse(argument)).collect();
        let Some(mut devices) = devices.filter(|devices| devices.len() < 2) else {
            let keys: String = keys.iter().map(|key| format!(" [{key}=N]")).collect();
            let words: String = words.iter().map(|word| format!(" [{word}]")).collect();
            fail(&format!("usage: [cpu[:SET] | gpu[:NAME]] [only=TEXT]... [small] [list]{words}{keys}"))
        };
        let is_small = is_test || known.iter().any(|word| *word == "small");
        let rounds = if is_test { Rounds { warm: false, timed: 1 } } else { Rounds { warm: true, timed: 5 } };
        Bench { device: devices.pop(), rounds, arguments, is_small, listed: BTreeSet::new() }
    }

    pub fn has(&self, word: &str) -> bool {
        self.arguments.iter().any(|argument| argument == word)
    }

    /// The number given for `key`, or the usual one; at least 1.
    pub fn number(&self, key: &str, usual: usize) -> usize {
        let given = self.values(key).next().and_then(|number| number.parse().ok());
        given.unwrap_or(usual).max(1)
    }

    fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        self.arguments.iter().filter_map(move |argument| argument.strip_prefix(key)?.strip_prefix('='))
    }

    /// `work`, or a 64th of it where that is asked for.
    pub fn sized(&self, work: usize) -> usize {
        if self.is_small { work.div_ceil(64) } else { work }
    }

    /// `full` work, or `small` where that is asked for.
    pub fn either(&self, full: usize, small: usize) -> usize {
        if self.is_small { small } else { full }
    }

    /// Rounds for calls that take no longer than milliseconds.
    pub fn short_calls(&mut self) {
        self.rounds.timed *= if self.rounds.warm { 4 } else { 1 };
    }

    /// Gives all threads of this process to rayon's global pool: those of `threads=N`, or one.
    pub fn use_threads(&self) {
        ThreadPoolBuilder::new().num_threads(self.number("threads", 1)).build_global().expect("threads");
    }

    /// The instruction set asked for; without a name the best.
    pub fn set(name: Option<&str>) -> InstructionSet {
        match name {
            Some(name) => InstructionSet::named(name)
                .unwrap_or_else(|| fail(&format!("this processor has no '{name}'"))),
            None => InstructionSet::best(),
        }
    }

    /// The GPU asked for.
    pub fn card(name: Option<&str>) -> std::sync::Arc<Card> {
        Card::open(name, false).unwrap_or_else(|error| fail(&error.to_string()))
    }

    /// Whether a row is to be run. Where names are asked for, it prints the name.
    pub fn wants(&mut self, work: &str) -> bool {
        let is_wanted =
            self.values("only").next().is_none() || self.values("only").any(|text| work.contains(text));
        let is_listed = self.has("list");
        if is_listed && is_wanted && self.listed.insert(work.to_string()) {
            println!("{work}");
        }
        is_wanted && !is_listed
    }

    /// Prints a row, whose answer is checked.
    pub fn print(&mut self, row: &Row, times: &Times) {
        if self.listed.insert(String::new()) {
            println!("work\tby\tamount\tunit\tleast s\tmedian s\tgiga/s\tkernel s\tkernel giga/s\tnote");
        }
        let (wall, kernel) = times.median();
        let seconds = |time: Duration| match time.is_zero() {
            true => "-".to_string(),
            false => format!("{:.6}", time.as_secs_f64()),
        };
        let rate = |time: Duration| match time.is_zero() {
            true => "-".to_string(),
            false => four_digits(row.amount as f64 / time.as_secs_f64() / 1e9),
        };
        let Row { work, by, amount, unit, .. } = row;
        let (least, median, kernel_rate) = (seconds(times.least()), seconds(wall), rate(kernel));
        let note = if row.note.is_empty() { "-" } else { &row.note };
        let (rate, kernel) = (rate(wall), seconds(kernel));
        println!(
            "{work}\t{by}\t{amount}\t{unit}\t{least}\t{median}\t{rate}\t{kernel}\t{kernel_rate}\t{note}"
        );
    }
}

impl Rounds {
    /// Times calls, and gives the last answer.
    pub fn time<T>(self, mut call: impl FnMut() -> T) -> (T, Times) {
        self.time_on(&mut (), || (), |(), ()| call(), |()| Duration::ZERO)
    }

    /// Times calls on a device that counts its kernels' time; what `prepare` makes for each is not timed.
    pub fn time_on<D, P, T>(
        self,
        device: &mut D,
        mut prepare: impl FnMut() -> P,
        mut call: impl FnMut(&mut D, P) -> T,
        kernel_time: impl Fn(&D) -> Duration,
    ) -> (T, Times) {
        if self.warm {
            call(device, prepare());
        }
        let mut times = Times::default();
        loop {
            let prepared = prepare();
            let (kernel, begun) = (kernel_time(device), Instant::now());
            let answer = call(device, prepared);
            times.push(begun.elapsed(), kernel_time(device) - kernel);
            if times.0.len() >= self.timed {
                return (answer, times);
            }
        }
    }
}

impl Times {
    pub fn push(&mut self, wall: Duration, kernel: Duration) {
        self.0.push((wall, kernel));
        self.0.sort();
    }

    pub fn least(&self) -> Duration {
        self.0.first().map_or(Duration::ZERO, |times| times.0)
    }

    /// The call of the median time, and its kernel time.
    fn median(&self) -> (Duration, Duration) {
        self.0.get(self.0.len() / 2).copied().unwrap_or_default()
    }
}

/// A number with four digits that count, or those before its point.
fn four_digits(number: f64) -> String {
    let digits = (3 - number.log10().floor() as i32).clamp(0, 9) as usize;
    format!("{number:.digits$}")
}

/// Says what is wrong with the arguments, and ends.
pub fn fail(what: &str) -> ! {
    eprintln!("{what}");
    std::process::exit(2)
}
