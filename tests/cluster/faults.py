#!/usr/bin/env python3
"""A run in six parts on a small real Slurm, with what goes wrong on clusters.

One task is killed in mid-run; the node of another is lost, and its orphan goes on beside the attempt that
replaces it, both writing the same output. The same line submitted again runs only what is missing, and the
joined BAM is that of a run in one piece, byte for byte. Usage: faults.py SWALIGN (the program). It ends with 77
where Slurm is not installed or does not start.
"""

import argparse
import gzip
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from small_slurm import NotStarted, SmallSlurm, missing, wait_until

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
READS = ROOT / "data" / "illumina_chr22.fq.gz"
REFERENCE = ROOT / "data" / "chr22_12k.fa"
PARTS = 6
KILLED, LOST = 2, 5
# Reads are few, so that they stand in the input more than once, under other names. A part then takes
# most of a second: --filter none has every cell of the matrix computed.
COPIES = 40
OPTIONS = ["--device", "cpu", "--filter", "none"]
# What stands beside a part and says how it was made.
RECEIPT = ".swalign"
# The exit code where no Slurm can be had, as automake's tests have it.
NO_SLURM = 77
# What swalign says when it has nothing to do.
SKIPPED = "is complete"
BEGIN = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - BEGIN:5.1f} s] {text}", flush=True)


def check(truth, text):
    if not truth:
        raise AssertionError(text)
    say(f"ok: {text}")


def make_reads(path):
    records = gzip.open(READS, "rt").read().splitlines()
    with gzip.open(path, "wt", compresslevel=1) as out:
        for copy in range(COPIES):
            for at in range(0, len(records), 4):
                name = records[at].split()[0]
                out.write("\n".join([f"{name}.{copy}", *records[at + 1:at + 4]]) + "\n")


def part_name(part):
    return f"part.{part}-of-{PARTS}.bam"


def identity(path):
    """What changes when a file is written again."""
    stat = path.stat()
    return stat.st_ino, stat.st_mtime_ns


class Run:
    """The submitted run, its folders and the attempts that are held in it."""

    def __init__(self, slurm, folder, swalign):
        self.slurm, self.dir, self.swalign = slurm, folder, swalign
        # A name that would not survive careless quoting.
        self.work = folder / "a user's work, 100%"
        self.hold = folder / "hold"
        self.work.mkdir()
        self.hold.mkdir()
        self.out = self.work / "joined.bam"
        self.parts = self.work / "joined.bam.parts"
        self.reads = self.work / "reads.fq.gz"
        make_reads(self.reads)
        slurm.env.update(SWALIGN=str(HERE / "held_swalign"), REAL_SWALIGN=str(swalign), HOLD=str(self.hold))

    def arguments(self):
        return [*OPTIONS, str(self.reads), str(REFERENCE)]

    def submit(self):
        line = [ROOT / "workflow/slurm/submit.sh", "-o", self.out, "-n", PARTS, "-c", 1, "-g", 1, "--"]
        array, merge = self.slurm.run(*line, *self.arguments(), cwd=self.work).split()
        say(f"submitted: array {array}, join {merge}")
        return array, merge

    def ask_to_hold(self, part, attempt):
        (self.hold / f"want.{part}.{attempt}").touch()

    def held(self, part, attempt, seconds=60):
        """The process and the temporary of an attempt that was asked to stop, when it has."""
        path = self.hold / f"held.{part}.{attempt}"
        wait_until(f"attempt {attempt} of part {part} in mid-run", path.exists, seconds)
        pid, temporary = path.read_text().rstrip("\n").split(" ", 1)
        return int(pid), Path(temporary)

    def log(self, part):
        return (self.parts / "logs" / f"{part}.log").read_text()

    def begun(self):
        """How often each part was begun, over all attempts."""
        counts = dict.fromkeys(range(1, PARTS + 1), 0)
        for path in self.hold.glob("runs.*"):
            part = path.name.split(".")[1]
            if part != "none":
                counts[int(part)] += len(path.read_text().splitlines())
        return counts

    def present(self):
        """The parts that are there."""
        return {part for part in range(1, PARTS + 1) if (self.parts / part_name(part)).exists()}

    def strangers(self):
        """Files beside the parts that are neither a part nor the receipt of one."""
        parts = {part_name(part) for part in range(1, PARTS + 1)}
        receipts = {name + RECEIPT for name in parts}
        return sorted(path.name for path in self.parts.iterdir()
                      if path.is_file() and path.name not in parts | receipts)


