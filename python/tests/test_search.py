"""Patterns with edits, compared with edlib and the command."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import edlib
import pytest
from common import DATA, mutated, random_letters, reverse_complement
from conftest import Command
from pyswalign import Aligner, Amplicon, Database, Match, Searcher


def test_edlib() -> None:
    """The minimum number of edits, and every position at which a pattern ends with it."""
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
            # In edlib, as here, I and D treat the pattern as the query.
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
    assert ends(k=1, max_insertions=0) == ends(k=1, max_gaps=0) == [(2, 9, 0)]
    assert ends(k=1, max_deletions=0, max_substitutions=0) == [(2, 9, 0), (14, 20, 1)]
    with pytest.raises(ValueError, match="pam_side=4: give 3 or 5"):
        ends(pam="GG", pam_side=4)
    with pytest.raises(ValueError, match="PAM"):
        ends(pam="G-")


def test_circular_texts_and_single_strands() -> None:
    def found(**options: Any) -> list[tuple[int, int, int]]:
        searcher = Searcher("GATTACA", device="cpu", **options)
        return [(one.start, one.end, one.strand) for one in searcher.search("TACACCTGTAATCCCGAT")]

    assert found() == [(6, 13, -1)] == found(strand=-1)
    assert found(circular=True) == [(6, 13, -1), (15, 22, 1)]
    assert found(circular=True, strand=1) == [(15, 22, 1)]
    with pytest.raises(ValueError, match="strand=2: give 1, -1 or None"):
        found(strand=2)
    primers = Searcher({"p_F": "GGAC", "p_R": "AAAATT"}, device="cpu", circular=True)
    [amplicon] = primers.amplicons("AATTTTCCCCCGGAC")
    assert (amplicon.start, amplicon.end, len(amplicon)) == (11, 21, 10)


def test_dialects_of_a_path() -> None:
    [match] = Searcher("GATTACA", k=1, device="cpu").search("CCGATACACC")
    assert (match.cigar, match.cigar_basic, match.cigar_extended) == ("2=1I4=", "2M1I4M", "2=1I4=")
    assert match.cigar_list == [(2, "="), (1, "I"), (4, "=")]


def test_a_searcher_and_an_aligner() -> None:
    """Searcher and Aligner find the same matches: text by text, batch by batch, and in a database."""
    rng = random.Random(23)
    texts = {f"t{number}": random_letters(rng, 40 * number) for number in range(60)}
    patterns = {f"p{length}": random_letters(rng, length) for length in (7, 12, 20)}
    database = Database(texts, alphabet="dna")
    aligner = Aligner(database, device="cpu")
    first, pam, best = {"k": 2, "first": True}, {"k": 2, "pam": "NGG"}, {"rate": 0.2, "best": True}
    cases: list[dict[str, Any]] = [{"k": 2}, {"rate": 0.15}, first, pam, best, {"k": 2, "strand": -1}, {"k": 2, "circular": True}]
    for options in cases:
        searcher = Searcher(patterns, device="cpu", **options)
        found = searcher.search_database(database)
        assert found == aligner.search(patterns, **options)
        assert [match for matches in searcher.search_batch(texts) for match in matches] == found
        one_by_one = [match for text in texts.items() for match in searcher.search(text)]
        assert [(match.target_name, match.start, match.cigar) for match in one_by_one] == [
            (match.target_name, match.start, match.cigar) for match in found
        ]
        assert len(found) > 5
        if "first" in options:
            assert len({match.target_index for match in found}) == len(found)


def test_what_a_searcher_refuses() -> None:
    with pytest.raises(ValueError, match="exclude each other"):
        Searcher("ACGT", k=1, rate=0.1, device="cpu")
    with pytest.raises(ValueError, match="rate=1: give at least 0 and below 1"):
        Searcher("ACGT", rate=1.0, device="cpu")
    searcher = Searcher("ACGT", device="cpu")
    with pytest.raises(ValueError, match="text: '!'"):
        searcher.search("AC!T")
    answers = searcher.search_batch(["ACGT", "!", "AACGT"])
    assert len(next(answers)) == 2
    with pytest.raises(ValueError, match="text: '!'"):
        next(answers)
    assert [match.start for match in next(answers)] == [1, 1]
    with pytest.raises(ValueError, match="does not identify a pair"):
        searcher.amplicons("ACGT")
    with pytest.raises(ValueError, match="pairs='all'"):
        searcher.amplicons("ACGT", "all")  # type: ignore[arg-type]
    assert repr(searcher).startswith("<Searcher of 1 pattern on CPU")


def test_amplicons(command: Command) -> None:
    fasta = DATA / "artic_v3_primers.fa"
    lines = command("search", "--device", "cpu", "-k", "2", "--amplicons", "-f", fasta, DATA / "sars2.fa").stdout
    rows = [line.split("\t") for line in lines.splitlines()[1:]]
    searcher = Searcher(fasta, k=2, device="cpu")
    database = Database(DATA / "sars2.fa")
    found = searcher.amplicons(database)
    assert len(found) == len(rows) > 98

    def row(one: Amplicon) -> list[str]:
        strand = "+" if one.strand > 0 else "-"
        numbers: list[object] = [one.target_name, one.start, one.end, len(one), one.pair_name, strand, one.forward_name]
        numbers += [one.forward_end, one.forward_edits, one.reverse_name, one.reverse_start, one.reverse_edits]
        return [str(number) for number in numbers]

    assert [row(one) for one in found] == rows
    again = pickle.loads(pickle.dumps(found))
    assert again == found and [row(one) for one in again] == rows and len(set(again + found)) == len(set(found))
    assert copy.deepcopy(found[0]) == found[0] and repr(again[0]) == repr(found[0])
    text = (database.name(0), database.sequence(0))
    assert searcher.amplicons(text, min_length=1) == found
    short = searcher.amplicons(database, max_length=390)
    assert short == [one for one in found if len(one) <= 390] and short
    listed = searcher.amplicons(database, [("nCoV-2019_1_LEFT", "nCoV-2019_1_RIGHT")])
    assert [one.pair_name for one in listed] == ["nCoV-2019_1_LEFT,nCoV-2019_1_RIGHT"]


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
