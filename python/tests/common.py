"""Helpers of the tests: random sequences, and the score of a path."""

from __future__ import annotations

import random
from pathlib import Path

import pyswalign

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
GOLDEN = ROOT / "tests" / "golden"

AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"


def random_letters(rng: random.Random, length: int, letters: str = "ACGT") -> str:
    return "".join(rng.choices(letters, k=length))


def mutated(rng: random.Random, sequence: str, rate: float, letters: str = "ACGT") -> str:
    """Returns a copy with substitutions, deletions and insertions."""
    out = []
    for letter in sequence:
        what = rng.random() / rate if rate else 1
        if what >= 1:
            out.append(letter)
        elif what < 0.5:
            out.append(rng.choice(letters))
        elif what < 0.75:
            out.append(letter + rng.choice(letters))
    return "".join(out)


def related_pair(rng: random.Random, query: int, target: int, letters: str = "ACGT") -> tuple[str, str]:
    """Returns a query and a target of these lengths. The target contains a mutated copy of a part of the query, which
    may make it longer.
    """
    own = random_letters(rng, query, letters)
    begin, end = sorted(rng.choices(range(query + 1), k=2))
    copy = mutated(rng, own[begin:end], 0.15, letters)
    around = max(target - len(copy), 0)
    before = rng.randint(0, around)
    return own, random_letters(rng, before, letters) + copy + random_letters(rng, around - before, letters)


COMPLEMENT = str.maketrans("ACGTN", "TGCAN")


def reverse_complement(sequence: str) -> str:
    return sequence.translate(COMPLEMENT)[::-1]


def rescored(hit: pyswalign.Hit, query: str, target: str, scoring: pyswalign.Scoring) -> int:
    """Returns the score of a hit's path, computed column by column. The path must span both ranges exactly."""
    q = query[hit.query_start : hit.query_end]
    if hit.strand < 0:
        q = reverse_complement(q)
    t = target[hit.target_start : hit.target_end]
    i = j = score = matches = 0
    for length, op in hit.cigar_list:
        if op == "M":
            for at in range(length):
                score += scoring.score(q[i + at], t[j + at])
                matches += q[i + at] == t[j + at]
            i, j = i + length, j + length
        else:
            score -= scoring.gap_cost(length)
            i, j = (i + length, j) if op == "I" else (i, j + length)
    assert (i, j) == (len(q), len(t))
    assert matches == hit.matches
    assert "".join(f"{length}{op}" for length, op in hit.cigar_list) == hit.cigar
    return score


def read_fasta(path: Path) -> dict[str, str]:
    sequences: dict[str, str] = {}
    name = ""
    for line in path.read_text().splitlines():
        if line.startswith(">"):
            name = line[1:].split()[0]
            sequences[name] = ""
        else:
            sequences[name] += line.strip()
    return sequences