def faults(run):
    """The first submission: a task killed, a node lost, two attempts at once."""
    slurm = run.slurm
    run.ask_to_hold(KILLED, 0)
    run.ask_to_hold(LOST, 0)
    run.ask_to_hold(LOST, 1)
    array, merge = run.submit()

    pid, left = run.held(KILLED, 0)
    os.kill(pid, signal.SIGKILL)
    wait_until("the killed task", lambda: slurm.tasks(array)[KILLED] == "FAILED")
    check(left.exists() and not (run.parts / part_name(KILLED)).exists(),
          f"the task killed in mid-run left a temporary, {left.name}, and no output")

    orphan, first = run.held(LOST, 0)
    wait_until("the other tasks", lambda: list(slurm.tasks(array).values()).count("COMPLETED") == PARTS - 2)
    check(run.present() == set(range(1, PARTS + 1)) - {KILLED, LOST}, "the other four parts are there")
    node = slurm.run("squeue", "-h", "-t", "running", "-j", f"{array}_{LOST}", "-o", "%N").strip()
    say(f"node {node} is lost, with part {LOST} on it")
    slurm.lose_node(node)
    wait_until("Slurm to notice", lambda: slurm.state_of(node).startswith("down"))
    say("Slurm says that the node is down")
    again, second = run.held(LOST, 1)
    check(first != second, f"its part runs again elsewhere, into another temporary, {second.name}")
    # Both are in mid-run. That the orphan ends last is the worse case: it finds its successor's output.
    os.kill(again, signal.SIGCONT)
    states = wait_until("the array", lambda: slurm.ended(array))
    check(states[LOST] == "COMPLETED", "the second attempt ended well")
    written = identity(run.parts / part_name(LOST))
    os.kill(orphan, signal.SIGCONT)
    wait_until("the orphan", lambda: not Path(f"/proc/{orphan}").exists())
    check(written == identity(run.parts / part_name(LOST)) and (run.parts / (part_name(LOST) + RECEIPT)).exists(),
          "the orphan, which ended last, left the second attempt's output and receipt alone")
    check(run.present() == set(range(1, PARTS + 1)) - {KILLED}, "exactly the killed part is missing")
    wait_until("the join to be given up", lambda: "PENDING" not in slurm.tasks(merge).values())
    check(not run.out.exists(), "nothing was joined")

    gpus = {line.rsplit(" ", 1)[1] for part in range(1, PARTS + 1) for line in run.log(part).splitlines()
            if line.split(":")[-1].count("GPU")}
    check(gpus == {"0", "1"}, "each task was given one GPU, by CUDA_VISIBLE_DEVICES")
    # The machine has more cores than the one that -c asked for.
    check(all("(1 thread" in run.log(part) for part in run.present()), "and one thread, by SLURM_CPUS_PER_TASK")
    check("restart 1" in run.log(LOST) and "restart 0" in run.log(LOST), "one log has both attempts")


