"""The swalign command, whose output the tests compare with that of the package."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from common import ROOT

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def command() -> Command:
    """Returns a function that runs swalign. The environment variable SWALIGN is the path of the program."""
    program = Path(os.environ.get("SWALIGN", ROOT / "target" / "debug" / "swalign"))
    if not program.exists():
        if "SWALIGN" in os.environ:
            pytest.fail(f"SWALIGN is {program}, and there is no such file")
        pytest.skip(f"{program} is not there: build the command, or set SWALIGN")

    def run(*args: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *map(str, args)], capture_output=True, text=True, check=check)

    return run
