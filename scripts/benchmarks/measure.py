"""Times of work and of commands, and the rows of docs/benchmarks.tsv."""
import contextlib
import datetime
import os
import pathlib
import platform
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = ("key", "date", "commit", "machine", "program", "work", "measure", "value", "unit", "note")
BEGUN = time.perf_counter()


def say(text):
    print(f"[{time.perf_counter() - BEGUN:.0f} s] {text}", file=sys.stderr, flush=True)


def timed(work):
    begun = time.perf_counter()
    answer = work()
    return time.perf_counter() - begun, answer


def best_of(calls, work):
    """The shortest time of several calls, and the answer of that call."""
    return min((timed(work) for _ in range(calls)), key=lambda timed: timed[0])


def output(command):
    # Debian's ssw_test prints each residue of a path to stderr.
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def code_of(command, out):
    """Exit code of a command in the locale C that writes to the file `out`."""
    with open(out, "wb") as file:
        environment = {**os.environ, "LC_ALL": "C"}
        return subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, env=environment).returncode


def time_and_peak(command):
    """Wall seconds and peak MiB of a command, which is the only child of a new Python process. None if it fails."""
    run = subprocess.run([sys.executable, __file__, *map(str, command)], stdout=subprocess.PIPE, text=True)
    return tuple(map(float, run.stdout.split())) if run.returncode == 0 else None


def installed(program, package):
    """Whether a program is installed. If not, prints the package that has it."""
    if shutil.which(program) is None:
        print(program, f"missing: apt-get install {package}", sep="\t")
    return shutil.which(program) is not None


def commit():
    """$COMMIT, or the commit that is checked out."""
    with contextlib.suppress(subprocess.CalledProcessError, FileNotFoundError):
        return os.environ.get("COMMIT") or output(["git", "-C", ROOT, "describe", "--always", "--dirty"]).strip()
    return "unknown"


def machine():
    """System, processor and number of cores."""
    cpus = pathlib.Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", cpus.read_text() if cpus.exists() else "")
    processor = model[1] if model else "unknown processor"
    return f"{platform.system()} {platform.machine()}, {processor}, {os.cpu_count()} cores"


class Table:
    """Prints rows in the columns of docs/benchmarks.tsv, and remembers whether one failed."""

    def __init__(self, commit, machine):
        self.failed = False
        self.begin = ("-", datetime.datetime.now(datetime.timezone.utc).date(), commit, machine)
        print(*COLUMNS, sep="\t")

    def line(self, program, work, measure, value, unit, note):
        print(*self.begin, program, work, measure, value, unit, note, sep="\t", flush=True)

    def row(self, program, work, cells=None, wall=None, kernel=None, peak=None, note="-"):
        """Prints the known values of a measurement, in seconds and MiB, and the rates in GCUPS."""
        for measure, value, unit in (("cells", cells, "cells"), ("wall", wall, "s"), ("kernel", kernel, "s"), ("peak", peak, "MiB")):
            if value:
                self.line(program, work, measure, f"{value:.4g}" if unit != "cells" else int(value), unit, note)
            if value and cells and unit == "s":
                rate = cells / value / 1e9
                self.line(program, work, f"{measure} rate", f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}", "GCUPS", note)

    def missing(self, program, work, remedy):
        self.line(program, work, "wall", "-", "s", f"missing: {remedy}")

    def fail(self, program, work, error=None):
        self.failed = True
        self.line(program, work, "wall", "-", "s", f"FAILED: {error}" if error else "FAILED")

    def compared(self, program, work, cells, wall, found, expected):
        same = found == expected
        self.failed |= not same
        self.row(program, work, cells, wall, note="scores equal swalign's" if same else "SCORES DIFFER from swalign's")


if __name__ == "__main__":
    wall, run = timed(lambda: subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
    # ru_maxrss is in bytes on macOS, and in KiB on Linux.
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    print(wall, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit)
    sys.exit(run.returncode)
