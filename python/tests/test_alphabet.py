"""Whether sequences are DNA or proteins, and errors for objects that are not sequences."""

from __future__ import annotations

import signal
import warnings
from pathlib import Path
from typing import Any, Iterator

import numpy
import pyswalign
import pytest
from common import DATA
from pyswalign import Aligner, Database, Scoring, align, align_pairs

DNA = "ACGTTGCATTAGCCATGGATCC"
DEGENERATE = "GTGYCAGCMGCCGCGGTAANRTAC"
PROTEIN = "MKWVTFISLLFLFSSAYSRGVFRR"


@pytest.fixture(autouse=True)
def warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_degenerate_dna_is_dna() -> None:
    hit = align(DEGENERATE, DEGENERATE)
    assert hit is not None and hit.alphabet == "dna"
    assert Database([DEGENERATE]).alphabet == "dna"
    [hit] = align_pairs([(DEGENERATE, DEGENERATE)], device="cpu")
    assert hit is not None and hit.alphabet == "dna"


def test_what_could_be_both_is_said() -> None:
    with pytest.warns(UserWarning, match="could be DNA or protein and are read as DNA; give alphabet='protein'"):
        hit = align("GAGAGAGA", "GAGAGAGA")
    assert hit is not None and hit.alphabet == "dna"
    with pytest.warns(UserWarning, match="the database's sequences could be"):
        assert Database(["GATTACA"]).alphabet == "dna"
    with pytest.warns(UserWarning, match="could be"):
        assert len(list(align_pairs([("GAGA", "GAGAGA")], device="cpu"))) == 1
    # Keywords decide the alphabet.
    for keywords, alphabet in [
        ({"alphabet": "dna"}, "dna"),
        ({"preset": "long"}, "dna"),
        ({"match": 2}, "dna"),
        ({"alphabet": "protein"}, "protein"),
        ({"matrix": "BLOSUM62"}, "protein"),
        ({"scoring": Scoring("protein")}, "protein"),
    ]:
        hit = align("GAGAGAGA", "GAGAGAGA", **keywords)  # type: ignore[arg-type]
        assert hit is not None and hit.alphabet == alphabet, keywords
    # The other sequence decides the alphabet, too.
    hit = align("GATTACA", PROTEIN + "GATTACA")
    assert hit is not None and hit.alphabet == "protein"
    assert Aligner(["GATTACA"], preset="short", device="cpu").scoring.alphabet == "dna"


def test_dna_against_proteins() -> None:
    says = "DNA query against protein targets: .*alphabet='protein'"
    with pytest.raises(ValueError, match=says):
        align("ACGTACGTACGT", "MKWVTFISLLACGTACGTGG")
    with pytest.raises(ValueError, match="alphabet='protein'"):
        align(PROTEIN, DNA, preset="protein")
    with pytest.raises(ValueError, match="not a residue of DNA"):
        align(PROTEIN, DNA)
    hit = align("ACGTACGTACGT", "MKWVTFISLLACGTACGTGG", alphabet="protein")
    assert hit is not None and hit.alphabet == "protein"
    aligner = Aligner([PROTEIN], device="cpu")
    with pytest.raises(ValueError, match=says):
        aligner.align(DNA)
    with pytest.raises(ValueError, match="query 1: " + says):
        aligner.score_matrix([PROTEIN, DNA])
    stream = aligner.align_batch([PROTEIN, PROTEIN, DNA, PROTEIN])
    assert next(stream) and next(stream)
    with pytest.raises(ValueError, match="query 2: " + says):
        next(stream)
    assert len(list(stream)) == 1
    assert Aligner([PROTEIN], device="cpu", alphabet="protein").align(DNA) == []
    assert Aligner(Database([PROTEIN], alphabet="protein"), device="cpu").align(DNA) == []


def test_pairs_agree_with_the_first_that_tells() -> None:
    stream = align_pairs([("GATT", "GATTACA"), (PROTEIN, PROTEIN), (DNA, DNA), (PROTEIN, PROTEIN)], device="cpu")
    first, second = next(stream), next(stream)
    assert first is not None and second is not None and first.alphabet == second.alphabet == "protein"
    with pytest.raises(ValueError, match="pair 2: DNA query against protein targets"):
        next(stream)
    assert next(stream) is not None
    stream = align_pairs([(DNA, DNA)] * 100 + [(PROTEIN, DNA)], device="cpu")
    assert all(next(stream) is not None for _ in range(100))
    with pytest.raises(ValueError, match="pair 100: query: 'F' at position .* is not a residue of DNA"):
        next(stream)