def resume(run, whole):
    """The second submission does what is missing, and the join is the run in one piece."""
    slurm = run.slurm
    before = {part: identity(run.parts / part_name(part)) for part in run.present()}
    array, merge = run.submit()
    states = wait_until("the array", lambda: slurm.ended(array))
    check(set(states.values()) == {"COMPLETED"}, "submitted again, all tasks ended well")
    after = {part: identity(run.parts / part_name(part)) for part in run.present()}
    check({part for part in after if before.get(part) != after[part]} == {KILLED},
          f"only part {KILLED} was written (inodes and times of the others are as before)")
    skipped = {part for part in range(1, PARTS + 1) if SKIPPED in run.log(part)}
    check(skipped == set(range(1, PARTS + 1)) - {KILLED}, "the others say that they were there already")
    states = wait_until("the join", lambda: slurm.ended(merge))
    check(set(states.values()) == {"COMPLETED"}, "the join ended well")
    same(run.out, whole, "the joined BAM is that of the run in one piece, byte for byte")
    check(not run.strangers(), "no temporary is left")


def resume_all(run):
    """The third submission has nothing to do."""
    before = {part: identity(run.parts / part_name(part)) for part in run.present()}
    array, merge = run.submit()
    wait_until("the join", lambda: run.slurm.ended(array) and run.slurm.ended(merge))
    after = {part: identity(run.parts / part_name(part)) for part in run.present()}
    check(before == after, "submitted a third time, no part is written")


def race(run):
    """Attempts that write one output at once, without a cluster between them."""
    expected = run.parts / part_name(3)
    folder = run.work / "race"
    folder.mkdir()
    out = folder / part_name(3)
    command = [run.swalign, "--part", f"3/{PARTS}", "-o", out, *run.arguments()]
    attempts = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    errors = [attempt.communicate()[1] for attempt in attempts]
    codes = [attempt.returncode for attempt in attempts]
    check(0 in codes, f"three attempts at once: exit codes {codes}")
    if any(codes):
        print("".join(errors))
    same(out, expected, "one whole file is left of them")
    left = {path.name for path in folder.iterdir()}
    check(left == {out.name, out.name + RECEIPT}, "and no temporary")


def merge_refuses(run):
    """A join without one part."""
    out = run.work / "short.bam"
    parts = [run.parts / part_name(part) for part in range(1, PARTS)]
    done = subprocess.run([run.swalign, "merge", out, *parts], stderr=subprocess.PIPE, text=True)
    check(done.returncode == 1 and not out.exists(), f"a part is missing, so nothing is joined: {done.stderr.strip()}")


def same(one, other, text):
    check(subprocess.run(["cmp", one, other]).returncode == 0, text)


def test(swalign):
    with tempfile.TemporaryDirectory(prefix="swalign-cluster-") as folder:
        # munge wants all to be able to reach its socket.
        os.chmod(folder, 0o711)
        (Path(folder) / "slurm").mkdir()
        slurm = SmallSlurm(Path(folder) / "slurm")
        run = None
        try:
            with slurm:
                say(f"{len(slurm.nodes)} nodes are up")
                run = Run(slurm, Path(folder), swalign)
                whole = run.work / "whole.bam"
                subprocess.run([swalign, "-o", whole, *run.arguments()], check=True)
                say("the run in one piece is done")
                faults(run)
                resume(run, whole)
                resume_all(run)
                subprocess.run(["samtools", "quickcheck", "-v", run.out], check=True)
                check(True, "samtools finds nothing wrong with it")
                merge_refuses(run)
                race(run)
        except NotStarted:
            raise
        except BaseException:
            print(slurm.logs(), file=sys.stderr)
            if run:
                for path in sorted((run.parts / "logs").glob("*.log")):
                    print(f"--- {path.name}\n{path.read_text()}", file=sys.stderr)
                print("parts:", sorted(path.name for path in run.parts.glob("*")), file=sys.stderr)
            raise
    say("all is well")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("swalign", type=Path)
    given = parser.parse_args()
    if lacking := missing():
        print(f"not installed: {' '.join(lacking)}; scripts/cluster_test.sh installs them", file=sys.stderr)
        sys.exit(NO_SLURM)
    try:
        test(given.swalign.resolve())
    except NotStarted as error:
        print(f"Slurm does not start here: {error}", file=sys.stderr)
        sys.exit(NO_SLURM)
