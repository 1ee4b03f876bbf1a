"""Devices: a GPU returns the same results as the CPU. Without a GPU, "auto" uses the CPU.

SWALIGN_TEST_GPU names the adapter, as for the tests of the command. The default is that of lavapipe.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator

import pyswalign
import pytest
from common import mutated, random_letters
from conftest import Command
from pyswalign import Aligner, Database


@pytest.fixture(scope="session")
def gpu(command: Command) -> str:
    """The name of the device, if there is an adapter to test on."""
    name = os.environ.get("SWALIGN_TEST_GPU", "llvmpipe")
    if name.split("/")[0] not in command("devices").stdout:
        if "SWALIGN_TEST_GPU" in os.environ:
            pytest.fail(f"SWALIGN_TEST_GPU is {name}, and there is no such adapter")
        pytest.skip("no Vulkan adapter: scripts/test.sh installs lavapipe")
    return f"gpu:{name}"


def test_a_gpu_gives_what_the_cpu_gives(gpu: str) -> None:
    rng = random.Random(21)
    sequences = [random_letters(rng, 700) for _ in range(6)]
    database = Database(sequences)
    queries = [mutated(rng, rng.choice(sequences)[at : at + 150], 0.06) for at in range(0, 500, 20)]
    on_gpu, on_cpu = Aligner(database, device=gpu), Aligner(database, device="cpu")
    assert on_gpu.device.startswith("GPU") and on_cpu.device.startswith("CPU")
    expected = list(on_cpu.align_batch(queries))
    assert sum(map(len, expected)) >= len(queries)
    assert list(on_gpu.align_batch(queries)) == expected
    assert on_gpu.align(queries[0]) == expected[0]
    assert (on_gpu.score_matrix(queries) == on_cpu.score_matrix(queries)).all()
    word = sequences[2][100:120]
    assert on_gpu.search(word, k=2) == on_cpu.search(word, k=2) != []
    pairs = [(query, rng.choice(sequences)) for query in queries]
    assert list(pyswalign.align_pairs(pairs, device=gpu)) == list(pyswalign.align_pairs(pairs, device="cpu"))


def test_queries_are_taken_as_answers_are(gpu: str) -> None:
    """Back-pressure: only a few queries of an endless source are consumed ahead of the answers, on each device."""
    for device in (gpu, "cpu"):
        taken = 0

        def endless() -> Iterator[str]:
            nonlocal taken
            while True:
                taken += 1
                yield "ACGTTGCATTAGCCATGGATCC"

        answers = Aligner({"t": "GGACGTTGCATTAGCCATGGATCCAA"}, device=device, min_score=10).align_batch(endless())
        for _ in range(10):
            assert next(answers)[0].score == 22
        assert taken <= 5000


WITHOUT = """
import pyswalign
aligner = pyswalign.Aligner({"t": "GGACGTTGCATTAGCCATGGATCCAA"}, min_score=10)
print(aligner.device.split()[0], aligner.align("ACGTTGCATTAGCCATGGATCC")[0].score)
try:
    pyswalign.Aligner({"t": "ACGT"}, device="gpu")
except pyswalign.DeviceError as error:
    print("refused:", error)
"""


def test_without_a_gpu_the_cpu_is_taken_unless_one_is_named() -> None:
    """The environment hides drivers from the Vulkan loader."""
    hidden = {"VK_DRIVER_FILES": os.devnull, "VK_ICD_FILENAMES": os.devnull, "WGPU_BACKEND": "vulkan"}
    ran = subprocess.run([sys.executable, "-c", WITHOUT], env={**os.environ, **hidden}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    first, second = ran.stdout.splitlines()
    assert first == "CPU 22"
    assert second.startswith("refused: ")
