"""Pairs compared with parasail, Biopython, edlib and tables of other programs."""

from __future__ import annotations

import random
from typing import Any

import edlib
import parasail
import pyswalign
import pytest
from Bio import Align
from common import AMINO_ACIDS, GOLDEN, random_letters, read_fasta, related_pair, rescored, reverse_complement
from pyswalign import Scoring

LENGTHS = [1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 150]


@pytest.mark.parametrize("numbers", [(1, 4, 6, 1), (2, 4, 4, 2), (2, 3, 5, 2), (1, 1, 0, 2), (5, 4, 10, 1)])
def test_dna_against_parasail(numbers: tuple[int, int, int, int]) -> None:
    match, mismatch, gap_open, gap_extend = numbers
    rng = random.Random(repr(numbers))
    scoring = Scoring(match=match, mismatch=mismatch, gap_open=gap_open, gap_extend=gap_extend)
    matrix = parasail.matrix_create("ACGT", match, -mismatch)
    pairs = [related_pair(rng, rng.choice(LENGTHS), rng.choice(LENGTHS)) for _ in range(200)]
    for (query, target), hit in zip(pairs, pyswalign.align_pairs(pairs, scoring=scoring, device="cpu")):
        best = parasail.sw(query, target, gap_open + gap_extend, gap_extend, matrix)
        assert (hit.score if hit else 0) == best.score, (query, target)
        if hit:
            assert rescored(hit, query, target, scoring) == hit.score, (query, target)
            assert hit == pyswalign.align(query, target, scoring=scoring)


def test_proteins_against_parasail() -> None:
    rng = random.Random(2)
    scoring = Scoring("protein")
    for _ in range(150):
        query, target = related_pair(rng, rng.choice(LENGTHS), rng.choice(LENGTHS), AMINO_ACIDS)
        hit = pyswalign.align(query, target, scoring=scoring)
        best = parasail.sw(query, target, 12, 1, parasail.blosum62)
        assert (hit.score if hit else 0) == best.score, (query, target)
        if hit:
            assert rescored(hit, query, target, scoring) == hit.score


@pytest.mark.parametrize("mode", ["local", "global"])
def test_biopython(mode: str) -> None:
    rng = random.Random(mode)
    aligner = Align.PairwiseAligner(mode=mode, match_score=2, mismatch_score=-3, open_gap_score=-7, extend_gap_score=-2)
    scoring = pyswalign.from_biopython(aligner)
    assert (scoring.gap_open, scoring.gap_extend, scoring.mode) == (5, 2, mode)
    for _ in range(100):
        query, target = related_pair(rng, rng.choice(LENGTHS), rng.choice(LENGTHS))
        if not target:
            continue
        hit = pyswalign.align(query, target, scoring=scoring)
        assert (hit.score if hit else 0) == aligner.score(target, query), (query, target)
        if hit:
            assert rescored(hit, query, target, scoring) == hit.score


def test_edlib_in_global_mode() -> None:
    """With this scoring, the best score depends only on the lengths and the minimum number of edits."""
    rng = random.Random(4)
    # 2 * edits = |q| + |t| - score, if a match scores 2, a mismatch 0 and each base of a gap costs 1.
    scoring = Scoring(match=2, mismatch=0, gap_open=0, gap_extend=1, mode="global")
    for _ in range(100):
        query, target = related_pair(rng, rng.choice(LENGTHS), rng.choice(LENGTHS))
        if not target:
            continue
        hit = pyswalign.align(query, target, scoring=scoring)
        assert hit is not None
        edits = edlib.align(query, target)["editDistance"]
        assert len(query) + len(target) - hit.score == 2 * edits, (query, target)


def test_tables_from_outside() -> None:
    """Random and real pairs of tests/golden: local scores, and those of the other modes."""
    queries, targets = (read_fasta(GOLDEN / f"dna_pairs.{of}.fa") for of in "qt")
    lines = (GOLDEN / "dna_pairs.tsv").read_text().splitlines()
    columns = lines[0].split("\t")
    rows = [dict(zip(columns, line.split("\t"))) for line in lines[1:]]
    rows = [row for row in rows if row["scheme"] == "dna_mm2_2_4_o4e2" and row["ambig"] == "none"]
    assert len(rows) > 200
    modes: dict[str, Any] = {"local": "local", "glocal": "fit", "global": "global", "overlap": "overlap"}
    for mode, column in modes.items():
        pairs = [(queries[row["pair"]], targets[row["pair"]]) for row in rows]
        hits = pyswalign.align_pairs(pairs, preset="long", mode=mode, device="cpu")  # type: ignore[arg-type]
        for row, hit in zip(rows, hits):
            if hit is not None:
                assert hit.score == int(row[column]), (mode, row)
            else:
                assert mode == "local" and int(row["local"]) == 0


def test_strands() -> None:
    rng = random.Random(5)
    for _ in range(30):
        target = random_letters(rng, 120)
        query = reverse_complement(target[30:90])
        hit = pyswalign.align(query, target, both_strands=True)
        assert hit is not None
        assert (hit.strand, hit.score, hit.target_start, hit.target_end) == (-1, 60, 30, 90)
        assert (hit.query_start, hit.query_end, hit.identity) == (0, 60, 1.0)
        assert hit.aligned[0] == query


def test_what_has_no_alignment() -> None:
    for query, target in [("", ""), ("A", ""), ("", "A"), ("A", "C"), ("N", "N")]:
        assert pyswalign.align(query, target, alphabet="dna") is None
    assert pyswalign.align("ACGT", "ACGT", min_score=5) is None
    assert list(pyswalign.align_pairs([])) == []


def test_order_and_errors_of_a_stream() -> None:
    rng = random.Random(6)
    pairs: list[Any] = [related_pair(rng, 40, 60) for _ in range(500)]
    pairs[100] = ("AC!T", "ACGT")
    pairs[200] = "AC"
    pairs[300] = ("ACGT", 5)
    stream = pyswalign.align_pairs(iter(pairs), preset="short", device="cpu")
    for number, pair in enumerate(pairs):
        if number == 100:
            with pytest.raises(ValueError, match="query: '!' at position 2 is not a residue of DNA"):
                next(stream)
        elif number in (200, 300):
            with pytest.raises(TypeError):
                next(stream)
        else:
            hit = next(stream)
            assert hit == pyswalign.align(*pair, preset="short")
    with pytest.raises(StopIteration):
        next(stream)


def test_a_stream_takes_no_more_than_a_batch() -> None:
    taken = 0

    def endless() -> Any:
        nonlocal taken
        while True:
            taken += 1
            yield "ACGTTGCA", "TTACGTTGCAT"

    stream = pyswalign.align_pairs(endless(), device="cpu")
    for _ in range(10):
        assert next(stream) is not None
    assert taken <= 64
