"""Patterns with edits, against edlib and the command."""

from __future__ import annotations

import random
from typing import Any

import edlib
import pytest
from common import DATA, mutated, random_letters, reverse_complement
from conftest import Command
from pyswalign import Aligner, Database, Match


def test_edlib() -> None:
    """The fewest edits, and every place where a pattern ends with them."""
    rng = random.Random(21)
    for _ in range(60):
        text = random_letters(rng, 300)
        begin = rng.randrange(250)
        pattern = mutated(rng, text[begin : begin + rng.choice([8, 20, 31, 40])], 0.1) or "A"
        best = edlib.align(pattern, text, mode="HW", task="locations")
        aligner = Aligner([text], device="cpu")
        k = best["editDistance"]
        found = aligner.search(pattern, k=k, both_strands=False, every_end=True)
        assert {one.end for one in found} == {end + 1 for _, end in best["locations"]}
        assert {one.edits for one in found} == {k}
        for one in found:
            path = edlib.align(pattern, text[one.start : one.end], task="path")
            assert path["editDistance"] == k
            # edlib's I and D are those of the pattern as query, as here.
            assert sum(length for length, op in one.cigar_list if op != "=") == k


def test_iupac_strands_and_limits() -> None:
    aligner = Aligner([("a", "CCGATACACCTGTAATCCC"), ("b", "GATTACA")], device="cpu")
    found = aligner.search([("site", "GATTACA"), ("any", "GRTTRCA")])
    assert [(one.pattern_name, one.target_name, one.start, one.end, one.strand) for one in found] == [
        ("site", "a", 10, 17, -1),
        ("any", "a", 10, 17, -1),
        ("site", "b", 0, 7, 1),
        ("any", "b", 0, 7, 1),
    ]
    assert len(aligner.search("GATTACA", k=1)) == 3
    assert len(aligner.search("GATTACA", k=1, indels=False)) == 2
    assert len(aligner.search("GATTACA", k=1, best=True)) == 2
    assert repr(found[0]) == "<Match site a:10-17 - edits=0 7=>"
    assert isinstance(found[0], Match) and found[0].pattern_index == 0 and found[2].target_index == 1
    assert aligner.search([]) == []
    with pytest.raises(ValueError, match="pattern '0': it is empty"):
        aligner.search("")
    with pytest.raises(ValueError, match="DNA"):
        Aligner(["MKVLA"], device="cpu", alphabet="protein").search("ACGT")


def test_pam_and_kinds_of_edits() -> None:
    aligner = Aligner([("t", "TTGATTACATGGTTGATTCATGGTT")], device="cpu")

    def ends(**options: Any) -> list[tuple[int, int, int]]:
        return [(one.start, one.end, one.edits) for one in aligner.search("GATTACA", both_strands=False, **options)]

    assert ends(pam="TGG") == [(2, 9, 0)]
    assert ends(pam="NGG", k=1) == [(2, 9, 0), (14, 20, 1)]
    assert ends(pam="TT", pam_side=5) == [(2, 9, 0)]
    assert ends(pam="GG") == []
    assert ends(k=1, max_ins=0) == ends(k=1, max_gap=0) == [(2, 9, 0)]
    assert ends(k=1, max_del=0, max_sub=0) == [(2, 9, 0), (14, 20, 1)]
    with pytest.raises(ValueError, match="pam_side=4: give 3 or 5"):
        ends(pam="GG", pam_side=4)
    with pytest.raises(ValueError, match="PAM"):
        ends(pam="G-")


def test_the_command(command: Command) -> None:
    lines = command("search", "--device", "cpu", "-k", "3", "-f", DATA / "artic_v3_primers.fa", DATA / "sars2.fa").stdout
    head, *rows = [line.split("\t") for line in lines.splitlines()]
    said = [dict(zip(head, row)) for row in rows]
    aligner = Aligner(Database(DATA / "sars2.fa"), device="cpu")
    found = aligner.search(DATA / "artic_v3_primers.fa", k=3)
    assert len(found) == len(said) > 200
    for one, row in zip(found, said):
        strand = "+" if one.strand > 0 else "-"
        shown = (one.target_name, str(one.start), str(one.end), one.pattern_name, strand, str(one.edits), one.cigar)
        assert shown == tuple(row[column] for column in head[:7])


def test_reverse_complements() -> None:
    rng = random.Random(22)
    text = random_letters(rng, 500)
    pattern = reverse_complement(text[100:130])
    [one] = Aligner([text], device="cpu").search(pattern)
    assert (one.start, one.end, one.strand, one.cigar) == (100, 130, -1, "30=")