def test_options_of_the_other_alphabet() -> None:
    for keywords, says in [
        ({"preset": "protein"}, "alphabet='protein'"),
        ({"matrix": "BLOSUM62"}, "alphabet='protein'"),
    ]:
        with pytest.raises(ValueError, match=says):
            align(DNA, DNA, **keywords)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="alphabet='dna'"):
        align(PROTEIN, PROTEIN, preset="short")


def test_residues_as_they_are_written() -> None:
    hit = align("MSECUKWWAA", "MSECOKWWAA")
    assert hit is not None and hit.matches == 9
    assert (hit.aligned[0], hit.aligned[2]) == ("MSECUKWWAA", "MSECOKWWAA")
    database = Database(["MSECUKOJAA"])
    assert database.sequence(0) == "MSECUKOJAA"
    scoring = Scoring("protein")
    assert [scoring.score("U", "C"), scoring.score("O", "K"), scoring.score("J", "I")] == [9, 5, 3]


def test_arrays_have_one_dimension() -> None:
    rows = numpy.frombuffer(b"ACGTACGTACGTTTGG" * 2, numpy.uint8).reshape(2, 16)
    for given in (rows, rows.data):
        with pytest.raises(TypeError, match="one dimension, and this .* has 2"):
            align(given, "ACGTACGTACGTTTGG")
    # In a list of sequences, each row is a sequence.
    assert Database(rows).length(1) == 16


class Series:
    """The part of pandas.Series that pyswalign uses."""

    def __init__(self, values: dict[Any, str]) -> None:
        self.index, self._values = list(values), values

    def items(self) -> Iterator[tuple[Any, str]]:
        return iter(self._values.items())

    def __iter__(self) -> Iterator[str]:
        return iter(self._values.values())


class DataFrame:
    """The part of pandas.DataFrame that pyswalign uses."""

    def __iter__(self) -> Iterator[str]:
        return iter(["names", "sequences"])


def test_tables_of_pandas() -> None:
    series: Any = Series({"chr1": DNA, 7: DEGENERATE})
    assert Database(series).names == ["chr1", "7"]
    frame: Any = DataFrame()
    with pytest.raises(TypeError, match="not a DataFrame: give one of its columns"):
        Database(frame)
    with pytest.raises(TypeError, match="not a DataFrame"):
        Aligner([DNA], device="cpu").align_batch(frame)


def test_a_database_file_with_its_alphabet(command: Any, tmp_path: Path) -> None:
    file = tmp_path / "16s.swdb"
    command("index", "-q", "-o", file, DATA / "16s_20.fa")
    scoring = Scoring("long")
    names = Database(DATA / "16s_20.fa").names
    assert Aligner(file, scoring=scoring, device="cpu").database.names == names
    assert Database(file, alphabet="dna").names == names
    with pytest.raises(ValueError, match="16s.swdb is a DNA database, not a protein database"):
        Database(file, alphabet="protein")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals of POSIX")
def test_an_interrupt_loses_no_query() -> None:
    """A signal interrupts the computation of a batch. The next request returns its hits."""
    target = pyswalign.Database([("t", DNA * 15_000)])
    queries = [(str(number), (DNA[number:] + DNA) * 50) for number in range(8)]
    aligner = Aligner(target, device="cpu", filter=False)
    armed, interrupts = False, 0

    def source() -> Iterator[tuple[str, str]]:
        nonlocal armed
        yield from queries
        # After the last query, the batch is computed.
        armed = True

    def strike(*_: Any) -> None:
        nonlocal armed
        if armed:
            armed = False
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    found = []
    try:
        stream = aligner.align_batch(source())
        while True:
            try:
                found.append(next(stream)[0].query_name)
            except KeyboardInterrupt:
                interrupts += 1
            except StopIteration:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert found == [name for name, _ in queries]
    assert interrupts == 1
