"""Compares the CPU time per pair, with CIGARs, of pyswalign, parasail, pyopal, edlib and Biopython on one core.

    RAYON_NUM_THREADS=1 python benchmarks/pairs.py [--pairs 10000] [--device cpu] [--repeats 3]

Each library is measured with its fastest call that returns the path. Before the measurement, the scores are compared
with those of pyswalign. The libraries are measured in turn, and the table shows the minimum of all repeats, in
microseconds per pair: CPU time, and wall-clock time for runs on a GPU or on several cores. The last rows compare a call
of align for one pair of 100 bases with the alignment alone. The difference is the overhead of the call.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import pyswalign
from common import mutated, random_letters
from pyswalign import _native

MATCH, MISMATCH, OPEN, EXTEND = 1, 4, 6, 1


def optional(name: str) -> Any:
    try:
        return __import__(name, fromlist=["*"])
    except ImportError:
        print(f"# {name} is not installed: no row", file=sys.stderr)
        return None


def make_pairs(count: int) -> list[tuple[str, str]]:
    """Returns pairs of a read of 150 bases with 3 % errors and a target of 241 bases."""
    rng = random.Random(1)
    pairs = []
    for _ in range(count):
        target = random_letters(rng, 241)
        begin = rng.randrange(241 - 150)
        query = mutated(rng, target[begin : begin + 155], 0.03)[:150]
        pairs.append((query, target))
    return pairs


def rows(pairs: list[tuple[str, str]], device: str) -> dict[str, Callable[[], list[int | None]]]:
    """Returns the functions to measure, by the name of the library. Each returns the scores, or None for edlib."""
    made: dict[str, Callable[[], list[int | None]]] = {}

    def own() -> list[int | None]:
        scores: list[int | None] = []
        for hit in pyswalign.align_pairs(pairs, preset="short", device=device):
            assert hit is not None and hit.cigar
            scores.append(hit.score)
        return scores

    made[f"pyswalign ({device})"] = own
    if parasail := optional("parasail"):
        matrix = parasail.matrix_create("ACGT", MATCH, -MISMATCH)

        def of_parasail() -> list[int | None]:
            scores: list[int | None] = []
            for query, target in pairs:
                result = parasail.sw_trace_striped_16(query, target, OPEN + EXTEND, EXTEND, matrix)
                assert result.cigar.decode
                scores.append(result.score)
            return scores

        made["parasail (sw_trace_striped_16)"] = of_parasail
    if align := optional("Bio.Align"):
        aligner = align.PairwiseAligner(
            mode="local",
            match_score=MATCH,
            mismatch_score=-MISMATCH,
            open_gap_score=-(OPEN + EXTEND),
            extend_gap_score=-EXTEND,
        )

        def of_biopython() -> list[int | None]:
            scores: list[int | None] = []
            for query, target in pairs:
                alignment = aligner.align(target, query)[0]
                assert alignment.coordinates is not None
                scores.append(int(alignment.score))
            return scores

        made["Biopython (PairwiseAligner)"] = of_biopython
    if pyopal := optional("pyopal"):
        matrices = optional("scoring_matrices")
        letters = "ACGTN"
        scores = [[MATCH if one == other != "N" else -MISMATCH for other in letters] for one in letters]
        dna = matrices.ScoringMatrix(scores, alphabet=letters)
        opal = pyopal.Aligner(dna, gap_open=OPEN + EXTEND, gap_extend=EXTEND)

        def of_pyopal() -> list[int | None]:
            scores: list[int | None] = []
            for query, target in pairs:
                [result] = opal.align(query, pyopal.Database([target], alphabet=pyopal.Alphabet(letters)), mode="full", algorithm="sw")
                assert result.cigar()
                scores.append(result.score)
            return scores

        made["pyopal (mode full)"] = of_pyopal
    if edlib := optional("edlib"):

        def of_edlib() -> list[int | None]:
            for query, target in pairs:
                assert edlib.align(query, target, mode="HW", task="path")["cigar"]
            return [None] * len(pairs)

        made["edlib (edits, not scores)"] = of_edlib
    return made


def check(answers: dict[str, list[int | None]]) -> None:
    """Checks that the scores of all libraries equal those of pyswalign, including the 16-bit scores of parasail."""
    own, *others = answers.items()
    for name, scores in others:
        wrong = [at for at, (one, other) in enumerate(zip(own[1], scores)) if other is not None and one != other]
        assert not wrong, f"{name} differs from {own[0]} in {len(wrong)} pairs, first in {wrong[0]}"


def measure(call: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return time.process_time() - cpu, time.perf_counter() - wall


def single_calls(repeats: int) -> None:
    query, target = make_pairs(1)[0]
    query, target = query[:100], target[40:140]
    count = 20_000

    def each(cpu: float) -> float:
        return cpu / count * 1e6

    def loop(align: Callable[[], object]) -> float:
        def again() -> None:
            for _ in range(count):
                align()

        return each(measure(again)[0])

    scoring = pyswalign.Scoring("short")
    calls, bare = [], []
    for _ in range(repeats):
        calls.append(loop(lambda: pyswalign.align(query, target, scoring=scoring)))
        bare.append(each(measure(lambda: _native._align_again(query, target, scoring, count))[0]))
    nothing = min(loop(lambda: None) for _ in range(repeats))
    call, alone = min(calls) - nothing, min(bare)
    print(f"one pair of 100, a call of align\t{call:.2f}")
    print(f"one pair of 100, the alignment alone\t{alone:.2f}")
    print(f"what the call costs beyond\t{call - alone:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if options.device == "cpu" and os.environ.get("RAYON_NUM_THREADS") != "1":
        print("# RAYON_NUM_THREADS is not 1: pyswalign uses all cores", file=sys.stderr)
    pairs = make_pairs(options.pairs)
    calls = rows(pairs, options.device)
    check({name: call() for name, call in calls.items()})
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(options.repeats):
        for name, call in calls.items():
            times[name].append(measure(call))
    least = {name: (min(cpu for cpu, _ in of), min(wall for _, wall in of)) for name, of in times.items()}
    own = next(iter(least.values()))
    print("library\tCPU us/pair\twall us/pair\ttimes pyswalign's CPU")
    for name, (cpu, wall) in least.items():
        scale = 1e6 / len(pairs)
        print(f"{name}\t{cpu * scale:.2f}\t{wall * scale:.2f}\t{cpu / own[0]:.1f}")
    single_calls(options.repeats)


if __name__ == "__main__":
    main()
