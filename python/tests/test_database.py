"""Databases, and the types of sequences that they accept."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy
import pyswalign
import pytest
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord
from common import DATA, read_fasta
from conftest import Command
from pyswalign import Aligner, Database


class Record:
    """A record with the attributes of a pysam record."""

    name = "record"
    sequence = "ACGTTGCATTAGCC"


LETTERS = "ACGTTGCATTAGCC"
FORMS: list[tuple[str | None, Any]] = [
    (None, LETTERS),
    (None, LETTERS.lower()),
    (None, LETTERS.encode()),
    (None, bytearray(LETTERS.encode())),
    (None, memoryview(LETTERS.encode())),
    (None, numpy.frombuffer(LETTERS.encode(), dtype=numpy.uint8)),
    (None, numpy.array(list(LETTERS), dtype="S1")),
    (None, numpy.frombuffer(LETTERS.encode() + b"!", dtype=numpy.uint8)[:-1]),
    (None, numpy.frombuffer("".join(f"{letter}." for letter in LETTERS).encode(), dtype=numpy.uint8)[::2]),
    (None, Seq(LETTERS)),
    ("read", ("read", LETTERS)),
    ("read", ("read", Seq(LETTERS))),
    ("read", (b"read", LETTERS.encode())),
    ("seq1", SeqRecord(Seq(LETTERS), id="seq1")),
    ("record", Record()),
]


@pytest.mark.parametrize(("name", "given"), FORMS)
def test_forms_of_sequences(name: str | None, given: Any) -> None:
    database = Database([given])
    assert database.names == [name or "0"]
    assert database.sequence(0) == LETTERS
    hit = pyswalign.align(given, "TT" + LETTERS)
    assert hit is not None and (hit.score, hit.query_name) == (14, name)
    hits = Aligner({"t": LETTERS}, min_score=10, device="cpu").align(given)
    assert [(hit.score, hit.query_name, hit.target_name) for hit in hits] == [(14, name, "t")]


@pytest.mark.parametrize(
    "given", [5, None, 1.5, ["A", "C"], ("a", "b", "c"), object(), numpy.array([1, 2, 3]), numpy.array(["A", "C"])]
)
def test_what_is_no_sequence(given: Any) -> None:
    with pytest.raises(TypeError, match="sequence"):
        pyswalign.align(given, "ACGT")


def test_files(tmp_path: Path) -> None:
    fasta = DATA / "16s_20.fa"
    sequences = read_fasta(fasta)
    plain = Database(fasta)
    assert plain.names == list(sequences) and plain.alphabet == "dna"
    assert all(plain.sequence(place) == letters.replace("U", "T") for place, letters in enumerate(sequences.values()))
    packed = tmp_path / "16s.fa.gz"
    packed.write_bytes(gzip.compress(fasta.read_bytes()))
    assert Database.from_file(str(packed)).names == Database.from_file(packed).names == plain.names
    assert Database(fasta, alphabet="dna").names == plain.names
    assert Database(DATA / "uniprot_60.fa").alphabet == "protein"


def test_a_str_as_a_path_is_deprecated() -> None:
    fasta = str(DATA / "sars2.fa")
    with pytest.warns(DeprecationWarning, match="Database.from_file"):
        assert Database(fasta).names == Database.from_file(fasta).names
    with pytest.warns(DeprecationWarning, match="Database.from_file"):
        assert Aligner(fasta, device="cpu").database.names == Database.from_file(fasta).names
    matrix = DATA / "matrices" / "BLOSUM62"
    with pytest.warns(DeprecationWarning, match="built-in matrix"):
        old = pyswalign.Scoring(matrix=str(matrix), gap_open=11, gap_extend=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert old == pyswalign.Scoring(matrix=matrix, gap_open=11, gap_extend=1)
        assert pyswalign.Scoring(matrix="BLOSUM62").matrix == "BLOSUM62"
        assert Database(DATA / "sars2.fa", alphabet="dna").alphabet == "dna"
        assert Database.from_file(fasta, alphabet="dna").names == ["MN908947.3"]
        assert Aligner({"t": "ACGTACGTACGTACGTACGTACGT"}, device="cpu").align("ACGTACGTACGTACGTACGTACGT")


def test_places() -> None:
    database = Database({"a": "ACGT", "b": "GG"})
    assert (database.length(-1), database.name(-2), database.sequence(0, 1), database.sequence(0, 1, 3)) == (2, "a", "CGT", "CG")
    for wrong in (2, -3):
        with pytest.raises(IndexError, match="2 sequences, and none at"):
            database.length(wrong)
    for stretch in [(0, 5), (3, 2)]:
        with pytest.raises(IndexError, match="no stretch"):
            database.sequence(0, *stretch)
    assert repr(database) == "<Database of 2 DNA sequences, 6 letters>"
    assert len(Database([])) == 0


def test_errors_of_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="check the path and the current directory"):
        Database(tmp_path / "none.fa")
    wrong = tmp_path / "wrong.fa"
    wrong.write_text(">a\nACGT\n>b\nAC!T\n")
    with pytest.raises(pyswalign.InputError, match=r"wrong.fa, record 2 'b', line 3: '!' at position 3") as error:
        Database(wrong)
    assert isinstance(error.value, ValueError)
    with pytest.raises(ValueError, match="target 'b': '!' at position 2 is not a residue of DNA"):
        Database([("a", "ACGT"), ("b", "AC!T")], alphabet="dna")
    with pytest.raises(TypeError, match="put it into a list"):
        Database(b"ACGT")  # type: ignore[arg-type]


def test_errors_are_those_of_the_command(command: Command, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.fa"
    for text in ["ACGT\n", ">a\nAC!T\n"]:
        wrong.write_text(text)
        said = command("--device", "cpu", wrong, wrong, check=False).stderr
        with pytest.raises(pyswalign.InputError) as error:
            list(Aligner(wrong, device="cpu").align_batch(wrong))
        assert str(error.value) in said
    # Files without records and records without residues are valid.
    for text in ["", ">a\n>b\nA\n"]:
        wrong.write_text(text)
        hits = list(Aligner(wrong, device="cpu", alphabet="dna").align_batch(wrong))
        assert hits == [[]] * text.count(">")


def test_index(command: Command, tmp_path: Path) -> None:
    index = tmp_path / "16s.swdb"
    command("index", DATA / "16s_20.fa", "-o", index)
    database, plain = Database(index), Database(DATA / "16s_20.fa")
    assert database.names == plain.names and database.sequence(3) == plain.sequence(3)
    queries = DATA / "amplicon_16s.fq.gz"
    hits, others = (
        list(Aligner(of, device="cpu", max_hits=3).align_batch(queries)) for of in (database, plain)
    )
    assert len(hits) > 50 and hits == others
    damaged = bytearray(index.read_bytes())
    # Changes one base in the stored codes.
    damaged[damaged.index(bytes("ACGT".index(letter) for letter in plain.sequence(0, 0, 40)))] ^= 1
    index.write_bytes(damaged)
    with pytest.raises((pyswalign.DeviceError, pyswalign.InputError), match="damaged"):
        list(Aligner(Database(index), device="cpu", filter=False).align_batch(queries))


def test_import_needs_neither_numpy_nor_a_gpu() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None; import pyswalign; "
        "print(pyswalign.align('ACGT', 'ACGT').score, 'numpy' in str(sys.modules.get('numpy')))"
    )
    env = {**os.environ, "VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": "/nonexistent"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.split() == ["4", "False"]
