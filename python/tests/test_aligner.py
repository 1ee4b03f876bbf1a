"""Queries against a database: hits, order, threads, pickles, texts."""

from __future__ import annotations

import copy
import json
import pickle
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy
import parasail
import pyswalign
import pytest
from common import DATA, random_letters, related_pair, rescored, reverse_complement
from conftest import Command
from pyswalign import Aligner, Database, Scoring


def reads(rng: random.Random, targets: list[str], count: int) -> list[tuple[str, str]]:
    made = []
    for number in range(count):
        target = rng.choice(targets)
        begin = rng.randrange(len(target) - 80)
        read = target[begin : begin + 80]
        made.append((f"r{number}", reverse_complement(read) if number % 2 else read))
    return made


def test_hits_of_reads() -> None:
    rng = random.Random(11)
    targets = [random_letters(rng, 2000) for _ in range(5)]
    database = Database([(f"t{number}", target) for number, target in enumerate(targets)])
    aligner = Aligner(database, device="cpu")
    full = Aligner(database, device="cpu", filter=False)
    queries = reads(rng, targets, 300)
    answers = list(aligner.align_batch(iter(queries)))
    assert len(answers) == len(queries)
    for number, ((name, read), hits) in enumerate(zip(queries, answers)):
        [hit] = hits
        assert (hit.query_name, hit.score, hit.identity, hit.strand) == (name, 80, 1.0, -1 if number % 2 else 1)
        assert hit.target_name == database.name(hit.target_index)
        assert rescored(hit, read, targets[hit.target_index], aligner.scoring) == hit.score
        if number % 30 == 0:
            assert aligner.align((name, read)) == hits == full.align((name, read))


def test_json_of_the_command(command: Command) -> None:
    """Every number of a hit equals that of `swalign --format json`."""
    queries, targets = DATA / "proteins_20.fa", DATA / "uniprot_60.fa"
    out = command("--device", "cpu", "--format", "json", "--evalue", "1e9", "--min-score", "60", "--max-targets", "1",
                  "--max-hsps", "1", "--rank", "raw", queries, targets).stdout
    expected = [json.loads(line) for line in out.splitlines()]
    answers = list(Aligner(targets, device="cpu").align_batch(queries))
    shown = 0
    for line, hits in zip(expected, answers):
        assert len(line["hits"]) == len(hits)
        for of, hit in zip(line["hits"], hits):
            shown += 1
            assert (hit.target_name, hit.score, hit.query_name) == (of["target"], of["score"], line["query"])
            assert (hit.query_start, hit.query_end) == (of["query_start"], of["query_end"])
            assert (hit.target_start, hit.target_end) == (of["target_start"], of["target_end"])
            # The command prints rounded values.
            assert hit.evalue == pytest.approx(of["evalue"], rel=0.01, abs=1e-180)
            assert hit.bits == pytest.approx(of["bits"], abs=0.051)
    assert shown > 5


def test_text_of_the_command(command: Command, tmp_path: Path) -> None:
    """A printed hit has the same lines as `swalign pairs --format text`."""
    human, orang = (Database(DATA / name).sequence(0)[:3000] for name in ("mt_human.fa", "mt_orang.fa"))
    for name, letters in (("human", human), ("orang", orang)):
        (tmp_path / name).write_text(f">{name}\n{letters}\n")
    out = command("pairs", "--device", "cpu", "--preset", "long", "--format", "text", tmp_path / "human", tmp_path / "orang").stdout
    hit = pyswalign.align(("human", human), ("orang", orang), preset="long")
    lines = str(hit).splitlines()
    assert len(lines) > 150 and lines == out.rstrip("\n").splitlines()


def test_text_of_both_strands_and_proteins() -> None:
    hit = pyswalign.align("GGATCCATGGCTAATG", "TTCATTAGCCATGGATCCAA", both_strands=True)
    assert str(hit).splitlines()[6:] == [
        "Query   1 GGATCCATGGCTAATG 16",
        "          ||||||||||||||||",
        "Target 18 GGATCCATGGCTAATG 3",
    ]
    hit = pyswalign.align("HEAGAWGHEE", "PAWHEAE")
    assert hit is not None
    assert hit.aligned == ("HEA", "HEA", "HEA") and hit.score == 17
    assert "Identities" in str(hit) and "strand" not in str(hit) and "positives" in str(hit)


def test_html() -> None:
    hit = pyswalign.align(("<q>", "ACGTTGCATTAGCC"), ("t&t", "ACGTTGCATTAGCC"))
    assert hit is not None
    page = hit._repr_html_()
    assert "&lt;q&gt;:0-14" in page and "t&amp;t:0-14" in page and "<pre" in page and "<q>" not in page


def test_pickles() -> None:
    aligner = Aligner(DATA / "uniprot_60.fa", device="cpu", max_hits=5, secondary_ratio=0)
    hits = [hit for hits in aligner.align_batch(DATA / "proteins_20.fa") for hit in hits]
    assert len(hits) > 10
    again = pickle.loads(pickle.dumps(hits))
    assert again == hits and copy.deepcopy(hits[0]) == hits[0] and len(set(again + hits)) == len(set(hits))
    for one, other in zip(hits, again):
        assert (one.evalue, one.bits, str(one), one.cigar) == (other.evalue, other.bits, str(other), other.cigar)
    assert hits[0] != "a hit"
    match = Aligner({"t": "AAGATTACAAA"}, device="cpu").search("GATTACA")[0]
    assert pickle.loads(pickle.dumps(match)) == match


