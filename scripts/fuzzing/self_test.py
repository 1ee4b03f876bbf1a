"""Does the fuzzer notice faults, and does its reference agree with tables from outside?"""

import csv
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import faulty
from .cases import MATRICES, ROOT
from .reference import Scoring, first_end, walk

GOLDEN = ROOT / "tests/golden"
MOST_CELLS = 50_000
ROWS = 60
TRIES = 300
GAPS = r"(?:first(\d+)_e(\d+)|o(\d+)e(\d+)|(\d+))"


def sequences(path):
    """Letters by name."""
    records = [record.split("\n", 1) for record in path.read_text().split(">")[1:]]
    return {head.split()[0]: letters.replace("\n", "") for head, letters in records}


def scoring_of(row):
    """The reference's scoring for a row of a table; None where the row's is none of ours."""
    scheme, ambig = row["scheme"], row["ambig"]
    if found := re.fullmatch(r"(b|pam)(\d+)_(?:first(\d+)_e(\d+)|linear(\d+))", scheme):
        kind, number, first, extend, linear = found.groups()
        name = {"b": "BLOSUM", "pam": "PAM"}[kind] + number
        if name not in MATRICES:
            return None
        first, extend = int(first or linear), int(extend or linear)
        return Scoring(True, first - extend, extend, matrix=(ROOT / "data/matrices" / name).read_text())
    found = re.fullmatch(rf"(?:dna|dna_lin|dna_mm2|dna_ssw|gasal)_(\d+)_(\d+)_{GAPS}", scheme)
    if scheme == "dna_nuc44_first10_e1":
        match, mismatch, gap_open, extend = 5, 4, 9, 1
    elif found:
        match, mismatch, first, after, gap_open, extend, linear = (int(n or 0) for n in found.groups())
        extend = extend or after or linear
        gap_open = gap_open or (first or linear) - extend
    else:
        return None
    if ambig in ("none", "mis"):
        return Scoring(False, gap_open, extend, match, mismatch)
    name = {"zero": "m2x4_zero", "minus1": "m2x4_minus1", "nuc44": "NUC.4.4"}[ambig]
    return Scoring(False, gap_open, extend, matrix=(GOLDEN / name).read_text())


def agrees(row, query, target, scoring):
    """Whether score, end and start are those of the table; the path must give the score."""
    query, target = scoring.read(query), scoring.read(target)
    score, column, at = first_end(query, target, scoring) or (0, 0, 0)
    if score != int(row["local"]):
        return False
    if row["n_ends"] == "1" and (at + 1, column + 1) != (int(row["q_end"]), int(row["t_end"])):
        return False
    if score == 0:
        return True
    path, i, j = walk(query, target, scoring, at, column)
    if row["n_ends"] == row["n_starts"] == "1" and (i + 1, j + 1) != (int(row["q_start"]), int(row["t_start"])):
        return False
    total = -sum(scoring.open + scoring.extend * len(gap) for gap in re.findall("I+|D+", path))
    for step in path:
        total += scoring.score[query[i]][target[j]] if step == "M" else 0
        i, j = i + (step != "D"), j + (step != "I")
    return total == score and (i, j) == (at + 1, column + 1)


def golden():
    """Holds the reference against rows of the tables of tests/golden; the number of faults."""
    faults = []
    for table in ("dna_pairs", "protein_pairs", "gasal2", "small"):
        queries, targets = (sequences(GOLDEN / f"{table}.{side}.fa") for side in "qt")
        rows = list(csv.DictReader((GOLDEN / f"{table}.tsv").open(), delimiter="\t"))
        rows = [(row, scoring_of(row)) for row in rows if int(row["qlen"]) * int(row["tlen"]) <= MOST_CELLS]
        rows = [(row, scoring) for row, scoring in rows if scoring]
        rows = rows[:: max(1, len(rows) // ROWS)]
        wrong = [row for row, scoring in rows if not agrees(row, queries[row["pair"]], targets[row["pair"]], scoring)]
        faults += [f"{table}: {row['pair']} {row['scheme']}: the reference differs from the table" for row in wrong]
        print(f"self-test: {table}: the reference agrees in {len(rows) - len(wrong)} of {len(rows)} rows")
    return faults


def notices(kind, arguments):
    """Whether the fuzzer notices a fault, and what it prints. A process of its own, so that others run beside it."""
    of_kind = {**faulty.OF_KINDS, **faulty.VALUES}.get(kind)
    only = of_kind[0] if of_kind else faulty.KIND_OF.get(kind, "align")
    words = ["--swalign", faulty.__file__, "--keep", f"{arguments.keep}/self-test/{kind}", "--no-shrink", "--small"]
    words += ["--only", only] if kind != "none" else []
    words += ["--seed", str(arguments.seed), "--seconds", "600", "--cases", str(25 if kind == "none" else TRIES)]
    run = subprocess.run(
        [sys.executable, ROOT / "scripts/fuzz.py", *words],
        env={**os.environ, "FAULTY_SWALIGN": str(Path(arguments.swalign).resolve()), "FAULTY_KIND": kind},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    # Python's exit code for an exception is that for a difference.
    if run.returncode not in (0, 1) or "Traceback" in run.stderr:
        raise SystemExit(f"self-test: fault '{kind}': {run.stderr}")
    return run.returncode == 1, run.stdout


def run(arguments):
    """0 if every fault is noticed and the tables agree."""
    missed = golden()
    print("\n".join(missed), end="")
    kinds = ["none", *faulty.FAULTS, *faulty.ONLY, *faulty.WHOLE, *faulty.OF_KINDS, *faulty.VALUES]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for kind, (noticed, said) in zip(kinds, pool.map(lambda kind: notices(kind, arguments), kinds)):
            right = noticed == (kind != "none")
            if arguments.verbose or not right:
                print(said)
            print(f"self-test: fault '{kind}': {'noticed' if noticed else 'not noticed'}{'' if right else ', WRONG'}")
            missed += [kind] * (not right)
    print(f"self-test: {'failed' if missed else 'passed'}")
    return 1 if missed else 0
