"""Scorings: presets, errors, and scorings of other libraries."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import parasail
import pyswalign
import pytest
from Bio import Align
from Bio.Align import substitution_matrices
from common import AMINO_ACIDS, random_letters, related_pair
from pyswalign import Scoring, from_biopython, from_parasail


def test_presets() -> None:
    assert repr(Scoring()) == "Scoring(match=1, mismatch=4, gap_open=6, gap_extend=1)"
    assert repr(Scoring("protein")) == "Scoring(matrix='BLOSUM62', gap_open=11, gap_extend=1)"
    assert Scoring("linear").gap_cost(3) == 6 and Scoring("long").gap_cost(0) == 0
    assert Scoring("long", mode="global") != Scoring("long") == Scoring(
        match=2, mismatch=4, ambiguous=1, gap_open=4, gap_extend=2
    )
    assert hash(Scoring("long")) == hash(Scoring("long"))
    assert Scoring(matrix="PAM30").alphabet == "protein"


def test_matrices_bring_gap_costs() -> None:
    assert repr(Scoring(matrix="BLOSUM45")) == "Scoring(matrix='BLOSUM45', gap_open=14, gap_extend=2)"
    assert repr(Scoring(matrix="BLOSUM80", gap_open=8)) == "Scoring(matrix='BLOSUM80', gap_open=8, gap_extend=1)"
    assert [Scoring(matrix=name).score("W", "W") for name in ("BLOSUM80", "BLOSUM80_3")] == [11, 16]
    same = [from_parasail(11, 1, matrix).matrix for matrix in ("BLOSUM80", parasail.blosum80)]
    assert same == ["BLOSUM80_3", "BLOSUM80_3"]


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"preset": "ont"}, "no preset is called 'ont'; give one of short, long, map-hifi"),
        ({"preset": "map-hifi", "gap_open": 4}, "gap_open and gap_extend must have the same number of values"),
        ({"gap_open": (4, 3), "gap_extend": (2, 1)}, "open at a higher cost and extend at a lower cost"),
        ({"gap_open": (4, 3, 2), "gap_extend": (2, 1)}, ""),
        ({"match": 0}, "match 0 is out of range; give 1 to 1048576"),
        ({"gap_extend": 0}, "gap_extend 0 is out of range"),
        ({"match": 2**40}, "match 1099511627776 is out of range"),
        ({"mode": "semi"}, "no mode is called 'semi'; give one of local, glocal"),
        ({"alphabet": "rna"}, "alphabet 'rna': give 'dna' or 'protein'"),
        ({"alphabet": "protein", "match": 2}, "proteins are scored by a matrix"),
        ({"matrix": "BLOSUM62", "match": 2}, "matrix excludes match, mismatch"),
        ({"matrix": "BLOSUM62", "alphabet": "dna"}, "the built-in matrices score proteins"),
        ({"preset": "protein", "alphabet": "dna"}, "scores proteins"),
    ],
)
def test_what_is_refused(keywords: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Scoring(**keywords)


def test_wrong_keywords() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'gap'"):
        pyswalign.align("A", "A", gap=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="scoring excludes"):
        pyswalign.align("A", "A", scoring=Scoring(), match=3)


def test_matrix_files(tmp_path: Path) -> None:
    file = tmp_path / "matrix"
    file.write_text("   A C G T\nA  3 -1 -1 -1\nC -1 3 -1 -1\nG -1 -1 3 -1\nT -1 -1 -1 3\n")
    scoring = Scoring(matrix=file, alphabet="dna")
    assert (scoring.score("A", "A"), scoring.score("a", "C")) == (3, -1)
    assert pickle.loads(pickle.dumps(scoring)) == scoring
    with pytest.raises(FileNotFoundError, match="give the path of a matrix file, or one of BLOSUM45"):
        Scoring(matrix="BLOSUM63")
    file.write_text("nonsense")
    with pytest.raises(ValueError):
        Scoring(matrix=file, alphabet="dna")


def test_gap_costs_of_two_pieces() -> None:
    ont = Scoring("long", gap_open=(4, 24), gap_extend=(2, 1))
    assert repr(ont) == "Scoring(match=2, mismatch=4, ambiguous=1, gap_open=(4, 24), gap_extend=(2, 1))"
    assert (ont.gap_open, ont.gap_extend) == ((4, 24), (2, 1))
    assert [ont.gap_cost(length) for length in (1, 20, 21, 100)] == [6, 44, 45, 124]
    assert ont != Scoring("long")
    assert Scoring("map-hifi", gap_open=6, gap_extend=1) == Scoring("short")
    assert pickle.loads(pickle.dumps(ont)) == ont
    assert Scoring("map-hifi") == Scoring("asm20") == Scoring("short", gap_open=(6, 26), gap_extend=(2, 1))
    matrix = Scoring(matrix="BLOSUM62", gap_open=(11, 30), gap_extend=(2, 1))
    assert repr(matrix) == "Scoring(matrix='BLOSUM62', gap_open=(11, 30), gap_extend=(2, 1))"


def test_ambiguous_codes() -> None:
    assert (Scoring().ambiguous, Scoring("blastn").ambiguous, Scoring("protein").ambiguous) == (4, 3, None)
    assert [Scoring(name).ambiguous for name in ("short", "long")] == [1, 1]
    assert Scoring("short", mismatch=0).ambiguous == 0 and Scoring("short", ambiguous=4) == Scoring()
    free, iupac = Scoring(ambiguous=0), Scoring(iupac=True)
    assert (free.score("N", "A"), iupac.score("R", "G"), iupac.score("R", "C"), iupac.ambiguous) == (0, 1, -4, None)
    assert free != iupac != Scoring() and iupac.iupac and not free.iupac
    for scoring in (free, iupac, Scoring("blastn", ambiguous=1)):
        assert pickle.loads(pickle.dumps(scoring)) == scoring
        assert eval(repr(scoring)) == scoring
    hit = pyswalign.align("GTGYCAGCMGCCGCGGTAA", "TTGTGCCAGCAGCCGCGGTAATT", iupac=True)
    assert hit is not None and hit.score == 19
    for wrong in ({"ambiguous": 1, "iupac": True}, {"ambiguous": -1}, {"iupac": True, "match": 200}, {"matrix": "BLOSUM62", "iupac": True}):
        with pytest.raises(ValueError):
            Scoring(**wrong)


def test_end_bonus() -> None:
    query, target = "ACGTTGCATTCAGA", "CCACGTTGCATTCACACC"
    local, whole = pyswalign.align(query, target), pyswalign.align(query, target, end_bonus=5)
    assert local is not None and whole is not None
    assert (local.score, str(local.cigar), whole.score, str(whole.cigar)) == (12, "12M", 9, "14M")
    assert pyswalign.align(query, target, end_bonus=5, min_score=10) is None
    scoring = Scoring("short", end_bonus=5)
    assert (scoring.end_bonus, Scoring().end_bonus) == (5, 0) and scoring != Scoring()
    assert pickle.loads(pickle.dumps(scoring)) == scoring == eval(repr(scoring))
    for wrong in ({"end_bonus": -1}, {"end_bonus": 5, "mode": "global"}, {"end_bonus": 5, "preset": "protein"}):
        with pytest.raises(ValueError):
            Scoring(**wrong)


def test_parasails_matrices() -> None:
    rng = random.Random(7)
    assert from_parasail(11, 1) == Scoring("protein", gap_open=10)
    assert from_parasail(8, 2, parasail.matrix_create("ACGT", 2, -3)) == Scoring(
        match=2, mismatch=3, ambiguous=3, gap_open=6, gap_extend=2
    )
    assert from_parasail(11, 1, parasail.blosum62).matrix == "BLOSUM62"
    matrices = [parasail.blosum50, parasail.pam100, parasail.blosum62.copy()]
    matrices[2].set_value(0, 0, 9)
    for matrix in matrices:
        scoring = from_parasail(11, 2, matrix)
        for _ in range(20):
            query, target = related_pair(rng, 60, 80, AMINO_ACIDS)
            hit = pyswalign.align(query, target, scoring=scoring)
            assert (hit.score if hit else 0) == parasail.sw(query, target, 11, 2, matrix).score
    assert from_parasail(11, 2, matrices[2]).score("A", "A") == 9
    for opened, extended in [(1, 2), (3, 0)]:
        with pytest.raises(ValueError, match="letter of a gap costs"):
            from_parasail(opened, extended)


def test_biopythons_matrices() -> None:
    rng = random.Random(8)
    aligner = Align.PairwiseAligner(mode="local", open_gap_score=-12, extend_gap_score=-1)
    aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    scoring = from_biopython(aligner)
    assert (scoring.alphabet, scoring.gap_open) == ("protein", 11)
    for _ in range(20):
        query, target = related_pair(rng, 60, 80, AMINO_ACIDS)
        hit = pyswalign.align(query, target, scoring=scoring)
        assert (hit.score if hit else 0) == aligner.score(target, query)


def test_what_of_biopython_is_refused() -> None:
    with pytest.raises(ValueError, match="whole number"):
        from_biopython(Align.PairwiseAligner(match_score=1.5, mismatch_score=-1, open_gap_score=-2, extend_gap_score=-1))
    uneven = Align.PairwiseAligner(match_score=1, mismatch_score=-1, open_gap_score=-2, extend_gap_score=-1)
    uneven.open_internal_insertion_score = -5
    with pytest.raises(ValueError, match="must cost the same"):
        from_biopython(uneven)
    with pytest.raises(ValueError, match="at least 1"):
        from_biopython(Align.PairwiseAligner(open_gap_score=0, extend_gap_score=0))


def test_letters_tell_the_alphabet() -> None:
    rng = random.Random(9)
    protein = random_letters(rng, 30, AMINO_ACIDS)
    hit = pyswalign.align(protein, protein)
    assert hit is not None and hit.alphabet == "protein"
    hit = pyswalign.align("ACGT", "ACGT")
    assert hit is not None and hit.alphabet == "dna" and hit.score == 4
    hit = pyswalign.align("ACGT", "ACGT", alphabet="protein")
    assert hit is not None and hit.alphabet == "protein"
