"""Biopython reads the command's tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from Bio import SearchIO
from common import ROOT
from conftest import Command

DATA = ROOT / "data"


@pytest.mark.parametrize("hsps", ["1", "3"])
@pytest.mark.parametrize("header", [False, True])
def test_biopython_reads_tables(command: Command, tmp_path: Path, header: bool, hsps: str) -> None:
    path = tmp_path / "hits.tsv"
    options = ["--quiet", "--device", "cpu", "--max-targets", "3", "--max-hsps", hsps, *["--header"] * header]
    command(*options, "-o", path, DATA / "proteins_20.fa", DATA / "uniprot_60.fa")
    rows = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    assert len(rows) > 40
    queries = SearchIO.parse(path, "blast-tab", comments=header)
    read = [part for query in queries for hit in query for part in hit]
    # Biopython counts starts from 0.
    told = [
        (part.query_id, part.hit_id, part.ident_pct, part.aln_span, part.query_start + 1, part.query_end, part.hit_start + 1)
        for part in read
    ]
    columns = [(row[0], row[1], float(row[2]), int(row[3]), int(row[6]), int(row[7]), int(row[8])) for row in rows]
    assert sorted(told) == sorted(columns)
    assert sorted(part.evalue for part in read) == sorted(float(row[10]) for row in rows)


def test_biopython_reads_tables_without_hits(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "hits.tsv"
    (tmp_path / "q.fa").write_text(">q\nACGTACGT\n")
    (tmp_path / "t.fa").write_text(">t\nTTTTTTTTTTTT\n")
    options = ["--quiet", "--device", "cpu", "--header", "--min-score", "20"]
    command(*options, "-o", path, tmp_path / "q.fa", tmp_path / "t.fa")
    assert path.read_text().endswith("# 0 hits found\n")
    assert list(SearchIO.parse(path, "blast-tab", comments=True)) == []
