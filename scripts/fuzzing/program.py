"""Runs the command under test, compares what it writes, and has the ways that must not change a byte."""

import os
import re
import subprocess
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from .formats import bam_lines

COLUMNS = "QNAME FLAG RNAME POS MAPQ CIGAR RNEXT PNEXT TLEN SEQ QUAL".split()
MOST_SECONDS = 120


class Difference(Exception):
    """A command that did not do what it must: the words of the command and what differs."""


# Options that some formats reject because they have no effect there: the option, its number of words, and the formats.
WITHOUT_EFFECT = {"--clip": (2, {"paf", "tab", "json"}), "--batch": (2, {"matrix"}), "--eqx": (1, {"tab", "json"})}


def with_effect(words):
    """The words without the options that their format refuses."""
    for option, (count, formats) in WITHOUT_EFFECT.items():
        if option in words and any(word.rsplit(".", 1)[-1] in formats for word in words):
            at = words.index(option)
            words = [*words[:at], *words[at + count :]]
    return words


class Program:
    """The command under test, run in a folder of its own."""

    def __init__(self, path, folder, gpu):
        self.path, self.folder, self.runs = str(Path(path).resolve()), folder, 0
        help = subprocess.run([self.path, "--help"], capture_output=True, text=True).stdout
        named = re.search(r"--filter <NAME>[^:]+: ([a-z,\s]+);", help)
        self.filters = re.split(r",\s*|\s+or\s+", named[1]) if named else ["auto", "none"]
        self.gpu = gpu

    @cached_property
    def devices(self):
        """Values of --device that this machine has; plain and the GPU that was named are tried more often."""
        named = ["plain", "plain", "cpu"] + [f"gpu:{self.gpu}"] * 3 * bool(self.gpu)
        for name in ("avx512", "avx2", "sse4.1", "baseline"):
            words = [self.path, "search", "--device", f"cpu:{name}", "A", "-"]
            tried = subprocess.run(words, input=b">a\nA\n", capture_output=True)
            named += [f"cpu:{name}"] * (tried.returncode == 0)
        return named

    def run(self, words, codes=(0,)):
        """The bytes on stdout."""
        self.runs += 1
        words = with_effect(words)
        try:
            done = subprocess.run([self.path, *words], cwd=self.folder, capture_output=True, timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            raise Difference(words, f"it still runs after {MOST_SECONDS} s") from None
        if done.returncode not in codes or b"panicked" in done.stderr:
            raise Difference(words, f"exit code {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout


    def run_while_changing(self, words, name, change):
        """Runs words that read a file twice and write `out.pipe` and `side.pipe`, changes the file between the two passes, and
        gives the exit code and the errors. The output is opened after the first pass, the side file before the second one."""
        self.runs += 1
        pipes = [self.folder / pipe for pipe in ("out.pipe", "side.pipe")]
        for pipe in pipes:
            os.mkfifo(pipe)
        child = subprocess.Popen([self.path, *words], cwd=self.folder, stderr=subprocess.PIPE)
        try:
            with open(pipes[0], "rb") as out:
                change(self.folder / name)
                with open(pipes[1], "rb"):
                    out.read()
            errors = child.communicate(timeout=MOST_SECONDS)[1]
        except subprocess.TimeoutExpired:
            child.kill()
            raise Difference(words, f"it still runs after {MOST_SECONDS} s") from None
        finally:
            for pipe in pipes:
                pipe.unlink()
        return child.returncode, errors.decode(errors="replace")


def field_names(words, got):
    """Names of the columns of a line, for messages."""
    if words[0] == "search" or "paf" in words:
        return []
    return COLUMNS if len(got) >= len(COLUMNS) else []


def compare_lines(words, expected, got):
    """The first line that differs, and in which column."""
    for at, (want, have) in enumerate(zip(expected, got)):
        if want == have:
            continue
        want, have = want.split("\t"), have.split("\t")
        column = next((k for k, (a, b) in enumerate(zip(want, have)) if a != b), min(len(want), len(have)))
        name = dict(enumerate(field_names(words, have))).get(column, f"column {column + 1}")
        both = [fields[column] if column < len(fields) else "nothing" for fields in (want, have)]
        short = lambda field: field if len(field) < 80 else field[:77] + "..."
        shown = "\n    ".join(" ".join(map(short, row)) for row in (want, have))
        raise Difference(words, f"line {at + 1}, {name}: {both[0]} expected, {both[1]} found\n    {shown}")
    if len(expected) != len(got):
        extra = (expected if len(expected) > len(got) else got)[min(len(expected), len(got))]
        raise Difference(words, f"{len(expected)} lines expected, {len(got)} found; the first one more: {extra[:200]}")


def read_bam(words, data):
    try:
        return bam_lines(data)
    except ValueError as error:
        raise Difference(words, f"no BAM: {error}") from None


def compare_bytes(words, expected, got):
    """Bytes that must be equal; as text the first line that differs is shown."""
    if expected == got:
        return
    try:
        compare_lines(words, expected.decode().splitlines(), got.decode().splitlines())
    except UnicodeDecodeError:
        compare_lines(words, *(sum(read_bam(words, data), []) for data in (expected, got)))
    raise Difference(words, "the bytes differ from those of the plain run, though not the records")


def part_of(program, rng, case, words, kind, extension, expected):
    """Parts and what `merge` makes of them."""
    of = rng.choice([2, 2, 3, 4, 7])
    names = [f"part.{at + 1}.{extension}" for at in range(of)]
    for at, name in enumerate(names):
        program.run([*words, kind, f"{at + 1}/{of}", "-o", name])
    rng.shuffle(names)
    merge = ["merge", "-q", f"whole.{extension}", *names]
    program.run(merge)
    compare_bytes([*words, kind, f"1/{of} ...; swalign", *merge], expected, (program.folder / merge[2]).read_bytes())
    for path in program.folder.glob("part.*"):
        path.unlink()


def way(rng, program, case_words, with_batch, with_filter=True):
    """Words that must not change a byte."""
    choices = [["--device", rng.choice(program.devices)], ["-t", rng.choice("1124")], []]
    words = choices[0] * (rng.random() < 0.7) + choices[1] * (rng.random() < 0.7)
    if with_batch:
        is_pairwise = case_words[0] in ("pairs", "all")
        words += ["--filter", rng.choice(program.filters)] * (with_filter and not is_pairwise and rng.random() < 0.6)
        words += ["--batch", rng.choice("13")] * (rng.random() < 0.4)
        words += ["--no-dedup"] * (not is_pairwise and rng.random() < 0.3)
    return [*words, *segments(rng, case_words)]


def segments(rng, case_words):
    """Words for a sampled index of several segments; none if the case has no such index."""
    is_sampled = "--sampled-kmers" in case_words and rng.random() < 0.6
    return ["--index-segment", str(round(10 ** rng.uniform(3, 5)))] * is_sampled


@contextmanager
def perhaps_database(rng, program, case, share=0.25):
    """The references, which the last word names, as a database of the same name, so that @PG tells no difference; else
    as they are. Gives the words before those of the command, for messages."""
    is_rna = case.words[0] == "search" and any("U" in letters.upper() for _, letters in case.targets)
    if case.words[0] in ("pairs", "all") or is_rna or rng.random() >= share:
        yield []
        return
    name, fasta = case.words[-1], "references.fa"
    (program.folder / name).rename(program.folder / fasta)
    is_protein = "scoring" in case.reference and case.reference["scoring"].protein
    alphabet = ["--alphabet", "protein" if is_protein else "dna"]
    index = ["index", "-q", *alphabet, "-o", name, fasta]
    if "--sampled-kmers" in case.words:
        at = case.words.index("--sampled-kmers")
        index[1:1] = [*case.words[at : at + 2], *segments(rng, case.words)]
    program.run(index)
    try:
        yield ["mv", name, fasta, ";", "swalign", *index, ";", "swalign"]
    finally:
        (program.folder / fasta).rename(program.folder / name)
