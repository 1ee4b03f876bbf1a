"""Sequences and files that several benchmarks use."""
import gzip
import re
import sys

COMPLEMENT = str.maketrans("ACGTN", "TGCAN")


def reverse_complement(bases):
    return bases[::-1].translate(COMPLEMENT)


def opened(path):
    """A text file, plain or gzip; `-` is stdin."""
    if path == "-":
        return sys.stdin
    return gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)


def fasta(path):
    """Names and sequences of a FASTA file, in capitals."""
    with opened(path) as lines:
        records = lines.read().split(">")[1:]
    return [(lines[0].split()[0], "".join(lines[1:]).upper()) for lines in map(str.splitlines, records)]


def write_fasta(path, sequences):
    """Writes sequences, named s0, s1, and so on."""
    with open(path, "w") as out:
        out.writelines(f">s{index}\n{sequence}\n" for index, sequence in enumerate(sequences))


def fastq(name, bases, qualities="I"):
    """A FASTQ record. A single quality is that of all bases."""
    return f"@{name}\n{bases}\n+\n{qualities * len(bases) if len(qualities) == 1 else qualities}\n"


def target_len(cigar):
    """Number of target bases in an alignment."""
    return sum(int(length) for length, kind in re.findall(r"(\d+)(.)", cigar) if kind in "MDN=X")
