"""Signals and processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

LONG = """
import random, signal, sys, pyswalign
# A shell that starts jobs in the background has them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = random.Random(1)
letters = lambda count: "".join(rng.choices("ACGT", k=count))
{setup}
print("begun", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(0)
print("done", flush=True)
"""

# Each job would take minutes without the interruption.
WORKS = {
    "align": ("query, target = letters(600_000), letters(6_000_000)", "pyswalign.align(query, target)"),
    "batch": (
        "aligner = pyswalign.Aligner([letters(300_000)], device='cpu', filter=False)",
        "list(aligner.align_batch(letters(2000) for _ in range(1_000_000)))",
    ),
    "matrix": (
        "targets = [letters(3000) for _ in range(300)]; aligner = pyswalign.Aligner(targets, device='cpu')",
        "aligner.score_matrix(targets * 100)",
    ),
}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("work", WORKS)
def test_ctrl_c_ends_a_call(work: str) -> None:
    setup, call = WORKS[work]
    code = LONG.format(setup=setup, work=call)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    answer = process.stdout.readline()
    process.kill()
    process.wait()
    assert answer == "interrupted\n"


FORKED = """
import os, pyswalign
queries = ["ACGTTGCATTAGCCATGGATCC"] * 50
aligner = pyswalign.Aligner({"t": "ACGTTGCATTAGCCATGGATCC" * 20}, device="cpu", max_hits=20)
before = list(aligner.align_batch(queries))
child = os.fork()
if child == 0:
    after = list(aligner.align_batch(queries))
    matrix = aligner.search("GCATTAGC", k=1)
    os._exit(0 if after == before and matrix else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_computes() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=600)
    assert done.stdout == "0\n", done.stderr
