"""All benchmarks on one machine: the rows of the engine benchmark, whole commands, growth, the CPU engine, and peers."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import peers
from measure import ROOT, Table, commit, machine, output, say, time_and_peak
from sequences import fasta, fastq, reverse_complement, write_fasta


def built():
    """The engine benchmark, the CPU benchmark and swalign: those that variables name, or those that cargo builds."""
    names = {"BENCH_ENGINE": "engine", "BENCH_CPU": "cpu", "SWALIGN": "swalign"}
    programs = {target: os.environ[name] for name, target in names.items() if os.environ.get(name)}
    if len(programs) < len(names):
        say("building")
        # Cargo builds the binaries of a package along with its benchmarks.
        cargo = "cargo bench --locked --no-run --bench engine --bench cpu --message-format=json-render-diagnostics"
        run = subprocess.run(cargo.split(), cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        made = (json.loads(line) for line in run.stdout.splitlines())
        found = {message["target"]["name"]: message["executable"] for message in made if message.get("executable")}
        programs = {target: programs.get(target) or found[target] for target in names.values()}
    return [programs[target] for target in names.values()]


def numbers(text):
    """The fields of a row, as numbers where they are numbers, None where they are unknown."""
    def number(field):
        try:
            return float(field)
        except ValueError:
            return None if field == "-" else field
    return [number(field) for field in text.split("\t")]


def engine_rows(table, engine, options, *growth):
    """Runs each row in its own process, so that copies that a row leaves behind do not slow the next row."""
    for name in output([engine, "--bench", "list", *growth]).splitlines():
        say(f"engine: {name}")
        command = [engine, "--bench", *options, *growth, f"only={name}"]
        run = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        if run.returncode == 0:
            work, _, cells, _, _, wall, _, kernel, *_ = numbers(run.stdout.splitlines()[-1])
            table.row("swalign engine", work, cells, wall, kernel, note="answers checked")
        else:
            table.fail("swalign engine", name)


def cpu_rows(table, cpu, *small):
    say("CPU engine")
    run = subprocess.run([cpu, "--bench", *small], stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        return table.fail("swalign engine", "CPU")
    for row in run.stdout.splitlines()[1:]:
        work, instructions, cells, _, wall, *_ = numbers(row)
        table.row(f"swalign engine, {instructions}, 1 thread", work, cells, wall, note="answers checked")


def read_of(genome, rng):
    """150 bases of the genome with up to 3 substitutions, every second read reverse-complemented."""
    start = rng.randrange(len(genome) - 150)
    bases = list(genome[start : start + 150])
    for _ in range(rng.randrange(4)):
        bases[rng.randrange(150)] = "ACGT"[rng.randrange(4)]
    read = "".join(bases)
    return reverse_complement(read) if rng.randrange(2) else read


def inputs(folder, pairs, reads):
    """Writes the inputs of the whole commands. Returns the cells of the pairs and those of the reads."""
    queries, targets = peers.golden_pairs(pairs)
    write_fasta(folder / "pairs.q.fa", queries)
    write_fasta(folder / "pairs.t.fa", targets)
    rng = random.Random(1)
    [(_, genome)] = fasta(ROOT / "data" / "sars2.fa")
    records = [fastq(f"r{index}", read_of(genome, rng)) for index in range(reads)]
    (folder / "reads.fq").write_text("".join(records))
    (folder / "two.fq").write_text("".join(records[:2]))
    return peers.cells_of(queries, targets), 2 * 150 * reads * len(genome)


def records(path):
    """The lines of a SAM file without those that contain the command line."""
    with open(path) as lines:
        yield from (line for line in lines if not line.startswith("@PG"))


def command_rows(table, swalign, device, folder, pairs, reads):
    say("making inputs")
    pair_cells, read_cells = inputs(folder, pairs, reads)
    fasta, sars2 = (folder / "pairs.q.fa", folder / "pairs.t.fa"), ROOT / "data" / "sars2.fa"
    out, filtered = folder / "out.sam", folder / "filtered.sam"
    work = f"{pairs} pairs of 150 x about 250"
    for name, cells, command in [
        ("two reads on data/sars2.fa, start to end", 2 * 2 * 150 * 29903, ["-o", out, folder / "two.fq", sars2]),
        (f"pairs, {work}, to /dev/null", pair_cells, ["pairs", "-o", "/dev/null", *fasta]),
        (f"pairs, {work}, to a file", pair_cells, ["pairs", "-o", out, *fasta]),
        (f"--filter none, {reads} reads of 150 on data/sars2.fa, both strands, to a file", read_cells,
         ["--filter", "none", "-o", out, folder / "reads.fq", sars2]),
        ("the same reads, behind the filter", None, ["-o", filtered, folder / "reads.fq", sars2]),
    ]:
        say(f"command: {name}")
        measured = time_and_peak([swalign, *command, "--quiet", "--device", device])
        if measured:
            table.row("swalign", name, cells, wall=measured[0], peak=measured[1])
        else:
            table.fail("swalign", name)
    if not all(path.exists() for path in (out, filtered)) or list(records(out)) != list(records(filtered)):
        table.fail("swalign", "the same records with and without the filter")


def device_of(swalign, engine, device):
    """The device that `auto` chooses, its name, and its driver."""
    listed = [line.split("\t") for line in output([swalign, "devices"]).splitlines()]
    if device == "auto":
        device = "cpu" if any(line[0] == "cpu" and line[-1] == "default" for line in listed) else "gpu"
    name = output([engine, "--bench", device, "small", "growth", "only=pairs 10 of"]).splitlines()[-1].split("\t")[1]
    driver = next((line[8] for line in listed if len(line) > 8 and line[1] in name), "-")
    return device, name, driver


def run(*, quick: bool = False, device: str = "auto"):
    """All benchmarks on one machine.

    Prints results in the columns of docs/benchmarks.tsv: the rows of the engine benchmark, whole commands, growth, the
    CPU engine on one thread of each instruction set, and peers. DEVICE is auto, cpu, gpu or gpu:NAME, as for swalign's
    --device. --quick divides the work, as a smoke test for machines without a GPU; its figures are meaningless.

    BENCH_ENGINE, BENCH_CPU and SWALIGN name executables that are already built (target/release/deps/engine-* and cpu-*,
    made by `cargo bench --no-run`, and swalign). With all three, Rust is not needed. COMMIT names the commit if there is
    no git repository. Exit code 1 if a row failed.

    Append the output to the table, add a key to the lines that docs/benchmarks.md shows, and run
    scripts/benchmarks/run plots.
    """
    small = ["small"] if quick else []
    engine, cpu, swalign = built()
    device, name, driver = device_of(swalign, engine, device)
    say(f"device: {device}")
    note = ", quick: the work is divided, the names of the engine's rows are not" if quick else ""
    table = Table(commit() + note, f"{machine()}, {name}, driver {driver}")
    engine_rows(table, engine, [device, *small])
    with tempfile.TemporaryDirectory() as folder:
        command_rows(table, swalign, device, pathlib.Path(folder), *((10_000, 1_000) if quick else (1_000_000, 1_000_000)))
    engine_rows(table, engine, [device, *small], "growth")
    cpu_rows(table, cpu, *small)
    say("peers")
    peers.compare(table, swalign, *((2_000, 20) if quick else (100_000, 200)))
    sys.exit(table.failed)
