//! The harness of all benchmarks: arguments, seeded inputs, rounds, and one table.
//!
//! `cargo bench --bench NAME -- [DEVICE] [only=TEXT]... [small] [list] [KEY=N]...`
//!
//! DEVICE is `cpu`, `cpu:SET`, `gpu` or `gpu:NAME`, as for `--device`. `only` selects the rows whose names contain
//! TEXT; if it is repeated, one match is enough. `list` prints the names of the rows instead of running them. `small`
//! divides the work by 64. Each benchmark documents its other words and keys in its first lines. `cargo test --bench
//! NAME` checks each row with one small call.
//!
//! After its answer is checked, each row is printed as a line of tab-separated fields, below a header. Rates are
//! computed from the median time. Kernel time is measured by the device's clock.
#![allow(dead_code, reason = "each benchmark uses a part of it")]

#[path = "../../tests/common/random.rs"]
pub mod random;
pub mod reads;

use rayon::ThreadPoolBuilder;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use swalign::engine::cpu::simd::InstructionSet;
use swalign::engine::gpu::Card;

/// The parsed command line, and the table being printed.
pub struct Bench {
    pub device: Option<Device>,
    pub rounds: Rounds,
    arguments: Vec<String>,
    pub is_small: bool,
    listed: BTreeSet<String>,
}

pub enum Device {
    /// CPU, with the name of an instruction set if one is given.
    Cpu(Option<String>),
    /// GPU, with its name if one is given.
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

/// Calls of a row: an optional warm-up call, and the timed calls.
#[derive(Clone, Copy)]
pub struct Rounds {
    /// Whether an untimed call comes first.
    pub warm: bool,
    pub timed: usize,
}

/// Wall time and kernel time of each call of a row.
#[derive(Default)]
pub struct Times(Vec<(Duration, Duration)>);

/// A row of the table.
pub struct Row<'a> {
    pub work: &'a str,
    /// Instruction set, device or option that does the work.
    pub by: &'a str,
    /// Cells, bytes or another quantity, in `unit`.
    pub amount: usize,
    pub unit: &'a str,
    /// Remark for the last column, or empty.
    pub note: String,
}

impl Bench {
    /// Parses the arguments. `words` and `keys` (which have numbers) are specific to the benchmark.
    pub fn new(words: &[&str], keys: &[&str]) -> Bench {
        let mut arguments: Vec<String> = std::env::args().skip(1).collect();
        let all = arguments.len();
        arguments.retain(|argument| argument != "--bench");
        // Cargo passes `--bench` to benchmarks but not to tests.
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

    /// The number given for `key`, or `usual`; at least 1.
    pub fn number(&self, key: &str, usual: usize) -> usize {
        let given = self.values(key).next().and_then(|number| number.parse().ok());
        given.unwrap_or(usual).max(1)
    }

    fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        self.arguments.iter().filter_map(move |argument| argument.strip_prefix(key)?.strip_prefix('='))
    }

    /// `work`, or a 64th of it with `small`.
    pub fn sized(&self, work: usize) -> usize {
        if self.is_small { work.div_ceil(64) } else { work }
    }

    /// `full`, or `small` if small work is requested.
    pub fn either(&self, full: usize, small: usize) -> usize {
        if self.is_small { small } else { full }
    }

    /// Quadruples the number of timed calls. For calls that last milliseconds at most.
    pub fn short_calls(&mut self) {
        self.rounds.timed *= if self.rounds.warm { 4 } else { 1 };
    }

    /// Sets the number of threads of rayon's global pool to `threads=N`, by default 1.
    pub fn use_threads(&self) {
        ThreadPoolBuilder::new().num_threads(self.number("threads", 1)).build_global().expect("threads");
    }

    /// The instruction set with this name, or the best one.
    pub fn set(name: Option<&str>) -> InstructionSet {
        match name {
            Some(name) => InstructionSet::named(name)
                .unwrap_or_else(|| fail(&format!("this processor has no '{name}'"))),
            None => InstructionSet::best(),
        }
    }

    /// The GPU with this name, or the best one.
    pub fn card(name: Option<&str>) -> std::sync::Arc<Card> {
        Card::open(name, false).unwrap_or_else(|error| fail(&error.to_string()))
    }

    /// Whether to run a row. With `list`, prints its name instead.
    pub fn wants(&mut self, work: &str) -> bool {
        let is_wanted =
            self.values("only").next().is_none() || self.values("only").any(|text| work.contains(text));
        let is_listed = self.has("list");
        if is_listed && is_wanted && self.listed.insert(work.to_string()) {
            println!("{work}");
        }
        is_wanted && !is_listed
    }

    /// Prints a row. The caller has checked its answer.
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
    /// Times calls, and returns the last answer.
    pub fn time<T>(self, mut call: impl FnMut() -> T) -> (T, Times) {
        self.time_on(&mut (), || (), |(), ()| call(), |()| Duration::ZERO)
    }

    /// Times calls on a device that counts the time of its kernels. `prepare` runs before each call and is not timed.
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

    /// Median wall time, and the kernel time of the same call.
    fn median(&self) -> (Duration, Duration) {
        self.0.get(self.0.len() / 2).copied().unwrap_or_default()
    }
}

/// A number with four significant digits, or with all digits before the decimal point.
fn four_digits(number: f64) -> String {
    let digits = (3 - number.log10().floor() as i32).clamp(0, 9) as usize;
    format!("{number:.digits$}")
}

/// Prints an error in the arguments, and exits.
pub fn fail(what: &str) -> ! {
    eprintln!("{what}");
    std::process::exit(2)
}