def test_evalues() -> None:
    aligner = Aligner({"t": "ACGTTGCATTAGCCATGGATCC" * 20}, preset="blastn", device="cpu", min_score=20)
    hits = [aligner.align("ACGTTGCATTAGCCATGGATCC"[:length])[0] for length in (12, 16, 22)]
    evalues = [hit.evalue for hit in hits]
    assert all(evalue is not None for evalue in evalues) and evalues == sorted(evalues, reverse=True)  # type: ignore[type-var]
    hit = pyswalign.align("ACGT", "ACGT", mode="global")
    assert hit is not None and (hit.evalue, hit.bits) == (None, None)
    assert "E-value" not in str(hit)


def test_settings_are_checked() -> None:
    database = Database({"t": "ACGT"})
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"min_score": 0}, "min_score"),
        ({"max_hits": 0}, "max_hits"),
        ({"secondary_ratio": 2.0}, "secondary_ratio"),
        ({"preset": "protein"}, "preset 'protein' scores proteins, but the sequences are DNA"),
    ]
    for keywords, text in wrong:
        with pytest.raises(ValueError, match=text):
            Aligner(database, device="cpu", **keywords)
    with pytest.raises(pyswalign.DeviceError, match="no such card"):
        Aligner(database, device="no such card")
    aligner = Aligner(database, device="cpu")
    assert aligner.device.startswith("CPU") and aligner.database.names == ["t"] and aligner.scoring == Scoring()
    with pytest.raises(ValueError, match="query: '!' at position 0"):
        aligner.align("!")
    with pytest.raises(TypeError, match="many sequences"):
        aligner.align_batch("ACGT")
    assert Aligner([], device="cpu").align("ACGT" * 10) == []


def test_a_stream_goes_on_behind_an_error() -> None:
    aligner = Aligner({"t": "ACGTTGCATTAGCCATGGATCC"}, device="cpu", min_score=10)
    queries: list[Any] = ["ACGTTGCATTAGCC", "AC!T", 7, "ACGTTGCATTAGCC"]
    stream = aligner.align_batch(queries)
    assert next(stream)[0].score == 14
    with pytest.raises(ValueError, match="'!'"):
        next(stream)
    with pytest.raises(TypeError):
        next(stream)
    assert next(stream)[0].score == 14
    with pytest.raises(StopIteration):
        next(stream)

    def failing() -> Any:
        yield "ACGTTGCATTAGCC"
        raise RuntimeError("the source failed")

    stream = aligner.align_batch(failing())
    assert next(stream)[0].score == 14
    with pytest.raises(RuntimeError, match="the source failed"):
        next(stream)


def test_score_matrix() -> None:
    rng = random.Random(12)
    pairs = [related_pair(rng, 60, 80) for _ in range(12)]
    queries, targets = [pair[0] for pair in pairs], [pair[1] for pair in pairs[:7]]
    matrix = parasail.matrix_create("ACGT", 1, -4)
    best = numpy.array([[parasail.sw(query, target, 7, 1, matrix).score for target in targets] for query in queries])
    forward = Aligner(Database(targets), device="cpu", both_strands=False)
    scores = forward.score_matrix(queries)
    assert scores.dtype == numpy.int32 and scores.shape == (12, 7)
    assert (scores == best).all()
    reverse = numpy.array(
        [[parasail.sw(reverse_complement(query), target, 7, 1, matrix).score for target in targets] for query in queries]
    )
    both = Aligner(Database(["A"]), device="cpu")
    assert (both.score_matrix(Database(queries), targets) == numpy.maximum(best, reverse)).all()
    assert forward.score_matrix([]).shape == (0, 7) and forward.score_matrix(queries, []).shape == (12, 0)
    scores[0, 0] = 5
    with pytest.raises(ValueError, match="'!' at position 1") as error:
        forward.score_matrix(["ACGT", "A!"])
    assert getattr(error.value, "__notes__", ["query 1 of score_matrix"]) == ["query 1 of score_matrix"]
    with pytest.raises(ValueError, match="empty sequence"):
        Aligner(["ACGT"], device="cpu", mode="global").score_matrix([""])


def test_threads_share_an_aligner() -> None:
    rng = random.Random(13)
    targets = [random_letters(rng, 3000) for _ in range(8)]
    aligner = Aligner(targets, device="cpu")
    queries = reads(rng, targets, 400)
    expected = list(aligner.align_batch(queries))
    with ThreadPoolExecutor(8) as pool:
        parts = [pool.submit(lambda own: list(aligner.align_batch(own)), queries[at::8]) for at in range(8)]
        singles = list(pool.map(aligner.align, queries[:40]))
    for at, part in enumerate(parts):
        assert part.result() == expected[at::8]
    assert singles == expected[:40]


def test_other_threads_run_while_one_aligns() -> None:
    """The GIL is released: a thread keeps counting while the main thread aligns."""
    rng = random.Random(14)
    aligner = Aligner([random_letters(rng, 1_000_000)], device="cpu", filter=False)
    query = random_letters(rng, 1500)
    counted, done = [0], threading.Event()

    def count() -> None:
        while not done.wait(0.001):
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    aligner.align(query)
    during = counted[0] - before
    done.set()
    thread.join()
    assert during >= 20
